"""Measure the confidence of tiles in font families that are held out from training, and on photographs.

    python -m tests.system.unseen_faces --fonts FOLDER/usr/share/fonts --photos PHOTOS

`tests/data/held_out_fonts.json` lists the families with Debian package, version and SHA-256; all packages are in
Debian's main section. No training may use them. The families of the class "stencil" get bridges: Debian has no
stencil typeface. For each family, boards with light and with dark tiles are rendered and read at their true corners.
Photographs are read without corners, each by itself. Get the fonts with `--print-packages | xargs apt-get download` and
unpack each with `dpkg -x FILE FOLDER`.

Reported for each class of faces and each collection of photographs: tiles right, tiles wrong of those called at 0.99 or
more, the expected calibration error of the best symbol (Guo et al., 2017; 15 bins of equal count) with a 95 % bootstrap
interval over boards, and wrong squares called at 0.99 or more, empty squares included. Squares read as hidden or empty
do not count as tiles.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration.evaluation.rendered_tables import load_photo_shots
from engine.reading import BOARD_SIZE, EMPTY, HIDDEN, SquareReading
from engine.tiles import load_tile_set
from vision.geometry import square_side
from vision.recognition.reader import BoardReader
from vision.rendering.fonts import packaged_fonts
from vision.rendering.scene import Scene, compose_scene
from vision.rendering.style import Rng, hsv_to_bgr
from vision.training.font_list import ListedFont
from vision.training.letter_shapes import PLAIN_SHAPE, LetterShape
from vision.training.random_scenes import random_labels, random_setting

FONT_LIST: Final = Path(__file__).parents[1] / "data" / "held_out_fonts.json"
STENCIL_BRIDGE: Final = 0.09
"""Width of the bridges of stencil letters, as a share of the cap height."""
MIN_SQUARE_PX: Final = 20.0
"""Minimum resolution of a rendered board, in pixels per square; below, faces are hard to distinguish for anyone."""
SURE_P: Final = 0.99
_BINS: Final = 15
_RESAMPLES: Final = 1000


@dataclass(frozen=True, slots=True, eq=False)
class BoardResult:
    """Readings of the squares of one board that were read as a tile: probability of the symbol, and True if right."""

    kind: str
    p: NDArray[np.float64]
    right: NDArray[np.bool_]
    confused: tuple[str, ...] = ()
    """Wrong squares called at `SURE_P` or more, as `true>read`; empty ones included."""


def load_held_out_fonts() -> tuple[ListedFont, ...]:
    """Return the fonts of the list."""
    rows = json.loads(FONT_LIST.read_text(encoding="utf-8"))
    return tuple(ListedFont(r["class"], r["family"], r["package"], r["version"], r["file"], r["sha256"]) for r in rows)


def find_font(font: ListedFont, root: Path) -> Path:
    """Return the path of the font's file below `root`. Raises ValueError if the file differs from the list."""
    path = root / font.file
    if hashlib.sha256(path.read_bytes()).hexdigest() != font.sha256:
        raise ValueError(f"{path} is not the listed file of {font.package} {font.version}")
    return path


def draw_board(rng: Rng, font: ListedFont, path: Path, *, is_dark: bool) -> Scene:
    """Render a board whose tiles have the face `font`, dark on light tiles or, with `is_dark`, light on dark tiles."""
    letters = load_tile_set("en").letters
    while True:
        setting = random_setting(rng, packaged_fonts())
        light = hsv_to_bgr(rng.random(), 0.5 * rng.random(), 0.8 + 0.2 * rng.random())
        dark = hsv_to_bgr(rng.random(), rng.random(), 0.08 + 0.3 * rng.random())
        style = replace(
            setting.tile_style,
            font=path,
            mixed_faces=(),
            letter_shape=LetterShape(bridge=STENCIL_BRIDGE) if font.kind == "stencil" else PLAIN_SHAPE,
            worn_share=0.0,
            top=dark if is_dark else light,
            ink=light if is_dark else dark,
        )
        labels = random_labels(rng, letters, np.full(len(letters), 1 / len(letters)), 0.3)
        scene = compose_scene(rng, replace(setting, tile_style=style), labels)
        if square_side(scene.corners) >= MIN_SQUARE_PX:
            return scene


def read_faces(reader: BoardReader, scene: Scene, kind: str) -> BoardResult:
    """Read a rendered board at its true corners, and compare its squares with the truth."""
    board = reader.read(scene.image, load_tile_set("en").letters, corners=scene.corners).board
    assert board is not None
    return compare_squares(
        kind,
        [
            (scene.labels[row][column] or EMPTY, board[row, column])
            for row in range(BOARD_SIZE)
            for column in range(BOARD_SIZE)
            if scene.hidden[row, column] < 0.1
        ],
    )


