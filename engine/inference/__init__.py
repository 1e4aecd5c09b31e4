"""Infer the play from readings of the board.

`infer_play` is the entry point. The function aligns the reading with the recorded board (`alignment`), computes
likelihoods from this reading (`evidence`) and earlier ones (`history`), finds the plays that are possible
(`placements`), generates hypotheses (`hypotheses`, `log_priors`) and returns the explanations in order of probability
(`explain`).

Docstrings use these terms:

- Old tile: a tile that was already on the recorded board before the reading.
- New tile: a tile in the reading that was not on the recorded board.
- Lettering: an assignment of tiles to the squares of a play.
"""

from engine.inference.explain import Explanation, Inference, infer_play
from engine.inference.history import ReadingHistory

__all__ = ["Explanation", "Inference", "ReadingHistory", "infer_play"]
