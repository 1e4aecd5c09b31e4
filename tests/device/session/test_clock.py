"""The chess clock as values: whose time runs, what is left, and what a note of it brings back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from device.session.clock import ChessClock, ClockView, restore_clock, serialise_clock

MOMENTS = st.floats(0, 1e6)
PRESSES = st.lists(st.tuples(st.floats(0, 1e4), st.one_of(st.none(), st.integers(0, 3))), max_size=30)


def test_time_is_that_of_the_player_whose_turn_it_is() -> None:
    clock = ChessClock((0.0, 0.0)).start_player(0, 10.0).start_player(1, 40.0).start_player(0, 45.0).stop(50.0)
    assert clock.advance_to(1000.0).used == (35.0, 5.0)


def test_time_left_is_negative_in_overtime() -> None:
    view = ClockView(limit=60.0, overtime=10, used=(50.0, 0.0), running=0, since=100.0)
    assert [view.compute_left(0, now) for now in (100.0, 115.0)] == [10.0, -5.0]
    assert view.compute_left(1, 9999.0) == 60.0


def test_moment_before_the_last_one_takes_no_time_back() -> None:
    assert ChessClock((0.0, 0.0)).start_player(0, 10.0).advance_to(20.0).advance_to(5.0).used == (10.0, 0.0)


@given(PRESSES)
def test_every_second_belongs_to_one_player_or_to_nobody(presses: list[tuple[float, int | None]]) -> None:
    clock, now, spent = ChessClock((0.0,) * 4), 0.0, [0.0] * 4
    running: int | None = None
    for seconds, player in presses:
        now += seconds
        if running is not None:
            spent[running] += seconds
        clock = clock.stop(now) if player is None else clock.start_player(player, now)
        running = player
    assert all(abs(used - mine) < 1e-3 for used, mine in zip(clock.advance_to(now).used, spent, strict=True))


def run_presses(presses: list[tuple[float, int | None]]) -> tuple[ChessClock, float]:
    """Return the clock after presses (seconds before each, player who is to move or None), and the time of the last."""
    clock, now = ChessClock((0.0,) * 4), 0.0
    for seconds, player in presses:
        now += seconds
        clock = clock.stop(now) if player is None else clock.start_player(player, now)
    return clock, now


@given(PRESSES, MOMENTS)
def test_view_and_clock_say_the_same(presses: list[tuple[float, int | None]], later: float) -> None:
    clock, now = run_presses(presses)
    view = clock.to_view(1500.0, 10)
    for player, used in enumerate(clock.advance_to(now + later).used):
        assert abs(view.compute_used(player, now + later) - used) < 1e-6


@given(PRESSES, st.booleans())
def test_note_brings_the_clock_back_standing_still(presses: list[tuple[float, int | None]], paused: bool) -> None:
    clock, now = run_presses(presses)
    back, was_paused = restore_clock(serialise_clock(clock, now, paused=paused), (0.0,) * 4)
    assert was_paused is paused and back.running is None
    assert all(abs(a - b) < 0.001 for a, b in zip(back.used, clock.advance_to(now).used, strict=True))


@given(st.one_of(st.none(), st.text(), st.just('{"used": [1], "paused": 0}'), st.just('{"used": [-1, 1e999]}')))
def test_broken_note_counts_as_none(text: str | None) -> None:
    assert restore_clock(text, (3.0, 4.0)) == (ChessClock((3.0, 4.0)), False)


def test_later_of_note_and_log_counts() -> None:
    clock, _ = restore_clock('{"used": [10.0, 2.0], "paused": false}', (9.0, 5.0))
    assert clock.used == (10.0, 5.0)