def read_photographs(reader: BoardReader, folder: Path) -> Iterator[BoardResult]:
    """Read the labelled photographs below `folder`; those on which no board is found are left out."""
    for shot in load_photo_shots(folder):
        board = reader.read(shot.image, load_tile_set(shot.language).letters).board
        if board is not None:
            faces = [face for row in shot.rows for face in row]
            yield compare_squares(shot.table, list(zip(faces, board.squares, strict=True)))


def compare_squares(kind: str, pairs: Sequence[tuple[str, SquareReading]]) -> BoardResult:
    """Compare squares with their true symbols."""
    visible = [(truth, square) for truth, square in pairs if square.symbol != HIDDEN]
    tiles = [(truth, square) for truth, square in visible if square.symbol != EMPTY]
    p = np.array([square.confidence for _, square in tiles])
    right = np.array([square.symbol == truth for truth, square in tiles], np.bool_)
    wrong = [f"{t}>{s.symbol}" for t, s in visible if s.symbol != t and s.confidence >= SURE_P]
    return BoardResult(kind, p, right, tuple(wrong))


def measure_calibration_error(p: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    """Return the expected calibration error in bins of equal count."""
    order = np.argsort(p, kind="stable")
    bins = np.array_split(order, _BINS)
    return float(sum(abs(p[b].mean() - right[b].mean()) * len(b) for b in bins if len(b)) / max(len(p), 1))


def describe_results(name: str, results: Sequence[BoardResult], rng: Rng) -> str:
    """Return one row of the report for the boards `results`."""
    p, right = (np.concatenate([getattr(r, field) for r in results]) for field in ("p", "right"))
    if not len(p):
        return f"| {name} | 0 | - | - | - | {sum(len(result.confused) for result in results)} |"
    resampled = []
    for _ in range(_RESAMPLES):
        some = [results[int(k)] for k in rng.integers(0, len(results), len(results))]
        resampled.append(
            measure_calibration_error(*(np.concatenate([getattr(r, f) for r in some]) for f in ("p", "right")))
        )
    low, high = np.percentile(resampled, [2.5, 97.5])
    sure = p >= SURE_P
    return (
        f"| {name} | {len(p)} | {100 * right.mean():.2f} % | {(sure & ~right).sum()} of {sure.sum()} "
        f"| {100 * measure_calibration_error(p, right):.2f} % ({100 * low:.2f} to {100 * high:.2f}) "
        f"| {sum(len(result.confused) for result in results)} |"
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Render and read boards in all held-out faces, read the photographs, and print the report."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.system.unseen_faces", description=str(__doc__).split("\n\n")[0]
    )
    parser.add_argument("--fonts", type=Path, help="folder with the fonts; without it, no boards are rendered")
    parser.add_argument("--photos", type=Path, help="photographs with */manifest.json")
    parser.add_argument("--boards", type=int, default=1, help="light and dark boards for each family (default 1)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--print-packages", action="store_true", help="print the Debian packages and stop")
    args = parser.parse_args(argv)
    if args.print_packages:
        print(*sorted({f"{font.package}={font.version}" for font in load_held_out_fonts()}), sep="\n")
        return 0
    if not args.fonts and not args.photos:
        parser.error("name a folder with --fonts or --photos")
    reader, rng = BoardReader(), np.random.default_rng(args.seed)
    if args.fonts:
        print_report("all rendered", group_faces(reader, args.fonts, args.boards, args.seed), rng)
    if args.photos:
        groups: dict[str, list[BoardResult]] = defaultdict(list)
        for result in read_photographs(reader, args.photos):
            for name in (result.kind, "all photographs"):
                groups[name].append(result)
        print_report("all photographs", groups, rng)
    return 0


def group_faces(reader: BoardReader, root: Path, boards: int, seed: int) -> Mapping[str, list[BoardResult]]:
    """Render and read light and dark boards in each face; return the results by class, by colours, and together."""
    groups: dict[str, list[BoardResult]] = defaultdict(list)
    for number, font in enumerate(load_held_out_fonts()):
        for board in range(2 * boards):
            is_dark = board % 2 == 1
            rng = np.random.default_rng((seed, number, board))
            result = read_faces(reader, draw_board(rng, font, find_font(font, root), is_dark=is_dark), font.kind)
            for name in (font.kind, "light on dark" if is_dark else "dark on light", "all rendered"):
                groups[name].append(result)
    return groups


def print_report(total: str, groups: Mapping[str, list[BoardResult]], rng: Rng) -> None:
    """Print a table with one row for each group, the group named `total` last."""
    print("| class | tiles | right | wrong at 0.99 or more | calibration error | squares wrong at 0.99 or more |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in sorted(groups, key=lambda name: (name == total, name)):
        print(describe_results(name, groups[name], rng), flush=True)
    wrong = Counter(pair for result in groups[total] for pair in result.confused)
    print("most often wrong at 0.99 or more: " + ", ".join(f"{pair} {n}" for pair, n in wrong.most_common(20)) + "\n")


if __name__ == "__main__":
    raise SystemExit(main())
