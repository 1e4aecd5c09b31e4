"""Options that several commands share, and functions that evaluate them: game, word list, folders, readers."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from device.cli import UserError
from device.player_names import clean_name, parse_player_name
from device.session.rule_choices import (
    DRAW,
    RuleChoice,
    list_option_texts,
    make_rules,
    parse_lost_tiles,
)
from device.settings import (
    RULE_SETTINGS,
    SERVICE_DATA_FOLDER,
    GameSettings,
    InvalidSettingError,
    Settings,
    check_game,
    find_settings_file,
    find_user_folder,
    load_settings,
)
from device.storage.lexicons import NO_LEXICON, OwnLists, find_cache_folder, open_lexicon
from engine.board import layout_names
from engine.events import GameStarted
from engine.lexicon import Lexicon, LexiconError
from engine.rules import PRESETS
from engine.tiles import load_tile_set

if TYPE_CHECKING:  # OpenCV takes longer to load than the commands without pictures take to run
    from calibration.profile import ProfiledReader, TableProfile
    from device.session.snapshot import TableSnapshot
    from device.storage.store import GameStore
    from vision.recognition.reader import BoardReader


_OPTIONS = {"more_rules": "rule"}
"""Options of the command line that have another name than their setting in `[game]`."""
PROFILE_FILE_NAME = "table.npz"
"""Name of the file of the table profile in the data folder."""


def add_game_options(parser: argparse.ArgumentParser, *, players_needed: bool) -> None:
    """Add `--players`, `--tiles`, `--lexicon` and `--layout`."""
    parser.add_argument(
        "--players",
        metavar="A,B",
        required=players_needed,
        help="names of the 2 to 4 players, in the order of play"
        + ("" if players_needed else " (default Player 1,Player 2)"),
    )
    parser.add_argument(
        "--tiles", metavar="SET", help="language of the tiles as a code, such as en, de or ro (default en)"
    )
    parser.add_argument(
        "--lexicon",
        metavar="FILE|none",
        help="file with the word list; none: check no words (default: the list for these tiles, if there is one)",
    )
    parser.add_argument(
        "--layout",
        metavar="NAME",
        help=f"layout of the premium squares: {', '.join(layout_names())} (default standard; exchanged: 2L and 3L are "
        "exchanged in the outer rings)",
    )


def add_rule_options(parser: argparse.ArgumentParser) -> None:
    """Add `--rules`, `--challenge`, `--clock`, `--first` and `--rule`, and list the choices of `--rule` below them."""
    parser.add_argument(
        "--rules", metavar="RULES", help=f"edition whose rules apply: {', '.join(PRESETS)} (default classic-2008)"
    )
    parser.add_argument(
        "--challenge",
        metavar="RULE",
        help="what happens if a challenge fails: double (the challenger loses the next turn), single (nothing), points "
        "(points are gained or lost); void: there are no challenges (default: set by --rules)",
    )
    parser.add_argument(
        "--clock",
        metavar="MINUTES",
        help="minutes for each player, or 0 for no clock (default: set by --rules)",
    )
    parser.add_argument(
        "--first",
        metavar="NAME|draw",
        help="name of the player who begins; draw: the players draw tiles for it (default: the first player)",
    )
    parser.add_argument(
        "--rule",
        metavar="NAME=CHOICE",
        action="append",
        help="change one more rule, for example exchange=seven; see the list below (may be repeated)",
    )
    parser.epilog = "\n  ".join(["rules that --rule can change:", *list_option_texts()])


def merge_game_settings(args: argparse.Namespace, defaults: GameSettings | None = None) -> GameSettings:
    """Return the game settings from the command line; for missing options, use `defaults`. Raises `UserError`.

    A rule in `--rule` replaces the setting for the same rule in `defaults`.
    """
    defaults = defaults or GameSettings()
    rules = tuple(getattr(args, "rule", None) or ())
    given = {rule.partition("=")[0].strip() for rule in rules}
    replaced = {name: "" for field, name in RULE_SETTINGS.items() if field in given}
    plain = {name: getattr(args, name, None) for name in ("tiles", "lexicon", "layout", "rules", "challenge", "clock")}
    players = defaults.players if args.players is None else _parse_names(args.players)
    first = getattr(args, "first", None)
    return msgspec.structs.replace(
        defaults,
        players=players,
        lost="" if plain["tiles"] not in (None, defaults.tiles) else defaults.lost,  # lost from another set
        more_rules=(*defaults.more_rules, *rules),
        first=first if first is not None else defaults.first if defaults.first in (DRAW, *players) else "",
        **(replaced | {name: value for name, value in plain.items() if value is not None}),
    )


def _parse_names(listed: str) -> tuple[str, ...]:
    try:
        return tuple(parse_player_name(name) for name in listed.split(",") if name.strip())
    except ValueError as error:
        raise UserError(f"--players: {error}") from None


def prepare_game(game: GameSettings, uploads: Path | None = None) -> tuple[GameStarted, Lexicon | None]:
    """Return the event that starts a game, and the word list of the game (or None).

    `uploads` is the folder of the uploaded word lists: the list in the settings is not used if it was uploaded for
    other tiles. Raises `UserError`, `LexiconError` and other errors of the engine.
    """
    players, first = tuple(map(clean_name, game.players)), clean_name(game.first)
    game = msgspec.structs.replace(game, players=players, first=first)
    try:
        check_game(game)
    except InvalidSettingError as error:
        raise UserError(f"--{_OPTIONS.get(error.path[1], error.path[1])}: {error.text}") from None
    chosen = RuleChoice.parse(game.rule_options)
    # If no rule says who decides challenges, a list that is named does, and otherwise the players (`make_rules`).
    lexicon_choice = {} if game.lexicon is None else {"lexicon": game.lexicon}
    started = GameStarted(
        game.players,
        make_rules(replace(chosen, values={**chosen.values, **lexicon_choice})),
        game.tiles,
        layout=game.layout,
        lost=parse_lost_tiles(game.lost, load_tile_set(game.tiles)),
        first=0 if game.first in ("", DRAW) else game.players.index(game.first),
        draw=game.first == DRAW,
    )
    lexicon = _open_list(game, uploads)
    return replace(started, lexicon=lexicon.name if lexicon else None), lexicon


def _open_list(game: GameSettings, uploads: Path | None) -> Lexicon | None:
    """Return the word list of a game: the one in the settings, or another one for its tiles. Raises `LexiconError`.

    If the list in the settings was uploaded for other tiles, the newest upload for the tiles of the game is used, or
    the default list if there is none. `uploads` is the folder of the uploaded lists.
    """
    choice, lists = game.lexicon, make_own_lists(game, uploads)
    if lists.named is not None:
        own = lists.find(game.tiles)
        choice = str(own) if own else None
    return open_lexicon(choice, game.tiles, find_cache_folder())


def make_lexicon_finder(lists: OwnLists) -> Callable[[GameStarted], Lexicon | None]:
    """Return a function that finds the word list of a stored game by the list's name.

    The function tries the owner's lists, then the list in the package. It returns None (words are not checked) if the
    game was started without a list, or if its list is not available.
    """

    def find_lexicon(started: GameStarted) -> Lexicon | None:
        if started.lexicon is None:
            return None
        own = (lists.find(started.tile_set), *lists.list_uploads(load_tile_set(started.tile_set).language_code))
        for choice in (*[str(path) for path in own if path], None):
            try:
                found = open_lexicon(choice, started.tile_set, find_cache_folder())
            except LexiconError:
                continue  # try the next list
            if found is not None and found.name == started.lexicon:
                return found
        return None

    return find_lexicon


def make_own_lists(game: GameSettings, uploads: Path | None = None) -> OwnLists:
    """Return the word lists of the table's owner: the one in the settings, and those in the folder `uploads`."""
    return OwnLists(None if game.lexicon in (None, NO_LEXICON) else Path(game.lexicon).expanduser(), uploads)


