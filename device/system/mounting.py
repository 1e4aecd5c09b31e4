"""How high a camera must hang over a board, and how many pixels a square gets then: the table in `docs/parts.md`.

    python -m device.system.mounting

A camera that looks straight down from the height h sees 2 h tan(view / 2) of the table, in each direction
(https://en.wikipedia.org/wiki/Angle_of_view; lenses without distortion, which a wide lens is not).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import atan, degrees, hypot, radians, tan

STILL_WIDTH_PX = 2304
"""As `device.cameras.pi` takes pictures."""
BOARD_MARGIN_RATIO = 1.1
"""The board's side in the picture's shorter side: hands, and arms that give way, need some room around it."""
GOOD_SQUARE_PX = 32.0
"""Pixels a square; more make letters no surer: they are read at 28 (docs/reading.md)."""


@dataclass(frozen=True, slots=True)
class CameraSpec:
    """A camera: its picture in pixels, and what it sees across and down, in degrees."""

    name: str
    pixels: tuple[int, int]
    view: tuple[float, float]

    def min_height(self, side: float) -> float:
        """How high it must hang at least to see a board of that side with some room; the unit of `side`."""
        across, down = (side * BOARD_MARGIN_RATIO / 2 / tan(radians(angle) / 2) for angle in self.view)
        return max(across, down)

    def square_px(self, square: float, height: float) -> float:
        """Pixels that the side of a square gets from that height; both in one unit."""
        return square * self._pixels_at_unit_distance / height

    def max_height(self, square: float, pixels: float = GOOD_SQUARE_PX) -> float:
        """How high it may hang so that a square gets that many pixels; the unit of `square`."""
        return square * self._pixels_at_unit_distance / pixels

    @property
    def _pixels_at_unit_distance(self) -> float:
        """Pixels that something gets which is as wide as it is far away."""
        taken = min(self.pixels[0], STILL_WIDTH_PX)
        return taken / (2 * tan(radians(self.view[0]) / 2))


@dataclass(frozen=True, slots=True)
class BoardSize:
    """A board: the sides of the whole and of one square, in centimetres."""

    name: str
    side: float
    square: float


def view_from_diagonal(diagonal: float, width: int, height: int) -> tuple[float, float]:
    """What a camera sees across and down, in degrees, where its maker tells the diagonal only."""
    reach = tan(radians(diagonal) / 2) / hypot(width, height)
    return 2 * degrees(atan(reach * width)), 2 * degrees(atan(reach * height))


def view_from_lens(sensor: tuple[float, float], focal: float) -> tuple[float, float]:
    """What a lens of that focal length shows a sensor of that size; degrees, from lengths in one unit."""
    return 2 * degrees(atan(sensor[0] / 2 / focal)), 2 * degrees(atan(sensor[1] / 2 / focal))


# Views and sizes: https://www.raspberrypi.com/documentation/accessories/camera.html, "Hardware specification".
CAMERAS = (
    CameraSpec("Camera Module 3", (4608, 2592), (66.0, 41.0)),
    CameraSpec("Camera Module 3 Wide", (4608, 2592), (102.0, 67.0)),
    CameraSpec("Camera Module 2", (3280, 2464), (62.2, 48.8)),
    CameraSpec("Camera Module 1", (2592, 1944), (53.5, 41.41)),
    CameraSpec("HQ Camera, 6 mm lens", (4056, 3040), view_from_lens((6.287, 4.712), 6.0)),
    CameraSpec("USB camera, 1080p, 78°", (1920, 1080), view_from_diagonal(78.0, 1920, 1080)),
)
BOARDS = (BoardSize("travel", 21.0, 1.2), BoardSize("usual", 36.0, 2.1), BoardSize("turntable", 42.0, 2.2))


def format_height_table() -> Iterator[str]:
    """The lines of a Markdown table: a camera each, a board in each column."""
    yield "| camera | " + " | ".join(f"{board.name} board, {board.side:.0f} cm" for board in BOARDS) + " |"
    yield "| --- |" + " --- |" * len(BOARDS)
    for camera in CAMERAS:
        yield f"| {camera.name} | " + " | ".join(_format_cell(camera, board) for board in BOARDS) + " |"


def _format_cell(camera: CameraSpec, board: BoardSize) -> str:
    height = camera.min_height(board.side)
    most = camera.max_height(board.square)
    return f"{height:.0f} to {most:.0f} cm; {camera.square_px(board.square, height):.0f} px"


if __name__ == "__main__":
    print("\n".join(format_height_table()))
