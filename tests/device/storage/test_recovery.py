"""A store that is damaged, full or read-only: play goes on, nothing earlier is harmed, what can be read is kept."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from device.storage.backups import BACKUP_FOLDER, make_backup
from device.storage.database import STORE_SCHEMA, Database
from device.storage.errors import StoreLockedError, make_full_error
from device.storage.recovery import open_store
from device.storage.store import GameStore, StoredEvent, StoredPicture
from engine.ledger_data import UNREADABLE
from tests.support.damaged_store import PAGE_SIZE, change_store, find_root_page, set_pragma

JPEG = b"\xff\xd8\xff" + bytes(3000)


@pytest.fixture
def games(path: Path) -> int:
    """Twelve games of 40 turns."""
    with GameStore(path) as store:
        for number in range(12):
            first = StoredEvent(0, 1.0, {"n": -1, "players": [f"Player {number}", "Ben"]})
            events = [first, *(StoredEvent(n + 1, 2.0 + n, {"n": n, "text": "x" * 300}) for n in range(40))]
            pictures = [StoredPicture(n, "board", JPEG) for n in range(1, 41)]
            store.add_game(0.0, events, pictures, imported=False)
    return 12


def damaged(path: Path) -> list[Path]:
    return sorted(path.parent.glob("games.db.damaged-*"))


def test_sound_store_is_simply_opened(path: Path, games: int) -> None:
    store, trouble = open_store(path)
    assert len(store.list_games()) == games and trouble == ""
    store.close()


def test_file_that_is_no_store_is_kept_aside_unchanged(path: Path) -> None:
    path.write_bytes(b"shopping list\n" * 1000)
    store, trouble = open_store(path)
    (aside,) = damaged(path)
    assert aside.read_bytes() == b"shopping list\n" * 1000
    assert "was damaged" in trouble and aside.name in trouble and "\n" not in trouble
    assert store.begin_game({"n": 0}) == 1 and store.path == str(path)
    store.close()


def test_missing_store_names_the_newest_backup_once(path: Path, games: int) -> None:
    with GameStore(path) as store:
        backup = make_backup(store, path.parent / BACKUP_FOLDER)
    path.unlink()
    store, trouble = open_store(path)
    store.close()
    assert games and f"tilekeeper restore {backup}" in trouble
    store, trouble = open_store(path)
    store.close()
    assert trouble == ""


def test_link_to_a_disk_that_is_missing_names_the_newest_backup(path: Path, games: int, tmp_path: Path) -> None:
    with GameStore(path) as store:
        backup = make_backup(store, path.parent / BACKUP_FOLDER)
    (tmp_path / "mount").mkdir()
    path.unlink()
    path.symlink_to(tmp_path / "mount" / "games.db")
    store, trouble = open_store(path)
    store.close()
    assert games and f"tilekeeper restore {backup}" in trouble


def test_first_store_begins_without_a_message(path: Path) -> None:
    store, trouble = open_store(path)
    store.close()
    assert trouble == ""


def test_two_damaged_stores_of_one_day_are_both_kept(path: Path) -> None:
    for text in (b"first", b"second"):
        path.write_bytes(text * 1000)
        open_store(path)[0].close()
        path.unlink()
    assert len(damaged(path)) == 2


def test_store_cut_short_gives_back_the_games_before_the_cut(path: Path, games: int) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    store, trouble = open_store(path)
    found = store.list_games()
    assert 3 <= len(found) < games + 1 and "some only in part" in trouble
    for game in found:
        assert has_known_turns(store, game.id)
    assert store.read_picture(found[-1].id, 5, "board") == JPEG
    store.close()
    assert damaged(path)[0].read_bytes() == whole[: len(whole) // 2]


def has_known_turns(store: GameStore, game: int) -> bool:
    """Return True if each event of a game is that of its number, or is unreadable and the game counts as damaged."""
    events = store.read_events(game)
    damage = next(stored.damage for stored in store.list_games() if stored.id == game)
    lost = [event for event in events if event.body == UNREADABLE]
    return all(event.body["n"] == event.number - 1 for event in events if event not in lost) and bool(lost) == bool(
        damage
    )


def test_any_damaged_page_leaves_a_store_that_takes_turns(path: Path, games: int, tmp_path: Path) -> None:
    whole = path.read_bytes()
    assert games
    chance = random.Random(5)
    rescued = 0
    for trial in range(24):
        place = tmp_path / str(trial)
        place.mkdir()
        broken = bytearray(whole)
        at = chance.randrange(len(whole) // PAGE_SIZE) * PAGE_SIZE
        broken[at : at + PAGE_SIZE] = chance.randbytes(PAGE_SIZE) if trial % 2 else bytes(PAGE_SIZE)
        (place / "games.db").write_bytes(broken)
        store, trouble = open_store(place / "games.db")
        game = store.begin_game({"n": -1})
        store.append_events(game, [{"n": 0}], {1: {"board": JPEG}})
        assert [event.body["n"] for event in store.read_events(game)] == [-1, 0]
        for stored in store.list_games():
            assert has_known_turns(store, stored.id)
        rescued += bool(trouble)
        store.close()
    assert rescued


def without(path: Path, *tables: str) -> None:
    """Overwrite the first page of each of these tables."""
    broken = bytearray(path.read_bytes())
    for table in tables:
        broken[find_root_page(path, table)] = bytes(PAGE_SIZE)
    path.write_bytes(broken)


class PowerCutError(Exception):
    pass


def fail_at_game(monkeypatch: pytest.MonkeyPatch, number: int, error: Exception) -> None:
    """Let the store raise `error` instead of adding the game with this number."""
    add_game = GameStore.add_game

    def add_or_fail(store: GameStore, *game: Any, **options: Any) -> int:
        if store.next_game_number == number:
            raise error
        return add_game(store, *game, **options)

    monkeypatch.setattr(GameStore, "add_game", add_or_fail)


@pytest.mark.parametrize("is_empty", [False, True])
def test_rescue_that_a_power_cut_interrupted_begins_again(
    path: Path, games: int, monkeypatch: pytest.MonkeyPatch, is_empty: bool
) -> None:
    if is_empty:
        with GameStore(path) as store:
            make_backup(store, path.parent / BACKUP_FOLDER)
        path.write_bytes(b"")
    else:
        without(path, "note")
    with monkeypatch.context() as patch, pytest.raises(PowerCutError):
        fail_at_game(patch, 5, PowerCutError())
        open_store(path)
    path.with_name("games.db.part").write_bytes(b"the beginning of a copy")
    store, trouble = open_store(path)
    with store:
        assert "was damaged" in trouble and len(store.list_games()) == games
    assert damaged(path) and not path.with_name("games.db.part").exists()


def test_damaged_store_on_a_full_disk_is_rescued_with_the_games_in_memory_when_there_is_room(
    path: Path, games: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    without(path, "note")
    with monkeypatch.context() as patch:
        fail_at_game(patch, 5, make_full_error(str(path)))
        store, trouble = open_store(path)
        assert "is full" in trouble and "in memory" in trouble and not damaged(path)
        store.begin_game({"kind": "started", "players": ["Carl", "Dora"]})
    store.close()
    store, trouble = open_store(path)
    with store:
        assert trouble == "" and len(store.list_games()) == games + 1
        assert store.list_games()[0].players == ("Carl", "Dora")


def leave_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the end of each file be only in its log, as if the disk failed when SQLite closed the file."""
    close = Database.close

    def close_and_fail(database: Database) -> None:
        close(database)
        if database.path.endswith(".part"):
            Path(f"{database.path}-wal").write_bytes(b"the last pages")

    monkeypatch.setattr(Database, "close", close_and_fail)


