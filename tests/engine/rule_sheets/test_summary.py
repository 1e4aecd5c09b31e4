"""The rule sheet summary (a rule summary on a web site: no shorter games): one test for each rule, named after it."""

from __future__ import annotations

from engine.events import Challenged
from tests.support.common_rules import CommonRules, ExchangeAnyNumber


class TestSummary(CommonRules, ExchangeAnyNumber):
    edition = "summary"
    colours = ("light blue", "dark blue", "pink", "red")

    def test_special_rule_any_word_may_be_challenged(self) -> None:
        """This sheet speaks of "the word"; the whole play comes back all the same."""
        game = self.game("8F HORN", "H6 FA.M", "10F PASTE").push(Challenged(1, upheld=True, words=("FARMS",)))
        assert game.turns[-1].score == -25
