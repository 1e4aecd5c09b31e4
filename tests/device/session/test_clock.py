"""The chess clock as a value: whose time runs, and what is left; and what a note of it brings back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from device.session.clock import NOTE_NAME, ChessClock, ClockKeeper
from device.storage.game_log import GameLog
from device.storage.store import GameStore
from engine.events import GameStarted, Passed
from engine.rules import STANDARD_RULES

PRESSES = st.lists(st.tuples(st.floats(0, 1e4), st.one_of(st.none(), st.integers(0, 3))), max_size=30)
FOUR = ChessClock(1500.0, 10, (0.0,) * 4)
TIMED = GameStarted(("Anna", "Ben"), replace(STANDARD_RULES, clock_seconds=1500))


def test_time_is_that_of_the_player_whose_turn_it_is() -> None:
    clock = FOUR.run(0, 10.0).run(1, 40.0).run(0, 45.0).run(None, 50.0)
    assert clock.advance_to(1000.0).used == (35.0, 5.0, 0.0, 0.0)


def test_time_left_is_negative_in_overtime() -> None:
    clock = ChessClock(limit=60.0, overtime=10, used=(50.0, 0.0), running=0, since=100.0)
    assert [clock.compute_left(0, now) for now in (100.0, 115.0)] == [10.0, -5.0]
    assert clock.compute_left(1, 9999.0) == 60.0


def test_moment_before_the_last_one_takes_no_time_back() -> None:
    assert FOUR.run(0, 10.0).advance_to(20.0).advance_to(5.0).used[0] == 10.0


@given(PRESSES)
def test_every_second_belongs_to_one_player_or_to_nobody(presses: list[tuple[float, int | None]]) -> None:
    clock, now, spent = FOUR, 0.0, [0.0] * 4
    running: int | None = None
    for seconds, player in presses:
        now += seconds
        if running is not None:
            spent[running] += seconds
        clock = clock.run(player, now)
        running = player
    assert all(abs(used - mine) < 1e-3 for used, mine in zip(clock.advance_to(now).used, spent, strict=True))


@pytest.fixture
def store() -> Iterator[GameStore]:
    with GameStore(":memory:") as store:
        yield store


def keep_clock(store: GameStore) -> ClockKeeper:
    """Return the keeper of the clock of the only game in the store, which is begun if there is none."""
    log = GameLog.load_newest(store) or GameLog.begin_game(store, TIMED)[0]
    return ClockKeeper(store, log, lambda: 100.0)


@pytest.mark.parametrize("paused", [False, True])
def test_note_brings_the_clock_back_standing_still(store: GameStore, paused: bool) -> None:
    keeper = keep_clock(store)
    keeper.set_running(1)
    keeper.stop(107.5)
    keeper.paused = paused
    keeper.save()
    assert keep_clock(store).view == ChessClock(1500, 10, (0.0, 7.5), None, paused, 100.0)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"used": [1, 2], "paused": 0}', '{"used": [-1, 2], "paused": true}', '{"used": [1e999, 2]}'],
)
def test_broken_note_counts_as_none(store: GameStore, text: str) -> None:
    log = GameLog.begin_game(store, TIMED)[0]
    store.save_note(log.number, NOTE_NAME, text)
    assert keep_clock(store).view == ChessClock(1500, 10, (0.0, 0.0), since=100.0)


def test_note_for_another_number_of_players_counts_as_none(store: GameStore) -> None:
    log = GameLog.begin_game(store, TIMED)[0]
    store.save_note(log.number, NOTE_NAME, '{"used": [10.0], "paused": false}')
    assert keep_clock(store).read() == (0.0, 0.0)


def test_later_of_note_and_log_counts(store: GameStore) -> None:
    log = GameLog.begin_game(store, TIMED)[0]
    assert not log.append(log.ledger.record([((Passed(0),),)], clocks=(9.0, 5.0)))
    store.save_note(log.number, NOTE_NAME, '{"used": [10.0, 2.0], "paused": false}')
    assert keep_clock(store).read() == (10.0, 5.0)
