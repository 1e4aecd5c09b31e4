"""The play that is inferred from a reading."""

from __future__ import annotations

import random

import pytest

from engine.board import Board, parse_square
from engine.errors import RulesError
from engine.events import Challenged, GameEnded, PlayMade
from engine.inference.alignment import shift_reading
from engine.inference.explain import infer_play
from engine.inference.history import EMPTY_HISTORY
from engine.scoring import Status
from engine.tiles import Tile
from tests.support.engine_table import board_after, new_game, play, seen, with_plays, written
from tests.support.play_at_random import random_game


def test_an_empty_board_adds_nothing() -> None:
    found = infer_play(with_plays(), seen(Board()))
    assert found.events == () and found.is_certain
    assert found.best.text == "nothing was added"


def test_the_first_photograph_may_hold_a_play() -> None:
    found = infer_play(with_plays(), seen(board_after(with_plays(), "8F HORN")))
    assert found.events == (PlayMade(0, written(with_plays(), "8F HORN")),)
    assert found.is_certain and found.best.text == "Anna played HORN at 8F for 14"


def test_an_unchanged_board_adds_nothing() -> None:
    game = with_plays("8F HORN")
    assert infer_play(game, seen(game.board)).events == ()


def test_new_tiles_are_the_play_of_whose_turn_it_is() -> None:
    game = with_plays("8F HORN")
    found = infer_play(game, seen(board_after(game, "H6 FA.M")))
    assert found.events == (PlayMade(1, written(game, "H6 FA.M")),) and found.is_certain


def test_new_tiles_after_the_end_are_no_play() -> None:
    game = with_plays("8F HORN").push(GameEnded())
    assert infer_play(game, seen(board_after(with_plays("8F HORN"), "H6 FA.M"))).events == ()


def test_a_blank_is_played_without_a_name_and_scores_nothing() -> None:
    game = with_plays("8F HORN")
    found = infer_play(game, seen(board_after(game, "H6 fA.M")))
    assert found.events == (PlayMade(1, written(game, "H6 ?A.M")),)
    assert found.best.game.turns[-1].score == 5


def test_a_false_tile_far_from_everything_does_not_spoil_a_play() -> None:
    game = with_plays("8F HORN")
    found = infer_play(
        game, seen(board_after(game, "H6 FA.M"), {"A1": {"T": 0.4, ".": 0.35}, "O3": {"I": 0.3, ".": 0.6}})
    )
    assert found.events == (PlayMade(1, written(game, "H6 FA.M")),) and found.is_certain


def test_loose_tile_of_one_earlier_press_belongs_to_the_next_play_that_needs_it() -> None:
    loose = {"H5": {"T": 1.0}}
    first = infer_play(new_game(), seen(with_plays("8F HORN").board, loose))
    assert first.best.leftover_squares == (parse_square("H5"),)
    game = new_game().push(*first.events)
    found = infer_play(game, seen(board_after(game, "H5 TFA.M")), first.history)
    assert found.events == (PlayMade(1, written(game, "H5 TFA.M")),) and found.is_certain


@pytest.mark.parametrize("sure", [0.9, 1.0])
def test_print_that_is_taken_for_a_tile_at_three_presses_joins_no_word(sure: float) -> None:
    game, history, star = new_game(), EMPTY_HISTORY, {"H5": {"T": sure, ".": 1 - sure}}
    for number, notation in enumerate(("8F HORN", "F7 S.E", "8J S")):
        found = infer_play(game, seen(board_after(game, notation), star), history)
        assert found.is_certain is (number > 0), "the print is asked about once"
        game, history = game.push(*found.events), found.history
    found = infer_play(game, seen(board_after(game, "H6 FA.M"), star), history)
    assert found.events == (PlayMade(1, written(game, "H6 FA.M")),)