def test_damaged_file_is_not_replaced_by_a_copy_without_its_end(
    path: Path, games: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    without(path, "note")
    with monkeypatch.context() as patch:
        leave_log(patch)
        store, trouble = open_store(path)
        assert "does not work properly" in trouble and "in memory" in trouble and not damaged(path)
    store.close()
    with open_store(path)[0] as store:
        assert len(store.list_games()) == games


def test_rescue_reports_its_progress_for_each_game(path: Path, games: int) -> None:
    without(path, "note")
    reports: list[int] = []
    open_store(path, lambda: reports.append(1))[0].close()
    assert len(reports) == games


def test_damaged_store_gives_back_clocks_colours_and_what_is_noted_of_the_table(path: Path, games: int) -> None:
    with GameStore(path) as store:
        store.save_note(games, "clock", "12 minutes")
        store.save_note(0, "corners", "where they were placed")
        store.save_colour("Ben", "#ff8800")
        store.delete_game(1)  # so that numbers change
    without(path, "game")
    store, trouble = open_store(path)
    with store:
        assert "was damaged" in trouble and len(store.list_games()) == games - 1
        assert store.read_notes_by_game("clock") == {games - 1: "12 minutes"}
        assert store.read_game_notes(0) == {"corners": "where they were placed"}
        assert dict(store.list_players())["Ben"] == "#ff8800"


def test_damaged_notes_and_players_cost_no_game(path: Path, games: int) -> None:
    without(path, "game", "note", "player")
    store, trouble = open_store(path)
    with store:
        assert "was damaged" in trouble and len(store.list_games()) == games


def test_store_of_another_program_is_not_taken(path: Path) -> None:
    with GameStore(path), pytest.raises(StoreLockedError, match="in use by another"):
        open_store(path)


def test_newer_store_is_left_alone_and_play_goes_on_in_memory(path: Path) -> None:
    GameStore(path).close()
    set_pragma(path, "user_version", 99)
    set_pragma(path, "application_id", STORE_SCHEMA.make_file_id(99))
    before = path.read_bytes()
    store, trouble = open_store(path)
    assert "newer Tilekeeper" in trouble and "in memory" in trouble
    assert store.begin_game({"n": 0}) == 1
    store.close()
    assert path.read_bytes() == before and not damaged(path)


OPENER = """
import os, sys
from pathlib import Path
from device.catalogue import load_catalogue
from device.storage.recovery import open_store
# Compile the texts now: the user "nobody" may not be allowed to read the modules of Babel.
load_catalogue("en")
os.setuid(65534)  # nobody: the folder is another's
store, trouble = open_store(Path(sys.argv[1]))
game = store.begin_game({"n": 0})
store.append_events(game, [{"n": 1}])
print(store.path, len(store.list_games()), trouble)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only the system's owner can become nobody")
@pytest.mark.parametrize("there", [True, False])
def test_folder_that_cannot_be_written(there: bool) -> None:
    with tempfile.TemporaryDirectory(prefix="readonly-") as name:  # not below tmp_path, which only its owner may enter
        folder = Path(name)
        if there:
            GameStore(folder / "games.db").close()
        folder.chmod(0o555)
        said = _said_by_nobody(folder / "games.db")
        assert said.startswith(":memory: 1 ") and "cannot be written" in said and "in memory" in said


@pytest.mark.skipif(os.geteuid() != 0, reason="only the system's owner can become nobody")
def test_games_in_a_log_without_index_are_read_in_a_folder_that_cannot_be_written(path: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="readonly-") as name:
        folder = Path(name)
        with GameStore(path) as store:
            set_pragma(path, "wal_checkpoint", "TRUNCATE")
            store.begin_game({"n": 0})
            for written in (path, path.with_name(f"{path.name}-wal")):  # as after a power cut
                shutil.copy(written, folder)
        folder.chmod(0o555)
        said = _said_by_nobody(folder / path.name)
        assert said.startswith(":memory: 2 ") and "cannot be written" in said


def _said_by_nobody(path: Path) -> str:
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", OPENER, str(path)], capture_output=True, text=True, cwd=root, timeout=30, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_games_in_memory_are_stored_if_the_store_can_be_used_at_the_end(tmp_path: Path) -> None:
    folder = tmp_path / "card"
    folder.write_bytes(b"")  # not mounted yet
    store, trouble = open_store(folder / "games.db")
    assert "in memory" in trouble
    with store:
        first = store.begin_game({"kind": "started", "players": ["Anna", "Ben"]})
        store.append_events(first, [{"kind": "pass", "player": 0}], {1: {"board": b"\xff\xd8\xff"}})
        second = store.begin_game({"kind": "started", "players": ["Carl", "Dora"]})
        store.save_note(second, "clock", "12 minutes")
        store.save_note(0, "corners", "where they were placed")
        store.save_colour("Dora", "#ff8800")
        folder.unlink()
        folder.mkdir()
    with GameStore(folder / "games.db") as own:
        assert [(game.first_event["players"][0], game.length, game.imported) for game in own.list_games()] == [
            ("Carl", 1, False),
            ("Anna", 2, False),
        ]
        assert own.read_picture(1, 1, "board") == b"\xff\xd8\xff"
        assert own.read_note(2, "clock") == "12 minutes" and own.read_note(0, "corners") == "where they were placed"
        assert dict(own.list_players())["Dora"] == "#ff8800"


def test_games_in_memory_that_cannot_be_stored_are_reported_as_lost(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "card").write_bytes(b"")
    store, _ = open_store(tmp_path / "card" / "games.db")
    with store:
        store.begin_game({"kind": "started"})
    assert "what was played in memory is lost" in caplog.text


@pytest.mark.parametrize("table", ["event", "game"])
def test_games_that_cannot_be_read_come_from_newest_backup(path: Path, games: int, table: str) -> None:
    with GameStore(path) as store:
        store.delete_game(1)
        make_backup(store, path.parent / BACKUP_FOLDER)
        store.append_events(games, [{"n": 40}])
    without(path, table)
    store, trouble = open_store(path)
    with store:
        assert "was damaged" in trouble and len(store.list_games()) == games - 1
        newest, *others = store.list_games()
        assert not any(stored.damage for stored in others) and newest.first_event["players"] == ["Player 11", "Ben"]
        *known, last = store.read_events(newest.id)
        # The last event is not in the backup. Without the list of games it is not known that it is the last one.
        assert [event.body["n"] for event in known] == list(range(-1, 40 if table == "event" else 41))
        assert last.body == UNREADABLE and newest.damage


def test_damaged_backup_does_no_harm(path: Path, games: int) -> None:
    with GameStore(path) as store:
        backup = make_backup(store, path.parent / BACKUP_FOLDER)
    content = backup.read_bytes()
    backup.write_bytes(content[: len(content) // 3])
    without(path, "note")
    store, trouble = open_store(path)
    with store:
        assert "was damaged" in trouble and len(store.list_games()) == games
        assert not any(stored.damage for stored in store.list_games())


def _replace_by_folder(backup: Path) -> None:
    backup.unlink()
    backup.mkdir()


def _replace_by_loop(backup: Path) -> None:
    backup.unlink()
    backup.symlink_to(backup.name)


@pytest.mark.parametrize(
    "damage", [_replace_by_folder, _replace_by_loop, lambda backup: backup.write_bytes(bytes(9000))]
)
@pytest.mark.parametrize("is_emptied", [True, False])
def test_games_come_from_the_backup_before_if_the_newest_one_is_damaged(
    path: Path, games: int, damage: Callable[[Path], object], is_emptied: bool
) -> None:
    with GameStore(path) as store:
        make_backup(store, path.parent / BACKUP_FOLDER)
        damage(make_backup(store, path.parent / BACKUP_FOLDER))
    if is_emptied:
        path.write_bytes(b"")
    else:
        without(path, "event")
    store, trouble = open_store(path)
    with store:
        assert "was damaged" in trouble and len(store.list_games()) == games
        assert not any(stored.damage for stored in store.list_games())


@pytest.mark.parametrize("position", [0, 16, 47])
def test_store_with_a_damaged_header_comes_back_from_backup(path: Path, games: int, position: int) -> None:
    with GameStore(path) as store:
        make_backup(store, path.parent / BACKUP_FOLDER)
    content = bytearray(path.read_bytes())
    content[position] ^= 0x80
    path.write_bytes(content)
    store, trouble = open_store(path)
    with store:
        assert "was damaged" in trouble and len(store.list_games()) == games


@pytest.mark.parametrize("rest", [b"", b"S"])
def test_emptied_store_comes_back_from_backup(path: Path, games: int, rest: bytes) -> None:
    with GameStore(path) as store:
        make_backup(store, path.parent / BACKUP_FOLDER)
    path.write_bytes(rest)
    store, trouble = open_store(path)
    with store:
        assert "was damaged" in trouble and len(store.list_games()) == games
        assert not any(stored.damage for stored in store.list_games())


def test_emptied_store_may_lack_turns_after_its_backup(path: Path, games: int) -> None:
    with GameStore(path) as store:
        make_backup(store, path.parent / BACKUP_FOLDER)
        store.append_events(games, [{"n": 40}])
    path.write_bytes(b"")
    store, trouble = open_store(path)
    with store:
        assert "some only in part" in trouble and len(store.list_games()) == games


def test_emptied_store_without_backup_is_reported(path: Path) -> None:
    with GameStore(path) as store:
        store.begin_game({"n": 0})
    path.write_bytes(b"")
    store, trouble = open_store(path)
    with store:
        assert "was damaged" in trouble and store.list_games() == () and store.path == str(path)


def test_game_with_a_lost_event_gets_it_from_the_backup(path: Path, games: int) -> None:
    with GameStore(path) as store:
        make_backup(store, path.parent / BACKUP_FOLDER)
    change_store(path, "DELETE FROM event WHERE game = 3 AND number IN (0, 7)")
    without(path, "note")
    store, _ = open_store(path)
    with store:
        assert games and not any(stored.damage for stored in store.list_games())
        assert [event.body["n"] for event in store.read_events(3)] == list(range(-1, 40))
