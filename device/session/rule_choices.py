"""The rules that players can choose before a game: the offered choices, and their conversion to `Rules`.

The page, the API, the command line and the settings file use the same names for the same choices.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from device.catalogue import get_text
from engine.errors import NotationError, TilekeeperError
from engine.reading import BOARD_SIZE
from engine.rules import PRESETS, VARIATIONS, ChallengeRule, FinishLineLevel, Rules, UnplayedRule
from engine.tiles import TileSet, load_tile_set, tile_set_names


@dataclass(frozen=True, slots=True)
class NamedChoice:
    """A field with a few named choices: the `setting` of `Rules` that it determines, and its value for each choice."""

    setting: str
    values: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class NumberChoice:
    """A field with a number up to `maximum`; the value of the `setting` of `Rules` is the number times `factor`."""

    setting: str
    factor: int
    maximum: int


_NO_YES = MappingProxyType({"no": False, "yes": True})
RULE_CHOICES: Mapping[str, NamedChoice] = MappingProxyType(
    {
        "challenge": NamedChoice("challenge", {str(rule): rule for rule in ChallengeRule}),
        "points": NamedChoice("challenge_points", {"5": 5, "10": 10}),
        "points_for": NamedChoice("challenge_each_word", {"play": False, "word": True}),
        "payer": NamedChoice("challenger_pays", {"none": False, "challenger": True}),
        "judge": NamedChoice("list_decides", {"list": True, "players": False}),
        "dictionary": NamedChoice("open_dictionary", {"open": True, "closed": False}),
        "exchange": NamedChoice("exchange_minimum_bag", {"any": 0, "seven": 7}),
        "first_word": NamedChoice("first_word_minimum", {"2": 2, "3": 3, "4": 4, "5": 5}),
        "unplayed": NamedChoice("unplayed", {str(rule): rule for rule in UnplayedRule}),
        "level": NamedChoice("finish_line", {str(level): (level,) for level in FinishLineLevel}),
        "finish_round": NamedChoice("finish_round", _NO_YES),
        "finish_unplayed": NamedChoice("finish_unplayed", _NO_YES),
    }
)
"""Fields with a few named choices in a request for a new game."""
NUMBER_CHOICES: Mapping[str, NumberChoice] = MappingProxyType(
    {
        "minutes": NumberChoice("clock_seconds", 60, 180),
        "overtime": NumberChoice("overtime_points", 1, 100),
        "scoreless": NumberChoice("scoreless_turns", 1, 20),
    }
)
"""Fields with a number in a request for a new game."""
CHOICE_FIELDS = ("tiles", "lost", "lexicon", "layout", "preset", *RULE_CHOICES, *NUMBER_CHOICES)
"""The allowed fields of `NewGameRequest.choices`."""
DRAW = "draw"
"""Text in place of the first player's name if the players draw for first play."""
OPTION_FIELDS = ("preset", *RULE_CHOICES, *NUMBER_CHOICES)
"""The fields in `CHOICE_FIELDS` that are about rules."""


class NewGameError(TilekeeperError):
    """Error for an invalid request for a new game.

    `key` is the key of the message in the catalogue, and `values` are the values for its placeholders. For a choice
    that is not offered, `field` is the field of the choice, and `offered` are the possible choices.
    """

    def __init__(self, key: str, *, field: str = "", offered: Collection[str] = (), **values: str) -> None:
        super().__init__(key, values)
        self.key, self.values = key, values
        self.field, self.offered = field, tuple(offered)


def describe_choice(error: NewGameError) -> str:
    """Return the message about an invalid choice, with the possible choices, for users of the command line.

    >>> describe_choice(NewGameError("new.wrong.choice", field="exchange", offered=("any", "seven"), choice="x"))
    "'x' is not a choice for exchange. Choose one of any, seven."
    """
    values = error.field, repr(error.values["choice"]), ", ".join(error.offered)
    if len(error.offered) > 1:
        return get_text("choice-one-of", *values)
    return get_text("choice-only", *values)


def find_large_board(tiles: str) -> str:
    """Return the size of the board that a tile set needs, as text; empty for the usual 15 x 15 squares.

    >>> find_large_board("en_super"), find_large_board("en")
    ('21 x 21', '')
    """
    size = load_tile_set(tiles).board_size if tiles in tile_set_names() else BOARD_SIZE
    return "" if size == BOARD_SIZE else f"{size} x {size}"


def list_option_texts() -> tuple[str, ...]:
    """Return help texts for the options of `RuleChoice.parse`, one for each field.

    Preset, challenge rule and minutes are left out, because they have options of their own on the command line.
    """
    left_out = ("preset", "challenge", "minutes")
    return (
        *(f"{key}={'|'.join(choice.values)}" for key, choice in RULE_CHOICES.items() if key not in left_out),
        *(f"{key}=0..{choice.maximum}" for key, choice in NUMBER_CHOICES.items() if key not in left_out),
        f"variations={','.join(VARIATIONS)}",
        f"levels={FinishLineLevel.BEGINNER},{FinishLineLevel.EXPERT}",
    )


