"""Infer the play from readings of the board.

`infer_play` is the entry point. It explains all observations since the settled board together, by one story: the
recorded turns as they are or as they were changed, and the new plays. The function aligns the reading with the recorded
board (`alignment`), computes likelihoods of this reading (`evidence`) and of the earlier observations (`history`),
finds the plays that are possible (`placements`) and how recorded plays may have changed (`revisions`), generates
hypotheses (`hypotheses`, with the priors of all slips in `log_priors`), and returns the explanations in order of
probability (`explain`).

Docstrings use these terms:

- Observation: a reading of the board, at a press or at rest. Settled board: the board before the newest two recorded
  plays, which later readings do not explain in another way.
- Story: one explanation of all observations since the settled board.
- Old tile: a tile that was already on the recorded board before the reading.
- New tile: a tile in the reading that was not on the recorded board.
- Lettering: an assignment of tiles to the squares of a play.
"""

from engine.inference.explain import Explanation, Inference, infer_play
from engine.inference.history import ReadingHistory

__all__ = ["Explanation", "Inference", "ReadingHistory", "infer_play"]
