"""Training data of the square and letter networks: rectified views of rendered scenes with their ground truth.

Two views of each scene are kept: the board (in colour, at half the height of the tiles) and the plane of the tile tops
(in grey). Both have a higher resolution than the networks' input, and the board has a wider margin. So they can be
shifted, rotated, stretched and blurred for augmentation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.reading import BLANK, BOARD_SIZE, EMPTY
from engine.tiles import load_tile_set, tile_set_names
from vision.geometry import TILE_HEIGHT_SQUARES, Image, estimate_board_pose, project, rectify, square_side
from vision.recognition import views
from vision.recognition.alphabet import letter_shape
from vision.recognition.views import BoardViews
from vision.rendering.scene import Scene
from vision.training.font_list import select_handwritten_fonts, training_fonts
from vision.training.random_scenes import random_scene

BOARD_SQUARE_PX: Final = 24
"""Resolution of the rectified board, in pixels per square."""
BOARD_MARGIN: Final = 2
"""Margin of the rectified board, in squares."""
TOPS_SQUARE_PX: Final = 36
"""Resolution of the rectified plane of the tile tops, in pixels per square."""
TOPS_MARGIN: Final = 0.5
"""Margin of the rectified plane of the tile tops, in squares."""
CORNER_ERROR_SQUARES: Final = 0.05
"""Standard deviation, in squares, of the random errors of the corners used for rectification."""
LETTERS: Final = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
"""The basic Latin letters."""
GLYPH_VARIANTS: Final = {"ϒ": "Υ"}
"""Characters that are another form of a letter in many fonts, with this letter: the Greek upsilon may have hooks."""
VARIANT_RATE: Final = 0.5
"""Share of the Greek scenes with letters from `GLYPH_VARIANTS`."""


@dataclass(frozen=True, slots=True, eq=False)
class TrainingViews:
    """Rectified views of one rendered scene, with ground truth for each square."""

    board: Image
    """`(456, 456, 3) uint8 BGR`, rectified at half the height of the tiles."""
    tops: Image
    """`(576, 576) uint8`, rectified at the height of the tile tops."""
    labels: tuple[tuple[str, ...], ...]
    """15 x 15 true symbols: '' empty, '?' blank, otherwise the letter."""
    hidden: NDArray[np.float32]
    """`(15, 15)`: share (0..1) of each square that is covered by a hand or outside the picture."""
    square_px: float
    """Mean side of a square in the rendered picture, in px."""
    centres: NDArray[np.float32]
    """`(15, 15, 2)`: centre (x, y) of each tile's top in board coordinates (squares); NaN without a tile."""
    tile_angles: NDArray[np.float32]
    """`(15, 15)`: clockwise rotation of each tile on its square, in radians; NaN without a tile."""


@lru_cache(maxsize=1)
def alphabets() -> tuple[tuple[str, ...], ...]:
    """Return the distinct alphabets of all tile sets that the renderer draws, each as a tuple of letters.

    These are the Latin, Cyrillic and Greek sets.
    """
    sets = map(load_tile_set, tile_set_names())
    return tuple(dict.fromkeys(tuple(tiles.letters) for tiles in sets if not tiles.right_to_left))


def is_latin(alphabet: Sequence[str]) -> bool:
    """Return True if an alphabet is Latin: only Latin alphabets have the letter E."""
    return "E" in alphabet


@lru_cache(maxsize=1)
def classes() -> tuple[str, ...]:
    """Return the classes of the letter network: no tile, blank, A to Z, then the shapes of all other letters."""
    beyond = {letter_shape(t) for alphabet in alphabets() for t in alphabet} - set(LETTERS)
    return (EMPTY, BLANK, *LETTERS, *sorted(beyond))


def alphabet_masks() -> NDArray[np.bool_]:
    """Return a mask `(alphabets, classes)` that is True for the classes that occur in each alphabet."""
    names = classes()
    rows = [{EMPTY, BLANK, *map(letter_shape, alphabet)} for alphabet in alphabets()]
    return np.array([[name in row for name in names] for row in rows])


