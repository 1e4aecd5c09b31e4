"""Fit the weights of the evidence for blanks (python -m vision.training.fit_blanks).

A square without a letter is a blank or empty. There are four kinds of evidence: log-odds from the square network, the
letter network, the colours and the edges of the board. Their errors are correlated, so they are weighted. This script
reads rendered scenes that were not used in training, and fits the weights for `vision.recognition.fusion` by logistic
regression. It prints the weights, and the number of errors for each kind of evidence alone and for the first one, two,
three and four kinds together.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vision.geometry import Floats
from vision.recognition.alphabet import restrict_to_alphabet
from vision.recognition.fusion import collect_blank_evidence
from vision.recognition.letters import LetterNet
from vision.recognition.squares import SquareNet, find_likely_tiles
from vision.recognition.views import TilePoses
from vision.training import dataset
from vision.training.augmentation import MAX_READABLE_COVER
from vision.training.fit_tile_similarity import Choices, fit_weights
from vision.training.scenes import FIRST_UNSEEN_SCENE, extract_scenes

_MIN_SQUARE_PX: Final = 14.0
"""Minimum resolution of a scene, in pixels per square. On smaller squares, blanks cannot be recognised."""
_EVIDENCE_NAMES: Final = ("squares", "letters", "colours", "edges")
"""Names of the columns of `BlankEvidence.log_odds`."""


def collect_evidence(
    view: dataset.TrainingViews, square_net: SquareNet, letter_net: LetterNet
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the log-odds `(n, 4)` of the visible squares without a letter, and a mask `(n,)` of actual blanks."""
    seen = dataset.to_board_views(view)
    kinds = square_net.predict(seen.board).kinds_p
    cells = find_likely_tiles(kinds)
    within = letter_net.alphabet_matrix(
        [symbol for row in view.labels for symbol in row if symbol not in ("", "?")] or ["A"]
    )
    spots = TilePoses.at_centres(seen.tops, cells)
    _, looks = letter_net.recentre_tiles(spots, letter_net.predict(spots.cut_crops()))
    letters = restrict_to_alphabet(looks.letters, within)
    evidence = collect_blank_evidence(kinds, cells, letters, seen.board)
    truth = np.array([symbol for row in view.labels for symbol in row])
    known = np.isin(truth[evidence.squares], ["", "?"]) & (view.hidden.ravel()[evidence.squares] < MAX_READABLE_COVER)
    return evidence.log_odds[known], truth[evidence.squares][known] == "?"


def make_choices(odds: Floats, blank: NDArray[np.bool_]) -> Choices:
    """Convert log-odds `(n, features)` and true blanks `(n,)` to binary choices between empty and blank."""
    return Choices(np.stack([np.zeros_like(odds), odds], axis=1), np.zeros((len(odds), 2)), blank.astype(np.intp))


def main(argv: Sequence[str] | None = None) -> int:
    """Render and read scenes, fit the weights of the evidence, and print the weights and numbers of errors."""
    parser = argparse.ArgumentParser(
        prog="python -m vision.training.fit_blanks", description=str(__doc__).split("\n\n")[0]
    )
    parser.add_argument("--scenes", type=int, default=600, help="scenes to draw (default 600)")
    args = parser.parse_args(argv)
    nets = SquareNet(), LetterNet()
    drawn = extract_scenes(args.scenes, dataset.extract_views, first=FIRST_UNSEEN_SCENE, draw=dataset.draw_scene)
    parts = [collect_evidence(view, *nets) for view in drawn if view.square_px > _MIN_SQUARE_PX]
    odds, truth = np.concatenate([o for o, _ in parts]), np.concatenate([t for _, t in parts])
    print(f"{truth.sum()} blanks and {(~truth).sum()} bare squares without print that the reader asks about")
    for k, name in enumerate(_EVIDENCE_NAMES):
        spoke = odds[:, k] != 0
        alone, so_far = make_choices(odds[spoke, k : k + 1], truth[spoke]), make_choices(odds[:, : k + 1], truth)
        print(
            f"{name:8} alone {alone.count_errors(fit_weights([alone])):4} mistaken "
            f"of the {spoke.sum()} of which it speaks,"
            f" with those above {so_far.count_errors(fit_weights([so_far]))} of all"
        )
    print("count as " + ", ".join(f"{weight:.3f}" for weight in fit_weights([make_choices(odds, truth)])))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
