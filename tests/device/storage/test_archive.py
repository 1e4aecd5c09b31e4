"""Games leave the store and come back the same; what nobody here exported is refused in words."""

from __future__ import annotations

import copy
import io
import json
import struct
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from device.demo.demo_table import load_demo_games
from device.player_names import MAX_PLAYER_NAME_LENGTH
from device.session.snapshot import build_snapshot
from device.storage import game_file, zip_files
from device.storage.archive import export_gcg, export_zip, find_stored_game, import_gcg, import_zip, load_game
from device.storage.errors import ArchiveError
from device.storage.game_file import GAME_MEMBER, encode_game
from device.storage.game_log import GameLog
from device.storage.store import MAX_PICTURE_BYTES, GameStore
from engine.board import EMPTY_BOARD, parse_square
from engine.events import (
    Event,
    Exchanged,
    GameStarted,
    Passed,
    PlayMade,
    PositionEntered,
    QuestionDeferred,
    Redone,
    ScoreCorrected,
    Undone,
    to_json,
)
from engine.gcg import build_game, parse_gcg, replay
from engine.limits import MAX_GCG_BYTES
from engine.messages import make_message
from engine.plays import Play
from engine.tiles import Tile, load_tile_set

EVENT_SAMPLES = Path(__file__).parents[2] / "engine" / "data" / "events.jsonl"
GAME = build_game(load_demo_games()["three-of-us"])
POSITION = PositionEntered(((112, Tile("A")), (113, Tile.unnamed())), (120, 98, 55), 1)


def jpeg(side: int = 40) -> bytes:
    done, data = cv2.imencode(".jpg", np.full((side, side, 3), 90, np.uint8))
    assert done
    return data.tobytes()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[GameStore]:
    with GameStore(tmp_path / "games.db", clock=lambda: 1_700_000_000.25) as store:
        yield store


@pytest.fixture
def other(tmp_path: Path) -> Iterator[GameStore]:
    with GameStore(tmp_path / "other.db") as store:
        yield store


@pytest.fixture
def number(store: GameStore) -> int:
    number = store.begin_game(to_json(GAME.events[0]))
    for press, event in enumerate(GAME.events[1:-1], 1):
        store.append(number, [{**to_json(event), "press": press}])
    store.append(number, [{**to_json(Undone()), "press": 98, "way": "undo"}])
    store.append(number, [{**to_json(Redone()), "press": 99, "way": "redo"}])
    store.append(number, [to_json(GAME.events[-1])], {"board": jpeg(), "photo": jpeg(60)})
    return number


def zipped(store: GameStore, number: int) -> io.BytesIO:
    return io.BytesIO(b"".join(export_zip(store, number)))


@pytest.mark.parametrize(("now", "year"), [(0.0, 1980), (5e9, 2107)], ids=["1970", "2128"])
def test_game_is_exported_with_any_date_of_the_clock(now: float, year: int, other: GameStore) -> None:
    with GameStore(":memory:", clock=lambda: now) as store:
        number = store.begin_game(to_json(GAME.events[0]))
        data = b"".join(export_zip(store, number))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert {member.date_time[0] for member in archive.infolist()} == {year}
    assert find_stored_game(other, import_zip(other, io.BytesIO(data))).started == now


def test_zip_brings_the_whole_game_to_another_table(store: GameStore, other: GameStore, number: int) -> None:
    other.begin_game({"players": ["X", "Y"]})
    brought = import_zip(other, zipped(store, number))
    assert brought == 2
    assert other.events(brought) == store.events(number)
    assert other.games()[0].started == 1_700_000_000.25
    assert other.games()[0].imported and not other.games()[1].imported
    last = len(GAME.events) + 1
    assert other.pictures(brought) == store.pictures(number) == ((last, "board"), (last, "photo"))
    assert other.picture(brought, last, "photo") == jpeg(60)
    assert load_game(other, brought) == GAME


def test_gcg_of_the_zip_is_the_game_for_other_programs(store: GameStore, number: int) -> None:
    with zipfile.ZipFile(zipped(store, number)) as opened:
        text = opened.read("game.gcg").decode()
        assert opened.testzip() is None
    assert text == export_gcg(store, number)
    assert replay(parse_gcg(text)).problems == ()
    assert text.count("\n>") == len(GAME.turns)


