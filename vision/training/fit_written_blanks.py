"""Fit the weights of the evidence for written blanks (python -m vision.training.fit_written_blanks).

A tile that looks like a letter may be a blank on which a player has written the letter. This script reads rendered
boards with values, on which letters in handwritten typefaces are written on blanks, and fits the weights for
`vision.recognition.written_blanks` by logistic regression. It prints the weights, and how many tiles are right without
and with them.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.reading import BLANK
from engine.tiles import load_tile_set
from vision.geometry import Floats, estimate_board_pose
from vision.recognition.alphabet import restrict_to_alphabet
from vision.recognition.details import DetailNet, cut_detail_crops, measure_missing_values
from vision.recognition.letters import BLANK_CLASS, LETTER_CLASSES, LetterNet
from vision.recognition.memory import TileTable
from vision.recognition.similarity import refine_by_similarity
from vision.recognition.squares import SquareNet, find_likely_tiles
from vision.recognition.views import TILE_KIND, TilePoses, rectify_board, rectify_tops
from vision.recognition.written_blanks import find_unlike_tiles, measure_prints, measure_written_evidence
from vision.rendering.camera import measure_square
from vision.rendering.scene import Scene, compose_scene
from vision.training.augmentation import MAX_READABLE_COVER
from vision.training.fit_blanks import make_choices
from vision.training.fit_tile_similarity import fit_weights
from vision.training.font_list import SHARE_ROOT, load_training_fonts
from vision.training.random_scenes import clear_light, random_labels, random_setting

_MIN_SQUARE_PX: Final = 18.0
_LANGUAGE: Final = "en"
_BLANKS: Final = 2


def draw_scene(rng: np.random.Generator, fonts: tuple[Path, ...], hands: tuple[Path, ...]) -> Scene:
    """Render a board of a set with values, with `_BLANKS` blanks on which a letter is written."""
    tiles = load_tile_set(_LANGUAGE)
    counts = np.array([tiles.counts[letter] for letter in tiles.letters], np.float64)
    setting = random_setting(rng, fonts, pencil_fonts=hands)
    while measure_square(setting.camera) < _MIN_SQUARE_PX:
        setting = random_setting(rng, fonts, pencil_fonts=hands)
    style = setting.tile_style
    style = replace(style, blank="pencil", value_height=style.value_height or 0.16)
    labels = random_labels(rng, tiles.letters, counts / counts.sum(), float(rng.uniform(0.05, 0.45)))
    for at in rng.permutation(len(labels))[:_BLANKS]:
        labels[list(labels)[int(at)]] = BLANK
    light = clear_light(setting.light, setting.camera)
    return compose_scene(rng, replace(setting, tile_style=style, light=light), labels)


def collect_evidence(
    scene: Scene, square_net: SquareNet, letter_net: LetterNet, detail_net: DetailNet
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the evidence `(n, 6)` of the tiles of a scene whose value is read, and the mask `(n,)` of blanks."""
    pose = estimate_board_pose(scene.corners, (scene.image.shape[1], scene.image.shape[0]))
    kinds_p = square_net.predict(rectify_board(scene.image, pose)).kinds_p
    spots = TilePoses.at_centres(rectify_tops(scene.image, pose), find_likely_tiles(kinds_p))
    spots, predictions = letter_net.recentre_tiles(spots, letter_net.predict(spots.cut_crops()))
    alphabet = letter_net.alphabet_matrix(load_tile_set(_LANGUAGE).letters)
    letters_logp = letter_net.reread_unclear_tiles(spots, predictions.letters, alphabet)
    tile_p = np.array([kinds_p[cell][TILE_KIND] for cell in spots.cells])
    letters_p = refine_by_similarity(
        restrict_to_alphabet(letters_logp, alphabet), tile_p, predictions.features, letter_net.similarity_weights
    )
    prints, value_nats = measure_prints(spots.cut_crops()), np.full(len(tile_p), np.nan)
    table = TileTable(spots, tile_p, letters_logp, predictions.turns, predictions.features, value_nats, prints)
    rows = np.flatnonzero(find_unlike_tiles(letters_p, table))
    cells = [spots.cells[row] for row in rows.tolist()]
    _, values_logp = detail_net.predict(cut_detail_crops(scene.image, pose, cells, spots.poses[rows]))
    value_nats[rows] = measure_missing_values(values_logp)
    evidence = measure_written_evidence(letters_p, table)
    truth = [scene.labels[row][column] for row, column in spots.cells]
    best = letters_p[:, LETTER_CLASSES].argmax(axis=1) + LETTER_CLASSES.start
    is_known = ~np.isnan(value_nats)
    is_known &= np.array([t == BLANK or t == letter_net.classes[k] for t, k in zip(truth, best, strict=True)])
    is_known &= np.array([scene.hidden[cell] < MAX_READABLE_COVER for cell in spots.cells])
    is_known &= letters_p[:, LETTER_CLASSES].max(axis=1) + letters_p[:, BLANK_CLASS] > 0.5
    is_blank = np.array([t == BLANK for t in truth])
    return evidence[is_known], is_blank[is_known]


def draw_evidence(count: int, root: Path) -> Iterator[tuple[Floats, NDArray[np.bool_]]]:
    """Yield the evidence of `count` scenes in typefaces that are kept for calibration."""
    kept = [font for font in load_training_fonts() if font.calibration and (root / font.file).exists()]
    hands = tuple(root / font.file for font in kept if font.kind in ("handwritten", "script"))
    fonts = tuple(root / font.file for font in kept if font.kind not in ("handwritten", "script", "display"))
    nets = SquareNet(), LetterNet(), DetailNet()
    for number in range(count):
        scene = draw_scene(np.random.default_rng((11, number)), fonts, hands)
        if any(any(row) for row in scene.labels):
            yield collect_evidence(scene, *nets)


def main(argv: Sequence[str] | None = None) -> int:
    """Render and read scenes, fit the weights, and print them."""
    parser = argparse.ArgumentParser(
        prog="python -m vision.training.fit_written_blanks", description=str(__doc__).split("\n\n")[0]
    )
    parser.add_argument("--scenes", type=int, default=400, help="scenes to draw (default 400)")
    parser.add_argument("--share", type=Path, default=SHARE_ROOT, help="folder with fonts/ (default: /usr/share)")
    args = parser.parse_args(argv)
    evidence, is_blank = map(np.concatenate, zip(*draw_evidence(args.scenes, args.share), strict=True))
    choices = make_choices(evidence, is_blank)
    weights = fit_weights([choices])
    alone = int(((evidence[:, 0] > 0) != is_blank).sum())
    print(f"{is_blank.sum()} written blanks and {(~is_blank).sum()} letters")
    print("weights " + ", ".join(f"{weight:.2f}" for weight in weights))
    print(f"wrong without the weights {alone}, with them {choices.count_errors(weights)}")
    read = choices.probabilities(weights)[:, 1]
    print(f"blanks read as blanks {100 * (read[is_blank] > 0.5).mean():.1f} %, letters {(read[~is_blank] > 0.5).sum()}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