def test_another_tile_in_its_place_is_a_tile() -> None:
    game = with_plays("8F HORN")
    first = infer_play(game, seen(board_after(game, "F8 .A"), {"H5": {"T": 0.9, ".": 0.1}}))
    found = infer_play(game, seen(board_after(game, "H5 AFA.M")), first.history)
    assert found.events == (PlayMade(1, written(game, "H5 AFA.M")),) and found.is_certain


def test_a_tile_that_belongs_to_no_play_is_named() -> None:
    game = with_plays("8F HORN")
    found = infer_play(game, seen(board_after(game, "H6 FA.M"), {"A1": {"T": 0.99, ".": 0.01}}))
    assert found.events == (PlayMade(1, written(game, "H6 FA.M")),)
    assert found.best.leftover_squares == found.doubtful_squares == (parse_square("A1"),)
    assert found.question and found.question.text == "Ben played FARM at H6 for 9. But what is on A1?"


@pytest.mark.parametrize(("sure", "asked"), [(0.92, True), (0.97, False)])
def test_a_letter_that_may_be_another_is_asked_about(sure: float, asked: bool) -> None:
    game = with_plays("8F HORN")
    found = infer_play(game, seen(board_after(game, "H7 A.D"), {"H9": {"D": sure, "P": 0.98 - sure}}))
    assert (found.question is not None) is asked


def test_an_unclear_letter_is_the_likeliest_that_is_left() -> None:
    game = with_plays("8G QI")
    found = infer_play(game, seen(board_after(game, "H7 A.D"), {"H9": {"Q": 0.6, "O": 0.37}}))
    assert found.best.game.board[parse_square("H9")] == Tile("O")


def test_a_second_q_must_be_a_blank_that_somebody_wrote_on() -> None:
    game = with_plays("8G QI")
    found = infer_play(game, seen(board_after(game, "G8 .AT"), {"G10": {"Q": 0.99, "O": 0.001}}))
    assert found.best.game.board[parse_square("G10")] == Tile("Q", is_blank=True)
    game = game.push(*found.events)
    later = infer_play(game, seen(game.board, {"G10": {"Q": 0.99}}), found.history)
    assert later.events == () and later.is_certain


def test_two_letters_that_are_close_are_asked_for() -> None:
    game = with_plays("8F HORN")
    found = infer_play(game, seen(board_after(game, "H6 FA.M"), {"H6": {"F": 0.5, "P": 0.45}}))
    assert found.question and found.question.text == "Which tile is on H6: F or P?"
    assert found.doubtful_squares == (parse_square("H6"),)
    assert [one.game.turns[-1].words[0].word for one in found.explanations[:2]] == ["FARM", "PARM"]


def test_many_letters_a_little_in_doubt_are_a_good_deal_in_doubt() -> None:
    game = new_game()
    board = board_after(game, "8E DARTERS")
    doubts = {f"{column}8": {tile: 0.98, "L": 0.02} for column, tile in zip("EFGHIJK", "DARTERS", strict=False)}
    assert infer_play(game, seen(board, dict(list(doubts.items())[:2]))).is_certain
    assert not infer_play(game, seen(board, doubts)).is_certain


def test_two_plays_at_once_are_separated() -> None:
    game = with_plays("8F HORN")
    board = board_after(game, "H6 FA.M", "10F PASTE")
    found = infer_play(game, seen(board))
    assert [event.player for event in found.events if isinstance(event, PlayMade)] == [1, 0]
    assert found.best.game.board == board
    # The S may have been laid with either play, so it has to be asked.
    assert (
        found.question is not None
        and "Ben played FARM at H6 for 9, Anna played PASTE at 10F for 25" in found.question.text
    )


@pytest.mark.parametrize(
    ("old", "first", "second"),
    [
        ("8D CACHOU", "J4 RUERS", "7J .AVAGE"),
        ("8D FANUM", "E7 P.VED", "H8 .OISTURE"),
        ("8H FRITH", "7G JOE", "M8 SCRIMPS"),
    ],
)
def test_first_of_two_plays_is_found_although_the_second_has_more_tiles(old: str, first: str, second: str) -> None:
    """RAVAGE would be the first play if the S were a tile of CACHOU that was overlooked."""
    game = with_plays(old)
    between = play(game, first)
    last = PlayMade(0, written(between, second))
    found = infer_play(game, seen(between.push(last).board))
    assert found.events == (between.events[-1], last)


