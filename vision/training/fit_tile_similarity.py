"""Fit the weights for comparing the tiles of a picture (python -m vision.training.fit_tile_similarity).

Reads the tiles of rendered scenes, each in one typeface that no training uses (`UNFAMILIAR_FONTS`). Fits the weights of
similarity, doubt and foreign letters for `vision.recognition.similarity` by conditional logit. Unfamiliar typefaces are
needed, because a network's confidence in familiar ones needs no correction. Prints the weights, and the errors: with
each tile on its own, with the weights in the network's file, and with the new weights. `--write` writes the new weights
to the metadata of that file, as `python -m vision.training` does.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from vision.geometry import Floats
from vision.net import MODELS_DIR
from vision.recognition.letters import (
    LETTER_CLASSES,
    SIMILARITY_KEY,
    LetterNet,
    letter_shape,
    restrict_to_alphabet,
)
from vision.recognition.similarity import compute_letter_evidence, measure_foreign_nats
from vision.recognition.views import TilePoses
from vision.rendering.fonts import select_supporting_fonts
from vision.rendering.scene import Scene
from vision.training import dataset
from vision.training.augmentation import MAX_READABLE_COVER
from vision.training.conditional_logit import Choices, fit_weights
from vision.training.font_list import installed_fonts
from vision.training.scenes import FIRST_UNSEEN_SCENE, extract_scenes

SCENES: Final = 400
"""Number of scenes that are rendered for the fit."""
_SURE_P: Final = 0.99

UNFAMILIAR_FONTS: Final = {
    "fonts-adf-gillius": ("truetype/adf/GilliusADF-BoldCond.otf",),
    "fonts-allerta": ("opentype/allerta/allerta_stencil.otf",),
    "fonts-bebas-neue": ("opentype/bebas-neue/BebasNeue-Book.otf",),
    "fonts-breip": ("truetype/breip/breipfont.ttf",),
    "fonts-comic-neue": ("opentype/comic-neue/ComicNeue-BoldItalic.otf",),
    "fonts-crosextra-caladea": ("truetype/crosextra/Caladea-BoldItalic.ttf",),
    "fonts-dejavu-core": ("truetype/dejavu/DejaVuSansMono-Bold.ttf",),
    "fonts-dejavu-extra": ("truetype/dejavu/DejaVuSerifCondensed-Bold.ttf",),
    "fonts-dosis": ("opentype/dosis/Dosis-ExtraLight.otf",),
    "fonts-freefont-ttf": ("truetype/freefont/FreeMono.ttf", "truetype/freefont/FreeSerif.ttf"),
    "fonts-go": ("fonts-go/Go-Smallcaps-Italic.ttf",),
    "fonts-inter": ("opentype/inter/Inter-Black.otf",),
    "fonts-liberation": ("truetype/liberation/LiberationSerif-Italic.ttf",),
    "fonts-linuxlibertine": (
        "opentype/linux-libertine/LinLibertine_DR.otf",
        "opentype/linux-libertine/LinLibertine_M.otf",
        "opentype/linux-libertine/LinLibertine_R.otf",
        "opentype/linux-libertine/LinLibertine_RB.otf",
        "opentype/linux-libertine/LinLibertine_RBI.otf",
    ),
    "fonts-mplus": ("opentype/mplus/MplusCode50-Bold.otf",),
    "fonts-ocr-b": ("opentype/ocr-b/OCRBE.otf",),
    "fonts-paratype": ("truetype/paratype/PTF56F.ttf", "truetype/paratype/PTF76F.ttf"),
    "fonts-roadgeek": ("truetype/roadgeek/RG2014EM.ttf",),
    "fonts-tiresias": ("truetype/tiresias/tirekv__.ttf",),
    "fonts-tuffy": ("truetype/tuffy/Tuffy_Bold_Italic.ttf",),
    "fonts-urw-base35": (
        "opentype/urw-base35/C059-BdIta.otf",
        "opentype/urw-base35/C059-Roman.otf",
        "opentype/urw-base35/NimbusMonoPS-BoldItalic.otf",
        "opentype/urw-base35/NimbusRoman-BoldItalic.otf",
        "opentype/urw-base35/P052-BoldItalic.otf",
        "opentype/urw-base35/URWBookman-DemiItalic.otf",
        "opentype/urw-base35/URWBookman-Light.otf",
    ),
    "fonts-vollkorn": ("truetype/vollkorn/Vollkorn-Black.ttf",),
}
"""Font files that no training uses, by Debian package: other styles of trained families, and a few other families."""
_MIN_SQUARE_PX: Final = 14.0
"""Minimum resolution of a scene, in pixels per square. On smaller squares, letters are doubtful in all typefaces."""
_MIN_PROBABILITY: Final = 1e-9
"""Value added to probabilities before the logarithm, to keep it finite."""


def collect_choices(view: dataset.TrainingViews, net: LetterNet) -> Choices | None:
    """Read the visible tiles of a view; return the choices between letters, with features and the correct letters.

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
    logp = net.predict_augmented(spots, looks.letters, within)
    chances = restrict_to_alphabet(logp, within)[:, letters]
    chances /= chances.sum(axis=1, keepdims=True)
    names = [net.classes[k] for k in letters]
    truth = np.array([names.index(letter_shape(view.labels[r][c])) for r, c in cells])
    foreign = measure_foreign_nats(logp, within)
    evidence = compute_letter_evidence(chances, np.ones(len(cells)), looks.features, foreign)
    return Choices(evidence, np.log(chances + _MIN_PROBABILITY), truth)


