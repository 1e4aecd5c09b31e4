"""Read, write and replay GCG, the file format of recorded Scrabble games, and convert GCG records to a `Game`.

>>> record = parse_gcg("#player1 A Ann\\n#player2 B Bob\\n>A: HORN 8F HORN +14 14\\n>B: FAM H6 FA.M +9 9\\n")
>>> [event.score for event in replay(record).events]
[14, 9]
>>> build_game(record).totals
(14, 9)
"""

from engine.gcg.export import build_game, build_record
from engine.gcg.record import Entry, Player, Pragma, Problem, Rack, Record, format_gcg, make_nickname, parse_gcg
from engine.gcg.replay import Replay, ReplayedEvent, replay
from engine.state import TurnKind

__all__ = [
    "Entry", "Player", "Pragma", "Problem", "Rack", "Record", "Replay", "ReplayedEvent", "TurnKind", "build_game",
    "build_record", "format_gcg", "make_nickname", "parse_gcg", "replay",
]  # fmt: skip
