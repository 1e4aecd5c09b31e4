"""Measure the gain in accuracy by the profile of a table, on pictures that are not yet in the profile.

`python -m calibration.evaluation.profile_gain DIR` reads the photographs below DIR (with `manifest.json`) in order.
Each photograph is read without and with the profile made from the earlier photographs, and is then added to the
profile. `--rendered` does the same for several games on rendered tables, whose tiles have fonts that are not in the
training data. New tiles are also counted separately, because tiles from an earlier picture are easy for a profile.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

from calibration.evaluation.rendered_tables import RenderedTable, Shot, load_photo_shots
from calibration.profile import TableProfile
from engine.reading import BOARD_SIZE, EMPTY, HIDDEN, BoardReading, SquareReading
from engine.tiles import load_tile_set
from vision.recognition.letters import LetterNet
from vision.recognition.reader import BoardReader
from vision.training.font_list import DEBIAN_ROOT, installed_fonts

UNTRAINED_FONTS: Final = {
    "fonts-urw-base35": (
        "opentype/urw-base35/Z003-MediumItalic.otf",
        "opentype/urw-base35/NimbusMonoPS-Italic.otf",
    ),
    "fonts-linuxlibertine": ("opentype/linux-libertine/LinLibertine_I.otf",),
    "fonts-dejavu-extra": ("truetype/dejavu/DejaVuSansMono-Oblique.ttf",),
    "fonts-league-spartan": ("opentype/league-spartan/LeagueSpartan-Bold.otf",),
    "fonts-mplus": ("opentype/mplus/Mplus2-Medium.otf",),
    "fonts-roboto-slab": ("opentype/roboto/slab/RobotoSlab-Regular.otf",),
    "fonts-paratype": ("truetype/paratype/PTN77F.ttf",),
}
"""Font files that are not in the training data, relative to `DEBIAN_ROOT`, by Debian package."""


@dataclass(slots=True)
class Tally:
    """Counts of pictures, tiles and wrongly read squares.

    Names with `_without` are counts without the table's profile, names with `_with` are counts with it.
    `new_wrong_without` and `new_wrong_with` count only empty squares and tiles that were not in earlier pictures.
    `spoiled` counts squares that are wrong only with the profile.
    """

    pictures: int = 0
    tiles: int = 0
    new_tiles: int = 0
    wrong_without: int = 0
    wrong_with: int = 0
    new_wrong_without: int = 0
    new_wrong_with: int = 0
    spoiled: int = 0

    def add(self, other: Tally) -> None:
        """Add the counts of `other` to this tally."""
        for name in (field.name for field in fields(self)):
            setattr(self, name, getattr(self, name) + getattr(other, name))


def replay_shots(shots: Iterable[Shot], misrecorded_share: float = 0.0) -> Iterator[tuple[Shot, Tally]]:
    """Read each shot twice, first without and then with the profile of its table, and add the shot to the profile.

    Yields each shot with its counts. `misrecorded_share` is the share (0..1) of tiles that the profile learns with a
    wrong letter: the most probable wrong letter of the reading.
    """
    letters = LetterNet()
    reader = BoardReader(letter_net=letters)
    profiles: dict[str, TableProfile] = {}
    seen_tiles: dict[str, set[tuple[str, int]]] = defaultdict(set)  # game and square of each tile, by table
    rng = random.Random(0)
    for shot in shots:
        profile = profiles.setdefault(shot.table, TableProfile(None, letters))
        tiles = load_tile_set(shot.language).letters
        without = reader.read(shot.image, tiles, corners=shot.corners)
        if without.board is None or without.views is None:
            yield shot, Tally(pictures=1)
            continue
        refined = profile.refine_reading(without, tiles).board
        assert refined is not None
        faces = [face for row in shot.rows for face in row]
        known = {square for game, square in seen_tiles[shot.table] if game == shot.game}
        new = {square for square, face in enumerate(faces) if face != EMPTY} - known
        yield shot, _compare_readings(faces, new, without.board, refined)
        seen_tiles[shot.table] |= {(shot.game, square) for square in new}
        recorded = [
            face if face == EMPTY or rng.random() >= misrecorded_share else _choose_wrong_face(read, face, rng)
            for face, read in zip(faces, refined.squares, strict=True)
        ]
        rows = [recorded[start : start + BOARD_SIZE] for start in range(0, len(recorded), BOARD_SIZE)]
        profile.learn(without.views, rows, shot.game)


def _choose_wrong_face(read: SquareReading, face: str, rng: random.Random) -> str:
    others = [symbol for symbol, _ in read.candidates if symbol.isalpha() and symbol != face]
    return others[0] if others else rng.choice("EAIONRT")


def _compare_readings(faces: Sequence[str], new: set[int], without: BoardReading, refined: BoardReading) -> Tally:
    """Count the wrong squares in two readings of one picture: without the table's profile, and with the profile.

    `faces` has the true face of each of the 225 squares, and `new` the squares with new tiles. `without` and `refined`
    are the readings without and with the profile. A square that is read as hidden is not wrong.

    The counts `new_wrong_...` leave out the tiles of earlier pictures: they count empty squares and those in `new`.
    """
    wrong_without, wrong_with = (
        {square for square, face in enumerate(faces) if board.squares[square].symbol not in (face, HIDDEN)}
        for board in (without, refined)
    )
    empty = {square for square, face in enumerate(faces) if face == EMPTY}
    return Tally(
        pictures=1,
        tiles=len(faces) - len(empty),
        new_tiles=len(new),
        wrong_without=len(wrong_without),
        wrong_with=len(wrong_with),
        new_wrong_without=len(wrong_without & (new | empty)),
        new_wrong_with=len(wrong_with & (new | empty)),
        spoiled=len(wrong_with - wrong_without),
    )


def format_tallies(tallies: Mapping[str, Tally]) -> str:
    """Format the tallies as a text table, one row per name and a last row with the sums."""
    whole = Tally()
    for tally in tallies.values():
        whole.add(tally)
    width = max(len(name) for name in (*tallies, "all"))
    lines = [
        f"{'':{width}}            |  wrong squares |  of these new |",
        f"{'':{width}}  pictures  tiles | without   with | without  with | spoiled",
    ]
    for name, t in [*tallies.items(), ("all", whole)]:
        lines.append(
            f"{name:{width}}  {t.pictures:8}  {t.tiles:5} | {t.wrong_without:7} {t.wrong_with:6}"
            f" | {t.new_wrong_without:7} {t.new_wrong_with:5} | {t.spoiled:7}"
        )
    return "\n".join(lines)


def _render_shots(fonts: Sequence[Path], tables: int, games: int, pictures: int, seed: int) -> Iterator[Shot]:
    for number in range(tables):
        table = RenderedTable(fonts[number % len(fonts)], seed + number)
        for game in range(1, games + 1):
            yield from table.render_game(game, pictures)


def main() -> None:
    """Print the numbers of wrong squares without and with a profile, for photographs or rendered tables."""
    parser = argparse.ArgumentParser(prog="python -m calibration.evaluation.profile_gain", description=__doc__)
    parser.add_argument("folder", nargs="*", type=Path, help="photographs with manifest.json")
    parser.add_argument("--rendered", action="store_true", help="rendered tables, by themselves")
    parser.add_argument("--font", action="append", type=Path, default=[], help="a font file of rendered tiles")
    parser.add_argument("--tables", type=int, default=8)
    parser.add_argument("--games", type=int, default=10)
    parser.add_argument("--pictures", type=int, default=3, help="of each game")
    parser.add_argument("--seed", type=int, default=5000)
    parser.add_argument("--careless", type=float, default=0.0, help="share of letters that are recorded wrong")
    args = parser.parse_args()
    if not args.folder and not args.rendered:
        parser.error("name a folder of photographs, or --rendered")
    for folder in args.folder:
        halves: dict[str, list[Tally]] = defaultdict(list)
        for shot, tally in replay_shots(load_photo_shots(folder), args.careless):
            halves[f"{shot.table} {shot.game}"].append(tally)
        print(format_tallies(_split_by_half(halves)))
    if args.rendered:
        try:
            fonts = args.font or installed_fonts(UNTRAINED_FONTS, DEBIAN_ROOT)
        except RuntimeError as error:
            parser.error(f"{error}, or name some with --font")
        by_game: dict[str, Tally] = defaultdict(Tally)
        by_table: dict[str, Tally] = defaultdict(Tally)
        shots = _render_shots(fonts, args.tables, args.games, args.pictures, args.seed)
        for shot, tally in replay_shots(shots, args.careless):
            by_game[f"game {shot.game}"].add(tally)
            by_table[shot.table].add(tally)
        print(format_tallies(by_table), format_tallies(by_game), sep="\n\n")


def _split_by_half(games: Mapping[str, Sequence[Tally]]) -> dict[str, Tally]:
    """Sum the tallies of the pictures in the first and in the second half of each game."""
    halves: dict[str, Tally] = defaultdict(Tally)
    for name, tallies in games.items():
        for number, tally in enumerate(tallies):
            half = "first" if number < len(tallies) / 2 else "second"
            halves[f"{name}, {half} half"].add(tally)
    return halves


if __name__ == "__main__":
    main()
