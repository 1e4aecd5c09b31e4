"""Reading boards: rendered tables with known tiles, seen from above, from the side, turned, covered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import cv2
import numpy as np
import pytest

from engine.messages import key_of
from engine.reading import BLANK, BOARD_SIZE, EMPTY, HIDDEN, SquareReading
from engine.tiles import load_tile_set
from tests.support.counting_letter_net import CountingLetterNet
from tests.support.fixed_locator import FixedLocator
from vision.detection.location import BoardLocation
from vision.geometry import Floats, Image, flip_points, grid_corners, reverse_quad, square_side
from vision.recognition.classifier import ClassifierConfig
from vision.recognition.letters import LetterNet, TilePredictions
from vision.recognition.problems import FOREIGN_TILES
from vision.recognition.reader import BoardReader, best_guess
from vision.rendering.scene import Scene
from vision.rendering.simulated_table import Hands, SimulatedTable
from vision.rendering.tile_art import PlacedTile
from vision.tracking import BoardTracker

Tiles = Mapping[tuple[int, int], str]

ENGLISH = load_tile_set("en").letters
WORDS: Tiles = (
    {(7, 5 + i): c for i, c in enumerate("QUARTZ")}
    | {(8 + i, 8): c for i, c in enumerate("EFLEX")}
    | {(5, 10): "F", (6, 10): "?", (12, 2): "J", (12, 3): "O", (12, 4): "W", (14, 14): "B"}
)


def found_at(corners: Floats) -> BoardReader:
    """Return a reader whose locator knows the board's corners."""
    return BoardReader(FixedLocator(BoardLocation(corners, 1.0)))


@pytest.fixture(scope="module")
def reader() -> BoardReader:
    return BoardReader(FixedLocator(None))


def photographed(
    tiles: Tiles, tilt: float = 12.0, turn: float = 4.0, edition: str = "classic", person: Hands | None = None
) -> Scene:
    return _photograph(tuple(tiles.items()), tilt, turn, edition, person)


@cache
def _photograph(
    tiles: tuple[tuple[tuple[int, int], str], ...], tilt: float, turn: float, edition: str, person: Hands | None
) -> Scene:
    table = SimulatedTable(seed=3, tilt=tilt, turn=turn, edition=edition, values=load_tile_set("en").values)
    table.lay_tiles(dict(tiles))
    scene = table.photograph(person)
    scene.image.flags.writeable = False
    return scene


def rows(tiles: Tiles) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(tiles.get((r, c), EMPTY) for c in range(BOARD_SIZE)) for r in range(BOARD_SIZE))


@pytest.mark.parametrize("turned", [0, 1])
def test_tiles_a_third_of_a_square_from_where_they_are_looked_for_are_read(reader: BoardReader, turned: int) -> None:
    scene = photographed(WORDS)
    across, down = (scene.corners[k] - scene.corners[0] for k in (1, 3))
    off = scene.corners + (0.33 * across - 0.1 * down) / BOARD_SIZE
    if turned:
        reading = found_at(np.roll(off, turned, axis=0)).read(scene.image, ENGLISH)
    else:
        reading = reader.read(scene.image, ENGLISH, corners=off)
    assert reading.board is not None
    assert reading.board.rows() == rows(WORDS)


