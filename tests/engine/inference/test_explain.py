"""What was played, from what the camera saw."""

from __future__ import annotations

import pytest

from engine.board import Board, parse_square
from engine.errors import RulesError
from engine.events import Challenged, PlayMade, PlayWithdrawn, SquareCorrected
from engine.game import Game
from engine.inference.explain import infer_play
from engine.inference.history import EMPTY_HISTORY, shift_reading
from engine.scoring import Status
from engine.tiles import Tile
from tests.support.engine_table import new_game, play, push, seen, written


def with_plays(*plays: str) -> Game:
    return play(new_game(), *plays)


def after(game: Game, *plays: str) -> Board:
    return play(game, *plays).board


def test_an_empty_board_adds_nothing() -> None:
    found = infer_play(with_plays(), seen(Board()))
    assert found.events == () and found.is_certain
    assert found.best.text == "nothing was added"


def test_the_first_photograph_may_hold_a_play() -> None:
    found = infer_play(with_plays(), seen(after(with_plays(), "8F HORN")))
    assert found.events == (PlayMade(0, written(with_plays(), "8F HORN")),)
    assert found.is_certain and found.best.text == "Anna played HORN at 8F for 14"


def test_an_unchanged_board_adds_nothing() -> None:
    game = with_plays("8F HORN")
    assert infer_play(game, seen(game.board)).events == ()


def test_new_tiles_are_the_play_of_whose_turn_it_is() -> None:
    game = with_plays("8F HORN")
    found = infer_play(game, seen(after(game, "H6 FA.M")))
    assert found.events == (PlayMade(1, written(game, "H6 FA.M")),) and found.is_certain


def test_a_blank_is_played_without_a_name_and_scores_nothing() -> None:
    game = with_plays("8F HORN")
    found = infer_play(game, seen(after(game, "H6 fA.M")))
    assert found.events == (PlayMade(1, written(game, "H6 ?A.M")),)
    assert found.best.game.turns[-1].score == 5


def test_a_play_taken_back() -> None:
    game = with_plays("8F HORN", "H6 FA.M")
    found = infer_play(game, seen(with_plays("8F HORN").board))
    assert found.events == (PlayWithdrawn(1),) and found.is_certain
    assert found.best.game.totals == (14, 0)
    assert found.best.game.to_move == 0


def test_a_play_taken_back_and_a_new_play_on_the_same_picture() -> None:
    game = with_plays("8F HORN", "H6 FA.M")
    found = infer_play(game, seen(after(with_plays("8F HORN"), "I8 .OT")))
    assert [type(event) for event in found.events] == [PlayWithdrawn, PlayMade]
    assert found.best.game.turns[-1].player == 0
    assert found.is_certain


def test_a_new_play_over_squares_of_the_play_taken_back() -> None:
    game = with_plays("8F HORN", "H6 FA.M")
    found = infer_play(game, seen(after(with_plays("8F HORN"), "H7 B.G")))
    assert [type(event) for event in found.events] == [PlayWithdrawn, PlayMade]
    assert found.best.game.turns[-1].word == "B.G"


def test_a_play_that_its_player_lays_elsewhere_is_still_that_play() -> None:
    game = with_plays("8F HORN", "H6 FA.M")
    shifted = after(with_plays("8F HORN"), "I8 .FAM")
    found = infer_play(game, seen(shifted))
    assert found.best.game.board == shifted and found.best.game.to_move == 0
    assert [(turn.player, turn.word) for turn in found.best.game.turns] == [(0, "HORN"), (1, ".FAM")]
    assert found.question == (
        "Which is right: tiles were placed elsewhere: Ben played NFAM at I8 for 13, "
        "or Ben took back the play at H6 for -9, Anna played NFAM at I8 for 13?"
    )


def test_a_play_challenged_off_whose_tiles_still_lie_there() -> None:
    game = with_plays("8F HORN", "H6 FA.M").push(Challenged(0, upheld=True))
    found = infer_play(game, seen(with_plays("8F HORN", "H6 FA.M").board))
    assert found.events == () and found.best.is_waiting
    assert found.question == "the tiles that Ben must take back are still on the board"


