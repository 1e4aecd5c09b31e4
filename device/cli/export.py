"""Save a stored game in a file: GCG for other programs, or ZIP with all turns and pictures.

Without a game number, the command lists your games. You can do this while the table is running.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from device.cli import UserError
from device.cli.options import add_data_options, open_games
from engine.rules import UnplayedRule

if TYPE_CHECKING:
    from device.storage.store import GameStore


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    parser.add_argument("game", type=int, nargs="?", help="number of the game (default: list all games)")
    parser.add_argument("file", type=Path, nargs="?", help="name of the new file, ending in .gcg or .zip")
    parser.add_argument(
        "--unplayed",
        choices=[UnplayedRule.BOTH, UnplayedRule.TWICE],
        type=UnplayedRule,
        help="how unplayed letters count in a GCG file: both (+x/-x), or twice (+2x), which some programs need "
        "(default: as in the game)",
    )
    add_data_options(parser)


def run(args: argparse.Namespace) -> int:
    """List the games, or write one game to a file."""
    with open_games(args) as store:
        if args.game is None:
            _list_games(store)
        else:
            print(export_game(store, args.game, args.file or Path(f"game-{args.game}.gcg"), args.unplayed))
    return 0


def _list_games(store: GameStore) -> None:
    from device.storage.statistics import SummaryCache

    summaries = SummaryCache(store)
    for game in store.list_games():
        day = time.strftime("%Y-%m-%d %H:%M", time.localtime(game.started))
        print(f"{game.id:4}  {day}  {', '.join(summaries.list_players(game))}")


def export_game(store: GameStore, number: int, path: Path, unplayed: UnplayedRule | None = None) -> str:
    """Write a game to a new file and return a sentence for the console. `unplayed` is a choice for GCG files.

    If writing fails, the file is deleted. Raises `UserError`, `StoreError`, and `OSError` if the disk is full.
    """
    from device.storage.archive import export_gcg, export_zip
    from device.storage.files import sync_folder

    if path.suffix.lower() not in (".gcg", ".zip"):
        raise UserError(f"{path}: The file name must end in .gcg or .zip.")
    is_zip = path.suffix.lower() == ".zip"
    if is_zip and unplayed is not None:
        raise UserError("--unplayed is only for GCG files. Leave it out for a ZIP file.")
    parts = export_zip(store, number) if is_zip else [export_gcg(store, number, unplayed).encode()]
    try:
        file = path.open("xb")
    except FileExistsError:
        raise UserError(f"{path} already exists. Choose another name.") from None
    try:
        with file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())  # a USB stick may be pulled out as soon as the message is there
        sync_folder(path.parent)
    except BaseException:
        path.unlink(missing_ok=True)  # an incomplete file would be taken for an export
        raise
    return f"game {number} is in {path}"
