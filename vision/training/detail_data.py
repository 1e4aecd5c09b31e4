"""Training data of the detail network: crops of the tiles of rendered scenes, with their accents and values.

The values are random: each scene has its own value for each letter. So the network reads the print, and does not guess
the value from the letter. For the same reason all accents that a base letter has in a tile set are equally frequent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.reading import BLANK, BOARD_SIZE
from engine.tiles import load_tile_set, tile_set_names
from vision.geometry import TILE_HEIGHT_SQUARES, Image, estimate_board_pose, project, square_side
from vision.recognition.alphabet import letter_shape, strip_accent
from vision.recognition.details import (
    ACCENT_KINDS,
    DETAIL_PX_PER_SQUARE,
    DETAIL_SIDE_PX,
    NO_VALUE,
    OTHER_VALUE,
    VALUE_KINDS,
    cut_detail_crops,
    find_accent_kind,
    normalise_details,
)
from vision.rendering.camera import measure_square
from vision.rendering.fonts import select_supporting_fonts
from vision.rendering.scene import compose_scene
from vision.training.augmentation import IGNORED, augment_crops, bend_crop, change_strokes, make_motion_kernel
from vision.training.dataset import CORNER_ERROR_SQUARES
from vision.training.font_list import select_handwritten_fonts
from vision.training.random_scenes import clear_light, random_labels, random_setting

Rng = np.random.Generator
MIN_SQUARE_PX: Final = 20.0
"""Minimum resolution of a scene, in pixels per square; below, no value is legible."""
_CLEAR_SHARE: Final = 0.8
"""Share of the scenes in clear light (`clear_light`): from illegible tiles the network learns nothing."""
STORED_SIDE_PX: Final = 72
"""Side of a stored crop in pixels: larger than the network's input, so that it can be shifted and turned."""
_ACCENTED_SHARE: Final = 0.7
"""Share of the tiles whose base letter occurs with several accents in the tile set."""
_BLANK_SHARE: Final = 0.04
_PLAIN_SET_SHARE: Final = 0.12
"""Share of the sets without values."""
_VALUE_WEIGHTS: Final = np.array([0.02, 0.2, *[0.085] * 9, 0.06])
"""Relative frequencies of the values 0 to 10 and of `OTHER_VALUE`."""
_OTHER_VALUES: Final = ("I", "II", "III", "IV", "V", "VI", "VIII", "X", "11", "12", "15", "20")


@dataclass(frozen=True, slots=True, eq=False)
class DetailExamples:
    """Crops of tiles with their truth, as parallel arrays."""

    crops: Image
    """`(n, 72, 72) uint8`."""
    accents: NDArray[np.int64]
    """`(n,)`: index of the accent, or `IGNORED` for blanks and for letters with several characters."""
    values: NDArray[np.int64]
    """`(n,)`: index of the value."""
    allowed: NDArray[np.bool_]
    """`(n, 14)`: mask of the accents that the letter's base has in the tile set."""

    def save(self, path: Path) -> None:
        """Write the examples to a file; an interruption leaves no file."""
        unfinished = path.with_suffix(".unfinished.npz")
        np.savez(unfinished, **{name: getattr(self, name) for name in self.__slots__})
        unfinished.replace(path)

    @classmethod
    def load(cls, path: Path) -> DetailExamples:
        """Read the examples that `save` wrote."""
        with np.load(path) as arrays:
            return cls(**{name: arrays[name] for name in cls.__slots__})

    @classmethod
    def join(cls, parts: list[DetailExamples]) -> DetailExamples:
        """Return all examples of several parts."""
        return cls(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in cls.__slots__})


@dataclass(frozen=True, slots=True, eq=False)
class DetailBatch:
    """Batch of input and target arrays for the detail network; the targets are those of `DetailExamples`."""

    crops: NDArray[np.float32]
    """`(n, 1, 56, 56)`: input."""
    accents: NDArray[np.int64]
    values: NDArray[np.int64]
    allowed: NDArray[np.bool_]


