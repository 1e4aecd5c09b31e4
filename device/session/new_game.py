"""A new game: what can be chosen, and the game that was chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from device.session.commands.base import MAX_NAME_LETTERS, MAX_PLAYERS, PlayerNumber, clean_name
from device.session.commands.games import StartGame
from device.storage.lexicons import NO_LEXICON, default_cache_dir, open_lexicon
from engine.errors import NotationError, RulesError, TilekeeperError
from engine.events import GameStarted
from engine.game import Game
from engine.lexicon import LexiconError
from engine.rules import PRESETS, ChallengeRule, FinishLineLevel, Rules, UnplayedRule
from engine.tiles import load_tile_set, tile_set_names

MAX_CLOCK_MINUTES = 180
OWN_LEXICON, SHIPPED_LEXICON = "own", "shipped"
PALETTE = ("amber", "blue", "green", "violet", "red", "teal", "pink", "lime")
"""Colours of players, each a class `c-NAME` of the style sheet; assigned by seat unless a player chose one."""

_CHALLENGES = tuple(map(str, ChallengeRule))
_CHALLENGE_POINTS = ("5", "10")
_UNPLAYED = tuple(map(str, UnplayedRule))
_LEVELS = tuple(map(str, FinishLineLevel))
_FIRST_WORD_MINIMA = ("2", "3", "4", "5")
_EXCHANGE_MINIMUM_BAGS = {"any": 0, "seven": 7}
_DICTIONARIES = {"open": True, "closed": False}
VARIATIONS = ("rearrange", "recycle", "retake_blanks")
"""Variations of the rules (travel-case, rules 5 A, 5 B and 6), as `Rules` names them."""
CHOICE_FIELDS = (
    *("tiles", "lexicon", "preset", "challenge", "points", "unplayed", "exchange", "dictionary", "level", "minutes"),
    "first_word",
)
"""The fields of `NewGameRequest.choices`."""

Name = Annotated[str, Meta(max_length=60)]


class NewGameRequest(msgspec.Struct, frozen=True):
    """A new game: its players in the order of their turns, their colours, and the rules.

    `first` is the number of the player who begins; null: the players draw for first play. `choices` has values that
    `/choices` lists, by field, and `minutes` for each player's clock; what is left out follows the rules of `preset`.
    `variations` are those of `/choices`.
    """

    players: Annotated[tuple[Name, ...], Meta(min_length=2, max_length=MAX_PLAYERS)]
    colours: Annotated[tuple[Name, ...], Meta(max_length=MAX_PLAYERS)] = ()
    first: PlayerNumber | None = 0
    choices: dict[Name, Name] = {}
    variations: Annotated[tuple[Name, ...], Meta(max_length=8)] = ()


class NewGameError(TilekeeperError):
    """A request for a game that cannot be made: the key of the sentence with the reason, and its parameters."""

    def __init__(self, key: str, **values: str) -> None:
        super().__init__(key, values)
        self.key, self.values = key, values


def list_choices(own_lexicon: Path | None) -> Mapping[str, Sequence[Any]]:
    """Return what can be chosen, by field of the form."""
    return {
        "tiles": sorted(((name, load_tile_set(name).language) for name in tile_set_names()), key=lambda pair: pair[1]),
        "lexicon": [SHIPPED_LEXICON, *([OWN_LEXICON] if own_lexicon else []), NO_LEXICON],
        "preset": list(PRESETS),
        "challenge": _CHALLENGES,
        "first_word": _FIRST_WORD_MINIMA,
        "exchange": tuple(_EXCHANGE_MINIMUM_BAGS),
        "dictionary": tuple(_DICTIONARIES),
        "unplayed": _UNPLAYED,
        "level": _LEVELS,
        "variation": VARIATIONS,
        "colour": PALETTE,
    }


def make_game(request: NewGameRequest, own_lexicon: Path | None) -> StartGame:
    """Return the request that starts the chosen game. Raises `NewGameError`.

    Empty names are seats that are not taken. A word list is chosen by kind only: no path from a request reaches the
    file system.
    """
    choices = request.choices
    if unknown := [*choices.keys() - CHOICE_FIELDS, *set(request.variations) - set(VARIATIONS)]:
        raise NewGameError("new.wrong.choice", choice=min(unknown)[:40])
    seats = [clean_name(name) for name in request.players]
    players = tuple(name for name in seats if name)
    if (
        not 2 <= len(players) <= MAX_PLAYERS
        or len(set(players)) < len(players)
        or max(map(len, players)) > MAX_NAME_LETTERS
    ):
        raise NewGameError("new.wrong.players")
    tiles = _read_choice(choices, "tiles", tile_set_names(), "en")
    kind = _read_choice(choices, "lexicon", (SHIPPED_LEXICON, OWN_LEXICON, NO_LEXICON), SHIPPED_LEXICON)
    try:
        words = open_lexicon(
            {OWN_LEXICON: str(own_lexicon), NO_LEXICON: NO_LEXICON}.get(kind), tiles, default_cache_dir()
        )
        started = GameStarted(
            players,
            _make_rules(request),
            tiles,
            words.name if words else None,
            first=_find_first_player(request.first, seats, players),
            draw=request.first is None,
        )
        Game.from_events([started])
    except LexiconError as error:
        raise NewGameError("new.wrong.lexicon", reason=str(error)) from None
    except (RulesError, NotationError) as error:
        raise NewGameError("new.wrong.choice", choice=str(error)) from None
    return StartGame(started, words, _choose_colours(seats, request.colours))


def _choose_colours(seats: Sequence[str], colours: Sequence[str]) -> tuple[str, ...]:
    """Return the colours of the seats that are taken; empty for a player who chose none or an unknown one."""
    chosen = (*colours, *[""] * len(seats))
    return tuple(colour if colour in PALETTE else "" for name, colour in zip(seats, chosen, strict=False) if name)


def _make_rules(request: NewGameRequest) -> Rules:
    """Return the rules of the preset, changed by the other choices."""
    choices = request.choices
    rules = PRESETS[_read_choice(choices, "preset", PRESETS, "classic-2008")]
    if challenge := _read_choice(choices, "challenge", _CHALLENGES):
        rules = replace(rules, challenge=ChallengeRule(challenge))
    if rules.challenge is ChallengeRule.POINTS:
        rules = replace(rules, challenge_points=int(_read_choice(choices, "points", _CHALLENGE_POINTS, "5")))
    if unplayed := _read_choice(choices, "unplayed", _UNPLAYED):
        rules = replace(rules, unplayed=UnplayedRule(unplayed))
    if exchange := _read_choice(choices, "exchange", _EXCHANGE_MINIMUM_BAGS):
        rules = replace(rules, exchange_minimum_bag=_EXCHANGE_MINIMUM_BAGS[exchange])
    if dictionary := _read_choice(choices, "dictionary", _DICTIONARIES):
        rules = replace(rules, open_dictionary=_DICTIONARIES[dictionary])
    if level := _read_choice(choices, "level", _LEVELS):
        rules = replace(rules, finish_line=(FinishLineLevel(level),))
    rules = replace(
        rules,
        rearrange=rules.rearrange or "rearrange" in request.variations,
        recycle=rules.recycle or "recycle" in request.variations,
        retake_blanks=rules.retake_blanks or "retake_blanks" in request.variations,
    )
    if (minutes := choices.get("minutes", "").strip()) != "":
        rules = replace(rules, clock_seconds=60 * _parse_number(minutes, MAX_CLOCK_MINUTES))
    return replace(rules, first_word_minimum=int(_read_choice(choices, "first_word", _FIRST_WORD_MINIMA, "2")))


def _parse_number(text: str, most: int) -> int:
    digits = text.lstrip("0") or "0"
    if not (text.isascii() and text.isdecimal() and len(digits) <= len(str(most)) and int(digits) <= most):
        raise NewGameError("new.wrong.choice", choice=text[:40])
    return int(digits)


def _find_first_player(seat: int | None, seats: Sequence[str], players: Sequence[str]) -> int:
    """Return the index of the player on a seat that may have empty seats before it; 0 until it is drawn."""
    if seat is None:
        return 0
    if seat >= len(seats) or not seats[seat]:
        raise NewGameError("new.wrong.first")
    return players.index(seats[seat])


def _read_choice(choices: Mapping[str, str], field: str, known: Any, default: str = "") -> str:
    value = choices.get(field) or default
    if value and value not in known:
        raise NewGameError("new.wrong.choice", choice=value[:40])
    return value
