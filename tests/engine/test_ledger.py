"""The ledger: what counts when something is answered, corrected, inserted, removed, undone or redone late."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine.board import parse_square
from engine.errors import NotationError, RulesError
from engine.events import (
    BlankNamed,
    Challenged,
    Edit,
    Exchanged,
    Passed,
    PlayMade,
    PointsGiven,
    Ref,
    ScoreCorrected,
    SquareCorrected,
    TurnCorrected,
    TurnGiven,
    TurnInserted,
)
from engine.game import Game
from engine.ledger import Answered, Ledger, Shown, Undone, find_open_entries, label_parts
from engine.ledger_data import read_entry, write_entry
from engine.rules import ChallengeRule, Rules
from engine.tiles import Tile
from tests.support.engine_table import ask, new_game, new_ledger, record, record_one_of, written

VOID_RULES = Rules(challenge=ChallengeRule.VOID)


def edit(ledger: Ledger, *edits: Edit) -> Ledger:
    return ledger.record([(edits,)])


def press(ledger: Ledger, *acts: Passed | Exchanged | PlayMade, seat: int | None = None) -> Ledger:
    return ledger.record([(acts,)], seat=seat)


def list_turns(game: Game) -> list[tuple[int, str, int]]:
    """Return the player, the word or kind, and the score of each turn."""
    return [(turn.player, turn.word or turn.kind, turn.score) for turn in game.turns]


def make_plays(ledger: Ledger, *plays: str) -> tuple[PlayMade, ...]:
    """Return plays, one after the other, as an alternative."""
    game, made = ledger.game, list[PlayMade]()
    for notation in plays:
        made.append(PlayMade(None, written(game, notation)))
        game = game.push(made[-1])
    return tuple(made)


# Turns inserted and removed


def test_forgotten_pass_that_is_inserted_moves_later_turns_to_the_next_players() -> None:
    ledger = record(new_ledger(), "8F HORN", "H6 FA.M", "10F PASTE")
    assert ledger.game.totals == (39, 9)
    ledger = edit(ledger, TurnInserted(ledger.game.turns[1].ref, Passed(None)))
    assert ledger.game.totals == (23, 25)
    assert [turn.player for turn in ledger.game.turns] == [0, 1, 0, 1]


def test_mistaken_pass_that_is_removed_moves_later_turns_back() -> None:
    ledger = record(press(record(new_ledger(), "8F HORN"), Passed(None)), "H6 FA.M", "10F PASTE")
    assert ledger.game.totals == (23, 25)
    assert edit(ledger, TurnCorrected(Ref(2, 0), None)).game.totals == (39, 9)


def test_inserted_pass_moves_no_turn_of_a_player_with_an_own_button() -> None:
    ledger = press(record(new_ledger(), "8F HORN"), Exchanged(None, 2), seat=0)
    before = list_turns(ledger.game)
    assert before == [(0, "HORN", 14), (1, "pass", 0), (0, "exchange", 0)]
    assert list_turns(edit(ledger, TurnInserted(Ref(2, 0), Passed(None))).game) == before


def test_turn_that_is_given_to_another_player_adds_no_pass() -> None:
    ledger = press(record(new_ledger(), "8F HORN", "H6 FA.M"), Passed(None))
    after = edit(ledger, TurnGiven(Ref(2, 0), 0)).game
    assert [(turn.player, turn.due) for turn in after.turns] == [(0, 0), (0, 1), (1, 1)]


def test_points_that_are_inserted_before_a_turn_move_no_turn() -> None:
    ledger = edit(record(new_ledger(), "8F HORN", "H6 FA.M"), TurnInserted(Ref(2, 0), PointsGiven(0, -10)))
    assert list_turns(ledger.game) == [(0, "HORN", 14), (0, "penalty", -10), (1, "FA.M", 9)]


@pytest.mark.parametrize("act", [Passed(None), Exchanged(None, 1)])
@pytest.mark.parametrize(("seat", "players"), [(1, [0, 1]), (2, [0, 1, 2]), (0, [0, 1, 2, 0])])
def test_press_of_an_own_button_follows_passes_of_the_players_before(
    act: Passed | Exchanged, seat: int, players: list[int]
) -> None:
    game = press(record(new_ledger(players=3), "8F HORN"), act, seat=seat).game
    assert [turn.player for turn in game.turns] == players
    assert all(turn.is_implied for turn in game.turns[1:-1]) and not game.turns[-1].is_implied


# Late answers


def ask_whether_passed(ledger: Ledger, notation: str) -> Ledger:
    """Return the ledger after a play with the question whether the next player passed; "no" counts."""
    (made,) = make_plays(ledger, notation)
    return ask(ledger, (made,), (made, Passed(None)))


def test_late_answers_about_passes_keep_the_challenger() -> None:
    """A failed challenge costs Cleo the turn, whoever has passed before."""
    ledger = ask_whether_passed(ask_whether_passed(new_ledger(players=3), "8F HORN"), "H6 FA.M")
    ledger = record(ledger, "10F PASTE")
    ledger = ledger.record([((Challenged(2, upheld=False, of=Ref(3, 0)),),)])
    ledger = press(press(ledger, Passed(None)), Passed(None))
    answered = ledger.answer(1, 1).answer(2, 1).game
    assert answered == ledger.answer(2, 1).answer(1, 1).game
    assert [(turn.player, turn.by) for turn in answered.turns if turn.by is not None] == [(1, 2)]
    assert list_turns(answered)[:5] == [
        (0, "HORN", 14),
        (1, "pass", 0),
        (2, "FA.M", 9),
        (0, "pass", 0),
        (1, "PASTE", 25),
    ]
    assert [turn.player for turn in answered.turns[6:]] == [0, 1]


def test_late_answer_changes_the_turn_and_keeps_the_later_turns() -> None:
    ledger = record(record_one_of(new_ledger(), "8F HARN", "8F HORN"), "H6 FA.M")
    assert list_turns(ledger.answer(1, 1).game) == [(0, "HORN", 14), (1, "FA.M", 9)]


def test_late_answer_counts_in_a_play_that_a_later_answer_lengthens() -> None:
    ledger = record_one_of(new_ledger(), "8F HARN", "8F HORN")
    longer = SquareCorrected(parse_square("J8"), Tile("S"), Ref(1, 0))
    ledger = ask(ledger, make_plays(ledger, "8F ....S"), (longer,))
    assert list_turns(ledger.answer(2, 1).answer(1, 1).game) == [(0, "HORNS", 16)]


def test_answer_closes_the_question_if_it_is_final() -> None:
    ledger = record(record_one_of(new_ledger(), "8F HARN", "8F HORN"), "H6 FA.M")
    still_open = ledger.answer(1, 1, is_final=False)
    assert find_open_entries(still_open) == ledger.entries[:1] and still_open.game.turns[0].word == "HORN"
    assert not find_open_entries(still_open.answer(1, 0)) and still_open.answer(1, 0).game == ledger.game


def test_score_of_a_play_stays_with_it_in_another_order() -> None:
    ledger = record(new_ledger(), "8F HORN")
    ledger = ask(ledger, make_plays(ledger, "F8 .AT", "I8 .ET"), make_plays(ledger, "I8 .ET", "F8 .AT"))
    ledger = edit(ledger, ScoreCorrected(Ref(2, 1), 50))
    assert [turn[1:] for turn in list_turns(ledger.game)[2:]] == [(".ET", 50)]
    assert [turn[1:] for turn in list_turns(ledger.answer(2, 1).game)[1:2]] == [(".ET", 50)]


def test_score_of_a_play_stays_after_another_letter() -> None:
    ledger = edit(record_one_of(new_ledger(), "8F HARN", "8F HORN"), ScoreCorrected(Ref(1, 0), 50))
    assert list_turns(ledger.answer(1, 1).game) == [(0, "HORN", 50)]


def test_score_of_a_play_is_not_that_of_a_pass() -> None:
    ledger = new_ledger()
    ledger = ask(ledger, make_plays(ledger, "8F HORN"), (Passed(None),))
    ledger = edit(ledger, ScoreCorrected(Ref(1, 0), 50)).answer(1, 1)
    assert list_turns(ledger.game) == [(0, "pass", 0)]


def test_challenge_waits_for_the_answer_that_brings_its_play_back() -> None:
    ledger = new_ledger()
    ledger = ask(ledger, make_plays(ledger, "8F HORN"), (Passed(None),))
    ledger = ledger.record([((Challenged(1, upheld=True, of=Ref(1, 0)),),)])
    passed = ledger.answer(1, 1)
    assert list_turns(passed.game) == [(0, "pass", 0)]
    assert passed.answer(1, 0).game.totals == (0, 0) and len(passed.answer(1, 0).game.turns) == 2


# Refused answers


def answer_tiles_missing() -> Ledger:
    ledger = new_ledger()
    return record(ask(ledger, make_plays(ledger, "8F HORN"), (Passed(None),)), "H6 FA.M")


def answer_square_taken() -> Ledger:
    return record(record_one_of(new_ledger(), "8F HORN", "8F HORNS"), "J7 AD")


def answer_set_lacks_tile() -> Ledger:
    return record(record_one_of(new_ledger(), "8G FA", "8G QA"), "H8 .Q")


@pytest.mark.parametrize("make", [answer_tiles_missing, answer_square_taken, answer_set_lacks_tile])
def test_answer_is_refused_if_later_plays_have_no_place_or_the_set_lacks_a_tile(make: Callable[[], Ledger]) -> None:
    with pytest.raises(RulesError, match="later turns impossible"):
        make().answer(1, 1)


@pytest.mark.parametrize(("number", "chosen"), [(1, 2), (1, -1), (2, 0), (3, 0)])
def test_answer_is_refused_without_such_a_question(number: int, chosen: int) -> None:
    ledger = record(record_one_of(new_ledger(), "8F HARN", "8F HORN"), "H6 FA.M")
    with pytest.raises(RulesError, match="no open question"):
        ledger.answer(number, chosen)


# Undo and redo


def test_undo_takes_back_an_answer_with_its_turn() -> None:
    ledger = record_one_of(new_ledger(), "8F HARN", "8F HORN").answer(1, 1).undo()
    assert not ledger.game.turns and ledger.redo().game.turns[0].word == "HORN"


def test_undo_takes_back_a_late_answer_alone() -> None:
    ledger = record(record_one_of(new_ledger(), "8F HARN", "8F HORN"), "H6 FA.M")
    assert ledger.answer(1, 1).undo().game == ledger.game


def test_undo_of_a_group_takes_back_all_its_entries() -> None:
    ledger = new_ledger()
    both = ledger.record([(steps,) for steps in zip(make_plays(ledger, "8F HORN", "H6 FA.M"), strict=True)])
    assert len(both.game.turns) == 2 and not both.undo().game.turns


def test_new_turn_ends_redo() -> None:
    ledger = record(record(new_ledger(), "8F HORN").undo(), "8F HARN")
    with pytest.raises(RulesError, match="nothing to redo"):
        ledger.redo()


def test_nothing_to_undo_at_the_start() -> None:
    with pytest.raises(RulesError, match="nothing to undo"):
        record(new_ledger(), "8F HORN").undo().undo()


def test_edit_of_a_turn_that_was_undone_is_refused() -> None:
    with pytest.raises(RulesError, match="not recorded any more"):
        new_game().push(TurnCorrected(Ref(1, 0), None))


# Squares


def test_square_of_a_play_that_does_not_count_belongs_to_the_play_that_has_a_tile_there() -> None:
    """Ben's word does not count, and its tiles are gone. An S of Anna's next play on the same square was overlooked."""
    ledger = record(new_ledger(VOID_RULES), "8F HORN")
    (void,) = make_plays(ledger, "8F ....X")
    ledger = ledger.record([((PlayMade(None, void.play, ("HORNX",)),),)])
    ledger = record(ledger, "J9 AT")
    last = ledger.game.turns[-1]
    ledger = edit(ledger, SquareCorrected(parse_square("J8"), Tile("S"), last.ref, told=True))
    assert [(turn.word, turn.stands) for turn in ledger.game.turns if turn.play] == [
        ("HORN", True),
        ("....X", False),
        ("SAT", True),
    ]


def test_square_of_a_play_that_counts_for_a_later_one_can_be_corrected() -> None:
    ledger = new_ledger(VOID_RULES)
    (void,) = make_plays(ledger, "8F HARN")
    (farm,) = make_plays(record(ledger, "8F HARN"), "H6 FA.M")
    ledger = ledger.record([((PlayMade(None, void.play, ("HARN",)),),), ((farm,),)])
    assert ledger.game.turns[0].stands
    ledger = edit(ledger, SquareCorrected(parse_square("G8"), Tile("O"), told=True))
    assert list_turns(ledger.game)[0] == (0, "HORN", 14)


def test_play_that_does_not_count_still_does_not_after_a_correction_of_its_player() -> None:
    ledger = new_ledger(VOID_RULES)
    (void,) = make_plays(ledger, "8F HARN")
    ledger = ledger.record([((PlayMade(None, void.play, ("HARN",)),),)])
    ledger = edit(ledger, TurnCorrected(Ref(1, 0), PlayMade(1, void.play)))
    assert [(turn.player, turn.kind) for turn in ledger.game.turns] == [(1, "play"), (1, "withdrawn")]


def test_blank_is_named_in_the_answer_that_has_it() -> None:
    ledger = record_one_of(new_ledger(), "8F HORN", "8F H?RN")
    assert list_turns(ledger.answer(1, 1).game) == [(0, "H?RN", 12)]
    named = edit(ledger.answer(1, 1), BlankNamed(parse_square("G8"), "O"))
    assert list_turns(named.game) == [(0, "HoRN", 12)]
    assert list_turns(named.answer(1, 0).game) == [(0, "HORN", 14)]


# Identities and data


def test_plays_on_the_same_squares_are_the_same_part_of_an_entry() -> None:
    ledger = new_ledger()
    whole, pieces = make_plays(ledger, "8F HORN"), make_plays(ledger, "8G OR", "8F H..N")
    assert label_parts([whole, pieces, (*whole, Passed(None)), ()]) == [(0,), (0, 1), (0, 2), ()]


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"kind": "entry", "v": 1},
        {"kind": "entry", "v": 2, "group": 1, "alternatives": [[]], "source": "hand", "other": 1},
        {"kind": "entry", "v": 2, "group": 1, "alternatives": [[]], "source": "hand", "chosen": 1},
        {"kind": "entry", "v": 2, "group": 1, "alternatives": [[{"kind": "nothing"}]], "source": "hand"},
        {"kind": "entry", "v": 2, "group": 1, "alternatives": [[{"kind": "undone"}]], "source": "hand"},
        {"kind": "entry", "v": 2, "group": 1, "alternatives": [[]], "source": "nobody"},
    ],
)
def test_entry_that_nothing_has_written_is_refused(data: dict[str, object]) -> None:
    with pytest.raises(NotationError):
        read_entry(1, data)


def test_notes_are_the_same_after_they_were_written_and_read() -> None:
    ledger = record_one_of(new_ledger(), "8F HARN", "8F HORN").answer(1, 1, is_final=False).undo()
    notes = [note for entry in ledger.entries for note in entry.notes]
    assert [type(note) for note in notes] == [Answered, Shown, Undone]
    assert [read_entry(entry.number, write_entry(entry)) for entry in ledger.entries] == [*ledger.entries]
