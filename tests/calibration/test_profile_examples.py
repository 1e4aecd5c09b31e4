"""A table's own tiles: what likeness to them may change, and what it may not."""

from dataclasses import replace

import numpy as np
import pytest

from calibration.profile import MAX_EXAMPLES, ExampleConfig, TileExamples
from engine.reading import BOARD_SIZE, EMPTY, HIDDEN
from tests.support.own_tiles import LETTERS, Muddle, OwnTable, reading_of
from vision.recognition.views import TOPS_PX_PER_SQUARE as TOPS_SCALE
from vision.recognition.views import BoardViews

DOUBT = {"A": 0.6, "B": 0.13, "C": 0.13, "?": 0.13}
"""The prediction of the muddled network for every tile."""


def spread(count: int, first: int = 0) -> dict[int, str]:
    """So many tiles, letters and blanks in turn."""
    return {first + 2 * k: (*LETTERS, "?")[k % 4] for k in range(count)}


def taught(games: int = 2, tiles: int = 18, sure: float = 0.6) -> TileExamples:
    """Return examples of several games on one table, with the letters that players confirmed."""
    examples = TileExamples(Muddle(sure))
    for game in range(games):
        laid = spread(tiles, game)
        examples.learn(OwnTable().picture(laid, game), laid, str(game))
    return examples


def test_without_examples_a_reading_stays_as_it_is() -> None:
    views, reading = OwnTable().picture({7: "B"}), reading_of({7: DOUBT})
    assert TileExamples(Muddle()).refine_reading(views, reading, LETTERS) is reading


def test_letters_in_doubt_become_those_of_the_tiles_they_look_like() -> None:
    laid = {100: "A", 104: "B", 108: "C"}
    adapted = taught().refine_reading(OwnTable().picture(laid, 9), reading_of(dict.fromkeys(laid, DOUBT)), LETTERS)
    assert {at: adapted.squares[at].symbol for at in laid} == laid


def test_reading_keeps_the_confidences_of_the_board() -> None:
    reading = replace(reading_of({100: DOUBT}), orientation_confidence=0.6, offset_confidence=0.7)
    adapted = taught().refine_reading(OwnTable().picture({100: "A"}, 9), reading, LETTERS)
    assert adapted.squares != reading.squares
    assert (adapted.orientation_confidence, adapted.offset_confidence) == (0.6, 0.7)


def test_a_letter_that_has_no_example_yet_loses_to_none_that_has() -> None:
    table, examples = OwnTable(), TileExamples(Muddle())
    for game in range(2):
        laid = {at: face for at, face in spread(18, game).items() if face != "A"}
        examples.learn(table.picture(laid, game), laid, str(game))
    assert examples.is_helpful
    adapted = examples.refine_reading(
        table.picture({100: "B", 104: "A"}, 9), reading_of({100: DOUBT, 104: DOUBT}), LETTERS
    )
    assert adapted.squares[104].symbol == "A"


def test_rival_without_examples_stays_as_likely_beside_a_letter_with_examples() -> None:
    doubt = reading_of({100: {"A": 0.6, "B": 0.1, "Ā": 0.3}})
    adapted = taught().refine_reading(OwnTable().picture({100: "A"}, 9), doubt, (*LETTERS, "Ā"))
    square = adapted.squares[100]
    assert square.probability("Ā") / square.probability("A") == pytest.approx(0.5)
    assert square.probability("B") < 0.01


def test_a_letter_that_no_network_knows_is_learnt() -> None:
    table, examples = OwnTable(), TileExamples(Muddle())
    for game in range(2):
        laid = {at: {"A": "Ж"}.get(face, face) for at, face in spread(18, game).items()}
        examples.learn(table.picture(spread(18, game), game), laid, str(game))
    reading = reading_of({100: {"B": 0.4, "C": 0.3, "?": 0.3}})
    adapted = examples.refine_reading(table.picture({100: "A"}, 9), reading, ("Ж", "B", "C"))
    assert adapted.squares[100].symbol == "Ж"


def test_examples_do_not_change_whether_there_is_a_tile() -> None:
    seen = {"A": 0.45, "B": 0.15, EMPTY: 0.3, HIDDEN: 0.1}
    adapted = taught().refine_reading(OwnTable().picture({100: "B"}, 9), reading_of({100: seen}), LETTERS).squares[100]
    assert adapted.probability(EMPTY) == 0.3
    assert adapted.probability(HIDDEN) == 0.1
    assert adapted.probability("B") > adapted.probability("A")


def test_examples_that_do_not_help_are_not_used() -> None:
    examples = TileExamples(Muddle(0.97))
    for game in range(3):
        laid = {2 * k + game: "A" for k in range(12)}
        examples.learn(OwnTable().picture(laid, game), laid, str(game))
    assert not examples.is_helpful, "all were read right"


@pytest.mark.parametrize("seed", range(15))
def test_examples_named_at_random_count_for_next_to_nothing(seed: int) -> None:
    names = np.random.default_rng(seed)
    examples = TileExamples(Muddle())
    for game in range(2):
        laid = spread(18, game)
        said = {at: str(names.choice(LETTERS)) for at in laid}
        examples.learn(OwnTable().picture(laid, game), said, str(game))
    assert not examples.is_helpful


def test_learnt_tile_is_recognised_on_its_square() -> None:
    def beside(views: BoardViews) -> BoardViews:
        moved = np.full((BOARD_SIZE, BOARD_SIZE, 3), (-4 / TOPS_SCALE, 6 / TOPS_SCALE, 0))
        return replace(views, tops=np.roll(views.tops, (6, -4), axis=(0, 1)), poses=moved)

    laid, examples = spread(18), TileExamples(Muddle())
    examples.learn(beside(OwnTable().picture(laid)), laid, "0")
    straight = taught(games=1)
    for one, other in zip(examples.examples, straight.examples, strict=True):
        assert np.abs(one.crop.astype(int) - other.crop).max() <= 1
    asked, reading = OwnTable().picture({100: "B"}, 9), reading_of({100: DOUBT})
    assert taught().refine_reading(beside(asked), reading, LETTERS).squares[100].symbol == "B"


def test_the_same_square_of_the_same_game_is_learnt_anew() -> None:
    examples = TileExamples(Muddle())
    for face in ("B", "C"):
        examples.learn(OwnTable().picture({7: "C"}), {7: face}, "1")
    assert [(one.symbol, one.square) for one in examples.examples] == [("C", 7)]


def test_there_are_never_too_many() -> None:
    examples = taught(games=12, tiles=60)
    kept = [one.symbol for one in examples.examples]
    assert all(kept.count(symbol) <= ExampleConfig().max_per_symbol for symbol in LETTERS)
    assert len(kept) <= MAX_EXAMPLES


def test_examples_outlive_the_network_that_they_were_learnt_with() -> None:
    again = TileExamples(Muddle(), taught().examples)
    assert again.is_helpful and taught().is_helpful
