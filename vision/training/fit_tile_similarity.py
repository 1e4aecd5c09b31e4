"""Fit the weights of the similarity between tiles (python -m vision.training.fit_tile_similarity).

Reads the tiles of rendered scenes that were not used in training, and fits the weights of similarity and doubt for
`vision.recognition.letters` by conditional logit. Prints the weights, and the number of errors without and with the
refinement.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Final

import numpy as np

from vision.recognition.letters import (
    LETTER_CLASSES,
    LetterNet,
    compute_letter_evidence,
    letter_shape,
    restrict_to_alphabet,
)
from vision.recognition.views import TilePoses
from vision.training import dataset
from vision.training.augmentation import MAX_READABLE_COVER
from vision.training.conditional_logit import Choices, fit_weights
from vision.training.scenes import FIRST_UNSEEN_SCENE, extract_scenes

_MIN_PROBABILITY: Final = 1e-9
"""Value added to probabilities, to keep logarithms finite."""


def collect_choices(view: dataset.TrainingViews, net: LetterNet) -> Choices | None:
    """Read the visible tiles of a view; return the choice of a letter for each tile, with its features and the truth.

    The alternatives are the letters of the smallest tile set that contains all letters on the board. Returns None if
    there are fewer than two different letters.
    """
    cells = [
        (r, c) for r, c in np.argwhere(view.hidden < MAX_READABLE_COVER).tolist() if view.labels[r][c] not in ("", "?")
    ]
    letters_on_board = {view.labels[r][c] for r, c in cells}
    if len(letters_on_board) < 2:
        return None
    spots = TilePoses.at_centres(dataset.to_board_views(view).tops, cells)
    tiles = min((set(a) for a in dataset.alphabets() if letters_on_board <= set(a)), key=len, default=letters_on_board)
    within = net.alphabet_matrix(tiles)
    spots, looks = net.recentre_tiles(spots, net.predict(spots.cut_crops()))
    letters = np.flatnonzero(within.any(axis=0))[LETTER_CLASSES]
    chances = restrict_to_alphabet(net.predict_augmented(spots, looks.letters, within), within)[:, letters]
    chances /= chances.sum(axis=1, keepdims=True)
    names = [net.classes[k] for k in letters]
    truth = np.array([names.index(letter_shape(view.labels[r][c])) for r, c in cells])
    return Choices(
        compute_letter_evidence(chances, np.ones(len(cells)), looks.features), np.log(chances + _MIN_PROBABILITY), truth
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Render and read scenes, fit the weights of similarity and doubt, and print the weights and numbers of errors."""
    parser = argparse.ArgumentParser(
        prog="python -m vision.training.fit_tile_similarity", description=str(__doc__).split("\n\n")[0]
    )
    parser.add_argument("--scenes", type=int, default=600, help="scenes to draw (default 600)")
    args = parser.parse_args(argv)
    net = LetterNet()
    drawn = extract_scenes(args.scenes, dataset.extract_views, first=FIRST_UNSEEN_SCENE, draw=dataset.draw_scene)
    scenes = [choices for choices in (collect_choices(view, net) for view in drawn) if choices is not None]
    weights = fit_weights(scenes)
    print(f"{sum(len(s.truth) for s in scenes)} tiles in {len(scenes)} scenes")
    for what, count in (("by themselves", np.zeros(2)), ("and by others", weights)):
        print(f"{what}: {sum(s.count_errors(count) for s in scenes)} mistaken")
    print("likeness counts {:.2f}, what the network says times the others' further doubt {:.3f}".format(*weights))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
