"""Several readings of one board made one."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.reading import BOARD_SIZE, EMPTY, HIDDEN, BoardReading, SquareReading, merge_readings

SYMBOLS = (".", "?", "A", "B", HIDDEN)


def board(square: SquareReading) -> BoardReading:
    """A bare board but for its first square."""
    return BoardReading((square, *[SquareReading(((".", 1.0),))] * (BOARD_SIZE * BOARD_SIZE - 1)))


def square(**chances: float) -> SquareReading:
    """A square's reading; `hidden` and `empty` stand for their signs."""
    named = {{"hidden": HIDDEN, "empty": ".", "blank": "?"}.get(name, name): p for name, p in chances.items()}
    return SquareReading(tuple(sorted(named.items(), key=lambda item: -item[1])))


def merged(*squares: SquareReading) -> SquareReading:
    return merge_readings([board(one) for one in squares]).squares[0]


@st.composite
def squares(draw: st.DrawFn) -> SquareReading:
    weights = draw(st.lists(st.floats(0.01, 1), min_size=len(SYMBOLS), max_size=len(SYMBOLS)))
    total = sum(weights)
    chances = [(symbol, weight / total) for symbol, weight in zip(SYMBOLS, weights, strict=True)]
    return SquareReading(tuple(sorted(chances, key=lambda item: -item[1])))


def test_merge_of_no_readings_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing"):
        merge_readings([])


def test_square_that_is_hidden_in_one_picture_is_read_from_another() -> None:
    seen = merged(square(hidden=0.97, empty=0.03), square(A=0.96, B=0.03, hidden=0.01))
    assert seen.symbol == "A"
    assert seen.confidence == pytest.approx(0.96)


def test_square_that_is_hidden_in_every_picture_stays_hidden() -> None:
    assert merged(square(hidden=0.9, A=0.1), square(hidden=0.8, empty=0.2)).symbol == HIDDEN


def test_square_half_hidden_in_one_picture_is_read_from_another() -> None:
    seen = merged(square(hidden=0.7, B=0.3), square(A=0.9, B=0.1))
    assert seen.probability("B") == pytest.approx(0.1)


def test_glare_in_one_picture_of_three_is_outvoted() -> None:
    clear = square(A=0.9, blank=0.1)
    assert merged(clear, square(blank=0.999, A=0.001), clear).symbol == "A"


def test_ten_like_pictures_are_no_surer_than_one() -> None:
    doubtful = square(A=0.6, B=0.4)
    assert merged(*[doubtful] * 10).confidence == pytest.approx(0.6)


@given(st.lists(squares(), min_size=1, max_size=5))
def test_no_merged_symbol_is_surer_than_in_the_picture_that_sees_it_best(several: list[SquareReading]) -> None:
    def given_sight(one: SquareReading, symbol: str) -> float:
        return one.probability(symbol) / (1 - one.probability(HIDDEN))

    seen = merged(*several)
    assert sum(p for _, p in seen.candidates) <= 1 + 1e-9
    for symbol in SYMBOLS[:-1]:
        assert seen.probability(symbol) <= max(given_sight(one, symbol) for one in several) + 1e-9


@given(squares())
def test_reading_merged_with_itself_stays_the_same(one: SquareReading) -> None:
    seen = merged(one, one)
    assert {s: pytest.approx(p) for s, p in one.candidates} == dict(seen.candidates)


@given(st.lists(squares(), min_size=2, max_size=4))
def test_the_order_of_pictures_does_not_matter(several: list[SquareReading]) -> None:
    there, back = merged(*several), merged(*several[::-1])
    assert {s: pytest.approx(p) for s, p in there.candidates} == dict(back.candidates)


def read_word(row: str, alternative: str = "") -> BoardReading:
    """Return a reading whose first row is `row`; `alternative` is that of the picture as it is."""
    rows = [row.ljust(15, EMPTY), *[EMPTY * 15] * 14]
    return replace(BoardReading.from_rows(rows), alternative=read_word(alternative) if alternative else None)


def test_alternatives_of_flipped_pictures_are_merged() -> None:
    result = merge_readings([read_word("THU", "HUT"), read_word("THU", "HUT")])
    assert result.alternative is not None and "".join(result.alternative.symbols[:3]) == "HUT"


@pytest.mark.parametrize(
    ("readings", "expected"),
    [([read_word("THU", "HUT"), read_word("HUT")], "HUT"), ([read_word("HUT"), read_word("THU", "HUT")], "THU")],
)
def test_flipped_pictures_are_not_merged_with_others(readings: list[BoardReading], expected: str) -> None:
    result = merge_readings(readings)
    assert "".join(result.symbols[:3]) == expected
    assert [read.confidence for read in result.squares[:3]] == [1, 1, 1]
