"""No sentence reaches people but in the language of their page: an evening is played in a language without letters.

Its texts are those of the English catalogue with every letter struck out. What can still be read on a page was not in
the catalogue: the names of the players, their words, squares, and nothing else.
"""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import web.i18n
from calibration.profile import ProfileFileError, load_examples
from device.cameras import open_camera
from device.cameras.base import BLACK_MESSAGE, STALLED_MESSAGE, CameraError
from device.session.commands.games import StartGame
from device.session.messages import Notice, Trouble, format_sentence
from device.storage.errors import to_store_error
from device.storage.recovery import open_store
from device.storage.store import GameStore
from engine.board import parse_square
from engine.messages import Message, make_message
from engine.reading import BOARD_SIZE, BoardReading, SquareReading
from tests.support.catalogues import make_catalogue_of, read_texts
from tests.support.dead_links import NOWHERE, Evening, readable, struck_out
from tests.support.text_table import FARM, HORN, WORDS, TextTable
from tests.support.waiting import PATIENCE_S
from tests.web.conftest import token
from vision.photo import PhotoError, load_photo
from vision.recognition.reader import PhotoReading
from web.host_info import HostInfo
from web.i18n import Texts

REFUSED: tuple[tuple[str, dict[str, object]], ...] = (
    ("/actions/challenge", {}),
    ("/actions/undo", {}),
    ("/actions/redo", {}),
    ("/actions/go-on", {}),
    ("/actions/answer/3", {}),
    ("/actions/exchange", {"count": "99"}),
    ("/actions/exchange", {"count": "viele"}),
    ("/actions/draw", {"letters": ["A"]}),
    ("/actions/square", {"square": "Z9", "letter": "A"}),
    ("/actions/square", {"square": "H8", "letter": "ẞ"}),
    ("/actions/square", {"square": "H8", "letter": ""}),
    ("/actions/square", {"square": "H8", "letter": "AA"}),
    ("/actions/turn", {"number": "7", "kind": "pass"}),
    ("/actions/turn", {"number": "x", "score": "viel"}),
    ("/actions/insert-turn", {"number": "1", "kind": "play", "word": "HORN", "at": "99"}),
    ("/actions/insert-turn", {"number": "1", "kind": "play", "word": "H.RN", "at": "8F"}),
    ("/actions/insert-turn", {"number": "1", "kind": "play", "word": "HORNHORN", "at": "8K"}),
    ("/actions/insert-turn", {"number": "1", "kind": "play"}),
    ("/actions/insert-turn", {"number": "1", "kind": "exchange"}),
    ("/actions/insert-turn", {"number": "1", "kind": "?"}),
    ("/actions/rack", {"player": "9", "letters": "A"}),
    ("/actions/new-game", {"players": ["Anna", ""]}),
    ("/actions/new-game", {"players": ["Anna", "Ben", "", ""], "first": "3"}),
    ("/actions/new-game", {"players": ["Anna", "Ben"], "tiles": "?"}),
    ("/actions/end-turn", {"seen": "1-99"}),
    ("/panel/press", {"button": "new-game"}),
    ("/panel/press", {"button": "challenge"}),
    ("/setup/corners", {"corners": "1,2"}),
    ("/setup/teach", {}),
    ("/phones/unpair", {"phone": "nobody"}),
)
"""Actions that the table refuses, with the fields of their forms."""


