"""The session as a state machine: the commands that each phase allows, and the phases that may follow.

`TableSession` accepts a command only if it is in `TRANSITIONS`. docs/session.svg shows the state machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from device.session.snapshot import Phase

LOBBY, DRAWING, TURN, LOOKING = Phase.LOBBY, Phase.DRAWING, Phase.TURN, Phase.LOOKING
QUESTION, CHALLENGE, PAUSED, ENDED = Phase.QUESTION, Phase.CHALLENGE, Phase.PAUSED, Phase.ENDED


class Command(StrEnum):
    """Kinds of transitions between phases: one for each kind of command, and `CAPTURE_DONE`.

    `CAPTURE_DONE` is the transition from `LOOKING` after the board has been read.
    """

    START = "start game"
    RESUME = "resume"
    DRAW = "draw for first"
    END_TURN = "end turn"
    CAPTURE_DONE = "looked"
    ANSWER = "answer"
    PASS = "pass"
    EXCHANGE = "exchange"
    CHALLENGE = "challenge"
    UNDO = "undo"
    REDO = "redo"
    CORRECT = "put right"  # corrects a square, a blank or a turn
    REVEAL_RACK = "tell rack"
    PAUSE = "pause"
    END_PAUSE = "go on"
    END_GAME = "end game"


TURN_PHASES = (TURN, QUESTION, CHALLENGE)
_RESUMABLE_PHASES = (DRAWING, *TURN_PHASES, PAUSED, ENDED)
_OPENING_PHASES = (DRAWING, TURN)
_TURN_OR_CHALLENGE = (TURN, CHALLENGE)


def _make_turn_transitions(**more: tuple[Phase, ...]) -> Mapping[Command, tuple[Phase, ...]]:
    """Return the transitions of a phase in which a player has the turn; `more` are further transitions of the phase."""
    return {
        Command.START: _OPENING_PHASES,
        Command.RESUME: _RESUMABLE_PHASES,
        Command.DRAW: _OPENING_PHASES,
        Command.END_TURN: (LOOKING,),
        Command.PASS: (TURN,),
        Command.EXCHANGE: (TURN,),
        Command.UNDO: _RESUMABLE_PHASES,  # the undo of a game's start leads to the game before
        Command.REDO: (DRAWING, *_TURN_OR_CHALLENGE, ENDED),
        Command.CORRECT: TURN_PHASES,  # a turn that is entered by hand may lead to a question
        Command.REVEAL_RACK: _TURN_OR_CHALLENGE,
        Command.PAUSE: (PAUSED,),
        Command.END_GAME: (ENDED,),
        **{Command[name]: phases for name, phases in more.items()},
    }


TRANSITIONS: Mapping[Phase, Mapping[Command, tuple[Phase, ...]]] = MappingProxyType(
    {
        # The session remains in the lobby if a game cannot be saved, or if no game can be loaded.
        LOBBY: {Command.START: (LOBBY, *_OPENING_PHASES), Command.RESUME: (LOBBY, *_RESUMABLE_PHASES)},
        DRAWING: {
            Command.START: _OPENING_PHASES,
            Command.RESUME: _RESUMABLE_PHASES,
            Command.DRAW: _OPENING_PHASES,  # players who drew equal letters draw again
            Command.UNDO: _RESUMABLE_PHASES,
            Command.REDO: (DRAWING, *_TURN_OR_CHALLENGE, ENDED),
            Command.CORRECT: (DRAWING, *_TURN_OR_CHALLENGE),
            Command.PAUSE: (PAUSED,),
            Command.END_GAME: (ENDED,),
        },
        TURN: _make_turn_transitions(),
        QUESTION: _make_turn_transitions(ANSWER=TURN_PHASES, CHALLENGE=(TURN, QUESTION)),
        CHALLENGE: _make_turn_transitions(CHALLENGE=(TURN, QUESTION)),
        LOOKING: {Command.CAPTURE_DONE: TURN_PHASES},
        PAUSED: {
            Command.START: _OPENING_PHASES,
            Command.RESUME: _RESUMABLE_PHASES,
            Command.END_PAUSE: (DRAWING, *TURN_PHASES),
            Command.ANSWER: (PAUSED,),
            Command.UNDO: _RESUMABLE_PHASES,
            Command.REDO: (PAUSED, ENDED),
            Command.CORRECT: (PAUSED,),
            Command.REVEAL_RACK: (PAUSED,),
            Command.END_GAME: (ENDED,),
        },
        ENDED: {
            Command.START: _OPENING_PHASES,
            Command.RESUME: _RESUMABLE_PHASES,
            Command.UNDO: (
                *_OPENING_PHASES,
                CHALLENGE,
                PAUSED,
                ENDED,
            ),  # the game is still ended after the undo of a rack that was entered after the end
            Command.REDO: (ENDED,),
            Command.CORRECT: (ENDED,),
            Command.REVEAL_RACK: (ENDED,),
        },
    }
)
"""The allowed commands by phase, and the phases that may follow each command."""

_REFUSAL_KEY_BY_PHASE = MappingProxyType(
    {LOBBY: "no-game", DRAWING: "draw-first", LOOKING: "busy", PAUSED: "paused", ENDED: "ended"}
)
_REFUSAL_KEY_BY_COMMAND = MappingProxyType(
    {
        Command.END_PAUSE: "not-paused",
        Command.ANSWER: "nothing-asked",
        Command.DRAW: "not-drawing",
        Command.CHALLENGE: "nothing-to-challenge",
    }
)


def find_refusal_key(phase: Phase, command: Command) -> str:
    """Return the key of the message that says why `command` is not allowed in a phase.

    A message can belong to a phase or to a command. In the lobby and while the board is read, the message of the phase
    is used. In other phases, the message of the command has precedence, but for a challenge that of the phase.
    """
    by_phase, by_command = _REFUSAL_KEY_BY_PHASE.get(phase, ""), _REFUSAL_KEY_BY_COMMAND.get(command, "")
    if phase in (LOBBY, LOOKING):
        return by_phase
    if command is Command.CHALLENGE:
        return by_phase or by_command
    return by_command or by_phase
