"""Measure how letters that differ only by an accent are read, in typefaces that no training uses.

    python -m tests.system.accented_tiles --fonts FOLDER/usr/share/fonts --boards 4 --square-px 28

For every Latin tile set with accents, boards are rendered with the values of the set, with clear print and in clear
light, and reduced to the given number of pixels a square. They are read at their true corners. The fonts are the serif
and slab faces of `tests.system.unseen_faces`, and the sans, condensed and rounded faces that the training keeps for
calibration.

Boards whose print nearly disappears in the light of the picture are drawn again: people cannot read them either.

Reported for each tile set: letters that have another accent in the set, those of them read with a wrong accent or as
another letter, wrong ones called at 0.99, right ones below 0.9, and those called hidden, which count as neither.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import cv2
import numpy as np

from engine.reading import BOARD_SIZE, HIDDEN
from engine.tiles import TileSet, load_tile_set, tile_set_names
from tests.system.unseen_faces import SURE_P, find_font, load_held_out_fonts
from vision.geometry import square_side
from vision.recognition.alphabet import strip_accent
from vision.recognition.reader import BoardReader
from vision.rendering.fonts import packaged_fonts, select_supporting_fonts
from vision.rendering.scene import Labels, Scene, compose_scene
from vision.rendering.style import Rng
from vision.training.dataset import is_latin
from vision.training.detail_data import group_by_base
from vision.training.font_list import load_training_fonts
from vision.training.letter_shapes import PLAIN_SHAPE
from vision.training.random_scenes import clear_light, random_labels, random_setting
from vision.training.tile_styles import luma

_CLEAR_P: Final = 0.9
_ACCENTED_WEIGHT: Final = 5.0
"""Frequency of a letter that has another accent in the set, relative to the other letters."""
_MAX_HIDDEN: Final = 0.05
"""Maximum share of a tile that something covers; other tiles are not counted."""
_MAX_COPIES: Final = 4
"""Maximum number of tiles of a letter: far more than the set has would not be believed."""
_MIN_CONTRAST: Final = 90.0
"""Minimum difference in brightness (0..255) between print and tile, as on tiles that are sold."""
_MIN_SEEN_CONTRAST: Final = 50.0
"""Minimum difference in brightness (0..255) between print and tile in the picture, for half of the tiles."""


@dataclass(frozen=True, slots=True)
class AccentCounts:
    """Numbers of tiles whose letter has another accent in the set."""

    tiles: int = 0
    wrong_accent: int = 0
    other_letter: int = 0
    sure_wrong: int = 0
    """Wrong ones that were called at `SURE_P` or more."""
    unclear: int = 0
    """Right ones with a probability below 0.9."""
    hidden: int = 0
    """Tiles that are read as hidden; they count nowhere else."""

    def __add__(self, other: AccentCounts) -> AccentCounts:
        return AccentCounts(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))

    def describe(self, name: str) -> str:
        """Return one row of the report."""
        share = f"1 in {self.tiles / self.wrong_accent:.0f}" if self.wrong_accent else "none"
        counts = self.tiles, self.wrong_accent, share, self.other_letter, self.sure_wrong, self.unclear, self.hidden
        return "| " + " | ".join(map(str, (name, *counts))) + " |"


def list_faces(root: Path) -> tuple[Path, ...]:
    """Return the fonts below `root` that no training uses, of the kinds that makers of tiles use."""
    held_out = (find_font(font, root) for font in load_held_out_fonts() if font.kind in ("serif", "slab"))
    kept = (font for font in load_training_fonts() if font.calibration and not font.is_npm)
    plain = (root.parent / font.file for font in kept if font.kind in ("sans", "condensed", "rounded"))
    return tuple(dict.fromkeys((*held_out, *plain)))


def list_accented_sets() -> tuple[TileSet, ...]:
    """Return the Latin tile sets in which letters differ only by an accent, one for each alphabet."""
    sets = {tiles.letters: tiles for tiles in map(load_tile_set, reversed(tile_set_names())) if is_latin(tiles.letters)}
    return tuple(sorted((tiles for tiles in sets.values() if find_accented(tiles.letters)), key=lambda each: each.name))


def find_accented(letters: Sequence[str]) -> frozenset[str]:
    """Return the letters of one character that differ from another letter only by an accent."""
    groups = group_by_base(letters).values()
    return frozenset(letter for group in groups if len(group) > 1 for letter in group)


def draw_accented_board(rng: Rng, tiles: TileSet, faces: tuple[Path, ...], square_px: float) -> Scene:
    """Render a board in clear light with at least `square_px` pixels a square."""
    accented = find_accented(tiles.letters)
    weights = np.array([_ACCENTED_WEIGHT if letter in accented else 1.0 for letter in tiles.letters])
    usable = select_supporting_fonts(faces, "".join(tiles.letters) + "0123456789")
    while True:
        setting = random_setting(rng, packaged_fonts(), usable)
        style = replace(
            setting.tile_style,
            mixed_faces=(),
            letter_shape=PLAIN_SHAPE,
            worn_share=0.0,
            rim=0.0,
            print_effect="plain",
            value_height=setting.tile_style.value_height or 0.16,
        )
        if abs(luma(style.top) - luma(style.ink)) < _MIN_CONTRAST:
            continue
        labels = limit_copies(random_labels(rng, tiles.letters, weights / weights.sum(), 0.35))
        setting = replace(setting, tile_style=style, light=clear_light(setting.light, setting.camera))
        scene = compose_scene(rng, setting, labels, values=tiles.values)
        if square_side(scene.corners) >= square_px and measure_seen_contrast(scene) >= _MIN_SEEN_CONTRAST:
            return scene


def measure_seen_contrast(scene: Scene) -> float:
    """Return the median, over the visible tiles, of the contrast (0..255) in the middle of the tile."""
    grey = cv2.cvtColor(scene.image, cv2.COLOR_BGR2GRAY)
    reach = round(0.3 * square_side(scene.corners))
    contrasts = []
    for x, y in scene.centres[(scene.hidden < _MAX_HIDDEN) & ~np.isnan(scene.centres[:, :, 0])].round().astype(int):
        part = grey[max(y - reach, 0) : y + reach, max(x - reach, 0) : x + reach]
        contrasts.append(float(np.ptp(np.percentile(part, [3, 97]))) if part.size else 0.0)
    return float(np.median(contrasts)) if contrasts else 0.0


def limit_copies(labels: Labels) -> Labels:
    """Return the labels without the copies of a letter beyond `_MAX_COPIES`."""
    counts: Counter[str] = Counter()
    kept = {}
    for at, letter in labels.items():
        counts[letter] += 1
        if counts[letter] <= _MAX_COPIES:
            kept[at] = letter
    return kept


def read_accents(reader: BoardReader, scene: Scene, tiles: TileSet, square_px: float) -> AccentCounts:
    """Read a rendered board, reduced to `square_px` pixels a square, at its true corners; count its tiles."""
    scale = square_px / square_side(scene.corners)
    small = np.asarray(cv2.resize(scene.image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8)
    board = reader.read(small, tiles.letters, corners=(scene.corners + 0.5) * scale - 0.5).board
    assert board is not None
    accented, counts = find_accented(tiles.letters), AccentCounts()
    for row in range(BOARD_SIZE):
        for column in range(BOARD_SIZE):
            truth, square = scene.labels[row][column], board[row, column]
            if truth not in accented or scene.hidden[row, column] > _MAX_HIDDEN:
                continue
            if square.symbol == HIDDEN:
                counts += AccentCounts(hidden=1)
                continue
            is_right, is_sure = square.symbol == truth, square.confidence >= SURE_P
            is_same_base = len(square.symbol) == 1 and strip_accent(square.symbol) == strip_accent(truth)
            counts += AccentCounts(
                1,
                not is_right and is_same_base,
                not is_right and not is_same_base,
                not is_right and is_sure,
                is_right and square.confidence < _CLEAR_P,
            )
    return counts


def measure_sets(root: Path, boards: int, square_px: float, seed: int) -> Mapping[str, AccentCounts]:
    """Render and read `boards` boards of each tile set; return the counts by the names of the sets."""
    reader, faces = BoardReader(), list_faces(root)
    counts = {}
    for number, tiles in enumerate(list_accented_sets()):
        total = AccentCounts()
        for board in range(boards):
            rng = np.random.default_rng((seed, number, board))
            total += read_accents(reader, draw_accented_board(rng, tiles, faces, square_px), tiles, square_px)
        counts[tiles.name] = total
        print(total.describe(tiles.name), flush=True)
    return counts


def main(argv: Sequence[str] | None = None) -> int:
    """Render and read boards of all accented tile sets, and print the report."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.system.accented_tiles", description=str(__doc__).split("\n\n", maxsplit=1)[0]
    )
    parser.add_argument("--fonts", type=Path, required=True, help="folder with the fonts of tests.system.unseen_faces")
    parser.add_argument("--boards", type=int, default=2, help="boards for each tile set (default 2)")
    parser.add_argument("--square-px", type=float, default=28.0, help="pixels a square (default 28)")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)
    print("| set | tiles | wrong accent | share | another letter | wrong at 0.99 or more | right, below 0.9 | hidden |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    counts = measure_sets(args.fonts, args.boards, args.square_px, args.seed)
    print(sum(counts.values(), AccentCounts()).describe("all"))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
