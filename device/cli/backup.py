"""Copy all games and their pictures into one file. You can do this while the table is running.

`tilekeeper restore` restores the copy. The table itself also makes a backup without pictures after each game, and keeps
the last ten in the folder `backups` beside games.db. If the folder has a hall, it is copied, too, with its key: to
a file of its own beside the games, which only its owner may read.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from device.cli import UserError
from device.cli.options import add_data_options, find_games_folder, open_games


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    parser.add_argument("file", type=Path, help="name of the backup file, which must not exist yet")
    add_data_options(parser)


def run(args: argparse.Namespace) -> int:
    """Write the copy of the store to the file."""
    if not args.file.parent.is_dir():
        raise UserError(f"There is no folder {args.file.parent}. Create it, or choose another name for the backup.")
    folder = find_games_folder(args)
    has_games = (folder / "games.db").is_file()
    if (folder / "hall.db").is_file():
        from device.hall.receiving.hall_backup import save_hall

        file = args.file.with_name(f"{args.file.stem}-hall.zip") if has_games else args.file
        print(f"the hall with its games ({save_hall(folder, file)}) and its secret key is in {file}")
        if not has_games:
            return 0
    with open_games(args) as store:
        store.copy_to(args.file)
        count = len(store.list_games())
        print(f"{count} {'game is' if count == 1 else 'games are'} in {args.file}")
    return 0
