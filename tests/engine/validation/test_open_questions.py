"""Open questions of a ledger, late answers to them, and corrections that answer them."""

from __future__ import annotations

import pytest

from engine.board import parse_square
from engine.errors import RulesError
from engine.events import (
    BlankNamed,
    BlankTaken,
    Challenged,
    Edit,
    Exchanged,
    Passed,
    PlayMade,
    Ref,
    ScoreCorrected,
    SquareCorrected,
    TurnCorrected,
    TurnGiven,
)
from engine.ledger import Ledger, find_disputed_squares, find_open_entries
from engine.rules import Rules
from engine.scoring import Status
from engine.tiles import Tile
from engine.validation.open_questions import find_corrected_entries, find_open_squares, find_provisional_turns
from tests.support.engine_table import ask, new_game, new_ledger, play, record, record_one_of, written

G8, H6, I11, J8 = map(parse_square, ("G8", "H6", "I11", "J8"))
FIRST = Ref(1, 0)
"""The identity of the first act of a ledger."""


def harn_or_horn() -> Ledger:
    """Return a ledger whose first play is HARN, or HORN."""
    return record_one_of(new_ledger(), "8F HARN", "8F HORN")


def edit(ledger: Ledger, *edits: Edit) -> Ledger:
    """Return the ledger after edits by a player."""
    return ledger.record([(edits,)])


def list_turns(ledger: Ledger) -> list[tuple[int, str, int]]:
    """Return the player, the word (or the kind) and the score of each turn."""
    return [(turn.player, turn.word or str(turn.kind), turn.score) for turn in ledger.game.turns]


def test_turn_with_an_open_question_is_provisional() -> None:
    ledger = record(harn_or_horn(), "H6 FA.M")
    assert [entry.number for entry in find_open_entries(ledger)] == [1]
    assert find_provisional_turns(ledger).keys() == {0} and find_open_squares(ledger) == {G8}


def test_late_answer_changes_its_turn_and_the_scores_of_later_turns() -> None:
    ledger = record(record_one_of(new_ledger(), "8F NORN", "8F HORN"), "8J S").answer(1, 1)
    assert list_turns(ledger) == [(0, "HORN", 14), (1, "....S", 8)]
    assert not find_open_entries(ledger) and not find_provisional_turns(ledger)


def test_late_answer_that_confirms_the_turn_closes_the_question() -> None:
    ledger = record(harn_or_horn(), "H6 FA.M")
    after = ledger.answer(1, 0)
    assert after.game.totals == ledger.game.totals and not find_open_entries(after)


def test_late_answer_changes_a_turn_that_was_given_to_another_player() -> None:
    ledger = edit(record_one_of(new_ledger(players=3), "8F HARN", "8F HORN"), TurnGiven(FIRST, 2))
    assert list_turns(ledger.answer(1, 1)) == [(2, "HORN", 14)]


def test_answer_that_is_not_final_is_in_effect_and_can_be_changed() -> None:
    ledger = harn_or_horn().answer(1, 1, is_final=False)
    assert ledger.game.turns[0].word == "HORN" and find_provisional_turns(ledger).keys() == {0}
    assert ledger.answer(1, 0).game.turns[0].word == "HARN"


def test_late_answer_that_leaves_a_later_play_without_its_tiles_is_refused() -> None:
    ledger = record(record_one_of(new_ledger(), "8F HORN", "8G HORN"), "F7 A.M")
    with pytest.raises(RulesError, match="later turns impossible"):
        ledger.answer(1, 1)


@pytest.mark.parametrize(("number", "chosen"), [(1, 2), (1, -1), (2, 0), (3, 0)])
def test_unknown_answer_is_refused(number: int, chosen: int) -> None:
    with pytest.raises(RulesError, match="no open question"):
        record(harn_or_horn(), "H6 FA.M").answer(number, chosen)


