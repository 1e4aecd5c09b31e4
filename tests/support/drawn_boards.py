"""Pictures of boards drawn by code that shares nothing with the renderer of the training but the font files.

A board is a flat print in a perspective camera. Tiles are stacks of slices above it, which gives them sides; their tops
have bevelled edges and letters, and they throw shadows. Reflections are added to the board only, on empty squares. Then
follow the light of the room, blur, noise and JPEG.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.board import CENTRE, NEIGHBOURS, Premium, load_layout
from engine.reading import BLANK, EMPTY
from engine.tiles import load_tile_set
from vision.rendering.fonts import letter_mask, packaged_fonts

Floats = NDArray[np.float64]
Layer = NDArray[np.float32]
Colour = tuple[float, float, float]
Rng = np.random.Generator

PRINTS: Final = ("lines", "points", "dots", "pegs", "frames", "ridges")
"""What the squares of a board look like: thin lines, star points of premium squares that reach into their neighbours,
premiums as dots, holes for pegs, a raised frame round each square, wide raised ridges between squares."""
LIGHTS: Final = ("lamp", "window", "strip")
"""What a glossy board reflects: soft round lamps, windows with bars, long tubes."""
_PX: Final = 44
"""Resolution of the print and of the tiles, in pixels per square."""
_MARGIN: Final = 2
"""Width of the drawn surroundings of the grid, in squares."""
_SIDE: Final = (15 + 2 * _MARGIN) * _PX
_PREMIUMS: Final = load_layout().premiums
_KINDS: Final = (Premium.TRIPLE_WORD, Premium.DOUBLE_WORD, Premium.TRIPLE_LETTER, Premium.DOUBLE_LETTER)
_SHORT: Final = {_KINDS[0]: "3W", _KINDS[1]: "2W", _KINDS[2]: "3L", _KINDS[3]: "2L"}
_USUAL_COLOURS: Final = (
    ("#d5392e", "#f0a8ac", "#2f74b5", "#a9d2e8"),
    ("#e2531f", "#f3b83c", "#1f5fa8", "#6fb4d8"),
    ("#b3252d", "#e58a98", "#27509b", "#8fb8d8"),
    ("#c8102e", "#ef9a7a", "#006a8e", "#79c1c4"),
    ("#a0243f", "#d98fb0", "#35608f", "#9fb9cc"),
    ("#e03a3e", "#f6c1c7", "#3b7d4f", "#a9d8a0"),
    ("#7b2d8b", "#d7a6dd", "#e08a1e", "#f4d79b"),
)
"""Colours of the four premiums in the order of `_KINDS`, as of boards that are sold."""
_USUAL_GROUNDS: Final = ("#c9c2a8", "#d8cfb4", "#1f6b4a", "#b9c6b0", "#e7e2d4", "#34383c", "#9aa7a0", "#4f7f7a")
_TILE_COLOURS: Final = ("#e8d2a4", "#d9b981", "#f4ead2", "#f6f4ef", "#efe3bd", "#c99a62")


@dataclass(frozen=True, slots=True, eq=False)
class DrawnBoard:
    """A picture `(H, W, 3) uint8 BGR`, the corners `(4, 2)` of its grid in px, and the 225 symbols on the squares."""

    image: NDArray[np.uint8]
    corners: Floats
    symbols: tuple[str, ...]
    name: str


@dataclass(frozen=True, slots=True)
class _Style:
    print_: str
    lights: tuple[str, ...]
    ground: Colour
    premiums: dict[Premium, Colour]
    tile: Colour
    ink: Colour
    line: Colour
    grain: float
    has_text: bool
    shadow: tuple[float, float]
    """Where the light throws shadows, in squares for a height of one square."""


def draw_board(
    rng: Rng, kind: Literal["glossy", "plain"], prints: Sequence[str] = PRINTS, lights: Sequence[str] = LIGHTS
) -> DrawnBoard:
    """Draw a glossy board with reflections, or a board whose squares without a premium have the tiles' colour."""
    style = _choose_style(rng, kind, prints, lights)
    symbols = lay_tiles(rng, int(rng.integers(0, 41)))
    tops = _draw_tops(rng, style, symbols)
    height = float(rng.uniform(0.15, 0.32))
    board = _print_board(rng, style)
    covered = tops[:, :, 3]
    board *= 1 - _shade(covered, style, height)[:, :, None]
    board += _reflect_lights(rng, style, symbols)
    size = ((960, 720), (1152, 864), (1344, 1008))[int(rng.integers(3))]
    camera = _place_camera(rng, size)
    image = _photograph(rng, camera, size, board, tops, style, height)
    corners = _project(camera, [(0, 0), (15, 0), (15, 15), (0, 15)])
    name = f"{style.print_} {'+'.join(style.lights)}".strip()
    return DrawnBoard(image, corners, symbols, name)


