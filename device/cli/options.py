"""What the commands that play a game have in common: the players, the tile set, the word list."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from device.cli import UserError

if TYPE_CHECKING:
    from calibration.profile import TableProfile
    from calibration.profiled_reader import ProfiledReader
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


def merge_game_settings(args: argparse.Namespace, defaults: GameSettings | None = None) -> GameSettings:
    """What the command line says of the game; `otherwise` where it says nothing."""
    from device.settings import GameSettings

    defaults = defaults or GameSettings()
    return GameSettings(
        defaults.players if args.players is None else _parse_names(args.players),
        defaults.tiles if args.tiles is None else args.tiles,
        defaults.lexicon if args.lexicon is None else args.lexicon,
    )


def _parse_names(listed: str) -> tuple[str, ...]:
    from device.storage.archive import MAX_PLAYER_NAME_LENGTH, is_displayable

    names = tuple(name.strip() for name in listed.split(",") if name.strip())
    for name in names:
        if len(name) > MAX_PLAYER_NAME_LENGTH or not all(map(is_displayable, name)):
            raise UserError(f"--players: {name!r} is no name: up to {MAX_PLAYER_NAME_LENGTH} letters")
    return names


def prepare_game(game: GameSettings) -> tuple[GameStarted, Lexicon | None]:
    """The beginning of the game, and the list to check its words by. Raises `UserError`."""
    from device.storage.lexicons import default_cache_dir, open_lexicon
    from engine.errors import NotationError, RulesError
    from engine.events import GameStarted
    from engine.game import Game
    from engine.lexicon import LexiconError

    try:
        started = GameStarted(game.players, tile_set=game.tiles)
        Game.from_events([started])
        lexicon = open_lexicon(game.lexicon, game.tiles, default_cache_dir())
    except RulesError as error:
        raise UserError(f"--players {','.join(game.players)}: {error}") from None
    except (LexiconError, NotationError) as error:
        raise UserError(str(error)) from None
    return GameStarted(game.players, tile_set=game.tiles, lexicon=lexicon.name if lexicon else None), lexicon


def make_lexicon_finder(game: GameSettings) -> Callable[[GameStarted], Lexicon | None]:
    """Finds the list that a game of the store was begun with: the owner's or the shipped one, by its name.

    None where it was begun without a list, or where its list is not to be had: then words are not checked.
    """
    from device.storage.lexicons import default_cache_dir, open_lexicon
    from engine.lexicon import LexiconError

    def find(started: GameStarted) -> Lexicon | None:
        if started.lexicon is None:
            return None
        own = own_lexicon_path(game)
        for choice in ([str(own)] if own else []) + [None]:
            try:
                found = open_lexicon(choice, started.tile_set, default_cache_dir())
            except LexiconError:
                continue  # the next one may be it
            if found is not None and found.name == started.lexicon:
                return found
        return None

    return find


def own_lexicon_path(game: GameSettings) -> Path | None:
    """The word list that the owner of the table named, for games that are begun later."""
    from device.storage.lexicons import NO_LEXICON

    return None if game.lexicon in (None, NO_LEXICON) else Path(game.lexicon).expanduser()


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


def ensure_data_folder(named: Path | None) -> Path:
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


def find_games_folder(args: argparse.Namespace) -> Path:
    """The folder with the games, by command line and settings file. Raises `UserError`."""
    from device.settings import SettingsError, find_settings_file, load_settings

    try:
        settings = load_settings(args.settings or find_settings_file())
    except SettingsError as error:
        raise UserError(str(error)) from None
    return ensure_data_folder(args.data or settings.data.folder)


def find_games_file(args: argparse.Namespace) -> Path:
    """The file with the games, which must be there. Raises `UserError`."""
    from device.settings import SERVICE_DATA_FOLDER

    path = find_games_folder(args) / "games.db"
    if args.data is None and not path.is_file() and os.access(SERVICE_DATA_FOLDER / path.name, os.R_OK):
        path = SERVICE_DATA_FOLDER / path.name  # an installed table
    if not path.is_file():
        raise UserError(f"no games in {path.parent}: name their folder with --data")
    return path


def make_board_reader(load_net: Callable[[Path], Net] | None = None) -> BoardReader:
    """Return a reader with the networks that are shipped, run by `load_net`. Raises `UserError`."""
    from vision.detection.locator import BoardLocator
    from vision.net import ModelError, Net
    from vision.recognition.letters import LetterNet
    from vision.recognition.reader import BoardReader
    from vision.recognition.squares import SquareNet

    load = load_net or Net
    try:
        return BoardReader(BoardLocator(load_net=load), SquareNet(load_net=load), LetterNet(load_net=load))
    except ModelError as error:
        raise UserError(str(error)) from None


def make_profiled_reader(folder: Path | None = None) -> tuple[ProfiledReader, TableProfile]:
    """Return a reader that learns one table's tiles, and the profile that it learns.

    The profile is kept in `folder`; with None it lasts as long as the program. Raises `UserError`.
    """
    from calibration.profile import TableProfile
    from calibration.profiled_reader import ProfiledReader
    from vision.net import ModelError
    from vision.recognition.letters import LetterNet
    from vision.recognition.reader import BoardReader

    try:
        letter_net = LetterNet()
        profile = TableProfile(folder / "table.npz" if folder else None, letter_net)
        return ProfiledReader(BoardReader(letter_net=letter_net), profile), profile
    except ModelError as error:
        raise UserError(str(error)) from None
