"""Withdrawn plays: which of their tiles the players must remove, and when they are gone."""

from __future__ import annotations

import pytest

from device.session.withdrawn_tiles import (
    WithdrawnPlay,
    WithdrawnTile,
    add_withdrawn_plays,
    find_remaining_plays,
    is_cleared,
)
from engine.events import Challenged, PlayMade, TurnCorrected
from engine.reading import BOARD_SIZE, EMPTY, BoardReading, SquareReading
from engine.tiles import load_tile_set
from tests.support.engine_table import act_ref, new_game, play, written


def read(symbols: str) -> BoardReading:
    """Return a clear reading with these symbols on its first squares."""
    return BoardReading.from_symbols(symbols.ljust(BOARD_SIZE**2, EMPTY))


def withdraw(letters: str, shown: str | None) -> WithdrawnPlay:
    """Return a withdrawn play on the first squares, which showed `shown` before; None means that they were not read."""
    reads = read(shown).squares if shown is not None else (None,) * len(letters)
    tiles = load_tile_set("en")
    return tuple(WithdrawnTile(at, tiles.parse_tile(letter), reads[at]) for at, letter in enumerate(letters))


@pytest.mark.parametrize(
    ("symbols", "expected"),
    [
        ("...", True),
        ("HAT", False),
        ("HA.", False),
        ("HAL", False),
        ("?AT", False),
        ("##.", False),
        ("HOE", True),
        ("..E", True),
    ],
)
def test_withdrawn_tiles_are_gone_if_their_squares_are_empty_or_show_other_tiles(symbols: str, expected: bool) -> None:
    assert is_cleared(withdraw("HAT", "HAT"), read(symbols)) is expected


@pytest.mark.parametrize(("symbols", "expected"), [("E", True), ("S", False), ("#", False), (".", True)])
def test_single_withdrawn_tile_is_gone_if_its_square_shows_another_letter(symbols: str, expected: bool) -> None:
    assert is_cleared(withdraw("S", "S"), read(symbols)) is expected


@pytest.mark.parametrize(("symbols", "expected"), [("Z", False), ("S", False), ("E", False), (".", True)])
def test_misread_withdrawn_tile_is_gone_only_if_its_square_is_empty(symbols: str, expected: bool) -> None:
    assert is_cleared(withdraw("S", "Z"), read(symbols)) is expected


def test_misread_withdrawn_tile_that_is_misread_again_counts_as_shown() -> None:
    assert not is_cleared(withdraw("AS", "AZ"), read("EZ"))


@pytest.mark.parametrize("shown", [None, ".", "#", "?"])
def test_withdrawn_tile_that_was_not_read_before_is_gone_only_if_its_square_is_empty(shown: str | None) -> None:
    assert not is_cleared(withdraw("S", shown), read("E"))
    assert is_cleared(withdraw("S", shown), read("."))


@pytest.mark.parametrize(("symbol", "expected"), [("Z", False), ("E", True)])
def test_withdrawn_tile_that_was_read_in_doubt_is_gone_if_its_square_shows_a_letter_beyond_this_doubt(
    symbol: str, expected: bool
) -> None:
    before = SquareReading((("S", 0.6), ("Z", 0.4)))
    withdrawn = (WithdrawnTile(0, load_tile_set("en").parse_tile("S"), before),)
    assert is_cleared(withdrawn, read(symbol)) is expected


def test_withdrawn_play_whose_tiles_are_shown_remains_beside_one_whose_tiles_are_gone() -> None:
    tiles = withdraw("HATSO", "HATSO")
    gone, shown = tiles[:3], tiles[3:]
    assert find_remaining_plays([gone, shown], read("FOESO")) == (shown,)


def test_withdrawn_plays_are_kept_apart() -> None:
    challenge = Challenged(1, upheld=True)
    before = play(new_game(), "8F HORN")
    plays = add_withdrawn_plays([withdraw("S", "S")], before, before.push(challenge), None)
    assert [[tile.tile.letter for tile in tiles] for tiles in plays] == [["S"], list("HORN")]


def test_withdrawn_tile_that_is_corrected_after_the_challenge_has_its_new_letter() -> None:
    challenge = Challenged(1, upheld=True)
    correction = TurnCorrected(act_ref(0), PlayMade(0, written(new_game(), "8F CORN")))
    before = play(new_game(), "8F HORN")
    game = before.push(challenge)
    withdrawn = add_withdrawn_plays((), before, game, None)
    (tiles,) = add_withdrawn_plays(withdrawn, game, game.push(correction), None)
    assert [tile.tile.letter for tile in tiles] == list("CORN")


def test_withdrawn_play_that_is_withdrawn_again_counts_once() -> None:
    challenge = Challenged(1, upheld=True)
    before = play(new_game(), "8F HORN")
    withdrawn = add_withdrawn_plays((), before, before.push(challenge), None)
    assert add_withdrawn_plays(withdrawn, before, before.push(challenge), None) == withdrawn
