"""Variations of the letters of a font: the letters on tiles differ between makers."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import cv2
import numpy as np

from vision.rendering.fonts import Mask, letter_mask

_SHAPING_CAP_PX = 96
"""Cap height, in px, at which letters are rendered before their shapes are varied."""
_ROUND_LETTERS = frozenset("CDGJOQSUОСЭФΘΟΦΩ")


@dataclass(frozen=True, slots=True)
class LetterShape:
    """Geometric variation of the letters of a font: letters differ between makers of tiles."""

    width: float = 1.0
    """Horizontal scale factor of the letters."""
    weight: float = 0.0
    """Thickness added to each side of a stroke, as a fraction of the cap height; negative for thinner strokes."""
    squareness: float = 0.0
    """Amount (0..1) by which round letters are deformed towards their bounding box."""
    bridge: float = 0.0
    """Width of the gaps in the strokes of a stencil letter, as a fraction of the cap height; 0 for no gaps."""
    slant: float = 0.0
    """Tangent of the angle by which letters lean to the right; negative to the left."""


PLAIN_SHAPE = LetterShape()


def shaped_mask(path: Path, letter: str, cap: int, shape: LetterShape) -> tuple[Mask, int]:
    """Render a letter at a cap height of `cap` px, with its shape varied by `shape`.

    Returns its mask and the height of its ink above the cap line (px).
    """
    if shape == PLAIN_SHAPE:
        return letter_mask(path, letter, cap)
    mask, rise = _shape_letter(path, letter, shape)
    size = (max(1, round(mask.shape[1] * cap / _SHAPING_CAP_PX)), max(1, round(mask.shape[0] * cap / _SHAPING_CAP_PX)))
    return np.asarray(cv2.resize(mask, size, interpolation=cv2.INTER_AREA), np.uint8), round(
        rise * cap / _SHAPING_CAP_PX
    )


@lru_cache(maxsize=512)
def _shape_letter(path: Path, letter: str, shape: LetterShape) -> tuple[Mask, int]:
    """Render a letter with a varied shape, large enough (`_SHAPING_CAP_PX`) for exact changes of its strokes."""
    mask, rise = letter_mask(path, letter, _SHAPING_CAP_PX)
    if shape.squareness and unicodedata.normalize("NFD", letter)[0] in _ROUND_LETTERS:
        # Leave the accent above the letter as it is.
        accent = max(rise, 0) if len(unicodedata.normalize("NFD", letter)) > 1 else 0
        mask = np.concatenate([mask[:accent], _square_round_parts(mask[accent:], shape.squareness)])
    width = max(4, round(mask.shape[1] * shape.width))
    mask = np.asarray(cv2.resize(mask, (width, mask.shape[0]), interpolation=cv2.INTER_AREA), np.uint8)
    if shape.slant:
        mask = _slant(mask, shape.slant)
    if shape.bridge:
        mask = _cut_bridges(mask, max(2, round(shape.bridge * _SHAPING_CAP_PX)))
    more = round(abs(shape.weight) * _SHAPING_CAP_PX)
    if not more:
        return mask, rise
    if shape.weight > 0:
        mask = np.pad(mask, more)
        return np.asarray(cv2.dilate(mask, _make_disc(more)), np.uint8), rise + more
    thin = thin_strokes(mask, more)
    # Keep the original mask if erosion would break thin strokes.
    return (thin if thin.sum() > 0.5 * mask.sum() else mask), rise


def thin_strokes(mask: Mask, px: int) -> Mask:
    """Return a letter with thinner strokes: `px` pixels are removed on each side of a stroke."""
    return np.asarray(cv2.erode(mask, _make_disc(px), borderType=cv2.BORDER_CONSTANT, borderValue=0), np.uint8)


def _make_disc(radius_px: int) -> Mask:
    side = 2 * radius_px + 1
    return np.asarray(cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side)), np.uint8)


def _slant(mask: Mask, slant: float) -> Mask:
    """Return a wider mask with the letter leaning to the right by the tangent `slant`."""
    height, width = mask.shape
    more = round(abs(slant) * height)
    shear = np.array([[1, -slant, more if slant > 0 else 0], [0, 1, 0]], np.float64)
    return np.asarray(cv2.warpAffine(mask, shear, (width + more, height), flags=cv2.INTER_LINEAR), np.uint8)


def _cut_bridges(mask: Mask, width: int) -> Mask:
    """Cut vertical gaps of `width` px through the strokes around the enclosed areas of a letter, as in a stencil."""
    around = cv2.copyMakeBorder(np.asarray(mask < 128, np.uint8), 1, 1, 1, 1, cv2.BORDER_CONSTANT, value=1)
    count, _, boxes, _ = cv2.connectedComponentsWithStats(around, connectivity=4)
    cut = mask.copy()
    for left, _, wide, _, area in boxes[2:count].tolist():  # 0 is the ink, 1 the surroundings
        if area > width:
            x = max(0, left - 1 + (wide - width) // 2)
            cut[:, x : x + width] = 0
    return cut


def _square_round_parts(mask: Mask, square: float) -> Mask:
    """Deform a mask towards the corners of its bounding box by the elliptical disc-to-square mapping.

    `square` (0..1) is the amount of the deformation.
    """
    height, width = mask.shape
    x, y = np.meshgrid(np.linspace(-1, 1, width, dtype=np.float32), np.linspace(-1, 1, height, dtype=np.float32))
    across = (x * np.sqrt(1 - square * y**2 / 2) + 1) * (width - 1) / 2
    down = (y * np.sqrt(1 - square * x**2 / 2) + 1) * (height - 1) / 2
    return np.asarray(cv2.remap(mask, across, down, cv2.INTER_LINEAR), np.uint8)