@lru_cache(maxsize=1)
def _alphabets() -> tuple[tuple[str, ...], ...]:
    sets = map(load_tile_set, tile_set_names())
    return tuple(dict.fromkeys(tiles.letters for tiles in sets if not tiles.right_to_left))


def group_by_base(letters: Sequence[str]) -> Mapping[str, list[str]]:
    """Return the letters of one character by their base letters."""
    groups: dict[str, list[str]] = defaultdict(list)
    for letter in letters:
        if len(letter) == 1:
            groups[strip_accent(letter_shape(letter))].append(letter)
    return groups


def _weigh_letters(letters: tuple[str, ...]) -> NDArray[np.float64]:
    """Return the probability of each letter in a scene; the letters of one base are equally frequent."""
    is_accented = np.zeros(len(letters), np.bool_)
    for group in group_by_base(letters).values():
        if len(group) > 1:
            is_accented[[letters.index(letter) for letter in group]] = True
    share = _ACCENTED_SHARE if is_accented.any() else 0.0
    accented, plain = share / max(is_accented.sum(), 1), (1 - share) / max((~is_accented).sum(), 1)
    return np.asarray(np.where(is_accented, accented, plain), np.float64)


def _draw_values(rng: Rng, letters: tuple[str, ...]) -> dict[str, str]:
    """Return a random printed value of each letter."""
    drawn = rng.choice(len(_VALUE_WEIGHTS), size=len(letters), p=_VALUE_WEIGHTS / _VALUE_WEIGHTS.sum())
    others = rng.choice(_OTHER_VALUES, size=len(letters))
    return {
        letter: str(k) if k < len(_VALUE_WEIGHTS) - 1 else str(other)
        for letter, k, other in zip(letters, drawn.tolist(), others, strict=True)
    }


def draw_examples(number: int, seed: int, fonts: tuple[Path, ...]) -> DetailExamples:
    """Render scene `number` of `seed`, and return the crops of its visible tiles."""
    rng = np.random.default_rng((seed, 7, number))
    letters = _alphabets()[int(rng.integers(len(_alphabets())))]
    usable = select_supporting_fonts(fonts, "".join(letters) + "0123456789")
    setting = random_setting(rng, fonts, usable, select_handwritten_fonts(fonts))
    while measure_square(setting.camera) < MIN_SQUARE_PX:
        setting = random_setting(rng, fonts, usable, select_handwritten_fonts(fonts))
    if rng.random() < _CLEAR_SHARE:
        setting = replace(setting, light=clear_light(setting.light, setting.camera))
    style = setting.tile_style
    height = 0.0 if rng.random() < _PLAIN_SET_SHARE else style.value_height or 0.16
    setting = replace(setting, tile_style=replace(style, value_height=height))
    values = _draw_values(rng, letters)
    chances = np.append((1 - _BLANK_SHARE) * _weigh_letters(letters), _BLANK_SHARE)
    labels = random_labels(rng, (*letters, BLANK), chances / chances.sum(), rng.uniform(0.3, 0.6))
    scene = compose_scene(rng, setting, labels, values=values)  # type: ignore[arg-type]  # a value may be a Roman numeral
    side = square_side(scene.corners)
    corners = scene.corners + rng.normal(0, CORNER_ERROR_SQUARES / 2 * side, (4, 2))
    pose = estimate_board_pose(corners, (scene.image.shape[1], scene.image.shape[0]))
    plane = np.linalg.inv(pose.plane_homography(TILE_HEIGHT_SQUARES))
    cells = [
        (r, c) for r in range(BOARD_SIZE) for c in range(BOARD_SIZE) if scene.labels[r][c] and scene.hidden[r, c] < 0.05
    ]
    rows, columns = np.array(cells, np.intp).T
    centres, rights = (project(plane, points[rows, columns]) for points in (scene.centres, scene.right_edges))
    offsets, ahead = centres - np.column_stack([columns, rows]) - 0.5, rights - centres
    poses = np.column_stack([offsets, np.arctan2(ahead[:, 1], ahead[:, 0])])
    groups = group_by_base(letters)
    return DetailExamples(
        cut_detail_crops(scene.image, pose, cells, poses, STORED_SIDE_PX),
        np.array([_find_accent(scene.labels[r][c]) for r, c in cells], np.int64),
        np.array([_find_value(scene.labels[r][c], values, height) for r, c in cells], np.int64),
        np.array([_allow_accents(scene.labels[r][c], groups) for r, c in cells], np.bool_),
    )


