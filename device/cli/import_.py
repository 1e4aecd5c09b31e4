"""Import games into the table's store: GCG files from any program, or ZIP files from `tilekeeper export`.

A file is imported completely or not at all. The table may be running.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from device.cli import UserError
from device.cli.options import add_data_options, find_games_folder

if TYPE_CHECKING:
    from device.storage.store import GameStore

HELP = "take games from GCG or ZIP files into the table's store"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="GCG or ZIP files")
    add_data_options(parser)


def run(args: argparse.Namespace) -> int:
    """Import each file; return 1 if a file was refused."""
    from device.storage.store import GameStore, StoreError

    refused = 0
    try:
        with GameStore(find_games_folder(args) / "games.db", is_owner=False) as store:
            for path in args.files:
                refused += not _import_file(store, path)
    except StoreError as error:
        raise UserError(str(error)) from None
    return 1 if refused else 0


def _import_file(store: GameStore, path: Path) -> bool:
    from device.storage.archive import import_gcg, import_zip, list_gcg_problems
    from device.storage.errors import ArchiveError
    from engine.limits import MAX_GCG_BYTES

    with path.open("rb") as file:
        zipped = file.read(2) == b"PK"
        file.seek(0)
        try:
            data = b"" if zipped else file.read(MAX_GCG_BYTES + 1)
            number = import_zip(store, file) if zipped else import_gcg(store, data)
        except ArchiveError as error:
            print(f"{path}: {error}")
            return False
    print(f"{path} is game {number}")
    for problem in _list_notices(store, number) if zipped else list_gcg_problems(data):
        print(f"{path}: {problem}")
    return True


def _list_notices(store: GameStore, number: int) -> list[str]:
    """Return the notices of the validation about the turns of an imported game; an import opens no questions."""
    from device.session.turn_questions import make_finding_notice
    from device.storage.archive import load_game
    from engine.game import Game
    from engine.validation import Proposal, Source, validate_turn

    game = load_game(store, number)
    start = Game.from_events(game.events[:1])
    verdict = validate_turn(Proposal(start, game.events[1:], Source.IMPORT))
    return [make_finding_notice(finding).text for finding in verdict.notices]