def test_late_answer_without_the_play_leaves_out_the_correction_of_its_tile() -> None:
    """Otherwise the tile would be added to the play before."""
    ledger = record(new_ledger(), "8F HORN")
    farm = PlayMade(None, written(ledger.game, "H6 FA.M"))
    ledger = edit(ask(ledger, (farm,), (Passed(None),)), SquareCorrected(H6, Tile("W"), told=True))
    assert list_turns(ledger)[1][1] == "WA.M"
    assert list_turns(ledger.answer(2, 1)) == [(0, "HORN", 14), (1, "pass", 0)]


def test_late_answer_that_adds_a_pass_moves_the_answers_to_later_questions_to_the_other_player() -> None:
    horn = PlayMade(None, written(new_game(), "8F HORN"))
    ledger = record_one_of(ask(new_ledger(), (horn,), (horn, Passed(None))), "H6 FO.M", "H6 FA.M")
    assert list_turns(ledger.answer(1, 1).answer(2, 1)) == [(0, "HORN", 14), (1, "pass", 0), (0, "FA.M", 9)]


@pytest.mark.parametrize(("by", "challenger", "is_own"), [(None, 2, False), (0, 0, False), (1, 1, True)])
def test_late_answer_changes_the_challenger_only_if_none_was_named(
    by: int | None, challenger: int, is_own: bool
) -> None:
    before = record(new_ledger(players=3), "8F HORN")
    farm = PlayMade(None, written(before.game, "H6 FA.M"))
    ledger = ask(before, (Passed(None), farm), (farm,)).record([((Challenged(by, upheld=False, of=Ref(2, 1)),),)])
    assert ledger.game.turns[-1].by == (0 if by is None else by)
    failed = ledger.answer(2, 1).game.turns[-1]
    assert (failed.by, Status.OUT_OF_TURN in failed.status) == (challenger, is_own)


def hat_or_net_first() -> Ledger:
    """Return a ledger in which it is in question whether Ben played HAT and Anna NET, or the other way round."""
    before = record(new_ledger(), "8F HORN")
    hat, net = (PlayMade(None, written(before.game, notation)) for notation in ("F8 .AT", "I8 .ET"))
    return ask(before, (hat, net), (net, hat))


@pytest.mark.parametrize(
    ("correction", "words"),
    [
        (TurnCorrected(Ref(2, 1), PlayMade(None, written(play(new_game(), "8F HORN"), "I6 TEN"))), (".AT", "TE.")),
        (SquareCorrected(I11, Tile("S"), Ref(2, 1)), (".AT", ".ETS")),
        (ScoreCorrected(Ref(2, 1), 50), (".AT", ".ET")),
    ],
)
def test_late_answer_about_the_order_keeps_a_correction_with_its_play(correction: Edit, words: tuple[str, str]) -> None:
    ledger = edit(hat_or_net_first(), correction)
    (_, _, hat), (_, _, net) = list_turns(ledger)[1:]
    assert list_turns(ledger)[1:] == [(1, words[0], hat), (0, words[1], net)]
    assert list_turns(ledger.answer(2, 1))[1:] == [(1, words[1], net), (0, words[0], hat)]


def lengthen(ledger: Ledger) -> Ledger:
    """Return the ledger after an S at the end of row 8, with the question whether it belongs to the first play."""
    own = PlayMade(None, written(ledger.game, "8F ....S"))
    moved = SquareCorrected(J8, Tile("S"), FIRST)
    return ask(ledger, (own,), (moved,), (moved, Passed(None)))


def test_entered_score_of_a_play_that_an_answer_lengthens_later_stays() -> None:
    """The tile may have been missed when the players entered the score of the whole play."""
    ledger = lengthen(edit(record(new_ledger(), "8F FARM"), ScoreCorrected(FIRST, 50)))
    assert list_turns(ledger.answer(3, 2)) == [(0, "FARMS", 50), (1, "pass", 0)]


def test_score_that_is_entered_after_a_question_stays_whatever_is_answered() -> None:
    ledger = edit(harn_or_horn(), ScoreCorrected(FIRST, 50))
    assert list_turns(ledger.answer(1, 1)) == [(0, "HORN", 50)]


