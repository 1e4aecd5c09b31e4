"""The meaning of a press in each phase: the table in `docs/panel.md`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from device.panel.buttons import Button, Gesture, GestureKind
from device.panel.panel import (
    CHALLENGE_LOCKOUT_S,
    PAUSE_LOCKOUT_S,
    SHARED_BUTTON_LOCKOUT_S,
    ButtonResponse,
    Elapsed,
    OpenPairing,
    RecentChanges,
    Refusal,
    choose_response,
)
from device.session.commands.answers import ChooseNextAnswer, ConfirmExchange, RecallQuestion
from device.session.commands.challenges import ChallengePlay
from device.session.commands.games import EndGame, EndPause, Pause, Undo
from device.session.commands.turns import EndTurn
from device.session.messages import PASS_OR_EXCHANGE, DeferredQuestion, make_question
from device.session.snapshot import Phase, PlayerView, TableSnapshot, TurnView

PLAYERS = (PlayerView("Anna", 10), PlayerView("Ben", 20))
ANNA_TO_MOVE = TableSnapshot(phase=Phase.TURN, players=PLAYERS, turn_of=0)
LOOKING = TableSnapshot(phase=Phase.LOOKING, players=PLAYERS, turn_of=0)
PAUSED = replace(ANNA_TO_MOVE, phase=Phase.PAUSED)
LOBBY = TableSnapshot()
ENDED = TableSnapshot(phase=Phase.ENDED, players=PLAYERS)


def find_response(
    button: Button, kind: GestureKind, state: TableSnapshot = ANNA_TO_MOVE, since_turn: float = 60.0
) -> ButtonResponse:
    return choose_response(Gesture(button, kind, 0.0), state, Elapsed(since_turn))


def refused(*args: object) -> str:
    response = find_response(*args)  # type: ignore[arg-type]
    assert isinstance(response, Refusal)
    return response.text


@pytest.mark.parametrize(
    ("button", "kind", "command"),
    [
        (Button.END_TURN, GestureKind.PRESS, EndTurn()),
        (Button.END_TURN_1, GestureKind.PRESS, EndTurn()),
        (Button.CHALLENGE, GestureKind.PRESS, ChallengePlay()),
        (Button.PAUSE, GestureKind.TAP, Pause()),
        (Button.PAUSE, GestureKind.HOLD, Undo(question_id=0)),
        (Button.NEW_GAME, GestureKind.HOLD, Button.NEW_GAME),
        (Button.POWER, GestureKind.HOLD, Button.POWER),
    ],
)
def test_gesture_is_a_command(button: Button, kind: GestureKind, command: ButtonResponse) -> None:
    assert find_response(button, kind) == command


def test_pause_button_goes_on_with_a_paused_game_and_nothing_else_does() -> None:
    paused = replace(ANNA_TO_MOVE, phase=Phase.PAUSED)
    assert find_response(Button.PAUSE, GestureKind.TAP, paused) == EndPause()
    assert find_response(Button.PAUSE, GestureKind.HOLD, paused) == Undo(question_id=0)
    for button in (Button.END_TURN, Button.END_TURN_1, Button.CHALLENGE):
        assert "paused" in refused(button, GestureKind.PRESS, paused)


def test_challenge_button_says_that_tiles_were_exchanged_where_that_is_asked() -> None:
    asked = replace(make_question(PASS_OR_EXCHANGE, "Anna", answers=("Anna passed.", "Anna exchanged 1.")), id=7)
    state = replace(ANNA_TO_MOVE, phase=Phase.QUESTION, question=asked)
    assert find_response(Button.CHALLENGE, GestureKind.PRESS, state) == ConfirmExchange(question_id=7)
    other = replace(state, question=replace(asked, text="Which tile lies there?"))
    assert find_response(Button.CHALLENGE, GestureKind.PRESS, other) == ChooseNextAnswer(question_id=7)
    assert find_response(Button.CHALLENGE, GestureKind.PRESS, replace(state, question=None)) == ChallengePlay()


def test_challenge_button_recalls_a_deferred_question_if_there_is_nothing_to_challenge() -> None:
    deferred = DeferredQuestion(1, make_question("asked-blank-unnamed", "H8", answers=("Anna played.", "It is A.")))
    state = replace(ANNA_TO_MOVE, open_questions=(deferred,))
    assert find_response(Button.CHALLENGE, GestureKind.PRESS, state) == RecallQuestion(question_id=0)
    paused = replace(state, phase=Phase.PAUSED)
    assert find_response(Button.CHALLENGE, GestureKind.PRESS, paused) == RecallQuestion(question_id=0)
    asked = replace(paused, question=deferred.question)
    assert find_response(Button.CHALLENGE, GestureKind.PRESS, asked) == ChooseNextAnswer(question_id=0)


@pytest.mark.parametrize("phase", [Phase.DRAWING, Phase.ENDED])
def test_challenge_button_chooses_an_answer_before_the_draw_and_after_the_end(phase: Phase) -> None:
    question = make_question("asked-other-board", answers=("Look again.", "The game is over."))
    asked = replace(ANNA_TO_MOVE, phase=phase, question=question)
    assert find_response(Button.CHALLENGE, GestureKind.PRESS, asked) == ChooseNextAnswer(question_id=0)


@pytest.mark.parametrize("is_provisional", [True, False])
def test_challenge_button_recalls_the_question_about_a_provisional_play(is_provisional: bool) -> None:
    deferred = DeferredQuestion(1, make_question("asked-blank-unnamed", "H8", answers=("Anna played.", "It is A.")))
    turn = TurnView(1, 1, "play", 14, 14, "8F", "HORN", provisional=is_provisional)
    state = replace(ANNA_TO_MOVE, phase=Phase.CHALLENGE, turns=(turn,), open_questions=(deferred,))
    expected: ButtonResponse = RecallQuestion(question_id=0) if is_provisional else ChallengePlay()
    assert find_response(Button.CHALLENGE, GestureKind.PRESS, state) == expected


def test_challenge_button_right_after_a_question_does_not_challenge() -> None:
    press, state = Gesture(Button.CHALLENGE, GestureKind.PRESS, 0.0), replace(ANNA_TO_MOVE, phase=Phase.CHALLENGE)
    response = choose_response(press, state, Elapsed(question=CHALLENGE_LOCKOUT_S / 2))
    assert isinstance(response, Refusal) and "quick" in response.text
    assert choose_response(press, state, Elapsed(question=CHALLENGE_LOCKOUT_S)) == ChallengePlay()


@pytest.mark.parametrize(("state", "command"), [(PAUSED, EndPause()), (ANNA_TO_MOVE, Pause())])
def test_pause_button_right_after_the_same_press_on_a_phone_does_not_do_the_opposite(
    state: TableSnapshot, command: ButtonResponse
) -> None:
    tap = Gesture(Button.PAUSE, GestureKind.TAP, 0.0)
    response = choose_response(tap, state, Elapsed(pause=PAUSE_LOCKOUT_S / 2))
    assert isinstance(response, Refusal) and "quick" in response.text
    assert choose_response(tap, state, Elapsed(pause=PAUSE_LOCKOUT_S)) == command


def test_question_is_closed_by_its_answer_and_not_while_the_board_is_read() -> None:
    asked = replace(ANNA_TO_MOVE, phase=Phase.QUESTION, question=make_question(PASS_OR_EXCHANGE, "Anna", answers=()))
    changes = RecentChanges(asked)
    assert changes.measure(LOOKING, 100.0) == Elapsed()
    assert changes.measure(ANNA_TO_MOVE, 100.0) == Elapsed(question=0.0)
    changes.update(ANNA_TO_MOVE, 100.0)
    assert changes.measure(PAUSED, 101.5) == Elapsed(question=1.5, pause=0.0)


@pytest.mark.parametrize("phase", [Phase.TURN, Phase.QUESTION, Phase.CHALLENGE])
def test_turn_is_ended_in_every_phase_of_it(phase: Phase) -> None:
    assert find_response(Button.END_TURN_1, GestureKind.PRESS, replace(ANNA_TO_MOVE, phase=phase)) == EndTurn()


def test_nobody_plays_while_it_is_drawn_who_begins() -> None:
    assert "Draw" in refused(Button.END_TURN_1, GestureKind.PRESS, replace(ANNA_TO_MOVE, phase=Phase.DRAWING))


@pytest.mark.parametrize("button", [Button.PAUSE, Button.NEW_GAME, Button.POWER])
def test_press_of_a_button_with_a_hold_waits_for_what_becomes_of_it(button: Button) -> None:
    assert find_response(button, GestureKind.PRESS) is None


@pytest.mark.parametrize("button", list(Button))
def test_second_half_of_a_double_press_is_nothing(button: Button) -> None:
    assert find_response(button, GestureKind.PRESSED_AGAIN) is None


def test_wrong_players_button_right_after_a_turn_says_whose_turn_it_is() -> None:
    response = find_response(Button.END_TURN_2, GestureKind.PRESS, ANNA_TO_MOVE, SHARED_BUTTON_LOCKOUT_S / 2)
    assert isinstance(response, Refusal) and response.player == 0 and "Anna" in response.text


def test_wrong_players_button_later_is_left_to_the_session() -> None:
    assert find_response(Button.END_TURN_2, GestureKind.PRESS, ANNA_TO_MOVE, SHARED_BUTTON_LOCKOUT_S) == EndTurn()


def test_shared_button_is_refused_right_after_a_turn() -> None:
    assert "quick" in refused(Button.END_TURN, GestureKind.PRESS, ANNA_TO_MOVE, SHARED_BUTTON_LOCKOUT_S / 2)
    assert find_response(Button.END_TURN, GestureKind.PRESS, ANNA_TO_MOVE, SHARED_BUTTON_LOCKOUT_S) == EndTurn()
    assert find_response(Button.END_TURN_1, GestureKind.PRESS, ANNA_TO_MOVE, SHARED_BUTTON_LOCKOUT_S / 2) == EndTurn()


def test_game_that_is_over_by_the_rules_is_ended_before_a_new_one_begins() -> None:
    """The rules propose it only: the last play can be challenged, and who has a play after all may make it."""
    over = replace(ANNA_TO_MOVE, end_due=True)
    assert find_response(Button.NEW_GAME, GestureKind.HOLD, over) == EndGame()
    assert find_response(Button.CHALLENGE, GestureKind.PRESS, over) == ChallengePlay()
    assert find_response(Button.END_TURN_1, GestureKind.PRESS, over) == EndTurn()


IN_PLAY = [
    (Button.END_TURN, GestureKind.PRESS),
    (Button.END_TURN_1, GestureKind.PRESS),
    (Button.CHALLENGE, GestureKind.PRESS),
    (Button.PAUSE, GestureKind.TAP),
    (Button.PAUSE, GestureKind.HOLD),
]


@pytest.mark.parametrize(("button", "kind"), [*IN_PLAY, (Button.NEW_GAME, GestureKind.HOLD)])
def test_nothing_counts_while_the_board_is_read(button: Button, kind: GestureKind) -> None:
    assert "is being read" in refused(button, kind, LOOKING)


@pytest.mark.parametrize(("button", "kind"), IN_PLAY)
def test_without_a_game_the_new_game_button_is_named(button: Button, kind: GestureKind) -> None:
    assert "no game" in refused(button, kind, LOBBY)
    if (button, kind) != (Button.PAUSE, GestureKind.HOLD):
        assert "ended" in refused(button, kind, ENDED)


def test_end_of_a_game_is_taken_back_like_any_turn() -> None:
    assert find_response(Button.PAUSE, GestureKind.HOLD, ENDED) == Undo(question_id=0)


@pytest.mark.parametrize("state", [LOBBY, LOOKING, ANNA_TO_MOVE, ENDED])
def test_table_is_switched_off_at_any_moment(state: TableSnapshot) -> None:
    assert find_response(Button.POWER, GestureKind.HOLD, state) == Button.POWER


@pytest.mark.parametrize("state", [LOBBY, ANNA_TO_MOVE, ENDED])
def test_new_game_begins_before_in_and_after_one(state: TableSnapshot) -> None:
    assert find_response(Button.NEW_GAME, GestureKind.HOLD, state) == Button.NEW_GAME


def test_short_press_says_how_long_to_hold() -> None:
    assert "2 seconds" in refused(Button.NEW_GAME, GestureKind.TAP)


@pytest.mark.parametrize("state", [LOBBY, ANNA_TO_MOVE, LOOKING, ENDED])
def test_short_press_of_power_opens_pairing_at_any_time(state: TableSnapshot) -> None:
    assert find_response(Button.POWER, GestureKind.TAP, state) == OpenPairing()


def test_two_at_once_and_stuck_are_told() -> None:
    assert "only one" in refused(Button.POWER, GestureKind.TOGETHER)
    assert "end-turn 2 button seems to be stuck" in refused(Button.END_TURN_2, GestureKind.STUCK)
    assert find_response(Button.END_TURN_2, GestureKind.FREED) is None