def lay_tiles(rng: Rng, count: int) -> tuple[str, ...]:
    """Return the symbols of 225 squares with `count` connected tiles drawn from an English set."""
    counts = load_tile_set("en").counts
    bag = rng.permutation([letter for letter, n in counts.items() for _ in range(n)]).tolist()
    symbols: dict[int, str] = {}
    for letter in bag[:count]:
        beside = {n for square in symbols for n in NEIGHBOURS[square]} - set(symbols) or {CENTRE}
        # Prefer squares with one neighbour, so that lines grow like words.
        thin = [n for n in sorted(beside) if sum(m in symbols for m in NEIGHBOURS[n]) == 1]
        symbols[int(rng.choice(thin or sorted(beside)))] = letter
    return tuple(symbols.get(square, EMPTY) for square in range(225))


def _choose_style(rng: Rng, kind: str, prints: Sequence[str], lights: Sequence[str]) -> _Style:
    if rng.random() < 0.6:
        chosen = [_parse(text) for text in _USUAL_COLOURS[int(rng.integers(len(_USUAL_COLOURS)))]]
    else:
        hues = (rng.random() + np.array([0, 0.07, 0.5, 0.57]) + rng.normal(0, 0.05, 4)) % 1
        chosen = [_from_hsv(hue, rng.uniform(0.25, 0.95), rng.uniform(0.3, 0.95)) for hue in hues]
    tile = _parse(str(rng.choice(_TILE_COLOURS)))
    if kind == "glossy":
        usual = _parse(str(rng.choice(_USUAL_GROUNDS)))
        ground = usual if rng.random() < 0.7 else _from_hsv(rng.random(), 0.5 * rng.random(), rng.uniform(0.2, 0.9))
    else:
        ground = _scale(tile, rng.uniform(0.97, 1.02))
    line = _scale(ground, rng.choice([0.6, 0.75, 0.88])) if rng.random() < 0.6 else (245.0, 245.0, 245.0)
    number = int(rng.integers(1, 5))
    length, direction = rng.uniform(0.4, 1.1), rng.uniform(0, 2 * np.pi)
    return _Style(
        print_=str(rng.choice(prints)),
        lights=tuple(str(x) for x in rng.choice(lights, number)) if kind == "glossy" else (),
        ground=ground,
        premiums=dict(zip(_KINDS, chosen, strict=True)),
        tile=tile,
        ink=_scale((40, 40, 45), rng.uniform(0.2, 1.6)),
        line=_scale(ground, 0.8) if kind == "plain" else line,
        grain=float(rng.choice([0.0, 0.0, 0.05, 0.1])),
        has_text=kind == "glossy" and bool(rng.random() < 0.6),
        shadow=(float(length * np.cos(direction)), float(length * np.sin(direction))),
    )


