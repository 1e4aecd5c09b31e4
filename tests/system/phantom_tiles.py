"""Count tiles that are read on empty squares (python -m tests.system.phantom_tiles --count 200 --seed 1).

Two kinds of boards are drawn by `tests.support.drawn_boards`, which shares no code with the renderer of the training:
glossy boards that reflect lamps, windows and tubes on empty squares, and boards whose squares without a premium have
the colour of the tiles. Each picture is read twice, with the corners given and with the corners found.

A phantom tile is an empty square whose best guess is a tile. It is counted in each column whose confidence it reaches.
Letters and blanks are those on the board; a blank is lost if the best guess is an empty square.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import cv2
import numpy as np

from engine.reading import BLANK, BOARD_SIZE, EMPTY, SquareReading
from engine.tiles import load_tile_set
from tests.support.drawn_boards import LIGHTS, PRINTS, DrawnBoard, draw_board
from tests.system.marked_blanks import is_near
from vision.recognition.reader import BoardReader, PhotoReader, best_guess

KINDS: Final[tuple[Literal["glossy", "plain"], ...]] = ("glossy", "plain")
CONFIDENCES: Final = (0.0, 0.5, 0.9, 0.95, 0.99)


@dataclass(frozen=True, slots=True)
class BoardCount:
    """What became of the squares of one board in one reading."""

    name: str
    is_read: bool
    empty: int = 0
    phantoms: tuple[float, ...] = ()
    """Confidence of each phantom tile."""
    letters: int = 0
    wrong_letters: int = 0
    blanks: int = 0
    lost_blanks: int = 0


def count_tiles(reader: PhotoReader, board: DrawnBoard, *, is_found: bool) -> BoardCount:
    """Read a board and count its phantom tiles; `is_found` if the reader has to find the corners.

    A board that is found upside down is compared upside down, because with few tiles nothing shows which way is up;
    its letters do not count. A board that is found elsewhere, or mirrored, counts as not read.
    """
    reading = reader.read(
        board.image, load_tile_set("en").letters, corners=None if is_found else board.corners.astype(np.float64)
    )
    if reading.board is None or reading.corners is None or reading.is_mirrored:
        return BoardCount(board.name, is_read=False)
    turns = [k for k in range(4) if is_near(np.roll(reading.corners, k, axis=0), board.corners)]
    if not turns:
        return BoardCount(board.name, is_read=False)
    squares = np.array([*reading.board.squares, None], object)[:-1].reshape(BOARD_SIZE, BOARD_SIZE)
    return _compare_squares(board, np.rot90(squares, -turns[0]).ravel().tolist(), is_upright=not turns[0])


def _compare_squares(board: DrawnBoard, squares: Sequence[SquareReading], *, is_upright: bool) -> BoardCount:
    pairs = [(symbol, *best_guess(square)) for symbol, square in zip(board.symbols, squares, strict=True)]
    letters = [(symbol, guess) for symbol, guess, _ in pairs if is_upright and symbol not in (EMPTY, BLANK)]
    blanks = [guess for symbol, guess, _ in pairs if symbol == BLANK]
    return BoardCount(
        board.name,
        is_read=True,
        empty=sum(symbol == EMPTY for symbol, _, _ in pairs),
        phantoms=tuple(p for symbol, guess, p in pairs if symbol == EMPTY and guess != EMPTY),
        letters=len(letters),
        wrong_letters=sum(symbol != guess for symbol, guess in letters),
        blanks=len(blanks),
        lost_blanks=blanks.count(EMPTY),
    )


def describe_counts(groups: dict[str, list[BoardCount]]) -> str:
    """Return the report as a Markdown table with a row for each group."""
    columns = ("all", *(f"at {confidence}" for confidence in CONFIDENCES[1:]))
    lines = [
        f"| boards | number | not read | empty squares | phantom tiles: {' | '.join(columns)} | letters | wrong "
        "| blanks | lost |",
        "| --- " * (8 + len(CONFIDENCES)) + "|",
    ]
    for name, counts in groups.items():
        phantoms = [p for count in counts for p in count.phantoms]
        by_confidence = [sum(p >= confidence for p in phantoms) for confidence in CONFIDENCES]
        numbers = [
            len(counts),
            sum(not count.is_read for count in counts),
            sum(count.empty for count in counts),
            *by_confidence,
            sum(count.letters for count in counts),
            sum(count.wrong_letters for count in counts),
            sum(count.blanks for count in counts),
            sum(count.lost_blanks for count in counts),
        ]
        lines.append(f"| {name} | {' | '.join(map(str, numbers))} |")
    return "\n".join(lines)


def measure_boards(
    reader: PhotoReader,
    count: int,
    seed: int,
    prints: Sequence[str] = PRINTS,
    lights: Sequence[str] = LIGHTS,
    pictures: Path | None = None,
) -> dict[str, list[BoardCount]]:
    """Draw and read `count` boards of each kind; return the counts by kind, and by the print of the board."""
    groups: dict[str, list[BoardCount]] = {}
    for kind in KINDS:
        for number in range(count):
            board = draw_board(np.random.default_rng((seed, number)), kind, prints, lights)
            if pictures:
                cv2.imwrite(str(pictures / f"{kind}-{number:04}.png"), board.image)
            for way, is_found in (("given", False), ("found", True)):
                result = count_tiles(reader, board, is_found=is_found)
                groups.setdefault(f"{kind}, corners {way}", []).append(result)
                groups.setdefault(f"{kind}, {board.name.split()[0]}, {way}", []).append(result)
    return dict(sorted(groups.items(), key=lambda item: ("corners" not in item[0], item[0])))


def main(argv: Sequence[str] | None = None) -> int:
    """Draw and read boards, and print the report."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.system.phantom_tiles", description=str(__doc__).split("\n\n")[0]
    )
    parser.add_argument("--count", type=int, default=200, help="boards of each kind (default 200)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--prints", nargs="+", choices=PRINTS, default=PRINTS, help="what the squares look like")
    parser.add_argument("--lights", nargs="+", choices=LIGHTS, default=LIGHTS, help="what glossy boards reflect")
    parser.add_argument("--pictures", type=Path, metavar="DIR", help="write the pictures there")
    args = parser.parse_args(argv)
    if args.pictures:
        args.pictures.mkdir(parents=True, exist_ok=True)
    groups = measure_boards(BoardReader(), args.count, args.seed, args.prints, args.lights, args.pictures)
    print(describe_counts(groups))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