def test_tiles_that_must_be_taken_back_still_lie_there_though_one_is_read_wrong() -> None:
    game = with_plays("8F HRON").push(Challenged(1, upheld=True))
    found = infer_play(game, seen(with_plays("8F HRON").board, {"I8": {"M": 0.97, "N": 0.02}}))
    assert found.events == () and found.best.is_waiting


@pytest.mark.parametrize("left", ["F10 G10 H10 I10 J10", "F10 G10 H10", "G10 H10", "H10"])
def test_a_play_beside_tiles_that_must_be_taken_back_waits_until_they_are_gone(left: str) -> None:
    before = with_plays("8F HORN", "H6 FA.M")
    phony = play(before, "10F PASTZ")
    game = phony.push(Challenged(1, upheld=True))
    board = after(before, "6H .AT")
    lying = {parse_square(name): phony.board.tile(parse_square(name)) for name in left.split()}
    found = infer_play(game, seen(board.with_tiles(lying)))
    assert found.events == () and found.best.is_waiting


def test_letters_of_a_play_that_must_be_taken_back_are_asked_about_in_a_play_over_its_squares() -> None:
    before = with_plays("8F HORN", "H6 FA.M")
    game = play(before, "10F PASTZ").push(Challenged(1, upheld=True))
    found = infer_play(game, seen(after(before, "10F PASTE")))
    assert "Ben played PASTE at 10F for 25" in {one.text for one in found.explanations[:2]} and not found.is_certain


def test_question_about_tiles_that_are_no_play_names_the_reason_and_the_squares() -> None:
    found = infer_play(with_plays("8F HORN"), seen(after(with_plays("8F HORN"), "8K CAT")))
    assert found.question == (
        "This is not a valid play. The tiles do not touch the words on the board. What was played on K8, L8 and M8?"
    )


@pytest.mark.parametrize("notation", ["8F FARM", "8E FARM", "8F HORN", "8G HORN", "8F HEN", "H6 FARM"])
def test_a_play_over_the_squares_of_one_challenged_off_is_one_play(notation: str) -> None:
    game = with_plays("8F HRON").push(Challenged(1, upheld=True))
    found = infer_play(game, seen(with_plays(notation).board))
    assert found.events == (PlayMade(1, written(game, notation)),) and found.is_certain


@pytest.mark.parametrize("notation", ["10D CASTER", "10E SPARTE"])
def test_later_in_the_game_too(notation: str) -> None:
    before = with_plays("8F HORN", "H6 FA.M")
    game = play(before, "10F PASTZ").push(Challenged(1, upheld=True))
    found = infer_play(game, seen(play(before, notation).board))
    assert found.events == (PlayMade(1, written(before, notation)),) and found.is_certain


def test_a_play_almost_like_the_one_challenged_off_is_asked_about() -> None:
    game = with_plays("8F HORN", "H6 VA.M").push(Challenged(0, upheld=True))
    found = infer_play(game, seen(with_plays("8F HORN", "H6 FA.M").board))
    assert found.question is not None
    assert {one.text for one in found.explanations[:2]} == {
        "Anna played FARM at H6 for 9",
        "the tiles that Ben must take back are still on the board",
    }


def test_a_false_tile_far_from_everything_does_not_spoil_a_play() -> None:
    game = with_plays("8F HORN")
    found = infer_play(game, seen(after(game, "H6 FA.M"), {"A1": {"T": 0.4, ".": 0.35}, "O3": {"I": 0.3, ".": 0.6}}))
    assert found.events == (PlayMade(1, written(game, "H6 FA.M")),) and found.is_certain


def test_print_that_is_always_taken_for_a_tile_joins_no_word() -> None:
    game = with_plays("8F HORN")
    star = {"H5": {"T": 0.9, ".": 0.1}}
    first = infer_play(game, seen(game.board, star))
    assert first.best.leftover_squares == (parse_square("H5"),)
    again = infer_play(game, seen(after(game, "H6 FA.M"), star), first.history)
    assert again.events == (PlayMade(1, written(game, "H6 FA.M")),)
    elsewhere = infer_play(game, seen(after(game, "F7 S.E"), star), first.history)
    assert elsewhere.events == (PlayMade(1, written(game, "F7 S.E")),) and elsewhere.is_certain


