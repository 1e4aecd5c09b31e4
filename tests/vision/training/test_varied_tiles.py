"""Marks on blanks."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from vision.rendering.fonts import packaged_fonts
from vision.training.board_styles import random_board_style
from vision.training.tile_styles import random_tile_style
from vision.training.varied_tiles import VariedTileStyle, decorate_blank, suit_outline

MARKS = ("face", "pattern", "star", "suit", "word", "name", "sticker", "groove", "border", "drawing")
SIDE_PX = 64


def make_style(mark: str, seed: int) -> VariedTileStyle:
    rng = np.random.default_rng(seed)
    style = random_tile_style(rng, packaged_fonts(), random_board_style(rng, packaged_fonts()))
    return replace(style, blank=mark, top=(40.0, 60.0, 120.0), ink=(230.0, 230.0, 230.0), sticker=(250.0, 250.0, 250.0))


def draw_blank(mark: str, seed: int) -> np.ndarray:
    face = np.full((SIDE_PX, SIDE_PX, 3), (40, 60, 120), np.uint8)
    decorate_blank(np.random.default_rng(seed), face, make_style(mark, seed))
    return np.any(face != (40, 60, 120), axis=2)


@pytest.mark.parametrize("mark", MARKS)
def test_mark_on_a_blank_changes_its_top(mark: str) -> None:
    assert draw_blank(mark, 3).any()


def test_plain_blank_has_no_mark() -> None:
    assert not draw_blank("plain", 3).any()


@pytest.mark.parametrize("mark", MARKS)
def test_rim_of_a_marked_blank_remains_visible(mark: str) -> None:
    shares = []
    for seed in range(30):
        marked = draw_blank(mark, seed)
        rim = np.concatenate([marked[0], marked[-1], marked[:, 0], marked[:, -1]])
        shares.append(rim.mean())
    assert max(shares) < 0.8, shares
    assert np.mean(shares) < 0.1, shares


@pytest.mark.parametrize("suit", ["heart", "diamond", "club", "spade"])
def test_outline_of_a_suit_is_symmetric_and_centred(suit: str) -> None:
    x, y = (suit_outline(suit, 32.0, 20.0) / 16).T
    assert x.min() + x.max() == pytest.approx(64, abs=2)
    assert 32 - 21 <= y.min() < y.max() <= 32 + 21


def test_a_fifth_of_all_sets_have_stickers_on_their_blanks() -> None:
    rng = np.random.default_rng(1)
    board = random_board_style(rng, packaged_fonts())
    marks = Counter(random_tile_style(rng, packaged_fonts(), board).blank for _ in range(600))
    assert 80 < marks["sticker"] < 160
    assert set(marks) >= set(MARKS)
