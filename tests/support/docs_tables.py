"""Tables in the documents that a program computes.

`python -m tests.support.docs_tables NAME ...` computes the tables of these documents (`reading`, `learning`, `session`)
again and writes each between its markers in `docs/NAME.md`:

    <!-- table: python -m tests.support.docs_tables reading -->
    <!-- end of table -->

`reading` reads all photographs of `TILEKEEPER_PHOTOS` and needs a minute; `learning` draws the pictures of eight
tables, which takes some minutes and the fonts that it names; `session` needs no time.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from calibration.evaluation.profile_gain import UNTRAINED_FONTS, Tally, replay_shots
from calibration.evaluation.rendered_tables import RenderedTable
from device.session.phases import ALLOWED_PHASES
from device.session.snapshot import Phase
from engine.reading import EMPTY, HIDDEN
from engine.tiles import load_tile_set
from tests.support.corner_errors import corner_error
from tests.support.local_data import PHOTOS_DIR, ROOT
from tests.support.photo_labels import PhotoCollection, load_collections
from vision.photo import load_photo
from vision.recognition.reader import BoardReader
from vision.training.font_list import DEBIAN_ROOT, installed_fonts

DOCS_DIR: Final = ROOT / "docs"
END_MARKER: Final = "<!-- end of table -->"
GAMES_PER_TABLE: Final = 10
PICTURES_PER_GAME: Final = 3
FIRST_TABLE_SEED: Final = 5000


def start_marker(name: str) -> str:
    """Return the line before the table of `docs/NAME.md`; it holds the command that writes the table."""
    return f"<!-- table: python -m tests.support.docs_tables {name} -->"


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table.

    >>> print(format_table(("a", "b"), [("1", "2")]))
    | a | b |
    | --- | --- |
    | 1 | 2 |
    """
    return "\n".join("| " + " | ".join(row) + " |" for row in (header, ["---"] * len(header), *rows))


def replace_table(document: str, name: str, table: str) -> str:
    """Return the document with this table between the markers. Raises ValueError if a marker is missing."""
    before, start, rest = document.partition(start_marker(name))
    _, end, after = rest.partition(END_MARKER)
    if not start or not end:
        raise ValueError(f"docs/{name}.md has no table between {start_marker(name)} and {END_MARKER}")
    return f"{before}{start}\n{table}\n{end}{after}"


def read_table(document: str, name: str) -> str:
    """Return the table between the markers of a document."""
    return document.partition(start_marker(name))[2].partition(END_MARKER)[0].strip("\n")


@dataclass(slots=True)
class PhotoCounts:
    """Counts of the readings of a collection's photographs, each read alone and without corners."""

    photos: int = 0
    corner_errors: list[float] = field(default_factory=list)
    """In squares, one for each board that was found."""
    tiles: int = 0
    right_tiles: int = 0
    right_boards: int = 0
    """Boards without a wrong square; a square that is read as hidden is not wrong."""

    def add(self, other: PhotoCounts) -> None:
        """Add the counts of `other`."""
        self.photos += other.photos
        self.corner_errors += other.corner_errors
        self.tiles += other.tiles
        self.right_tiles += other.right_tiles
        self.right_boards += other.right_boards

    def format_row(self, name: str) -> tuple[str, ...]:
        """Return the cells of a row."""
        error = f"{np.median(self.corner_errors):.3f}" if self.corner_errors else "-"
        letters = f"{100 * self.right_tiles / self.tiles:.2f} %" if self.tiles else "-"
        return name, str(self.photos), str(len(self.corner_errors)), error, letters, str(self.right_boards)


def count_photos(reader: BoardReader, collection: PhotoCollection, folder: Path) -> PhotoCounts:
    """Read the photographs of a collection in `folder` and compare the readings with the labels."""
    counts = PhotoCounts()
    for record in collection.records:
        image = load_photo(folder / collection.name / record["photo"]).image
        reading = reader.read(image, load_tile_set(record["language"]).letters)
        faces = ["?" if face.islower() else "" if face == "." else face for face in "".join(record["board"])]
        printed = [at for at, face in enumerate(faces) if face and face != "?"]
        counts.photos += 1
        counts.tiles += len(printed)
        if reading.corners is not None:
            counts.corner_errors.append(corner_error(reading.corners, np.array(record["corners"], float)))
        if reading.board is not None:
            symbols = ["" if square.symbol == EMPTY else square.symbol for square in reading.board.squares]
            counts.right_tiles += sum(symbols[at] == faces[at] for at in printed)
            counts.right_boards += all(symbols[at] in (face, HIDDEN) for at, face in enumerate(faces))
    return counts


def make_reading_table() -> str:
    """Return how well the photographs are read, by repository. Raises SystemExit without photographs."""
    if not PHOTOS_DIR.is_dir():
        raise SystemExit(f"no photographs in {PHOTOS_DIR}: python -m tests.support.download_photos")
    reader, total, rows = BoardReader(), PhotoCounts(), []
    for collection in load_collections():
        counts = count_photos(reader, collection, PHOTOS_DIR)
        rows.append(counts.format_row(collection.repo))
        total.add(counts)
    header = ("repository", "photographs", "boards found", "median corner error (squares)", "letters right")
    return format_table((*header, "boards without a wrong square"), [*rows, total.format_row("**all**")])


def make_learning_table() -> str:
    """Return how many squares of drawn tables are read wrong without and with a profile, by game."""
    tallies: defaultdict[str, Tally] = defaultdict(Tally)
    for number, font in enumerate(installed_fonts(UNTRAINED_FONTS, DEBIAN_ROOT)):
        table = RenderedTable(font, FIRST_TABLE_SEED + number)
        shots = (shot for game in range(1, GAMES_PER_TABLE + 1) for shot in table.render_game(game, PICTURES_PER_GAME))
        for shot, tally in replay_shots(shots):
            tallies["first game" if shot.game == "1" else f"games 2 to {GAMES_PER_TABLE}"].add(tally)
    rows = [
        (name, *map(str, (t.pictures, t.wrong_without, t.wrong_with, t.new_wrong_without, t.new_wrong_with, t.spoiled)))
        for name, t in tallies.items()
    ]
    header = ("", "pictures", "wrong squares without profile", "with profile", "of new tiles: without", "with")
    return format_table((*header, "made wrong by the profile"), rows)


def make_session_table() -> str:
    """Return the phases of the session, with the commands that each allows."""
    rows = []
    for phase in Phase:
        commands = (transition for transition, phases in ALLOWED_PHASES.items() if phase in phases)
        names = [command.name.lower().replace("_", " ") for command in commands]
        rows.append((f"`{phase.value}`", ", ".join(names) or "none"))
    return format_table(("phase", "commands that it allows"), rows)


TABLES: Final[Mapping[str, Callable[[], str]]] = {
    "reading": make_reading_table,
    "learning": make_learning_table,
    "session": make_session_table,
}
"""For each document, the function that computes its table."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Compute the tables of the documents that the command line names, and write them."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.docs_tables", description=__doc__)
    parser.add_argument("names", nargs="+", choices=list(TABLES), metavar="NAME", help=", ".join(TABLES))
    for name in parser.parse_args(arguments).names:
        file = DOCS_DIR / f"{name}.md"
        file.write_text(replace_table(file.read_text(encoding="utf-8"), name, TABLES[name]()), encoding="utf-8")


if __name__ == "__main__":
    main()