def find_unused_options(state: TableSnapshot, wanted: GameStarted, given: set[str]) -> list[str]:
    """Return those of the `given` command-line options that differ from the game in progress.

    `--rules` stands for all options with rules. The list is empty if there is no game.
    """
    if state.rules is None:
        return []
    differs = {
        "--players": tuple(player.name for player in state.players) != wanted.players,
        "--tiles": state.tile_set != wanted.tile_set,
        "--layout": state.board.layout != wanted.layout,
        "--lexicon": state.lexicon != wanted.lexicon,
        "--rules": state.rules != replace(wanted.rules, list_decides=state.rules.list_decides),
    }
    if given & {"--challenge", "--clock", "--rule"}:
        given = given | {"--rules"}
    return [option for option, is_other in differs.items() if is_other and option in given]


def add_data_options(parser: argparse.ArgumentParser) -> None:
    """Add `--data` and `--settings`."""
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="folder in which games are stored (default ~/.local/share/tilekeeper)"
    )
    parser.add_argument(
        "--settings",
        type=Path,
        metavar="FILE",
        help="settings file (default: ~/.config/tilekeeper/settings.toml, then /etc/tilekeeper/settings.toml)",
    )


def load_user_settings(args: argparse.Namespace) -> Settings:
    """Return the settings from the file `--settings`, or else from the settings file of the user or the machine.

    Raises `SettingsError`.
    """
    return load_settings(args.settings or find_settings_file())


