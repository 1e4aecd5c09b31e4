"""Infer what was played from readings of the board.

`infer_play` is the entry: it aligns and weighs the reading (`history`), finds the plays that it may show
(`placements`), generates hypotheses (`hypotheses`) and returns the explanations in order of likelihood (`explain`).

An old tile was on the recorded board before the reading, a new tile was not. A lettering is an assignment of tiles to
the squares of a play.
"""

from engine.inference.explain import Explanation, Inference, infer_play
from engine.inference.history import ReadingHistory

__all__ = ["Explanation", "Inference", "ReadingHistory", "infer_play"]