def _find_accent(label: str) -> int:
    kind = None if label == BLANK else find_accent_kind(letter_shape(label))
    return IGNORED if kind is None else ACCENT_KINDS.index(kind)


def _find_value(label: str, values: Mapping[str, str], height: float) -> int:
    if label == BLANK or not height:
        return VALUE_KINDS.index(NO_VALUE)
    return VALUE_KINDS.index(values[label] if values[label] in VALUE_KINDS else OTHER_VALUE)


def _allow_accents(label: str, groups: Mapping[str, list[str]]) -> list[bool]:
    """Return for each of `ACCENT_KINDS` whether a letter with the same base letter has it; for a blank, none has.

    `groups` contains the letters of the tiles by their base letter.
    """
    group = groups.get(strip_accent(letter_shape(label)), []) if label != BLANK else []
    kinds = {find_accent_kind(letter_shape(letter)) for letter in group}
    return [kind in kinds for kind in ACCENT_KINDS]


def draw_batch(rng: Rng, examples: DetailExamples, size: int) -> DetailBatch:
    """Return a batch of `size` augmented crops."""
    chosen = rng.integers(0, len(examples.crops), size)
    cut = np.stack([_vary_crop(rng, examples.crops[k]) for k in chosen.tolist()])
    return DetailBatch(
        normalise_details(augment_crops(rng, cut)),
        examples.accents[chosen],
        examples.values[chosen],
        examples.allowed[chosen],
    )


def _vary_crop(rng: Rng, stored: Image) -> Image:
    """Return a crop of the network's size: shifted, turned, zoomed, sometimes bent, blurred or of low resolution."""
    turn, zoom, stretch = rng.normal(0, 0.05), np.exp(rng.normal(0, 0.05)), np.exp(rng.normal(0, 0.04))
    axes = zoom * np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]) * [stretch, 1]
    middle = (STORED_SIDE_PX - 1) / 2 + DETAIL_PX_PER_SQUARE * rng.normal(0, 0.04, 2)
    matrix = np.column_stack([axes, middle - axes @ np.full(2, (DETAIL_SIDE_PX - 1) / 2)])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    size = (DETAIL_SIDE_PX, DETAIL_SIDE_PX)
    cut = np.asarray(cv2.warpAffine(stored, matrix, size, flags=flags, borderMode=cv2.BORDER_REPLICATE), np.uint8)
    if rng.random() < 0.15:
        cut = bend_crop(rng, cut)
    if rng.random() < 0.1:
        cut = change_strokes(rng, cut)
    return _degrade_crop(rng, cut)


def _degrade_crop(rng: Rng, cut: Image) -> Image:
    """Reduce the resolution of some crops to that of a small picture, and blur others."""
    kind = rng.random()
    if kind < 0.35:
        small = int(rng.integers(20, DETAIL_SIDE_PX))
        low = cv2.resize(cut, (small, small), interpolation=cv2.INTER_AREA)
        return np.asarray(cv2.resize(low, cut.shape[::-1], interpolation=cv2.INTER_LINEAR), np.uint8)
    if kind < 0.42:
        return np.asarray(cv2.GaussianBlur(cut, (0, 0), float(rng.uniform(0.5, 1.5))), np.uint8)
    if kind < 0.47:
        kernel = make_motion_kernel(float(rng.uniform(1.5, 6)), float(rng.uniform(0, np.pi)))
        return np.asarray(cv2.filter2D(cut, -1, kernel), np.uint8)
    return cut
