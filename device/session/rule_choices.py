"""The rules that can be chosen before a game: what is offered, and the rules that a choice makes.

The page, the API, the command line and the settings file have the same choices, by the same names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from engine.errors import TilekeeperError
from engine.rules import PRESETS, ChallengeRule, FinishLineLevel, Rules, UnplayedRule

_NO_YES = MappingProxyType({"no": False, "yes": True})
RULE_CHOICES: Mapping[str, tuple[str, Mapping[str, object]]] = MappingProxyType(
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
CHOICE_FIELDS = ("tiles", "lexicon", "preset", *RULE_CHOICES, *NUMBER_CHOICES)
"""The fields of `NewGameRequest.choices`."""
DRAW = "draw"
"""Chosen in place of the player who begins: the players draw for first play."""
OPTION_FIELDS = ("preset", *RULE_CHOICES, *NUMBER_CHOICES)
"""The fields of `CHOICE_FIELDS` that choose a rule."""


class NewGameError(TilekeeperError):
    """A request for a game that cannot be made: the key of the sentence with the reason, and its parameters.

    For a choice that is not offered, `field` is its field and `offered` what can be chosen instead.
    """

    def __init__(self, key: str, *, field: str = "", offered: Collection[str] = (), **values: str) -> None:
        super().__init__(key, values)
        self.key, self.values = key, values
        self.field, self.offered = field, tuple(offered)


def describe_choice(error: NewGameError) -> str:
    """Return what is wrong with a choice and what can be chosen instead, for command line and settings file.

    >>> describe_choice(NewGameError("new.wrong.choice", field="exchange", offered=("any", "seven"), choice="x"))
    "exchange 'x': choose one of any, seven"
    """
    choose = "choose one of" if len(error.offered) > 1 else "choose"
    return f"{error.field} {error.values['choice']!r}: {choose} {', '.join(error.offered)}"


def list_option_texts() -> tuple[str, ...]:
    """Return what `RuleChoice.parse` reads, one text for each field, besides preset, challenge rule and minutes."""
    named = ("preset", "challenge", "minutes")
    return (
        *(f"{key}={'|'.join(values)}" for key, (_, values) in RULE_CHOICES.items() if key not in named),
        *(f"{key}=0..{most}" for key, (_, _, most) in NUMBER_CHOICES.items() if key not in named),
        f"variations={','.join(VARIATIONS)}",
        f"levels={FinishLineLevel.BEGINNER},{FinishLineLevel.EXPERT} (one for each player)",
    )


@dataclass(frozen=True, slots=True)
class RuleChoice:
    """What was chosen of the rules: values by field, the variations, and the levels of the players in seat order."""

    values: Mapping[str, str] = field(default_factory=dict)
    variations: Sequence[str] = ()
    levels: Sequence[str] = ()

    @classmethod
    def parse(cls, options: Iterable[str]) -> RuleChoice:
        """Return the choice that options such as `exchange=seven` make; later ones win. Raises `NewGameError`.

        >>> RuleChoice.parse(["first_word=3", "variations=recycle,rearrange"])
        RuleChoice(values={'first_word': '3'}, variations=('recycle', 'rearrange'), levels=())
        """
        lists: dict[str, tuple[str, ...]] = {"variations": (), "levels": ()}
        values: dict[str, str] = {}
        for option in options:
            name, _, value = (part.strip() for part in option.partition("="))
            if name in lists:
                lists[name] = tuple(one.strip() for one in value.split(","))
            elif name in OPTION_FIELDS:
                values[name] = value
            else:
                offered = (*OPTION_FIELDS, *lists)
                raise NewGameError("new.wrong.choice", field="rule", offered=offered, choice=name[:40])
        return cls(values, **lists)


def make_rules(choice: RuleChoice) -> Rules:
    """Return the rules of the preset, changed by the other choices. Raises `NewGameError`.

    A word list decides challenges only if the players chose it, unless they choose who decides.

    >>> make_rules(RuleChoice({"preset": "tournament", "minutes": "20"})).clock_seconds
    1200
    """
    choices = choice.values
    rules = PRESETS[read_choice(choices, "preset", PRESETS, "classic-2008")]
    settings: dict[str, Any] = {"list_decides": "lexicon" in choices}
    if unknown := set(choice.variations) - set(VARIATIONS):
        raise NewGameError("new.wrong.choice", field="variations", offered=VARIATIONS, choice=min(unknown)[:40])
    settings |= dict.fromkeys(choice.variations, True)
    for key, (name, values) in RULE_CHOICES.items():
        if chosen := read_choice(choices, key, values):
            settings[name] = values[chosen]
    for key, (name, factor, most) in NUMBER_CHOICES.items():
        if text := choices.get(key, "").strip():
            settings[name] = factor * _parse_number(key, text, most)
    if settings.get("challenge", rules.challenge) is not ChallengeRule.POINTS:
        settings.pop("challenge_points", None)
    elif not rules.challenge_points:
        settings.setdefault("challenge_points", 5)
    if any(choice.levels):
        settings["finish_line"] = _parse_levels(choice.levels)
    return replace(rules, **settings)


def _parse_levels(levels: Sequence[str]) -> tuple[FinishLineLevel, ...]:
    try:
        return tuple(map(FinishLineLevel, levels))
    except ValueError:
        wrong = next((level for level in levels if level not in tuple(FinishLineLevel)), "")
        raise NewGameError(
            "new.wrong.levels", field="levels", offered=tuple(map(str, FinishLineLevel)), choice=wrong[:40]
        ) from None


def _parse_number(field: str, text: str, most: int) -> int:
    digits = text.lstrip("0") or "0"
    if not (text.isascii() and text.isdecimal() and len(digits) <= len(str(most)) and int(digits) <= most):
        raise NewGameError("new.wrong.choice", field=field, offered=(f"0 to {most}",), choice=text[:40])
    return int(digits)


def read_choice(choices: Mapping[str, str], field: str, offered: Collection[str], default: str = "") -> str:
    """Return what was chosen for a field, `default` if nothing was. Raises `NewGameError` if it is not offered."""
    value = choices.get(field) or default
    if value and value not in offered:
        raise NewGameError("new.wrong.choice", field=field, offered=offered, choice=value[:40])
    return value
