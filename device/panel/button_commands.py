"""Mapping from gestures on buttons (presses, holds) to commands of the session and to refusals.

The functions are pure. `docs/panel.md` lists the responses to all gestures. A press right after a change may have been
meant for what was there before (`RecentChanges`).
"""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass
from math import inf
from typing import Literal

from device.catalogue import get_text
from device.panel.buttons import HOLD_S, Button, Gesture, GestureKind
from device.session.commands.answers import ChooseNextAnswer, ConfirmExchange, RecallQuestion
from device.session.commands.base import TableCommand
from device.session.commands.challenges import ChallengePlay
from device.session.commands.games import EndGame, EndPause, Pause, Undo
from device.session.commands.turns import EndTurn
from device.session.snapshot import Moment, Phase, TableSnapshot


@dataclass(frozen=True, slots=True)
class Elapsed:
    """Seconds since the last event of the game, since a question was closed, and since a pause began or ended."""

    event: float = inf
    question: float = inf
    pause: float = inf


class RecentChanges:
    """The times of the last changes of the table, for presses right after them."""

    def __init__(self, state: TableSnapshot) -> None:
        """Begin with the snapshot `state`, which counts as old."""
        self._state = state
        self._event_time = self._question_time = self._pause_time = -inf

    def update(self, state: TableSnapshot, now: float) -> None:
        """Handle the next snapshot at time `now` (s)."""
        elapsed, self._state = self.measure(state, now), state
        self._event_time, self._question_time = now - elapsed.event, now - elapsed.question
        self._pause_time = now - elapsed.pause

    def measure(self, state: TableSnapshot, now: float) -> Elapsed:
        """Return the times from the last changes to `now`; 0 for a change in `state` that was not handled yet.

        `state` is the current snapshot. While the board is read, no question is shown. This does not count as the end
        of a question.
        """
        before = self._state
        is_closed = before.question is not None and state.question is None and state.phase is not Phase.LOOKING
        is_pause_changed = (before.phase is Phase.PAUSED) is not (state.phase is Phase.PAUSED)
        return Elapsed(
            0.0 if state.moment != before.moment else now - self._event_time,
            0.0 if is_closed else now - self._question_time,
            0.0 if is_pause_changed else now - self._pause_time,
        )


SHARED_BUTTON_LOCKOUT_S = 1.0
"""Time after a turn, in seconds, in which a second press of the same end-turn button does not end another turn."""
CHALLENGE_LOCKOUT_S = 2.0
"""Time after a question was closed, in seconds, in which the challenge button does not challenge the last play: the
press was for the question. A challenge that fails costs a turn."""
PAUSE_LOCKOUT_S = 1.0
"""Time after the beginning or the end of a pause, in seconds, in which the pause button does not do the opposite: two
players may have pressed for the same pause, one of them on a phone."""
OTHER_SIDE_DELAY_S = 0.3
"""Delay of a press by a player who is not to move, in seconds. If the player to move presses during this
delay, only the press of the player to move counts."""


@dataclass(frozen=True, slots=True)
class DelayedPress:
    """A press by a player who is not to move; its command is submitted at the time `due` (s).

    `seat` is the player who pressed, `seen` the version of the game at the time of the press (or that the page showed),
    and `done` the future for the result.
    """

    due: float
    command: TableCommand
    seat: int | None
    seen: Moment
    done: Future[TableSnapshot]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Response to a press that is not allowed now: the reason as text, and the player whose light blinks, if any."""

    text: str
    player: int | None = None

    @classmethod
    def from_key(cls, key: str, *values: str) -> Refusal:
        """Return the refusal with the message `key`; `values` replace its placeholders."""
        return cls(get_text(key, *values))


@dataclass(frozen=True, slots=True)
class OpenPairing:
    """Response to a tap of the power button: one device may pair without a code."""


ButtonResponse = TableCommand | Literal[Button.NEW_GAME, Button.POWER] | OpenPairing | Refusal | None
"""Response of the panel to a gesture.

