"""Games leave the store and come back the same; a game is never imported twice."""

from __future__ import annotations

import io
import threading
import zipfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from device.player_names import MAX_PLAYER_NAME_LENGTH
from device.storage.archive import (
    _refuse_duplicate,
    export_gcg,
    export_zip,
    find_stored_game,
    import_gcg,
    import_zip,
    load_game,
)
from device.storage.errors import ArchiveError
from device.storage.game_log import GameLog, read_ledger
from device.storage.store import EventBody, GameStore
from engine.board import EMPTY_BOARD
from engine.events import Act, Exchanged, GameStarted, Passed, PlayMade, to_json
from engine.gcg import build_game, parse_gcg, replay
from engine.ledger import Ledger, Source
from engine.ledger_data import UNREADABLE
from engine.limits import MAX_GCG_BYTES
from engine.messages import key_of
from engine.plays import Play
from tests.support.archives import GAME, POSITION, export_to_memory, make_jpeg

GCG_FILES = sorted((Path(__file__).parents[3] / "device" / "data" / "games").glob("*.gcg"))


def record(log: GameLog, *acts: Act) -> str:
    """Record one command with an entry for each act."""
    return log.append(log.ledger.record([((act,),) for act in acts]))


@pytest.mark.parametrize(("now", "year"), [(0.0, 1980), (5e9, 2107)], ids=["1970", "2128"])
def test_game_is_exported_with_any_date_of_the_clock(now: float, year: int, other: GameStore) -> None:
    with GameStore(":memory:", clock=lambda: now) as store:
        number = store.begin_game(to_json(GAME.start_event))
        data = b"".join(export_zip(store, number))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert {member.date_time[0] for member in archive.infolist()} == {year}
    assert find_stored_game(other, import_zip(other, io.BytesIO(data))).started == now


def test_zip_brings_the_whole_game_to_another_table(store: GameStore, other: GameStore, number: int) -> None:
    other.begin_game({"players": ["X", "Y"]})
    brought = import_zip(other, export_to_memory(store, number))
    assert brought == 2
    assert other.read_events(brought) == store.read_events(number)
    assert other.list_games()[0].started == 1_700_000_000.25
    assert other.list_games()[0].imported and not other.list_games()[1].imported
    last = len(store.read_events(number)) - 1
    assert other.list_pictures(brought) == store.list_pictures(number) == ((last, "board"), (last, "photo"))
    assert other.read_picture(brought, last, "photo") == make_jpeg(60)
    assert load_game(other, brought).turns == load_game(store, number).turns
    assert load_game(other, brought).totals == GAME.totals


def test_gcg_of_the_zip_is_the_game_for_other_programs(store: GameStore, number: int) -> None:
    with zipfile.ZipFile(export_to_memory(store, number)) as opened:
        text = opened.read("game.gcg").decode()
        assert opened.testzip() is None
    assert text == export_gcg(store, number)
    assert replay(parse_gcg(text)).problems == ()
    assert text.count("\n>") == len(GAME.turns)


def test_zip_made_after_the_file_was_replaced_has_the_turns_that_could_not_be_saved(
    tmp_path: Path, other: GameStore
) -> None:
    with GameStore(tmp_path / "games.db") as store:
        log, _ = GameLog.begin_game(store, GameStarted(("Anna", "Ben")))
        record(log, Passed(None))
        (tmp_path / "games.db").unlink()
        (tmp_path / "games.db").write_bytes(b"another file")
        assert "Save the games on the page" in record(log, Exchanged(None, 3))
        imported = import_zip(other, export_to_memory(store, log.number))
        assert [turn.kind for turn in load_game(other, imported).turns] == ["pass", "exchange"]
        assert export_gcg(store, log.number).count("\n>") == 2


def test_zip_made_during_a_turn_can_be_imported(store: GameStore, other: GameStore, number: int) -> None:
    parts = export_zip(store, number)
    data = next(parts)
    count = len(store.read_events(number))
    store.append_events(number, [dict(UNREADABLE)], {count: {"board": make_jpeg()}})
    imported = import_zip(other, io.BytesIO(data + b"".join(parts)))
    assert len(other.read_events(imported)) == count and len(other.list_pictures(imported)) == 2


def test_game_from_a_position_is_exported_as_zip_only(store: GameStore, other: GameStore) -> None:
    log, _ = GameLog.begin_game(store, GAME.start_event)
    number = log.number
    record(log, POSITION, Passed(None))
    with pytest.raises(ArchiveError, match="Save it as a ZIP file instead"):
        export_gcg(store, number)
    with zipfile.ZipFile(export_to_memory(store, number)) as opened:
        assert opened.namelist() == ["game.json"]
    assert load_game(other, import_zip(other, export_to_memory(store, number))) == load_game(store, number)


def test_gcg_of_any_program_becomes_a_game(other: GameStore) -> None:
    brought = import_gcg(other, b"#player1 A Ann\n#player2 B Bob\n>A: HORN 8F HORN +14 14\n>B: FAM H6 FA.M +9 9\n")
    game = load_game(other, brought)
    assert game.players == ("Ann", "Bob") and game.totals == (14, 9)


def test_gcg_has_an_entry_for_each_turn_with_its_player_and_recorded_score(other: GameStore) -> None:
    gcg = b"#player1 A Ann\n#player2 B Bob\n>A: HORN 8F HORN +20 20\n>A: - +0 20\n>B: FAM H6 FA.M +9 9\n"
    log = GameLog.load(other, import_gcg(other, gcg))
    assert log is not None and log.game.totals == (20, 9)
    horn, passed, farm, *_ = log.ledger.entries
    assert {entry.source for entry in log.ledger.entries} == {Source.IMPORT}
    assert [step.kind for step in horn.alternatives[0]] == ["play", "score-corrected"]
    assert [getattr(entry.alternatives[0][0], "player", None) for entry in (horn, passed, farm)] == [0, 0, 1]


