"""What the commands that play a game have in common: the players, the tile set, the word list."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from device.cli import UserError

if TYPE_CHECKING:
    from engine.events import GameStarted
    from engine.lexicon import Lexicon
    from vision.reader import BoardReader


def add_game_options(parser: argparse.ArgumentParser, *, players: str | None) -> None:
    """`--players`, `--tiles` and `--lexicon`; without a default for the players they must be named."""
    parser.add_argument(
        "--players",
        metavar="A,B",
        required=players is None,
        default=players,
        help="2 to 4 names in the order of their turns" + (f" (default {players})" if players else ""),
    )
    parser.add_argument("--tiles", default="en", metavar="SET", help="the tile set: en, de, ro, ... (default en)")
    parser.add_argument(
        "--lexicon",
        metavar="FILE|none",
        help="a word list, or none (default: the tile set's, if there is one)",
    )


def game_from(args: argparse.Namespace) -> tuple[GameStarted, Lexicon | None]:
    """The game that the options describe, and the list to check its words by. Raises `UserError`."""
    from engine.errors import NotationError, RulesError
    from engine.events import GameStarted
    from engine.game import Game
    from engine.lexicon import LexiconError, cache_folder, open_lexicon

    players = tuple(name.strip() for name in args.players.split(",") if name.strip())
    try:
        started = GameStarted(players, tile_set=args.tiles)
        Game.from_events([started])
        lexicon = open_lexicon(args.lexicon, args.tiles, cache_folder())
    except RulesError as error:
        raise UserError(f"--players {args.players}: {error}") from None
    except (LexiconError, NotationError) as error:
        raise UserError(str(error)) from None
    return GameStarted(players, tile_set=args.tiles, lexicon=lexicon.name if lexicon else None), lexicon


def own_lexicon(args: argparse.Namespace) -> Path | None:
    """The word list that the owner of the table named, for games that are begun later."""
    from engine.lexicon import NONE

    return None if args.lexicon in (None, NONE) else Path(args.lexicon).expanduser()


def board_reader() -> BoardReader:
    """The reader with the networks that are shipped. Raises `UserError`."""
    from calibration.locate import BoardLocator
    from vision.net import ModelError
    from vision.reader import BoardReader

    try:
        return BoardReader(BoardLocator().locate)
    except ModelError as error:
        raise UserError(str(error)) from None
