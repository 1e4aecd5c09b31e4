"""Questions about the picture as a whole: nothing is recorded before they are answered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from engine.board import Board, parse_square
from engine.events import Challenged, Event, GameEnded, Passed, PlayMade, PositionEntered, SquareCorrected, filter_plays
from engine.game import Game
from engine.inference.explain import infer_play
from engine.ledger import Source
from engine.reading import BoardReading, SquareReading
from engine.rules import STANDARD_RULES
from engine.validation import LOOK_AGAIN, Finding, Option, Proposal, QuestionHistory, Reason
from engine.validation.board_checks import (
    MAX_PLAYS,
    check_board_identity,
    check_cleared_board,
    check_finished_game,
    check_first_board,
    check_letters,
    check_offset,
    check_orientation,
    check_pass,
    check_unexplained_tiles,
)
from tests.support.engine_table import new_game, play, seen

OPENING = ("8F HORN", "H6 FA.M", "10F PASTE", "J10 .H")
Check = Callable[[Proposal], Iterator[Finding]]


def propose(game: Game, reading: BoardReading, *events: Event) -> Proposal:
    """Return the proposal of a picture: the inferred events, or a pass."""
    found = events or infer_play(game, reading).events or (Passed(game.to_move),)
    return Proposal(game, found, Source.PRESS, reading)


def find(check: Check, proposal: Proposal) -> Finding | None:
    return next(check(proposal), None)


def test_cleared_board_offers_the_end_of_the_game() -> None:
    game = play(new_game(), *OPENING)
    found = find(check_cleared_board, propose(game, seen(Board())))
    assert found is not None and found.reason is Reason.BOARD_CLEARED
    assert found.options[:2] == (LOOK_AGAIN, found.options[1])
    assert isinstance(found.options[1].events[0], GameEnded)
    assert find(check_board_identity, propose(game, seen(Board()), Passed(0))) is None


def test_board_that_is_cleared_after_the_game_is_not_asked_about() -> None:
    game = play(new_game(), *OPENING).push(GameEnded())
    assert find(check_cleared_board, Proposal(game, (), Source.PRESS, seen(Board()))) is None
    other = play(new_game(), "8F QUIZ", "H7 E.E", "10H TOE").board
    assert find(check_board_identity, Proposal(game, (), Source.PRESS, seen(other))) is None


def test_board_of_few_tiles_is_cleared_if_all_are_missing() -> None:
    game = play(new_game(), "8G AT", "H7 S.IR")
    assert find(check_cleared_board, propose(game, seen(Board()))) is not None


def test_missing_last_play_is_no_cleared_board() -> None:
    game = play(new_game(), *OPENING)
    board = game.turns[-2].board
    assert find(check_cleared_board, propose(game, seen(board))) is None


def test_half_cleared_board_is_asked_about() -> None:
    game = play(new_game(), *OPENING)
    found = find(check_cleared_board, propose(game, seen(game.turns[0].board)))
    assert found is not None and found.reason is Reason.BOARD_CLEARED


def test_board_of_another_game_is_asked_about() -> None:
    game = play(new_game(), *OPENING)
    other = play(new_game(), "8F QUIZ", "H7 E.E", "10H TOE").board
    found = find(check_board_identity, propose(game, seen(other)))
    assert found is not None and found.reason is Reason.OTHER_BOARD and found.options[0] == LOOK_AGAIN


def test_board_of_another_game_is_asked_about_after_one_play() -> None:
    game = play(new_game(), "8F HORN", "H6 FA.M")
    other = play(new_game(), "8F QUIZ", "H7 E.E", "10H TOE").board
    assert find(check_board_identity, propose(game, seen(other), Passed(0))) is not None


def test_play_after_the_last_letter_was_used_records_nothing_and_offers_the_end() -> None:
    game = play(new_game(), *OPENING)
    reading = seen(play(game, "8E S....").board)
    game = replace(game, state=replace(game.state, bag_count=0, rack_counts=(3, 0)))
    found = find(check_finished_game, propose(game, reading))
    assert found is not None and found.reason is Reason.OTHER_BOARD
    assert [option.events and option.events[0].kind for option in found.options] == [(), "ended", "play"]


def test_play_before_the_last_letter_was_used_is_not_asked_about() -> None:
    game = play(new_game(), *OPENING)
    reading = seen(play(game, "8E S....").board)
    game = replace(game, state=replace(game.state, bag_count=0, rack_counts=(3, 1)))
    assert find(check_finished_game, propose(game, reading)) is None


def test_board_of_this_game_is_recognised() -> None:
    game = play(new_game(), *OPENING)
    after = play(game, "8E S....")
    assert find(check_board_identity, propose(game, seen(after.board))) is None


def test_board_may_change_with_rearranging() -> None:
    game = play(new_game(replace(STANDARD_RULES, rearrange=True)), *OPENING)
    other = play(new_game(), "8F QUIZ", "H7 E.E", "10H TOE").board
    assert find(check_board_identity, propose(game, seen(other), Passed(0))) is None


@pytest.mark.parametrize(("seat", "to_move"), [(None, 0), (0, 1), (2, 0)])
def test_full_board_at_the_start_is_a_position(seat: int | None, to_move: int) -> None:
    board = play(new_game(), *OPENING, "8E S....", "11J .A").board
    proposal = replace(propose(new_game(players=3), seen(board), Passed(0)), seat=seat)
    found = find(check_first_board, proposal)
    assert found is not None and found.reason is Reason.BOARD_ALREADY_FULL and found.values == ("15",)
    tiles = tuple((square, board.tile(square)) for square in board.occupied_squares())
    assert found.options == (LOOK_AGAIN, Option((PositionEntered(tiles, (0, 0, 0), to_move),)))


@pytest.mark.parametrize(("plays", "is_asked"), [(1, False), (2, False), (3, True), (4, True)])
def test_first_picture_may_show_two_plays(plays: int, is_asked: bool) -> None:
    board = play(new_game(), *OPENING[:plays]).board
    assert (find(check_first_board, propose(new_game(), seen(board))) is not None) is is_asked


def read_letters_wrong(game: Game, *squares: str) -> BoardReading:
    """Return a reading of the game after SHORN, with an X on each of these squares."""
    after = play(game, "8E S....")
    return seen(after.board, {square: {"X": 0.97} for square in squares})


def test_play_is_asked_about_if_the_picture_shows_other_letters_on_several_old_tiles() -> None:
    game = play(new_game(), *OPENING)
    found = find(check_letters, propose(game, read_letters_wrong(game, "F8", "I8", "H6")))
    assert found is not None and found.reason is Reason.LETTERS_UNRELIABLE and found.values == ("3",)
    assert found.squares == tuple(map(parse_square, ("H6", "F8", "I8"))) and found.options[0] == LOOK_AGAIN


def test_play_is_not_asked_about_if_the_rules_allow_old_tiles_to_change() -> None:
    game = play(new_game(replace(STANDARD_RULES, recycle=True)), *OPENING)
    event = play(game, "8E S....").events[-1]
    assert find(check_letters, propose(game, read_letters_wrong(game, "F8", "I8", "H6"), event)) is None


def test_play_is_not_asked_about_for_two_old_tiles_with_other_letters() -> None:
    game = play(new_game(), *OPENING)
    assert find(check_letters, propose(game, read_letters_wrong(game, "F8", "I8"))) is None


def test_play_is_not_asked_about_if_earlier_pictures_showed_the_same_other_letters() -> None:
    game = play(new_game(), *OPENING)
    reading = read_letters_wrong(game, "F8", "I8", "H6")
    history = infer_play(game, reading, infer_play(game, reading).history).history
    proposal = replace(propose(game, reading), reading_history=history)
    assert find(check_letters, proposal) is None


def test_play_is_not_asked_about_for_letters_that_players_have_corrected() -> None:
    game = play(new_game(), *OPENING)
    corrected = game.push(*(SquareCorrected(s, game.board.tile(s), told=True) for s in game.board.occupied_squares()))
    assert find(check_letters, propose(corrected, read_letters_wrong(corrected, "F8", "I8", "H6"))) is None


def test_tiles_that_no_play_explains_are_asked_about() -> None:
    game = play(new_game(), *OPENING)
    reading = seen(game.board, {square: {"E": 1.0} for square in ("A1", "O15", "A15")})
    found = find(check_unexplained_tiles, propose(game, reading, Passed(0)))
    assert found is not None and found.reason is Reason.TILES_UNEXPLAINED
    assert found.squares == tuple(map(parse_square, ("A1", "A15", "O15")))


def test_as_many_plays_as_players_forget_are_not_asked_about() -> None:
    game = play(new_game(), *OPENING[:1])
    later = play(game, *OPENING[1:])
    plays = later.events[len(game.events) :]
    assert len(plays) == MAX_PLAYS
    assert find(check_unexplained_tiles, propose(game, seen(later.board), *plays)) is None


def test_more_plays_than_players_forget_are_asked_about_with_all_their_tiles() -> None:
    game = play(new_game(), *OPENING[:1])
    later = play(game, *OPENING[1:], "K11 AS")
    plays = tuple(event for event in later.events[len(game.events) :] if isinstance(event, PlayMade))
    found = find(check_unexplained_tiles, propose(game, seen(later.board), *plays))
    assert len(plays) == MAX_PLAYS + 1 and found is not None and found.reason is Reason.TILES_UNEXPLAINED
    assert found.squares == tuple(sorted(later.board.differences(game.board)))
    assert found.values == (str(len(found.squares)),)


def test_tiles_that_must_be_taken_back_are_explained() -> None:
    game = play(new_game(), *OPENING)
    challenged = game.push(Challenged(game.to_move, upheld=True))
    assert find(check_unexplained_tiles, Proposal(challenged, (), Source.PRESS, seen(game.board))) is None


@pytest.mark.parametrize(
    ("check", "reason", "field"),
    [
        (check_orientation, Reason.WHICH_SIDE_UP, "orientation_confidence"),
        (check_offset, Reason.GRID_MISPLACED, "offset_confidence"),
    ],
)
@pytest.mark.parametrize(("confidence", "is_asked"), [(0.9, True), (0.999, False)])
def test_first_word_is_asked_about_if_the_grid_is_in_doubt(
    check: Check, reason: Reason, field: str, confidence: float, is_asked: bool
) -> None:
    reading = seen(play(new_game(), "8F HORN").board)
    reading = replace(reading, **{field: confidence})
    found = find(check, propose(new_game(), reading))
    assert (found is not None) is is_asked
    assert found is None or (found.reason is reason and found.options[0] == LOOK_AGAIN)


def test_first_word_in_a_picture_that_seems_mirrored_is_offered_as_it_looks() -> None:
    flipped, as_is = (seen(play(new_game(), word).board) for word in ("8F THU", "8G HUT"))
    found = find(
        check_orientation, propose(new_game(), replace(flipped, orientation_confidence=0.9, alternative=as_is))
    )
    assert found is not None
    plays = [event.play for option in found.options for event in filter_plays(option.events)]
    assert ["".join(tile.face for _, tile in play.tiles) for play in plays[:2]] == ["THU", "HUT"]


def test_grid_is_not_in_doubt_once_tiles_show_it() -> None:
    game = play(new_game(), *OPENING)
    reading = replace(seen(play(game, "8E S....").board), orientation_confidence=0.5, offset_confidence=0.5)
    proposal = propose(game, reading)
    assert find(check_orientation, proposal) is None and find(check_offset, proposal) is None


def test_pass_on_an_unchanged_board_is_recorded() -> None:
    game = play(new_game(), *OPENING)
    assert find(check_pass, propose(game, seen(game.board))) is None


@pytest.mark.parametrize(
    ("square", "candidates"), [("E8", {".": 0.97, "S": 0.03}), ("F8", {".": 0.9, "H": 0.1})], ids=["new", "missing"]
)
def test_pass_is_asked_about_if_a_tile_may_be_new_or_missing(square: str, candidates: dict[str, float]) -> None:
    game = play(new_game(), *OPENING)
    proposal = propose(game, seen(game.board, {square: candidates}), Passed(0))
    found = find(check_pass, proposal)
    assert found is not None and found.reason is Reason.PASS_UNSURE and found.squares == (parse_square(square),)


def test_pass_on_an_empty_board_is_asked_about_if_a_tile_may_be_on_it() -> None:
    reading = seen(Board(), {"H8": {".": 0.97, "A": 0.03}})
    assert find(check_pass, propose(new_game(), reading, Passed(0))) is not None


def test_pass_is_recorded_beside_a_missing_tile_that_was_asked_about() -> None:
    game = play(new_game(), *OPENING)
    reading = seen(game.board, {"F8": {".": 0.9, "H": 0.1}})
    asked = QuestionHistory(squares=frozenset({parse_square("F8")}))
    assert find(check_pass, Proposal(game, (Passed(0),), Source.PRESS, reading, question_history=asked)) is None


def test_reading_of_a_known_square_follows_the_record() -> None:
    game = play(new_game(), "8F HORN")
    square = parse_square("F8")
    settled = QuestionHistory(squares=frozenset({square})).settle_reading(game, seen(Board()))
    assert settled.squares[square] == SquareReading((("H", 1.0),)) and settled.squares[square + 1].symbol == "."
