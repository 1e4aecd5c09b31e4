"""The rule sheet classic-2008 (Hasbro 04264): one test for each rule, named after it."""

from __future__ import annotations

from tests.support.common_rules import CommonRules, ExchangeAnyNumber, ShorterGames


class TestClassic2008(CommonRules, ExchangeAnyNumber, ShorterGames):
    edition = "classic-2008"
    colours = ("blue", "green", "red", "orange")