def test_late_answer_that_removes_a_turn_drops_its_entered_score() -> None:
    ledger = record(new_ledger(), "8F HORN")
    ledger = ask(ledger, (PlayMade(None, written(ledger.game, "8F ....S")),), ())
    ledger = edit(ledger.record([((Exchanged(None, 2),),)]), ScoreCorrected(Ref(2, 0), 20))
    assert list_turns(ledger.answer(2, 1)) == [(0, "HORN", 14), (1, "exchange", 0)]


# Corrections


@pytest.mark.parametrize(
    ("correction", "is_answer"),
    [
        (TurnCorrected(FIRST, PlayMade(1, written(new_game(), "8F HARN"))), False),
        (TurnGiven(FIRST, 1), False),
        (TurnCorrected(FIRST, PlayMade(None, written(new_game(), "8F HORN"))), True),
        (TurnCorrected(FIRST, PlayMade(None, written(new_game(), "8F HERN"))), True),
        (TurnCorrected(FIRST, Passed(None)), True),
        (TurnCorrected(FIRST, None), True),
        (SquareCorrected(G8, Tile("O"), told=True), True),
        (SquareCorrected(G8, Tile("O")), False),
        (SquareCorrected(H6, Tile("W"), told=True), False),
        (ScoreCorrected(FIRST, 20), False),
    ],
    ids=["player", "seat", "other letter", "third letter", "pass", "removed", "told", "read", "elsewhere", "score"],
)
def test_question_about_a_letter_is_answered_by_a_correction_of_the_letter(correction: Edit, is_answer: bool) -> None:
    ledger = edit(record(harn_or_horn(), "H6 FA.M"), correction)
    assert [entry.number for entry in find_corrected_entries(ledger)] == [1] * is_answer


def test_answer_that_lengthens_a_play_is_no_answer_about_its_letters() -> None:
    ledger = lengthen(harn_or_horn()).answer(2, 1)
    assert find_provisional_turns(ledger).keys() == {0} and not find_corrected_entries(ledger)


def test_correction_that_adds_the_tile_in_question_answers_it() -> None:
    ledger = record_one_of(new_ledger(), "8F HOR", "8F HORN")
    horn = TurnCorrected(FIRST, PlayMade(None, written(new_game(), "8F HORN")))
    assert find_corrected_entries(edit(ledger, horn))


def test_correction_of_a_play_does_not_answer_who_made_it() -> None:
    ledger = hat_or_net_first()
    ten = PlayMade(None, written(play(new_game(), "8F HORN"), "I6 TEN"))
    assert not find_corrected_entries(edit(ledger, TurnCorrected(Ref(2, 1), ten)))
    assert find_corrected_entries(edit(ledger, TurnGiven(Ref(2, 1), 1)))
    assert find_corrected_entries(edit(ledger, TurnCorrected(Ref(2, 1), Passed(None))))


def test_correction_of_the_other_play_does_not_answer_a_question_about_a_letter() -> None:
    harn, horn = (PlayMade(None, written(new_game(), notation)) for notation in ("8F HARN", "8F HORN"))
    farm, form = (PlayMade(None, written(play(new_game(), "8F HARN"), word)) for word in ("H6 FA.M", "H6 FO.M"))
    ledger = ask(new_ledger(), (harn, farm), (horn, farm))
    assert not find_corrected_entries(edit(ledger, TurnCorrected(Ref(1, 1), form)))
    assert find_corrected_entries(edit(ledger, TurnCorrected(Ref(1, 0), horn)))


# Blanks


def test_blank_without_a_letter_is_disputed_if_it_may_have_been_taken() -> None:
    ledger = record(new_ledger(Rules(retake_blanks=True)), "8F H?RN", "H6 FA.M")
    asked = ask(ledger, (BlankNamed(G8, "O"), BlankTaken(None, G8), Passed(None)), (Passed(None),))
    assert find_disputed_squares(ledger.game, asked.entries[-1]) == (G8,)
    assert not find_corrected_entries(asked)


def test_letters_of_a_blank_are_not_disputed() -> None:
    ledger = record(new_ledger(), "8F H?RN")
    asked = ask(ledger, (BlankNamed(G8, "O"),), (BlankNamed(G8, "A"),))
    assert find_disputed_squares(ledger.game, asked.entries[-1]) == ()