def draw_scene_in_one_face(rng: np.random.Generator, faces: tuple[Path, ...]) -> Scene:
    """Render a random scene in one of `faces` that has all the letters of the scene."""
    while True:
        face = faces[int(rng.integers(len(faces)))]
        scene = dataset.draw_scene(rng, (face,))
        if select_supporting_fonts((face,), "".join(map("".join, scene.labels)).replace("?", "")):
            return scene


def collect_scenes(net: LetterNet, count: int, faces: tuple[Path, ...]) -> list[Choices]:
    """Render `count` scenes with the typefaces `faces`; return the choices of each scene that has any."""
    draw = partial(draw_scene_in_one_face, faces=faces)
    views = extract_scenes(count, dataset.extract_views, first=FIRST_UNSEEN_SCENE, draw=draw)
    scenes = (collect_choices(view, net) for view in views if view.square_px >= _MIN_SQUARE_PX)
    return [choices for choices in scenes if choices is not None]


def describe_errors(name: str, scenes: Sequence[Choices], weights: Floats) -> str:
    """Return a line with the numbers of errors: among all tiles, and among tiles with a probability of 0.99 or more."""
    p = np.concatenate([choices.probabilities(weights).max(axis=1) for choices in scenes])
    wrong = np.concatenate([choices.probabilities(weights).argmax(axis=1) != choices.truth for choices in scenes])
    sure = p >= _SURE_P
    return f"{name}: {wrong.sum()} of {len(p)} tiles wrong; {(wrong & sure).sum()} of {sure.sum()} called at {_SURE_P}"


def fit_similarity(path: Path, count: int, faces: tuple[Path, ...]) -> tuple[Floats, str]:
    """Fit the similarity weights for the network `path` on `count` scenes; return them and a report."""
    net = LetterNet(path)
    scenes = collect_scenes(net, count, faces)
    weights = fit_weights(scenes)
    before, now = np.zeros(len(weights)), np.array(net.similarity_weights)
    named = (("each tile alone", before), ("weights of the file", now), ("fitted weights", weights))
    lines = [describe_errors(name, scenes, w) for name, w in named]
    fitted = ", ".join(f"{weight:.3f}" for weight in weights)
    return weights, "\n".join([*lines, f"similarity, doubt, foreign letters: {fitted}"])


def write_similarity(path: Path, count: int = SCENES, faces: tuple[Path, ...] | None = None) -> str:
    """Fit the similarity weights and write them to the metadata of the network `path`; return a report.

    `faces` are by default `UNFAMILIAR_FONTS`.
    """
    from vision.training.metadata import add_facts  # needs onnx, which fitting does not

    weights, report = fit_similarity(path, count, faces or installed_fonts(UNFAMILIAR_FONTS))
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
    if args.write:
        print(write_similarity(args.model, args.scenes))
    else:
        print(fit_similarity(args.model, args.scenes, installed_fonts(UNFAMILIAR_FONTS))[1])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