def _print_board(rng: Rng, style: _Style) -> Layer:
    """Draw the print of the board with its frame: `(side, side, 3)`."""
    board = np.full((_SIDE, _SIDE, 3), style.ground, np.float32)
    edge = int(rng.uniform(0.3, 1.5) * _PX)
    start, end = _MARGIN * _PX, _SIDE - _MARGIN * _PX
    table = _from_hsv(rng.uniform(0.03, 0.12), rng.uniform(0, 0.6), rng.uniform(0.2, 0.9))
    board[:] = table
    board[start - edge : end + edge, start - edge : end + edge] = _scale(style.ground, rng.choice([0.5, 0.8, 1.0]))
    board[start:end, start:end] = style.ground
    pad = int(rng.choice([0, 0, 1, 3]))
    for square, premium in enumerate(_PREMIUMS):
        x, y = (start + _PX * k for k in (square % 15, square // 15))
        if premium is not Premium.NONE:
            _print_premium(board, style, premium, x, y, pad)
    _print_between(board, style, start, end)
    return board * _draw_grain(rng, style.grain, _SIDE)


def _print_premium(board: Layer, style: _Style, premium: Premium, x: int, y: int, pad: int) -> None:
    colour, middle = style.premiums[premium], (x + _PX // 2, y + _PX // 2)
    if style.print_ == "dots":
        cv2.circle(board, middle, int(0.3 * _PX), colour, -1, cv2.LINE_AA)
        return
    cv2.rectangle(board, (x + pad, y + pad), (x + _PX - 1 - pad, y + _PX - 1 - pad), colour, -1)
    if style.print_ == "points":
        reach, half = 0.11 * _PX, 0.1 * _PX
        for turn in np.arange(4) * np.pi / 2:
            along, out = np.array([np.cos(turn), np.sin(turn)]), np.array([-np.sin(turn), np.cos(turn)])
            for place in (-0.25, 0.25) if _SHORT[premium][0] == "2" else (-0.3, 0.0, 0.3):
                foot = np.array(middle) + place * _PX * along + 0.49 * _PX * out
                tip = np.array([foot - half * along, foot + (reach + 2) * out, foot + half * along])
                cv2.fillPoly(board, [np.round(tip).astype(np.int32)], colour, cv2.LINE_AA)
    if style.has_text:
        mask, _ = letter_mask(packaged_fonts()[1], _SHORT[premium][0], int(0.3 * _PX))
        ink = (20.0, 20.0, 20.0) if sum(colour) > 380 else (245.0, 245.0, 245.0)
        _paste(board, mask, middle[0] - mask.shape[1] // 2, middle[1] - mask.shape[0] // 2, ink)


def _print_between(board: Layer, style: _Style, start: int, end: int) -> None:
    """Draw what is between the squares: lines, peg holes, frames or ridges."""
    light, dark = _scale(style.ground, 1.12), _scale(style.ground, 0.68)
    sign = 1 if style.shadow[0] + style.shadow[1] > 0 else -1
    bright, dim = (light, dark) if sign > 0 else (dark, light)
    for at in range(start, end + 1, _PX):
        for line in (((start, at), (end, at)), ((at, start), (at, end))):
            if style.print_ != "frames":
                cv2.line(board, *line, style.line, 1 if style.print_ == "pegs" else 2, cv2.LINE_AA)
            if style.print_ == "ridges":
                cv2.line(board, *line, style.ground, 6)
                back, ahead = (tuple((x - s, y - s) for x, y in line) for s in (3, -3))
                cv2.line(board, *back, bright, 2, cv2.LINE_AA)
                cv2.line(board, *ahead, dim, 2, cv2.LINE_AA)
    if style.print_ == "pegs":
        for x in range(start, end + 1, _PX):
            for y in range(start, end + 1, _PX):
                cv2.circle(board, (x, y), 5, _scale(style.ground, 0.4), -1, cv2.LINE_AA)
                cv2.circle(board, (x - sign, y - sign), 5, _scale(style.ground, 0.75), 1, cv2.LINE_AA)
    if style.print_ == "frames":
        for square in range(225):
            x, y = start + _PX * (square % 15), start + _PX * (square // 15)
            cv2.rectangle(board, (x + 1, y + 1), (x + _PX - 2, y + _PX - 2), style.ground, 5)
            for inset, above, below in ((0, bright, dim), (5, dim, bright)):
                first, last = (x + inset, y + inset), (x + _PX - 1 - inset, y + _PX - 1 - inset)
                for corner, colour in ((first, above), (last, below)):
                    cv2.line(board, corner, (last[0], first[1]), colour, 2, cv2.LINE_AA)
                    cv2.line(board, corner, (first[0], last[1]), colour, 2, cv2.LINE_AA)


def _draw_tops(rng: Rng, style: _Style, symbols: Sequence[str]) -> Layer:
    """Draw the tops of the tiles: `(side, side, 4)`, colour times coverage, and the coverage 0 to 1."""
    layer = np.zeros((_SIDE, _SIDE, 4), np.float32)
    values, font = load_tile_set("en").values, packaged_fonts()[int(rng.integers(len(packaged_fonts())))]
    side, cap, value_cap = rng.uniform(0.82, 0.93), rng.uniform(0.4, 0.56), rng.choice([0, 0.14, 0.18])
    for square, symbol in enumerate(symbols):
        if symbol == EMPTY:
            continue
        tile = _draw_tile(rng, style, side)
        if symbol != BLANK:
            mask, _ = letter_mask(font, symbol, int(cap * 2 * _PX))
            _paste(
                tile[:, :, :3], mask, _PX * 3 // 2 - mask.shape[1] // 2, _PX * 3 // 2 - mask.shape[0] // 2, style.ink
            )
        if symbol != BLANK and value_cap:
            x = _PX * 3 // 2 + int(0.32 * side * 2 * _PX)
            for digit in reversed(str(values[symbol])):
                mask, _ = letter_mask(font, digit, int(value_cap * 2 * _PX))
                x -= mask.shape[1] // 2 + 2
                _paste(tile[:, :, :3], mask, x, _PX * 3 // 2 + int(0.22 * side * 2 * _PX), style.ink)
        tile[:, :, :3] *= tile[:, :, 3:]
        turn, shift = np.degrees(rng.normal(0, 0.025)), rng.normal(0, 0.025, 2) * _PX
        matrix = cv2.getRotationMatrix2D((1.5 * _PX - 0.5,) * 2, turn, 0.5)
        x, y = (_PX * (_MARGIN + k) - _PX // 4 for k in (square % 15, square // 15))
        matrix[:, 2] += shift - 0.75 * _PX
        patch = cv2.warpAffine(tile, matrix, (_PX * 3 // 2, _PX * 3 // 2), flags=cv2.INTER_AREA)
        here = layer[y : y + len(patch), x : x + len(patch)]
        here *= 1 - patch[:, :, 3:]
        here += patch
    return layer


def _draw_tile(rng: Rng, style: _Style, side: float) -> Layer:
    """Draw a tile without a letter, with bevelled edges: `(3 px, 3 px, 4)`, at twice the resolution of the board."""
    size, half, round_ = 3 * _PX, int(side * _PX), int(rng.uniform(3, 9))
    cover = np.zeros((size, size), np.float32)
    cover[size // 2 - half : size // 2 + half, size // 2 - half : size // 2 + half] = 1
    cover = np.clip(4 * cv2.blur(cv2.erode(cover, None), (round_, round_)) - 1.5, 0, 1)
    bevel = cv2.GaussianBlur(cover, (0, 0), 2.5)
    slope = cv2.Sobel(bevel, cv2.CV_32F, 1, 0) * style.shadow[0] + cv2.Sobel(bevel, cv2.CV_32F, 0, 1) * style.shadow[1]
    shade = rng.normal(1, 0.015) + np.clip(0.5 * slope, -0.3, 0.25)
    tile = np.dstack([np.full((size, size, 3), style.tile, np.float32) * shade[:, :, None], cover])
    tile[:, :, :3] *= _draw_grain(rng, style.grain, size)
    return np.asarray(tile, np.float32)


def _shade(covered: Layer, style: _Style, height: float) -> Layer:
    """Return how much of the light the tiles keep from the board: a cast shadow, and a dark line at their feet."""
    dx, dy = (height * _PX * k for k in style.shadow)
    cast = cv2.warpAffine(covered, np.array([[1, 0, dx], [0, 1, dy]]), (_SIDE, _SIDE))
    cast = np.maximum(cast, cv2.warpAffine(covered, np.array([[1, 0, dx / 2], [0, 1, dy / 2]]), (_SIDE, _SIDE)))
    foot = cv2.GaussianBlur(covered, (0, 0), 2.5)
    return np.asarray(np.clip(0.45 * cv2.GaussianBlur(cast, (0, 0), 3) + 0.3 * foot, 0, 0.7), np.float32)


def _reflect_lights(rng: Rng, style: _Style, symbols: Sequence[str]) -> Layer:
    """Return the light that the board reflects, `(side, side, 3)`, with the middle of each light on an empty square."""
    light = np.zeros((_SIDE, _SIDE, 3), np.float32)
    empty = [square for square, symbol in enumerate(symbols) if symbol == EMPTY]
    for kind in style.lights:
        square = int(rng.choice(empty))
        middle = (np.array([square % 15, square // 15]) + rng.random(2) + _MARGIN) * _PX
        shape = np.zeros((_SIDE, _SIDE), np.float32)
        if kind == "lamp":
            radii = rng.uniform(0.3, 1.3) * _PX * np.array([1, rng.uniform(0.6, 1)])
            cv2.ellipse(shape, _box(middle, 2 * radii, rng.uniform(0, 180)), 1.0, -1, cv2.LINE_AA)
            blur = rng.uniform(0.15, 0.6)
        elif kind == "window":
            _draw_window(rng, shape, middle, rng.uniform(1, 3.5, 2) * _PX, rng.uniform(-40, 40))
            blur = rng.uniform(0.04, 0.2)
        else:
            length, width = rng.uniform(3, 12) * _PX, rng.uniform(0.15, 0.6) * _PX
            corners = cv2.boxPoints(_box(middle, np.array([length, width]), rng.uniform(0, 180)))
            cv2.fillConvexPoly(shape, np.round(corners).astype(np.int32), 1.0, cv2.LINE_AA)
            blur = rng.uniform(0.05, 0.2)
        tint = np.clip(1 + rng.normal(0, 0.05, 3), 0.8, 1.1)
        light += cv2.GaussianBlur(shape, (0, 0), blur * _PX)[:, :, None] * rng.uniform(70, 330) * tint
    return light


def _draw_window(rng: Rng, shape: Layer, middle: Floats, size: Floats, turn: float) -> None:
    """Draw the panes of a window with bars between them."""
    columns, rows, bar = int(rng.integers(1, 4)), int(rng.integers(1, 4)), rng.uniform(0.04, 0.12)
    a, lean = np.radians(turn), rng.uniform(-0.3, 0.3)
    axes = np.array([[np.cos(a), np.sin(a)], [-np.sin(a) + lean, np.cos(a)]])
    for i in range(columns):
        for j in range(rows):
            u = np.array(
                [[i + bar, j + bar], [i + 1 - bar, j + bar], [i + 1 - bar, j + 1 - bar], [i + bar, j + 1 - bar]]
            )
            corners = middle + ((u / [columns, rows] - 0.5) * size) @ axes
            cv2.fillConvexPoly(shape, np.round(corners).astype(np.int32), 1.0, cv2.LINE_AA)


def _place_camera(rng: Rng, size: tuple[int, int]) -> Floats:
    """Return the `(3, 4)` projection from squares (x right, y down, z up from the board) to pixels."""
    tilt, turn, focal = (
        np.radians(rng.uniform(0, 42)),
        np.radians(rng.uniform(-18, 18)),
        rng.uniform(0.8, 1.4) * size[0],
    )
    side = np.radians(rng.uniform(-25, 25))
    rx = np.array([[1, 0, 0], [0, np.cos(tilt), -np.sin(tilt)], [0, np.sin(tilt), np.cos(tilt)]])
    rz = np.array([[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]])
    ry = np.array([[np.cos(side), 0, np.sin(side)], [0, 1, 0], [-np.sin(side), 0, np.cos(side)]])
    # Tilt away from the viewer: the far side of the board is at the top.
    rotation = (ry @ rx.T @ rz) @ np.diag([1, 1, -1])
    intrinsic = np.array([[focal, 0, size[0] / 2], [0, focal, size[1] / 2], [0, 0, 1]])
    centre = rotation @ np.array([7.5, 7.5, 0])
    camera = np.zeros((3, 4))
    for distance in np.geomspace(10, 120, 120):
        camera = intrinsic @ np.column_stack([rotation, np.array([0, 0, distance]) - centre])
        spots = _project(camera, [(-0.7, -0.7), (15.7, -0.7), (15.7, 15.7), (-0.7, 15.7)])
        if (spots > 0).all() and (spots < size).all():
            break
    return camera


def _project(camera: Floats, points: Sequence[tuple[float, float]], height: float = 0.0) -> Floats:
    spots = np.array([(*point, height, 1) for point in points]) @ camera.T
    return np.asarray(spots[:, :2] / spots[:, 2:], np.float64)


def _photograph(
    rng: Rng, camera: Floats, size: tuple[int, int], board: Layer, tops: Layer, style: _Style, height: float
) -> NDArray[np.uint8]:
    """Project the board, the slices of the tiles and their tops into the picture, and develop it."""
    image = _warp(board, camera, 0.0, size, cv2.BORDER_REPLICATE)
    y0, x0, y1, x1 = _find_tiles(camera, tops[:, :, 3], height, size)
    here, offset = image[y0:y1, x0:x1], np.array([[1, 0, -x0], [0, 1, -y0], [0, 0, 1]])
    window = (x1 - x0, y1 - y0)
    cover = np.ascontiguousarray(tops[:, :, 3])
    for z in np.linspace(0.05, 0.9, 6):
        slice_ = _warp(cover, offset @ camera, float(z) * height, window, cv2.BORDER_CONSTANT)[:, :, None]
        here *= 1 - slice_
        here += slice_ * np.array(_scale(style.tile, 0.5 + 0.25 * float(z)), np.float32)
    top = _warp(tops, offset @ camera, height, window, cv2.BORDER_CONSTANT)
    here *= 1 - top[:, :, 3:]
    here += top[:, :, :3]
    # Uneven light, its colour, and the exposure.
    x, y = (np.linspace(-1, 1, n, dtype=np.float32) * np.float32(rng.uniform(-0.18, 0.18)) for n in size)
    image *= (np.float32(rng.uniform(0.7, 1.02)) + x + y[:, None])[:, :, None]
    image *= (1 + rng.normal(0, 0.05, 3)).astype(np.float32)
    image = cv2.GaussianBlur(image, (0, 0), rng.uniform(0.5, 1.6) * size[0] / 1280)
    image += np.float32(rng.uniform(1, 5)) * rng.standard_normal(image.shape, np.float32)
    quality = [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(65, 96))]
    _, data = cv2.imencode(".jpg", np.clip(image, 0, 255).astype(np.uint8), quality)
    return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)


def _find_tiles(camera: Floats, covered: Layer, height: float, size: tuple[int, int]) -> tuple[int, int, int, int]:
    """Return the part of the picture with the tiles: top, left, bottom, right; one pixel without tiles."""
    rows, columns = (np.flatnonzero(covered.any(axis=axis)) / _PX - _MARGIN for axis in (1, 0))
    if not len(rows):
        return 0, 0, 1, 1
    points = [(x, y) for x in (columns[0], columns[-1]) for y in (rows[0], rows[-1])]
    spots = np.concatenate([_project(camera, points, z) for z in (0.0, height)])
    (x0, y0), (x1, y1) = spots.min(axis=0) - 3, spots.max(axis=0) + 4
    return max(int(y0), 0), max(int(x0), 0), min(int(y1), size[1]), min(int(x1), size[0])


def _warp(layer: Layer, camera: Floats, height: float, size: tuple[int, int], border: int) -> Layer:
    """Project a layer of the board's size, at a height in squares, into the picture."""
    plane = np.column_stack([camera[:, 0], camera[:, 1], height * camera[:, 2] + camera[:, 3]])
    matrix = plane @ np.array([[1 / _PX, 0, 0.5 / _PX - _MARGIN], [0, 1 / _PX, 0.5 / _PX - _MARGIN], [0, 0, 1]])
    return np.asarray(cv2.warpPerspective(layer, matrix, size, flags=cv2.INTER_LINEAR, borderMode=border), np.float32)


def _draw_grain(rng: Rng, strength: float, side: int) -> Layer:
    """Return the brightness of wood, with fine streaks and broad bands along one direction: `(side, side, 1)`."""
    if not strength:
        return np.ones((side, side, 1), np.float32)
    fine, broad = (rng.normal(0, 1, (side // k + 2, side // 99 + 2)).astype(np.float32) for k in (2, 9))
    streaks = sum(cv2.resize(noise, (side, side), interpolation=cv2.INTER_CUBIC) for noise in (fine, broad))
    return np.asarray(1 + strength * 0.6 * np.asarray(streaks)[:, :, None], np.float32)


def _paste(layer: Layer, mask: NDArray[np.uint8], x: int, y: int, colour: Colour) -> None:
    share = mask[:, :, None].astype(np.float32) / 255
    here = layer[y : y + mask.shape[0], x : x + mask.shape[1]]
    share = share[: here.shape[0], : here.shape[1]]
    here *= 1 - share
    here += share * np.array(colour, np.float32)


def _box(middle: Floats, size: Floats, turn: float) -> tuple[tuple[float, float], tuple[float, float], float]:
    return (float(middle[0]), float(middle[1])), (float(size[0]), float(size[1])), float(turn)


def _parse(text: str) -> Colour:
    return float(int(text[5:7], 16)), float(int(text[3:5], 16)), float(int(text[1:3], 16))


def _from_hsv(hue: float, saturation: float, value: float) -> Colour:
    pixel = np.array([[[360 * hue, saturation, value]]], np.float32)
    blue, green, red = (255 * cv2.cvtColor(pixel, cv2.COLOR_HSV2BGR)[0, 0]).tolist()
    return blue, green, red


def _scale(colour: Colour, factor: float) -> Colour:
    blue, green, red = (min(255.0, factor * value) for value in colour)
    return blue, green, red
