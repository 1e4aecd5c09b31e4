"""What presses mean at each moment: the table of answers of `docs/panel.md`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from device.panel.button_commands import SOON_S, Answer, Command, Refusal, answer
from device.panel.buttons import Button
from device.panel.gestures import Gesture, Kind
from device.session.messages import question
from device.session.snapshot import PASS_OR_EXCHANGE, Phase, PlayerView, TableState

PLAYERS = (PlayerView("Anna", 10), PlayerView("Ben", 20))
ANNA_TO_MOVE = TableState(phase=Phase.TURN, players=PLAYERS, turn_of=0)
LOOKING = TableState(phase=Phase.LOOKING, players=PLAYERS, turn_of=0)
LOBBY = TableState()
ENDED = TableState(phase=Phase.ENDED, players=PLAYERS)


def told(button: Button, kind: Kind, state: TableState = ANNA_TO_MOVE, since_turn: float = 60.0) -> Answer:
    return answer(Gesture(button, kind, 0.0), state, since_turn)


def refused(*args: object) -> str:
    said = told(*args)  # type: ignore[arg-type]
    assert isinstance(said, Refusal)
    return said.text


@pytest.mark.parametrize(
    ("button", "kind", "command"),
    [
        (Button.END_TURN, Kind.PRESS, Command.END_TURN),
        (Button.END_TURN_1, Kind.PRESS, Command.END_TURN),
        (Button.CHALLENGE, Kind.PRESS, Command.CHALLENGE),
        (Button.PAUSE, Kind.TAP, Command.PAUSE),
        (Button.PAUSE, Kind.HOLD, Command.UNDO),
        (Button.NEW_GAME, Kind.HOLD, Command.NEW_GAME),
        (Button.POWER, Kind.HOLD, Command.POWER_OFF),
    ],
)
def test_gesture_is_a_command(button: Button, kind: Kind, command: Command) -> None:
    assert told(button, kind) is command


def test_pause_button_goes_on_with_a_paused_game_and_nothing_else_does() -> None:
    paused = replace(ANNA_TO_MOVE, phase=Phase.PAUSED)
    assert told(Button.PAUSE, Kind.TAP, paused) is Command.GO_ON
    assert told(Button.PAUSE, Kind.HOLD, paused) is Command.UNDO
    for button in (Button.END_TURN, Button.END_TURN_1, Button.CHALLENGE):
        assert "paused" in refused(button, Kind.PRESS, paused)


def test_challenge_button_says_that_tiles_were_exchanged_where_that_is_asked() -> None:
    asked = question(PASS_OR_EXCHANGE, "Anna", answers=("Anna passed.", "Anna exchanged 1."))
    state = replace(ANNA_TO_MOVE, phase=Phase.QUESTION, question=asked)
    assert told(Button.CHALLENGE, Kind.PRESS, state) is Command.EXCHANGE
    other = replace(state, question=replace(asked, text="Which tile lies there?"))
    assert told(Button.CHALLENGE, Kind.PRESS, other) is Command.CHALLENGE


@pytest.mark.parametrize("phase", [Phase.TURN, Phase.QUESTION, Phase.CHALLENGE])
def test_turn_is_ended_in_every_phase_of_it(phase: Phase) -> None:
    assert told(Button.END_TURN_1, Kind.PRESS, replace(ANNA_TO_MOVE, phase=phase)) is Command.END_TURN


def test_nobody_plays_while_it_is_drawn_who_begins() -> None:
    assert "Draw" in refused(Button.END_TURN_1, Kind.PRESS, replace(ANNA_TO_MOVE, phase=Phase.DRAWING))


@pytest.mark.parametrize("button", [Button.PAUSE, Button.NEW_GAME, Button.POWER])
def test_press_of_a_button_with_a_hold_waits_for_what_becomes_of_it(button: Button) -> None:
    assert told(button, Kind.PRESS) is None


@pytest.mark.parametrize("button", list(Button))
def test_second_half_of_a_double_press_is_nothing(button: Button) -> None:
    assert told(button, Kind.PRESSED_AGAIN) is None


def test_wrong_players_button_says_whose_turn_it_is() -> None:
    said = told(Button.END_TURN_2, Kind.PRESS)
    assert isinstance(said, Refusal) and said.player == 0 and "Anna" in said.text


def test_button_without_a_player() -> None:
    assert "Nobody" in refused(Button.END_TURN_3, Kind.PRESS)


def test_shared_button_is_not_believed_right_after_a_turn() -> None:
    assert "quick" in refused(Button.END_TURN, Kind.PRESS, ANNA_TO_MOVE, SOON_S / 2)
    assert told(Button.END_TURN, Kind.PRESS, ANNA_TO_MOVE, SOON_S) is Command.END_TURN
    assert told(Button.END_TURN_1, Kind.PRESS, ANNA_TO_MOVE, SOON_S / 2) is Command.END_TURN


def test_game_that_is_over_by_the_rules_is_ended_before_a_new_one_begins() -> None:
    """The rules propose it only: the last play can be challenged, and who has a play after all may make it."""
    over = replace(ANNA_TO_MOVE, end_due=True)
    assert told(Button.NEW_GAME, Kind.HOLD, over) is Command.END_GAME
    assert told(Button.CHALLENGE, Kind.PRESS, over) is Command.CHALLENGE
    assert told(Button.END_TURN_1, Kind.PRESS, over) is Command.END_TURN


IN_PLAY = [
    (Button.END_TURN, Kind.PRESS),
    (Button.END_TURN_1, Kind.PRESS),
    (Button.CHALLENGE, Kind.PRESS),
    (Button.PAUSE, Kind.TAP),
    (Button.PAUSE, Kind.HOLD),
]


@pytest.mark.parametrize(("button", "kind"), [*IN_PLAY, (Button.NEW_GAME, Kind.HOLD)])
def test_nothing_counts_while_the_board_is_read(button: Button, kind: Kind) -> None:
    assert "One moment" in refused(button, kind, LOOKING)


@pytest.mark.parametrize(("button", "kind"), IN_PLAY)
def test_without_a_game_the_new_game_button_is_named(button: Button, kind: Kind) -> None:
    assert "no game" in refused(button, kind, LOBBY)
    if (button, kind) != (Button.PAUSE, Kind.HOLD):
        assert "ended" in refused(button, kind, ENDED)


def test_end_of_a_game_is_taken_back_like_any_turn() -> None:
    assert told(Button.PAUSE, Kind.HOLD, ENDED) is Command.UNDO


@pytest.mark.parametrize("state", [LOBBY, LOOKING, ANNA_TO_MOVE, ENDED])
def test_table_is_switched_off_at_any_moment(state: TableState) -> None:
    assert told(Button.POWER, Kind.HOLD, state) is Command.POWER_OFF


@pytest.mark.parametrize("state", [LOBBY, ANNA_TO_MOVE, ENDED])
def test_new_game_begins_before_in_and_after_one(state: TableState) -> None:
    assert told(Button.NEW_GAME, Kind.HOLD, state) is Command.NEW_GAME


def test_short_press_says_how_long_to_hold() -> None:
    assert "3 seconds" in refused(Button.POWER, Kind.TAP)
    assert "2 seconds" in refused(Button.NEW_GAME, Kind.TAP)


def test_two_at_once_and_stuck_are_told() -> None:
    assert "alone" in refused(Button.POWER, Kind.TOGETHER)
    assert "end-turn 2 button is stuck" in refused(Button.END_TURN_2, Kind.STUCK)
    assert told(Button.END_TURN_2, Kind.FREED) is None
