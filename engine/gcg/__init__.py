"""GCG, the file format of recorded games: read it, write it, play it again, or go on with it as a `Game`.

>>> record = parse("#player1 A Ann\\n#player2 B Bob\\n>A: HORN 8F HORN +14 14\\n>B: FAM H6 FA.M +9 9\\n")
>>> [event.score for event in replay(record).events]
[14, 9]
>>> game_of(record).undo().totals
(14, 0)
"""

from engine.gcg.export import record_of
from engine.gcg.reader import parse
from engine.gcg.record import Entry, Player, Pragma, Problem, Rack, Record
from engine.gcg.replay import Replay, Replayed, replay
from engine.gcg.to_game import game_of
from engine.gcg.writer import nickname, write
from engine.turns import Kind

__all__ = [
    "Entry",
    "Kind",
    "Player",
    "Pragma",
    "Problem",
    "Rack",
    "Record",
    "Replay",
    "Replayed",
    "game_of",
    "nickname",
    "parse",
    "record_of",
    "replay",
    "write",
]
