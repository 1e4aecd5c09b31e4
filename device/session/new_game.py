"""A new game: what can be chosen, and the game that was chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
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
from engine.tiles import load_tile_set, playable_tile_set_names

OWN_LEXICON, SHIPPED_LEXICON = "own", "shipped"
PALETTE = ("amber", "blue", "green", "violet", "red", "teal", "pink", "lime")
"""Colours of players, each a class `c-NAME` of the style sheet; assigned by seat unless a player chose one."""

_NO_YES = MappingProxyType({"no": False, "yes": True})
_RULE_CHOICES: Mapping[str, tuple[str, Mapping[str, object]]] = MappingProxyType(
    {
        "challenge": ("challenge", {str(rule): rule for rule in ChallengeRule}),
        "points": ("challenge_points", {"5": 5, "10": 10}),
        "points_for": ("challenge_each_word", {"play": False, "word": True}),
        "payer": ("challenger_pays", {"none": False, "challenger": True}),
        "judge": ("list_decides", {"list": True, "players": False}),
        "dictionary": ("open_dictionary", {"open": True, "closed": False}),
        "exchange": ("exchange_minimum_bag", {"any": 0, "seven": 7}),
        "first_word": ("first_word_minimum", {"2": 2, "3": 3, "4": 4, "5": 5}),
        "unplayed": ("unplayed", {str(rule): rule for rule in UnplayedRule}),
        "level": ("finish_line", {str(level): (level,) for level in FinishLineLevel}),
        "finish_round": ("finish_round", _NO_YES),
        "finish_unplayed": ("finish_unplayed", _NO_YES),
    }
)
"""The choices that are offered: for each field the setting in `Rules`, and its value for each choice."""
NUMBER_CHOICES: Mapping[str, tuple[str, int, int]] = MappingProxyType(
    {
        "minutes": ("clock_seconds", 60, 180),
        "overtime": ("overtime_points", 1, 100),
        "scoreless": ("scoreless_turns", 1, 20),
    }
)
"""The choices that are whole numbers from 0: the setting in `Rules`, its value for 1, and the largest number."""
VARIATIONS = ("rearrange", "recycle", "retake_blanks")
"""Variations of the rules (travel-case, rules 5 A, 5 B and 6), as `Rules` names them."""
CHOICE_FIELDS = ("tiles", "lexicon", "preset", *_RULE_CHOICES, *NUMBER_CHOICES)
"""The fields of `NewGameRequest.choices`."""

Name = Annotated[str, Meta(max_length=60)]


class NewGameRequest(msgspec.Struct, frozen=True):
    """A new game: its players in the order of their turns, their colours, and the rules.

    `first` is the number of the player who begins; null: the players draw for first play. `choices` has values that
    `/choices` lists, by field, and the numbers `minutes` (of each player's clock), `overtime` (points lost for each
    minute over it) and `scoreless` (turns in succession that end the game, 0: none); what is left out follows the rules
    of `preset`. `variations` are those of `/choices`. `levels` are the levels of the players in the Finish Line game,
    in seat order; if there are none, `level` of the choices is that of all.
    """

    players: Annotated[tuple[Name, ...], Meta(min_length=2, max_length=MAX_PLAYERS)]
    colours: Annotated[tuple[Name, ...], Meta(max_length=MAX_PLAYERS)] = ()
    first: PlayerNumber | None = 0
    choices: dict[Name, Name] = {}
    variations: Annotated[tuple[Name, ...], Meta(max_length=8)] = ()
    levels: Annotated[tuple[Name, ...], Meta(max_length=MAX_PLAYERS)] = ()


class NewGameError(TilekeeperError):
    """A request for a game that cannot be made: the key of the sentence with the reason, and its parameters."""

    def __init__(self, key: str, **values: str) -> None:
        super().__init__(key, values)
        self.key, self.values = key, values


def list_choices(own_lexicon: Path | None) -> Mapping[str, Sequence[Any]]:
    """Return what can be chosen, by field of the form."""
    return {
        "tiles": sorted(
            ((name, load_tile_set(name).language) for name in playable_tile_set_names()), key=lambda pair: pair[1]
        ),
        "lexicon": [SHIPPED_LEXICON, *([OWN_LEXICON] if own_lexicon else []), NO_LEXICON],
        "preset": list(PRESETS),
        **{field: tuple(values) for field, (_, values) in _RULE_CHOICES.items()},
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
    tiles = _read_choice(choices, "tiles", playable_tile_set_names(), "en")
    kind = _read_choice(choices, "lexicon", (SHIPPED_LEXICON, OWN_LEXICON, NO_LEXICON), SHIPPED_LEXICON)
    try:
        words = open_lexicon(
            {OWN_LEXICON: str(own_lexicon), NO_LEXICON: NO_LEXICON}.get(kind), tiles, default_cache_dir()
        )
        started = GameStarted(
            players,
            _make_rules(request, seats),
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


def _make_rules(request: NewGameRequest, seats: Sequence[str]) -> Rules:
    """Return the rules of the preset, changed by the other choices.

    A word list decides challenges only if the players chose it, unless they choose who decides.
    """
    choices = request.choices
    rules = PRESETS[_read_choice(choices, "preset", PRESETS, "classic-2008")]
    settings: dict[str, Any] = {"list_decides": "lexicon" in choices}
    settings |= dict.fromkeys(request.variations, True)
    for field, (name, values) in _RULE_CHOICES.items():
        if choice := _read_choice(choices, field, values):
            settings[name] = values[choice]
    for field, (name, factor, most) in NUMBER_CHOICES.items():
        if text := choices.get(field, "").strip():
            settings[name] = factor * _parse_number(text, most)
    if settings.get("challenge", rules.challenge) is not ChallengeRule.POINTS:
        settings.pop("challenge_points", None)
    elif not rules.challenge_points:
        settings.setdefault("challenge_points", 5)
    if any(request.levels):
        settings["finish_line"] = _parse_levels(request.levels, seats)
    return replace(rules, **settings)


def _parse_levels(levels: Sequence[str], seats: Sequence[str]) -> tuple[FinishLineLevel, ...]:
    """Return the level of each player; seats that are not taken have none."""
    chosen = (*levels, *[""] * len(seats))
    try:
        return tuple(FinishLineLevel(level) for name, level in zip(seats, chosen, strict=False) if name)
    except ValueError:
        raise NewGameError("new.wrong.levels") from None


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
