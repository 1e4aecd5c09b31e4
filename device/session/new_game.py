"""The set-up of a new game: the choices that clients offer, and the conversion of a request to a game."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from device.player_names import MAX_PLAYER_NAME_LENGTH, clean_name
from device.session.commands.base import PlayerNumber
from device.session.commands.games import StartGame
from device.session.rule_choices import (
    CHOICE_FIELDS,
    RULE_CHOICES,
    NewGameError,
    RuleChoice,
    find_large_board,
    make_rules,
    parse_lost_tiles,
    read_choice,
)
from device.storage.lexicons import NO_LEXICON, find_cache_folder, open_lexicon
from engine.board import layout_names
from engine.errors import NotationError, RulesError
from engine.events import GameStarted
from engine.game import Game
from engine.lexicon import LexiconError
from engine.rules import MAX_PLAYERS, MIN_PLAYERS, PRESETS, VARIATIONS
from engine.tiles import load_tile_set, playable_tile_set_names

OWN_LEXICON, SHIPPED_LEXICON = "own", "shipped"
PALETTE = ("amber", "blue", "green", "violet", "red", "teal", "pink", "lime")
"""Names of the colours of players; a player who has not chosen a colour gets the colour of the seat.

The style sheet has a class `c-NAME` for each colour.
"""

Name = Annotated[str, Meta(max_length=60)]


class NewGameRequest(msgspec.Struct, frozen=True):
    """Request for a new game: the players in the order of their turns, their colours, and the rules.

    `first` is the number of the player who begins; null means that the players draw for first play. `choices` contains,
    by field, values that `/choices` lists, and three numbers: `minutes` (on each player's clock), `overtime` (penalty
    points for each minute of overtime) and `scoreless` (successive scoreless turns that end the game, 0 for none). The
    field `lost` has the tiles that were lost from the set, such as `QE?`. For fields that are left out, the rules of
    `preset` apply. `variations` are values that `/choices` lists. `levels` are
    the levels of the players in the Finish Line game, in seat order; if it is empty, the field `level` of `choices`
    applies to all players.
    """

    players: Annotated[tuple[Name, ...], Meta(min_length=MIN_PLAYERS, max_length=MAX_PLAYERS)]
    colours: Annotated[tuple[Name, ...], Meta(max_length=MAX_PLAYERS)] = ()
    first: PlayerNumber | None = 0
    choices: dict[Name, Name] = {}
    variations: Annotated[tuple[Name, ...], Meta(max_length=8)] = ()
    levels: Annotated[tuple[Name, ...], Meta(max_length=MAX_PLAYERS)] = ()


FindLexicon = Callable[[str], Path | None]
"""A function that returns the owner's word list for a tile set, or None (`device.storage.lexicons.OwnLists.find`)."""


def list_own_lexicons(find_own: FindLexicon) -> Mapping[str, Path]:
    """Return the owner's word lists by tile set."""
    return {name: path for name in playable_tile_set_names() if (path := find_own(name)) is not None}


def list_choices(own_lexicons: Collection[Path]) -> Mapping[str, Sequence[Any]]:
    """Return the values that may be chosen for a new game, by field; `own_lexicons` are the owner's word lists."""
    return {
        "tiles": sorted(
            ((name, load_tile_set(name).language) for name in playable_tile_set_names()), key=lambda pair: pair[1]
        ),
        "lexicon": [SHIPPED_LEXICON, *([OWN_LEXICON] if own_lexicons else []), NO_LEXICON],
        "layout": layout_names(),
        "preset": list(PRESETS),
        **{field: tuple(choice.values) for field, choice in RULE_CHOICES.items()},
        "variation": VARIATIONS,
        "colour": PALETTE,
    }


def make_game(request: NewGameRequest, find_own: FindLexicon) -> StartGame:
    """Convert a request to the command that starts the game. Raises `NewGameError` for an invalid request.

    An empty name means that nobody has this seat. A request contains only the kind of a word list, so that it cannot
    name a path in the file system; `find_own` returns the path for the kind `own`.
    """
    choices = request.choices
    if unknown := [*choices.keys() - CHOICE_FIELDS, *set(request.variations) - set(VARIATIONS)]:
        raise NewGameError("new.wrong.choice", choice=min(unknown)[:40])
    seats = [clean_name(name) for name in request.players]
    players = tuple(name for name in seats if name)
    if (
        not MIN_PLAYERS <= len(players) <= MAX_PLAYERS
        or len(set(players)) < len(players)
        or max(map(len, players)) > MAX_PLAYER_NAME_LENGTH
    ):
        raise NewGameError("new.wrong.players")
    if squares := find_large_board(choices.get("tiles", "")):
        raise NewGameError("new.wrong.board", squares=squares)
    tiles = read_choice(choices, "tiles", playable_tile_set_names(), "en")
    kind = read_choice(choices, "lexicon", (SHIPPED_LEXICON, OWN_LEXICON, NO_LEXICON), SHIPPED_LEXICON)
    own = find_own(tiles)
    lexicon_choices = {OWN_LEXICON: str(own) if own else None, NO_LEXICON: NO_LEXICON, SHIPPED_LEXICON: None}
    levels = _select_taken_seats(seats, request.levels) if any(request.levels) else ()
    try:
        words = open_lexicon(lexicon_choices[kind], tiles, find_cache_folder())
        started = GameStarted(
            players,
            make_rules(RuleChoice(choices, request.variations, levels)),
            tiles,
            words.name if words else None,
            read_choice(choices, "layout", layout_names(), "standard"),
            first=_find_first_player(request.first, seats, players),
            draw=request.first is None,
            lost=parse_lost_tiles(choices.get("lost", ""), load_tile_set(tiles)),
        )
        Game.begin(started)
    except LexiconError as error:
        raise NewGameError("new.wrong.lexicon", reason=str(error)) from None
    except (RulesError, NotationError) as error:
        raise NewGameError("new.wrong.choice", choice=str(error)) from None
    colours = _select_taken_seats(seats, request.colours)
    return StartGame(started, words, tuple(colour if colour in PALETTE else "" for colour in colours))


def _select_taken_seats(seats: Sequence[str], values: Sequence[str]) -> tuple[str, ...]:
    """Return the values (colours or levels) of the seats that have a player; an empty text for a missing value."""
    padded = (*values, *[""] * len(seats))
    return tuple(value for name, value in zip(seats, padded, strict=False) if name)


def _find_first_player(seat: int | None, seats: Sequence[str], players: Sequence[str]) -> int:
    """Return the index in `players` of the player on `seat`. Raises `NewGameError` if nobody has this seat.

    If `seat` is None, the players draw tiles to decide who begins, and the result is 0.
    """
    if seat is None:
        return 0
    if seat >= len(seats) or not seats[seat]:
        raise NewGameError("new.wrong.first")
    return players.index(seats[seat])