@dataclass(frozen=True, slots=True)
class RuleChoice:
    """Chosen rules: values by field, the variations, and the Finish Line levels of the players in seat order."""

    values: Mapping[str, str] = field(default_factory=dict)
    variations: Sequence[str] = ()
    levels: Sequence[str] = ()

    @classmethod
    def parse(cls, options: Iterable[str]) -> RuleChoice:
        """Parse options such as `exchange=seven`; a later option replaces an earlier one. Raises `NewGameError`.

        >>> RuleChoice.parse(["first_word=3", "variations=recycle,rearrange"])
        RuleChoice(values={'first_word': '3'}, variations=('recycle', 'rearrange'), levels=())
        """
        lists: dict[str, tuple[str, ...]] = {"variations": (), "levels": ()}
        values: dict[str, str] = {}
        for option in options:
            name, equals, value = (part.strip() for part in option.partition("="))
            if not equals:
                value = name  # no rule has a choice of its own name, so this is refused with the choices
            if name in lists:
                lists[name] = tuple(one.strip() for one in value.split(","))
            elif name in OPTION_FIELDS:
                values[name] = value
            else:
                offered = (*OPTION_FIELDS, *lists)
                raise NewGameError("new.wrong.choice", field="rule", offered=offered, choice=name[:40])
        return cls(values, **lists)


def make_rules(choice: RuleChoice) -> Rules:
    """Return the rules of the chosen preset, changed by the other choices. Raises `NewGameError`.

    If nothing is chosen for `judge`, challenges are decided by the chosen word list, or by the players if no list is
    chosen.

    >>> make_rules(RuleChoice({"preset": "tournament", "minutes": "20"})).clock_seconds
    1200
    """
    choices = choice.values
    rules = PRESETS[read_choice(choices, "preset", PRESETS, "classic-2008")]
    settings: dict[str, Any] = {"list_decides": "lexicon" in choices}
    if unknown := set(choice.variations) - set(VARIATIONS):
        raise NewGameError("new.wrong.choice", field="variations", offered=VARIATIONS, choice=min(unknown)[:40])
    settings |= dict.fromkeys(choice.variations, True)
    for key, named in RULE_CHOICES.items():
        if chosen := read_choice(choices, key, named.values):
            settings[named.setting] = named.values[chosen]
    for key, number in NUMBER_CHOICES.items():
        if text := choices.get(key, "").strip():
            settings[number.setting] = number.factor * _parse_number(key, text, number.maximum)
    if settings.get("challenge", rules.challenge) is not ChallengeRule.POINTS:
        settings.pop("challenge_points", None)
    elif not rules.challenge_points:
        settings.setdefault("challenge_points", 5)
    if any(choice.levels):
        settings["finish_line"] = _parse_levels(choice.levels)
    return replace(rules, **settings)


def list_preset_choices(preset: str) -> dict[str, str]:
    """Return the choices, by field, that give the rules of a preset. Rules that cannot be chosen are left out.

    >>> list_preset_choices("tournament")["exchange"], list_preset_choices("nine-tile")["minutes"]
    ('seven', '0')
    """
    return _list_choices(PRESETS[preset])


def list_changed_choices(rules: Rules, preset: str) -> dict[str, str]:
    """Return the choices, by field, that change the rules of a preset to `rules`.

    Variations, and Finish Line levels that are not the same for all players, are left out.

    >>> list_changed_choices(make_rules(RuleChoice({"exchange": "seven"})), "classic-2008")["exchange"]
    'seven'
    """
    return dict(_list_choices(rules).items() - _list_choices(PRESETS[preset]).items())


def _list_choices(rules: Rules) -> dict[str, str]:
    """Return the choices, by field, that give `rules`. Rules that cannot be chosen are left out."""
    named = {
        key: name
        for key, choice in RULE_CHOICES.items()
        for name, value in choice.values.items()
        if value == getattr(rules, choice.setting)
    }
    numbers = {key: str(getattr(rules, choice.setting) // choice.factor) for key, choice in NUMBER_CHOICES.items()}
    return named | numbers


def _parse_levels(levels: Sequence[str]) -> tuple[FinishLineLevel, ...]:
    try:
        return tuple(map(FinishLineLevel, levels))
    except ValueError:
        wrong = next((level for level in levels if level not in tuple(FinishLineLevel)), "")
        raise NewGameError(
            "new.wrong.levels", field="levels", offered=tuple(map(str, FinishLineLevel)), choice=wrong[:40]
        ) from None


def _parse_number(field: str, text: str, maximum: int) -> int:
    digits = text.lstrip("0") or "0"
    is_number = text.isascii() and text.isdecimal() and len(digits) <= len(str(maximum))
    if not is_number or int(digits) > maximum:
        raise NewGameError("new.wrong.choice", field=field, offered=(f"0 to {maximum}",), choice=text[:40])
    return int(digits)


def read_choice(choices: Mapping[str, str], field: str, offered: Collection[str], default: str = "") -> str:
    """Return the choice for a field, or `default` if there is none. Raises `NewGameError` if it is not in `offered`."""
    value = choices.get(field) or default
    if value and value not in offered:
        raise NewGameError("new.wrong.choice", field=field, offered=offered, choice=value[:40])
    return value


def parse_lost_tiles(text: str, tiles: TileSet) -> tuple[str, ...]:
    """Return the tiles in a text, in which commas and spaces may separate them. Raises `NewGameError`."""
    letters = tiles.upper("".join(text.replace(",", " ").split()))
    try:
        lost = tuple(tile.face for tile in tiles.parse(letters))
    except NotationError:
        raise NewGameError("new.wrong.lost", choice=letters) from None
    if excess := tiles.find_excess(lost):
        raise NewGameError("new.wrong.lost", choice=", ".join(excess))
    return lost
