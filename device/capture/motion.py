"""Detect motion in previews, wait until the board is at rest, and find out whether it has changed since a reading.

For the last, the largest difference between two previews is measured in boxes of two sizes. In boxes of a seventh of a
square, even letters as similar as O and Q differ by a quarter of the contrast between print and tile. In boxes of one
square, a tile differs from an empty square of nearly the same colour.

Previews of the same scene differ by noise, which depends on camera and light. The noise is therefore measured for each
reference preview. Any doubt counts as a change: much noise, few pixels, or previews of different sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from device.cameras.base import Camera, Frame, Image
from vision.geometry import Floats, grid_corners, halve_image, homography, project, square_side


@dataclass(frozen=True, slots=True)
class SceneConfig:
    """Limits for the comparison of two previews of a board at rest. Differences are in grey levels (0 to 255).

    The limits follow from measurements on rendered boards of three editions at 20 px a square:

    - In small boxes (`box_squares`), previews of the same tiles differ by at most 2, 4, 7 and 11 for noise with a
      standard deviation of 2, 5, 8 and 12.
    - In these boxes, the letters of the pairs EF, OQ, IJ, CG, PR, BR, UV, MN, IL, IT, OD and VY differ by at least 28.
    - The means of whole squares differ by at most 1.4 for the same tiles, and by at least 10 otherwise.
    """

    min_square_px: float = 20.0
    """Smallest side of a square in a preview, in pixels; the comparison is not used on smaller squares."""
    max_log_stretch: float = 0.02
    """Largest logarithm of the ratio of horizontal and vertical scale from still to preview. With a larger ratio, still
    and preview show different parts of the table, and previews are not compared."""
    margin_squares: float = 0.5
    """Margin around the grid that is also compared, in squares; it shows hands, and the tops of tiles at the edge."""
    box_squares: float = 1 / 7
    """Side, in squares, of the small boxes in which two previews are compared, to find a changed letter. The side is at
    least 3 px."""
    noise_factor: float = 1.5
    """Allowed difference as a multiple of the noise, which is the difference between the previews of a `RestScene`."""
    min_difference: float = 4.0
    """Mean difference in a box of side `box_squares` that is always allowed, because the exposure may vary slightly."""
    contrast_percentiles: tuple[float, float] = (98.0, 2.0)
    """Percentiles of the brightness in the area of the board; the contrast is the difference between the two."""
    contrast_step_px: int = 7
    """Distance, in pixels, between the pixels from which the contrast is computed; a sample is precise enough."""
    max_difference_contrast: float = 0.12
    """Largest mean difference that may be allowed in a box of side `box_squares`, as a share of the contrast. If the
    noise requires more, previews are not compared. A D in place of an O causes a difference of 0.2 or more."""
    min_mean_difference: float = 1.5
    """Mean difference in a box of one square's size that is always allowed, even without noise."""
    max_mean_difference: float = 3.0
    """Largest mean difference that may be allowed in a box of one square's size. If the noise requires more, previews
    are not compared."""


_CONFIG = SceneConfig()
_FRACTIONS = 16
"""Number of steps in a grey level. Differences are computed in integers, which takes a fifth of the time."""


@dataclass(frozen=True, slots=True, eq=False)
class RestScene:
    """A still of the board at rest, with the preview pictures (`(H, W)` or `(H, W, 3)`, uint8) before and after it."""

    still: Frame
    before: Image
    after: Image


class SceneReference:
    """Preview of the board at the time of a reading, with which later previews are compared. Immutable."""

    def __init__(self, scene: RestScene, corners: Floats) -> None:
        """Use the second preview of `scene` as the reference, and measure the noise between its two previews.

        `corners` `(4, 2)` are those of the grid, in pixels of the still.
        """
        height, width = scene.after.shape[:2]
        scale = np.array([width, height]) / [scene.still.image.shape[1], scene.still.image.shape[0]]
        quad = (corners + 0.5) * scale - 0.5
        self._shape = scene.after.shape
        self._square_px = square_side(quad)
        self._area, self._mask = _outline_board(quad, (height, width), _CONFIG.margin_squares)
        self._grey = to_grey(scene.after)[self._area].copy()
        self._limits = self._choose_limits(scene, float(scale[0] / scale[1]))

    def matches(self, preview: Image) -> bool:
        """Return True if a preview certainly shows the same board as the reference; return False in case of doubt."""
        if self._limits is None or preview.shape != self._shape:
            return False
        return bool((self._measure_difference(preview) <= self._limits).all())

    def _choose_limits(self, scene: RestScene, stretch: float) -> Floats | None:
        """Return the largest allowed differences, or None if a change of a tile could be missed.

        The two values are for boxes of `SceneConfig.box_squares` and for boxes of one square. `stretch` is the
        horizontal scale from still to preview, divided by the vertical scale.
        """
        board_pixels = self._grey[self._mask > 0]
        if self._square_px < _CONFIG.min_square_px or abs(math.log(stretch)) > _CONFIG.max_log_stretch:
            return None
        if not len(board_pixels) or scene.before.shape != self._shape:
            return None
        noise = self._measure_difference(scene.before)
        limits = np.maximum(_CONFIG.noise_factor * noise, [_CONFIG.min_difference, _CONFIG.min_mean_difference])
        light, dark = np.percentile(board_pixels[:: _CONFIG.contrast_step_px], _CONFIG.contrast_percentiles)
        max_limits = np.array([_CONFIG.max_difference_contrast * float(light - dark), _CONFIG.max_mean_difference])
        return limits if (limits <= max_limits).all() else None

    def _measure_difference(self, preview: Image) -> Floats:
        """Return the largest differences of a preview from the reference picture, `(2,)`.

        The two values are for boxes of `SceneConfig.box_squares` and for boxes of one square.
        """
        grey = to_grey(preview)[self._area]
        difference = cv2.addWeighted(grey, _FRACTIONS, self._grey, -_FRACTIONS, 0, dtype=cv2.CV_16S)
        sides = (max(3, round(_CONFIG.box_squares * self._square_px)), round(self._square_px))
        maxima = []
        for side in sides:
            lowest, highest, _, _ = cv2.minMaxLoc(cv2.blur(difference, (side, side)), self._mask)
            maxima.append(max(-lowest, highest) / _FRACTIONS)
        return np.array(maxima)


