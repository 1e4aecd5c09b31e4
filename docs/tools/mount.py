"""Drawings of docs/parts.md: a plate to print that holds a camera module, and how high each camera hangs.

    python -m docs.tools.mount        writes docs/mount.svg and docs/heights.svg

`mount.svg` is one closed path in millimetres, so that a CAD program can give it its thickness, for example OpenSCAD:
`linear_extrude(3) import("mount.svg");`. The opening follows from the angles of view of the cameras, the heights
from `docs.tools.mounting`.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, radians, tan
from pathlib import Path

from docs.tools.mounting import BOARDS, CAMERAS

FOLDER = Path(__file__).parents[1]

PLATE_MM = (40.0, 92.0)
THICKNESS_MM = 3.0
CORNER_MM = 6.0
MODULE_HOLES_MM = (21.0, 12.5)
"""Distances of the four holes of the camera modules, across and along the board (the HQ Camera has a tripod thread)."""
MODULE_HOLE_MM = 2.2
LENS_RADIUS_MM = 3.5
LENS_Y_MM = 32.0
"""Place of the lens on the plate; it is between the two holes that are nearer to the cable."""
TRIPOD_Y_MM, TRIPOD_HOLE_MM = 78.0, 6.6
"""A hole for the 1/4 inch screw of tripods, goosenecks and arms."""
TIE_SLOT_MM = (3.0, 8.0)
"""Slots for cable ties, which hold the plate on a tube, and the cable on the plate."""

BOARD = BOARDS[1]
"""The board in the drawing of the heights."""
PX_PER_CM, AXIS_CM = 3.0, 160
COLUMN_PX, LEFT_PX, TOP_PX = 92, 50, 20


def opening_mm() -> float:
    """Return the width of the opening for the lens: no camera sees the plate, wherever its lens is in the thickness."""
    widest = max(camera.view[0] for camera in CAMERAS)
    return ceil(2 * (LENS_RADIUS_MM + THICKNESS_MM * tan(radians(widest) / 2)))


def draw_plate() -> str:
    """Return the plate as an SVG, in millimetres."""
    width, length = PLATE_MM
    across, along = MODULE_HOLES_MM
    middle, opening, (slot, slot_length) = width / 2, opening_mm(), TIE_SLOT_MM
    outlines = [
        _rectangle(0, 0, width, length, CORNER_MM),
        # From above the upper holes to below the lens: what else is on the module has room, too.
        _rectangle(middle - opening / 2, LENS_Y_MM - along - opening / 2, opening, along + opening, 2),
        *(
            _circle(middle + side * across / 2, LENS_Y_MM - row, MODULE_HOLE_MM)
            for side in (-1, 1)
            for row in (0, along)
        ),
        _circle(middle, TRIPOD_Y_MM, TRIPOD_HOLE_MM),
        *(
            _rectangle(middle + side * 10 - slot / 2, y, slot, slot_length, 1)
            for side in (-1, 1)
            for y in (48.0, TRIPOD_Y_MM - slot_length / 2)
        ),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}mm" height="{length:g}mm" '
        f'viewBox="0 0 {width:g} {length:g}">\n'
        f"<title>Plate for a camera module, 1:1, {THICKNESS_MM:g} mm thick</title>\n"
        f'<path fill="#888" fill-rule="evenodd" d="{" ".join(outlines)}"/>\n</svg>\n'
    )


def draw_heights() -> str:
    """Return a chart of the heights from which each camera reads a board, as an SVG."""
    width, base = LEFT_PX + COLUMN_PX * len(CAMERAS), TOP_PX + AXIS_CM * PX_PER_CM
    lines = "\n".join([*_draw_axis(width, base), *_draw_bars(base)])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {base + 44:g}" '
        f'font-family="sans-serif" font-size="11" text-anchor="middle">\n'
        f"<title>Heights above a board of {BOARD.side:g} cm</title>\n"
        f'<rect width="100%" height="100%" fill="#fff"/>\n{lines}\n</svg>\n'
    )


def _draw_axis(width: int, base: float) -> Iterator[str]:
    for height in range(0, AXIS_CM + 1, 20):
        y = base - height * PX_PER_CM
        yield f'<path d="M{LEFT_PX} {y:g}H{width}" stroke="#ccc"/>'
        yield f'<text x="{LEFT_PX - 24}" y="{y + 4:g}">{height} cm</text>'


def _draw_bars(base: float) -> Iterator[str]:
    for number, camera in enumerate(CAMERAS):
        middle = LEFT_PX + COLUMN_PX * (number + 0.5)
        lowest, highest = camera.min_height(BOARD.side), camera.max_height(BOARD.square)
        top, bottom = base - highest * PX_PER_CM, base - lowest * PX_PER_CM
        half = min(BOARD.side * PX_PER_CM, COLUMN_PX - 8) / 2
        yield f'<path d="M{middle:g} {bottom:.1f}L{middle - half:g} {base:g}H{middle + half:g}z" fill="#e8eef8"/>'
        yield f'<rect x="{middle - 9:g}" y="{top:.1f}" width="18" height="{bottom - top:.1f}" fill="#3b6fb6"/>'
        yield f'<text x="{middle:g}" y="{top - 4:.1f}">{highest:.0f}</text>'
        yield f'<text x="{middle:g}" y="{bottom + 14:.1f}">{lowest:.0f}</text>'
        first, _, second = camera.name.partition(", " if "," in camera.name else " ")
        yield f'<text x="{middle:g}" y="{base + 18:g}">{first}</text>'
        yield f'<text x="{middle:g}" y="{base + 33:g}">{second}</text>'


def _rectangle(x: float, y: float, width: float, height: float, corner: float) -> str:
    across, along = width - 2 * corner, height - 2 * corner
    turn = f"a{corner:g} {corner:g} 0 0 1"
    return (
        f"M{x + corner:g} {y:g}h{across:g}{turn} {corner:g} {corner:g}v{along:g}{turn} {-corner:g} {corner:g}"
        f"h{-across:g}{turn} {-corner:g} {-corner:g}v{-along:g}{turn} {corner:g} {-corner:g}z"
    )


def _circle(x: float, y: float, diameter: float) -> str:
    radius = diameter / 2
    turn = f"a{radius:g} {radius:g} 0 1 0"
    return f"M{x - radius:g} {y:g}{turn} {diameter:g} 0{turn} {-diameter:g} 0z"


DRAWINGS = {"mount.svg": draw_plate, "heights.svg": draw_heights}

if __name__ == "__main__":
    for name, draw in DRAWINGS.items():
        (FOLDER / name).write_text(draw(), encoding="utf-8")
