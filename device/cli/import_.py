"""Import games from GCG files of any program, or from ZIP files that `tilekeeper export` made.

Each file is imported completely or not at all. You can do this while the table is running.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from device.cli import print_line, print_system_error
from device.cli.options import add_data_options, find_games_folder

if TYPE_CHECKING:
    from device.storage.store import GameStore

_SQLITE_HEADER = b"SQLite format 3"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="GCG or ZIP files to import")
    add_data_options(parser)


def run(args: argparse.Namespace) -> int:
    """Import each file; return 2 if a file could not be opened, otherwise 1 if a file was refused."""
    from device.storage.store import GameStore

    status = 0
    with GameStore(find_games_folder(args) / "games.db", is_owner=False) as store:
        for path in args.files:
            try:
                status = max(status, 0 if _import_file(store, path) else 1)
            except OSError as error:
                print_system_error(error)
                status = 2
    return status


def _import_file(store: GameStore, path: Path) -> bool:
    from device.session.game_import import import_game, list_import_notices
    from device.storage.errors import ArchiveError

    with path.open("rb") as file:
        if file.peek(len(_SQLITE_HEADER)).startswith(_SQLITE_HEADER):
            print_line(f"{path} is a backup of all games. Go back to it with: tilekeeper restore {path}")
            return False
        try:
            number = import_game(store, file)
        except ArchiveError as error:
            print_line(f"{path}: {error}")
            return False
    print_line(f"{path} is game {number}")
    for notice in list_import_notices(store, number):
        print_line(f"{path}: {notice}")
    return True
