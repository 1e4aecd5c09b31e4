"""Find the squares whose colour has changed between two pictures of a board, even if the light has changed as well.

Lamps, daylight, players' shadows and the camera's exposure change the light smoothly across the board. So a smooth
surface (a cubic polynomial) is fitted to the logarithms of the colour ratios of all squares in the two pictures.
Squares far from the surface have changed. The fit is robust: least squares with iterated Cauchy weights.
"""

from __future__ import annotations

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.reading import BOARD_SIZE
from vision.geometry import Floats, Image, halve_image
from vision.recognition.views import VIEW_MARGIN_SQUARES

_DEGREE: Final = 3
"""Degree of the polynomial surface that describes the change of light. On simulated tables, whose light changes by up
to a quarter between two pictures, 99 % of the squares without a change differ by less than 5 % from a surface of degree
3."""
_ROUNDS: Final = 4
"""Number of times that the surface of the light is fitted, each time with new weights."""
_USUAL_CHANGE: Final = 0.02
"""Distance of a square from the fitted surface (natural logarithm) at which its weight in the next fit is one half."""
_MAX_CHANGE: Final = 0.05
"""Maximum colour change of an unchanged square, as a share of the colour, after correction for the light. It is small
because the colour of a blank may be close to that of the empty square."""
_MAX_DARK_CHANGE: Final = 3.0
"""Maximum colour change of an unchanged square with a dark colour, in grey levels. For brighter colours, `_MAX_CHANGE`
permits a larger change."""
_MAX_LIGHT_CHANGE: Final = 0.3
"""Maximum change of the light on any square (natural logarithm of the factor). After a larger change, squares cannot be
compared."""


def find_recoloured_squares(before: Image, now: Image) -> NDArray[np.bool_] | None:
    """Return a mask `(15, 15)` of the squares whose mean colour has changed, apart from the light.

    `before` and `now` are views from `rectify_board` at the same corners. Returns None if the light is too different.
    """
    colours_before, colours_now = _measure_mean_colours(before), _measure_mean_colours(now)
    log_ratios = np.log(np.maximum(colours_now, 1) / np.maximum(colours_before, 1))
    # Fit the change of light by iterated least squares; squares far from the surface lose their weight.
    weights = np.ones(len(log_ratios))
    for _ in range(_ROUNDS):
        weighted = _MONOMIALS * weights[:, None]
        light = _MONOMIALS @ np.linalg.solve(weighted.T @ _MONOMIALS, weighted.T @ log_ratios)
        weights = 1 / (1 + (np.abs(log_ratios - light).max(axis=1) / _USUAL_CHANGE) ** 2)
    if np.abs(light).max() > _MAX_LIGHT_CHANGE:
        return None
    expected = np.exp(light) * colours_before
    is_recoloured = np.abs(colours_now - expected) > np.maximum(_MAX_CHANGE * expected, _MAX_DARK_CHANGE)
    return np.asarray(is_recoloured.any(axis=1).reshape(BOARD_SIZE, BOARD_SIZE), np.bool_)


def _measure_mean_colours(view: Image) -> Floats:
    """Return the mean BGR colours `(225, 3)` of the squares of a view from `rectify_board`."""
    side = BOARD_SIZE + 2 * VIEW_MARGIN_SQUARES
    grid = slice(VIEW_MARGIN_SQUARES, -VIEW_MARGIN_SQUARES)
    colours = cv2.resize(halve_image(view), (side, side), interpolation=cv2.INTER_AREA)[grid, grid]
    return np.asarray(colours.reshape(-1, 3), np.float64)


def _compute_monomials() -> Floats:
    """Return the values `(225, monomials)` of all monomials up to `_DEGREE` at the centres of the squares."""
    centres = np.linspace(-1, 1, BOARD_SIZE)
    x, y = np.meshgrid(centres, centres)
    powers = [(i, j) for i in range(_DEGREE + 1) for j in range(_DEGREE + 1 - i)]
    return np.stack([(x**i * y**j).ravel() for i, j in powers], axis=1)


_MONOMIALS: Final = _compute_monomials()