def draw_letters(rng: np.random.Generator) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Draw a random kind of alphabet; return its letters and their relative frequencies.

    The letters are A to Z; or A to Z and the additional letters of a Latin alphabet; or the letters of a non-Latin
    alphabet, some of them in another form (`GLYPH_VARIANTS`).
    """
    letters: tuple[str, ...] = LETTERS
    weights = [1.0] * len(LETTERS)
    kind = rng.random()
    if kind > 0.45:
        alphabet_choices = [a for a in alphabets() if is_latin(a) == (kind < 0.84) and not set(a) <= set(LETTERS)]
        alphabet = alphabet_choices[int(rng.integers(len(alphabet_choices)))]
        own = tuple(t for t in alphabet if t not in LETTERS)
        if not set(own).isdisjoint(GLYPH_VARIANTS.values()) and rng.random() < VARIANT_RATE:
            variants = {letter: variant for variant, letter in GLYPH_VARIANTS.items()}
            own = tuple(variants.get(t, t) for t in own)
        if is_latin(alphabet):
            letters += own
            weights += [0.35 * 27 / len(own) ** 0.5 / 2] * len(own)
        else:
            letters, weights = own, [1.0 if letter_shape(t) in LETTERS else 2.0 for t in own]
    return letters, tuple(weights)


def draw_scene(rng: np.random.Generator, fonts: tuple[Path, ...] | None = None) -> Scene:
    """Render a random scene, with letters from `draw_letters`.

    The font is one of `fonts`, by default of all fonts of the training data.
    """
    return render_letters(rng, *draw_letters(rng), fonts or training_fonts())


def render_letters(
    rng: np.random.Generator, letters: tuple[str, ...], weights: tuple[float, ...], fonts: tuple[Path, ...]
) -> Scene:
    """Render a random scene with blanks and with `letters` of the relative frequencies `weights`, in one of `fonts`."""
    # Add more blanks than in a real set: they are the most difficult tiles to distinguish from empty squares.
    chances = (*weights, 0.12 * sum(weights))
    return random_scene(rng, fonts, (*letters, BLANK), chances, select_handwritten_fonts(fonts))


def extract_views(scene: Scene, number: int) -> TrainingViews:
    """Rectify the views of scene `number`, with random errors of the corners like those of the board detector.

    The number is the seed of the errors.
    """
    rng = np.random.default_rng(number)
    side = square_side(scene.corners)
    corners = scene.corners + rng.normal(0, CORNER_ERROR_SQUARES * side, (4, 2))
    height, width = scene.image.shape[:2]
    pose = estimate_board_pose(corners, (width, height))
    lift = TILE_HEIGHT_SQUARES * float(rng.uniform(0.8, 1.2))
    plane = pose.plane_homography(lift)
    grey = np.asarray(cv2.cvtColor(scene.image, cv2.COLOR_BGR2GRAY), np.uint8)
    centres, rights = (project(np.linalg.inv(plane), points) for points in (scene.centres, scene.right_edges))
    right, down = np.moveaxis(rights - centres, -1, 0)
    return TrainingViews(
        board=rectify(scene.image, pose.plane_homography(views.VIEW_HEIGHT_SQUARES), BOARD_SQUARE_PX, BOARD_MARGIN),
        tops=rectify(grey, plane, TOPS_SQUARE_PX, TOPS_MARGIN),
        labels=tuple(tuple(GLYPH_VARIANTS.get(s, s) for s in row) for row in scene.labels),
        hidden=scene.hidden.astype(np.float32),
        square_px=side,
        centres=centres.astype(np.float32),
        tile_angles=np.arctan2(down, right).astype(np.float32),
    )


def to_board_views(view: TrainingViews) -> BoardViews:
    """Convert training views to the resolution and margin of the networks' input at run time."""
    return BoardViews(
        board=_resize_view(
            view.board, BOARD_SQUARE_PX, BOARD_MARGIN, views.VIEW_PX_PER_SQUARE, views.VIEW_MARGIN_SQUARES
        ),
        tops=_resize_view(view.tops, TOPS_SQUARE_PX, TOPS_MARGIN, views.TOPS_PX_PER_SQUARE, views.TOPS_MARGIN_SQUARES),
    )


def _resize_view(view: Image, scale: int, margin: float, to_scale: int, to_margin: float) -> Image:
    edge = round((margin - to_margin) * scale)
    side = round((BOARD_SIZE + 2 * to_margin) * to_scale)
    inner = view[edge : view.shape[0] - edge, edge : view.shape[1] - edge]
    return np.asarray(cv2.resize(inner, (side, side), interpolation=cv2.INTER_AREA), np.uint8)


def class_indices(views: Sequence[TrainingViews]) -> NDArray[np.int64]:
    """Return the true class of each square in n views: `(n, 15, 15)` indices into `classes()`."""
    index = {name: i for i, name in enumerate(classes())} | {"": 0}
    return np.array([[[index[letter_shape(s)] for s in row] for row in v.labels] for v in views], np.int64).reshape(
        -1, BOARD_SIZE, BOARD_SIZE
    )