def test_another_tile_in_its_place_is_a_tile() -> None:
    game = with_plays("8F HORN")
    first = infer_play(game, seen(after(game, "F8 .A"), {"H5": {"T": 0.9, ".": 0.1}}))
    found = infer_play(game, seen(after(game, "H5 AFA.M")), first.history)
    assert found.events == (PlayMade(1, written(game, "H5 AFA.M")),) and found.is_certain


def test_a_tile_of_an_older_play_that_was_overlooked() -> None:
    game = with_plays("8F HORN", "H6 FA.M", "10F PASTE")
    found = infer_play(game, seen(after(with_plays("8F HORNS", "H6 FA.M", "10F PASTE"), "11E BIT")))
    assert [type(event) for event in found.events] == [SquareCorrected, PlayMade]
    assert [turn.word for turn in found.best.game.turns] == ["HORNS", "FA.M", "PASTE", "BIT"]


def test_a_tile_that_belongs_to_no_play_is_named() -> None:
    game = with_plays("8F HORN")
    found = infer_play(game, seen(after(game, "H6 FA.M"), {"A1": {"T": 0.99, ".": 0.01}}))
    assert found.events == (PlayMade(1, written(game, "H6 FA.M")),)
    assert found.best.leftover_squares == found.doubtful_squares == (parse_square("A1"),)
    assert found.question == "Ben played FARM at H6 for 9. But what is on A1?"


@pytest.mark.parametrize(("sure", "asked"), [(0.92, True), (0.97, False)])
def test_a_letter_that_may_be_another_is_asked_about(sure: float, asked: bool) -> None:
    game = with_plays("8F HORN")
    found = infer_play(game, seen(after(game, "H7 A.D"), {"H9": {"D": sure, "P": 0.98 - sure}}))
    assert (found.question is not None) is asked


def test_an_unclear_letter_is_the_likeliest_that_is_left() -> None:
    game = with_plays("8G QI")
    found = infer_play(game, seen(after(game, "H7 A.D"), {"H9": {"Q": 0.6, "O": 0.37}}))
    assert found.best.game.board[parse_square("H9")] == Tile("O")


def test_a_second_q_must_be_a_blank_that_somebody_wrote_on() -> None:
    game = with_plays("8G QI")
    found = infer_play(game, seen(after(game, "G8 .AT"), {"G10": {"Q": 0.99, "O": 0.001}}))
    assert found.best.game.board[parse_square("G10")] == Tile("Q", is_blank=True)
    game = push(game, found.events)
    later = infer_play(game, seen(game.board, {"G10": {"Q": 0.99}}), found.history)
    assert later.events == () and later.is_certain


def test_two_letters_that_are_close_are_asked_for() -> None:
    game = with_plays("8F HORN")
    found = infer_play(game, seen(after(game, "H6 FA.M"), {"H6": {"F": 0.5, "P": 0.45}}))
    assert found.question == "Which tile is on H6: F or P?"
    assert found.doubtful_squares == (parse_square("H6"),)
    assert [one.game.turns[-1].words[0].word for one in found.explanations[:2]] == ["FARM", "PARM"]


def test_many_letters_a_little_in_doubt_are_a_good_deal_in_doubt() -> None:
    game = new_game()
    board = after(game, "8E DARTERS")
    doubts = {f"{column}8": {tile: 0.98, "L": 0.02} for column, tile in zip("EFGHIJK", "DARTERS", strict=False)}
    assert infer_play(game, seen(board, dict(list(doubts.items())[:2]))).is_certain
    assert not infer_play(game, seen(board, doubts)).is_certain


def test_an_old_tile_that_is_read_wrong_once_stays() -> None:
    game = with_plays("8F HORN", "H6 FA.M")
    found = infer_play(game, seen(after(game, "10F PASTE"), {"F8": {"N": 0.97, "H": 0.02}}))
    assert found.events == (PlayMade(0, written(game, "10F PASTE")),)
    assert found.best.misread_squares == (parse_square("F8"),)


