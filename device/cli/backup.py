"""Copy all games with their pictures into one file, whole and consistent.

To go back to it, put it in the place of games.db while the table is not running. While the table runs, its page makes
the backup.
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
    """Make the copy."""
    from device.storage.store import GameStore, StoreError

    try:
        with GameStore(find_games_file(args)) as store:
            store.backup(args.file)
            count = len(store.games())
            print(f"{count} {'game is' if count == 1 else 'games are'} in {args.file}")
    except StoreError as error:
        raise UserError(str(error)) from None
    return 0