def to_grey(image: Image) -> Image:
    """Return the brightness of a picture, `(H, W) uint8`; a grey picture is returned unchanged."""
    return image if image.ndim == 2 else np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), np.uint8)


def _outline_board(quad: Floats, size: tuple[int, int], margin: float) -> tuple[tuple[slice, slice], Image]:
    """Return the part of a picture that contains the grid with its margin, and the mask of this area in it, 0 or 1.

    `quad` are the corners of the grid `(4, 2)` in pixels, `size` is (height, width), and `margin` is in squares.
    """
    outer = grid_corners() + margin * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    mask = np.zeros(size, np.uint8)
    cv2.fillConvexPoly(mask, project(homography(quad), outer).round().astype(np.int32), 1)
    left, top, width, height = cv2.boundingRect(mask)
    area = slice(top, top + height), slice(left, left + width)
    return area, mask[area].copy()


MAX_WAIT_S = 2.0
"""Longest wait for the board to come to rest, in seconds. After it, the board is read in spite of motion."""
MIN_STILL_S = 0.2
"""Time without motion, in seconds, after which the board is read."""
POLL_INTERVAL_S = 1 / 30
THUMBNAIL_SIZE_PX = (96, 72)
MIN_MOTION_DIFFERENCE = 12.0
"""Difference in a pixel of two thumbnails (grey levels, 0 to 255) that counts as motion; camera noise is smaller."""


class RestDetector:
    """Detector of rest in a sequence of pictures: no motion for `min_still_s` seconds."""

    def __init__(self, min_still_s: float) -> None:
        self._min_still_s = min_still_s
        self._thumbnail: npt.NDArray[np.float32] | None = None
        self._still_since = 0.0
        self.still_s = 0.0
        """Time without motion up to the last picture, in seconds."""

    def update(self, image: Image, now: float) -> bool:
        """Add a picture that was taken at time `now` (s); return True if the board is at rest."""
        before, self._thumbnail = self._thumbnail, make_thumbnail(image)
        if before is None or has_moved(before, self._thumbnail):
            self._still_since = now
        self.still_s = now - self._still_since
        return self.still_s >= self._min_still_s


def wait_for_rest(
    camera: Camera,
    *,
    is_enough: Callable[[Frame], bool],
    clock: Callable[[], float],
    wait: Callable[[float], bool | None],
) -> bool:
    """Wait until nothing moves in the previews of the camera, at most `MAX_WAIT_S` seconds.

    If `is_enough` returns True for a preview, the wait ends at once and True is returned. In all other cases, False is
    returned. The wait also ends if `wait`, which sleeps for a number of seconds, returns True. Raises `CameraError`.
    """
    detector, deadline = RestDetector(MIN_STILL_S), clock() + MAX_WAIT_S
    while (frame := camera.capture_preview()) is not None:
        if is_enough(frame):
            return True
        if detector.update(frame.image, clock()) or clock() >= deadline or wait(POLL_INTERVAL_S):
            break
    return False


def has_moved(before: npt.NDArray[np.float32], now: npt.NDArray[np.float32]) -> bool:
    """Return True if two thumbnails differ so much that something has moved."""
    return float(np.abs(now - before).max()) > MIN_MOTION_DIFFERENCE


def make_thumbnail(image: Image) -> npt.NDArray[np.float32]:
    """Return a small grey version of a picture, `(72, 96) float32`; averaging removes the camera's noise."""
    grey, (width, height) = to_grey(image), THUMBNAIL_SIZE_PX
    while grey.shape[0] >= 6 * height and grey.shape[1] >= 6 * width:  # averages of 2 x 2 pixels are fast
        grey = halve_image(grey)
    return np.asarray(cv2.resize(grey, THUMBNAIL_SIZE_PX, interpolation=cv2.INTER_AREA), np.float32)
