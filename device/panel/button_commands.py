"""Map gestures to commands: each gesture is a command to the session, a refusal that is shown, or nothing. Pure.

`docs/panel.md` has the whole table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from device.panel.buttons import HOLD_S, Button, Gesture, GestureKind
from device.session.commands.base import TableCommand
from device.session.commands.games import EndGame, EndPause, Pause, Undo
from device.session.commands.turns import ChallengePlay, ConfirmExchange, EndTurn
from device.session.messages import get_text
from device.session.snapshot import PASS_OR_EXCHANGE, Phase, TableSnapshot

SHARED_BUTTON_LOCKOUT_S = 1.0
"""Seconds after a turn in which a shared button is ignored: the press was meant for the turn before."""


class ButtonCommand(StrEnum):
    """A command of the panel to the session or the machine."""

    END_TURN = "end turn"
    END_GAME = "end game"
    CHALLENGE = "challenge"
    EXCHANGE = "exchange"
    PAUSE = "pause"
    GO_ON = "go on"
    UNDO = "undo"
    NEW_GAME = "new game"
    POWER_OFF = "power off"


BUTTON_REQUESTS: Mapping[ButtonCommand, TableCommand] = MappingProxyType(
    {
        ButtonCommand.END_TURN: EndTurn(),
        ButtonCommand.END_GAME: EndGame(),
        ButtonCommand.CHALLENGE: ChallengePlay(),
        ButtonCommand.EXCHANGE: ConfirmExchange(),
        ButtonCommand.PAUSE: Pause(),
        ButtonCommand.GO_ON: EndPause(),
        ButtonCommand.UNDO: Undo(),
    }
)
"""The session's command for each command of the panel that needs no arguments."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A press that changes nothing: the reason, and the player whose light blinks, if any."""

    text: str
    player: int | None = None

    @classmethod
    def from_key(cls, key: str, *values: str) -> Refusal:
        """Return the refusal with the text of a key."""
        return cls(get_text(key, *values))


ButtonResponse = ButtonCommand | Refusal | None

_HOLD_COMMANDS = {
    Button.PAUSE: ButtonCommand.UNDO,
    Button.NEW_GAME: ButtonCommand.NEW_GAME,
    Button.POWER: ButtonCommand.POWER_OFF,
}


def command_for(gesture: Gesture, state: TableSnapshot, since_turn: float) -> ButtonResponse:
    """Return the response to a gesture in this state, `since_turn` seconds after the last event of the game."""
    button = gesture.button
    match gesture.kind:
        case GestureKind.PRESS if button.ends_turn:
            return _command_for_end_turn(button, state, since_turn)
        case GestureKind.PRESS if button is Button.CHALLENGE:
            return _command_for_challenge(state)
        case GestureKind.TAP if button is Button.PAUSE:
            return ButtonCommand.GO_ON if state.phase is Phase.PAUSED else _find_refusal(state) or ButtonCommand.PAUSE
        case GestureKind.TAP:
            return Refusal.from_key(f"hold-{button}", f"{HOLD_S[button]:.0f}")
        case GestureKind.HOLD:
            return _command_for_hold(_HOLD_COMMANDS[button], state)
        case GestureKind.TOGETHER:
            return Refusal.from_key("two-buttons")
        case GestureKind.STUCK:
            return Refusal.from_key("stuck", button_label(button))
        case _:
            return None


def button_label(button: Button) -> str:
    """Return the name of a button for the players."""
    if button.player is not None:
        return get_text("button-end-turn-of", str(button.player + 1))
    return get_text(f"button-{button}")


def _command_for_end_turn(button: Button, state: TableSnapshot, since_turn: float) -> ButtonResponse:
    if refusal := _find_refusal(state):
        return refusal
    if button.player is None:
        return ButtonCommand.END_TURN if since_turn >= SHARED_BUTTON_LOCKOUT_S else Refusal.from_key("too-quick")
    if button.player == state.turn_of:
        return ButtonCommand.END_TURN
    if button.player >= len(state.players):
        return Refusal.from_key("nobody-sits")
    assert state.turn_of is not None, "somebody has the turn while a game is played"
    name = state.players[state.turn_of].name
    return Refusal(get_text("others-turn", name), state.turn_of)


def _command_for_challenge(state: TableSnapshot) -> ButtonResponse:
    """Return the response to the challenge button; it answers the question \"pass or exchange?\" with an exchange."""
    asked = state.question is not None and state.question.key == PASS_OR_EXCHANGE
    return _find_refusal(state) or (ButtonCommand.EXCHANGE if asked else ButtonCommand.CHALLENGE)


def _command_for_hold(command: ButtonCommand, state: TableSnapshot) -> ButtonResponse:
    if command is ButtonCommand.POWER_OFF:
        return command
    if state.phase is Phase.LOOKING:
        return _find_refusal(state)
    if command is ButtonCommand.NEW_GAME:
        return ButtonCommand.END_GAME if state.end_due else command
    taken_back_too = (Phase.ENDED, Phase.PAUSED, Phase.DRAWING)
    return command if state.phase in taken_back_too else _find_refusal(state) or command


def _find_refusal(state: TableSnapshot) -> Refusal | None:
    """Return the refusal of a phase in which no turn is played; None during a turn."""
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
