"""Two networks and the colours and edges of the board itself, made one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.reading import BOARD_SIZE
from vision.geometry import Floats, Image
from vision.recognition.colour_comparison import measure_log_colours
from vision.recognition.fusion import collect_blank_evidence, fuse_predictions
from vision.recognition.views import EMPTY_KIND, VIEW_MARGIN_SQUARES, VIEW_PX_PER_SQUARE

EMPTY, BLANK, A, HIDDEN = 0, 1, 2, 4
ASKED = (7, 7)
LAID = [(3, column) for column in range(2, 12)]
GROUND, WOOD = (120, 125, 128), (120, 160, 190)


@dataclass(frozen=True)
class Predictions:
    """A board with a word on it, and what the networks say of it and of one more square."""

    kinds: NDArray[np.float32]
    cells: list[tuple[int, int]]
    letters: Floats
    board: Image

    def at(self, square: tuple[int, int]) -> Floats:
        """The probabilities of a square: none, blank, A, B, hidden."""
        colours = measure_log_colours(self.board)
        return fuse_predictions(self.kinds, self.cells, self.letters, self.board, colours)[square]


def make_predictions(
    colour: tuple[int, int, int], tile: float, letters: tuple[float, ...], hidden: float = 0.0
) -> Predictions:
    """The square ASKED has this colour; the networks give it `tile` and `letters`."""
    kinds = np.zeros((BOARD_SIZE, BOARD_SIZE, 3), np.float32)
    kinds[:, :, EMPTY_KIND] = 1
    board = np.full((VIEW_PX_PER_SQUARE * (BOARD_SIZE + 2 * VIEW_MARGIN_SQUARES),) * 2 + (3,), GROUND, np.uint8)
    for row, column in [*LAID, ASKED]:
        kinds[row, column] = (0.0, 1.0, 0.0) if (row, column) != ASKED else (1 - tile, tile, 0.0)
        top, left = (
            VIEW_PX_PER_SQUARE * (row + VIEW_MARGIN_SQUARES),
            VIEW_PX_PER_SQUARE * (column + VIEW_MARGIN_SQUARES),
        )
        board[top : top + VIEW_PX_PER_SQUARE, left : left + VIEW_PX_PER_SQUARE] = (
            WOOD if (row, column) != ASKED else colour
        )
    kinds[ASKED] = (1 - hidden) * kinds[ASKED] + np.float32([0, 0, hidden])
    printed = [[0.0, 0.0, 1.0, 0.0]] * len(LAID)
    return Predictions(kinds, [*LAID, ASKED], np.array([*printed, letters]), board)


def test_a_tile_with_print_is_its_letter_whatever_the_colours() -> None:
    for colour in (GROUND, WOOD):
        assert make_predictions(colour, 0.99, (0.001, 0.001, 0.99, 0.008)).at(ASKED)[A] > 0.98


@pytest.mark.parametrize("colour, what", [(WOOD, BLANK), (GROUND, EMPTY)])
def test_colours_decide_if_the_networks_are_in_doubt(colour: tuple[int, int, int], what: int) -> None:
    assert make_predictions(colour, 0.6, (0.4, 0.6, 0.0, 0.0)).at(ASKED)[what] > 0.7


def test_colours_outweigh_networks_that_are_sure_of_a_blank() -> None:
    of_wood, of_ground = (
        make_predictions(colour, 0.95, (0.03, 0.97, 0.0, 0.0)).at(ASKED)[BLANK] for colour in (WOOD, GROUND)
    )
    assert of_wood > 0.9
    assert of_ground < of_wood / 2


def look_like_asked(predictions: Predictions, count: int) -> Predictions:
    """The same board, where the letter network sees on `count` empty squares what it sees on ASKED."""
    kinds, cells = predictions.kinds.copy(), [(row, column) for row in range(9, 15) for column in range(15)][:count]
    for cell in cells:
        kinds[cell] = (0.9, 0.1, 0.0)
    seen = np.concatenate([predictions.letters, np.tile(predictions.letters[-1], (count, 1))])
    return replace(predictions, kinds=kinds, cells=[*predictions.cells, *cells], letters=seen)


def test_what_all_empty_squares_look_like_is_no_blank() -> None:
    alone = make_predictions(GROUND, 0.9, (0.003, 0.997, 0.0, 0.0))
    assert look_like_asked(alone, 80).at(ASKED)[BLANK] < 0.5 * alone.at(ASKED)[BLANK]


@pytest.mark.parametrize("count, is_blank", [(1, True), (30, False)])
def test_more_blanks_than_a_set_has_are_the_look_of_the_board(count: int, is_blank: bool) -> None:
    alone = make_predictions(GROUND, 0.9999, (0.0001, 0.9999, 0.0, 0.0))
    alike = look_like_asked(alone, count)
    for cell in alike.cells[-count:]:
        alike.kinds[cell] = (0.0001, 0.9999, 0.0)
    assert bool(alike.at(ASKED)[BLANK] > 0.5) is is_blank


def test_what_all_empty_squares_look_like_is_no_letter() -> None:
    alone = make_predictions(GROUND, 0.8, (0.3, 0.0, 0.5, 0.2))
    assert alone.at(ASKED)[EMPTY] < 0.2
    assert look_like_asked(alone, 80).at(ASKED)[EMPTY] > 0.3


GLARE = (255, 255, 252)
LETTER = (0.01, 0.0, 0.98, 0.01)


def test_blank_under_glare_is_hidden() -> None:
    like_a_blank = make_predictions(GLARE, 0.98, (0.02, 0.98, 0.0, 0.0)).at(ASKED)
    assert like_a_blank[BLANK] == 0
    assert like_a_blank[HIDDEN] > 0.5


def test_empty_square_under_glare_is_hidden() -> None:
    looks_empty = make_predictions(GLARE, 0.02, (0.98, 0.02, 0.0, 0.0)).at(ASKED)
    assert looks_empty[EMPTY] == 0
    assert looks_empty[HIDDEN] > 0.95


def test_empty_squares_of_an_overexposed_board_are_not_hidden() -> None:
    overexposed = make_predictions(GLARE, 0.02, (0.98, 0.02, 0.0, 0.0))
    overexposed.board[(overexposed.board == GROUND).all(axis=2)] = GLARE
    assert overexposed.at(ASKED)[EMPTY] > 0.9


def washed(columns: int) -> Predictions:
    """Return a letter on a square on which glare covers `columns` of the inner eight columns of pixels."""
    one = make_predictions(WOOD, 0.98, LETTER)
    top, left = (VIEW_PX_PER_SQUARE * (at + VIEW_MARGIN_SQUARES) for at in ASKED)
    one.board[top : top + VIEW_PX_PER_SQUARE, left : left + VIEW_PX_PER_SQUARE // 4 + columns] = GLARE
    return one


def test_a_letter_is_doubted_the_more_of_it_glare_has_washed_out() -> None:
    sure = [washed(columns).at(ASKED) for columns in (0, 1, 4, 8)]
    assert sure[0][A] > 0.95 and sure[1][A] > 0.95
    assert sure[2][A] < 0.8 < sure[2][A] + sure[2][HIDDEN]
    assert sure[3][HIDDEN] > 0.9


def test_letters_on_overexposed_tiles_are_not_hidden() -> None:
    overexposed = washed(4)
    for row, column in LAID:
        top, left = (
            VIEW_PX_PER_SQUARE * (row + VIEW_MARGIN_SQUARES),
            VIEW_PX_PER_SQUARE * (column + VIEW_MARGIN_SQUARES),
        )
        overexposed.board[top : top + VIEW_PX_PER_SQUARE, left : left + VIEW_PX_PER_SQUARE] = GLARE
    assert overexposed.at(ASKED)[A] > 0.95


def test_between_tiles_a_plain_square_is_more_often_bare_than_elsewhere() -> None:
    open_, hole = (make_predictions(WOOD, 0.7, (0.4, 0.6, 0.0, 0.0)) for _ in range(2))
    sides = [(6, 7), (8, 7), (7, 6), (7, 8)]
    for side in sides:
        hole.kinds[side] = (0, 1, 0)
    between = replace(
        hole, cells=[*sides, *hole.cells], letters=np.concatenate([[[0.0, 0.0, 1.0, 0.0]] * 4, hole.letters])
    )
    assert between.at(ASKED)[BLANK] < open_.at(ASKED)[BLANK]


def test_evidence_is_measured_only_on_squares_without_print() -> None:
    plain, printed = (
        make_predictions(WOOD, 0.6, (0.4, 0.6, 0.0, 0.0)),
        make_predictions(WOOD, 0.99, (0.0, 0.0, 1.0, 0.0)),
    )
    for board, heard in ((plain, [BOARD_SIZE * ASKED[0] + ASKED[1]]), (printed, [])):
        assert collect_blank_evidence(board.kinds, board.cells, board.letters, board.board).squares.tolist() == heard


def test_a_square_that_the_letter_network_was_not_asked_about_holds_no_tile() -> None:
    board = make_predictions(GROUND, 0.0, (1.0, 0.0, 0.0, 0.0))
    chances = fuse_predictions(board.kinds, [], np.zeros((0, 4)), board.board, measure_log_colours(board.board))
    assert chances[0, 0].tolist() == chances[LAID[0]].tolist() == [1, 0, 0, 0, 0]


def test_each_network_has_its_say_about_a_square_without_print() -> None:
    usual = make_predictions(WOOD, 0.6, (0.4, 0.6, 0.0, 0.0)).at(ASKED)[EMPTY]
    assert make_predictions(WOOD, 0.95, (0.4, 0.6, 0.0, 0.0)).at(ASKED)[EMPTY] < usual / 2
    assert make_predictions(WOOD, 0.6, (0.03, 0.97, 0.0, 0.0)).at(ASKED)[EMPTY] < usual / 2


def test_blank_of_the_colour_of_the_board_is_found_by_its_edges() -> None:
    covered, shown = (make_predictions(GROUND, 0.6, (0.4, 0.6, 0.0, 0.0)) for _ in range(2))
    for board in (covered, shown):
        for at in (VIEW_PX_PER_SQUARE * k for k in range(VIEW_MARGIN_SQUARES, BOARD_SIZE + VIEW_MARGIN_SQUARES + 1)):
            board.board[at - 1 : at + 1] = board.board[:, at - 1 : at + 1] = (230, 230, 230)
        for row, column in LAID if board is shown else [*LAID, ASKED]:
            top, left = (
                VIEW_PX_PER_SQUARE * (row + VIEW_MARGIN_SQUARES),
                VIEW_PX_PER_SQUARE * (column + VIEW_MARGIN_SQUARES),
            )
            board.board[top : top + VIEW_PX_PER_SQUARE, left : left + VIEW_PX_PER_SQUARE] = GROUND
    assert shown.at(ASKED)[BLANK] < 0.1
    assert covered.at(ASKED)[BLANK] > 0.9


def test_the_edges_are_looked_at_where_the_others_leave_doubt() -> None:
    doubtful, clear = (
        make_predictions(WOOD, 0.6, (0.4, 0.6, 0.0, 0.0)),
        make_predictions(WOOD, 0.999, (0.001, 0.999, 0.0, 0.0)),
    )
    for board, looked in ((doubtful, True), (clear, False)):
        assert (
            collect_blank_evidence(board.kinds, board.cells, board.letters, board.board).log_odds[0, 3] != 0
        ) == looked


def test_a_square_half_hidden_is_not_compared() -> None:
    board = make_predictions(WOOD, 0.6, (0.4, 0.6, 0.0, 0.0), hidden=0.3)
    assert not len(collect_blank_evidence(board.kinds, board.cells, board.letters, board.board).squares)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.sampled_from([GROUND, WOOD]))
def test_probabilities_add_up_and_hidden_squares_stay_hidden(
    tile: float, blank: float, hidden: float, colour: tuple[int, int, int]
) -> None:
    seen = make_predictions(colour, tile, (0.6 * (1 - blank), 0.6 * blank, 0.3, 0.1), hidden).at(ASKED)
    assert seen.sum() == pytest.approx(1, abs=1e-6)
    assert (seen >= 0).all()
    assert seen[HIDDEN] == pytest.approx(hidden, abs=1e-6)
