"""Measure how letters that differ only by an accent are read, in typefaces that no training uses.

    python -m tests.system.accented_tiles --fonts FOLDER/usr/share/fonts --boards 4 --square-px 28
    python -m tests.system.accented_tiles --photographs ~/photos --square-px 20

For every Latin tile set with accents, boards are rendered with the values of the set, with clear print and in clear
light, and reduced to the given number of pixels a square. They are read at their true corners. The fonts are the serif
and slab faces of `tests.system.unseen_faces`, and the sans, condensed and rounded faces that the training keeps for
calibration.

An accent can be read if it can be seen: the same board is rendered with other accents on its letters, and the least
difference between the pictures is measured for each tile. Tiles without a visible difference are counted apart, because
people cannot read their accents either. Boards whose print nearly disappears in the light are drawn again.

With `--photographs`, labelled photographs are read instead, reduced in the same way.

Reported for each tile set: letters that have another accent in the set, those of them read with a wrong accent or as
another letter, wrong ones called at 0.99, right ones below 0.9, and those called hidden or without a visible accent,
which count nowhere else.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.evaluation.samples import Sample, load_photo_samples, shrink_picture
from engine.reading import BOARD_SIZE, HIDDEN
from engine.tiles import TileSet, load_tile_set, tile_set_names
from tests.system.unseen_faces import SURE_P, find_font, load_held_out_fonts
from vision.geometry import Floats, Image, square_side
from vision.recognition.alphabet import strip_accent
from vision.recognition.reader import BoardReader
from vision.rendering.fonts import packaged_fonts, select_supporting_fonts
from vision.rendering.scene import Labels, Scene, compose_scene
from vision.rendering.style import Rng
from vision.rendering.tile_art import PlacedTile, place_tiles
from vision.training.dataset import is_latin
from vision.training.detail_data import group_by_base
from vision.training.font_list import load_training_fonts
from vision.training.letter_shapes import PLAIN_SHAPE
from vision.training.random_scenes import RandomSetting, clear_light, random_labels, random_setting
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
_MIN_SEEN_ACCENT: Final = 16.0
"""Minimum result of `measure_visible_accents` for an accent that can be seen."""
_MIN_SEEN_CONTRAST: Final = 50.0
"""Minimum difference in brightness (0..255) between print and tile in the picture, for half of the tiles."""


@dataclass(frozen=True, slots=True, eq=False)
class AccentedBoard:
    """A rendered board, and the same pictures without values and with other accents."""

    scene: Scene
    plain: Scene
    """The board with the same digit on every tile, so that only the letters differ from those of `others`."""
    others: tuple[Scene, ...]
    """The pictures in which each letter has another accent, one for each that it can have."""


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
    unseen: int = 0
    """Tiles whose accent cannot be seen; they count nowhere else."""

    def __add__(self, other: AccentCounts) -> AccentCounts:
        return AccentCounts(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))

    def describe(self, name: str) -> str:
        """Return one row of the report."""
        share = f"1 in {self.tiles / self.wrong_accent:.0f}" if self.wrong_accent else "none"
        counts = (self.tiles, self.wrong_accent, share, self.other_letter, self.sure_wrong, self.unclear)
        return "| " + " | ".join(map(str, (name, *counts, self.hidden, self.unseen))) + " |"


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


def draw_accented_board(rng: Rng, tiles: TileSet, faces: tuple[Path, ...], square_px: float) -> AccentedBoard:
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
        placed, seed = place_tiles(rng, labels, style), int(rng.integers(2**31))
        compose = partial(compose_renamed, setting, labels, placed, seed)
        scene = compose({}, tiles.values)
        if square_side(scene.corners) >= square_px and measure_seen_contrast(scene) >= _MIN_SEEN_CONTRAST:
            same_value = dict.fromkeys(tiles.letters, 1)
            others = (compose(names, same_value) for names in list_other_accents(tiles.letters))
            return AccentedBoard(scene, compose({}, same_value), tuple(others))


def compose_renamed(
    setting: RandomSetting,
    labels: Labels,
    tiles: Sequence[PlacedTile],
    seed: int,
    names: Mapping[str, str],
    values: Mapping[str, int],
) -> Scene:
    """Render the board with the letters that `names` gives for those of the tiles, and with these `values`."""
    renamed = [replace(tile, letter=names.get(tile.letter, tile.letter)) for tile in tiles]
    return compose_scene(np.random.default_rng(seed), setting, labels, values=values, placed_tiles=renamed)


def list_other_accents(letters: Sequence[str]) -> list[dict[str, str]]:
    """Return mappings from each letter to one with another accent that together have all such pairs.

    >>> list_other_accents(["L", "Ł", "Z", "Ź", "Ż"])
    [{'L': 'Ł', 'Ł': 'L', 'Z': 'Ź', 'Ź': 'Ż', 'Ż': 'Z'}, {'L': 'Ł', 'Ł': 'L', 'Z': 'Ż', 'Ź': 'Z', 'Ż': 'Ź'}]
    """
    groups = [group for group in group_by_base(letters).values() if len(group) > 1]
    return [
        {
            letter: group[(place + 1 + turn % (len(group) - 1)) % len(group)]
            for group in groups
            for place, letter in enumerate(group)
        }
        for turn in range(max(map(len, groups)) - 1)
    ]


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


def measure_visible_accents(board: AccentedBoard, square_px: float) -> NDArray[np.float64]:
    """Return how much the accent of each tile shows in the picture, in grey levels (0..255), as `(15, 15)`.

    This is the least difference from the pictures with other accents, in the fourth most different pixel of the square;
    0 without a tile. The pictures have `square_px` pixels a square.
    """
    plain, *others = (
        cv2.cvtColor(shrink_picture(scene.image, scene.corners, square_px)[0], cv2.COLOR_BGR2GRAY)
        for scene in (board.plain, *board.others)
    )
    seen = np.full((BOARD_SIZE, BOARD_SIZE), np.inf)
    reach = round(square_px / 2)
    for other in others:
        difference = cv2.absdiff(plain, other)
        for at in np.ndindex(seen.shape):
            middle = board.scene.centres[at] * square_px / square_side(board.scene.corners)
            if np.isnan(middle).any():
                continue
            x, y = middle.round().astype(int)
            part = difference[max(y - reach, 0) : y + reach + 1, max(x - reach, 0) : x + reach + 1]
            seen[at] = min(seen[at], np.partition(part.ravel(), -4)[-4] if part.size >= 4 else 0.0)
    return np.where(np.isfinite(seen), seen, 0.0)


def read_board(reader: BoardReader, board: AccentedBoard, letters: Sequence[str], square_px: float) -> AccentCounts:
    """Read a rendered board, reduced to `square_px` pixels a square, at its true corners; count its tiles."""
    scene, accented = board.scene, find_accented(letters)
    seen = measure_visible_accents(board, square_px)
    shown = {at: scene.labels[at[0]][at[1]] for at in np.ndindex(seen.shape) if scene.hidden[at] <= _MAX_HIDDEN}
    visible = {at: letter for at, letter in shown.items() if letter in accented and seen[at] >= _MIN_SEEN_ACCENT}
    unseen = sum(letter in accented for letter in shown.values()) - len(visible)
    picture, corners = shrink_picture(scene.image, scene.corners, square_px)
    return count_accents(reader, picture, corners, letters, visible) + AccentCounts(unseen=unseen)


def read_photograph(reader: BoardReader, sample: Sample, square_px: float) -> AccentCounts:
    """Read a photograph, reduced to `square_px` pixels a square, at its true corners; count its tiles."""
    accented = find_accented(sample.letters)
    truth = {divmod(k, BOARD_SIZE): face for k, face in enumerate(sample.faces) if face in accented}
    return count_accents(
        reader, *shrink_picture(sample.image, sample.corners, square_px), letters=sample.letters, truth=truth
    )


def count_accents(
    reader: BoardReader,
    picture: Image,
    corners: Floats,
    letters: Sequence[str],
    truth: Mapping[tuple[int, int], str],
) -> AccentCounts:
    """Read the picture of a board, and count how the letters on the squares of `truth` are read."""
    reading = reader.read(picture, letters, corners=corners).board
    assert reading is not None
    counts = AccentCounts()
    for at, letter in truth.items():
        square = reading[at]
        is_right, is_sure = square.symbol == letter, square.confidence >= SURE_P
        is_same_base = len(square.symbol) == 1 and strip_accent(square.symbol) == strip_accent(letter)
        counts += (
            AccentCounts(hidden=1)
            if square.symbol == HIDDEN
            else AccentCounts(
                1,
                not is_right and is_same_base,
                not is_right and not is_same_base,
                not is_right and is_sure,
                is_right and square.confidence < _CLEAR_P,
            )
        )
    return counts


def measure_photographs(folder: Path, square_px: float) -> AccentCounts:
    """Read the labelled photographs of accented tile sets below `folder`; return their counts."""
    reader = BoardReader()
    samples = (sample for sample in load_photo_samples(folder) if find_accented(sample.letters))
    return sum((read_photograph(reader, sample, square_px) for sample in samples), AccentCounts())


def measure_sets(root: Path, boards: int, square_px: float, seed: int) -> Iterator[tuple[str, AccentCounts]]:
    """Render and read `boards` boards of each tile set; yield the names of the sets with their counts."""
    reader, faces = BoardReader(), list_faces(root)
    for number, tiles in enumerate(list_accented_sets()):
        total = AccentCounts()
        for board in range(boards):
            rng = np.random.default_rng((seed, number, board))
            total += read_board(reader, draw_accented_board(rng, tiles, faces, square_px), tiles.letters, square_px)
        yield tiles.name, total


def main(argv: Sequence[str] | None = None) -> int:
    """Render and read boards of all accented tile sets, and print the report."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.system.accented_tiles", description=str(__doc__).split("\n\n", maxsplit=1)[0]
    )
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--fonts", type=Path, help="folder with the fonts of tests.system.unseen_faces")
    source.add_argument("--photographs", type=Path, help="folder with collections of photographs, instead of boards")
    parser.add_argument("--boards", type=int, default=2, help="boards for each tile set (default 2)")
    parser.add_argument("--square-px", type=float, default=28.0, help="pixels a square (default 28)")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)
    print(
        "| set | tiles | wrong accent | share | another letter | wrong at 0.99 | right, below 0.9 | hidden | unseen |"
    )
    print("|" + " --- |" * 9)
    if args.photographs:
        print(measure_photographs(args.photographs, args.square_px).describe("photographs"))
        return 0
    total = AccentCounts()
    for name, counts in measure_sets(args.fonts, args.boards, args.square_px, args.seed):
        print(counts.describe(name), flush=True)
        total += counts
    print(total.describe("all"))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
