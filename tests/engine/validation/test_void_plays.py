"""Plays with words that the agreed list lacks, in a game in which such plays do not count."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.blanks import find_invalid_words
from engine.board import parse_square
from engine.events import (
    BlankNamed,
    Edit,
    GameEnded,
    Passed,
    PlayCounted,
    PlayJudged,
    PlayMade,
    PlayWithdrawn,
    RackRevealed,
    Ref,
    ScoreCorrected,
    SquareCorrected,
    TurnCorrected,
    TurnInserted,
)
from engine.game import Game
from engine.ledger import Answered, Doubt, Ledger, Step
from engine.lexicon import Lexicon, WordList
from engine.rules import STANDARD_RULES, ChallengeRule, Rules
from engine.tiles import Tile
from engine.validation.void_plays import find_void_turn, judge_alternatives, judge_changed_plays
from tests.support.engine_table import act_ref, ask, new_game, new_ledger, play, written
from tests.support.examples import try_examples
from tests.support.play_at_random import random_play

VOID = replace(STANDARD_RULES, challenge=ChallengeRule.VOID)
WORDS = Lexicon.from_words("club", ["horn", "farm", "paste", "farms", "oat"])
G8, H8 = parse_square("G8"), parse_square("H8")


def push(ledger: Ledger, *steps: Step | str) -> Ledger:
    """Return the ledger after one press with these plays and steps, judged by the word list."""
    game, alternative = ledger.game, list[Step]()
    for step in steps:
        alternative.append(PlayMade(None, written(game, step)) if isinstance(step, str) else step)
        game = play(game, step) if isinstance(step, str) else game
    return ledger.record([judge_alternatives(ledger.game, [tuple(alternative)], WORDS)])


def list_turns(ledger: Ledger) -> list[tuple[str, int]]:
    return [(str(turn.kind), turn.player) for turn in ledger.game.turns]


def test_play_with_an_unlisted_word_does_not_count() -> None:
    ledger = push(new_ledger(VOID), "8F HRON")
    game = ledger.game
    assert list_turns(ledger) == [("play", 0), ("withdrawn", 0)] and game.totals == (0, 0) and game.to_move == 1
    assert find_void_turn(game) == game.turns[0]


def test_first_of_two_plays_is_withdrawn_if_it_is_invalid() -> None:
    ledger = push(push(new_ledger(VOID), "8F HORN"), "H6 FA.N", "I7 A.T")
    assert list_turns(ledger)[1:3] == [("play", 1), ("withdrawn", 1)] and ledger.game.totals[1] == 0


def test_invalid_play_before_a_pass_is_withdrawn() -> None:
    ledger = push(new_ledger(VOID), "8F HRON", Passed(1))
    assert list_turns(ledger) == [("play", 0), ("withdrawn", 0), ("pass", 1)] and ledger.game.to_move == 0
    assert find_void_turn(ledger.game) is None


@pytest.mark.parametrize("later", [(), (Passed(0),)])
def test_invalid_play_counts_if_a_later_play_needs_its_tiles(later: tuple[Passed, ...]) -> None:
    game = push(new_ledger(VOID), "8F HRON", "H7 F.AT", *later).game
    assert game.turns[0].stands and game.turns[0].ref == act_ref(0)


def test_blank_that_is_named_belongs_to_the_play_before() -> None:
    ledger = push(new_ledger(VOID), "8F H?RN", BlankNamed(G8, "A"), Passed(1))
    assert list_turns(ledger) == [("play", 0), ("withdrawn", 0), ("pass", 1)]


def test_valid_plays_count() -> None:
    assert push(new_ledger(VOID), "8F HORN", "H6 FA.M").game.totals == (14, 9)


def test_play_after_the_end_is_judged() -> None:
    ledger = push(push(new_ledger(VOID), "8F HORN"), GameEnded(), RackRevealed(0, ("Q",)), RackRevealed(1, ("Z",)))
    assert list_turns(push(ledger, "H6 FA.N"))[:3] == [("play", 0), ("play", 1), ("withdrawn", 1)]


def test_invalid_play_counts_if_the_players_decide_so() -> None:
    ledger = push(push(new_ledger(VOID), "8F HRON"), PlayCounted(act_ref(0)), Passed(1))
    assert list_turns(ledger) == [("play", 0), ("pass", 1)]


@pytest.mark.parametrize(("rules", "words"), [(STANDARD_RULES, WORDS), (VOID, None)])
def test_play_is_judged_only_by_an_agreed_list_that_decides(rules: Rules, words: Lexicon | None) -> None:
    game = new_game(rules)
    steps = (PlayMade(0, written(game, "8F HRON")),)
    assert judge_alternatives(game, [steps], words) == (steps,)
    assert judge_changed_plays(game, game.push(*steps), words) == ()


class EvenWords:
    """A word list that has all words of an even number of letters."""

    def __contains__(self, word: str, /) -> bool:
        return len(word) % 2 == 0


def list_verdicts(game: Game, words: WordList) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return what is recorded about each play of a game, and what the word list says about its words."""
    found = []
    for item in game.items:
        turn = game.find_turn(item.ref)
        assert turn is not None and isinstance(item.act, PlayMade)
        found.append((item.act.unlisted, find_invalid_words(turn.words, game.tiles, words)))
    return found