@pytest.mark.parametrize(
    ("letters", "mixed", "votes"),
    [
        ("QUARTZBEFGJKLPRAVECW", False, [6, 14]),
        ("QUARTZBEFGJKLPRAVECW", True, [6] * 4 + [10] * 4),
        ("CAT", False, [3] * 4),
    ],
)
def test_where_six_tiles_disagree_which_way_is_up_ten_more_are_asked(
    letters: str, mixed: bool, votes: list[int]
) -> None:
    table, net = SimulatedTable(seed=3, tilt=0, values=load_tile_set("en").values), CountingLetterNet()
    # Any six of the mixed tiles disagree: five are turned each way.
    laid = [
        PlacedTile(letter, 2.5 + k % 10, 5.5 + k // 10, k % 4 * np.pi / 2 if mixed else 0.0)
        for k, letter in enumerate(letters)
    ]
    scene = table.photograph(loose_tiles=laid)
    BoardReader(FixedLocator(BoardLocation(scene.corners, 1.0)), letter_net=net).read(scene.image, ENGLISH)
    assert net.crop_counts[: len(votes)] == votes


@pytest.mark.parametrize("edition", ["classic", "green", "deluxe"])
def test_all_tiles_of_a_position_are_read(reader: BoardReader, edition: str) -> None:
    scene = photographed(WORDS, edition=edition)
    reading = reader.read(scene.image, ENGLISH, corners=scene.corners)
    assert reading.board is not None
    assert reading.board.rows() == rows(WORDS)
    assert reading.problems == ()


@pytest.mark.parametrize(("confidence", "said"), [(0.57, "This may not be the board"), (0.8, "")], ids=["low", "high"])
def test_grid_of_inconclusive_colours_is_believed_by_the_look_of_its_squares(confidence: float, said: str) -> None:
    scene = photographed(WORDS)
    reading = BoardReader(FixedLocator(BoardLocation(scene.corners, confidence))).read(scene.image, ENGLISH)
    assert reading.board is not None and reading.location is not None
    assert "; ".join(reading.problems).startswith(said) and bool(reading.problems) is bool(said)
    assert reading.location.confidence > 0.75


def test_grid_that_does_not_look_like_a_board_is_not_read() -> None:
    scene = photographed(WORDS)
    beside = scene.corners + 3.4 * square_side(scene.corners)
    reading = BoardReader(FixedLocator(BoardLocation(beside, 0.57))).read(scene.image, ENGLISH)
    assert reading.board is None and reading.corners is None
    (problem,) = reading.problems
    assert problem.startswith("No board was found. The grid in the picture does not look like a board of 15 x 15")


def test_letters_of_a_grid_that_is_no_board_are_not_read() -> None:
    sheet = np.full((15 * 40, 15 * 40, 3), 240, np.uint8)
    letters = np.random.default_rng(1).choice(list(ENGLISH[:26]), (15, 15))
    for (row, column), letter in np.ndenumerate(letters):
        cv2.putText(sheet, str(letter), (column * 40 + 8, row * 40 + 30), cv2.FONT_HERSHEY_SIMPLEX, 0.9, (0, 0, 0), 2)
    image = cv2.copyMakeBorder(np.flip(sheet, 1), 80, 80, 80, 80, cv2.BORDER_CONSTANT, value=(90, 90, 90))
    net = CountingLetterNet()
    found = FixedLocator(BoardLocation(40 * grid_corners() + 79.5, 0.57))
    assert BoardReader(found, letter_net=net).read(np.asarray(image, np.uint8), ENGLISH).board is None
    assert not net.crop_counts


def test_board_that_is_exactly_aligned_with_the_picture_looks_like_a_screen() -> None:
    scene = photographed(WORDS, tilt=0.0, turn=0.0)
    reading = found_at(scene.corners).read(scene.image, ENGLISH)
    assert reading.board is not None
    assert reading.problems == ("This looks like a screen. Point the camera at a board on a table.",)
    assert found_at(scene.corners).read(scene.image, ENGLISH, hint=BoardTracker()).problems == ()


def test_nothing_is_found_on_an_empty_board(reader: BoardReader) -> None:
    scene = photographed({})
    reading = reader.read(scene.image, ENGLISH, corners=scene.corners)
    assert reading.board is not None
    assert reading.board.rows() == rows({})


def test_tiles_are_read_where_their_tops_are_seen_from_low_down(reader: BoardReader) -> None:
    scene = photographed(WORDS, tilt=45)
    reading = reader.read(scene.image, ENGLISH, corners=scene.corners)
    assert reading.board is not None
    assert reading.board.rows() == rows(WORDS)


@pytest.mark.parametrize("quarter_turns", range(4))
def test_a_board_found_in_any_turn_is_read_upright(quarter_turns: int) -> None:
    scene = photographed(WORDS)
    reader = found_at(np.roll(scene.corners, quarter_turns, axis=0))
    reading = reader.read(scene.image, ENGLISH)
    assert reading.board is not None
    assert reading.board.rows() == rows(WORDS)
    assert reading.corners is not None
    assert np.allclose(reading.corners, scene.corners)


def test_an_empty_board_keeps_the_turn_it_was_found_in() -> None:
    scene = photographed({})
    found = np.roll(scene.corners, 1, axis=0)
    reading = found_at(found).read(scene.image, ENGLISH)
    assert reading.corners is not None
    assert np.allclose(reading.corners, found)


@pytest.mark.parametrize("letter", "BEPR")
def test_a_tile_laid_upside_down_is_read_as_it_lies(reader: BoardReader, letter: str) -> None:
    table = SimulatedTable(seed=3, tilt=12, turn=4, values=load_tile_set("en").values)
    table.lay_tiles({at: letter for at, letter in WORDS.items() if at != (7, 7)})
    scene = table.photograph(loose_tiles=[PlacedTile(letter, 7.5, 7.5, np.pi)])
    reading = reader.read(scene.image, ENGLISH, corners=scene.corners)
    assert reading.board is not None
    assert reading.board.rows() == rows({**WORDS, (7, 7): letter})


@pytest.mark.parametrize(("letter", "other"), ["AV", "MW"])
def test_a_tile_that_may_lie_upside_down_is_doubtful_unless_its_value_shows(
    reader: BoardReader, letter: str, other: str
) -> None:
    table = SimulatedTable(seed=3, tilt=12, turn=4, values=load_tile_set("en").values)
    table.lay_tiles({at: letter for at, letter in WORDS.items() if at != (7, 7)})
    scene = table.photograph(loose_tiles=[PlacedTile(letter, 7.5, 7.5, np.pi)])
    reading = reader.read(scene.image, ENGLISH, corners=scene.corners)
    assert reading.board is not None
    square = reading.board.squares[7 * 15 + 7]
    letters = [symbol for symbol, _ in square.candidates if symbol != BLANK]
    assert {letter, other} == set(letters[:2])
    assert square.symbol == letter or square.confidence < 0.95


def test_corners_a_little_off_do_no_harm(reader: BoardReader) -> None:
    scene = photographed(WORDS)
    off = np.array([[0.06, 0.05], [-0.06, 0.04], [0.05, -0.06], [-0.04, -0.06]]) * square_side(scene.corners)
    reading = reader.read(scene.image, ENGLISH, corners=scene.corners + off)
    assert reading.board is not None
    assert reading.board.rows() == rows(WORDS)


def test_only_tiles_of_the_set_are_read(reader: BoardReader) -> None:
    scene = photographed(WORDS)
    reading = reader.read(scene.image, [c for c in ENGLISH if c != "Q"], corners=scene.corners)
    assert reading.board is not None
    symbols = {s for square in reading.board.squares for s, _ in square.candidates}
    assert "Q" not in symbols
    assert "Ä" not in symbols


@pytest.mark.parametrize(("language", "is_reported"), [("en", True), ("de", False)])
def test_accents_that_the_tile_set_does_not_have_are_reported(
    reader: BoardReader, language: str, is_reported: bool
) -> None:
    table = SimulatedTable(seed=3, values=load_tile_set("de").values)
    table.lay_tiles({(7, 5 + i): c for i, c in enumerate("ÜBRÄ")} | {(12, 3): "Ö"})
    scene = table.photograph()
    reading = reader.read(scene.image, load_tile_set(language).letters, corners=scene.corners)
    assert (FOREIGN_TILES in map(key_of, reading.problems)) == is_reported


def test_squares_under_a_hand_are_called_hidden(reader: BoardReader) -> None:
    scene = photographed(WORDS, person=Hands(fingertips=((7.5, 7.5),)))
    reading = reader.read(scene.image, ENGLISH, corners=scene.corners)
    assert reading.board is not None
    covered = {(int(r), int(c)) for r, c in np.argwhere(scene.hidden > 0.9)}
    assert covered
    hidden = {(r, c) for r in range(BOARD_SIZE) for c in range(BOARD_SIZE) if reading.board[r, c].symbol == HIDDEN}
    assert len(hidden & covered) >= 0.8 * len(covered)
    assert not {at for at in hidden if scene.hidden[at] == 0}
    assert any(problem.startswith("These squares are hidden: ") for problem in reading.problems)


@pytest.mark.parametrize(("hidden", "tile", "guess"), [(0.51, 0.45, "A"), (0.51, 0.3, EMPTY), (0.9, 0.1, EMPTY)])
def test_a_hidden_square_is_guessed_to_be_bare_unless_a_tile_is_likelier(
    hidden: float, tile: float, guess: str
) -> None:
    square = SquareReading(((HIDDEN, hidden), ("A", tile), (EMPTY, 1 - hidden - tile)))
    assert best_guess(square)[0] == guess


def test_probabilities_fall_and_sum_to_at_most_one(reader: BoardReader) -> None:
    scene = photographed(WORDS)
    reading = reader.read(scene.image, ENGLISH, corners=scene.corners)
    assert reading.board is not None
    for square in reading.board.squares:
        chances = [p for _, p in square.candidates]
        assert chances == sorted(chances, reverse=True)
        assert sum(chances) <= 1 + 1e-6
        assert best_guess(square)[0] != HIDDEN


def test_a_picture_without_a_board_says_so(reader: BoardReader) -> None:
    reading = reader.read(np.zeros((80, 80, 3), np.uint8), ENGLISH)
    assert reading.board is None
    assert reading.corners is None
    assert reading.problems == ("No board was found. No grid in the picture",)


def test_a_board_too_small_to_read_says_so(reader: BoardReader) -> None:
    corners = np.array([[10.0, 10.0], [70.0, 10.0], [70.0, 70.0], [10.0, 70.0]])
    reading = reader.read(np.zeros((80, 80, 3), np.uint8), ENGLISH, corners=corners)
    assert reading.board is None
    assert "too small" in reading.problems[0]


def test_corners_out_of_order_are_refused(reader: BoardReader) -> None:
    corners = np.array([[10.0, 10.0], [700.0, 700.0], [700.0, 10.0], [10.0, 700.0]])
    with pytest.raises(ValueError, match="clockwise"):
        reader.read(np.zeros((800, 800, 3), np.uint8), ENGLISH, corners=corners)


@pytest.mark.parametrize("quarter_turns", [0, 1])
def test_mirrored_picture_is_flipped_and_read(quarter_turns: int) -> None:
    scene = photographed(WORDS)
    corners = flip_points(scene.corners, scene.image.shape[1])
    clockwise = np.roll(reverse_quad(corners), quarter_turns, axis=0)
    reading = found_at(clockwise).read(scene.image[:, ::-1], ENGLISH)
    assert reading.board is not None and reading.corners is not None
    assert reading.board.rows() == rows(WORDS)
    assert reading.is_mirrored and reading.problems == (
        "The picture is mirrored, so it was flipped before reading. Switch mirroring off in the camera.",
    )
    assert np.allclose(reading.corners, corners)


def test_corners_in_anticlockwise_order_are_those_of_a_mirrored_picture(reader: BoardReader) -> None:
    scene = photographed(WORDS)
    corners = flip_points(scene.corners, scene.image.shape[1])
    reading = reader.read(scene.image[:, ::-1], ENGLISH, corners=corners)
    assert reading.board is not None and reading.corners is not None
    assert reading.board.rows() == rows(WORDS)
    assert np.allclose(reading.corners, corners)


def test_mirrored_picture_whose_predecessor_was_mirrored_is_classified_once() -> None:
    scene, net = photographed(WORDS), CountingLetterNet()
    corners = flip_points(scene.corners, scene.image.shape[1])
    found = FixedLocator(BoardLocation(reverse_quad(corners), 1.0))
    reader = BoardReader(found, letter_net=net)
    mirrored = np.ascontiguousarray(scene.image[:, ::-1])
    first = reader.read(mirrored, ENGLISH)
    tracker = BoardTracker().update(mirrored, first.location)
    assert tracker.is_mirrored
    looks = len(net.crop_counts)
    again = reader.read(mirrored, ENGLISH, hint=tracker)
    assert again.is_mirrored and again.board is not None
    assert len(net.crop_counts) - looks < looks


def test_picture_that_is_no_longer_mirrored_is_read_as_it_is() -> None:
    scene = photographed(WORDS)
    tracker = BoardTracker(is_mirrored=True)
    reading = found_at(scene.corners).read(scene.image, ENGLISH, hint=tracker)
    assert reading.board is not None and reading.location is not None
    assert reading.board.rows() == rows(WORDS)
    assert not reading.is_mirrored and not tracker.update(scene.image, reading.location).is_mirrored


@pytest.mark.parametrize(("side", "said"), [("left", "on the left side"), ("bottom", "at the bottom")])
def test_board_whose_outer_squares_are_cut_off_is_read_and_the_side_is_named(side: str, said: str) -> None:
    scene = photographed(WORDS)
    cut = 0.7 * square_side(scene.corners)
    left = round(scene.corners[:, 0].min() + cut) if side == "left" else 0
    bottom = round(scene.corners[:, 1].max() - cut) if side == "bottom" else len(scene.image)
    reading = found_at(scene.corners - (left, 0)).read(scene.image[:bottom, left:], ENGLISH)
    assert reading.board is not None
    assert any(problem.startswith(f"The board is cut off {said} of the picture.") for problem in reading.problems)


def test_board_without_a_margin_is_read_without_a_problem() -> None:
    scene = photographed(WORDS)
    (left, top), (right, bottom) = (
        np.floor(scene.corners.min(axis=0)).astype(int),
        np.ceil(scene.corners.max(axis=0)).astype(int),
    )
    reading = BoardReader().read(scene.image[top:bottom, left:right], ENGLISH)
    assert reading.board is not None
    assert reading.board.rows() == rows(WORDS) and reading.problems == ()


class UndecidedVoter(LetterNet):
    """A letter network that takes all rotations of a tile for equally probable."""

    def predict(self, cut: Image) -> TilePredictions:
        return replace(super().predict(cut), turns=np.full((len(cut), 4), np.log(0.25), np.float32))


class MisledVoter(LetterNet):
    """A letter network that takes the tiles that vote on the orientation for upside down, with certainty."""

    def predict(self, cut: Image) -> TilePredictions:
        predictions = super().predict(cut)
        are_voters = len(cut) == ClassifierConfig().first_voter_count
        return replace(predictions, turns=np.roll(predictions.turns, 2, axis=1)) if are_voters else predictions


@pytest.mark.parametrize("quarter_turns", [0, 2])
@pytest.mark.parametrize("letter_net", [UndecidedVoter, MisledVoter])
def test_board_of_wrong_or_uncertain_orientation_is_read_the_way_up_that_makes_letters_clear(
    letter_net: type[LetterNet], quarter_turns: int
) -> None:
    scene = photographed(WORDS)
    corners = np.roll(scene.corners, quarter_turns, axis=0)
    reader = BoardReader(FixedLocator(BoardLocation(corners, 1.0)), letter_net=letter_net())
    reading = reader.read(scene.image, ENGLISH)
    assert reading.board is not None and reading.corners is not None
    assert reading.board.rows() == rows(WORDS)
    assert np.allclose(reading.corners, scene.corners)
    assert [key_of(problem) for problem in reading.problems] == ["board-way-up"]