def test_a_letter_of_the_last_play_that_is_read_wrong_once_stays() -> None:
    game = with_plays("8F HORN", "H6 FA.M")
    found = infer_play(game, seen(game.board, {"H6": {"P": 0.97, "F": 0.02}}))
    assert found.events == ()


def test_an_old_tile_that_is_glared_out_stays() -> None:
    game = with_plays("8F HORN", "H6 FA.M")
    found = infer_play(game, seen(after(game, "10F PASTE"), {"F8": {"?": 0.97, "H": 0.02}}))
    assert found.events == (PlayMade(0, written(game, "10F PASTE")),)


def test_a_letter_read_in_doubt_and_then_clearly_is_put_right_and_scored_again() -> None:
    game = with_plays()
    first = infer_play(game, seen(after(game, "8F HORN"), {"F8": {"N": 0.6, "H": 0.35}}))
    game = push(game, first.events)
    assert game.totals[0] == 8
    board = after(with_plays(), "8F HORN", "H6 FA.M")
    second = infer_play(game, seen(board), first.history)
    assert SquareCorrected(parse_square("F8"), Tile("H")) in second.events
    assert second.best.game.totals == (14, 9)


def test_a_blank_that_was_a_covered_letter_is_put_right_by_later_readings() -> None:
    game = with_plays()
    first = infer_play(game, seen(after(game, "8F HORN"), {"F8": {"?": 0.95, "H": 0.02}}))
    game, memory = push(game, first.events), first.history
    board = after(with_plays(), "8F HORN")
    for _ in range(3):
        later = infer_play(game, seen(board), memory)
        game, memory = push(game, later.events), later.history
    assert game.totals == (14, 0)
    assert [turn.kind for turn in game.turns] == ["play"]


def test_what_a_person_said_is_not_put_right_by_readings() -> None:
    game = with_plays("8F HORN").push(SquareCorrected(parse_square("F8"), Tile("B"), told=True))
    memory = EMPTY_HISTORY
    for _ in range(5):
        found = infer_play(game, seen(with_plays("8F HORN").board), memory)
        game, memory = push(game, found.events), found.history
    assert game.board[parse_square("F8")] == Tile("B")


def test_a_tile_that_was_never_there_is_taken_off_the_record() -> None:
    game = with_plays()
    first = infer_play(game, seen(after(game, "8F HORN"), {"J8": {"I": 0.8, ".": 0.2}}))
    game, memory = push(game, first.events), first.history
    assert game.turns[0].word == "HORNI"
    for _ in range(2):
        later = infer_play(game, seen(after(with_plays(), "8F HORN")), memory)
        game, memory = push(game, later.events), later.history
    assert game.turns[0].word == "HORN" and len(game.turns) == 1


def test_a_nudged_tile_is_named() -> None:
    game = with_plays("8F HORN", "H6 FA.M")
    board = game.board.with_tiles({parse_square("I8"): None, parse_square("I7"): Tile("N")})
    found = infer_play(game, seen(board))
    assert found.events == ()
    assert found.best.moved_tiles == ((parse_square("I8"), parse_square("I7")),)
    assert found.question == "Was the tile on I8 moved to I7? If so, please put it back."


def test_a_nudged_tile_does_not_hide_a_play() -> None:
    game = with_plays("8F HORN", "H6 FA.M")
    board = after(game, "10F PASTE").with_tiles({parse_square("F8"): None, parse_square("E7"): Tile("H")})
    found = infer_play(game, seen(board))
    assert found.events == (PlayMade(0, written(game, "10F PASTE")),)
    assert found.best.moved_tiles == ((parse_square("F8"), parse_square("E7")),)


def test_an_old_tile_that_is_gone_is_asked_for() -> None:
    game = with_plays("8F HORN", "H6 FA.M")
    found = infer_play(game, seen(game.board.without_tiles([parse_square("F8")])))
    assert found.events == ()
    assert found.question == "A tile was played on F8, but the camera does not see it there. Was it moved?"


