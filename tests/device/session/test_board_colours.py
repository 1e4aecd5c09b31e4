"""The colours of the table's own board, seen once in each game."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from device.session.commands.games import StartGame
from device.session.table_session import TableSession
from device.storage.store import GameStore
from tests.support.text_table import FARM, HORN, STARTED, WORDS, TextTable, play
from tests.support.waiting import PATIENCE_S
from vision.geometry import Image
from vision.recognition.reader import PhotoReading
from vision.recognition.views import BoardViews


class ColouredTable(TextTable):
    """A board of one colour (BGR) on all squares."""

    colour = (40, 30, 200)

    def read(self, image: Image, tiles: Collection[str], **place: object) -> PhotoReading:
        views = BoardViews(np.full((272, 272, 3), self.colour, np.uint8), np.zeros((448, 448), np.uint8))
        return replace(super().read(image, tiles, **place), views=views)


@contextmanager
def opened(table: TextTable) -> Iterator[TableSession]:
    with GameStore(":memory:") as store, TableSession(table, table, store, WORDS) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        yield session


def test_colours_are_those_of_the_first_picture_of_a_game() -> None:
    table = ColouredTable()
    with opened(table) as session:
        assert session.state.board_colours == ()
        first = play(session, table, HORN).board_colours
        assert [premium for premium, _ in first] == ["2L", "2W", "3L", "3W"]
        table.colour = (200, 30, 40)
        assert play(session, table, HORN, FARM).board_colours == first
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        assert session.state.board_colours == first, "until the board of this game is seen"
        assert play(session, table, HORN).board_colours != first


def test_picture_without_views_has_no_colours() -> None:
    table = TextTable()
    with opened(table) as session:
        assert play(session, table, HORN).board_colours == ()
