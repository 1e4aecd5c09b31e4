"""Tiles that look like premium squares: the colour of the other tiles shows what they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.board import CENTRE
from engine.tiles import load_tile_set
from vision.geometry import Image
from vision.recognition.colour_comparison import SQUARE_PREMIUMS, measure_log_colours
from vision.recognition.missed_tiles import doubt_tile_coloured_squares
from vision.recognition.reader import BoardReader
from vision.recognition.views import TILE_KIND, VIEW_MARGIN_SQUARES, VIEW_PX_PER_SQUARE
from vision.rendering.board_art import draw_board
from vision.rendering.camera import look_at_board
from vision.rendering.fonts import packaged_fonts
from vision.rendering.scene import Scene, SceneSetting, compose_scene
from vision.rendering.simulated_table import EVENING_LIGHT, edition_style, plain_tile_style
from vision.rendering.style import Colour
from vision.rendering.surroundings import draw_table_top
from vision.training.board_styles import PREMIUM_PRINTS

ENGLISH = load_tile_set("en")
WHITE: Colour = (240, 240, 240)
GREYS: Mapping[str, Colour] = {"T": (70, 70, 70), "D": (130, 130, 130), "t": (100, 100, 100), "d": (190, 190, 190)}
RED: Colour = (40, 40, 170)
EMPTY_P, TILE_P = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)


def spell(across: str, row: int, column: int, down: str, first_row: int, own_column: int) -> dict[tuple[int, int], str]:
    """Return the tiles of a word in a row and of one in a column, by (row, column)."""
    tiles = {(row, column + i): letter for i, letter in enumerate(across)}
    return tiles | {(first_row + i, own_column): letter for i, letter in enumerate(down)}


def photograph_grey_board(tiles: Mapping[tuple[int, int], str], seed: int) -> Scene:
    """Render red tiles with light letters on a board in greys, whose premium squares are dark with light print."""
    fonts = packaged_fonts()
    board = replace(
        edition_style("classic", fonts[2]),
        ground=WHITE,
        premium=dict(GREYS),
        line=(20, 20, 20),
        line_width=0.03,
        text=PREMIUM_PRINTS["times"],
        text_colour=WHITE,
        frame_bands=((0.4, WHITE),),
    )
    tile = replace(plain_tile_style(fonts[7]), top=RED, ink=(240, 245, 245), side=(70, 100, 40), grain=0.0)
    setting = SceneSetting(
        board_style=board,
        tile_style=tile,
        light=EVENING_LIGHT,
        camera=look_at_board((1024, 768), 1126.4, float(np.deg2rad(20)), np.pi, 0.05, 0.84, (0, -0.02)),
        art=draw_board(np.random.default_rng(seed), board, 48),
        table_texture=draw_table_top(np.random.default_rng(seed + 1), board, 9.0),
        board_thickness=0.3,
        tile_seed=seed,
    )
    return compose_scene(np.random.default_rng(seed), setting, tiles, values=ENGLISH.values)


@pytest.mark.parametrize(
    ("tiles", "seed"),
    [(spell("ATOFW", 3, 7, "EREO", 4, 7), 22), (spell("NSGWZ", 7, 7, "SASU", 8, 11), 177)],
    ids=["on-the-centre", "on-a-double-word"],
)
def test_tile_that_looks_like_a_premium_square_is_read(tiles: Mapping[tuple[int, int], str], seed: int) -> None:
    scene = photograph_grey_board(tiles, seed)
    board = BoardReader().read(scene.image, ENGLISH.letters, corners=scene.corners).board
    assert board is not None
    assert {at: board[at].symbol for at in tiles} == tiles


def draw_view(tiles: NDArray[np.bool_], colour: Colour) -> Image:
    """Draw a rectified board of flat colours: red tiles, and one square, the centre, in `colour`."""
    squares = np.array([WHITE, *GREYS.values()], np.uint8)[SQUARE_PREMIUMS]
    squares[tiles], squares[CENTRE] = RED, colour
    grid = np.kron(squares.reshape(15, 15, 3), np.ones((VIEW_PX_PER_SQUARE, VIEW_PX_PER_SQUARE, 1), np.uint8))
    edge = VIEW_MARGIN_SQUARES * VIEW_PX_PER_SQUARE
    return np.pad(grid, [(edge, edge), (edge, edge), (0, 0)])


@pytest.mark.parametrize(("colour", "is_doubted"), [(RED, True), (GREYS["d"], False), ((200, 60, 20), False)])
def test_empty_square_is_doubted_only_with_the_colour_of_the_tiles(colour: Colour, is_doubted: bool) -> None:
    tiles = np.zeros(225, np.bool_)
    tiles[[90, 91, 92, 93, 94]] = True
    kinds_p = np.where(tiles[:, None], TILE_P, EMPTY_P).astype(np.float32).reshape(15, 15, 3)
    doubted = doubt_tile_coloured_squares(kinds_p, measure_log_colours(draw_view(tiles, colour)))
    assert (doubted[7, 7, TILE_KIND] > 0.1) == is_doubted
    changed = (doubted != kinds_p).any(axis=2)
    assert changed.sum() == is_doubted and np.allclose(doubted.sum(axis=2), 1)
