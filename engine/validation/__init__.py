"""Validate a turn before it is recorded: accept it, accept it with notices, or ask the players.

`validate_turn` runs small checks on a `Proposal`, once, when a turn enters, whatever its source. It never runs when
stored events are replayed: older games keep their totals.

>>> from engine.events import PlayMade
>>> from engine.game import Game
>>> from engine.plays import Play
>>> game = Game.start(("Anna", "Ben"))
>>> play = PlayMade(0, Play.from_gcg(game.board, "8A", "HORN", game.tiles))
>>> [str(finding.reason) for finding in validate_turn(Proposal(game, (play,), Source.HAND)).notices]
['centre-missed']
"""

from engine.validation.findings import (
    LOOK_AGAIN,
    Finding,
    Option,
    Proposal,
    QuestionHistory,
    Reason,
    Source,
    Verdict,
    WordList,
)
from engine.validation.validate import validate_turn

__all__ = [
    "LOOK_AGAIN",
    "Finding",
    "Option",
    "Proposal",
    "QuestionHistory",
    "Reason",
    "Source",
    "Verdict",
    "WordList",
    "validate_turn",
]