def test_hidden_squares_are_no_evidence() -> None:
    game = with_plays("8F HORN", "H6 FA.M")
    hand = {name: {"#": 1.0} for name in ("H6", "H7", "I7", "I6", "G6", "G7", "H5")}
    assert infer_play(game, seen(game.board, hand)).events == ()
    found = infer_play(game, seen(after(game, "10F PASTE"), hand))
    assert found.events == (PlayMade(0, written(game, "10F PASTE")),)
    assert found.is_certain


def test_a_square_of_the_play_that_is_hidden_is_asked_for() -> None:
    game = with_plays("8F HORN", "H6 FA.M")
    found = infer_play(game, seen(after(game, "10F PASTE"), {"G10": {"#": 1.0}}))
    assert found.question is not None and parse_square("G10") in found.doubtful_squares
    assert len(found.best.game.turns[-1].placements) == 5


def test_a_letter_that_was_guessed_under_a_hand_is_corrected_as_soon_as_it_is_seen() -> None:
    game = with_plays("8F HORN", "H6 FA.M")
    board = after(game, "10F PASTE")
    first = infer_play(game, seen(board, {"G10": {"#": 1.0}}))
    guessed = push(game, first.events)
    letter = guessed.board.tile(parse_square("G10")).letter
    shown = "A" if letter != "A" else "O"
    second = infer_play(guessed, seen(guessed.board, {"G10": {shown: 1.0}}), first.history)
    assert second.events == (SquareCorrected(parse_square("G10"), Tile(shown)),)
    again = infer_play(guessed, seen(guessed.board, {"G10": {letter: 1.0}}), first.history)
    assert again.events == ()


def test_a_hand_at_the_end_of_a_word_may_hide_its_last_letter() -> None:
    game = with_plays("8F HORN", "H6 FA.M")
    found = infer_play(game, seen(after(game, "10F PAST"), {"J10": {"#": 0.9, ".": 0.1}}))
    assert found.doubtful_squares == (parse_square("J10"),)
    assert found.question == "Anna played PAST at 10F for 22. The camera cannot see J10. Is there a tile, too?"


def test_a_hand_beside_a_word_hides_nothing_of_it() -> None:
    game = with_plays("8F HORN", "H6 FA.M")
    assert infer_play(game, seen(after(game, "10F PAST"), {"I11": {"#": 1.0}, "G9": {"#": 1.0}})).is_certain


@pytest.mark.parametrize("hidden", ["H5", "H11", "G10", "I10"])
def test_a_single_tile_may_be_part_of_a_word_in_either_direction(hidden: str) -> None:
    game = with_plays("8F HORN", "H6 FA.M")
    found = infer_play(game, seen(after(game, "H6 ....S"), {hidden: {"#": 1.0}}))
    assert found.doubtful_squares == (parse_square(hidden),) and len(found.events) == 1


def test_two_plays_at_once_are_told_apart() -> None:
    game = with_plays("8F HORN")
    board = after(game, "H6 FA.M", "10F PASTE")
    found = infer_play(game, seen(board))
    assert [event.player for event in found.events if isinstance(event, PlayMade)] == [1, 0]
    assert found.best.game.board == board
    # The S may have been laid with either play, so it has to be asked.
    assert (
        found.question is not None and "Ben played FARM at H6 for 9, Anna played PASTE at 10F for 25" in found.question
    )


def test_a_tile_of_the_last_play_that_was_overlooked() -> None:
    game = with_plays("8F HORN")
    full = with_plays("8F HORNS")
    found = infer_play(game, seen(after(full, "H6 FA.M")))
    assert [type(event) for event in found.events] == [SquareCorrected, PlayMade]
    assert found.best.game.turns[0].word == "HORNS"
    assert found.best.game.board == after(full, "H6 FA.M")


@pytest.mark.parametrize(
    ("tiles", "status", "reason"),
    [
        ({"B2": "C", "C3": "T"}, Status.NOT_IN_LINE, "are not in one row or column"),
        ({"B2": "C", "B5": "T"}, Status.GAP, "a gap between the tiles"),
        ({"A1": "C", "A2": "T"}, Status.NOT_JOINED, "do not touch"),
    ],
)
def test_what_is_no_play_is_said_to_be_none(tiles: dict[str, str], status: Status, reason: str) -> None:
    game = with_plays("8F HORN")
    board = game.board.with_tiles({parse_square(name): Tile(letter) for name, letter in tiles.items()})
    found = infer_play(game, seen(board))
    assert found.events == () and status in found.best.status
    assert found.question is not None and reason in found.question


