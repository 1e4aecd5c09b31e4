"""The rule sheet giant-deluxe-2020 (Winning Solutions): one test for each rule, named after it."""

from __future__ import annotations

from tests.support.common_rules import CommonRules, ExchangeAnyNumber, ShorterGames


class TestGiantDeluxe2020(CommonRules, ExchangeAnyNumber, ShorterGames):
    edition = "giant-deluxe-2020"
    colours = ("light blue", "dark blue", "red", "burgundy")
