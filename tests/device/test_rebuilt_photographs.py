"""Photographed games are rebuilt from their last photograph and the recorded scores."""

from __future__ import annotations

import json
from typing import Any

import pytest

from device.rebuilt_game import PaperGame, ScoreSheet, SheetTurn, build_board
from engine.board import load_layout, parse_square
from engine.play_orders import pack_squares
from engine.tiles import load_tile_set
from tests.support.local_data import PHOTOS_DIR, needs_photos
from vision.photo import load_photo
from vision.recognition.reader import BoardReader


def load_records(source: str, game: str) -> list[dict[str, Any]]:
    """Return the turns of a photographed game, in their order."""
    records = json.loads((PHOTOS_DIR / source / "manifest.json").read_text(encoding="utf-8"))
    turns = [record for record in records if record["game"] == game and record["turn"]]
    return sorted(turns, key=lambda record: record["index"])


@pytest.fixture(scope="module")
def reader() -> BoardReader:
    return BoardReader()


@needs_photos
@pytest.mark.parametrize(
    ("source", "game"),
    [("bucharest", "1"), ("bucharest", "4"), *(("scrabscrap", f"game{number}") for number in ("01", "04", "07", "12"))],
)
def test_last_photograph_and_scores_give_the_recorded_plays(reader: BoardReader, source: str, game: str) -> None:
    records = load_records(source, game)
    tiles = load_tile_set(records[-1]["language"])
    photo = load_photo(PHOTOS_DIR / source / records[-1]["photo"])
    reading = reader.read(photo.image, tiles.letters)
    assert reading.board is not None
    turns = tuple(SheetTurn(n % 2, record["turn"]["score"]) for n, record in enumerate(records))
    paper = PaperGame(ScoreSheet(("Anna", "Ben"), turns), build_board(reading.board), tiles, load_layout())
    orders = paper.find_orders()
    true = [pack_squares(parse_square(name) for name, _ in r["turn"]["tiles"]) for r in records if r["turn"]["score"]]
    for turn, play in enumerate(true):
        orders = orders.choose_play(turn, play)
    assert list(orders) == [tuple(true)]
