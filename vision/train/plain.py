"""How much each witness counts where a square shows no print: python -m vision.train.plain

Whether such a square is a blank or bare is told by the network of squares, by that of letters and by the board's own
colours, which err alike. Reads rendered scenes that the networks have not seen, each tile at one look, and prints what
`vision.joined` is to take the witnesses for, by logistic regression, and how often each alone and all together are
mistaken.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import Floats, Image
from vision.joined import witnesses
from vision.letters import MARGIN as TOPS_EDGE
from vision.letters import SCALE as TOPS_SIDE
from vision.letters import LetterNet, among, crops
from vision.squares import MARGIN, SCALE, SquareNet, perhaps_tiles
from vision.train import views
from vision.train.looks import SEEN
from vision.train.scenes import kept_scenes

UNSEEN_FROM: Final = 6000
"""Number of the first scene that no network has learnt from."""
_SMALLEST: Final = 14.0
"""Pixels a square of pictures in which a blank can be told at all."""
_NAMES: Final = ("squares", "letters", "colours")


def _cut(view: Image, scale: int, margin: float, to_scale: int, to_margin: float) -> Image:
    """A kept view at the scale and with the margin of the reader's own."""
    edge = round((margin - to_margin) * scale)
    side = round((15 + 2 * to_margin) * to_scale)
    inner = view[edge : view.shape[0] - edge, edge : view.shape[1] - edge]
    return np.asarray(cv2.resize(inner, (side, side), interpolation=cv2.INTER_AREA), np.uint8)


def heard(view: views.Views, square_net: SquareNet, letter_net: LetterNet) -> tuple[Floats, NDArray[np.bool_]]:
    """What the witnesses say of the squares without print that are in sight, `(n, 3)`, and which are blanks."""
    board = _cut(view.board, views.BOARD_SCALE, views.BOARD_MARGIN, SCALE, MARGIN)
    tops = _cut(view.tops, views.TOPS_SCALE, views.TOPS_MARGIN, TOPS_SIDE, TOPS_EDGE)
    kinds = square_net.read(board)
    cells = perhaps_tiles(kinds)
    within = letter_net.within([symbol for row in view.labels for symbol in row if symbol not in ("", "?")] or ["A"])
    letters = among(letter_net.look(crops(tops, cells)).letters, within)
    said = witnesses(kinds, cells, letters, board)
    truth = np.array([symbol for row in view.labels for symbol in row])
    known = np.isin(truth[said.squares], ["", "?"]) & (view.hidden.ravel()[said.squares] < SEEN)
    return said.odds[known], truth[said.squares][known] == "?"


def logistic(odds: Floats, truth: NDArray[np.bool_], rounds: int = 30) -> Floats:
    """Weights of the columns of `odds`, then the constant, under which `truth` is likeliest (Newton's method)."""
    columns = np.column_stack([odds, np.ones(len(odds))])
    weights = np.zeros(columns.shape[1])
    for _ in range(rounds):
        p = 1 / (1 + np.exp(-columns @ weights))
        bend = (columns * (p * (1 - p))[:, None]).T @ columns + 1e-3 * np.eye(len(weights))
        weights += np.linalg.solve(bend, columns.T @ (truth - p) - 1e-3 * weights)
    return np.asarray(weights, np.float64)


def main(argv: Sequence[str] | None = None) -> int:
    """Draw, read, fit, print."""
    parser = argparse.ArgumentParser(prog="python -m vision.train.plain", description=str(__doc__).split("\n\n")[0])
    parser.add_argument("--scenes", type=int, default=600, help="scenes to draw (default 600)")
    args = parser.parse_args(argv)
    nets = SquareNet(), LetterNet()
    drawn = kept_scenes(args.scenes, views.keep, first=UNSEEN_FROM, draw=views.draw)
    parts = [heard(view, *nets) for view in drawn if view.side > _SMALLEST]
    odds, truth = np.concatenate([o for o, _ in parts]), np.concatenate([t for _, t in parts])
    print(f"{truth.sum()} blanks and {(~truth).sum()} bare squares without print that the reader asks about")
    for k, name in enumerate(_NAMES):
        alone = logistic(odds[:, k : k + 1], truth)
        print(f"{name:8} alone: {((odds[:, k] * alone[0] + alone[1] > 0) != truth).sum()} mistaken")
    weights = logistic(odds, truth)
    print(f"together: {((odds @ weights[:-1] + weights[-1] > 0) != truth).sum()} mistaken")
    print("count as " + ", ".join(f"{n} {w:.2f}" for n, w in zip((*_NAMES, "constant"), weights, strict=True)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
