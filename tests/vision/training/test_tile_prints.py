"""The effects of the print on tiles."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from vision.rendering.fonts import packaged_fonts
from vision.training.letter_shapes import LetterShape, shaped_mask
from vision.training.tile_prints import PRINT_EFFECTS, deform_letter, draw_print, draw_rim

INK, SECOND, GROUND = (20.0, 30.0, 40.0), (200.0, 220.0, 240.0), 120
LETTER, _ = shaped_mask(packaged_fonts()[2], "B", 40, LetterShape())


def draw_letter(effect: str) -> np.ndarray:
    face = np.full((60, 60, 3), GROUND, np.uint8)
    draw_print(face, LETTER, 30, 30, effect, (INK, SECOND), 1.0)
    return face


@pytest.mark.parametrize("effect", PRINT_EFFECTS)
def test_print_of_each_effect_shows_the_letter(effect: str) -> None:
    dark = cv2.cvtColor(draw_letter(effect), cv2.COLOR_BGR2GRAY) < GROUND - 40
    assert 0.15 * (LETTER > 128).sum() < dark.sum() <= 1.1 * (LETTER > 128).sum()


def test_hollow_print_leaves_the_middle_of_a_stroke_free() -> None:
    plain, hollow = draw_letter("plain"), draw_letter("hollow")
    inside = cv2.erode(LETTER, np.ones((5, 5), np.uint8)) == 255
    top, left = 30 - LETTER.shape[0] // 2, 30 - LETTER.shape[1] // 2
    rows, columns = np.nonzero(inside)
    assert (plain[rows + top, columns + left] < GROUND).all()
    assert (hollow[rows + top, columns + left] == GROUND).mean() > 0.9


def test_deformed_letter_has_the_same_ink_elsewhere() -> None:
    deformed = deform_letter(np.random.default_rng(1), LETTER, 0.04)
    assert deformed.shape == LETTER.shape
    assert float(deformed.mean()) == pytest.approx(float(LETTER.mean()), rel=0.2)
    assert (np.abs(deformed.astype(int) - LETTER) > 60).mean() > 0.02


def test_rim_is_a_line_along_the_edges() -> None:
    face = np.full((60, 60, 3), GROUND, np.uint8)
    draw_rim(face, 0.1, INK)
    assert face[30, 6].tolist() == [20, 30, 40]
    assert face[30, 30].tolist() == face[30, 1].tolist() == [GROUND] * 3


def test_slanted_letter_leans_to_the_right() -> None:
    upright, _ = shaped_mask(packaged_fonts()[2], "I", 40, LetterShape())
    slanted, _ = shaped_mask(packaged_fonts()[2], "I", 40, LetterShape(slant=0.25))
    assert slanted.shape[1] > upright.shape[1] + 7
    top, bottom = (np.nonzero(slanted[row])[0].mean() for row in (2, -3))
    assert top > bottom + 6
