"""The evening as a state machine: which command may be given in which phase, and where it can lead. Data.

`TableSession` asks `objection` before it takes a command, and `phase_of` says where a game stands. docs/session.svg
shows the machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from device.session.snapshot import Phase
from engine.game import Game

LOBBY, DRAWING, TURN, LOOKING = Phase.LOBBY, Phase.DRAWING, Phase.TURN, Phase.LOOKING
QUESTION, CHALLENGE, PAUSED, ENDED = Phase.QUESTION, Phase.CHALLENGE, Phase.PAUSED, Phase.ENDED


class Cue(StrEnum):
    """What makes one phase follow another: the commands of the table, and the look that a turn ends with."""

    START = "start game"
    RESUME = "resume"
    DRAW = "draw for first"
    END_TURN = "end turn"
    LOOKED = "looked"
    ANSWER = "answer"
    PASS = "pass"
    EXCHANGE = "exchange"
    CHALLENGED = "challenge"
    UNDO = "undo"
    REDO = "redo"
    PUT_RIGHT = "put right"  # a square, a blank, a turn
    RACK = "tell rack"
    PAUSE = "pause"
    GO_ON = "go on"
    END = "end game"


PLAYING = (TURN, QUESTION, CHALLENGE)
_STANDING = (DRAWING, *PLAYING, PAUSED, ENDED)
_BEGUN = (DRAWING, TURN)
_TURN_OVER = (TURN, CHALLENGE)


def _turn_of_somebody(**more: tuple[Phase, ...]) -> Mapping[Cue, tuple[Phase, ...]]:
    """What can be done in every phase in which somebody has the turn, and `more` in this one."""
    return {
        Cue.START: _BEGUN,
        Cue.RESUME: _STANDING,
        Cue.DRAW: _BEGUN,
        Cue.END_TURN: (LOOKING,),
        Cue.PASS: (TURN,),
        Cue.EXCHANGE: (TURN,),
        Cue.UNDO: (DRAWING, *_TURN_OVER),
        Cue.REDO: (DRAWING, *_TURN_OVER, ENDED),
        Cue.PUT_RIGHT: _TURN_OVER,
        Cue.RACK: _TURN_OVER,
        Cue.PAUSE: (PAUSED,),
        Cue.END: (ENDED,),
        **{Cue[name]: phases for name, phases in more.items()},
    }


TRANSITIONS: Mapping[Phase, Mapping[Cue, tuple[Phase, ...]]] = MappingProxyType(
    {
        # The lobby again where the disk does not take a game, or has none that can be read.
        LOBBY: {Cue.START: (LOBBY, *_BEGUN), Cue.RESUME: (LOBBY, *_STANDING)},
        DRAWING: {
            Cue.START: _BEGUN,
            Cue.RESUME: _STANDING,
            Cue.DRAW: _BEGUN,  # drawing again where several drew alike
            Cue.UNDO: _BEGUN,
            Cue.REDO: (DRAWING, *_TURN_OVER, ENDED),
            Cue.PUT_RIGHT: _TURN_OVER,
            Cue.PAUSE: (PAUSED,),
            Cue.END: (ENDED,),
        },
        TURN: _turn_of_somebody(),
        QUESTION: _turn_of_somebody(ANSWER=PLAYING, CHALLENGED=(TURN, QUESTION)),
        CHALLENGE: _turn_of_somebody(CHALLENGED=(TURN, QUESTION)),
        LOOKING: {Cue.LOOKED: PLAYING},
        PAUSED: {
            Cue.START: _BEGUN,
            Cue.RESUME: _STANDING,
            Cue.GO_ON: (DRAWING, *PLAYING),
            Cue.ANSWER: (PAUSED,),
            Cue.UNDO: (PAUSED,),
            Cue.REDO: (PAUSED, ENDED),
            Cue.PUT_RIGHT: (PAUSED,),
            Cue.RACK: (PAUSED,),
            Cue.END: (ENDED,),
        },
        ENDED: {
            Cue.START: _BEGUN,
            Cue.RESUME: _STANDING,
            Cue.UNDO: (*_BEGUN, CHALLENGE, PAUSED, ENDED),  # ended still where a rack told afterwards is taken back
            Cue.REDO: (ENDED,),
            Cue.PUT_RIGHT: (ENDED,),
            Cue.RACK: (ENDED,),
        },
    }
)
"""By phase and cue, the phases that may follow."""

_WHY = MappingProxyType({LOBBY: "no-game", DRAWING: "draw-first", LOOKING: "busy", PAUSED: "paused", ENDED: "ended"})
_WHY_NOT = MappingProxyType(
    {
        Cue.GO_ON: "not-paused",
        Cue.ANSWER: "nothing-asked",
        Cue.DRAW: "not-drawing",
        Cue.CHALLENGED: "nothing-to-challenge",
    }
)


def objection(phase: Phase, cue: Cue) -> str:
    """The key of the sentence that says why a command cannot be given in a phase; empty where it can."""
    if cue in TRANSITIONS[phase]:
        return ""
    general = _WHY_NOT.get(cue, "") if phase not in (LOBBY, LOOKING) else ""
    return _WHY[phase] if phase in _WHY and (not general or cue is Cue.CHALLENGED) else general


def phase_of(game: Game, *, asked: bool, paused: bool) -> Phase:
    """Where a game stands while nobody looks at the board; `asked` where a question is open."""
    if game.is_over:
        return ENDED
    if paused:
        return PAUSED
    if game.drawing:
        return DRAWING
    if asked:
        return QUESTION
    return CHALLENGE if game.challengeable else TURN