A command is sent to the session. `Button.NEW_GAME` and `Button.POWER` stand for the actions in `PanelActions`. None
means that the gesture has no effect.
"""


def choose_response(gesture: Gesture, state: TableSnapshot, elapsed: Elapsed) -> ButtonResponse:
    """Return the response to a gesture in the state `state` of the table, `elapsed` seconds after the last changes."""
    button = gesture.button
    match gesture.kind:
        case GestureKind.PRESS if button.ends_turn:
            return _respond_to_end_turn(button, state, elapsed.event)
        case GestureKind.PRESS if button is Button.CHALLENGE:
            return _respond_to_challenge(state, elapsed.question)
        case GestureKind.TAP if button is Button.PAUSE:
            return _respond_to_pause(state, elapsed.pause)
        case GestureKind.TAP if button is Button.POWER:
            return OpenPairing()
        case GestureKind.TAP:
            return Refusal.from_key(f"hold-{button}", f"{HOLD_S[button]:.0f}")
        case GestureKind.HOLD:
            return _respond_to_hold(button, state)
        case GestureKind.TOGETHER:
            return Refusal.from_key("two-buttons")
        case GestureKind.STUCK:
            return Refusal.from_key("stuck", name_button(button))
        case _:
            return None


def name_button(button: Button) -> str:
    """Return the name of a button for the players."""
    if button.player is not None:
        return get_text("button-end-turn-of", str(button.player + 1))
    return get_text(f"button-{button}")


def _respond_to_end_turn(button: Button, state: TableSnapshot, since_turn: float) -> ButtonResponse:
    if refusal := _find_refusal(state):
        return refusal
    if button.player is None:
        return EndTurn() if since_turn >= SHARED_BUTTON_LOCKOUT_S else Refusal.from_key("too-quick")
    if button.player == state.turn_of or since_turn >= SHARED_BUTTON_LOCKOUT_S:
        return EndTurn()  # if another player has the turn, the session asks whose turn it was
    assert state.turn_of is not None, "a player has the turn while a game is played"
    name = state.players[state.turn_of].name
    return Refusal(get_text("others-turn", name), state.turn_of)


def _respond_to_challenge(state: TableSnapshot, since_question: float) -> ButtonResponse:
    """Return the response to the challenge button, which depends on the state.

    - While a question is open, the button chooses the next answer. For the question "pass or exchange?", it confirms
      the exchange.
    - If the last play is provisional or cannot be challenged, the button opens the oldest deferred question again.
    - Otherwise the button challenges the last play, but not right after a question was closed.

    An open question can be answered in any phase, and a deferred question also during a pause.
    """
    recalls_in_pause = state.phase is Phase.PAUSED and bool(state.open_questions)
    if state.question is None and not recalls_in_pause and (refusal := _find_refusal(state)):
        return refusal
    if state.question is None:
        is_provisional = state.last_turn is not None and state.last_turn.provisional
        recalls = state.open_questions and (is_provisional or state.phase is not Phase.CHALLENGE)
        if recalls:
            return RecallQuestion(question_id=0)
        return ChallengePlay() if since_question >= CHALLENGE_LOCKOUT_S else Refusal.from_key("too-quick")
    answer = ConfirmExchange if state.question.offers_exchange else ChooseNextAnswer
    return answer(question_id=state.question.id)


def _respond_to_pause(state: TableSnapshot, since_pause: float) -> ButtonResponse:
    is_paused = state.phase is Phase.PAUSED
    if not is_paused and (refusal := _find_refusal(state)):
        return refusal
    if since_pause < PAUSE_LOCKOUT_S:
        return Refusal.from_key("too-quick")
    return EndPause() if is_paused else Pause()


def _respond_to_hold(button: Button, state: TableSnapshot) -> ButtonResponse:
    if button is Button.POWER:
        return button
    if state.phase is Phase.LOOKING:
        return _find_refusal(state)
    if button is Button.NEW_GAME:
        return EndGame() if state.end_due else button
    can_undo = state.phase in (Phase.ENDED, Phase.PAUSED, Phase.DRAWING)
    undo = Undo(question_id=state.question.id if state.question else 0)
    return undo if can_undo else _find_refusal(state) or undo


def _find_refusal(state: TableSnapshot) -> Refusal | None:
    """Return the refusal of a press in a phase in which no player is to move; None in other phases."""
    match state.phase:
        case Phase.LOOKING:
            return Refusal.from_key("busy")
        case Phase.LOBBY:
            return Refusal.from_key("hold-for-first")
        case Phase.ENDED:
            return Refusal.from_key("hold-for-next")
        case Phase.PAUSED:
            return Refusal.from_key("press-pause")
        case Phase.DRAWING:
            return Refusal.from_key("draw-on-page")
        case _:
            return None