def test_zip_made_during_a_turn_can_be_imported(store: GameStore, other: GameStore, number: int) -> None:
    parts = export_zip(store, number)
    data = next(parts)
    count = len(store.events(number))
    store.append(number, [to_json(Undone())], {"board": jpeg()})
    imported = import_zip(other, io.BytesIO(data + b"".join(parts)))
    assert len(other.events(imported)) == count and len(other.pictures(imported)) == 2


def test_game_from_a_position_is_exported_as_zip_only(store: GameStore, other: GameStore) -> None:
    number = store.begin_game(to_json(GAME.events[0]))
    store.append(number, [to_json(POSITION), to_json(Passed(1))])
    with pytest.raises(ArchiveError, match="Save it as a ZIP file instead"):
        export_gcg(store, number)
    with zipfile.ZipFile(zipped(store, number)) as opened:
        assert opened.namelist() == ["game.json"]
    assert load_game(other, import_zip(other, zipped(store, number))) == load_game(store, number)


def test_gcg_of_any_program_becomes_a_game(other: GameStore) -> None:
    brought = import_gcg(other, b"#player1 A Ann\n#player2 B Bob\n>A: HORN 8F HORN +14 14\n>B: FAM H6 FA.M +9 9\n")
    game = load_game(other, brought)
    assert game.players == ("Ann", "Bob") and game.totals == (14, 9)


@pytest.mark.parametrize(
    ("first", "second", "names"),
    [
        ("Anna", "An\x07na", ("Anna 1", "Anna 2")),
        ("x" * 80, "x" * 79 + "y", ("x" * 38 + " 1", "x" * 38 + " 2")),
        ("Player 2", "", ("Player 2", "B")),
    ],
)
def test_names_of_a_gcg_that_are_shortened_stay_different(
    other: GameStore, first: str, second: str, names: tuple[str, str]
) -> None:
    text = f"#player1 A {first}\n#player2 B {second}\n>A: HORN 8F HORN +14 14\n"
    assert load_game(other, import_gcg(other, text.encode())).players == names


def test_names_of_a_gcg_are_brought_as_this_table_takes_them(store: GameStore, other: GameStore) -> None:
    long = "B" * 80
    data = f"#player1 A Ann\x1b[2Ja\n#player2 B {long}\n>A: HORN 8F HORN +14 14\n".encode()
    brought = import_gcg(store, data)
    assert load_game(store, brought).players == ("Ann[2Ja", "B" * MAX_PLAYER_NAME_LENGTH)
    assert load_game(other, import_zip(other, zipped(store, brought))).totals == (14, 0)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "empty"),
        (b"\0\1\2", "it is not text"),
        (b"shopping list", "not a GCG file"),
        (b">A: X 8H QQ\n" + b" " * MAX_GCG_BYTES, "kB"),
        (b"#player1 A A\n#player2 B B\n>A: HORN 1A HORN +14 14\n>A: HORN 1A FORM +14 14\n", "cannot have been played"),
    ],
)
def test_gcg_that_is_none_is_refused(other: GameStore, data: bytes, why: str) -> None:
    with pytest.raises(ArchiveError, match=why):
        import_gcg(other, data)
    assert other.games() == ()


def test_game_that_is_here_is_not_taken_in_twice(store: GameStore, number: int) -> None:
    with pytest.raises(ArchiveError, match=f"It is game {number}"):
        import_zip(store, zipped(store, number))
    gcg = b"#player1 A Ann\n#player2 B Bob\n>A: HORN 8F HORN +14 14\n"
    brought = import_gcg(store, gcg)
    with pytest.raises(ArchiveError, match=f"It is game {brought}"):
        import_gcg(store, gcg)


def test_game_that_is_not_there_is_said_before_the_first_part(store: GameStore) -> None:
    for out in (lambda: export_zip(store, 7), lambda: export_gcg(store, 7)):
        with pytest.raises(ArchiveError, match="no game 7"):
            out()


Members = dict[str, bytes]


def made_zip(members: Members, how: int = zipfile.ZIP_DEFLATED) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", how) as written:
        for name, data in members.items():
            written.writestr(name, data)
    file.seek(0)
    return file


