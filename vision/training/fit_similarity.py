"""How much it counts that tiles look alike: python -m vision.training.fit_similarity

Reads the tiles of rendered scenes that the networks have not seen, each by itself, and prints what
`vision.recognition.tile_similarity` is to take their likeness to each other and their doubt for, by conditional
logit, and how many are mistaken before and after.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Final

import numpy as np

from vision.recognition.alphabets import shape
from vision.recognition.letters import LETTERED, LetterNet, among
from vision.recognition.tile_crops import Spots
from vision.recognition.tile_similarity import said
from vision.training import dataset
from vision.training.augmentation import SEEN
from vision.training.logit import Choices, worth
from vision.training.scenes import UNSEEN_FROM, kept_scenes

_LEAST: Final = 1e-9
"""No letter is less probable than this, so that no logarithm is endless."""


def heard(view: dataset.Views, net: LetterNet) -> Choices | None:
    """The choice of a letter for each tile in sight, among those of the smallest tile set that has them all.

    None where there are no two letters to compare.
    """
    cells = [(r, c) for r, c in np.argwhere(view.hidden < SEEN).tolist() if view.labels[r][c] not in ("", "?")]
    lie = {view.labels[r][c] for r, c in cells}
    if len(lie) < 2:
        return None
    spots = Spots.on(dataset.as_read(view).tops, cells)
    tiles = min((set(a) for a in dataset.alphabets() if lie <= set(a)), key=len, default=lie)
    within = net.within(tiles)
    spots, looks = net.centred(spots, net.look(spots.crops()))
    letters = np.flatnonzero(within.any(axis=0))[LETTERED]
    chances = among(net.look_again(spots, looks.letters, within), within)[:, letters]
    chances /= chances.sum(axis=1, keepdims=True)
    names = [net.classes[k] for k in letters]
    truth = np.array([names.index(shape(view.labels[r][c])) for r, c in cells])
    return Choices(said(chances, np.ones(len(cells)), looks.features), np.log(chances + _LEAST), truth)


def main(argv: Sequence[str] | None = None) -> int:
    """Draw, read, fit, print."""
    parser = argparse.ArgumentParser(
        prog="python -m vision.training.fit_similarity", description=str(__doc__).split("\n\n")[0]
    )
    parser.add_argument("--scenes", type=int, default=600, help="scenes to draw (default 600)")
    args = parser.parse_args(argv)
    net = LetterNet()
    drawn = kept_scenes(args.scenes, dataset.keep, first=UNSEEN_FROM, draw=dataset.draw)
    scenes = [choices for choices in (heard(view, net) for view in drawn) if choices is not None]
    weights = worth(scenes)
    print(f"{sum(len(s.truth) for s in scenes)} tiles in {len(scenes)} scenes")
    for what, count in (("by themselves", np.zeros(2)), ("and by others", weights)):
        print(f"{what}: {sum(s.mistaken(count) for s in scenes)} mistaken")
    print("likeness counts {:.2f}, what the network says times the others' further doubt {:.3f}".format(*weights))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
