"""Read rendered boards whose blanks have marks (python -m tests.system.marked_blanks --count 500 --seed 1).

Players stick paper on blanks, draw a heart, write a name; makers print emblems. The tiles and the boards have any
colour, and some stickers have the colour of the square below the tile. The renderer of the training draws the board
with plain blanks; the marks are painted into its picture by `tests.support.blank_marks`, in the light and at the
sharpness of the picture. Each picture is read without corners; with `--letters`, when players have written letters on
the blanks, at its true corners. Reported for each kind of mark, with the 95 % interval of Wilson (1927): blanks read as
blank, as a letter, as empty, or not at all, and those that are read as a letter or as empty with a confidence of 0.99
or more.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.reading import BLANK, EMPTY, HIDDEN
from engine.tiles import load_tile_set
from tests.support.blank_marks import KINDS, LETTER, SIDE_PX, Mark, Reflectance, draw_mark
from vision.geometry import Image, square_side
from vision.recognition.reader import BoardReader
from vision.rendering.board_art import LAYOUT
from vision.rendering.fonts import packaged_fonts
from vision.rendering.scene import Scene, SceneSetting, compose_scene
from vision.rendering.style import Colour, Rng, hsv_to_bgr
from vision.rendering.tile_art import PlacedTile, place_tiles
from vision.training.random_scenes import RandomSetting, clear_light, random_labels, random_setting
from vision.training.varied_tiles import Dimples, VariedTileStyle

BLANKS_PER_BOARD: Final = 2
MIN_SQUARE_PX: Final = 20.0
"""Minimum resolution of a rendered board, in pixels per square."""
SURE_P: Final = 0.99
_SUPERSAMPLING: Final = 4
"""Pixels of the painted mark for each pixel of the picture, along each side."""
_OUTCOMES: Final = ("blank", "letter", "empty", "not read")


@dataclass(frozen=True, slots=True, eq=False)
class MarkedBoard:
    """A picture of a board, and the marks on its blanks by (row, column)."""

    scene: Scene
    image: Image
    marks: dict[tuple[int, int], Mark]


@dataclass(frozen=True, slots=True)
class BlankResult:
    """Reading of one marked blank: one of `_OUTCOMES`, and the confidence of the symbol."""

    kind: str
    outcome: str
    confidence: float
    has_square_colour: bool

    @property
    def is_surely_letter(self) -> bool:
        """True if the blank is read as a letter with a confidence of `SURE_P` or more."""
        return self.outcome == "letter" and self.confidence >= SURE_P

    @property
    def is_surely_empty(self) -> bool:
        """True if the blank is read as an empty square with a confidence of `SURE_P` or more."""
        return self.outcome == "empty" and self.confidence >= SURE_P


def draw_marked_board(rng: Rng, *, with_letters: bool = False) -> MarkedBoard:
    """Render a random board with `BLANKS_PER_BOARD` marked blanks.

    Some have the marks of `KINDS`; or, `with_letters`, a player has written letters on them, the tiles have values, and
    the light is clear.
    """
    letters = load_tile_set("en").letters
    counts = np.array([load_tile_set("en").counts[letter] for letter in letters], np.float64)
    while True:
        setting = random_setting(rng, packaged_fonts())
        style = _choose_tile_colours(rng, replace(setting.tile_style, blank="plain"))
        if with_letters:
            style = replace(style, value_height=style.value_height or 0.16)
        light = clear_light(setting.light, setting.camera) if with_letters else replace(setting.light, motion_blur=0.0)
        setting = replace(setting, tile_style=style, light=light)
        labels = random_labels(rng, letters, counts / counts.sum(), float(rng.uniform(0.08, 0.45)))
        for at in rng.permutation(len(labels))[:BLANKS_PER_BOARD]:
            labels[list(labels)[int(at)]] = BLANK
        tiles = place_tiles(rng, labels, style)
        seed = int(rng.integers(2**31))
        scene = compose_scene(np.random.default_rng(seed), setting, labels, placed_tiles=tiles)
        if square_side(scene.corners) >= MIN_SQUARE_PX:
            return _paint_marks(rng, setting, labels, tiles, seed, scene, with_letters=with_letters)


def _choose_tile_colours(rng: Rng, style: VariedTileStyle) -> VariedTileStyle:
    """Return the style as it is, or with any colour of tiles and a print that contrasts with it."""
    if rng.random() < 0.4:
        return style
    light = hsv_to_bgr(rng.random(), 0.6 * rng.random(), 0.7 + 0.3 * rng.random())
    dark = hsv_to_bgr(rng.random(), rng.random(), 0.1 + 0.35 * rng.random())
    top, ink = (light, dark) if rng.random() < 0.5 else (dark, light)
    return replace(style, top=top, ink=ink, side=(0.7 * top[0], 0.7 * top[1], 0.7 * top[2]))


def _paint_marks(
    rng: Rng,
    setting: RandomSetting,
    labels: dict[tuple[int, int], str],
    tiles: Sequence[PlacedTile],
    seed: int,
    scene: Scene,
    *,
    with_letters: bool,
) -> MarkedBoard:
    """Paint a mark on each blank of the scene, and compress the picture again.

    Two more pictures of the same table, with white and with black tiles, show how bright a mark of any reflectance
    appears at each pixel.
    """
    black, white = (_render_card(setting, labels, tiles, seed, grey) for grey in (0.0, 255.0))
    image = scene.image.astype(np.float32)
    marks = {}
    for tile in (tile for tile in tiles if tile.letter == BLANK):
        at = int(tile.y), int(tile.x)
        square = _find_square_colour(setting, *at)
        kind = LETTER if with_letters else str(rng.choice(KINDS, p=(0.4, 0.2, 0.15, 0.15, 0.1)))
        marks[at] = draw_mark(
            rng, kind, packaged_fonts(), _reflect(setting.tile_style.top), square, setting.light.direction
        )
        _paint_mark(image, black, white, marks[at], _project_top(setting, tile), setting)
    quality = [cv2.IMWRITE_JPEG_QUALITY, max(setting.light.jpeg_quality, 60)]
    _done, data = cv2.imencode(".jpg", np.clip(image, 0, 255).astype(np.uint8), quality)
    return MarkedBoard(scene, np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8), marks)


def _render_card(
    setting: RandomSetting, labels: dict[tuple[int, int], str], tiles: Sequence[PlacedTile], seed: int, grey: float
) -> NDArray[np.float32]:
    """Render the same picture with smooth tiles of one grey."""
    colour = (grey, grey, grey)
    style = replace(
        setting.tile_style, top=colour, ink=colour, grain=0.0, colour_spread=0.0, dimples=Dimples(), bevel_light=0.0
    )
    card = compose_scene(np.random.default_rng(seed), replace(setting, tile_style=style), labels, placed_tiles=tiles)
    return card.image.astype(np.float32)


def _reflect(colour: Colour) -> Reflectance:
    return colour[0] / 255, colour[1] / 255, colour[2] / 255


def _find_square_colour(setting: SceneSetting, row: int, column: int) -> Reflectance:
    kind = LAYOUT[row][column]
    return _reflect(setting.board_style.premium.get("D" if kind == "*" else kind, setting.board_style.ground))


def _project_top(setting: SceneSetting, tile: PlacedTile) -> NDArray[np.float64]:
    """Return the corners (4, 2) of the tile's top in the picture, in px."""
    style = setting.tile_style
    return setting.camera.project(tile.corners(style.size), style.height)