@pytest.fixture
def members(store: GameStore, number: int) -> Members:
    with zipfile.ZipFile(zipped(store, number)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


@pytest.mark.parametrize("name", ["../game.json", "/etc/passwd", "a.txt", "pictures/", "pictures/1-board.png", "C:\\x"])
def test_name_that_no_export_has_is_refused(other: GameStore, members: Members, name: str) -> None:
    with pytest.raises(ArchiveError, match="does not belong in the ZIP file of a game"):
        import_zip(other, made_zip(members | {name: b"x"}))


def test_bomb_is_refused_unopened_and_unpacked_no_further_than_the_bound(
    other: GameStore, members: Members, monkeypatch: pytest.MonkeyPatch
) -> None:
    bomb = made_zip(members | {"pictures/00001-board.jpg": bytes(MAX_PICTURE_BYTES + 1)})
    with pytest.raises(ArchiveError, match="larger than"):
        import_zip(other, bomb)
    monkeypatch.setattr(zip_files, "MAX_ARCHIVE_UNPACKED_BYTES", MAX_PICTURE_BYTES)
    with pytest.raises(ArchiveError, match="unpacks to more"):
        import_zip(other, bomb)


def test_size_that_the_header_lies_about_is_found_out(other: GameStore, members: Members) -> None:
    data = bytearray(made_zip({"game.json": members["game.json"]}).getvalue())
    at = data.rindex(b"PK\1\2")
    data[at + 24 : at + 28] = struct.pack("<I", 10)  # the central directory's uncompressed size
    with pytest.raises(ArchiveError):
        import_zip(other, io.BytesIO(bytes(data)))


@pytest.mark.parametrize("data", [b"", b"PK", b"\xff\xd8\xff no zip", b"PK\5\6" + bytes(18)])
def test_file_that_is_no_zip_is_refused(other: GameStore, data: bytes) -> None:
    with pytest.raises(ArchiveError, match="ZIP"):
        import_zip(other, io.BytesIO(data))


def test_damaged_zip_is_refused(other: GameStore, store: GameStore, number: int) -> None:
    whole = zipped(store, number).getvalue()
    for at in range(0, len(whole), 97):
        broken = bytearray(whole)
        broken[at] ^= 0x55
        try:
            brought = import_zip(other, io.BytesIO(bytes(broken)))
        except ArchiveError:
            continue
        assert other.events(brought) == store.events(number)  # only a date or an attribute was hit
        other.delete_game(brought)


def test_zip_of_a_later_version_is_refused(other: GameStore, members: Members) -> None:
    data = bytearray(made_zip(members).getvalue())
    data[data.rindex(b"PK\1\2") + 6] = 134  # the version that is needed to read a member
    data[data.rindex(b"PK\3\4") + 4] = 134
    with pytest.raises(ArchiveError, match="not the ZIP file of a game"):
        import_zip(other, io.BytesIO(bytes(data)))


def test_zip_of_too_many_files_is_refused_before_its_list_is_read(
    other: GameStore, members: Members, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = made_zip(members | {f"{'x' * 200}{n}/": b"" for n in range(5000)})
    monkeypatch.setattr(zipfile, "ZipFile", None)
    with pytest.raises(ArchiveError, match="too many files for a game: its list is larger than 1000 kB"):
        import_zip(other, many)


@pytest.mark.parametrize("digits", ["9" * 5000, "-" + "9" * 30, "1e999", "NaN"])
def test_number_of_too_many_digits_is_refused(other: GameStore, members: Members, digits: str) -> None:
    game = members["game.json"].replace(b'"press": 1', f'"press": {digits}'.encode(), 1)
    assert game != members["game.json"]
    with pytest.raises(ArchiveError, match=r"^[^\n]*$"):
        import_zip(other, made_zip({"game.json": game}))


def test_picture_that_is_none_is_refused(other: GameStore, members: Members) -> None:
    for data in (b"<script>", b"\xff\xd8\xff", jpeg()[:50], b"GIF89a"):
        with pytest.raises(ArchiveError, match="not a JPEG"):
            import_zip(other, made_zip(members | {"pictures/00001-board.jpg": data}))


def test_picture_of_no_event_is_refused(other: GameStore, members: Members) -> None:
    with pytest.raises(ArchiveError, match="belongs to no turn of the game"):
        import_zip(other, made_zip(members | {"pictures/09999-board.jpg": jpeg()}))


def changed(members: Members, *path: Any, to: Any) -> io.BytesIO:
    whole = json.loads(members["game.json"])
    at = whole
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = to
    return made_zip({"game.json": json.dumps(whole).encode()})


@pytest.mark.parametrize(
    ("path", "to"),
    [
        (("form",), "other"),
        (("version",), 2),
        (("started",), "now"),
        (("started",), float("nan")),
        (("events",), []),
        (("events",), "abc"),
        (("events", 0, "event", "players"), [1, 2]),
        (("events", 0, "event", "players"), ["A" * 41, "B"]),
        (("events", 0, "event", "players"), ["A\ud800", "B"]),
        (("events", 0, "event", "players"), ["A\x1b[2J", "B", "C"]),
        (("events", 0, "event", "players"), ["A\nB", "B", "C"]),
        (("events", 0, "event", "lexicon"), "/list" * 1000),
        (("events", 0, "event", "rules"), {"rack_size": 10**9}),
        (("events", 0, "event", "rules"), {"clock_seconds": -1}),
        (("events", 1, "event"), {"v": 1, "kind": "exchange", "player": 0, "count": -5}),
        (("events", 1, "event"), {"v": 1, "kind": "exchange", "player": 0, "count": 10**9}),
        (("events", 1, "event"), {"v": 1, "kind": "rack", "player": 0, "tiles": ["A"] * 10_000}),
        (("events", 1, "event"), {"v": 1, "kind": "rack", "player": 0, "tiles": ["\x1b[2J"]}),
        (("events", 1, "event"), {"v": 1, "kind": "clock", "player": 0, "seconds": 1e300}),
        (("events", 2, "event"), {"v": 1, "kind": "score-corrected", "turn": 0, "score": 10**400}),
        (("events", 2, "event"), {"v": 1, "kind": "score-corrected", "turn": 0, "score": -(10**400)}),
        (("events", 0, "event", "rules"), {"rack_size": "7"}),
        (("events", 1, "event", "player"), -1),
        (("events", 1, "event", "player"), True),
        (("events", 1, "event", "press"), "9"),
        (("events", 1, "event", "way"), "left"),
        (("events", 1, "event", "kind"), "coup"),
        (("events", 1, "event", "v"), 99),
        (("events", 1, "time"), -5),
    ],
)
def test_game_with_a_wrong_value_is_refused(other: GameStore, members: Members, path: tuple[Any, ...], to: Any) -> None:
    with pytest.raises(ArchiveError, match=r"^[^\n]*$"):
        import_zip(other, changed(members, *path, to=to))
    assert other.games() == ()


HORN, HARN = (PlayMade(0, Play.from_gcg(EMPTY_BOARD, "8F", word, load_tile_set("en"))) for word in ("HORN", "HARN"))
QUESTION = QuestionDeferred(
    1,
    make_message("which-tile", "Which tile is on {0}: {1} or {2}?", "G8", "O", "A"),
    ("HORN", make_message("played", "{0} played {1} at {2} for {3}", "Anna", "HARN", "8F", 14)),
    ((HORN,), (HARN,)),
    1,
    squares=(parse_square("G8"),),
)


def store_question(store: GameStore, question: QuestionDeferred = QUESTION) -> int:
    """Store a game with HORN, and a question about it that the players have deferred."""
    number = store.begin_game(to_json(GameStarted(("Anna", "Ben"))))
    store.append(number, [to_json(HORN), to_json(question)])
    return number


def test_game_with_a_deferred_question_is_imported(store: GameStore, other: GameStore) -> None:
    number = store_question(store)
    brought = import_zip(other, zipped(store, number))
    assert other.events(brought) == store.events(number)


@pytest.mark.parametrize("line", EVENT_SAMPLES.read_text(encoding="utf-8").splitlines())
def test_event_of_any_kind_is_accepted_in_a_file(line: str) -> None:
    body = json.loads(line)
    assert to_json(game_file.parse_event(body))["kind"] == body["kind"]


@pytest.mark.parametrize(
    "change",
    [
        {"answers": ((HORN,), (replace(HORN, player=2),))},
        {"answers": ((HORN,), (Exchanged(1, True),))},
        {"answers": (), "texts": ()},
        {"texts": ("HORN",)},
        {"chosen": 2},
        {"count": 2},
    ],
    ids=str,
)
def test_impossible_deferred_question_is_refused(store: GameStore, other: GameStore, change: dict[str, Any]) -> None:
    number = store_question(store, replace(QUESTION, **change))
    members = {GAME_MEMBER: encode_game(find_stored_game(store, number), store.events(number))}
    with pytest.raises(ArchiveError):
        import_zip(other, made_zip(members))


def test_names_are_joined_letters_and_pictures_too(other: GameStore, members: Members) -> None:
    names = ["\N{MAN}\N{ZERO WIDTH JOINER}\N{PERSONAL COMPUTER}", "Zoë Ñandú", "C"]
    number = import_zip(other, changed(members, "events", 0, "event", "players", to=names))
    assert list(load_game(other, number).players) == names


def test_game_of_too_many_corrections_is_refused_before_it_takes_minutes(other: GameStore) -> None:
    """Each correction plays the whole game again."""
    turns: list[Event] = [Passed(at % 2) for at in range(1000)]
    events = [GameStarted(("Anna", "Ben")), *turns, *(ScoreCorrected(0, at) for at in range(900))]
    bodies = [{"time": 0, "event": to_json(event)} for event in events]
    whole = {"form": game_file.FORMAT_NAME, "version": game_file.FORMAT_VERSION, "started": 0, "events": bodies}
    with pytest.raises(ArchiveError, match="more corrections"):
        import_zip(other, made_zip({"game.json": json.dumps(whole).encode()}))


EVENTS = [to_json(event) for event in GAME.events]
POSITION_EVENTS = [to_json(event) for event in (GAME.events[0], POSITION, Passed(1), ScoreCorrected(0, 110))]
ODD = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.lists(st.integers(), max_size=3),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
    st.sampled_from(["H8", "?A", "play", "pass", "undone", "redone", "challenge", "ended", "en", "de", 0, 1, -1]),
)  # fmt: skip


@given(st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_taken_in_can_be_shown(data: st.DataObject) -> None:
    """One value anywhere in a game is replaced by an odd one: it is refused in words, or else it is a game."""
    events: Any = copy.deepcopy(data.draw(st.sampled_from([EVENTS, POSITION_EVENTS])))
    at: Any = events
    while True:
        step = data.draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))
        if not isinstance(at[step], (dict, list)) or not at[step] or data.draw(st.booleans()):
            break
        at = at[step]
    at[step] = data.draw(ODD)
    whole = {"form": "tilekeeper-game", "version": 1, "started": 0, "events": [{"time": 0, "event": e} for e in events]}
    with GameStore(":memory:") as store:
        try:
            brought = import_zip(store, made_zip({"game.json": json.dumps(whole).encode()}))
        except ArchiveError as error:
            assert "\n" not in str(error)
        else:
            build_snapshot(load_game(store, brought), frozenset())
            with suppress(ArchiveError):  # GCG cannot describe a position
                export_gcg(store, brought)


