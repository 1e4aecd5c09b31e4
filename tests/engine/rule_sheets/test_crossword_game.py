"""The rule sheet crossword-game (SCRABBLE Crossword Game, ages 8 to adult): one test for each rule, named after it."""

from __future__ import annotations

from tests.support.common_rules import CommonRules, ExchangeAnyNumber, ShorterGames


class TestCrosswordGame(CommonRules, ExchangeAnyNumber, ShorterGames):
    edition = "crossword-game"
    colours = ("light blue", "dark blue", "pink", "red")
