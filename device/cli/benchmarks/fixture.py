"""A whole table to measure: its cameras, the parts that `tilekeeper run` builds, and a client of its page."""

from __future__ import annotations

import gc
import http.client
import re
import socket
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np

from device.cameras.base import Frame, Image
from device.capture.turn_images import encode_jpeg
from device.cli.options import make_profiled_reader
from device.session.commands.games import StartGame
from engine.board import SQUARES, Board, column_of, row_of
from engine.reading import BoardReading
from vision.recognition.reader import PhotoReading, ReadingTimes

if TYPE_CHECKING:
    from device.panel.panel import Panel
    from device.session.table_session import TableSession
    from engine.game import Game

FRAME_INTERVAL_S = 1 / 30
PICTURE_SIZE_PX = (1280, 960)
TIMEOUT_S = 60.0
HAND_FRAME_S = 0.15
"""Seconds for which each picture with a hand is shown."""


class VideoCamera:
    """A fake camera with 30 frames per second, whose stills take `still_s` seconds longer."""

    is_live = True

    def __init__(self, jpeg: bytes, still_s: float = 0.0) -> None:
        self._still_s = still_s
        self._scenes: tuple[tuple[float, bytes], ...] = ((0.0, jpeg),)

    def show(self, *jpegs: bytes) -> None:
        """Show each picture (JPEG data) for `HAND_FRAME_S` seconds, and the last one until the next call."""
        now = time.monotonic()
        self._scenes = tuple((now + HAND_FRAME_S * number, jpeg) for number, jpeg in enumerate(jpegs))

    def capture_still(self) -> Frame:
        """Return the next frame at full size."""
        time.sleep(self._still_s)
        return self._decode_next(cv2.IMREAD_COLOR)

    def capture_preview(self) -> Frame:
        """Return the next frame in grey at half the size."""
        return self._decode_next(cv2.IMREAD_REDUCED_GRAYSCALE_2)

    def close(self) -> None:
        """Do nothing, because no device is open."""

    def _decode_next(self, how: int) -> Frame:
        time.sleep(FRAME_INTERVAL_S - time.monotonic() % FRAME_INTERVAL_S)
        now = time.monotonic()
        jpeg = next((jpeg for begin, jpeg in reversed(self._scenes) if begin <= now), self._scenes[0][1])
        return Frame(np.asarray(cv2.imdecode(np.frombuffer(jpeg, np.uint8), how), np.uint8), now)


class FakeTable:
    """A fake camera and reader; the readings show the tiles of the attribute `board`.

    Each picture has other pixels in its corner, also after a restart: the session takes equal pictures for copies.
    """

    is_live = False

    def __init__(self) -> None:
        self.board = Board()

    def capture_still(self) -> Frame:
        """Return a grey picture."""
        image = np.full((480, 640, 3), 128, np.uint8)
        image[0, :3] = np.frombuffer(time.time_ns().to_bytes(9, "big"), np.uint8).reshape(3, 3)
        return Frame(image, time.monotonic())

    def capture_preview(self) -> None:
        """Return None, because the fake camera is not live."""

    def close(self) -> None:
        """Do nothing, because no device is open."""

    def read(self, image: Image, tiles: Collection[str], **_place: object) -> PhotoReading:  # noqa: ARG002
        """Return a reading with the tiles of the attribute `board`."""
        found = np.array([[80.0, 20.0], [560.0, 20.0], [560.0, 460.0], [80.0, 460.0]])
        return PhotoReading(BoardReading.from_symbols(self.board.symbols()), found, (), ReadingTimes(1, 1, 2))


