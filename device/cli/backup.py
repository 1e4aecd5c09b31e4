"""Copy all games with their pictures into one consistent file.

To restore it, stop the table and put the copy in the place of games.db. While the table runs, use the backup on its
page instead.
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
        with GameStore(find_games_file(args)) as store:
            store.backup(args.file)
            count = len(store.games())
            print(f"{count} {'game is' if count == 1 else 'games are'} in {args.file}")
    except StoreError as error:
        raise UserError(str(error)) from None
    return 0
