"""The rules of a game, as one immutable value. A comment at each setting gives the rule sheet and the rule number.

The rule sheets have these short names: `classic-2008` (Hasbro 04264), `travel-case` (the sheet with rule variations),
`giant-deluxe-2020`, `crossword-game`, `summary`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from typing import Any

from engine.errors import RulesError
from engine.messages import make_message

MIN_PLAYERS, MAX_PLAYERS = 2, 4
"""Minimum and maximum number of players (all sheets, Setup)."""


class ChallengeRule(StrEnum):
    """The cost of a failed challenge.

    If a challenge is upheld, the challenged player always withdraws the play and loses the turn.
    """

    DOUBLE = "double"  # the rule of the sheets (8): after a failed challenge the challenger loses a turn
    SINGLE = "single"  # a failed challenge costs nothing
    VOID = "void"  # there are no challenges: a play with a word that is not in the agreed list does not count
    POINTS = "points"  # a failed challenge costs points: `challenge_points`, `challenge_each_word`, `challenger_pays`


class UnplayedRule(StrEnum):
    """The rule for scoring unplayed letters at the end of the game."""

    BOTH = "both"  # the sheets (Scoring 9): each player loses points, and the player who went out gains these points
    TWICE = "twice"  # tournaments: the player who went out gains twice the others' letters, and no player loses points
    NONE = "none"


class FinishLineLevel(StrEnum):
    """The skill of a player in the Finish Line game."""

    BEGINNER = "beginner"
    INTERMEDIATE = "intermediate"
    EXPERT = "expert"


# Points to reach in the Finish Line game, by number of players. All four sheets with this game agree.
FINISH_LINE_POINTS = {
    2: {FinishLineLevel.BEGINNER: 70, FinishLineLevel.INTERMEDIATE: 120, FinishLineLevel.EXPERT: 200},
    3: {FinishLineLevel.BEGINNER: 60, FinishLineLevel.INTERMEDIATE: 100, FinishLineLevel.EXPERT: 180},
    4: {FinishLineLevel.BEGINNER: 50, FinishLineLevel.INTERMEDIATE: 90, FinishLineLevel.EXPERT: 160},
}


@dataclass(frozen=True, slots=True)
class PremiumColours:
    """The colours of the premium squares of an edition. Each colour is an English name and a `#rrggbb` code."""

    double_letter: tuple[str, str]
    triple_letter: tuple[str, str]
    double_word: tuple[str, str]
    triple_word: tuple[str, str]


_BLUE_GREEN = PremiumColours(("blue", "#3f7fbf"), ("green", "#3f9f5f"), ("red", "#c8322d"), ("orange", "#e8862d"))
_BURGUNDY = PremiumColours(
    ("light blue", "#9fc8e0"), ("dark blue", "#2f5f9f"), ("red", "#c8322d"), ("burgundy", "#7a1f35")
)
_PINK = PremiumColours(("light blue", "#b5d9e8"), ("dark blue", "#3a7db8"), ("pink", "#f0b4b0"), ("red", "#d8322d"))

EDITION_COLOURS = {
    "classic-2008": _BLUE_GREEN,
    "travel-case": _BLUE_GREEN,
    "giant-deluxe-2020": _BURGUNDY,
    "crossword-game": _PINK,
    "summary": _PINK,
}


VARIATIONS = ("rearrange", "recycle", "retake_blanks")
"""Names of the settings for the variations of the rules (travel-case, rules 5 A, 5 B and 6)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The rules that the players agree on before the game. The defaults are the rules of the standard game.

    >>> Rules(rack_size=9).bonus(7), Rules().bonus(6)
    (50, 0)
    """

    edition: str = "classic-2008"
    rack_size: int = 7  # Setup; 9 in the 9-Tile game
    bingo_tiles: int = 7  # Scoring 8, and "7, 8 or all 9" in the 9-Tile game
    bingo_bonus: int = 50  # Scoring 8
    first_word_minimum: int = 2  # Gameplay 1; 3, 4 or 5 by the variation of travel-case
    exchange_minimum_bag: int = 0  # Gameplay 7; 7 by the note of travel-case
    rearrange: bool = False  # travel-case, variation A of rule 5
    recycle: bool = False  # travel-case, variation B of rule 5
    retake_blanks: bool = False  # travel-case, variation of rule 6
    open_dictionary: bool = True  # travel-case, variation of rule 8: invalid words are shown at once
    list_decides: bool = True  # rule 8: the agreed list decides a challenge; False: the players decide
    challenge: ChallengeRule = ChallengeRule.DOUBLE  # rule 8
    challenge_points: int = 0  # clubs: 5 or 10, gained by the challenged player after a failed challenge
    challenge_each_word: bool = False  # clubs: the points count for each word challenged
    challenger_pays: bool = False  # clubs: the challenger loses the points, and the challenged player gains none
    scoreless_turns: int = 0  # tournaments: the game ends after this number of scoreless turns; 0: no such rule
    unplayed: UnplayedRule = UnplayedRule.BOTH  # Scoring 9
    finish_line: tuple[FinishLineLevel, ...] = ()  # levels of the players, or one level for all; empty: not Finish Line
    finish_round: bool = False  # not in the sheets: in a Finish Line game the other players finish the round
    finish_unplayed: bool = False  # not in the sheets: unplayed letters count in a Finish Line game
    clock_seconds: int = 0  # not in the sheets: time of each player; 0: no clock
    overtime_points: int = 10  # tournaments: for each minute begun over the time

    def __post_init__(self) -> None:
        if self.edition not in EDITION_COLOURS:
            raise RulesError(f"There is no edition {self.edition!r}. Choose one of {', '.join(EDITION_COLOURS)}.")
        if not 2 <= self.first_word_minimum <= 5:
            raise RulesError(f"The first word has at least 2 to 5 letters, not {self.first_word_minimum}.")
        if self.rack_size < 1 or self.bingo_tiles < 1:
            raise RulesError("a rack and a bingo need at least one tile")

    def bonus(self, tiles: int) -> int:
        """Return the bonus for a play of `tiles` tiles: `bingo_bonus` for at least `bingo_tiles` tiles, otherwise 0."""
        return self.bingo_bonus if tiles >= self.bingo_tiles else 0

    def finish_lines(self, players: int) -> tuple[int, ...]:
        """Return the points that each player needs in the Finish Line game, or an empty tuple in any other game.

        Raises `RulesError` if the number of levels is neither 1 (one level for all) nor the number of players.
        """
        if not self.finish_line:
            return ()
        levels = self.finish_line * players if len(self.finish_line) == 1 else self.finish_line
        if len(levels) != players:
            text = "There are {0} levels for {1} players. Choose one level for each player, or one for all."
            raise RulesError(make_message("levels", text, len(self.finish_line), players))
        return tuple(FINISH_LINE_POINTS[players][level] for level in levels)

    def __repr__(self) -> str:
        changed = ", ".join(f"{name}={value!r}" for name, value in self.to_json().items())
        return f"Rules({changed})"

    @property
    def variations(self) -> tuple[str, ...]:
        """The names of the variations that are in force."""
        return tuple(name for name in VARIATIONS if getattr(self, name))

    @property
    def colours(self) -> PremiumColours:
        """The colours of the premium squares in this edition."""
        return EDITION_COLOURS[self.edition]

    def to_json(self) -> dict[str, Any]:
        """Return the settings that differ from the standard game, as plain data."""
        plain = Rules()
        return {name: value for name, value in asdict(self).items() if value != getattr(plain, name)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Rules:
        """Return rules from plain data. Missing settings have the default values. Raises `RulesError`."""
        unknown = set(data) - {f.name for f in fields(cls)}
        if unknown:
            raise RulesError(f"unknown rules: {', '.join(sorted(unknown))}")
        values = dict(data)
        try:
            for name, kind in (("challenge", ChallengeRule), ("unplayed", UnplayedRule)):
                if name in values:
                    values[name] = kind(values[name])
            values["finish_line"] = tuple(FinishLineLevel(level) for level in values.get("finish_line", ()))
        except ValueError as error:
            raise RulesError(str(error)) from None
        return cls(**values)


STANDARD_RULES = Rules()

PRESETS = {
    "classic-2008": STANDARD_RULES,
    "travel-case": replace(STANDARD_RULES, edition="travel-case", exchange_minimum_bag=7),
    "giant-deluxe-2020": replace(STANDARD_RULES, edition="giant-deluxe-2020"),
    "crossword-game": replace(STANDARD_RULES, edition="crossword-game"),
    "summary": replace(STANDARD_RULES, edition="summary"),
    "nine-tile": replace(STANDARD_RULES, rack_size=9),
    "tournament": replace(
        STANDARD_RULES,
        exchange_minimum_bag=7,
        open_dictionary=False,
        scoreless_turns=6,
        unplayed=UnplayedRule.TWICE,
        clock_seconds=25 * 60,
    ),
}


def rules_preset(name: str) -> Rules:
    """Return the preset rules with a name, such as `tournament`. Raises `RulesError` for an unknown name."""
    if name not in PRESETS:
        raise RulesError(f"There are no rules called {name!r}. Choose one of {', '.join(PRESETS)}.")
    return PRESETS[name]
