"""Gestures: what edges of buttons mean, with time as a number."""

from __future__ import annotations

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from device.panel.buttons import (
    DEBOUNCE_S,
    DOUBLE_PRESS_S,
    HOLD_S,
    STUCK_AFTER_S,
    Button,
    Gesture,
    GestureDetector,
    GestureKind,
)

ANNA, BEN = Button.END_TURN_1, Button.END_TURN_2
PAUSE, POWER, CHALLENGE = Button.PAUSE, Button.POWER, Button.CHALLENGE


def follow(
    gestures: GestureDetector, *edges: tuple[float, Button, bool], until: float = 100.0
) -> list[tuple[Button, GestureKind]]:
    """Return the gestures that follow from edges (time, button, down), with time passing between and after them."""
    found: list[Gesture] = []
    for time, button, down in edges:
        while gestures.deadline < time:
            found += gestures.advance_time(gestures.deadline)
        found += gestures.handle_edge(button, down, time)
    while gestures.deadline <= until:
        found += gestures.advance_time(gestures.deadline)
    assert [g.time for g in found] == sorted(g.time for g in found)
    return [(g.button, g.kind) for g in found]


def test_press_counts_as_the_button_goes_down() -> None:
    assert GestureDetector().handle_edge(ANNA, True, 5.0) == (Gesture(ANNA, GestureKind.PRESS, 5.0),)


def test_release_of_an_end_turn_button_means_nothing() -> None:
    assert follow(GestureDetector(), (1, ANNA, True), (1.2, ANNA, False)) == [(ANNA, GestureKind.PRESS)]


gaps = st.floats(0.0001, DEBOUNCE_S * 0.99)


