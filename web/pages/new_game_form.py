"""The form of a new game: what can be chosen, and the game that was chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from device.storage.archive import is_displayable
from device.storage.lexicons import NO_LEXICON, default_cache_dir, open_lexicon
from engine.errors import NotationError, RulesError, TilekeeperError
from engine.events import GameStarted
from engine.game import Game
from engine.lexicon import Lexicon, LexiconError
from engine.rules import PRESETS, ChallengeRule, FinishLineLevel, Rules, UnplayedRule
from engine.tiles import load_tile_set, tile_set_names
from web.colours import PALETTE

MAX_NAME_LETTERS = 24
MAX_PLAYERS = 4
OWN_LEXICON, SHIPPED_LEXICON = "own", "shipped"

_CHALLENGES = tuple(map(str, ChallengeRule))
_UNPLAYED = tuple(map(str, UnplayedRule))
_LEVELS = tuple(map(str, FinishLineLevel))
_FIRST_WORD_MINIMA = ("2", "3", "4", "5")
_EXCHANGE_MINIMUM_BAGS = {"any": 0, "seven": 7}
_DICTIONARIES = {"open": True, "closed": False}
_VARIATIONS = ("rearrange", "recycle", "retake_blanks")
"""Variations of the rules (travel-case, rules 5 A, 5 B and 6), as `Rules` names them."""
MAX_CLOCK_MINUTES = 180
DRAW_FOR_FIRST = "draw"


class FormError(TilekeeperError):
    """A form that makes no game: the key of the sentence that says why, and what to put into it."""

    def __init__(self, key: str, **values: str) -> None:
        super().__init__(key, values)
        self.key, self.values = key, values


@dataclass(frozen=True, slots=True)
class NewGame:
    """A game to begin, the list to check its words by (None: words are not checked), the colours of its players."""

    started: GameStarted
    lexicon: Lexicon | None
    colours: tuple[str, ...] = ()


def list_choices(own_lexicon: Path | None) -> Mapping[str, Sequence[Any]]:
    """What the form offers, by field."""
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
        "variation": _VARIATIONS,
        "colour": PALETTE,
    }


def parse_form(
    form: Mapping[str, str], names: Sequence[str], colours: Sequence[str], own_lexicon: Path | None
) -> NewGame:
    """The game that a form describes; `names` are its players, empty ones left out, `colours` theirs.

    Raises `FormError`.
    A word list is chosen by kind only: no path from the form reaches the file system.
    """
    seats = [" ".join("".join(letter if is_displayable(letter) else " " for letter in name).split()) for name in names]
    players = tuple(name for name in seats if name)
    if (
        not 2 <= len(players) <= MAX_PLAYERS
        or len(set(players)) < len(players)
        or max(map(len, players)) > MAX_NAME_LETTERS
    ):
        raise FormError("new.wrong.players")
    tiles = _read_choice(form, "tiles", tile_set_names(), "en")
    kind = _read_choice(form, "lexicon", (SHIPPED_LEXICON, OWN_LEXICON, NO_LEXICON), SHIPPED_LEXICON)
    try:
        words = open_lexicon(
            {OWN_LEXICON: str(own_lexicon), NO_LEXICON: NO_LEXICON}.get(kind), tiles, default_cache_dir()
        )
        started = GameStarted(
            players,
            _read_rules(form),
            tiles,
            words.name if words else None,
            first=_find_first_player(form, seats, players),
            draw=form.get("first") == DRAW_FOR_FIRST,
        )
        Game.from_events([started])
    except LexiconError as error:
        raise FormError("new.wrong.lexicon", reason=str(error)) from None
    except (RulesError, NotationError) as error:
        raise FormError("new.wrong.choice", choice=str(error)) from None
    return NewGame(started, words, _read_colours(seats, colours))


def _read_colours(seats: Sequence[str], colours: Sequence[str]) -> tuple[str, ...]:
    """The colours of the seats that somebody took; empty for a player who chose none that we know."""
    chosen = (*colours, *[""] * len(seats))
    return tuple(colour if colour in PALETTE else "" for name, colour in zip(seats, chosen, strict=False) if name)


def _read_rules(form: Mapping[str, str]) -> Rules:
    """The preset, with what was chosen otherwise."""
    rules = PRESETS[_read_choice(form, "preset", PRESETS, "classic-2008")]
    if challenge := _read_choice(form, "challenge", _CHALLENGES):
        rules = replace(rules, challenge=ChallengeRule(challenge))
    if rules.challenge is ChallengeRule.POINTS:
        rules = replace(rules, challenge_points=int(_read_choice(form, "points", ("5", "10"), "5")))
    if unplayed := _read_choice(form, "unplayed", _UNPLAYED):
        rules = replace(rules, unplayed=UnplayedRule(unplayed))
    if exchange := _read_choice(form, "exchange", _EXCHANGE_MINIMUM_BAGS):
        rules = replace(rules, exchange_minimum_bag=_EXCHANGE_MINIMUM_BAGS[exchange])
    if dictionary := _read_choice(form, "dictionary", _DICTIONARIES):
        rules = replace(rules, open_dictionary=_DICTIONARIES[dictionary])
    if level := _read_choice(form, "level", _LEVELS):
        rules = replace(rules, finish_line=(FinishLineLevel(level),))
    rules = replace(
        rules,
        rearrange=rules.rearrange or "rearrange" in form,
        recycle=rules.recycle or "recycle" in form,
        retake_blanks=rules.retake_blanks or "retake_blanks" in form,
    )
    if (minutes := form.get("minutes", "").strip()) != "":
        rules = replace(rules, clock_seconds=60 * _parse_number(minutes, MAX_CLOCK_MINUTES))
    return replace(rules, first_word_minimum=int(_read_choice(form, "first_word", _FIRST_WORD_MINIMA, "2")))


def _parse_number(text: str, most: int) -> int:
    if not (text.isascii() and text.isdecimal() and int(text[:6]) <= most):
        raise FormError("new.wrong.choice", choice=text[:40])
    return int(text)


def _find_first_player(form: Mapping[str, str], seats: Sequence[str], players: Sequence[str]) -> int:
    """The index of the player who begins: the form counts seats, also those that nobody took; 0 until it is drawn."""
    if form.get("first") == DRAW_FOR_FIRST:
        return 0
    seat = int(_read_choice(form, "first", tuple(map(str, range(MAX_PLAYERS))), "0"))
    if seat >= len(seats) or not seats[seat]:
        raise FormError("new.wrong.first")
    return players.index(seats[seat])


def _read_choice(form: Mapping[str, str], field: str, known: Any, default: str = "") -> str:
    value = form.get(field) or default
    if value and value not in known:
        raise FormError("new.wrong.choice", choice=value[:40])
    return value
