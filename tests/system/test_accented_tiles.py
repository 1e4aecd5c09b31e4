"""The measurement of accents: a drawn board is counted against its truth."""

from __future__ import annotations

import numpy as np

from calibration.evaluation.samples import Sample
from engine.reading import EMPTY
from engine.tiles import load_tile_set
from tests.system.accented_tiles import (
    AccentCounts,
    draw_accented_board,
    find_accented,
    list_accented_sets,
    measure_visible_accents,
    read_board,
    read_photograph,
)
from vision.recognition.reader import BoardReader
from vision.rendering.fonts import packaged_fonts


def test_accented_letters_are_those_with_another_accent_in_the_set() -> None:
    assert find_accented(load_tile_set("de").letters) == set("AÄOÖUÜ")
    assert not find_accented(load_tile_set("en").letters)


def test_accented_sets_have_one_set_for_each_alphabet() -> None:
    names = [tiles.name for tiles in list_accented_sets()]
    assert {"pl", "hu", "cs", "tr", "is"} <= set(names) and "de_old" not in names and "en" not in names


def test_board_is_read_and_counted() -> None:
    tiles = load_tile_set("de")
    board = draw_accented_board(np.random.default_rng(3), tiles, packaged_fonts(), 28.0)
    shown = sum(label in find_accented(tiles.letters) for row in board.scene.labels for label in row if label)
    counts = read_board(BoardReader(), board, tiles.letters, 28.0)
    assert 0 < counts.tiles <= shown and counts.wrong_accent + counts.other_letter < counts.tiles / 2


def test_photograph_is_reduced_and_its_accented_letters_are_counted() -> None:
    tiles = load_tile_set("de")
    scene = draw_accented_board(np.random.default_rng(3), tiles, packaged_fonts(), 28.0).scene
    faces = tuple(label or EMPTY for row in scene.labels for label in row)
    sample = Sample("rendered", scene.image, scene.corners, faces, tiles.letters)
    counts = read_photograph(BoardReader(), sample, 24.0)
    assert counts.tiles + counts.hidden == sum(face in find_accented(tiles.letters) for face in faces)


def test_accents_are_seen_on_clear_boards_and_disappear_on_small_ones() -> None:
    tiles = load_tile_set("de")
    board = draw_accented_board(np.random.default_rng(3), tiles, packaged_fonts(), 28.0)
    is_accented = np.isin(board.scene.labels, list(find_accented(tiles.letters)))
    clear, small = (measure_visible_accents(board, px)[is_accented] for px in (28.0, 4.0))
    assert np.median(clear) > 15 and np.median(small) < np.median(clear) / 2
    others = np.isin(board.scene.labels, list("BDFGHKLMN"))
    assert np.median(measure_visible_accents(board, 28.0)[others]) < 5


def test_row_without_wrong_accents_has_no_share() -> None:
    assert AccentCounts(100, unclear=3, hidden=2, unseen=1).describe("pl") == (
        "| pl | 100 | 0 | none | 0 | 0 | 3 | 2 | 1 |"
    )
