"""Read rendered tiles in font families that are held out from training (python -m tests.system.unseen_faces).

`tests/data/held_out_fonts.json` lists the families with Debian package, version and SHA-256; all packages are in
Debian's main section. No training may use them. The families of the class "stencil" get bridges: Debian has no
stencil typeface. For each family, boards with light and with dark tiles are rendered and read at their true corners.
Reported for each class: letters right, letters wrong of those called at 0.99 or more, and the expected calibration
error of the best letter (15 bins of equal count) with a 95 % bootstrap interval over boards.

Get the fonts with `--print-packages | xargs apt-get download` and unpack each with `dpkg -x FILE FOLDER`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.reading import BOARD_SIZE, EMPTY, HIDDEN
from engine.tiles import load_tile_set
from vision.geometry import square_side
from vision.recognition.reader import BoardReader
from vision.rendering.fonts import PLAIN_SHAPE, LetterShape, packaged_fonts
from vision.rendering.scene import Scene, compose_scene, random_labels, random_setting
from vision.rendering.style import Rng, hsv_to_bgr

FONT_LIST: Final = Path(__file__).parents[1] / "data" / "held_out_fonts.json"
STENCIL_BRIDGE: Final = 0.09
"""Width of the bridges of stencil letters, as a share of the cap height."""
MIN_SQUARE_PX: Final = 20.0
"""Minimum resolution of a rendered board, in pixels per square; below, faces are hard to distinguish for anyone."""
SURE_P: Final = 0.99
_BINS: Final = 15
_RESAMPLES: Final = 1000


@dataclass(frozen=True, slots=True)
class HeldOutFont:
    """A font file that is held out from training."""

    kind: str
    family: str
    package: str
    version: str
    file: str
    """Path below `/usr/share/fonts`."""
    sha256: str


@dataclass(frozen=True, slots=True, eq=False)
class FaceResult:
    """Readings of the lettered tiles of one board: probability of the best symbol, and True where it is right."""

    kind: str
    p: NDArray[np.float64]
    right: NDArray[np.bool_]
    confused: tuple[str, ...] = ()
    """Wrong letters called at `SURE_P` or more, as `true>read`."""


def load_held_out_fonts() -> tuple[HeldOutFont, ...]:
    """Return the fonts of the list."""
    rows = json.loads(FONT_LIST.read_text(encoding="utf-8"))
    return tuple(HeldOutFont(r["class"], r["family"], r["package"], r["version"], r["file"], r["sha256"]) for r in rows)


def find_font(font: HeldOutFont, root: Path) -> Path:
    """Return the path of the font's file below `root`. Raises ValueError if the file differs from the list."""
    path = root / font.file
    if hashlib.sha256(path.read_bytes()).hexdigest() != font.sha256:
        raise ValueError(f"{path} is not the listed file of {font.package} {font.version}")
    return path


def draw_board(rng: Rng, font: HeldOutFont, path: Path, *, is_dark: bool) -> Scene:
    """Render a board whose tiles have the face `font`, dark on light tiles or, with `is_dark`, light on dark tiles."""
    letters = load_tile_set("en").letters
    while True:
        setting = random_setting(rng, packaged_fonts())
        light = hsv_to_bgr(rng.random(), 0.5 * rng.random(), 0.8 + 0.2 * rng.random())
        dark = hsv_to_bgr(rng.random(), rng.random(), 0.08 + 0.3 * rng.random())
        style = replace(
            setting.tile_style,
            font=path,
            mixed_fonts=(),
            letter_shape=LetterShape(bridge=STENCIL_BRIDGE) if font.kind == "stencil" else PLAIN_SHAPE,
            worn_share=0.0,
            top=dark if is_dark else light,
            ink=light if is_dark else dark,
        )
        labels = random_labels(rng, letters, np.full(len(letters), 1 / len(letters)), 0.3)
        scene = compose_scene(rng, replace(setting, tile_style=style), labels)
        if square_side(scene.corners) >= MIN_SQUARE_PX:
            return scene


def read_faces(reader: BoardReader, scene: Scene, kind: str) -> FaceResult:
    """Read a rendered board at its true corners, and compare its tiles with the truth."""
    board = reader.read(scene.image, load_tile_set("en").letters, corners=scene.corners).board
    assert board is not None
    pairs = [
        (scene.labels[row][column], board[row, column])
        for row in range(BOARD_SIZE)
        for column in range(BOARD_SIZE)
        if scene.labels[row][column] and scene.hidden[row, column] < 0.1
    ]
    pairs = [(truth, square) for truth, square in pairs if square.symbol not in (EMPTY, HIDDEN)]
    p = np.array([square.confidence for _, square in pairs])
    right = np.array([square.symbol == truth for truth, square in pairs], np.bool_)
    sure_wrong = [f"{t}>{s.symbol}" for t, s in pairs if s.symbol != t and s.confidence >= SURE_P]
    return FaceResult(kind, p, right, tuple(sure_wrong))


def measure_calibration_error(p: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    """Return the expected calibration error in bins of equal count."""
    order = np.argsort(p, kind="stable")
    bins = np.array_split(order, _BINS)
    return float(sum(abs(p[b].mean() - right[b].mean()) * len(b) for b in bins if len(b)) / max(len(p), 1))


def describe_results(name: str, results: Sequence[FaceResult], rng: Rng) -> str:
    """Return one row of the report for the boards `results`."""
    p, right = (np.concatenate([getattr(r, field) for r in results]) for field in ("p", "right"))
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
        f"| {100 * measure_calibration_error(p, right):.2f} % ({100 * low:.2f} to {100 * high:.2f}) |"
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Render and read boards in all held-out faces, and print the report."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.system.unseen_faces", description=str(__doc__).split("\n\n")[0]
    )
    parser.add_argument("--fonts", type=Path, default=Path("/usr/share/fonts"), help="folder with the fonts")
    parser.add_argument("--boards", type=int, default=1, help="light and dark boards for each family (default 1)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--print-packages", action="store_true", help="print the Debian packages and stop")
    args = parser.parse_args(argv)
    fonts = load_held_out_fonts()
    if args.print_packages:
        print(*sorted({f"{font.package}={font.version}" for font in fonts}), sep="\n")
        return 0
    reader = BoardReader()
    groups: dict[str, list[FaceResult]] = defaultdict(list)
    for number, font in enumerate(fonts):
        for board in range(2 * args.boards):
            is_dark = board % 2 == 1
            rng = np.random.default_rng((args.seed, number, board))
            scene = draw_board(rng, font, find_font(font, args.fonts), is_dark=is_dark)
            result = read_faces(reader, scene, font.kind)
            for name in (font.kind, "light on dark" if is_dark else "dark on light", "all"):
                groups[name].append(result)
    print("| class | tiles | letters right | wrong at 0.99 or more | calibration error |")
    print("| --- | --- | --- | --- | --- |")
    rng = np.random.default_rng(args.seed)
    for name in sorted(groups, key=lambda name: (name == "all", name)):
        print(describe_results(name, groups[name], rng), flush=True)
    wrong = Counter(pair for result in groups["all"] for pair in result.confused)
    print("most often wrong at 0.99 or more: " + ", ".join(f"{pair} {n}" for pair, n in wrong.most_common(20)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
