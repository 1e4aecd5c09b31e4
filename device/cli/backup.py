"""Copy all games with their pictures into one consistent file, also while the table runs.

To restore it, stop the table, delete games.db-wal, and put the copy in the place of games.db. The table itself keeps
ten backups without pictures in the folder `backups` beside games.db, one after each game.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from device.cli import UserError
from device.cli.options import add_data_options, find_games_file

HELP = "copy all games into one file"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("file", type=Path, help="the copy; it must not exist yet")
    add_data_options(parser)


def run(args: argparse.Namespace) -> int:
    """Write the copy."""
    from device.storage.store import GameStore, StoreError

    try:
        with GameStore(find_games_file(args), is_owner=False) as store:
            store.backup(args.file)
            count = len(store.games())
            print(f"{count} {'game is' if count == 1 else 'games are'} in {args.file}")
    except StoreError as error:
        raise UserError(str(error)) from None
    return 0
