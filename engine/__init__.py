"""The rules of Scrabble and the course of a game, without pictures and I/O.

>>> import engine
>>> game = engine.Game.start(("Anna", "Ben"))
>>> play = engine.Play.from_gcg(game.board, "8F", "HORN", game.tiles)
>>> game.check_play(play) is engine.Status.VALID, game.score_play(play).total
(True, 14)
>>> game = game.push(engine.PlayMade(0, play))
>>> reading = engine.BoardReading.from_rows(game.board.with_tiles({114: engine.Tile("S")}).rows())
>>> inference = engine.infer_play(game, reading)
>>> [engine.to_json(event)["kind"] for event in inference.events]
['play']
>>> game.push(*inference.events).totals
(14, 8)

The modules in the order of their dependencies: `reading`, `tiles`, `board`, `plays` (values on the board), `rules`,
`scoring`, `events`, `state`, `ending`, `transitions`, `corrections`, `game` (the course of a game), and `inference/`
(from camera readings to plays). The package also has `blanks`, `descriptions` (turns in sentences), `lexicon` (word
lists) and `gcg/` (files of games).

Docstrings cite rules by number, such as rule 8 or Scoring 9. `engine.rules` lists the rule sheets with these numbers.
"""

from engine.board import Board, Layout, load_layout
from engine.errors import NotationError, RulesError
from engine.events import (
    BlankNamed,
    Challenged,
    Event,
    Exchanged,
    GameEnded,
    GameStarted,
    Passed,
    PlayMade,
    PlayWithdrawn,
    from_json,
    to_json,
)
from engine.game import Game
from engine.gcg import build_game, build_record, format_gcg, parse_gcg
from engine.inference import Explanation, Inference, ReadingHistory, infer_play
from engine.lexicon import Lexicon
from engine.plays import Play
from engine.reading import BoardReading, SquareReading
from engine.rules import STANDARD_RULES, Rules, rules_preset
from engine.scoring import PlayScore, Status
from engine.state import Turn, TurnKind
from engine.tiles import Tile, TileSet, load_tile_set

__all__ = [
    "STANDARD_RULES", "BlankNamed", "Board", "BoardReading", "Challenged", "Event", "Exchanged", "Explanation",
    "Game", "GameEnded", "GameStarted", "Inference", "Layout", "Lexicon", "NotationError", "Passed", "Play",
    "PlayMade", "PlayScore", "PlayWithdrawn", "ReadingHistory", "Rules", "RulesError", "SquareReading", "Status",
    "Tile", "TileSet", "Turn", "TurnKind", "build_game", "build_record", "format_gcg", "from_json", "infer_play",
    "load_layout", "load_tile_set", "parse_gcg", "rules_preset", "to_json",
]  # fmt: skip
