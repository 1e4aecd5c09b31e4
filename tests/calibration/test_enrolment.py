"""The enrolment of tiles: which tile to place where, and whether it was placed."""

import pytest

from calibration.enrolment import check_enrolment, make_enrolment_rows
from engine.reading import BLANK, EMPTY, HIDDEN, BoardReading, SquareReading
from engine.tiles import load_tile_set, tile_set_names

ALPHABET = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")


def seen(changes: dict[int, SquareReading]) -> BoardReading:
    """Return a reading of the enrolment layout of the alphabet, with other symbols on some squares."""
    squares = list(BoardReading.from_rows(make_enrolment_rows(ALPHABET)).squares)
    for at, square in changes.items():
        squares[at] = square
    return BoardReading(tuple(squares))


Q_SQUARE = [face for row in make_enrolment_rows(ALPHABET) for face in row].index("Q")


@pytest.mark.parametrize("name", tile_set_names())
def test_every_tile_of_a_set_is_asked_for_once(name: str) -> None:
    letters = load_tile_set(name).letters
    asked = [face for row in make_enrolment_rows(letters) for face in row if face != EMPTY]
    assert asked == [*letters, BLANK]


def test_tiles_are_asked_for_in_the_order_that_the_page_likes() -> None:
    asked = [face for row in make_enrolment_rows("QXZ") for face in row if face != EMPTY]
    assert asked == ["Q", "X", "Z", BLANK]


@pytest.mark.parametrize("letters", [(), ("A", "A"), tuple(chr(0x400 + k) for k in range(90))])
def test_what_cannot_be_laid_out_is_refused(letters: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="enrolment layout"):
        make_enrolment_rows(letters)


def test_layout_placed_as_drawn_is_complete_and_clean() -> None:
    assert check_enrolment(make_enrolment_rows(ALPHABET), seen({})).is_clean


def test_a_tile_that_lacks_and_one_too_many_are_named() -> None:
    check = check_enrolment(
        make_enrolment_rows(ALPHABET),
        seen({Q_SQUARE: SquareReading(((EMPTY, 1.0),)), 0: SquareReading((("Q", 1.0),))}),
    )
    assert (check.missing, check.extra, check.is_complete) == ((Q_SQUARE,), (0,), False)


def test_a_tile_under_a_hand_is_named() -> None:
    check = check_enrolment(make_enrolment_rows(ALPHABET), seen({Q_SQUARE: SquareReading(((HIDDEN, 0.8), ("Q", 0.2)))}))
    assert check.hidden == (Q_SQUARE,)
    assert not check.is_complete


def test_a_tile_clearly_read_as_another_is_asked_about_and_may_still_teach() -> None:
    check = check_enrolment(make_enrolment_rows(ALPHABET), seen({Q_SQUARE: SquareReading((("O", 0.97), ("Q", 0.03)))}))
    assert check.mismatched == ((Q_SQUARE, "O"),)
    assert check.is_complete
    assert not check.is_clean


def test_tile_that_is_hard_to_read_is_no_mismatch() -> None:
    check = check_enrolment(make_enrolment_rows(ALPHABET), seen({Q_SQUARE: SquareReading((("O", 0.6), ("Q", 0.4)))}))
    assert check.is_clean
