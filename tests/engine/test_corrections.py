"""Corrections of a square, a score or a turn, after which all later turns are scored again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.board import SQUARES, parse_square
from engine.errors import NotationError, RulesError
from engine.events import (
    BlankNamed,
    BlankTaken,
    Challenged,
    Edit,
    GameEnded,
    Passed,
    PlayerRenamed,
    PlayMade,
    PlayWithdrawn,
    RackRevealed,
    Ref,
    ScoreCorrected,
    SquareCorrected,
    TileRecycled,
    TurnCorrected,
    TurnInserted,
)
from engine.game import Game
from engine.plays import Play
from engine.rules import STANDARD_RULES
from engine.state import TurnKind
from engine.tiles import Tile
from engine.transitions import END_REF
from tests.support.engine_table import act_ref, new_game, play, written
from tests.support.play_at_random import drawn_out

F8, J8 = parse_square("F8"), parse_square("J8")


def test_a_square_read_wrong_is_scored_again_with_all_that_follows() -> None:
    game = play(new_game(), "8F NORN", "8J S")
    assert [turn.score for turn in game.turns] == [8, 5]
    game = game.push(SquareCorrected(F8, Tile("H")))
    assert [turn.score for turn in game.turns] == [14, 8]
    assert game.totals == (14, 8) and game.turns[1].words[0].word == "HORNS"


def test_a_tile_that_was_missed_joins_the_last_play() -> None:
    game = play(new_game(), "8F HORN").push(SquareCorrected(J8, Tile("S")))
    assert [turn.word for turn in game.turns] == ["HORNS"] and game.totals == (16, 0)


def test_tile_that_was_missed_before_a_pass_joins_the_last_play() -> None:
    game = play(new_game(), "8F HORN").push(Passed(1), SquareCorrected(J8, Tile("S")))
    assert [turn.word for turn in game.turns] == ["HORNS", None]


def test_a_tile_that_was_missed_joins_the_play_that_is_named() -> None:
    game = play(new_game(), "8F HORN", "H6 FA.M").push(SquareCorrected(J8, Tile("S"), act_ref(0)))
    assert [turn.word for turn in game.turns] == ["HORNS", "FA.M"] and game.bag_count == 100 - 14 - 8


def test_tile_on_a_square_of_a_withdrawn_play_joins_the_last_play() -> None:
    game = play(new_game(), "8F HORN", "8J S").push(PlayWithdrawn(1), SquareCorrected(J8, Tile("E")))
    assert [turn.word for turn in game.turns if turn.stands and turn.word] == ["HORNE"] and game.board[J8] == Tile("E")


def test_tile_that_was_never_played_is_removed() -> None:
    game = play(new_game(), "8F HORNS").push(SquareCorrected(J8, None))
    assert game.turns[0].word == "HORN" and game.board[J8] is None


def test_a_play_of_nothing_but_a_false_tile_was_a_pass() -> None:
    game = play(new_game(), "8F HORN", "8J S").push(SquareCorrected(J8, None))
    assert [turn.kind for turn in game.turns] == [TurnKind.PLAY, TurnKind.PASS] and game.to_move == 0


def test_a_blank_that_was_a_tile() -> None:
    game = play(new_game(), "8F ?ORN").push(SquareCorrected(F8, Tile("H")))
    assert game.totals == (14, 0) and game.unseen["?"] == 2


def test_a_blank_is_named_later_and_scores_the_same() -> None:
    game = play(new_game(), "8F ?ORN", "H6 FA.M")
    named = game.push(BlankNamed(F8, "H"))
    assert named.totals == game.totals and named.turns[0].words[0].word == "HORN"
    assert named.board[F8] == Tile("H", is_blank=True)


def take_blank() -> Game:
    """Return a game in which a blank H was played and taken for its letter, and the word was lengthened then."""
    game = play(new_game(replace(STANDARD_RULES, retake_blanks=True)), "8F hORN")
    return play(game.push(BlankTaken(1, F8)), "8J S")


def test_letter_in_place_of_a_blank_that_was_taken_scores_nothing_when_it_is_confirmed() -> None:
    game = take_blank()
    assert [turn.score for turn in game.turns] == [6, 0, 8]
    confirmed = game.push(SquareCorrected(F8, Tile("H")))
    assert (confirmed.totals, confirmed.board) == (game.totals, game.board)


def test_other_letter_in_place_of_a_blank_that_was_taken_is_the_letter_of_the_blank() -> None:
    game = take_blank().push(SquareCorrected(F8, Tile("B")))
    assert [turn.score for turn in game.turns] == [6, 0, 7]
    assert game.turns[0].words[0].word == "BORN" and game.turns[0].board[F8] == Tile("B", is_blank=True)
    assert game.board[F8] == Tile("B")
    back = game.push(SquareCorrected(F8, Tile("H")))
    assert (back.totals, back.board) == (take_blank().totals, take_blank().board)


def test_blank_that_is_still_on_its_square_was_not_taken() -> None:
    game = take_blank().push(SquareCorrected(F8, Tile("H", is_blank=True)))
    assert [(turn.kind, turn.score) for turn in game.turns] == [(TurnKind.PLAY, 6), (TurnKind.PLAY, 4)]
    assert game.board[F8] == Tile("H", is_blank=True)


def test_removed_tile_cannot_have_been_a_taken_blank() -> None:
    game = take_blank().push(SquareCorrected(F8, None))
    assert [turn.kind for turn in game.turns] == [TurnKind.PLAY, TurnKind.PLAY] and game.board[F8] is None


def test_removed_tile_cannot_have_been_exchanged_for_another() -> None:
    game = play(new_game(replace(STANDARD_RULES, recycle=True)), "8F HORN").push(TileRecycled(1, F8, Tile("B")))
    game = game.push(TileRecycled(1, F8, Tile("T")), SquareCorrected(F8, None))
    assert [turn.word for turn in game.turns] == ["ORN"] and game.board[F8] is None


def test_letter_in_place_of_a_blank_that_was_taken_is_not_named() -> None:
    with pytest.raises(RulesError, match="is not a blank"):
        take_blank().push(BlankNamed(F8, "B"))


def test_blank_that_was_taken_twice_from_one_square() -> None:
    game = play(new_game(replace(STANDARD_RULES, retake_blanks=True, recycle=True)), "8F hORN")
    twice = game.push(BlankTaken(1, F8), TileRecycled(1, F8, Tile("H", is_blank=True)), BlankTaken(1, F8))
    corrected = twice.push(SquareCorrected(F8, Tile("B")))
    assert corrected.totals == twice.totals and corrected.board[F8] == Tile("B")


@pytest.mark.parametrize(("name", "reason"), [("A1", "no blank on A1"), ("G8", "is not a blank")])
def test_square_without_a_blank_cannot_be_named(name: str, reason: str) -> None:
    with pytest.raises(RulesError, match=reason):
        play(new_game(), "8F ?ORN").push(BlankNamed(parse_square(name), "O"))


def test_a_blank_is_a_letter_of_the_set() -> None:
    with pytest.raises(NotationError, match="has no tile Ä"):
        play(new_game(), "8F ?ORN").push(BlankNamed(F8, "Ä"))


def test_a_score_that_a_person_puts_right_stays_right() -> None:
    game = play(new_game(), "8F NORN").push(ScoreCorrected(act_ref(0), 20)).push(SquareCorrected(F8, Tile("H")))
    assert game.totals == (20, 0) and game.turns[0].computed_score == 14


def test_a_turn_that_was_something_else() -> None:
    horn = play(new_game(), "8F HORN")
    game = horn.push(Passed(1)).push(TurnCorrected(act_ref(1), PlayMade(1, written(horn, "H6 FA.M"))))
    assert [turn.kind for turn in game.turns] == [TurnKind.PLAY, TurnKind.PLAY] and game.totals == (14, 9)


def test_turn_that_was_never_played_is_removed() -> None:
    game = play(new_game().push(Passed(0)), "8F HORN").push(TurnCorrected(act_ref(0), None))
    assert len(game.turns) == 1 and game.turns[0].player == 1


def test_a_turn_that_was_forgotten() -> None:
    game = play(new_game(), "8F HORN").push(TurnInserted(act_ref(0), Passed(1)))
    assert [turn.kind for turn in game.turns] == [TurnKind.PASS, TurnKind.PLAY]
    assert play(new_game(), "8F HORN").push(TurnInserted(None, Passed(1))).turns[1].kind is TurnKind.PASS


def ended() -> Game:
    """Two turns, then the players stop, and tell the letters that they hold."""
    game = play(new_game(), "8F HORN", "H6 FA.M").push(GameEnded())
    return game.push(RackRevealed(0, ("A", "B"))).push(RackRevealed(1, ("Q",)))


@pytest.mark.parametrize("before", [None, END_REF, act_ref(2)])
def test_a_turn_that_was_forgotten_comes_before_the_unplayed_letters(before: Ref | None) -> None:
    game = ended().push(TurnInserted(before, PlayMade(0, written(ended(), "10F PASTE")))).push(RackRevealed(0, ("A",)))
    assert [turn.kind for turn in game.turns] == [TurnKind.PLAY] * 3 + [TurnKind.ENDRACK] * 2
    assert game.totals == (14 + 25 - 1, 9 - 10) and game.state.bag_count == 100 - 14 - 12


def test_event_after_the_end_counts_before_the_unplayed_letters() -> None:
    game = ended().push(Passed(0)).push(RackRevealed(0, ()))
    assert [turn.kind for turn in game.turns] == [TurnKind.PLAY, TurnKind.PLAY, TurnKind.PASS, TurnKind.ENDRACK]
    assert game.totals == (14, 9 - 10)


@pytest.mark.parametrize(
    "event", [TurnCorrected(END_REF, None), TurnCorrected(END_REF, Passed(0)), ScoreCorrected(END_REF, -7)]
)
def test_correction_of_unplayed_letters_is_refused(event: ScoreCorrected | TurnCorrected) -> None:
    with pytest.raises(RulesError, match="Correct the letters, or the score of a turn"):
        ended().push(event)


@pytest.mark.parametrize(
    "event", [ScoreCorrected(act_ref(3), 1), TurnCorrected(act_ref(3), None), TurnInserted(act_ref(3), Passed(0))]
)
def test_missing_turn_cannot_be_corrected(event: Edit) -> None:
    with pytest.raises(RulesError, match="not recorded any more"):
        play(new_game(), "8F HORN").push(event)


def test_a_correction_reaches_the_end_of_the_game() -> None:
    game = play(new_game(), "8F NORN", "8J S").push(Challenged(0, upheld=True)).push(SquareCorrected(F8, Tile("H")))
    assert [turn.score for turn in game.turns] == [14, 8, -8] and game.totals == (14, 0)


def test_a_withdrawn_play_gives_the_old_board_back() -> None:
    game = play(new_game(), "8F HORN", "H6 FA.M").push(PlayWithdrawn(1))
    assert game.board == play(new_game(), "8F HORN").board and not game.turns[1].stands


def test_withdrawn_play_with_more_tiles_than_the_rack_gives_no_tile_too_many() -> None:
    game = drawn_out(new_game())
    held, player = game.state.rack_counts, game.to_move
    free = [square for square in SQUARES if game.board[square] is None][: held[player] + 1]
    after = game.push(PlayMade(player, Play.from_tiles(dict.fromkeys(free, Tile("E")))))
    assert after.state.rack_counts[player] == 0
    assert after.push(PlayWithdrawn(player)).state.rack_counts == held


def test_play_with_more_tiles_than_the_rack_leaves_a_full_rack() -> None:
    game = new_game().push(PlayMade(0, Play.from_tiles({square: Tile("E") for square in range(105, 113)})))
    assert game.state.rack_counts == (7, 7)
    assert sum(game.state.rack_counts) + game.bag_count == game.unseen.total()


def test_withdrawal_without_a_play_is_refused() -> None:
    with pytest.raises(RulesError, match="Ben has no play"):
        play(new_game(), "8F HORN").push(PlayWithdrawn(1))


def test_renamed_player_keeps_turns_and_total_through_corrections() -> None:
    game = play(new_game(), "8F NORN").push(PlayerRenamed(0, "Cem"))
    game = game.push(SquareCorrected(F8, Tile("H")))
    assert game.players == ("Cem", "Ben") and game.totals == (14, 0) and game.to_move == 1


@pytest.mark.parametrize("name", ["", "Ben"])
def test_name_that_is_empty_or_taken_is_refused(name: str) -> None:
    with pytest.raises(RulesError):
        new_game().push(PlayerRenamed(0, name))


def test_rack_with_letters_that_a_correction_put_on_the_board_is_asked_for_again() -> None:
    game = play(new_game(), "8F HORN").push(GameEnded()).push(RackRevealed(0, ("Q",))).push(RackRevealed(1, ("K",)))
    assert game.racks_wanted == () and game.totals == (14 - 10, -5)
    game = game.push(TurnInserted(None, PlayMade(1, written(game, "9G QI"))))
    assert game.racks_wanted == (0,) and game.totals == (14, game.turns[1].score - 5)
