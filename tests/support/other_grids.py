"""Draw pictures that look like a board but show none: other games, printed puzzles, keyboards, floors, shelves.

Each kind is drawn as flat art and rendered in place of a board, with a random table, light and camera. Tests use the
pictures to check that the board detector rejects them; no network is trained on the pictures.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import cv2
import numpy as np

from vision.rendering.board_art import BoardArt, Picture, print_mask
from vision.rendering.fonts import text_mask
from vision.rendering.scene import compose_scene
from vision.rendering.style import Colour, Rng, hsv_to_bgr, random_colour
from vision.training.random_scenes import random_setting

_ART_SIDE_PX: Final = 720
"""Length of the longer side of the flat art, in pixels."""
_BOARD_SQUARES: Final = 15
"""Length of the longer side of the flat art on the table, in squares of a board."""


def draw_other_grid(rng: Rng, kind: str, fonts: tuple[Path, ...]) -> Picture:
    """Render a photograph of something that is not a board, `(H, W, 3) uint8 BGR`; `kind` is one of `KINDS`."""
    setting = random_setting(rng, fonts)
    art = KINDS[kind](rng, fonts[int(rng.integers(len(fonts)))])
    px = round(max(art.shape[:2]) / _BOARD_SQUARES)
    height, width = (np.array(art.shape[:2]) / px).tolist()
    # The art is centred on the place of the grid; a negative margin is a side that is shorter than the grid.
    right, bottom = (width - _BOARD_SQUARES) / 2, (height - _BOARD_SQUARES) / 2
    framed = BoardArt(art, px, (right, bottom, right, bottom))
    return compose_scene(rng, replace(setting, art=framed), {}).image


def _paint(height: int, width: int, colour: Colour) -> Picture:
    return np.full((height, width, 3), np.asarray(colour), np.uint8)


def _light(rng: Rng) -> Colour:
    return hsv_to_bgr(rng.random(), 0.35 * rng.random(), 0.75 + 0.25 * rng.random())


def _dark(rng: Rng) -> Colour:
    return hsv_to_bgr(rng.random(), 0.8 * rng.random(), 0.05 + 0.35 * rng.random())


def _fill_cell(art: Picture, row: int, column: int, side: float, colour: Colour, inset: float = 0.0) -> None:
    """Fill one cell, `side` px wide, of a grid; `inset` is the width of its unfilled border, as a share of the side."""
    a, b = inset * side, (1 - inset) * side
    low = (round(column * side + a), round(row * side + a))
    high = (round(column * side + b) - 1, round(row * side + b) - 1)
    cv2.rectangle(art, low, high, colour, -1)


def _draw_lines(art: Picture, rows: int, columns: int, colour: Colour, width: int, start: int = 0) -> None:
    """Draw the lines of a grid of `rows` x `columns` cells over the whole art.

    The first `start` horizontal lines, from the top, are left out.
    """
    height, wide = art.shape[:2]
    for y in np.linspace(0, height - 1, rows + 1)[start:]:
        cv2.line(art, (0, round(y)), (wide - 1, round(y)), colour, width, cv2.LINE_AA)
    for x in np.linspace(0, wide - 1, columns + 1):
        cv2.line(art, (round(x), 0), (round(x), height - 1), colour, width, cv2.LINE_AA)


def _write(art: Picture, font: Path, text: str, x: float, y: float, size: float, colour: Colour) -> None:
    print_mask(art, text_mask(font, text, max(5, round(size))), x, y, colour)


def _draw_chequers(rng: Rng, count: int) -> Picture:
    """Draw `count` x `count` cells in two alternating colours."""
    art = _paint(_ART_SIDE_PX, _ART_SIDE_PX, _light(rng))
    dark, side = _dark(rng) if rng.random() < 0.6 else random_colour(rng), _ART_SIDE_PX / count
    for row in range(count):
        for column in range(row % 2, count, 2):
            _fill_cell(art, row, column, side, dark)
    return art


def _draw_pieces(rng: Rng, art: Picture, count: int, share: float, between: bool = False) -> None:
    """Draw round pieces of two colours in the share `share` (0..1) of the cells.

    If `between` is True, the pieces are on the crossings of lines.
    """
    side, colours = art.shape[0] / count, (_light(rng), _dark(rng))
    for row in range(count):
        for column in range(count):
            if rng.random() > share:
                continue
            offset = 0.0 if between else 0.5
            middle = (round((column + offset) * side), round((row + offset) * side))
            colour = colours[int(rng.integers(2))]
            cv2.circle(art, middle, round(0.4 * side), colour, -1, cv2.LINE_AA)
            cv2.circle(art, middle, round(0.25 * side), colours[0] if colour == colours[1] else colours[1], 1)


def _draw_chess(rng: Rng, font: Path) -> Picture:
    art = _draw_chequers(rng, 8)
    if rng.random() < 0.5:
        _draw_pieces(rng, art, 8, 0.4)
        return art
    side = _ART_SIDE_PX / 8
    for row, column in np.argwhere(rng.random((8, 8)) < 0.4).tolist():
        colour = _light(rng) if rng.random() < 0.5 else _dark(rng)
        _write(art, font, str(rng.choice(list("KQRBN"))), (column + 0.5) * side, (row + 0.5) * side, 0.6 * side, colour)
    return art


def _draw_checkers(rng: Rng, _: Path) -> Picture:
    count = int(rng.choice([8, 10, 12]))
    art = _draw_chequers(rng, count)
    _draw_pieces(rng, art, count, 0.4 * rng.random())
    return art


def _draw_go(rng: Rng, _: Path) -> Picture:
    count = int(rng.choice([8, 12, 18]))
    wood = hsv_to_bgr(0.08 + 0.04 * rng.random(), 0.3 + 0.4 * rng.random(), 0.6 + 0.4 * rng.random())
    art = _paint(_ART_SIDE_PX, _ART_SIDE_PX, wood)
    _draw_lines(art, count, count, _dark(rng), 2)
    _draw_pieces(rng, art, count, 0.45 * rng.random(), between=True)
    return cv2.copyMakeBorder(art, 30, 30, 30, 30, cv2.BORDER_CONSTANT, value=wood).astype(np.uint8)


def _draw_crossword(rng: Rng, font: Path) -> Picture:
    count = int(rng.choice([11, 13, 15, 15, 17, 21]))
    art, ink = _paint(_ART_SIDE_PX, _ART_SIDE_PX, (245.0, 248.0, 250.0)), _dark(rng)
    side = _ART_SIDE_PX / count
    black = rng.random((count, count)) < 0.1 + 0.2 * rng.random()
    black |= np.rot90(black, 2)  # printed crosswords have twofold symmetry
    is_filled = rng.random() < 0.6
    for row, column in np.ndindex(count, count):
        if black[row, column]:
            _fill_cell(art, row, column, side, ink)
        elif is_filled and rng.random() < 0.8:
            letter = chr(65 + int(rng.integers(26)))
            _write(art, font, letter, (column + 0.5) * side, (row + 0.55) * side, 0.65 * side, (60.0, 50.0, 50.0))
    _draw_lines(art, count, count, ink, int(rng.integers(1, 4)))
    return art


def _draw_sudoku(rng: Rng, font: Path) -> Picture:
    art, ink = _paint(_ART_SIDE_PX, _ART_SIDE_PX, _light(rng)), _dark(rng)
    side = _ART_SIDE_PX / 9
    for row, column in np.argwhere(rng.random((9, 9)) < 0.3 + 0.7 * rng.random()).tolist():
        digit = str(int(rng.integers(1, 10)))
        _write(art, font, digit, (column + 0.5) * side, (row + 0.5) * side, 0.7 * side, ink)
    _draw_lines(art, 9, 9, ink, 2)
    _draw_lines(art, 3, 3, ink, 6)
    return art


def _draw_calendar(rng: Rng, font: Path) -> Picture:
    rows, art = int(rng.integers(5, 7)), _paint(_ART_SIDE_PX * 3 // 4, _ART_SIDE_PX, _light(rng))
    ink, side, top = _dark(rng), _ART_SIDE_PX / 7, art.shape[0] / (rows + 1)
    _write(art, font, str(rng.choice(["JANUARY", "MAY", "AUGUST", "NOVEMBER"])), _ART_SIDE_PX / 2, top / 2, 50, ink)
    for day in range(31):
        row, column = divmod(day + 3, 7)
        if row < rows:
            _write(art, font, str(day + 1), (column + 0.25) * side, (row + 1.3) * top, 0.3 * side, ink)
    _draw_lines(art, rows + 1, 7, ink, 2, start=1)
    return art


def _draw_keyboard(rng: Rng, font: Path) -> Picture:
    art, key, ink = _paint(_ART_SIDE_PX * 2 // 5, _ART_SIDE_PX, _dark(rng)), _light(rng), _dark(rng)
    if rng.random() < 0.5:
        key, ink = _dark(rng), _light(rng)
    side = _ART_SIDE_PX / 15
    for row in range(5):
        for column in range(14):
            x, y = (column + 0.5 + 0.25 * (row % 3)) * side, (row + 0.8) * side
            low, high = (
                (round(x - 0.43 * side), round(y - 0.43 * side)),
                (round(x + 0.43 * side), round(y + 0.43 * side)),
            )
            cv2.rectangle(art, low, high, key, -1)
            _write(art, font, chr(65 + int(rng.integers(26))), x - 0.1 * side, y - 0.1 * side, 0.4 * side, ink)
    return art


def _draw_floor(rng: Rng, _: Path) -> Picture:
    count, grout = int(rng.integers(6, 24)), _light(rng) if rng.random() < 0.5 else _dark(rng)
    art, side = _paint(_ART_SIDE_PX, _ART_SIDE_PX, grout), _ART_SIDE_PX / count
    base, spread = np.asarray(random_colour(rng)), rng.uniform(2, 30)
    for row, column in np.ndindex(count, count):
        blue, green, red = np.clip(base + rng.normal(0, spread) + rng.normal(0, 4, 3), 0, 255).tolist()
        _fill_cell(art, row, column, side, (blue, green, red), float(rng.uniform(0.02, 0.04)))
    return art


def _draw_window(rng: Rng, _: Path) -> Picture:
    rows, columns = int(rng.integers(2, 16)), int(rng.integers(2, 16))
    sky = np.linspace(rng.uniform(120, 255), rng.uniform(60, 255), _ART_SIDE_PX)[:, None, None]
    art = np.clip(sky + np.zeros((1, _ART_SIDE_PX, 1)) + rng.normal(0, 20, 3), 0, 255).astype(np.uint8)
    for _pane in range(int(rng.integers(0, 9))):
        middle = tuple(int(v) for v in rng.integers(0, _ART_SIDE_PX, 2))
        cv2.circle(art, middle, int(rng.integers(20, 140)), random_colour(rng), -1, cv2.LINE_AA)
    _draw_lines(art, rows, columns, _light(rng) if rng.random() < 0.6 else _dark(rng), int(rng.integers(6, 22)))
    return art


def _draw_spreadsheet(rng: Rng, font: Path) -> Picture:
    rows, columns = int(rng.integers(14, 30)), int(rng.integers(5, 16))
    art, ink = _paint(_ART_SIDE_PX, _ART_SIDE_PX, (252.0, 252.0, 252.0)), (60.0, 60.0, 60.0)
    height, width = _ART_SIDE_PX / rows, _ART_SIDE_PX / columns
    if rng.random() < 0.6:
        art[:: max(1, 2 * round(height))] = 230
        cv2.rectangle(art, (0, 0), (_ART_SIDE_PX, round(height)), _light(rng), -1)
    for row, column in np.argwhere(rng.random((rows, columns)) < 0.7).tolist():
        number = str(int(rng.integers(1, 999)))
        _write(art, font, number, (column + 0.5) * width, (row + 0.5) * height, 0.6 * height, ink)
    _draw_lines(art, rows, columns, (190.0, 190.0, 190.0), 1)
    return art


def _draw_book_shelf(rng: Rng, font: Path) -> Picture:
    shelves = int(rng.integers(3, 8))
    art, height = _paint(_ART_SIDE_PX, _ART_SIDE_PX, _dark(rng)), _ART_SIDE_PX / shelves
    for shelf in range(shelves):
        x = 0.0
        while x < _ART_SIDE_PX:
            width, top = rng.uniform(0.12, 0.35) * height, (shelf + rng.uniform(0.05, 0.3)) * height
            colour = random_colour(rng)
            cv2.rectangle(
                art, (round(x), round(top)), (round(x + width) - 2, round((shelf + 0.95) * height)), colour, -1
            )
            title = text_mask(font, str(rng.choice(["ATLAS", "NOVEL", "GARDEN", "COOKING"])), round(0.5 * width) + 4)
            print_mask(art, np.rot90(title), x + width / 2, (shelf + 0.6) * height, _light(rng))
            x += width
    return art


def _draw_mancala(rng: Rng, _: Path) -> Picture:
    wood = hsv_to_bgr(0.05 + 0.05 * rng.random(), 0.4 + 0.4 * rng.random(), 0.3 + 0.5 * rng.random())
    art, side = _paint(_ART_SIDE_PX * 3 // 8, _ART_SIDE_PX, wood), _ART_SIDE_PX / 8
    hollow = (wood[0] * 0.6, wood[1] * 0.6, wood[2] * 0.6)
    for row in range(2):
        for column in range(6):
            middle = np.array([(column + 1.5) * side, (row + 0.5) * art.shape[0] / 2])
            cv2.circle(art, tuple(middle.round().astype(int).tolist()), round(0.42 * side), hollow, -1, cv2.LINE_AA)
            for _seed in range(int(rng.integers(0, 6))):
                at = tuple((middle + rng.normal(0, 0.15 * side, 2)).round().astype(int).tolist())
                cv2.circle(art, at, round(0.1 * side), random_colour(rng), -1, cv2.LINE_AA)
    return art


def _draw_quilt(rng: Rng, _: Path) -> Picture:
    count = int(rng.choice([6, 9, 12, 15, 15, 18]))
    art, side = _paint(_ART_SIDE_PX, _ART_SIDE_PX, _light(rng)), _ART_SIDE_PX / count
    colours = [random_colour(rng) for _ in range(int(rng.integers(2, 7)))]
    pattern = rng.integers(0, len(colours), (count, count))
    if rng.random() < 0.6:  # most quilts have a fourfold symmetry, like a board
        half = pattern[: (count + 1) // 2, : (count + 1) // 2]
        left = np.concatenate([half, half[: count // 2][::-1]])
        pattern = np.concatenate([left, left[:, : count // 2][:, ::-1]], axis=1)
    for row, column in np.ndindex(count, count):
        _fill_cell(art, row, column, side, colours[pattern[row, column]])
        if rng.random() < 0.1:
            _fill_cell(art, row, column, side, colours[0], 0.25)
    _draw_lines(art, count, count, _light(rng), int(rng.integers(1, 4)))
    return art


KINDS: Final[dict[str, Callable[[Rng, Path], Picture]]] = {
    "chess": _draw_chess,
    "checkers": _draw_checkers,
    "go": _draw_go,
    "crossword": _draw_crossword,
    "sudoku": _draw_sudoku,
    "calendar": _draw_calendar,
    "keyboard": _draw_keyboard,
    "floor": _draw_floor,
    "window": _draw_window,
    "spreadsheet": _draw_spreadsheet,
    "book shelf": _draw_book_shelf,
    "mancala": _draw_mancala,
    "quilt": _draw_quilt,
}
"""Functions that draw each kind of grid, seen from straight above: `(H, W, 3) uint8 BGR`."""