@settings(deadline=None)
@given(going_down=st.lists(gaps, max_size=12), coming_up=st.lists(gaps, max_size=12), button=st.sampled_from(Button))
def test_bounce_is_one_press(going_down: list[float], coming_up: list[float], button: Button) -> None:
    """However often the contact opens and closes while it goes down or comes up."""
    time, edges = 1.0, [(1.0, button, True)]
    for gap in going_down[: len(going_down) // 2 * 2]:
        time += gap
        edges.append((time, button, not edges[-1][2]))
    time += 0.1
    edges.append((time, button, False))
    for gap in coming_up[: len(coming_up) // 2 * 2]:
        time += gap
        edges.append((time, button, not edges[-1][2]))
    kinds = [kind for _, kind in follow(GestureDetector(), *edges)]
    assert kinds == ([GestureKind.PRESS, GestureKind.TAP] if button in HOLD_S else [GestureKind.PRESS])


def test_double_press_is_one_press_and_a_second_half() -> None:
    edges = ((1, ANNA, True), (1.1, ANNA, False), (1.1 + DOUBLE_PRESS_S / 2, ANNA, True), (1.6, ANNA, False))
    assert follow(GestureDetector(), *edges) == [(ANNA, GestureKind.PRESS), (ANNA, GestureKind.PRESSED_AGAIN)]


def test_hammering_on_a_button_counts_now_and_then_only() -> None:
    edges = [(n / 10, ANNA, n % 2 == 1) for n in range(1, 41)]
    kinds = [kind for _, kind in follow(GestureDetector(), *edges)]
    assert kinds.count(GestureKind.PRESS) == math.ceil(3.8 / 0.8) and kinds.count(GestureKind.PRESSED_AGAIN) == 15


def test_two_slow_presses_are_two() -> None:
    edges = ((1, ANNA, True), (1.1, ANNA, False), (1.1 + DOUBLE_PRESS_S, ANNA, True), (2, ANNA, False))
    assert follow(GestureDetector(), *edges) == [(ANNA, GestureKind.PRESS)] * 2


def test_tap_and_hold_of_the_pause_button() -> None:
    assert follow(GestureDetector(), (1, PAUSE, True), (1.3, PAUSE, False)) == [
        (PAUSE, GestureKind.PRESS),
        (PAUSE, GestureKind.TAP),
    ]
    assert follow(GestureDetector(), (1, PAUSE, True), (2.5, PAUSE, False)) == [
        (PAUSE, GestureKind.PRESS),
        (PAUSE, GestureKind.HOLD),
    ]


def test_second_press_of_a_double_press_is_no_tap_but_may_be_a_hold() -> None:
    """Otherwise a game that is paused by a double press would go on at once."""
    first = ((1, PAUSE, True), (1.2, PAUSE, False), (1.4, PAUSE, True))
    first_kinds = [GestureKind.PRESS, GestureKind.TAP, GestureKind.PRESSED_AGAIN]
    for release, more in ((1.5, []), (1.4 + HOLD_S[PAUSE], [GestureKind.HOLD])):
        kinds = [kind for _, kind in follow(GestureDetector(), *first, (release + 0.1, PAUSE, False))]
        assert kinds == first_kinds + more


def test_hold_is_a_gesture_before_the_button_is_released() -> None:
    gestures = GestureDetector()
    gestures.handle_edge(POWER, True, 1.0)
    assert gestures.is_holding and gestures.deadline == 1.0 + HOLD_S[POWER]
    assert gestures.advance_time(1.0 + HOLD_S[POWER]) == (Gesture(POWER, GestureKind.HOLD, 1.0 + HOLD_S[POWER]),)
    assert not gestures.is_holding


def test_bounce_does_not_interrupt_a_hold() -> None:
    edges = ((1, PAUSE, True), (1.5, PAUSE, False), (1.51, PAUSE, True), (2.5, PAUSE, False))
    assert follow(GestureDetector(), *edges) == [(PAUSE, GestureKind.PRESS), (PAUSE, GestureKind.HOLD)]


def test_two_players_at_once_are_two_presses_in_the_order_of_their_contacts() -> None:
    edges = ((1, BEN, True), (1.001, ANNA, True), (1.2, BEN, False), (1.2, ANNA, False))
    assert follow(GestureDetector(), *edges) == [(BEN, GestureKind.PRESS), (ANNA, GestureKind.PRESS)]


def test_hold_ends_when_another_button_is_pressed() -> None:
    edges = ((1, POWER, True), (1.5, CHALLENGE, True), (1.6, CHALLENGE, False), (6, POWER, False))
    assert follow(GestureDetector(), *edges) == [
        (POWER, GestureKind.PRESS),
        (CHALLENGE, GestureKind.PRESS),
        (POWER, GestureKind.TOGETHER),
    ]


def test_contacts_that_bounce_while_two_buttons_go_down_are_two_buttons() -> None:
    edges = (
        (1, CHALLENGE, True),
        (1.004, CHALLENGE, False),
        (1.005, POWER, True),
        (1.006, CHALLENGE, True),
        (6, POWER, False),
        (6, CHALLENGE, False),
    )
    assert (POWER, GestureKind.HOLD) not in follow(GestureDetector(), *edges)


def test_hold_that_bounces_as_another_button_goes_down_ends() -> None:
    edges = ((1, PAUSE, True), (1.99, PAUSE, False), (2.005, BEN, True), (2.01, PAUSE, True), (3, PAUSE, False))
    assert (PAUSE, GestureKind.HOLD) not in follow(GestureDetector(), *edges)


def test_no_hold_begins_while_another_button_is_down() -> None:
    edges = ((1, CHALLENGE, True), (1.5, POWER, True), (6, POWER, False), (6, CHALLENGE, False))
    assert (POWER, GestureKind.TOGETHER) in follow(GestureDetector(), *edges)
    assert (POWER, GestureKind.HOLD) not in follow(GestureDetector(), *edges)


def test_stuck_button_is_reported_once_and_when_it_is_released() -> None:
    gestures = GestureDetector()
    assert follow(gestures, (1, ANNA, True)) == [(ANNA, GestureKind.PRESS), (ANNA, GestureKind.STUCK)]
    assert gestures.stuck_buttons == (ANNA,) and gestures.deadline == math.inf
    assert follow(gestures, (200, ANNA, False), until=300) == [(ANNA, GestureKind.FREED)]
    assert gestures.stuck_buttons == ()


def test_other_buttons_work_beside_a_stuck_one() -> None:
    gestures = GestureDetector()
    follow(gestures, (1, ANNA, True), until=1 + STUCK_AFTER_S)
    edges = ((20, PAUSE, True), (22, PAUSE, False), (23, BEN, True))
    assert follow(gestures, *edges, until=24) == [
        (PAUSE, GestureKind.PRESS),
        (PAUSE, GestureKind.HOLD),
        (BEN, GestureKind.PRESS),
    ]


def test_button_that_is_down_from_the_beginning_means_nothing_until_it_comes_up() -> None:
    gestures = GestureDetector(pressed=[POWER], now=0.0)
    assert follow(gestures, until=5) == []
    assert follow(gestures, (5, POWER, False), (8, POWER, True), (8.2, POWER, False)) == [
        (POWER, GestureKind.PRESS),
        (POWER, GestureKind.TAP),
    ]


def test_taps_and_holds_of_the_page_are_gestures_too() -> None:
    gestures = GestureDetector()
    assert [g.kind for g in gestures.tap(ANNA, 1.0)] == [GestureKind.PRESS]
    assert [g.kind for g in gestures.tap(ANNA, 1.2)] == [GestureKind.PRESS]
    assert [g.kind for g in gestures.tap(PAUSE, 2.0)] == [GestureKind.PRESS, GestureKind.TAP]
    assert [g.kind for g in gestures.hold(PAUSE, 3.0)] == [GestureKind.HOLD]


edges = st.lists(st.tuples(st.one_of(st.floats(0.001, 3.0), gaps), st.sampled_from(Button), st.booleans()), max_size=40)


@settings(deadline=None)
@given(edges=edges)
def test_whatever_happens_a_hold_and_a_tap_belong_to_one_press(edges: list[tuple[float, Button, bool]]) -> None:
    time, timed = 0.0, []
    for gap, button, down in edges:
        time += gap
        timed.append((time, button, down))
    open_presses = dict.fromkeys(Button, 0)
    for button, kind in follow(GestureDetector(), *timed, until=time + 100):
        if kind in (GestureKind.PRESS, GestureKind.PRESSED_AGAIN):
            open_presses[button] = 1
        elif kind in (GestureKind.TAP, GestureKind.HOLD, GestureKind.TOGETHER):
            open_presses[button] -= 1
        assert open_presses[button] >= 0