def test_a_tile_that_does_not_fit_the_line_is_left_over() -> None:
    game = with_plays("8F HORN")
    board = after(game, "H6 FA.M").with_tiles({parse_square("L7"): Tile("S")})
    found = infer_play(game, seen(board))
    assert found.events == (PlayMade(1, written(game, "H6 FA.M")),)
    assert found.best.leftover_squares == (parse_square("L7"),) and found.question is not None


def test_a_first_play_beside_the_centre_is_none() -> None:
    found = infer_play(
        with_plays(), seen(Board().with_tiles({parse_square("A1"): Tile("C"), parse_square("B1"): Tile("T")}))
    )
    assert found.events == ()
    assert Status.CENTRE_MISSED in found.best.status
    assert found.question is not None and "centre" in found.question


def test_a_phony_stays_a_phony() -> None:
    game = with_plays("8F HORN")
    found = infer_play(game, seen(after(game, "H6 VA.M")))
    assert found.events == (PlayMade(1, written(game, "H6 VA.M")),) and found.is_certain


def test_a_challenge_of_nothing_makes_no_sense() -> None:
    with pytest.raises(RulesError, match="no play to challenge"):
        with_plays().push(Challenged(0, upheld=False))


def test_a_reading_whose_grid_lies_a_square_beside_the_board_is_moved_back() -> None:
    game = with_plays("8F HORN", "H6 FA.M", "10F PASTE")
    for rows, columns in ((0, 1), (-1, 0), (1, -1)):
        beside = shift_reading(seen(after(game, "9H .OB")), rows, columns)
        found = infer_play(game, beside)
        assert found.events == (PlayMade(1, written(game, "9H .OB")),)


def test_another_board_is_not_taken_for_this_one() -> None:
    game = with_plays("8F HORN", "H6 FA.M", "10F PASTE")
    other = with_plays("8D XYLEM", "D7 A.E", "12F QUOTE")
    found = infer_play(game, seen(other.board))
    assert found.events == () and found.question is not None
    assert found.best.text == "this does not look like the board of this game"


def test_names_laid_out_before_the_game_are_taken_back_with_the_tiles() -> None:
    game = with_plays("8F ANNA", "H8 .INA", "I8 .DAM")
    found = infer_play(game, seen(Board()))
    assert found.events == (PlayWithdrawn(0), PlayWithdrawn(1), PlayWithdrawn(0))
    assert found.best.game.totals == (0, 0)


def test_a_board_that_was_cleared_after_a_game_is_asked_about_and_nothing_is_lost() -> None:
    game = with_plays("8F HORN", "H6 FA.M", "10F PASTE", "9H .OB", "11E BIT", "12C QUA")
    memory = EMPTY_HISTORY
    for _ in range(6):
        found = infer_play(game, seen(Board()), memory)
        assert found.events == () and found.question is not None and found.best.missing_squares
        game, memory = push(game, found.events), found.history


def test_a_record_that_is_wrong_from_the_beginning_is_doubted_in_the_end() -> None:
    game = with_plays("8D XYLEM", "D7 A.E", "12F QUOTE")  # the camera looked at something else
    memory, board = EMPTY_HISTORY, after(with_plays(), "8F HORN", "H6 FA.M", "10F PASTE")
    for _ in range(4):
        found = infer_play(game, seen(board), memory)
        memory = found.history
    assert found.best.text != "this does not look like the board of this game"


def test_false_tile_of_a_play_that_was_challenged_in_vain_is_not_corrected() -> None:
    game = with_plays("8F HORN", "H6 FA.M")
    without = after(game, "10F PASTE")
    game = play(play(game, "8F ....S").push(Challenged(1, upheld=False)), "10F PASTE")
    first = infer_play(game, seen(without))
    again = infer_play(game, seen(without), first.history)
    assert again.events == () and again.best.missing_squares == (parse_square("J8"),)