@pytest.mark.parametrize("path", GCG_FILES, ids=lambda path: path.stem)
def test_imported_gcg_is_the_recorded_game(other: GameStore, path: Path) -> None:
    recorded = build_game(parse_gcg(path.read_bytes()))
    game = load_game(other, import_gcg(other, path.read_bytes()))
    assert [(t.player, t.kind, t.score, t.total) for t in game.turns] == [
        (t.player, t.kind, t.score, t.total) for t in recorded.turns
    ]
    assert game.board == recorded.board and game.rules == recorded.rules


def test_gcg_with_more_corrections_than_a_game_can_have_is_refused(
    other: GameStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each wrong score is a correction, which looks for its turn among all turns before it."""
    monkeypatch.setattr("device.storage.archive.MAX_REPLAY_STEPS", 100)
    turns = ">A: HORN 8F HORN +99 99\n>A: HORN -- -99 0\n" * 10
    with pytest.raises(ArchiveError) as refusal:
        import_gcg(other, f"#player1 A Ann\n#player2 B Bob\n{turns}".encode())
    assert key_of(str(refusal.value.args[0])) == "zip-corrections"
    assert not other.list_games()


def test_import_of_many_files_replays_each_game_once(other: GameStore, monkeypatch: pytest.MonkeyPatch) -> None:
    replayed: list[Ledger] = []

    def read_and_count(bodies: Iterable[EventBody]) -> Ledger:
        replayed.append(ledger := read_ledger(bodies))
        return ledger

    monkeypatch.setattr("device.storage.statistics.read_ledger", read_and_count)
    for name in ("Ann", "Eve", "Ida", "Zoe"):
        import_gcg(other, f"#player1 A {name}\n#player2 B Bob\n>A: HORN 8F HORN +14 14\n".encode())
    assert [ledger.setup.players[0] for ledger in replayed] == ["Ann", "Eve", "Ida"]


@pytest.mark.parametrize(
    ("first", "second", "names"),
    [
        ("Anna", "An\x07na", ("Anna 1", "Anna 2")),
        ("Anna", "Anna\ufe0f", ("Anna 1", "Anna 2")),
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
    assert load_game(other, import_zip(other, export_to_memory(store, brought))).totals == (14, 0)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "empty"),
        (b"\0\1\2", "it is not text"),
        (b"shopping list", "not a GCG file"),
        (b"#character-encoding UTF-8\n#player1 A Ann\n#player2 B Bob\n", "no events"),
        (b"#player1 A Ann\n#player2 B Bob\n>A HORN 8F HORN +14 14\n", "line 3"),
        (b">A: X 8H QQ\n" + b" " * MAX_GCG_BYTES, "kB"),
        (b"#player1 A A\n#player2 B B\n>A: HORN 1A HORN +14 14\n>A: HORN 1A FORM +14 14\n", "cannot have been played"),
    ],
)
def test_file_that_is_no_gcg_is_refused(other: GameStore, data: bytes, why: str) -> None:
    with pytest.raises(ArchiveError, match=why):
        import_gcg(other, data)
    assert other.list_games() == ()


def test_stored_game_is_not_imported_again(store: GameStore, number: int) -> None:
    with pytest.raises(ArchiveError, match=f"It is game {number}"):
        import_zip(store, export_to_memory(store, number))
    gcg = b"#player1 A Ann\n#player2 B Bob\n>A: HORN 8F HORN +14 14\n"
    brought = import_gcg(store, gcg)
    with pytest.raises(ArchiveError, match=f"It is game {brought}"):
        import_gcg(store, gcg)


def test_game_that_is_imported_twice_at_the_same_time_is_stored_once(
    store: GameStore, other: GameStore, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    meeting = threading.Barrier(2)

    def check_and_wait(*args: Any) -> None:
        """Let two imports that are both here add their games; without a second one, go on soon."""
        _refuse_duplicate(*args)
        with suppress(threading.BrokenBarrierError):
            meeting.wait(0.1)

    monkeypatch.setattr("device.storage.archive._refuse_duplicate", check_and_wait)
    files = [export_to_memory(store, number) for _ in range(2)]
    with ThreadPoolExecutor() as pool:
        imports = [pool.submit(import_zip, other, file) for file in files]
        errors = [one.exception() for one in imports]
    assert len(other.list_games()) == 1 and errors.count(None) == 1


def test_missing_game_is_an_error_before_the_first_part(store: GameStore) -> None:
    for out in (lambda: export_zip(store, 7), lambda: export_gcg(store, 7)):
        with pytest.raises(ArchiveError, match="no game 7"):
            out()


def test_game_that_differs_only_in_notes_is_not_imported_twice(store: GameStore) -> None:
    text = "#player1 A Ann\n#player2 B Bob\n>A: HNOR 8F HORN +14 14\n"
    number = import_gcg(store, text.encode())
    with pytest.raises(ArchiveError, match=f"It is game {number}"):
        import_gcg(store, f"{text}#note a fine word\n".encode())


def test_gcg_of_a_game_that_was_played_here_is_not_imported(store: GameStore) -> None:
    log, _ = GameLog.begin_game(store, GameStarted(("Anna", "Ben"), lexicon="test"))
    record(log, PlayMade(None, Play.from_gcg(EMPTY_BOARD, "8F", "HORN", log.game.tiles)))
    record(log, Passed(None))
    log.append(log.ledger.undo())
    gcg = export_gcg(store, log.number).encode()
    with pytest.raises(ArchiveError, match=f"It is game {log.number}"):
        import_gcg(store, gcg)
    record(log, Exchanged(None, 3))
    assert import_gcg(store, gcg) > log.number
