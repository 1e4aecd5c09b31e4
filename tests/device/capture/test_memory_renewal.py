"""The memory of the board is renewed between two turns, so that no turn has to read the whole board."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest

from device.capture.board_camera import BoardCamera, Capture
from device.session.game_controller import GameController
from device.session.turns.advance_reader import AdvanceReader
from device.session.turns.turn_capture import TurnCapture
from device.storage.store import GameStore
from engine.events import GameStarted
from engine.ledger import Ledger
from engine.reading import BoardReading
from engine.tiles import load_tile_set
from tests.support.counting_letter_net import CountingLetterNet
from tests.support.fixed_locator import FixedLocator
from tests.support.text_table import EMPTY_ROWS, TextTable
from tests.support.waiting import until
from vision.detection.location import BoardLocation
from vision.recognition.reader import BoardReader
from vision.rendering.scene import Scene
from vision.rendering.simulated_table import SimulatedTable

GERMAN = load_tile_set("de")
LEDGER = Ledger(GameStarted(("Anna", "Ben"), tile_set="de"))
QUARTZ = {(7, 5 + i): c for i, c in enumerate("QUARTZ")}


@cache
def take_pictures() -> tuple[Scene, ...]:
    """Return three pictures of a simulated table, each with noise of its own."""
    table = SimulatedTable(seed=3, tilt=12.0, turn=4.0, edition="classic", values=GERMAN.values)
    table.lay_tiles(QUARTZ)
    return tuple(table.photograph() for _ in range(3))


class Table:
    """A table whose pictures are read one after the other, and whose letter network counts the crops."""

    def __init__(self) -> None:
        self.net = CountingLetterNet()
        self.pictures = iter(take_pictures())
        self.corners = take_pictures()[0].corners
        locator = FixedLocator(BoardLocation(self.corners, 1.0))
        self.camera = BoardCamera(TextTable(), BoardReader(locator, letter_net=self.net))

    def read(self) -> Capture:
        """Read the next picture of the table, and confirm the reading."""
        frame = replace(TextTable().capture_still(), image=next(self.pictures).image)
        self.net.crop_counts.clear()
        capture = Capture(frame, self.camera.read_board(frame.image, GERMAN.letters))
        self.camera.confirm_location(capture.reading)
        return capture

    def read_until_worn(self) -> Capture:
        """Read pictures until the next one would be read completely; return the last one."""
        return [self.read(), self.read()][-1]


@pytest.fixture(autouse=True)
def _memory_is_worn_after_one_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vision.recognition.memory.MAX_RECALLS", 1)


def make_turn(last: Capture) -> TurnCapture:
    return TurnCapture(last.frame, last.reading, LEDGER)


@pytest.fixture
def table() -> Table:
    return Table()


@pytest.fixture
def reader(table: Table) -> Iterator[AdvanceReader]:
    with GameStore(":memory:") as store:
        reader = AdvanceReader(table.camera, GameController(store, None, time.monotonic))
        yield reader
        reader.close()


def test_picture_after_a_renewal_is_not_read_completely(table: Table) -> None:
    last = table.read_until_worn()
    table.camera.renew_memory(last, GERMAN.letters)
    assert sum(table.net.crop_counts) >= len(QUARTZ)
    table.read()
    assert sum(table.net.crop_counts) < len(QUARTZ)


def test_worn_memory_is_renewed_after_a_turn(table: Table, reader: AdvanceReader) -> None:
    reader.renew_memory(make_turn(table.read_until_worn()))
    until(lambda: not table.camera.tracker.has_worn_memory)


def test_memory_that_is_not_worn_is_not_renewed_after_a_turn(table: Table, reader: AdvanceReader) -> None:
    reader.renew_memory(make_turn(table.read()))
    assert not any(thread.name.startswith("ahead") for thread in threading.enumerate())


def test_turn_recorded_after_the_end_renews_no_memory(table: Table, reader: AdvanceReader) -> None:
    last = table.read_until_worn()
    reader.close()
    reader.renew_memory(make_turn(last))
    assert table.camera.tracker.has_worn_memory


def test_memory_is_kept_if_the_board_is_read_differently(table: Table) -> None:
    last = table.read_until_worn()
    other = replace(last, reading=replace(last.reading, board=BoardReading.from_rows(EMPTY_ROWS)))
    memory = table.camera.tracker.memory
    table.camera.renew_memory(other, GERMAN.letters)
    assert table.camera.tracker.memory is memory


def test_memory_is_kept_if_another_picture_was_confirmed_since(table: Table) -> None:
    last = table.read_until_worn()
    table.camera.place_corners(table.corners, last.frame.image.shape)
    table.camera.renew_memory(last, GERMAN.letters)
    assert table.camera.tracker.memory is None