def _paint_mark(
    image: NDArray[np.float32],
    black: NDArray[np.float32],
    white: NDArray[np.float32],
    mark: Mark,
    top: NDArray[np.float64],
    setting: SceneSetting,
) -> None:
    """Paint a mark into `image` on the tile whose top has the corners `top`, as sharp as the camera sees it."""
    height, width = image.shape[:2]
    margin = 4 + 3 * setting.light.blur
    x0, y0 = np.maximum(np.floor(top.min(axis=0) - margin), 0).astype(int)
    x1, y1 = np.minimum(np.ceil(top.max(axis=0) + margin) + 1, (width, height)).astype(int)
    if x1 <= x0 or y1 <= y0:
        return
    # Project the canvas into an enlarged window of the picture, and shrink it without aliasing.
    target = (top - (x0, y0) + 0.5) * _SUPERSAMPLING - 0.5
    canvas = np.array([[0, 0], [SIDE_PX, 0], [SIDE_PX, SIDE_PX], [0, SIDE_PX]]) - 0.5
    matrix = cv2.getPerspectiveTransform(canvas.astype(np.float32), target.astype(np.float32))
    window = (int(x1 - x0), int(y1 - y0))
    size = (window[0] * _SUPERSAMPLING, window[1] * _SUPERSAMPLING)
    layers = cv2.warpPerspective(np.dstack([mark.colour, mark.cover]), matrix, size, flags=cv2.INTER_LINEAR)
    layers = cv2.resize(layers, window, interpolation=cv2.INTER_AREA)
    # Blur it like the picture.
    blur = float(np.hypot(setting.light.blur, 0.4 / setting.light.sampling_scale))
    layers = cv2.GaussianBlur(layers, (0, 0), blur)
    colour, cover = layers[:, :, :3], layers[:, :, 3:]
    here = np.s_[y0:y1, x0:x1]
    image[here] = image[here] * (1 - cover) + black[here] * cover + (white[here] - black[here]) * colour


