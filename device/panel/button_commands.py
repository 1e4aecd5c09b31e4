"""What a gesture means at this moment: a command to the session, a refusal that is shown, or nothing. Pure.

The whole table of answers stands in `docs/panel.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from device.panel.buttons import Button
from device.panel.gestures import HOLD_S, Gesture, Kind
from device.session.messages import text
from device.session.snapshot import PASS_OR_EXCHANGE, Phase, TableState

SOON_S = 1.0
"""A shared button is not believed so soon after a turn: it was meant for the turn that is just over."""


class Command(StrEnum):
    """What the panel asks of the session and of the machine."""

    END_TURN = "end turn"
    END_GAME = "end game"
    CHALLENGE = "challenge"
    EXCHANGE = "exchange"
    PAUSE = "pause"
    GO_ON = "go on"
    UNDO = "undo"
    NEW_GAME = "new game"
    POWER_OFF = "power off"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A press that changes nothing, and why; `player` is whose light shall blink, where that is the point."""

    text: str
    player: int | None = None

    @classmethod
    def of(cls, key: str, *values: str) -> Refusal:
        """The refusal that `device.session.messages` has under this key."""
        return cls(text(key, *values))


Answer = Command | Refusal | None

_WHEN_HELD = {Button.PAUSE: Command.UNDO, Button.NEW_GAME: Command.NEW_GAME, Button.POWER: Command.POWER_OFF}


def answer(gesture: Gesture, state: TableState, since_turn: float) -> Answer:
    """What `gesture` means to a table in `state`, `since_turn` seconds after its log last grew."""
    button = gesture.button
    match gesture.kind:
        case Kind.PRESS if button.ends_turn:
            return _end_turn(button, state, since_turn)
        case Kind.PRESS if button is Button.CHALLENGE:
            return _challenge(state)
        case Kind.TAP if button is Button.PAUSE:
            return Command.GO_ON if state.phase is Phase.PAUSED else _in_play(state) or Command.PAUSE
        case Kind.TAP:
            return Refusal.of(f"hold-{button}", f"{HOLD_S[button]:.0f}")
        case Kind.HOLD:
            return _held(_WHEN_HELD[button], state)
        case Kind.TOGETHER:
            return Refusal.of("two-buttons")
        case Kind.STUCK:
            return Refusal.of("stuck", label(button))
        case _:
            return None


def label(button: Button) -> str:
    """The button's name for people."""
    if button.player is not None:
        return text("button-end-turn-of", str(button.player + 1))
    return text(f"button-{button}")


def _end_turn(button: Button, state: TableState, since_turn: float) -> Answer:
    if refusal := _in_play(state):
        return refusal
    if button.player is None:
        return Command.END_TURN if since_turn >= SOON_S else Refusal.of("too-quick")
    if button.player == state.turn_of:
        return Command.END_TURN
    if button.player >= len(state.players):
        return Refusal.of("nobody-sits")
    assert state.turn_of is not None, "somebody has the turn while a game is played"
    name = state.players[state.turn_of].name
    return Refusal(text("others-turn", name), state.turn_of)


def _challenge(state: TableState) -> Answer:
    """The challenge button; where it is asked whether a player passed or exchanged, it says that she exchanged."""
    asked = state.question is not None and state.question.key == PASS_OR_EXCHANGE
    return _in_play(state) or (Command.EXCHANGE if asked else Command.CHALLENGE)


def _held(command: Command, state: TableState) -> Answer:
    if command is Command.POWER_OFF:
        return command
    if state.phase is Phase.LOOKING:
        return _in_play(state)
    if command is Command.NEW_GAME:
        return Command.END_GAME if state.end_due else command
    taken_back_too = (Phase.ENDED, Phase.PAUSED, Phase.DRAWING)
    return command if state.phase in taken_back_too else _in_play(state) or command


def _in_play(state: TableState) -> Refusal | None:
    """Why nothing can be done in the game now; None when it can."""
    match state.phase:
        case Phase.LOOKING:
            return Refusal.of("busy")
        case Phase.LOBBY:
            return Refusal.of("hold-for-first")
        case Phase.ENDED:
            return Refusal.of("hold-for-next")
        case Phase.PAUSED:
            return Refusal.of("press-pause")
        case Phase.DRAWING:
            return Refusal.of("draw-on-page")
        case _:
            return None