@pytest.mark.parametrize(
    ("tiles", "status", "reason"),
    [
        ({"B2": "C", "C3": "T"}, Status.NOT_IN_LINE, "are not in one row or column"),
        ({"B2": "C", "B5": "T"}, Status.GAP, "a gap between the tiles"),
        ({"A1": "C", "A2": "T"}, Status.NOT_JOINED, "do not touch"),
    ],
)
def test_tiles_that_form_no_play_have_no_events(tiles: dict[str, str], status: Status, reason: str) -> None:
    game = with_plays("8F HORN")
    board = game.board.with_tiles({parse_square(name): Tile(letter) for name, letter in tiles.items()})
    found = infer_play(game, seen(board))
    assert found.events == () and status in found.best.status
    assert found.question is not None and reason in found.question.text


def test_a_tile_that_does_not_fit_the_line_is_left_over() -> None:
    game = with_plays("8F HORN")
    board = board_after(game, "H6 FA.M").with_tiles({parse_square("L7"): Tile("S")})
    found = infer_play(game, seen(board))
    assert found.events == (PlayMade(1, written(game, "H6 FA.M")),)
    assert found.best.leftover_squares == (parse_square("L7"),) and found.question is not None


def test_first_play_beside_the_centre_is_not_recorded() -> None:
    found = infer_play(
        with_plays(), seen(Board().with_tiles({parse_square("A1"): Tile("C"), parse_square("B1"): Tile("T")}))
    )
    assert found.events == ()
    assert Status.CENTRE_MISSED in found.best.status
    assert found.question is not None and "centre" in found.question.text


def test_a_phony_stays_a_phony() -> None:
    game = with_plays("8F HORN")
    found = infer_play(game, seen(board_after(game, "H6 VA.M")))
    assert found.events == (PlayMade(1, written(game, "H6 VA.M")),) and found.is_certain


def test_a_challenge_of_nothing_makes_no_sense() -> None:
    with pytest.raises(RulesError, match="no play to challenge"):
        with_plays().push(Challenged(0, upheld=False))


def test_reading_with_a_grid_one_square_off_is_shifted_back() -> None:
    game = with_plays("8F HORN", "H6 FA.M", "10F PASTE")
    for rows, columns in ((0, 1), (-1, 0), (1, -1)):
        beside = shift_reading(seen(board_after(game, "9H .OB")), rows, columns)
        found = infer_play(game, beside)
        assert found.events == (PlayMade(1, written(game, "9H .OB")),)


def test_another_board_is_not_taken_for_this_one() -> None:
    game = with_plays("8F HORN", "H6 FA.M", "10F PASTE")
    other = with_plays("8D XYLEM", "D7 A.E", "12F QUOTE")
    found = infer_play(game, seen(other.board))
    assert found.events == () and found.question is not None
    assert found.best.text == "this does not look like the board of this game"


def test_a_board_that_was_cleared_after_a_game_is_asked_about_and_nothing_is_lost() -> None:
    game = with_plays("8F HORN", "H6 FA.M", "10F PASTE", "9H .OB", "11E BIT", "12C QUA")
    memory = EMPTY_HISTORY
    for _ in range(6):
        found = infer_play(game, seen(Board()), memory)
        assert found.events == () and found.question is not None and found.best.missing_squares
        game, memory = game.push(*found.events), found.history


def test_more_tiles_than_missed_plays_can_have_are_no_plays() -> None:
    board = random_game(random.Random(5), 40).board
    found = infer_play(new_game(), seen(board))
    assert len(board.occupied_squares()) > 80
    assert found.events == () and found.best.leftover_squares == board.occupied_squares()