def read_blanks(reader: BoardReader, board: MarkedBoard, *, at_corners: bool = False) -> Iterator[BlankResult]:
    """Read a picture, if `at_corners` at its true corners, and yield what became of each marked blank in the picture.

    If the board is read the wrong way up, its blanks are on other squares than in the reading: they are not read.
    """
    corners = board.scene.corners if at_corners else None
    reading = reader.read(board.image, load_tile_set("en").letters, corners=corners)
    is_found = reading.corners is not None and is_near(reading.corners, board.scene.corners)
    for (row, column), mark in board.marks.items():
        if board.scene.hidden[row, column] > 0.1:
            continue
        if reading.board is None or not is_found:
            yield BlankResult(mark.kind, "not read", 0.0, mark.has_square_colour)
            continue
        square = reading.board[row, column]
        outcome = {BLANK: "blank", EMPTY: "empty", HIDDEN: "not read"}.get(square.symbol, "letter")
        yield BlankResult(mark.kind, outcome, square.confidence, mark.has_square_colour)


def is_near(found: NDArray[np.float64], truth: NDArray[np.float64]) -> bool:
    """Return True if the corners `found` are, in the same order, within half a square of the corners `truth`."""
    return bool(np.linalg.norm(found - truth, axis=1).mean() < 0.5 * square_side(truth))


def estimate_share(count: int, total: int) -> tuple[float, float]:
    """Return the 95 % interval of a share by Wilson's score (1927).

    >>> low, high = estimate_share(0, 500)
    >>> low, round(high, 4)
    (0.0, 0.0076)
    """
    z, n = 1.96, max(total, 1)
    p = count / n
    middle, spread = p + z**2 / (2 * n), z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    low, high = (middle - spread) / (1 + z**2 / n), (middle + spread) / (1 + z**2 / n)
    return (float(low) if count else 0.0), (float(high) if count < total else 1.0)


def describe_results(results: Sequence[BlankResult]) -> str:
    """Return the report as a Markdown table."""
    groups = {kind: [r for r in results if r.kind == kind] for kind in (*KINDS, LETTER)}
    groups["sticker in the square's colour"] = [r for r in results if r.has_square_colour]
    groups["all"] = list(results)
    lines = [
        "| mark | blanks | as blank | as a letter | not read | as empty | letter at 0.99 or more | empty at 0.99 |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, group in groups.items():
        counts = {outcome: sum(r.outcome == outcome for r in group) for outcome in _OUTCOMES}
        low, high = (100 * share for share in estimate_share(counts["empty"], len(group)))
        shares = " | ".join(f"{100 * counts[o] / max(len(group), 1):.1f} %" for o in ("blank", "letter", "not read"))
        empty = f"{counts['empty']}, {100 * counts['empty'] / max(len(group), 1):.1f} % ({low:.1f} to {high:.1f})"
        sure = f"{sum(r.is_surely_letter for r in group)} | {sum(r.is_surely_empty for r in group)}"
        lines.append(f"| {name} | {len(group)} | {shares} | {empty} | {sure} |")
    return "\n".join(lines)


def measure_blanks(
    reader: BoardReader, count: int, seed: int, pictures: Path | None = None, *, with_letters: bool = False
) -> list[BlankResult]:
    """Draw and read boards until `count` marked blanks are read; write the boards as PNG files to `pictures`."""
    results: list[BlankResult] = []
    number = 0
    while len(results) < count:
        board = draw_marked_board(np.random.default_rng((seed, number)), with_letters=with_letters)
        if pictures:
            cv2.imwrite(str(pictures / f"{number:04}.png"), board.image)
        results += read_blanks(reader, board, at_corners=with_letters)
        number += 1
    return results[:count]


def main(argv: Sequence[str] | None = None) -> int:
    """Draw and read marked blanks, and print the report."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.system.marked_blanks", description=str(__doc__).split("\n\n")[0]
    )
    parser.add_argument("--count", type=int, default=500, help="marked blanks (default 500)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pictures", type=Path, metavar="DIR", help="write the pictures there")
    parser.add_argument("--letters", action="store_true", help="blanks with a written letter, on sets with values")
    args = parser.parse_args(argv)
    if args.pictures:
        args.pictures.mkdir(parents=True, exist_ok=True)
    results = measure_blanks(BoardReader(), args.count, args.seed, args.pictures, with_letters=args.letters)
    print(describe_results(results))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
