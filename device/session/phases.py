"""The session as a state machine: the commands that each phase allows, and the phases that may follow.

`TableSession` accepts a command only if `TRANSITIONS` has its transition for the phase. docs/session.md lists them.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum, auto
from types import MappingProxyType

from device.session.snapshot import Phase

LOBBY, DRAWING, TURN, LOOKING = Phase.LOBBY, Phase.DRAWING, Phase.TURN, Phase.LOOKING
QUESTION, CHALLENGE, PAUSED, ENDED = Phase.QUESTION, Phase.CHALLENGE, Phase.PAUSED, Phase.ENDED


class Transition(StrEnum):
    """Kinds of transitions between phases: one or more commands each, and `CAPTURE_DONE`.

    `CAPTURE_DONE` is the transition from `LOOKING` after the board has been read.
    """

    START = auto()
    RESUME = auto()
    DRAW = auto()  # tiles are drawn for first play
    END_TURN = auto()
    CAPTURE_DONE = auto()
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
_RESUMABLE_PHASES = (DRAWING, *TURN_PHASES, PAUSED, ENDED)
_OPENING_PHASES = (DRAWING, TURN)
_NEW_GAME_PHASES = (*_OPENING_PHASES, PAUSED)  # paused: it waits for the director of a hall
_TURN_OR_CHALLENGE = (TURN, CHALLENGE)


_TURN_TRANSITIONS: Mapping[Transition, tuple[Phase, ...]] = MappingProxyType(
    {
        Transition.START: _NEW_GAME_PHASES,
        Transition.RESUME: _RESUMABLE_PHASES,
        Transition.DRAW: _OPENING_PHASES,
        Transition.END_TURN: (LOOKING,),
        Transition.PASS: (TURN,),
        Transition.EXCHANGE: (TURN,),
        Transition.UNDO: _RESUMABLE_PHASES,  # the undo of a game's start leads to the game before
        Transition.REDO: (DRAWING, *_TURN_OR_CHALLENGE, ENDED),
        Transition.CORRECT: TURN_PHASES,  # a turn that is entered by hand may lead to a question
        Transition.REVEAL_RACK: TURN_PHASES,  # an open question may stay open
        Transition.PAUSE: (PAUSED,),
        Transition.END_GAME: (ENDED,),
    }
)
"""The transitions of all phases in which a player has the turn."""


TRANSITIONS: Mapping[Phase, Mapping[Transition, tuple[Phase, ...]]] = MappingProxyType(
    {
        # The session remains in the lobby if a game cannot be saved, or if no game can be loaded.
        LOBBY: {Transition.START: (LOBBY, *_NEW_GAME_PHASES), Transition.RESUME: (LOBBY, *_RESUMABLE_PHASES)},
        DRAWING: {
            Transition.START: _NEW_GAME_PHASES,
            Transition.RESUME: _RESUMABLE_PHASES,
            Transition.DRAW: _OPENING_PHASES,  # players who drew equal letters draw again
            Transition.UNDO: _RESUMABLE_PHASES,
            Transition.REDO: (DRAWING, *_TURN_OR_CHALLENGE, ENDED),
            Transition.CORRECT: (DRAWING, *TURN_PHASES),
            Transition.ANSWER: (DRAWING, *TURN_PHASES),  # about a first turn that was entered by hand
            Transition.PAUSE: (PAUSED,),
            Transition.END_GAME: (ENDED,),
        },
        TURN: _TURN_TRANSITIONS,
        QUESTION: {
            **_TURN_TRANSITIONS,
            Transition.PASS: (TURN, QUESTION),  # while it is asked whether the turn before was a pass
            Transition.EXCHANGE: (TURN, QUESTION),
            Transition.ANSWER: (*TURN_PHASES, ENDED),
            Transition.CHALLENGE: (TURN, QUESTION),
        },
        CHALLENGE: {**_TURN_TRANSITIONS, Transition.CHALLENGE: (TURN, QUESTION)},
        LOOKING: {Transition.CAPTURE_DONE: TURN_PHASES},
        PAUSED: {
            Transition.START: _NEW_GAME_PHASES,
            Transition.RESUME: _RESUMABLE_PHASES,
            Transition.END_PAUSE: (DRAWING, *TURN_PHASES),
            Transition.ANSWER: (PAUSED, ENDED),
            Transition.UNDO: _RESUMABLE_PHASES,
            Transition.REDO: (PAUSED, ENDED),
            Transition.CORRECT: (PAUSED,),
            Transition.REVEAL_RACK: (PAUSED,),
            Transition.END_GAME: (ENDED,),
        },
        ENDED: {
            Transition.START: _NEW_GAME_PHASES,
            Transition.RESUME: _RESUMABLE_PHASES,
            Transition.UNDO: (
                *_OPENING_PHASES,
                CHALLENGE,
                PAUSED,
                ENDED,
            ),  # the game is still ended after the undo of a rack that was entered after the end
            Transition.REDO: (ENDED,),
            Transition.ANSWER: (*TURN_PHASES, PAUSED, ENDED),  # the panel may choose the answer after the game's end
            Transition.CORRECT: (ENDED,),
            Transition.REVEAL_RACK: (ENDED,),
        },
    }
)
"""The allowed transitions by phase, and the phases to which each may lead."""

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