BROKEN: tuple[tuple[bytes, tuple[str, ...]], ...] = (
    (b"", ()),
    (b"no game", ()),
    (b"#nothing", ()),
    (b"\0\1\2", ()),
    (b">A: HORN 8F HORN +14 14", ()),
    (b"PK not a zip", ("File is not a zip file",)),
    (b"#player1 a A\n#player2 b B\n>a: HORN 9Z HORN +14 14\n", ()),
    (b"#player1 a A\n#player2 b B\n>a: HORN 1A HO\xdfRN +14 14\n", ()),
)
"""Files that are no game, and what their bytes or Python say of them."""


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add a language whose texts have no letters."""
    texts = {key: tuple(map(struck_out, forms)) for key, forms in read_texts("en").items()}
    known: Mapping[str, Texts] = {
        **web.i18n.languages(),
        NOWHERE: Texts(make_catalogue_of(NOWHERE, {**texts, "name": ("жж",)})),
    }
    monkeypatch.setattr(web.i18n, "languages", lambda: known)


@pytest.fixture
def evening() -> Iterator[Evening]:
    with GameStore(":memory:") as store:
        evening = Evening(store)
        yield evening
        evening.close()


def nothing_is_left(evening: Evening, *free: str, everywhere: bool = False) -> None:
    """No page of the game says anything that is not in the catalogue; if `everywhere`, no other page either."""
    dialogs = ("more", "exchange", "rack", "new-game", "end-game", "square?square=H8", "square", "question", "draw")
    dialogs += ("word?word=HORN", "turn?number=1", "turn?number=1&insert")
    others = ("/join", "/phones", "/panel", "/setup", "/history", "/records") if everywhere else ()
    for path in ("/", "/big", *others, *(f"/dialogs/{name}" for name in dialogs)):
        answer = evening.get(path)
        assert answer.status_code == 200 and not readable(answer, "localhost", "werkzeug", "Werkzeug", *free), path


def test_file_name_that_is_no_utf8_can_be_sent_to_a_page() -> None:
    name = b"caf\xe9.txt".decode(errors="surrogateescape")
    message = make_message("list-not-text", "{0} is not a text file", name)
    assert message.encode() == b"caf\\udce9.txt is not a text file"
    assert [value.encode() for value in message.values] == [b"caf\\udce9.txt"]


def test_struck_out_text_keeps_its_values() -> None:
    assert struck_out("{name} to play: {0}, {month:02}").format("Ben", name="Anna", month=4) == "Anna жж жжжж: Ben, 04"


def test_lobby_and_every_turn_of_a_game(evening: Evening) -> None:
    nothing_is_left(evening, everywhere=True)
    assert evening.begin().status_code == 204
    nothing_is_left(evening, everywhere=True)
    evening.play(HORN)
    evening.play(HORN, FARM)
    assert len(evening.session.state.turns) == 2
    nothing_is_left(evening)
    evening.play(HORN, FARM)
    assert evening.session.state.question is not None  # a pass or an exchange
    nothing_is_left(evening)
    evening.press("/actions/answer/2")
    evening.press("/actions/undo")
    evening.press("/actions/redo")
    evening.press("/actions/pause")
    nothing_is_left(evening)
    evening.press("/actions/go-on")
    evening.press("/actions/end-game")
    nothing_is_left(evening)
    evening.press("/actions/rack", player=0, letters="AE")
    nothing_is_left(evening, everywhere=True)


def test_refusal_has_a_text(evening: Evening) -> None:
    evening.begin()
    for action, form in REFUSED:
        refused = evening.press(action, **form)
        assert refused.status_code in (400, 403, 409) and refused.get_data() and not readable(refused), (action, form)
        assert not readable(evening.get("/")), (action, form)


def test_refusals_in_the_lobby_and_after_the_end(evening: Evening) -> None:
    for button in ("end-turn-1", "challenge", "pause", "new-game"):
        assert not readable(evening.press("/panel/press", button=button))
    assert not readable(evening.press("/actions/end-turn"))
    evening.begin()
    evening.press("/actions/end-game")
    for button in ("end-turn-1", "challenge", "pause"):
        assert not readable(evening.press("/panel/press", button=button))
    assert not readable(evening.press("/actions/end-turn"))


def test_questions_about_tiles_have_a_text(evening: Evening) -> None:
    evening.begin()
    # A letter in doubt.
    evening.table.lay(HORN)
    assert evening.table.board is not None
    squares = list(evening.table.board.squares)
    squares[parse_square("H8")] = SquareReading((("R", 0.5), ("N", 0.5)))
    evening.table.board = BoardReading(tuple(squares))
    evening.press("/actions/end-turn")
    assert evening.session.state.question is not None
    nothing_is_left(evening)
    evening.press("/actions/undo")
    # A gap: no play.
    evening.play(("HO", 7, 5, True), ("RN", 7, 9, True))
    nothing_is_left(evening)
    # Two turns at once, then tiles of the board that moved and that went.
    evening.play(HORN, FARM)
    assert evening.session.state.question is not None
    nothing_is_left(evening)
    evening.press("/actions/answer/0")
    evening.play(HORN)
    nothing_is_left(evening)
    evening.play(("HORN", 7, 5, True), ("FAR", 5, 7, False), ("M", 9, 7, True))
    nothing_is_left(evening)
    # A board that is none of this game's.
    for _ in range(3):
        evening.play(("PASTE", 0, 0, True), ("PASTE", 14, 10, True))
        nothing_is_left(evening)


def test_hidden_squares_and_a_blank_without_a_letter(evening: Evening) -> None:
    evening.begin()
    evening.play(("HO?N", 7, 5, True))
    nothing_is_left(evening)
    squares = list(BoardReading.from_rows(("." * BOARD_SIZE,) * BOARD_SIZE).squares)
    evening.table.lay(("HO?N", 7, 5, True))
    assert evening.table.board is not None
    squares = list(evening.table.board.squares)
    squares[parse_square("G9")] = SquareReading((("#", 0.9), (".", 0.1)))
    evening.table.board = BoardReading(tuple(squares))
    evening.press("/actions/end-turn")
    nothing_is_left(evening)
    assert not readable(evening.press("/actions/square", square="H8", letter="R", blank="1"))
    assert not readable(evening.press("/actions/square", square="H8", letter="Q", blank="1"))
    nothing_is_left(evening)


@pytest.mark.parametrize("word", ["HORN", "HXRN"])
def test_outcome_of_a_challenge_has_a_text(evening: Evening, word: str) -> None:
    evening.begin()
    evening.session.submit(StartGame(evening.session._controller.game.start_event, words=WORDS)).result(PATIENCE_S)
    evening.play((word, 7, 5, True))
    nothing_is_left(evening)
    assert evening.press("/actions/challenge").status_code == 204
    assert evening.session.state.notices
    nothing_is_left(evening)
    evening.play((word, 7, 5, True))
    nothing_is_left(evening)


def test_question_of_a_challenge_has_a_text(evening: Evening) -> None:
    evening.begin()
    evening.play(HORN)
    evening.press("/actions/challenge")
    assert evening.session.state.question is not None
    nothing_is_left(evening)


def test_drawing_for_first_play(evening: Evening) -> None:
    evening.press("/actions/new-game", players=["Anna", "Ben"], first="null", lexicon="none")
    nothing_is_left(evening)
    assert not readable(evening.press("/actions/draw", letters=["A"]))
    evening.press("/actions/draw", letters=["A", "A"])
    nothing_is_left(evening)
    evening.press("/actions/draw", letters=["A", "B"])
    nothing_is_left(evening)


@pytest.mark.parametrize(
    "trouble", [STALLED_MESSAGE, BLACK_MESSAGE, make_message("camera-no-usb", "no camera at usb:{0}", "0")]
)
def test_trouble_with_the_camera(evening: Evening, trouble: Message) -> None:
    evening.begin()
    evening.table.trouble = trouble
    evening.play(HORN)
    assert evening.session.state.notices[0].trouble is Trouble.CAMERA
    nothing_is_left(evening, everywhere=True)
    assert not readable(evening.get("/setup/look")) and not readable(evening.press("/setup/teach"))


def test_no_board_in_the_picture(evening: Evening, monkeypatch: pytest.MonkeyPatch) -> None:
    problems = (
        make_message(
            "board-not-found", "No board was found. {0}", make_message("board-none", "no board in the picture")
        ),
    )

    def read(*args: object, **named: object) -> PhotoReading:
        found = TextTable.read(evening.table, *args, **named)  # type: ignore[arg-type]
        return PhotoReading(None, None, problems, found.ms)

    monkeypatch.setattr(evening.table, "read", read)
    evening.begin()
    evening.press("/actions/end-turn")
    assert evening.session.state.notices[0].trouble is Trouble.BOARD
    nothing_is_left(evening, everywhere=True)
    assert not readable(evening.get("/setup/look"))


def test_a_disk_that_is_full(evening: Evening, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        error = OSError()
        error.sqlite_errorname = "SQLITE_FULL"  # type: ignore[attr-defined]
        raise to_store_error(error, "X")

    evening.begin()
    monkeypatch.setattr(evening.store, "append_events", full)
    evening.play(HORN)
    assert evening.session.state.notices[0].trouble is Trouble.STORE
    nothing_is_left(evening, everywhere=True)
    monkeypatch.undo()


def test_import_of_a_broken_file(evening: Evening) -> None:
    for data, free in BROKEN:
        form = {"csrf": token(evening.phone), "file": (io.BytesIO(data), "game.gcg")}
        answer = evening.phone.post("/history/import", data=form)
        assert answer.status_code == 409 and not readable(answer, *free), data[:40]


def test_games_that_are_not_there(evening: Evening) -> None:
    for path in ("/history/99", "/history/99/game.gcg", "/history/99/game.zip", "/nothing", "/pictures/none.jpg"):
        answer = evening.get(path)
        assert answer.status_code == 404 and not readable(answer), path
    assert not readable(evening.press("/history/99/delete"))


def test_wrong_code_has_a_text(evening: Evening) -> None:
    stranger = evening.app.test_client()
    stranger.set_cookie(web.i18n.LANGUAGE_COOKIE, NOWHERE)
    for _ in range(12):
        refused = stranger.post("/pair", data={"csrf": token(stranger), "code": "x"})
        assert refused.status_code in (409, 429) and not readable(refused)
    assert evening.session.state.notices
    nothing_is_left(evening)
    assert not readable(stranger.post("/actions/undo")) and not readable(stranger.get("/setup"))


def test_trouble_of_the_machine_has_a_text(evening: Evening, tmp_path: Path) -> None:
    """Notices about faults that are found at the start."""
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(b"no store" * 1000)
    store, rescued = open_store(damaged)
    store.close()
    learnt = tmp_path / "table.npz"
    learnt.write_bytes(b"nothing learnt")
    with pytest.raises(ProfileFileError) as profile:
        load_examples(learnt)
    told = [rescued, str(profile.value)]
    for fails in (lambda: open_camera("?"), lambda: open_camera(f"folder:{tmp_path / 'none'}")):
        with pytest.raises(CameraError) as error:
            fails()
        told.append(str(error.value))
    with pytest.raises(PhotoError) as photo:
        load_photo(tmp_path / "none")
    told.append(str(photo.value))
    for text in told:
        evening.session.notify(Notice(format_sentence(text)))
    names = (str(tmp_path), "damaged.db.damaged-", "Damaged.db", "damaged.db", "table.npz", "none", "usb:0")
    names += ("folder:", "DIR")
    nothing_is_left(evening, *names, everywhere=True)
    other = Evening(evening.store, HostInfo(find_problems=lambda: told))
    assert not readable(other.get("/setup"), *names)
    other.close()
    shutil.rmtree(tmp_path / "nothing", ignore_errors=True)
