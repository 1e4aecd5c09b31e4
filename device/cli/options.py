"""What the commands that play a game have in common: the players, the tile set, the word list."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from device.cli import UserError

if TYPE_CHECKING:
    from calibration.profile import TableKnowledge
    from calibration.profiled_reader import AdaptedReader
    from device.capture.board_camera import Whereabouts
    from device.settings import GameSettings
    from engine.events import GameStarted
    from engine.lexicon import Lexicon
    from vision.net import Net
    from vision.recognition.reader import BoardReader


def add_game_options(parser: argparse.ArgumentParser, *, players_needed: bool) -> None:
    """`--players`, `--tiles` and `--lexicon`."""
    parser.add_argument(
        "--players",
        metavar="A,B",
        required=players_needed,
        help="2 to 4 names in the order of their turns" + ("" if players_needed else " (default Player 1,Player 2)"),
    )
    parser.add_argument("--tiles", metavar="SET", help="the tile set: en, de, ro, ... (default en)")
    parser.add_argument(
        "--lexicon",
        metavar="FILE|none",
        help="a word list, or none (default: the tile set's, if there is one)",
    )


def game_settings(args: argparse.Namespace, otherwise: GameSettings | None = None) -> GameSettings:
    """What the command line says of the game; `otherwise` where it says nothing."""
    from device.settings import GameSettings

    otherwise = otherwise or GameSettings()
    return GameSettings(
        otherwise.players if args.players is None else _names(args.players),
        otherwise.tiles if args.tiles is None else args.tiles,
        otherwise.lexicon if args.lexicon is None else args.lexicon,
    )


def _names(listed: str) -> tuple[str, ...]:
    from device.storage.archive import NAME_MOST, can_be_shown

    names = tuple(name.strip() for name in listed.split(",") if name.strip())
    for name in names:
        if len(name) > NAME_MOST or not all(map(can_be_shown, name)):
            raise UserError(f"--players: {name!r} is no name: up to {NAME_MOST} letters")
    return names


def game_from(game: GameSettings) -> tuple[GameStarted, Lexicon | None]:
    """The beginning of the game, and the list to check its words by. Raises `UserError`."""
    from engine.errors import NotationError, RulesError
    from engine.events import GameStarted
    from engine.game import Game
    from engine.lexicon import LexiconError, cache_folder, open_lexicon

    try:
        started = GameStarted(game.players, tile_set=game.tiles)
        Game.from_events([started])
        lexicon = open_lexicon(game.lexicon, game.tiles, cache_folder())
    except RulesError as error:
        raise UserError(f"--players {','.join(game.players)}: {error}") from None
    except (LexiconError, NotationError) as error:
        raise UserError(str(error)) from None
    return GameStarted(game.players, tile_set=game.tiles, lexicon=lexicon.name if lexicon else None), lexicon


def words_for(game: GameSettings) -> Callable[[GameStarted], Lexicon | None]:
    """Finds the list that a game of the store was begun with: the owner's or the shipped one, by its name.

    None where it was begun without a list, or where its list is not to be had: then words are not checked.
    """
    from engine.lexicon import LexiconError, cache_folder, open_lexicon

    def find(started: GameStarted) -> Lexicon | None:
        if started.lexicon is None:
            return None
        own = own_lexicon(game)
        for choice in ([str(own)] if own else []) + [None]:
            try:
                found = open_lexicon(choice, started.tile_set, cache_folder())
            except LexiconError:
                continue  # the next one may be it
            if found is not None and found.name == started.lexicon:
                return found
        return None

    return find


def own_lexicon(game: GameSettings) -> Path | None:
    """The word list that the owner of the table named, for games that are begun later."""
    from engine.lexicon import NONE

    return None if game.lexicon in (None, NONE) else Path(game.lexicon).expanduser()


def add_data_options(parser: argparse.ArgumentParser) -> None:
    """`--data` and `--settings`."""
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="folder of the games (default ~/.local/share/tilekeeper)"
    )
    parser.add_argument(
        "--settings",
        type=Path,
        metavar="FILE",
        help="settings file (default ~/.config/tilekeeper/settings.toml, then /etc/tilekeeper/settings.toml)",
    )


def data_folder(named: Path | None) -> Path:
    """The folder that games are kept in, made where it is not there: the named one, or the user's own."""
    home = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    folder = named or home / "tilekeeper"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"cannot keep games in {folder} ({error.strerror}): choose another folder with --data"
        ) from None
    return folder


def games_folder(args: argparse.Namespace) -> Path:
    """The folder with the games, by command line and settings file. Raises `UserError`."""
    from device.settings import SettingsError, load_settings, settings_file

    try:
        settings = load_settings(args.settings or settings_file())
    except SettingsError as error:
        raise UserError(str(error)) from None
    return data_folder(args.data or settings.data.folder)


def games_file(args: argparse.Namespace) -> Path:
    """The file with the games, which must be there. Raises `UserError`."""
    from device.settings import SERVICE_DATA

    path = games_folder(args) / "games.db"
    if args.data is None and not path.is_file() and os.access(SERVICE_DATA / path.name, os.R_OK):
        path = SERVICE_DATA / path.name  # an installed table
    if not path.is_file():
        raise UserError(f"no games in {path.parent}: name their folder with --data")
    return path


def board_reader(net: Callable[[Path], Net] | None = None) -> BoardReader:
    """The reader with the networks that are shipped, run by `net`. Raises `UserError`."""
    from vision.detection.locator import BoardLocator
    from vision.net import ModelError, Net
    from vision.recognition.letters import LetterNet
    from vision.recognition.reader import BoardReader
    from vision.recognition.squares import SquareNet

    run = net or Net
    try:
        return BoardReader(BoardLocator(net=run).locate, SquareNet(net=run), LetterNet(net=run))
    except ModelError as error:
        raise UserError(str(error)) from None


def learning_reader() -> tuple[AdaptedReader, TableKnowledge]:
    """A reader that looks for the board in each picture anew, and learns its tiles. Raises `UserError`."""
    from calibration.profile import TableKnowledge
    from calibration.profiled_reader import AdaptedReader
    from vision.detection.locator import BoardLocator
    from vision.net import ModelError
    from vision.recognition.letters import LetterNet
    from vision.recognition.reader import BoardReader

    try:
        letters = LetterNet()
        knowledge = TableKnowledge(None, letters)
        return AdaptedReader(BoardReader(BoardLocator().locate, letter_net=letters), knowledge), knowledge
    except ModelError as error:
        raise UserError(str(error)) from None


def table_reader(folder: Path | None) -> tuple[AdaptedReader, Whereabouts, TableKnowledge]:
    """A reader that follows one table's board and learns its tiles, what it follows it by, and what it has learnt.

    That is kept in `folder`; None: as long as the program lasts. Raises `UserError`.
    """
    from calibration.profile import TableKnowledge
    from calibration.profiled_reader import AdaptedReader
    from device.capture.board_camera import Whereabouts
    from vision.detection.locator import BoardLocator
    from vision.net import ModelError
    from vision.recognition.letters import LetterNet
    from vision.recognition.reader import BoardReader

    try:
        where, letters = Whereabouts(BoardLocator()), LetterNet()
        knowledge = TableKnowledge(folder / "table.npz" if folder else None, letters)
        return AdaptedReader(BoardReader(where, letter_net=letters), knowledge), where, knowledge
    except ModelError as error:
        raise UserError(str(error)) from None