class PageClient:
    """Client of the page's event stream, like a phone. It records when the page first shows a new number of events."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
        self._connection.request("GET", "/live/stream", headers={"Accept": "text/event-stream"})
        self._socket: socket.socket = self._connection.sock
        self._response = self._connection.getresponse()
        if self._response.status != 200:
            raise RuntimeError(f"the page's stream answers {self._response.status}")
        self._first_shown: dict[int, float] = {}
        """Time (`time.monotonic()`) at which the page first showed a number of events, by this number."""
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._follow, name="phone", daemon=True)
        self._thread.start()

    def wait_for_events(self, events: int) -> float:
        """Wait until the page shows a game with at least `events` events; return the time (`time.monotonic()`)."""
        with self._changed:
            if not self._changed.wait_for(lambda: any(shown >= events for shown in self._first_shown), TIMEOUT_S):
                raise RuntimeError(f"{events} events did not come to the page")
            return min(at for shown, at in self._first_shown.items() if shown >= events)

    def forget_events(self) -> None:
        """Forget the recorded times, because the numbers of events begin again in a new game."""
        with self._changed:
            self._first_shown.clear()

    def close(self) -> None:
        """Close the stream and end the thread that reads the stream."""
        self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._response.close()
        self._connection.close()

    def _follow(self) -> None:
        with suppress(ConnectionResetError):  # the page may send a line at the moment of `close`
            while line := self._response.readline():
                now = time.monotonic()
                if match := re.search(rb'"events":(\d+)', line):
                    with self._changed:
                        self._first_shown.setdefault(int(match[1]), now)
                        self._changed.notify_all()


@contextmanager
def run_table(
    camera: VideoCamera | FakeTable, folder: Path, players: int, fake_reader: FakeTable | None = None
) -> Iterator[tuple[TableSession, Panel, PageClient]]:
    """Open session, store, panel, page and a client of the page.

    If `fake_reader` is given, it is used instead of networks and profile.
    """
    from device.panel.panel import Panel, PanelActions
    from device.session.table_session import TableSession
    from device.storage.lexicons import open_lexicon
    from device.storage.store import GameStore
    from web import create_app
    from web.security.server import PageServer

    words = open_lexicon(None, "en")
    reader, profile = make_profiled_reader(folder)
    with (
        GameStore(folder / "games.db") as store,
        TableSession(camera, fake_reader or reader, store, words, profile=None if fake_reader else profile) as session,
    ):
        start_game(session, players)
        app = create_app(session, store=store)
        with (
            Panel(session, PanelActions()) as panel,
            PageServer(app, 0, "127.0.0.1") as server,
            closing(PageClient(server.port)) as client,
        ):
            gc.freeze()  # as in `tilekeeper run`
            yield session, panel, client


def start_game(session: TableSession, players: int) -> None:
    """Start a game with this number of players."""
    from engine.events import GameStarted

    names = tuple(f"Player {number}" for number in range(1, players + 1))
    session.submit(StartGame(GameStarted(names, lexicon="en"))).result(TIMEOUT_S)


def load_longest_game() -> Game:
    """Return the game of the demo with the most turns."""
    from device.demo.demo_table import load_demo_games
    from engine.gcg import build_game

    return max((build_game(record) for record in load_demo_games().values()), key=lambda game: len(game.turns))


def render_jpegs(boards: Sequence[Board], hands: Sequence[tuple[float, float]]) -> list[list[bytes]]:
    """Return JPEG pictures of each board in turn on a simulated table: one with each hand, then one without.

    Tiles that lie on several boards keep their exact positions, as on a real table.
    """
    from engine.tiles import load_tile_set
    from vision.rendering.simulated_table import Hands, SimulatedTable

    table = SimulatedTable(seed=5, size=PICTURE_SIZE_PX, values=load_tile_set("en").values)
    views = [*((point,) for point in hands), ()]
    jpegs = []
    for board in boards:
        table.lay_tiles({(row_of(s), column_of(s)): tile.face for s in SQUARES if (tile := board[s]) is not None})
        jpegs.append([encode_jpeg(table.photograph(Hands(hand)).image, 92) for hand in views])
    return jpegs


def read_memory_mb() -> float:
    """Return the memory that this program uses, in MB."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    found = re.search(r"VmRSS:\s+(\d+)", status)
    return int(found[1]) / 1000 if found else float("nan")