@given(st.integers(0, 2**32), st.integers(0, 1), st.integers(0, 1))
@try_examples(100)
def test_plays_in_two_orders_are_judged_in_each_order(seed: int, first: int, last: int) -> None:
    rng, words, table = random.Random(seed), EvenWords(), new_game(VOID)  # plays that do not count stay on the table
    ledger = Ledger(table.start_event)
    plays: list[PlayMade] = []
    for _ in range(4):
        found = next(filter(None, (random_play(table, rng, 3) for _ in count())))
        plays.append(PlayMade(None, found))
        table = table.push(plays[-1])
    for made in plays[:2]:
        ledger = ledger.record([judge_alternatives(ledger.game, [(made,)], words)])
    orders = (tuple(plays[2:]), tuple(reversed(plays[2:])))
    ledger = ledger.record([judge_alternatives(ledger.game, orders, words)], chosen=first, doubt=Doubt("which-first"))
    game = ledger.record([((Answered(3, last),),)]).game
    assert all(recorded == right for recorded, right in list_verdicts(game, words))


# Corrections


def make_misread(second: str) -> Ledger:
    """Return a ledger in which the play `second` does not count because of the B of HOBN, which was misread."""
    ledger = push(new_ledger(VOID), "8F HOBN", PlayCounted(act_ref(0)), second)
    assert list_turns(ledger) == [("play", 0), ("play", 1), ("withdrawn", 1)]
    return ledger


RIGHT = SquareCorrected(H8, Tile("R"))


def test_play_that_is_valid_after_a_correction_counts() -> None:
    ledger = push(make_misread("H6 FA.M"), RIGHT)
    assert list_turns(ledger) == [("play", 0), ("play", 1)] and ledger.game.totals == (14, 9)


@pytest.mark.parametrize(
    ("second", "correction"),
    [
        ("H6 FA.M", SquareCorrected(H8, Tile("X"))),
        ("H6 FA.M", ScoreCorrected(act_ref(0), 20)),
        ("H6 FA.N", RIGHT),
    ],
    ids=["other letter", "score", "two errors"],
)
def test_play_that_is_invalid_after_a_correction_does_not_count(second: str, correction: Edit) -> None:
    assert list_turns(push(make_misread(second), correction))[1:] == [("play", 1), ("withdrawn", 1)]


def test_play_that_is_invalid_after_a_correction_of_another_does_not_count_any_more() -> None:
    game = push(new_ledger(VOID), "8F HORN", "H6 FA.M", SquareCorrected(H8, Tile("B"))).game
    assert game.turns[-1].kind == "withdrawn" and game.totals[1] == 0


def test_play_that_players_have_taken_back_stays_so_after_a_correction() -> None:
    ledger = push(make_misread("H6 FA.M"), PlayWithdrawn(1, act_ref(1)))
    assert list_turns(push(ledger, RIGHT))[1:] == [("play", 1), ("withdrawn", 1)]


@pytest.mark.parametrize(
    "change", [TurnInserted(None, PlayMade(1, written(play(new_game(), "8F HORN"), "H6 FA.N"))), "correction"]
)
def test_play_that_is_entered_later_is_judged(change: Edit | str) -> None:
    ledger = push(new_ledger(VOID), "8F HORN")
    if isinstance(change, str):
        ledger = push(ledger, Passed(1))
        change = TurnCorrected(Ref(2, 0), PlayMade(None, written(play(new_game(), "8F HORN"), "H6 FA.N")))
    ledger = push(ledger, change)
    assert list_turns(ledger)[1:3] == [("play", 1), ("withdrawn", 1)] and ledger.game.totals == (14, 0)


# Late answers


def judge_first(*words: str) -> Ledger:
    """Return a ledger whose first play at 8F is one of `words`; the list decides whether it counts."""
    game = new_game(VOID)
    plays = [(PlayMade(None, written(game, f"8F {word}")),) for word in words]
    return ask(new_ledger(VOID), *judge_alternatives(game, plays, WORDS))


def test_late_answer_with_an_invalid_word_does_not_count() -> None:
    ledger = judge_first("HORN", "HRON").record([((Passed(None),),)])
    after = ledger.answer(1, 1)
    assert list_turns(after) == [("play", 0), ("withdrawn", 0), ("pass", 1)] and after.game.totals == (0, 0)


def test_late_answer_with_an_invalid_word_counts_if_a_later_play_needs_its_tiles() -> None:
    ledger = judge_first("HORN", "HARN")
    ledger = ledger.record([((PlayMade(None, written(ledger.game, "H6 FA.M")),),)])
    assert [turn.stands for turn in ledger.answer(1, 1).game.turns] == [True, True]


def test_late_answer_changes_what_the_list_says_about_a_later_play() -> None:
    ledger = judge_first("HOBN", "HORN").record([((PlayCounted(act_ref(0)),),)])
    ledger = push(ledger, "H6 FA.M")
    after = ledger.answer(1, 1).game
    verdicts = judge_changed_plays(ledger.game, after, WORDS)
    assert verdicts == (PlayJudged(ledger.game.turns[1].ref, ()),)
    assert (ledger.game.totals[1], after.push(*verdicts).totals[1]) == (0, 9)
