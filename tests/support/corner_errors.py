"""The error of detected corners."""

from __future__ import annotations

import numpy as np

from vision.geometry import Floats, rotate_quad, square_side


def corner_error(found: Floats, truth: Floats) -> float:
    """Return the mean distance of detected corners from the true corners, in squares.

    The two quads may start at different corners.
    """
    distances = (np.linalg.norm(rotate_quad(found, k) - truth, axis=1).mean() for k in range(4))
    return float(min(distances)) / square_side(truth)
