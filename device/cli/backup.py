"""Copy all games and their pictures into one file. You can do this while the table is running.

`tilekeeper restore` restores the copy. The table itself also makes a backup without pictures after each game, and keeps
the last ten in the folder `backups` beside games.db.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from device.cli import UserError
from device.cli.options import add_data_options, open_games

HELP = "copy all games into one file"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    parser.add_argument("file", type=Path, help="name of the backup file, which must not exist yet")
    add_data_options(parser)


def run(args: argparse.Namespace) -> int:
    """Write the copy of the store to the file."""
    if not args.file.parent.is_dir():
        raise UserError(f"There is no folder {args.file.parent}. Create it, or choose another name for the backup.")
    with open_games(args) as store:
        store.copy_to(args.file)
        count = len(store.list_games())
        print(f"{count} {'game is' if count == 1 else 'games are'} in {args.file}")
    return 0