def ensure_data_folder(named: Path | None) -> Path:
    """Create the folder of the games if needed, and return its path. Raises `UserError`.

    If `named` is None, the folder is in the data folder of the user.
    """
    folder = named or find_user_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"No games can be stored in {folder} ({error.strerror}). Choose another folder with --data."
        ) from None
    return folder


def find_games_folder(args: argparse.Namespace) -> Path:
    """Return the folder of the games from the command line or the settings file. Raises `UserError`.

    If there are no games in this folder, and `--data` does not name it, the folder of an installed service is returned.
    """
    folder = args.data or load_user_settings(args).data.folder or find_user_folder()
    if args.data is None and not (folder / "games.db").is_file() and SERVICE_DATA_FOLDER.is_dir():
        if not os.access(SERVICE_DATA_FOLDER, os.R_OK | os.X_OK):
            raise UserError(
                f"The games of the installed table are in {SERVICE_DATA_FOLDER}, which you may not read. Use sudo, or "
                "name the folder of your own games with --data."
            )
        return SERVICE_DATA_FOLDER
    return ensure_data_folder(folder)


@contextmanager
def open_games(args: argparse.Namespace) -> Iterator[GameStore]:
    """Open the store with the games to read it. Raises `UserError` if there is no game, and `StoreError`."""
    from device.storage.recovery import open_for_reading

    path = find_games_folder(args) / "games.db"
    no_games = UserError(f"There are no games in {path.parent}. Give the folder of your games with --data.")
    if not path.is_file():
        raise no_games
    with open_for_reading(path) as store:
        if not store.list_games():
            raise no_games
        yield store


def make_board_reader() -> BoardReader:
    """Return a reader with the neural networks of the package. Raises `ModelError`."""
    from vision.recognition.reader import BoardReader

    return BoardReader()


def make_profiled_reader(folder: Path | None = None) -> tuple[ProfiledReader, TableProfile]:
    """Return a reader that adapts to the tiles of one table, and the table profile that it uses.

    The profile is saved in `folder`. If `folder` is None, the profile is kept only in memory. Raises `ModelError`.
    """
    from calibration.profile import ProfiledReader, TableProfile
    from vision.recognition.letters import LetterNet
    from vision.recognition.reader import BoardReader

    letter_net = LetterNet()
    profile = TableProfile(folder / PROFILE_FILE_NAME if folder else None, letter_net)
    return ProfiledReader(BoardReader(letter_net=letter_net), profile), profile
