"""Compute the heights at which a camera can be mounted over a board.

This command prints the Markdown table for `docs/parts.md`:

    python -m docs.tools.mounting

A camera at height h that points straight down covers 2 h tan(view / 2) of the table in each direction
(https://en.wikipedia.org/wiki/Angle_of_view). The distortion of wide lenses is ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import atan, degrees, hypot, radians, tan

from device.cameras.pi import STILL_WIDTH_PX
from device.doctor.checks import GOOD_SQUARE_PX

BOARD_MARGIN_RATIO = 1.1
"""Ratio of the picture's shorter side to the board's side. It is above 1, because camera arms move a little."""


@dataclass(frozen=True, slots=True)
class CameraSpec:
    """Data of a camera: picture size in pixels, and horizontal and vertical angles of view in degrees."""

    name: str
    pixels: tuple[int, int]
    view: tuple[float, float]

    def min_height(self, side: float) -> float:
        """Return the lowest height at which the camera sees a whole board with sides of length `side`.

        The height is in the unit of `side`.
        """
        across, down = (side * BOARD_MARGIN_RATIO / 2 / tan(radians(angle) / 2) for angle in self.view)
        return max(across, down)

    def max_height(self, square: float, pixels: float = GOOD_SQUARE_PX) -> float:
        """Return the largest height at which a square of the board is `pixels` wide, in the unit of `square`."""
        return square * self._pixels_at_unit_distance / pixels

    @property
    def _pixels_at_unit_distance(self) -> float:
        """Width, in pixels, of an object that is as wide as it is far from the camera."""
        taken = min(self.pixels[0], STILL_WIDTH_PX)
        return taken / (2 * tan(radians(self.view[0]) / 2))


@dataclass(frozen=True, slots=True)
class BoardSize:
    """Size of a board: the sides of the board and of one square, in centimetres."""

    name: str
    side: float
    square: float


def view_from_diagonal(diagonal: float, width: int, height: int) -> tuple[float, float]:
    """Return the horizontal and vertical angles of view for a diagonal one, all in degrees.

    This is for cameras whose data sheet gives only the diagonal angle. `width` and `height` give the aspect ratio.
    """
    reach = tan(radians(diagonal) / 2) / hypot(width, height)
    return 2 * degrees(atan(reach * width)), 2 * degrees(atan(reach * height))


def view_from_lens(sensor: tuple[float, float], focal: float) -> tuple[float, float]:
    """Return the horizontal and vertical angles of view in degrees.

    `sensor` (width, height) and `focal`, the focal length, are in the same unit.
    """
    return 2 * degrees(atan(sensor[0] / 2 / focal)), 2 * degrees(atan(sensor[1] / 2 / focal))


# Views and sizes: https://www.raspberrypi.com/documentation/accessories/camera.html, "Hardware specification".
CAMERAS = (
    CameraSpec("Camera Module 3", (4608, 2592), (66.0, 41.0)),
    CameraSpec("Camera Module 3 Wide", (4608, 2592), (102.0, 67.0)),
    CameraSpec("Camera Module 2", (3280, 2464), (62.2, 48.8)),
    CameraSpec("Camera Module 1", (2592, 1944), (53.5, 41.41)),
    CameraSpec("AI Camera", (4056, 3040), (66.0, 52.3)),
    CameraSpec("HQ Camera, 6 mm lens", (4056, 3040), view_from_lens((6.287, 4.712), 6.0)),
    CameraSpec("USB camera, 1080p, 78°", (1920, 1080), view_from_diagonal(78.0, 1920, 1080)),
)
BOARDS = (
    BoardSize("travel", 21.0, 1.2),
    BoardSize("folding", 33.0, 2.0),
    BoardSize("usual", 36.0, 2.1),
    BoardSize("turntable", 42.0, 2.2),
)


def format_height_table() -> Iterator[str]:
    """Yield the lines of a Markdown table of heights in centimetres, with a row per camera and a column per board."""
    yield "| camera | " + " | ".join(f"{board.name}, {board.side:.0f} cm" for board in BOARDS) + " |"
    yield "| --- |" + " --- |" * len(BOARDS)
    for camera in CAMERAS:
        yield f"| {camera.name} | " + " | ".join(_format_cell(camera, board) for board in BOARDS) + " |"


def _format_cell(camera: CameraSpec, board: BoardSize) -> str:
    return f"{camera.min_height(board.side):.0f}-{camera.max_height(board.square):.0f}"


if __name__ == "__main__":
    print("\n".join(format_height_table()))
