"""The rules in force are listed on the page."""

from __future__ import annotations

from dataclasses import replace

import pytest
from flask.testing import FlaskClient

from engine.rules import PRESETS, ChallengeRule, FinishLineLevel, Rules
from tests.support import samples
from tests.web.conftest import ShownTable
from web.filters import list_rule_texts
from web.i18n import languages

TEXTS = languages()["en"]


def list_texts(rules: Rules, players: int = 2) -> str:
    state = replace(samples.MIDGAME, rules=rules, finish_lines=rules.finish_lines(players))
    return " | ".join(f"{name}: {text}" for name, text in list_rule_texts(state, TEXTS))


@pytest.mark.parametrize(
    ("rules", "text"),
    [
        (PRESETS["tournament"], "Rules: Tournament"),
        (replace(PRESETS["tournament"], clock_seconds=1200), "Rules: Tournament, with changes"),
        (replace(PRESETS["nine-tile"], list_decides=False), "Rules: Nine tiles on the rack |"),
        (Rules(finish_line=(FinishLineLevel.EXPERT,)), "Rules: Standard, with changes"),
        (PRESETS["tournament"], "Allowed with 7 or more tiles in the bag"),
        (PRESETS["tournament"], "The game ends after this many scoreless turns in a row: 6"),
        (PRESETS["tournament"], "25 minutes for each player; each minute of overtime costs 10 points"),
        (PRESETS["nine-tile"], "50 extra points for a turn with 7 or more tiles; each rack holds 9 tiles"),
        (Rules(challenge=ChallengeRule.POINTS, challenge_points=5), "the challenged player gains 5 points"),
        (
            Rules(challenge=ChallengeRule.POINTS, challenge_points=5, challenge_each_word=True),
            "gains 5 points for each word",
        ),
        (
            Rules(challenge=ChallengeRule.POINTS, challenge_points=10, challenger_pays=True),
            "the challenger loses",
        ),
        (Rules(challenge=ChallengeRule.VOID), "no challenges"),
        (Rules(), "Challenges are decided by: the word list"),
        (Rules(list_decides=False), "Challenges are decided by: the players"),
        (Rules(first_word_minimum=4), "Shortest first word: 4 letters"),
        (Rules(rearrange=True, recycle=True), "Variation: You may swap a tile on the board"),
        (Rules(finish_line=(FinishLineLevel.EXPERT, FinishLineLevel.BEGINNER)), "Anna 200, Ben 70"),
        (Rules(open_dictionary=False), "Look words up only in a challenge"),
        (
            Rules(finish_line=(FinishLineLevel.EXPERT,)),
            "Finish line: Once a player has reached the finish line, unplayed letters do not count",
        ),
        (
            Rules(finish_line=(FinishLineLevel.EXPERT,), finish_unplayed=True),
            "Finish line: Finish Line: unplayed letters count",
        ),
    ],
)
def test_rule_that_was_agreed_is_listed(rules: Rules, text: str) -> None:
    assert text in list_texts(rules)


def test_rules_are_shown_during_the_game(table: ShownTable, client: FlaskClient) -> None:
    assert "once a game has begun" in client.get("/").text
    table.show(replace(samples.MIDGAME, rules=PRESETS["travel-case"]))
    page = client.get("/").text
    assert "Travel edition" in page and "Allowed with 7 or more tiles in the bag" in page


def test_shipped_word_list_is_not_listed_by_its_code() -> None:
    state = replace(samples.MIDGAME, rules=Rules(), lexicon="en")
    assert ("Word list", "the list that comes with the tiles") in list_rule_texts(state, TEXTS)
