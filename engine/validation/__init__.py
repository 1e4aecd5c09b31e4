"""Validate a turn before it is recorded: accept it, accept it with notices, or ask the players.

`validate_turn` runs a series of checks on a `Proposal` before a turn from the camera, a player or an import is
recorded. The checks do not run when stored events are replayed, so older games keep their totals.

>>> from engine.events import PlayMade
>>> from engine.game import Game
>>> from engine.ledger import Source
>>> from engine.plays import Play
>>> game = Game.start(("Anna", "Ben"))
>>> play = PlayMade(0, Play.from_gcg(game.board, "8A", "HORN", game.tiles))
>>> [str(finding.reason) for finding in validate_turn(Proposal(game, (play,), Source.HAND)).notices]
['centre-missed']
"""

from engine.validation.findings import (
    LOOK_AGAIN,
    PRESSED_BY_MISTAKE,
    Finding,
    Option,
    Proposal,
    QuestionHistory,
    Reason,
    ValidationResult,
)
from engine.validation.validate import validate_turn

__all__ = [
    "LOOK_AGAIN",
    "PRESSED_BY_MISTAKE",
    "Finding",
    "Option",
    "Proposal",
    "QuestionHistory",
    "Reason",
    "ValidationResult",
    "validate_turn",
]
