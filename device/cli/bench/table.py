"""The whole table on this machine: from the button to the score on the page, at rest, and over many turns.

A recorded game lies on a simulated table; its pictures come as JPEG, 30 a second, as from a USB camera. Networks,
session, store on disk, panel and page are those of `tilekeeper run`; the score is taken from the page's event stream
over loopback. The time that the board is given to come to rest is told apart. With --memory so many turns are played on
a light camera, whose reader is told what lies there, and the memory of the program is watched.
"""

from __future__ import annotations

import argparse
import http.client
import multiprocessing
import re
import statistics
import tempfile
import threading
import time
from collections.abc import Collection, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np

from device.cameras.base import Frame, Image
from device.cli.options import table_reader
from device.panel.buttons import END_TURN_BUTTONS
from device.panel.gestures import DOUBLE_S
from engine.board import Board
from engine.reading import EMPTY, SIZE, BoardReading
from engine.squares import SQUARES, column_of, row_of
from engine.turns import Kind
from vision.geometry import Floats
from vision.recognition.reader import Milliseconds, PhotoReading

if TYPE_CHECKING:
    from device.panel.panel import Panel
    from device.session.table_session import TableSession
    from engine.game import Game

HELP = "from the button to the score on the page; processor at rest; memory over many turns"

FRAMES_S = 1 / 30
PICTURE = (1280, 960)
IDLE_S = 5.0
PATIENCE_S = 60.0
SAMPLES = 200
"""Points of the memory plot."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("--turns", type=int, default=30, help="turns that are timed (default 30)")
    parser.add_argument("--memory", type=int, metavar="TURNS", help="watch memory over so many turns (10000) instead")
    parser.add_argument("--plot", type=Path, metavar="PNG", help="draw the memory over the turns")


def run(args: argparse.Namespace) -> int:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as made:
        if args.memory:
            megabytes = memory_over(args.memory, Path(made))
            tenth = max(1, len(megabytes) // 10)
            early, late = statistics.mean(megabytes[tenth : 2 * tenth]), statistics.mean(megabytes[-tenth:])
            print(f"memory over {args.memory:,} turns: {early:.0f} MB in the second tenth, {late:.0f} MB in the last")
            if args.plot:
                draw(megabytes, args.memory, args.plot)
            return 0
        speed = measure_table(args.turns, Path(made))
    print(f"button to score on the page, {len(speed.total_ms)} turns: {_spread(speed.total_ms)}")
    print(f"  of it, waiting for the board to rest: {_spread(speed.settle_ms)}")
    print(f"  without that: {_spread(speed.rest_ms)} (aim p95 250 ms)")
    print(f"  processor for it: {_spread(speed.work_ms)}")
    print(f"processor between turns: {speed.idle_percent:.1f} % of a core (aim 5 %)")
    print(f"memory of the whole program: {speed.memory_mb:.0f} MB (aim 250 MB)")
    return 0


def _spread(values: list[float]) -> str:
    ordered = sorted(values)
    return f"median {statistics.median(ordered):.0f} ms, p95 {ordered[int(0.95 * (len(ordered) - 1))]:.0f} ms"


@dataclass(frozen=True, slots=True)
class TableSpeed:
    """Milliseconds of each turn, from the edge of the button to the page's message.

    `total_ms` is all of it, `settle_ms` until the board was at rest, `work_ms` the processor's time.
    """

    total_ms: list[float]
    settle_ms: list[float]
    work_ms: list[float]
    idle_percent: float
    memory_mb: float

    @property
    def rest_ms(self) -> list[float]:
        """What the table itself takes."""
        return [total - settle for total, settle in zip(self.total_ms, self.settle_ms, strict=True)]


class TickingCamera:
    """A camera that has a new picture 30 times a second: the JPEG that it was last given."""

    live = True

    def __init__(self) -> None:
        self.jpeg = b""
        self.asked: list[float] = []
        """When stills were asked for, `time.monotonic()`: the board was at rest."""

    def still(self) -> Frame:
        """The next picture, whole."""
        self.asked.append(time.monotonic())
        return Frame(self._next(cv2.IMREAD_COLOR), time.monotonic())

    def preview(self) -> Frame:
        """The next picture at a quarter of the size."""
        return Frame(self._next(cv2.IMREAD_REDUCED_COLOR_4), time.monotonic())

    def close(self) -> None:
        """Nothing to give back."""

    def _next(self, how: int) -> Image:
        time.sleep(FRAMES_S - time.monotonic() % FRAMES_S)
        return np.asarray(cv2.imdecode(np.frombuffer(self.jpeg, np.uint8), how), np.uint8)


class LightTable:
    """A camera without a lens and a reader that is told what lies on the board."""

    live = False

    def __init__(self) -> None:
        self.board = Board()
        self._picture = np.full((480, 640, 3), 128, np.uint8)

    def still(self) -> Frame:
        """A grey picture."""
        return Frame(self._picture, time.monotonic())

    def preview(self) -> None:
        """None: nothing moves here."""

    def close(self) -> None:
        """Nothing to give back."""

    def read(self, image: Image, tiles: Collection[str], corners: Floats | None = None) -> PhotoReading:  # noqa: ARG002
        """What was laid."""
        faces = [EMPTY if (tile := self.board[square]) is None else tile.face for square in SQUARES]
        rows = ["".join(faces[at : at + SIZE]) for at in range(0, SIZE * SIZE, SIZE)]
        found = np.array([[80.0, 20.0], [560.0, 20.0], [560.0, 460.0], [80.0, 460.0]])
        return PhotoReading(BoardReading.certain(rows), found, (), Milliseconds(1, 1, 2))


def measure_table(turns: int, folder: Path) -> TableSpeed:
    """Play the plays of a recorded game and time each."""
    game = _recorded()
    plays = [turn.board for turn in game.turns if turn.kind is Kind.PLAY and turn.stands][:turns]
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as renderer:
        pictures = list(renderer.map(_picture_of, [Board(), *plays]))
    camera = TickingCamera()
    camera.jpeg = pictures[0]
    total, settle, work = [], [], []
    with _running(camera, folder, len(game.players)) as (session, panel, page):
        for picture in pictures[1:]:
            camera.jpeg = picture
            time.sleep(DOUBLE_S)
            player = session.state.turn_of or 0
            used = time.process_time()
            before, pressed = session.state.events, time.monotonic()
            panel.edge(END_TURN_BUTTONS[player], True)
            seen = page.shows(before + 1)
            panel.edge(END_TURN_BUTTONS[player], False)
            work.append(1000 * (time.process_time() - used))
            total.append(1000 * (seen - pressed))
            settle.append(1000 * (next(asked for asked in camera.asked if asked > pressed) - pressed))
            camera.asked.clear()
        began, used = time.monotonic(), time.process_time()
        time.sleep(IDLE_S)
        idle = (time.process_time() - used) / (time.monotonic() - began)
        return TableSpeed(total, settle, work, 100 * idle, _memory_mb())


def memory_over(turns: int, folder: Path) -> list[float]:
    """The memory of the program, in MB, over so many turns."""
    table, game = LightTable(), _recorded()
    boards = [turn.board for turn in game.turns if turn.kind is Kind.PLAY and turn.stands]
    megabytes = []
    with _running(table, folder, len(game.players), table) as (session, _, _):
        for number in range(turns):
            at = number % len(boards)
            if at == 0:
                table.board = Board()
                _start(session, len(game.players))
            table.board = boards[at]
            session.end_turn().result(PATIENCE_S)
            if number % max(1, turns // SAMPLES) == 0:
                megabytes.append(_memory_mb())
    return megabytes


def draw(megabytes: list[float], turns: int, path: Path) -> None:
    """Draw the memory over the turns into a PNG."""
    width, height, edge = 900, 420, 60
    picture = np.full((height, width, 3), 255, np.uint8)
    top = 50 * (int(max(megabytes)) // 50 + 1)
    across = np.linspace(edge, width - 40, len(megabytes))
    up = height - edge - np.asarray(megabytes) / top * (height - edge - 20)
    for mark in range(0, top + 1, 50):
        y = round(height - edge - mark / top * (height - edge - 20))
        cv2.line(picture, (edge, y), (width - 40, y), (220, 220, 220), 1)
        cv2.putText(picture, f"{mark} MB", (4, y + 4), cv2.FONT_HERSHEY_SIMPLEX, 0.42, (60, 60, 60), 1, cv2.LINE_AA)
    line = np.column_stack([across, up]).round().astype(np.int32)
    cv2.polylines(picture, [line], False, (150, 90, 20), 2, cv2.LINE_AA)
    for share in (0, 0.25, 0.5, 0.75, 1):
        x = round(edge + share * (width - 40 - edge))
        text = f"{round(share * turns):,}"
        cv2.putText(picture, text, (x - 24, height - 34), cv2.FONT_HERSHEY_SIMPLEX, 0.42, (60, 60, 60), 1, cv2.LINE_AA)
    cv2.putText(
        picture, "turns", (width // 2, height - 10), cv2.FONT_HERSHEY_SIMPLEX, 0.45, (60, 60, 60), 1, cv2.LINE_AA
    )
    if not cv2.imwrite(str(path), picture):
        raise OSError(f"{path} cannot be written")


class _Page:
    """A phone's event stream: when the page showed which turn."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
        self._connection.request("GET", "/live/stream", headers={"Accept": "text/event-stream"})
        self._answer = self._connection.getresponse()
        if self._answer.status != 200:
            raise RuntimeError(f"the page's stream answers {self._answer.status}")
        self._shown: dict[int, float] = {}
        """When a length of the log was shown first."""
        self._news = threading.Condition()
        self._thread = threading.Thread(target=self._follow, name="phone", daemon=True)
        self._thread.start()

    def shows(self, events: int) -> float:
        """Wait until the page shows a game of so many events; the moment that it did, `time.monotonic()`."""
        with self._news:
            if not self._news.wait_for(lambda: any(shown >= events for shown in self._shown), PATIENCE_S):
                raise RuntimeError(f"{events} events did not come to the page")
            return min(at for shown, at in self._shown.items() if shown >= events)

    def _follow(self) -> None:
        while line := self._answer.readline():
            now = time.monotonic()
            if told := re.search(rb'"events":(\d+)', line):
                with self._news:
                    self._shown.setdefault(int(told[1]), now)
                    self._news.notify_all()


