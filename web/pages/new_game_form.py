"""The form of a new game: what can be chosen, and the game that was chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from device.storage.archive import can_be_shown
from engine.errors import NotationError, RulesError
from engine.events import GameStarted
from engine.game import Game
from engine.lexicon import NONE, Lexicon, LexiconError, cache_folder, open_lexicon
from engine.rules import PRESETS, Challenge, Level, Rules, Unplayed
from engine.tiles import tile_set, tile_set_names
from web.colours import PALETTE

NAME_LETTERS = 24
MOST_PLAYERS = 4
OWN, SHIPPED = "own", "shipped"

_CHALLENGES = tuple(map(str, Challenge))
_UNPLAYED = tuple(map(str, Unplayed))
_LEVELS = tuple(map(str, Level))
_FIRST_WORDS = ("2", "3", "4", "5")
_EXCHANGES = {"any": 0, "seven": 7}
_DICTIONARIES = {"open": True, "closed": False}
_VARIATIONS = ("rearrange", "recycle", "retake_blanks")
"""Variations of the rules (travel-case, rules 5 A, 5 B and 6), as `Rules` names them."""
MOST_MINUTES = 180
DRAW = "draw"


class WrongForm(Exception):  # noqa: N818 (named for what happened)
    """A form that makes no game: the key of the sentence that says why, and what to put into it."""

    def __init__(self, key: str, **values: str) -> None:
        super().__init__(key, values)
        self.key, self.values = key, values


@dataclass(frozen=True, slots=True)
class NewGame:
    """A game to begin, the list to check its words by (None: words are not checked), the colours of its players."""

    started: GameStarted
    words: Lexicon | None
    colours: tuple[str, ...] = ()


def choices(own_lexicon: Path | None) -> Mapping[str, Sequence[Any]]:
    """What the form offers, by field."""
    return {
        "tiles": sorted(((name, tile_set(name).language) for name in tile_set_names()), key=lambda pair: pair[1]),
        "lexicon": [SHIPPED, *([OWN] if own_lexicon else []), NONE],
        "preset": list(PRESETS),
        "challenge": _CHALLENGES,
        "first_word": _FIRST_WORDS,
        "exchange": tuple(_EXCHANGES),
        "dictionary": tuple(_DICTIONARIES),
        "unplayed": _UNPLAYED,
        "level": _LEVELS,
        "variation": _VARIATIONS,
        "colour": PALETTE,
    }


def read(form: Mapping[str, str], names: Sequence[str], colours: Sequence[str], own_lexicon: Path | None) -> NewGame:
    """The game that a form describes; `names` are its players, empty ones left out, `colours` theirs.

    Raises `WrongForm`.
    A word list is chosen by kind only: no path from the form reaches the file system.
    """
    seats = [" ".join("".join(letter if can_be_shown(letter) else " " for letter in name).split()) for name in names]
    players = tuple(name for name in seats if name)
    if (
        not 2 <= len(players) <= MOST_PLAYERS
        or len(set(players)) < len(players)
        or max(map(len, players)) > NAME_LETTERS
    ):
        raise WrongForm("new.wrong.players")
    tiles = _chosen(form, "tiles", tile_set_names(), "en")
    kind = _chosen(form, "lexicon", (SHIPPED, OWN, NONE), SHIPPED)
    try:
        words = open_lexicon({OWN: str(own_lexicon), NONE: NONE}.get(kind), tiles, cache_folder())
        started = GameStarted(
            players,
            _rules(form),
            tiles,
            words.name if words else None,
            first=_first(form, seats, players),
            draw=form.get("first") == DRAW,
        )
        Game.from_events([started])
    except LexiconError as error:
        raise WrongForm("new.wrong.lexicon", reason=str(error)) from None
    except (RulesError, NotationError) as error:
        raise WrongForm("new.wrong.choice", choice=str(error)) from None
    return NewGame(started, words, _colours(seats, colours))


def _colours(seats: Sequence[str], colours: Sequence[str]) -> tuple[str, ...]:
    """The colours of the seats that somebody took; empty for a player who chose none that we know."""
    chosen = (*colours, *[""] * len(seats))
    return tuple(colour if colour in PALETTE else "" for name, colour in zip(seats, chosen, strict=False) if name)


def _rules(form: Mapping[str, str]) -> Rules:
    """The preset, with what was chosen otherwise."""
    rules = PRESETS[_chosen(form, "preset", PRESETS, "classic-2008")]
    if challenge := _chosen(form, "challenge", _CHALLENGES):
        rules = replace(rules, challenge=Challenge(challenge))
    if rules.challenge is Challenge.POINTS:
        rules = replace(rules, challenge_points=int(_chosen(form, "points", ("5", "10"), "5")))
    if unplayed := _chosen(form, "unplayed", _UNPLAYED):
        rules = replace(rules, unplayed=Unplayed(unplayed))
    if exchange := _chosen(form, "exchange", _EXCHANGES):
        rules = replace(rules, exchange_minimum_bag=_EXCHANGES[exchange])
    if dictionary := _chosen(form, "dictionary", _DICTIONARIES):
        rules = replace(rules, open_dictionary=_DICTIONARIES[dictionary])
    if level := _chosen(form, "level", _LEVELS):
        rules = replace(rules, finish_line=(Level(level),))
    rules = replace(
        rules,
        rearrange=rules.rearrange or "rearrange" in form,
        recycle=rules.recycle or "recycle" in form,
        retake_blanks=rules.retake_blanks or "retake_blanks" in form,
    )
    if (minutes := form.get("minutes", "").strip()) != "":
        rules = replace(rules, clock_seconds=60 * _number(minutes, MOST_MINUTES))
    return replace(rules, first_word_minimum=int(_chosen(form, "first_word", _FIRST_WORDS, "2")))


def _number(text: str, most: int) -> int:
    if not (text.isascii() and text.isdecimal() and int(text[:6]) <= most):
        raise WrongForm("new.wrong.choice", choice=text[:40])
    return int(text)


def _first(form: Mapping[str, str], seats: Sequence[str], players: Sequence[str]) -> int:
    """The index of the player who begins: the form counts seats, also those that nobody took; 0 until it is drawn."""
    if form.get("first") == DRAW:
        return 0
    seat = int(_chosen(form, "first", tuple(map(str, range(MOST_PLAYERS))), "0"))
    if seat >= len(seats) or not seats[seat]:
        raise WrongForm("new.wrong.first")
    return players.index(seats[seat])


def _chosen(form: Mapping[str, str], field: str, known: Any, default: str = "") -> str:
    value = form.get(field) or default
    if value and value not in known:
        raise WrongForm("new.wrong.choice", choice=value[:40])
    return value
