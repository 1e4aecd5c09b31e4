"""Evaluate the reading of squares that a hand covers, in single pictures and in merged readings of several pictures.

`python -m calibration.evaluation.occlusion` renders boards with a hand that moves from picture to picture. A covered
square should be read as hidden. In the merged reading, every square that is visible in at least one picture should have
its true symbol.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from calibration.evaluation.rendered_tables import RenderedTable, list_scene_rows
from engine.reading import HIDDEN, BoardReading, merge_readings
from engine.tiles import load_tile_set
from vision.recognition.reader import BoardReader
from vision.training.font_list import training_fonts

_MIN_COVERED_SHARE: Final = 0.9
"""Minimum share (0..1) of a square's area under a hand for the square to count as covered."""
_MAX_CLEAR_SHARE: Final = 0.1
"""Maximum share (0..1) of a square's area under a hand for the square to count as clear."""
_FIRST_SEED: Final = 90_000
"""Seed of the first rendered table; no network was trained with it."""


def judge_squares(board: BoardReading, faces: Sequence[str]) -> Iterator[str]:
    """Yield `hidden`, `right` or `wrong` for each square of a reading; `faces` are the 225 true faces."""
    for square, face in zip(board.squares, faces, strict=True):
        if square.symbol == HIDDEN:
            yield "hidden"
        else:
            yield "right" if square.symbol == face else "wrong"


def count_verdicts(tables: int, pictures: int, fonts: Sequence[Path]) -> dict[str, Counter[str]]:
    """Render and read boards with hands; count the results of `judge_squares` for each group of squares.

    The name of a group tells whether its squares are covered, for example `one picture, clear squares`. There are
    groups for single pictures and groups for merged readings. `tables` is the number of boards, `pictures` the number
    of pictures per board, `fonts` are the fonts of the tiles.
    """
    reader = BoardReader()
    letters = load_tile_set("en").letters
    counts: dict[str, Counter[str]] = {
        name: Counter()
        for name in (
            "one picture, covered squares",
            "one picture, partly covered",
            "one picture, clear squares",
            "merged, covered in all",
            "merged, clear in one at least",
        )
    }
    for number in range(tables):
        table = RenderedTable(fonts[number * 7 % len(fonts)], _FIRST_SEED + number)
        readings, covered_shares, faces = [], [], list[str]()
        for scene in table.render_with_hands(0, pictures):
            board = reader.read(scene.image, letters, corners=scene.corners).board
            assert board is not None
            faces = [face for row in list_scene_rows(scene) for face in row]
            covered = scene.hidden.reshape(-1)
            for share, verdict in zip(covered, judge_squares(board, faces), strict=True):
                if share > _MIN_COVERED_SHARE:
                    counts["one picture, covered squares"][verdict] += 1
                elif share < _MAX_CLEAR_SHARE:
                    counts["one picture, clear squares"][verdict] += 1
                else:
                    counts["one picture, partly covered"][verdict] += 1
            readings.append(board)
            covered_shares.append(covered)
        least_covered = np.min(covered_shares, axis=0)
        for share, verdict in zip(least_covered, judge_squares(merge_readings(readings), faces), strict=True):
            if share > _MIN_COVERED_SHARE:
                counts["merged, covered in all"][verdict] += 1
            elif share < _MAX_CLEAR_SHARE:
                counts["merged, clear in one at least"][verdict] += 1
    return counts


def main() -> None:
    """Print the shares of squares read as hidden, right and wrong, by coverage, for rendered boards with hands."""
    parser = argparse.ArgumentParser(prog="python -m calibration.evaluation.occlusion", description=__doc__)
    parser.add_argument("--tables", type=int, default=30)
    parser.add_argument("--pictures", type=int, default=3, help="of each board")
    args = parser.parse_args()
    print(f"{'':32} squares   hidden    right    wrong")
    for name, counter in count_verdicts(args.tables, args.pictures, training_fonts()).items():
        total = sum(counter.values())
        shares = "".join(f"{100 * counter[key] / max(total, 1):7.2f} %" for key in ("hidden", "right", "wrong"))
        print(f"{name:32} {total:7}{shares}")


if __name__ == "__main__":
    main()