@contextmanager
def _running(
    camera: TickingCamera | LightTable, folder: Path, players: int, light: LightTable | None = None
) -> Iterator[tuple[TableSession, Panel, _Page]]:
    """Session, store, panel and page, as `tilekeeper run` puts them together, with a phone that looks at the page."""
    from device.panel.panel import Orders, Panel
    from device.session.table_session import TableSession
    from device.storage.store import GameStore
    from engine.lexicon import open_lexicon
    from web import create_app
    from web.security.server import PageServer

    words = open_lexicon(None, "en")
    reader, where, knowledge = table_reader(folder)
    with (
        GameStore(folder / "games.db") as store,
        TableSession(
            camera,
            light or reader,
            store,
            words,
            where=None if light else where,
            knowledge=None if light else knowledge,
        ) as session,
    ):
        _start(session, players)
        orders = Orders(session.end_turn, session.end_game, session.challenge, session.undo)
        app = create_app(session, store=store)
        with Panel(session, orders) as panel, PageServer(app, 0, "127.0.0.1") as server:
            yield session, panel, _Page(server.port)


def _start(session: TableSession, players: int) -> None:
    from engine.events import GameStarted

    names = tuple(f"Player {number}" for number in range(1, players + 1))
    session.start_game(GameStarted(names, lexicon="en")).result(PATIENCE_S)


def _recorded() -> Game:
    from device.demo.demo_table import demo_games
    from engine.gcg import game_of

    return max((game_of(record) for record in demo_games().values()), key=lambda game: len(game.turns))


def _picture_of(board: Board) -> bytes:
    """The board on a simulated table, as a camera sends it."""
    from engine.tiles import tile_set
    from vision.rendering.simulated_table import SimulatedTable

    table = SimulatedTable(seed=5, size=PICTURE, values=tile_set("en").values)
    table.lay_tiles({(row_of(s), column_of(s)): tile.face for s in SQUARES if (tile := board[s]) is not None})
    done, data = cv2.imencode(".jpg", table.photograph().image, [cv2.IMWRITE_JPEG_QUALITY, 92])
    if not done:
        raise RuntimeError("OpenCV could not write a JPEG")
    return data.tobytes()


def _memory_mb() -> float:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    found = re.search(r"VmRSS:\s+(\d+)", status)
    return int(found[1]) / 1000 if found else float("nan")
