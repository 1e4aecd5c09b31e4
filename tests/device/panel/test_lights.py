"""Lights: what a state looks like, and how lights blink."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from device.panel.lights import (
    LIGHT_OFF,
    REFUSED_SIGNAL,
    STATUS_LIGHTS,
    Colour,
    Light,
    Lights,
    PanelStatus,
    Rhythm,
    Signal,
    compute_levels,
    find_lights,
    find_next_change,
    find_status,
)
from device.session.messages import Notice, Question, Trouble
from device.session.snapshot import Phase, PlayerView, Sight, TableSnapshot, TurnView, WordView

GOOD = TurnView(1, 0, "play", 14, 14, "8F", "HORN", (WordView("HORN", (), 2, 14, True),))
PHONY = TurnView(1, 0, "play", 14, 14, "8F", "HRON", (WordView("HRON", (), 2, 14, False),))
PLAYING = TableSnapshot(phase=Phase.TURN, players=(PlayerView("Anna", 14), PlayerView("Ben", 0)), turn_of=1)


def troubled(trouble: Trouble) -> TableSnapshot:
    return replace(PLAYING, turns=(GOOD,), notices=(Notice("Look.", trouble),))


@pytest.mark.parametrize(
    ("state", "status"),
    [
        (TableSnapshot(), PanelStatus.LOBBY),
        (PLAYING, PanelStatus.READY),
        (replace(PLAYING, phase=Phase.LOOKING), PanelStatus.LOOKING),
        (replace(PLAYING, turns=(GOOD,)), PanelStatus.SCORED),
        (replace(PLAYING, turns=(PHONY,)), PanelStatus.INVALID),
        (replace(PLAYING, turns=(replace(PHONY, stands=False),)), PanelStatus.SCORED),
        (troubled(Trouble.NONE), PanelStatus.SCORED),
        (troubled(Trouble.BOARD), PanelStatus.QUESTION),
        (troubled(Trouble.CAMERA), PanelStatus.CAMERA),
        (
            replace(PLAYING, turns=(GOOD,), question=Question("One play or two?", ("One.", "Two."))),
            PanelStatus.QUESTION,
        ),
        (replace(PLAYING, turns=(GOOD,), end_due=True), PanelStatus.QUESTION),
        (replace(PLAYING, turns=(PHONY,), end_due=True), PanelStatus.INVALID),
        (troubled(Trouble.STORE), PanelStatus.STORE),
        (replace(TableSnapshot(), notices=(Notice("No picture.", Trouble.CAMERA),)), PanelStatus.CAMERA),
        (replace(PLAYING, phase=Phase.ENDED, turn_of=None, winners=(0,)), PanelStatus.ENDED),
        (
            replace(PLAYING, phase=Phase.ENDED, question=Question("Is the game over?", ("Look again.", "It is."), 1)),
            PanelStatus.ENDED,
        ),
    ],
)
def test_status_follows_from_the_snapshot(state: TableSnapshot, status: PanelStatus) -> None:
    assert find_status(state) is status
    assert find_lights(state).status == STATUS_LIGHTS[status]


def test_no_two_statuses_look_alike() -> None:
    assert len(set(STATUS_LIGHTS.values())) == len(PanelStatus)


def test_red_and_green_differ_in_rhythm_too() -> None:
    red_or_green = [light for light in STATUS_LIGHTS.values() if light.colour in (Colour.RED, Colour.GREEN)]
    alike = [pair for pair in combinations(red_or_green, 2) if pair[0].rhythm is pair[1].rhythm]
    assert alike == []


def test_light_of_the_player_whose_turn_it_is() -> None:
    assert find_lights(PLAYING).players == (LIGHT_OFF, Light(Colour.WHITE), LIGHT_OFF, LIGHT_OFF)
    won = find_lights(replace(PLAYING, phase=Phase.ENDED, turn_of=None, winners=(0,)))
    assert won.players[0].rhythm is Rhythm.SLOW and won.players[1] == LIGHT_OFF


def test_light_blinks_if_the_turn_may_be_over() -> None:
    assert find_lights(replace(PLAYING, sight=Sight.TURN_OVER)).players[1] == Light(Colour.WHITE, Rhythm.SLOW)


@settings(deadline=None)
@given(st.sampled_from(Colour), st.sampled_from(Rhythm), st.floats(0, 1000))
def test_light_changes_when_it_said_it_would(colour: Colour, rhythm: Rhythm, elapsed: float) -> None:
    light = Light(colour, rhythm)
    change = light.find_next_change(elapsed)
    if change == inf:
        assert all(
            light.find_brightness(elapsed + later) == light.find_brightness(elapsed) for later in (0.05, 0.33, 1.7)
        )
    elif change - elapsed > 2e-6:
        assert (
            light.find_brightness(change - 1e-6)
            == light.find_brightness(elapsed)
            != light.find_brightness(change + 1e-6)
        )


def test_steady_lights_never_wake_anybody() -> None:
    assert find_next_change(find_lights(replace(PLAYING, turns=(GOOD,))), 0.0) == inf


def test_levels_of_the_pins() -> None:
    levels = compute_levels(find_lights(PLAYING), 0.0, buzzer=True)
    assert levels.status == (1.0, 1.0, 1.0) and levels.players == (False, True, False, False) and levels.buzzer
    looking = find_lights(replace(PLAYING, phase=Phase.LOOKING))
    assert [compute_levels(looking, t).status for t in (0.05, 0.15)] == [(0.0, 0.0, 1.0), (0.0, 0.0, 0.0)]


def test_signal_lies_over_the_lights_and_blinks_the_player_that_is_meant() -> None:
    lights = Signal(1.0, REFUSED_SIGNAL.status, player=1).overlay_on(Lights())
    assert lights.status.colour is Colour.RED and lights.players[1] == Light(Colour.WHITE, Rhythm.FAST)
    assert lights.players[0] == LIGHT_OFF


def test_buzzer_sounds_in_its_beeps() -> None:
    signal = Signal(1.0, LIGHT_OFF, beeps=(0.1, 0.2, 0.1))
    assert [signal.is_sounding(t) for t in (0.05, 0.2, 0.35, 0.45)] == [True, False, True, False]
    assert [round(signal.find_next_change(t), 3) for t in (0.0, 0.15, 0.35, 0.5)] == [0.1, 0.3, 0.4, 1.0]
