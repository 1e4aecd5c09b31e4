"""Fit the weights for comparing the tiles of a picture (python -m vision.training.fit_tile_similarity).

Reads the tiles of rendered scenes, each in one typeface of the families for calibration, which the network was not
trained on. Fits the weights of the features of `vision.recognition.similarity` by conditional logit. Other styles of
trained families would not do: a network's confidence in familiar typefaces needs no correction. Prints the weights, and
the errors: with each tile on its own, with the weights in the network's file, and with the new weights. `--write`
writes the new weights to the metadata of that file, as `python -m vision.training` does.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vision.geometry import Floats
from vision.net import MODELS_DIR
from vision.recognition.alphabet import letter_shape, restrict_to_alphabet
from vision.recognition.letters import (
    LETTER_CLASSES,
    SIMILARITY_KEY,
    LetterNet,
)
from vision.recognition.similarity import (
    compute_letter_evidence,
    estimate_lookalike_share,
    measure_unfamiliarity,
    spread_lookalikes,
)
from vision.recognition.views import TilePoses
from vision.rendering.fonts import select_supporting_fonts
from vision.rendering.scene import Scene
from vision.training import dataset
from vision.training.augmentation import MAX_READABLE_COVER
from vision.training.font_list import split_by_family, training_fonts
from vision.training.scenes import FIRST_UNSEEN_SCENE, extract_scenes

_NEWTON_STEPS: Final = 30
_RIDGE_PENALTY: Final = 1e-3
"""Coefficient of the L2 penalty, which keeps the weights finite if the data is separable."""


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """Data of n choices, each between the same number of alternatives."""

    features: Floats
    """`(n, alternatives, features)`: features of each alternative; the weights of the features are fitted."""
    base_logits: Floats
    """`(n, alternatives)`: fixed part of the logit of each alternative, to which the weighted features are added."""
    truth: NDArray[np.intp]
    """`(n,)`: index of the correct alternative."""

    def probabilities(self, weights: Floats) -> Floats:
        """Return the probability of each alternative, `(n, alternatives)`, for feature weights `(features,)`."""
        logs = self.base_logits + self.features @ weights
        raised = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(raised / raised.sum(axis=1, keepdims=True), np.float64)

    def count_errors(self, weights: Floats) -> int:
        """Return the number of choices in which the most probable alternative is not the correct one."""
        return int((self.probabilities(weights).argmax(axis=1) != self.truth).sum())


def fit_weights(several: Sequence[Choices]) -> Floats:
    """Return the feature weights `(features,)` that maximise the likelihood of the correct choices (Newton's method).

    McFadden, Conditional logit analysis of qualitative choice behavior, 1974; with two alternatives, this is logistic
    regression.
    """
    things = several[0].features.shape[2]
    weights = np.zeros(things)
    for _ in range(_NEWTON_STEPS):
        slope, bend = -_RIDGE_PENALTY * weights, _RIDGE_PENALTY * np.eye(things)
        for choices in several:
            p = choices.probabilities(weights)[:, :, None]
            usual = (p * choices.features).sum(axis=1)
            slope += (choices.features[np.arange(len(usual)), choices.truth] - usual).sum(axis=0)
            bend += np.einsum("nai,naj->ij", p * choices.features, choices.features) - usual.T @ usual
        weights += np.linalg.solve(bend, slope)
    return np.asarray(weights, np.float64)


SCENES: Final = 400
"""Number of scenes that are rendered for the fit."""
_SURE_P: Final = 0.99
_MIN_SQUARE_PX: Final = 14.0
"""Minimum resolution of a scene, in pixels per square. On smaller squares, letters are doubtful in all typefaces."""
_MIN_PROBABILITY: Final = 1e-9
"""Value added to probabilities before the logarithm, to keep it finite."""


@dataclass(frozen=True, slots=True, eq=False)
class SceneTiles:
    """Tiles of one scene whose letters are known."""

    choices: Choices
    """Choices between the letters, with their features."""
    lookalike_share: Floats
    """`(n,)`: result of `estimate_lookalike_share` for each tile."""

    def predict(self, weights: Floats) -> Floats:
        """Return the refined probability of each letter, `(n, letters)`, for feature weights `(features,)`."""
        return spread_lookalikes(self.choices.probabilities(weights), self.lookalike_share)


def collect_tiles(view: dataset.TrainingViews, net: LetterNet) -> SceneTiles | None:
    """Read the visible tiles of a view; return them with the features of all letters and the correct letters.

    The alternatives are the letters of the smallest tile set that contains all letters on the board. Returns None if
    there are fewer than two different letters, or if the network does not know one of the letters.
    """
    cells = [
        (r, c) for r, c in np.argwhere(view.hidden < MAX_READABLE_COVER).tolist() if view.labels[r][c] not in ("", "?")
    ]
    letters_on_board = {view.labels[r][c] for r, c in cells}
    if len(letters_on_board) < 2 or net.unsupported_tiles(letters_on_board):
        return None
    spots = TilePoses.at_centres(dataset.to_board_views(view).tops, cells)
    tiles = min((set(a) for a in dataset.alphabets() if letters_on_board <= set(a)), key=len, default=letters_on_board)
    within = net.alphabet_matrix(tiles)
    spots, looks = net.recentre_tiles(spots, net.predict(spots.cut_crops()))
    letters = np.flatnonzero(within.any(axis=0))[LETTER_CLASSES]
    logp = net.reread_unclear_tiles(spots, looks.letters, within)
    chances = restrict_to_alphabet(logp, within)[:, letters]
    chances /= chances.sum(axis=1, keepdims=True)
    names = [net.classes[k] for k in letters]
    truth = np.array([names.index(letter_shape(view.labels[r][c])) for r, c in cells])
    tile = np.ones(len(cells))
    evidence = compute_letter_evidence(chances, tile, looks.features)
    share = estimate_lookalike_share(measure_unfamiliarity(chances, tile))
    return SceneTiles(Choices(evidence, np.log(chances + _MIN_PROBABILITY), truth), share)


def draw_scene_in_one_face(rng: np.random.Generator, faces: tuple[Path, ...]) -> Scene:
    """Render a random scene in one of the `faces` that have all letters of the scene's alphabet."""
    while True:
        letters, weights = dataset.draw_letters(rng)
        if usable := select_supporting_fonts(faces, "".join(letters)):
            face = usable[int(rng.integers(len(usable)))]
            return dataset.render_letters(rng, letters, weights, (face,))


def collect_scenes(net: LetterNet, count: int, faces: tuple[Path, ...]) -> list[SceneTiles]:
    """Render `count` scenes with the typefaces `faces`; return the tiles of each scene that has any."""
    draw = partial(draw_scene_in_one_face, faces=faces)
    views = extract_scenes(count, dataset.extract_views, first=FIRST_UNSEEN_SCENE, draw=draw)
    scenes = (collect_tiles(view, net) for view in views if view.square_px >= _MIN_SQUARE_PX)
    return [tiles for tiles in scenes if tiles is not None]


def describe_errors(name: str, scenes: Sequence[SceneTiles], weights: Floats) -> str:
    """Return a line with the numbers of errors: among all tiles, and among tiles with a probability of 0.99 or more."""
    letters = [scene.predict(weights) for scene in scenes]
    p = np.concatenate([p.max(axis=1) for p in letters])
    wrong = np.concatenate([p.argmax(axis=1) != s.choices.truth for p, s in zip(letters, scenes, strict=True)])
    sure = p >= _SURE_P
    return f"{name}: {wrong.sum()} of {len(p)} tiles wrong; {(wrong & sure).sum()} of {sure.sum()} called at {_SURE_P}"


def fit_similarity(path: Path, count: int, faces: tuple[Path, ...]) -> tuple[Floats, str]:
    """Fit the similarity weights for the network `path` on `count` scenes; return them and a report.

    The weights multiply the three features of each letter from `compute_letter_evidence`. The report compares the
    errors without these features, with the weights in the network's file, and with the fitted weights.
    """
    net = LetterNet(path)
    scenes = collect_scenes(net, count, faces)
    weights = fit_weights([scene.choices for scene in scenes])
    no_weights, file_weights = np.zeros(len(weights)), np.array(net.similarity_weights)
    named = (("each tile alone", no_weights), ("weights of the file", file_weights), ("fitted weights", weights))
    lines = [describe_errors(name, scenes, w) for name, w in named]
    fitted = ", ".join(f"{weight:.3f}" for weight in weights)
    return weights, "\n".join([*lines, f"similarity, doubt, length: {fitted}"])


def write_similarity(path: Path, count: int, faces: tuple[Path, ...]) -> str:
    """Fit the similarity weights on `count` scenes, write them to the network `path`, and return a report."""
    from vision.training.quantise import add_facts  # needs onnx, which fitting does not

    weights, report = fit_similarity(path, count, faces)
    add_facts(path, {SIMILARITY_KEY: [round(float(weight), 4) for weight in weights]})
    return report


def main(argv: Sequence[str] | None = None) -> int:
    """Render and read scenes, fit the similarity weights, and print the weights with the numbers of errors."""
    parser = argparse.ArgumentParser(
        prog="python -m vision.training.fit_tile_similarity", description=str(__doc__).split("\n\n")[0]
    )
    parser.add_argument("--scenes", type=int, default=SCENES, help=f"scenes to draw (default {SCENES})")
    parser.add_argument("--model", type=Path, default=MODELS_DIR / "letters.onnx", help="file of the letter network")
    parser.add_argument("--write", action="store_true", help="write the weights to the file")
    args = parser.parse_args(argv)
    _, faces = split_by_family(training_fonts())
    if args.write:
        print(write_similarity(args.model, args.scenes, faces))
    else:
        print(fit_similarity(args.model, args.scenes, faces)[1])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
