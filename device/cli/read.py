"""Read the board in each photograph.

With --json, the command prints one JSON object for each photograph, on a line of its own. `board` has 15 strings of 15
signs: `.` is an empty square, a capital letter a tile, and `?` a blank. `corners` are in pixels of the file's picture,
clockwise from the top left as the tiles are read. The object also has the confidence of each square, the times in
milliseconds, and the problems. For a tile with several letters (Spanish CH), `board` has only the first letter, and
`digraphs` has all letters, by name of the square.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from device.cli import UserError
from device.cli.options import make_board_reader

if TYPE_CHECKING:
    from vision.geometry import Floats
    from vision.photo import Photo
    from vision.recognition.reader import BoardReader, PhotoReading

_MIN_CONFIDENCE = 0.9
"""Minimum confidence of a square; if it is lower, the square is marked as doubtful."""
_MAX_CORNER_PX = 100_000
"""Largest coordinate of a corner, in pixels; OpenCV cannot open a picture with a longer side."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    parser.add_argument("photos", nargs="+", type=Path, metavar="PHOTO", help="photograph of a board")
    parser.add_argument(
        "--tiles",
        default="en",
        metavar="SET",
        help="language of the tiles as a code, such as en, de or ro (default en)",
    )
    parser.add_argument(
        "--corners",
        metavar='"x,y x,y x,y x,y"',
        help="corners of the grid in pixels, clockwise from the top left as you read the tiles",
    )
    parser.add_argument("--json", action="store_true", help="print a line of JSON for each photograph")


def run(args: argparse.Namespace) -> int:
    """Read all photographs. If some could not be opened, raise `UserError` at the end."""
    from engine.tiles import load_tile_set
    from vision.photo import PhotoError, load_photo

    corners = parse_corners(args.corners) if args.corners is not None else None
    tiles = load_tile_set(args.tiles)
    if tiles.by_hand_only:
        raise UserError(f"--tiles {tiles.name}: The camera cannot read {tiles.language} tiles yet.")
    reader = make_board_reader()
    unopened = []
    for path in args.photos:
        try:
            photo = load_photo(path)
        except PhotoError as error:
            unopened.append(str(error))
            if args.json:
                print(json.dumps(_make_json(path, None, None, [str(error)]), ensure_ascii=False), flush=True)
            continue
        reading, placed = read_photo(reader, photo, tiles.letters, corners)
        if args.json:
            print(json.dumps(_make_json(path, reading, placed, list(reading.problems)), ensure_ascii=False), flush=True)
        else:
            print(as_text(path, reading), flush=True)
    if unopened:
        raise UserError(" ".join(unopened))
    return 0


def parse_corners(text: str) -> Floats:
    """Parse `x,y x,y x,y x,y` and return a (4, 2) array in pixels. Raises `UserError`."""
    from vision.geometry import as_quad, is_convex

    try:
        quad = as_quad([[float(v) for v in pair.split(",")] for pair in text.split()])
    except ValueError:
        raise UserError(f'--corners "{text}": Give four points as "x,y x,y x,y x,y".') from None
    if not is_convex(quad):
        raise UserError(
            f'--corners "{text}": Give the points clockwise around the grid: top left, top right, bottom right, '
            "bottom left."
        )
    if abs(quad).max() > _MAX_CORNER_PX:
        raise UserError(f'--corners "{text}": A corner is too far outside the photograph. Give the corners in pixels.')
    return quad


def read_photo(
    reader: BoardReader, photo: Photo, letters: Collection[str], corners: Floats | None
) -> tuple[PhotoReading, Floats | None]:
    """Read one photograph; return the reading and the corners of the board.

    Both the argument and the result `corners` are in pixels of the picture in the file.
    """
    reading = reader.read(photo.image, letters, corners=None if corners is None else photo.file_to_image(corners))
    return reading, None if reading.corners is None else photo.image_to_file(reading.corners)


def _make_json(
    path: Path, reading: PhotoReading | None, corners: Floats | None, problems: list[str]
) -> dict[str, object]:
    from engine.board import square_name
    from engine.reading import BOARD_SIZE
    from vision.recognition.reader import best_guess

    answer: dict[str, object] = {
        "photo": str(path),
        "board": None,
        "corners": None if corners is None else corners.round(2).tolist(),
        "confidence": None,
        "ms": {"locate": 0.0, "read": 0.0, "total": 0.0},
        "problems": problems,
    }
    if reading is not None:
        ms = reading.ms
        answer["ms"] = {"locate": round(ms.locate, 2), "read": round(ms.read, 2), "total": round(ms.total, 2)}
    if reading is not None and reading.board is not None:
        squares = [best_guess(square) for square in reading.board.squares]
        rows = range(0, BOARD_SIZE * BOARD_SIZE, BOARD_SIZE)
        answer["board"] = ["".join(symbol[0] for symbol, _ in squares[i : i + BOARD_SIZE]) for i in rows]
        answer["confidence"] = [[round(p, 4) for _, p in squares[i : i + BOARD_SIZE]] for i in rows]
        digraphs = {square_name(i): symbol for i, (symbol, _) in enumerate(squares) if len(symbol) > 1}
        if digraphs:
            answer["digraphs"] = digraphs
    return answer


def as_text(path: Path, reading: PhotoReading) -> str:
    """Return the board as text, with names of rows and columns, and with marks on doubtful squares."""
    from engine.reading import BOARD_SIZE, EMPTY
    from vision.recognition.reader import best_guess

    lines = [f"{path}  ({reading.ms.total:.0f} ms)"]
    if reading.board is not None:
        lines.append("     " + "  ".join("ABCDEFGHIJKLMNO"))
        for row in range(BOARD_SIZE):
            cells = []
            for column in range(BOARD_SIZE):
                symbol, p = best_guess(reading.board[row, column])
                mark = "" if p >= _MIN_CONFIDENCE else "!"
                cells.append(("·" if symbol == EMPTY else symbol) + mark)
            lines.append(f"{row + 1:3}  " + "".join(f"{cell:3}" for cell in cells).rstrip())
    lines += [f"  ! {problem}" for problem in reading.problems]
    return "\n".join(lines)
