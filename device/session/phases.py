"""The phases of the session, and the commands that each of them allows.

`TableSession` accepts a command only if `ALLOWED_PHASES` has the phase for its transition. docs/session.md lists them.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum, auto
from types import MappingProxyType

from device.session.snapshot import Phase

LOBBY, DRAWING, TURN, LOOKING = Phase.LOBBY, Phase.DRAWING, Phase.TURN, Phase.LOOKING
QUESTION, CHALLENGE, PAUSED, ENDED = Phase.QUESTION, Phase.CHALLENGE, Phase.PAUSED, Phase.ENDED


class Transition(StrEnum):
    """Kinds of transitions between phases, with one or more commands each."""

    START = auto()
    RESUME = auto()
    DRAW = auto()  # tiles are drawn for first play
    END_TURN = auto()
    ANSWER = auto()
    PASS = auto()
    EXCHANGE = auto()
    CHALLENGE = auto()
    UNDO = auto()
    REDO = auto()
    CORRECT = auto()  # a square, a blank, a name or a turn
    REVEAL_RACK = auto()
    PAUSE = auto()
    END_PAUSE = auto()
    END_GAME = auto()


TURN_PHASES = (TURN, QUESTION, CHALLENGE)
_GAME_PHASES = (DRAWING, *TURN_PHASES, PAUSED, ENDED)
ALLOWED_PHASES: Mapping[Transition, tuple[Phase, ...]] = MappingProxyType(
    {
        Transition.START: (LOBBY, *_GAME_PHASES),
        Transition.RESUME: (LOBBY, *_GAME_PHASES),
        Transition.DRAW: (DRAWING, *TURN_PHASES),
        Transition.END_TURN: TURN_PHASES,
        Transition.ANSWER: (DRAWING, QUESTION, PAUSED, ENDED),
        Transition.PASS: TURN_PHASES,
        Transition.EXCHANGE: TURN_PHASES,
        Transition.CHALLENGE: (QUESTION, CHALLENGE),
        Transition.UNDO: _GAME_PHASES,  # the undo of a game's start leads to the game before
        Transition.REDO: _GAME_PHASES,
        Transition.CORRECT: _GAME_PHASES,
        Transition.REVEAL_RACK: (*TURN_PHASES, PAUSED, ENDED),
        Transition.PAUSE: (DRAWING, *TURN_PHASES),
        Transition.END_PAUSE: (PAUSED,),
        Transition.END_GAME: (DRAWING, *TURN_PHASES, PAUSED),
    }
)
"""The phases that allow the commands of each transition. While the board is read, no command is allowed."""

_REFUSAL_KEY_BY_PHASE = MappingProxyType(
    {LOBBY: "no-game", DRAWING: "draw-first", LOOKING: "busy", PAUSED: "paused", ENDED: "ended"}
)
_REFUSAL_KEY_BY_TRANSITION = MappingProxyType(
    {
        Transition.END_PAUSE: "not-paused",
        Transition.ANSWER: "nothing-asked",
        Transition.DRAW: "not-drawing",
        Transition.CHALLENGE: "nothing-to-challenge",
    }
)


def find_refusal_key(phase: Phase, transition: Transition) -> str:
    """Return the key of the message that says why a phase does not allow the commands of a transition.

    Some phases and some transitions have a message. In the lobby and while the board is read, the message of the phase
    is used. In other phases, that of the transition comes first. Only for a challenge, that of the phase comes first.
    """
    by_phase, by_transition = _REFUSAL_KEY_BY_PHASE.get(phase, ""), _REFUSAL_KEY_BY_TRANSITION.get(transition, "")
    if phase in (LOBBY, LOOKING):
        return by_phase
    if transition is Transition.CHALLENGE:
        return by_phase or by_transition
    return by_transition or by_phase
