"""Restore a backup: its games replace all games that are stored now. Stop the table first.

Nothing is lost: the games that were stored before are kept in a folder, and the command lists those of which the backup
lacks turns. The file of a hall restores the hall and its key; stop the hall first.
"""

from __future__ import annotations

import argparse
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from device.cli import UserError
from device.cli.options import add_data_options, find_games_folder

if TYPE_CHECKING:
    from device.storage.recovery import Restoration


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    parser.add_argument("file", type=Path, help="a file of `tilekeeper backup`, or of the folder backups")
    add_data_options(parser)


def run(args: argparse.Namespace) -> int:
    """Replace the store, and print which games the backup lacks."""
    from device.storage.errors import StoreDamagedError
    from device.storage.recovery import restore_backup

    if not args.file.is_file():
        raise UserError(f"There is no file {args.file}. Give the file of a backup.")
    try:
        if zipfile.is_zipfile(args.file):
            from device.hall.receiving.hall_backup import restore_hall

            count, aside = restore_hall(args.file, find_games_folder(args))
            print(f"the hall is restored from {args.file}, with its games ({count}) and its key")
            print(f"the hall that was there before is kept in {aside}" if aside else "there was no hall before")
            return 0
        done = restore_backup(args.file, find_games_folder(args) / "games.db")
    except StoreDamagedError:
        raise UserError(f"{args.file} is damaged or is no backup of Tilekeeper. Choose another backup.") from None
    print(f"{done.count} {'game is' if done.count == 1 else 'games are'} restored from {args.file}")
    _print_kept_games(done)
    return 0


def _print_kept_games(done: Restoration) -> None:
    if done.aside is None:
        return
    print(f"the games that were stored before are kept in {done.aside}")
    if done.newer is None:
        print("they cannot be read, so they were not compared with the backup")
        return
    for newer in done.newer:
        game = newer.game
        has = f"has {newer.restored} of its {game.length} events" if newer.restored else "does not have it"
        print(f"game {game.id} ({', '.join(game.players)}): the backup {has}")
    if done.newer:
        export = f"tilekeeper export {done.newer[0].game.id} game.zip --data {done.aside}"
        print(f"to get such a game back: {export}; tilekeeper import game.zip")
