"""Further pictures in advance: if the play is uncertain at rest, they are read before the press."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

import pytest

from device.cameras.base import Frame, Image
from device.session.commands.turns import EndTurn
from device.session.turns.turn_capture import MAX_IMAGES, AdvanceCapture
from engine.reading import BoardReading, SquareReading
from tests.support.stepped_tables import SteppedTable, open_stepped_table
from tests.support.stepped_time import get_advance
from tests.support.text_table import HORN, RuledTable
from tests.support.waiting import PATIENCE_S, until
from vision.recognition.reader import PhotoReading

DOUBTFUL_SQUARE = 7 * 15 + 6
"""The square of the second letter of HORN."""


class DoubtfulTable(RuledTable):
    """A table on which one letter is read with a doubt in the first `doubts` pictures."""

    doubts = MAX_IMAGES
    light_after_reading = 0
    on_doubt: Callable[[], None] | None = None
    """Function to call before the first reading with a doubt is returned."""

    def read(self, image: Image, tiles: Collection[str], **place: object) -> PhotoReading:
        reading = super().read(image, tiles, **place)
        assert reading.board is not None
        squares = list(reading.board.squares)
        if squares[DOUBTFUL_SQUARE].is_tile and self.doubts > 0:
            self.doubts -= 1
            squares[DOUBTFUL_SQUARE] = SquareReading((("O", 0.55), ("Q", 0.45)))
            self.light = self.light_after_reading
            on_doubt, self.on_doubt = self.on_doubt, None
            if on_doubt:
                on_doubt()
        return replace(reading, board=BoardReading(tuple(squares)))


@pytest.fixture
def stepped() -> Iterator[SteppedTable]:
    with open_stepped_table(DoubtfulTable) as stepped:
        yield stepped


@pytest.fixture
def table(stepped: SteppedTable) -> DoubtfulTable:
    assert isinstance(stepped.table, DoubtfulTable)
    return stepped.table


def lay_and_read(stepped: SteppedTable) -> int:
    """Place HORN and wait until it has been read in advance; return the number of readings for this."""
    reads = stepped.table.reads
    stepped.lay_until_read(HORN)
    return stepped.table.reads - reads


def test_question_is_ready_at_the_press(stepped: SteppedTable, table: DoubtfulTable) -> None:
    assert lay_and_read(stepped) == MAX_IMAGES
    stills, reads = table.stills, table.reads
    assert stepped.submit(EndTurn()).question is not None
    assert (table.stills, table.reads) == (stills, reads)


def test_second_picture_that_is_certain_decides(stepped: SteppedTable, table: DoubtfulTable) -> None:
    table.doubts = 1
    assert lay_and_read(stepped) == 2
    stills, state = table.stills, stepped.submit(EndTurn())
    assert [turn.word for turn in state.turns] == ["HORN"] and state.question is None
    assert table.stills == stills


def test_certain_play_is_read_once(stepped: SteppedTable, table: DoubtfulTable) -> None:
    table.doubts = 0
    assert lay_and_read(stepped) == 1


def test_picture_of_a_scene_that_has_changed_is_not_used(stepped: SteppedTable, table: DoubtfulTable) -> None:
    table.light_after_reading = 3
    assert lay_and_read(stepped) == 1
    capture = get_advance(stepped.session)
    assert capture is not None and len(capture.captures) == 1


def test_press_waits_only_for_the_picture_that_is_being_read(stepped: SteppedTable, table: DoubtfulTable) -> None:
    reader, taken = stepped.session._background.advance_reader, list[AdvanceCapture | None]()
    press = threading.Thread(target=lambda: taken.append(reader.take()))

    def begin_press() -> None:
        press.start()
        until(lambda: reader._future is None)

    table.on_doubt = begin_press
    assert lay_and_read(stepped) == 1
    press.join(PATIENCE_S)
    assert [len(capture.captures) for capture in taken if capture is not None] == [1]


def test_camera_fault_keeps_the_first_picture(
    stepped: SteppedTable, table: DoubtfulTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    still = table.capture_still

    def fail_later() -> Frame:
        table.trouble = "unplugged" if table.doubts < MAX_IMAGES else ""
        try:
            return still()
        finally:
            table.trouble = ""

    monkeypatch.setattr(table, "capture_still", fail_later)
    assert lay_and_read(stepped) == 1
    assert get_advance(stepped.session) is not None