@pytest.mark.parametrize("tail", [b"PK\5\6", b"PK\5\6" + bytes(10), b"PK\6\7" + bytes(16) + b"PK\5\6" + bytes(18)])
def test_zip_with_a_strange_end_is_refused(store: GameStore, tail: bytes) -> None:
    with pytest.raises(ArchiveError):
        import_zip(store, io.BytesIO(b"PK\3\4" + tail))


def test_zip_that_hides_the_size_of_its_list_is_refused(store: GameStore) -> None:
    """Another signature of the record at the end is inside that record; `ZipFile` does not see it."""
    many = io.BytesIO()
    with zipfile.ZipFile(many, "w") as packed:
        for number in range(100):
            packed.writestr(f"{number:0200}/", b"")
    data = bytearray(many.getvalue())
    data[-6:-2] = b"PK\5\6"
    assert len(zipfile.ZipFile(io.BytesIO(data)).infolist()) == 100
    with pytest.raises(ArchiveError, match="incomplete"):
        import_zip(store, io.BytesIO(data))


def test_game_that_differs_only_in_notes_is_not_imported_twice(store: GameStore) -> None:
    text = "#player1 A Ann\n#player2 B Bob\n>A: HNOR 8F HORN +14 14\n"
    number = import_gcg(store, text.encode())
    with pytest.raises(ArchiveError, match=f"It is game {number}"):
        import_gcg(store, f"{text}#note a fine word\n".encode())


def test_gcg_of_a_game_that_was_played_here_is_not_imported(store: GameStore) -> None:
    log, _ = GameLog.begin_game(store, GameStarted(("Anna", "Ben"), lexicon="test"))
    log.append([PlayMade(0, Play.from_gcg(EMPTY_BOARD, "8F", "HORN", log.game.tiles))])
    log.append([Passed(1)])
    log.undo()
    gcg = export_gcg(store, log.number).encode()
    with pytest.raises(ArchiveError, match=f"It is game {log.number}"):
        import_gcg(store, gcg)
    log.append([Exchanged(1, 3)])
    assert import_gcg(store, gcg) > log.number
