"""The store in memory: the games of a file that cannot be written are shown, and new events are saved when possible."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from device.storage.errors import StoreReadOnlyError, make_read_only_error
from device.storage.fallback import RETRY_INTERVAL_S, FallbackStore
from device.storage.recovery import open_store
from device.storage.store import TABLE_NOTES, GameStore, StoredEvent
from tests.support.damaged_store import get_connection, limit_pages, set_pragma

STARTED = {"kind": "started", "players": ["Anna", "Ben"]}
PASS = {"kind": "pass", "player": 0}


class Disk:
    """A disk that can be made read-only, as far as the store is concerned, and a clock."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_read_only = False
        self.time_s = 0.0
        lock = self._refuse_or(GameStore.__init__)
        monkeypatch.setattr(GameStore, "__init__", lock)

    def now(self) -> float:
        return self.time_s

    def _refuse_or(self, open_: Callable[..., None]) -> Callable[..., None]:
        def check(store: GameStore, path: Path | str, **options: object) -> None:
            if self.is_read_only and str(path) != ":memory:":
                raise make_read_only_error(str(path))
            open_(store, path, **options)

        return check


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with an ended game of one event, and the beginning of another game."""
    with GameStore(tmp_path / "games.db") as store:
        store.begin_game(STARTED)
        store.append_events(store.begin_game(STARTED), [PASS], {1: {"board": b"\xff\xd8\xff"}})
        store.save_note(2, "clock", "12 minutes")
    return tmp_path / "games.db"


def test_games_of_a_read_only_file_are_shown(path: Path, disk: Disk) -> None:
    disk.is_read_only = True
    store, problem = open_store(path)
    with store:
        assert "cannot be written" in problem and "Nothing can be saved now" in problem
        assert [(game.id, game.length, game.damage) for game in store.list_games()] == [(2, 2, ""), (1, 1, "")]
        assert store.read_note(2, "clock") == "12 minutes"
        assert store.begin_game(STARTED) == 3


def test_file_with_events_in_its_log_is_read(path: Path, disk: Disk) -> None:
    with GameStore(path) as owner:
        owner.append_events(2, [PASS])
        disk.is_read_only = True
        with FallbackStore(path, disk.now) as store:
            assert len(store.read_events(2)) == 3


def test_game_goes_on_in_the_file_once_it_can_be_written(path: Path, disk: Disk) -> None:
    disk.is_read_only = True
    with FallbackStore(path, disk.now) as store:
        played = store.append_events(2, [PASS], {2: {"photo": b"\xff\xd8\xff1"}})
        disk.is_read_only = False
    with GameStore(path) as own:
        assert [game.length for game in own.list_games()] == [3, 1] and own.read_events(2)[-1] == played[0]
        assert (
            own.read_picture(2, 2, "photo") == b"\xff\xd8\xff1" and own.read_picture(2, 1, "board") == b"\xff\xd8\xff"
        )
        assert not any(game.damage for game in own.list_games())


def test_events_are_saved_during_play_but_a_failed_attempt_is_not_repeated_at_once(path: Path, disk: Disk) -> None:
    disk.is_read_only = True
    store = FallbackStore(path, disk.now)
    store.append_events(2, [PASS])
    disk.is_read_only = False
    store.append_events(2, [PASS])
    with GameStore(path, is_owner=False) as own:
        assert len(own.read_events(2)) == 2
    disk.time_s += RETRY_INTERVAL_S
    store.append_events(2, [PASS])
    store.append_events(store.begin_game(STARTED), [PASS])
    with GameStore(path, is_owner=False) as own:  # as after a power cut: the store in memory was not closed
        assert [game.length for game in own.list_games()] == [2, 5, 1]
    store.close()


def test_game_that_was_changed_meanwhile_is_saved_as_a_further_game(path: Path, disk: Disk) -> None:
    disk.is_read_only = True
    with FallbackStore(path, disk.now) as store:
        store.append_events(2, [PASS])
        disk.is_read_only = False
        with GameStore(path) as other:
            other.append_events(2, [PASS, PASS, PASS])
    with GameStore(path) as own:
        assert [game.length for game in own.list_games()] == [3, 5, 1]


def test_game_is_deleted_in_the_file_or_not_at_all(path: Path, disk: Disk) -> None:
    disk.is_read_only = True
    store, _ = open_store(path)
    with store:
        with pytest.raises(StoreReadOnlyError):
            store.delete_game(1)
        assert len(store.list_games()) == 2
        disk.is_read_only = False
        store.delete_game(1)
    with GameStore(path) as own:
        assert [game.id for game in own.list_games()] == [2]


def test_imported_game_is_saved_as_an_import_at_once(path: Path, disk: Disk) -> None:
    imported = [StoredEvent(0, 500.0, {"kind": "started", "players": ["Xaver", "Yvonne"]})]
    disk.is_read_only = True
    store = FallbackStore(path, disk.now)
    disk.is_read_only = False
    store.add_game(400.0, imported, ())
    with GameStore(path, is_owner=False) as own:  # as after a power cut
        newest = own.list_games()[0]
        assert (newest.players, newest.started, newest.imported) == (("Xaver", "Yvonne"), 400.0, True)
    store.close()


def test_notes_without_new_events_are_saved(path: Path, disk: Disk) -> None:
    disk.is_read_only = True
    with FallbackStore(path, disk.now) as store:
        store.save_note(1, "comment", "a fine game")
        store.save_note(TABLE_NOTES, "corners", "10,10")
        disk.is_read_only = False
    with GameStore(path) as own:
        assert own.read_game_notes(1) == {"comment": "a fine game"} and own.read_note(TABLE_NOTES, "corners") == "10,10"


def test_note_is_saved_at_once_if_the_file_can_be_written(path: Path, disk: Disk) -> None:
    disk.is_read_only = True
    store = FallbackStore(path, disk.now)
    game = store.begin_game(STARTED)
    disk.is_read_only = False
    disk.time_s += RETRY_INTERVAL_S
    store.save_note(game, "clock", "paused")
    with GameStore(path, is_owner=False) as own:  # as after a power cut
        assert own.read_note(game, "clock") == "paused"
    store.close()


def test_note_of_a_game_that_was_changed_meanwhile_is_not_saved(path: Path, disk: Disk) -> None:
    disk.is_read_only = True
    with FallbackStore(path, disk.now) as store:
        store.save_note(1, "comment", "a fine game")
        disk.is_read_only = False
        with GameStore(path) as other:
            other.delete_game(1)
    with GameStore(path) as own:
        assert [game.id for game in own.list_games()] == [2] and not own.read_game_notes(1)


def test_colours_and_names_of_players_are_saved(path: Path, disk: Disk) -> None:
    disk.is_read_only = True
    with FallbackStore(path, disk.now) as store:
        store.save_colour("Anna", "red")
        store.rename_player("Anna", "Anne")
        store.begin_game({"kind": "started", "players": ["Cleo", "Ben"]})
        store.rename_player("Cleo", "Chloe")
        disk.is_read_only = False
    with GameStore(path) as own:
        assert sorted(own.list_players()) == [("Anne", "red"), ("Ben", ""), ("Chloe", "")]


def test_pictures_are_deleted_in_the_file_or_not_at_all(path: Path, disk: Disk) -> None:
    disk.is_read_only = True
    with FallbackStore(path, disk.now) as store:
        store.append_events(2, [PASS], {2: {"board": b"\xff\xd8\xff"}})
        with pytest.raises(StoreReadOnlyError):
            store.delete_pictures()
        assert store.summarise_pictures().count == 1
        disk.is_read_only = False
        store.delete_pictures()
    with GameStore(path) as own:
        assert own.summarise_pictures().count == 0 and len(own.read_events(2)) == 3


PHOTO = b"\xff\xd8\xff" + os.urandom(200_000)


@pytest.fixture
def full_file(path: Path) -> Iterator[GameStore]:
    """The store in the file, which has room for events, but not for `PHOTO`."""
    with GameStore(path) as own:
        (pages,) = get_connection(own).execute("PRAGMA page_count").fetchone()
        limit_pages(own, pages + 20)
        yield own


def test_events_are_saved_without_a_picture_on_a_full_disk(path: Path, disk: Disk, full_file: GameStore) -> None:
    with FallbackStore(path, disk.now, lambda: full_file) as store:
        store.append_events(2, [PASS], {2: {"photo": PHOTO}})
        assert len(full_file.read_events(2)) == 3 and "is full" in store.picture_problem


def test_turn_without_a_picture_has_no_problem_with_its_picture(path: Path, disk: Disk, full_file: GameStore) -> None:
    with FallbackStore(path, disk.now, lambda: full_file) as store:
        store.append_events(2, [PASS], {2: {"photo": PHOTO}})
        disk.time_s += RETRY_INTERVAL_S
        store.append_events(2, [PASS])
        assert not store.picture_problem


def test_game_with_another_number_after_a_rescue_is_continued(path: Path, disk: Disk) -> None:
    """The first game was deleted, so that the rescue gives its number to the second one."""
    with GameStore(path) as own:
        own.delete_game(1)
    set_pragma(path, "application_id", 0x1234)  # a damaged header
    with FallbackStore(path, disk.now, lambda: open_store(path)[0]) as store:
        store.append_events(2, [PASS])
    with GameStore(path) as own:
        assert [(game.id, game.length) for game in own.list_games()] == [(1, 3)]
