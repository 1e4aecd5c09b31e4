"""Limits for stored pictures, and their deletion."""

from __future__ import annotations

from pathlib import Path

import pytest

from device.storage.store import DEFAULT_LIMITS, GameStore, PictureLimits, PictureSummary, StoredEvent, StoredPicture
from tests.support.damaged_store import PAGE_SIZE, change_store, find_root_page
from tests.support.set_clock import SetClock

DAY_S = 24 * 60 * 60.0


@pytest.fixture
def clock() -> SetClock:
    return SetClock(1000 * DAY_S)


def open_store(path: Path, clock: SetClock, limits: PictureLimits = DEFAULT_LIMITS) -> GameStore:
    store = GameStore(path / "games.db", clock=clock)
    store.picture_limits = limits
    return store


def play_game(store: GameStore, size: int = 1000) -> int:
    """Add a game with one picture of `size` bytes, and return the game's number."""
    game = store.begin_game({"n": 0})
    store.append_events(game, [{"n": 1}], {1: {"board": bytes(size)}})
    return game


def test_pictures_older_than_the_limit_are_deleted_when_a_game_starts(tmp_path: Path, clock: SetClock) -> None:
    with open_store(tmp_path, clock, PictureLimits(max_age_days=30)) as store:
        games = []
        for _ in range(3):
            games.append(play_game(store))
            clock.now += 20 * DAY_S
        store.begin_game({"n": 0})
        assert [len(store.list_pictures(game)) for game in games] == [0, 0, 1]
        assert all(len(store.read_events(game)) == 2 for game in games)


def test_game_with_a_clock_years_ahead_deletes_no_pictures(tmp_path: Path, clock: SetClock) -> None:
    with open_store(tmp_path, clock) as store:
        earlier = play_game(store)
        clock.now += 8 * 365 * DAY_S
        wrong = play_game(store)
        clock.now -= (8 * 365 - 1) * DAY_S  # right again on the next day
        store.begin_game({"n": 0})
        assert [len(store.list_pictures(game)) for game in (earlier, wrong)] == [1, 1]


def test_evening_with_a_clock_years_ahead_deletes_no_pictures(tmp_path: Path, clock: SetClock) -> None:
    with open_store(tmp_path, clock) as store:
        earlier = play_game(store)
        clock.now += 8 * 365 * DAY_S
        for _ in range(3):
            play_game(store)
            clock.now += DAY_S / 24
        assert len(store.list_pictures(earlier)) == 1


def test_pictures_from_before_a_wrong_clock_are_deleted_when_a_year_has_passed_since(
    tmp_path: Path, clock: SetClock
) -> None:
    with open_store(tmp_path, clock) as store:
        earlier = play_game(store)
        clock.now += 8 * 365 * DAY_S
        for _ in range(14):
            play_game(store)
            clock.now += 30 * DAY_S
        assert store.list_pictures(earlier) == ()


def test_pictures_of_an_old_game_are_kept_for_a_year_after_its_import(tmp_path: Path, clock: SetClock) -> None:
    with open_store(tmp_path, clock) as store:
        event, picture = StoredEvent(0, 10.0, {"n": 0}), StoredPicture(0, "board", b"old")
        imported = store.add_game(10.0, [event], [picture])
        kept = []
        for _ in range(15):
            store.begin_game({"n": 0})
            kept.append(len(store.list_pictures(imported)))
            clock.now += 30 * DAY_S
        assert kept == [1] * 13 + [0] * 2


def test_pictures_of_any_age_are_kept_without_a_limit(tmp_path: Path, clock: SetClock) -> None:
    with open_store(tmp_path, clock, PictureLimits(max_age_days=0)) as store:
        game = play_game(store)
        clock.now += 10_000 * DAY_S
        store.begin_game({"n": 0})
        assert len(store.list_pictures(game)) == 1


def test_no_pictures_of_earlier_games_are_kept_with_size_0(tmp_path: Path, clock: SetClock) -> None:
    with open_store(tmp_path, clock, PictureLimits(max_bytes=0)) as store:
        earlier, now = play_game(store), play_game(store)
        assert [len(store.list_pictures(game)) for game in (earlier, now)] == [0, 1]


def test_game_begins_if_pictures_are_missing_in_their_damaged_index(tmp_path: Path, clock: SetClock) -> None:
    with open_store(tmp_path, clock) as store:
        play_game(store)
    path = tmp_path / "games.db"
    data = bytearray(path.read_bytes())
    page = find_root_page(path, "sqlite_autoindex_picture_1")
    data[page] = b"\x0a\0\0\0\0\x10\0\0".ljust(PAGE_SIZE, b"\0")  # an index without entries
    path.write_bytes(data)
    with open_store(tmp_path, clock, PictureLimits(max_bytes=0)) as store:
        assert play_game(store) == 2


def test_summary_counts_pictures_with_size_and_age(tmp_path: Path, clock: SetClock) -> None:
    with open_store(tmp_path, clock) as store:
        assert store.summarise_pictures() == PictureSummary(0, 0, 0.0)
        play_game(store, 300)
        clock.now += DAY_S
        play_game(store, 500)
        assert store.summarise_pictures() == PictureSummary(2, 800, 1000 * DAY_S)


@pytest.mark.parametrize("started", ["-1e300", "1e300"])
def test_damaged_start_of_a_game_is_not_that_of_the_oldest_pictures(
    tmp_path: Path, clock: SetClock, started: str
) -> None:
    with open_store(tmp_path, clock) as store:
        play_game(store)
        play_game(store)
    change_store(tmp_path / "games.db", f"UPDATE game SET started = {started} WHERE id = 1")
    with open_store(tmp_path, clock) as store:
        assert store.summarise_pictures().oldest == 1000 * DAY_S


def test_deleted_pictures_cannot_be_read_from_the_disk(tmp_path: Path, clock: SetClock) -> None:
    mark = b"a mark in a picture that no other file has"
    with open_store(tmp_path, clock) as store:
        game = store.begin_game({"n": 0})
        store.append_events(game, [{"n": 1}], {1: {"board": mark * 50}})
        store.delete_pictures()
        assert store.list_pictures(game) == () and len(store.read_events(game)) == 2
        assert not [file.name for file in tmp_path.iterdir() if mark in file.read_bytes()]
