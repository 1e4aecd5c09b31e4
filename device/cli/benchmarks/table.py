"""Measure the whole table on this machine: latency of a turn, processor load between turns, and memory.

The latency is the time from the press of a button to the score on the page. A recorded game is played on a simulated
table, whose pictures are JPEGs at 30 frames per second, as from a USB camera. Networks, session, store on disk, panel
and page are those of `tilekeeper run`. The score is read from the page's event stream over loopback. The latency is
measured in three cases: a board at rest for a second, the same board with stills that take 400 ms, and a hand that
leaves the board during the press. With --memory, many turns are played with a fake camera and reader, and the memory of
the program is measured.
"""

from __future__ import annotations

import argparse
import gc
import http.client
import multiprocessing
import re
import socket
import statistics
import tempfile
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np

from device.cameras.base import Frame, Image
from device.capture.board_camera import IDLE_CHECK_INTERVAL_S, LONG_REST_S, MIN_REST_S
from device.capture.turn_images import encode_jpeg
from device.cli.options import make_profiled_reader
from device.panel.buttons import DOUBLE_PRESS_S, END_TURN_BUTTONS
from device.session.background.work import LEARN_INTERVAL_S
from device.session.commands.games import StartGame
from device.session.commands.turns import EndTurn
from engine.board import SQUARES, Board, column_of, row_of
from engine.reading import BoardReading
from engine.state import TurnKind
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


PLOT_POINTS = 200
"""Number of points in the plot of memory over turns."""


def measure_memory(turns: int, folder: Path) -> list[float]:
    """Return the memory of the program in MB at about `PLOT_POINTS` times during `turns` turns."""
    table, game = FakeTable(), load_longest_game()
    boards = [turn.board for turn in game.turns if turn.kind is TurnKind.PLAY and turn.stands]
    megabytes = []
    with run_table(table, folder, len(game.players), table) as (session, _, _):
        for number in range(turns):
            turn = number % len(boards)
            if turn == 0:
                table.board = Board()
                start_game(session, len(game.players))
            table.board = boards[turn]
            session.submit(EndTurn()).result(TIMEOUT_S)
            if number % max(1, turns // PLOT_POINTS) == 0:
                megabytes.append(read_memory_mb())
    return megabytes


def draw_memory_plot(megabytes: list[float], turns: int, path: Path) -> None:
    """Write a chart of the memory over the turns to a picture file."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4.2))
    axes = figure.add_subplot(xlabel="turns", ylabel="MB")
    axes.plot(np.linspace(0, turns, len(megabytes)), megabytes)
    axes.set_ylim(bottom=0)
    figure.savefig(path)


IDLE_TIME_S = 5.0
SETTLE_TIME_S = LONG_REST_S + LEARN_INTERVAL_S
"""Time in seconds after which the work in the background about the last turn has been done."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    parser.add_argument("--turns", type=int, default=30, help="number of turns to time in each case (default 30)")
    parser.add_argument("--memory", type=int, metavar="TURNS", help="measure memory over this many turns instead")
    parser.add_argument("--plot", type=Path, metavar="PNG", help="file for a chart of the memory")


def run(args: argparse.Namespace) -> int:
    """Measure and print the results."""
    with tempfile.TemporaryDirectory() as made:
        if args.memory:
            megabytes = measure_memory(args.memory, Path(made))
            tenth = max(1, len(megabytes) // 10)
            early, late = statistics.mean(megabytes[tenth : 2 * tenth]), statistics.mean(megabytes[-tenth:])
            print(f"memory over {args.memory:,} turns: {early:.0f} MB in the second tenth, {late:.0f} MB in the last")
            if args.plot:
                draw_memory_plot(megabytes, args.memory, args.plot)
            return 0
        first: TableSpeed | None = None
        for number, case in enumerate(CASES):
            folder = Path(made) / str(number)
            folder.mkdir()
            speed = measure_table(args.turns, folder, case)
            first = first or speed
            print(f"button to score on the page, {case.name}, {len(speed.total_ms)} turns:", flush=True)
            aim = f" (aim p95 {case.aim_ms} ms)" if case.aim_ms else ""
            print(f"  {_format_spread(speed.total_ms)}{aim}; processor from the press: {_format_spread(speed.work_ms)}")
    if first:
        print(f"processor between turns: {first.idle_percent:.1f} % of a core (aim 3 %)")
        print(f"memory of the whole program: {first.memory_mb:.0f} MB (aim 250 MB)")
    return 0


def _format_spread(values: list[float]) -> str:
    ordered = sorted(values)
    return f"median {statistics.median(ordered):.0f} ms, p95 {ordered[int(0.95 * (len(ordered) - 1))]:.0f} ms"


@dataclass(frozen=True, slots=True)
class Case:
    """A situation in which the button is pressed.

    The board has been at rest for `rest_s` seconds; 0 means that the tiles appear at the press, while a hand leaves the
    board. Taking a still takes `still_s` seconds. `aim_ms` is the target for the 95th percentile of the latency.
    """

    name: str
    rest_s: float
    still_s: float = 0.0
    aim_ms: int | None = None


CASES = (
    Case("board at rest for a second", 1.0, aim_ms=80),
    Case("the same, a still takes 400 ms", 1.0, still_s=0.4, aim_ms=80),
    Case("a hand is leaving", 0.0),
)
HAND_POINTS = ((7.0, 9.0), (8.0, 13.5))
"""Positions of the fingertips, in squares, in the two pictures of a hand that leaves the board."""


@dataclass(frozen=True, slots=True)
class TableSpeed:
    """Times of each turn in milliseconds, from the press of the button to the event on the page.

    `total_ms` is the whole time, `work_ms` the processor time in this period.
    """

    total_ms: list[float]
    work_ms: list[float]
    idle_percent: float
    memory_mb: float


def measure_table(turns: int, folder: Path, case: Case = CASES[0]) -> TableSpeed:
    """Play `turns` plays of a recorded game, which begins again after its end, and measure the time of each turn."""
    game = load_longest_game()
    plays = [turn.board for turn in game.turns if turn.kind is TurnKind.PLAY and turn.stands][:turns]
    hands = [] if case.rest_s else list(HAND_POINTS)
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as renderer:
        (empty,) = renderer.submit(render_jpegs, [Board()], []).result()
        pictures = renderer.submit(render_jpegs, plays, hands).result()
    camera = VideoCamera(empty[0], case.still_s)
    total, work = [], []
    with run_table(camera, folder, len(game.players)) as (session, panel, page):
        for number in range(turns):
            if number and number % len(plays) == 0:
                camera.show(*empty)
                start_game(session, len(game.players))
            if number % len(plays) == 0:
                time.sleep(IDLE_CHECK_INTERVAL_S + MIN_REST_S)
            if case.rest_s:
                camera.show(*pictures[number % len(plays)])
            time.sleep(case.rest_s or DOUBLE_PRESS_S)
            if not case.rest_s:
                camera.show(*pictures[number % len(plays)])
            taken_ms, used_ms = _press_button(session, panel, page)
            total.append(taken_ms)
            work.append(used_ms)
        time.sleep(SETTLE_TIME_S)
        began, used = time.monotonic(), time.process_time()
        time.sleep(IDLE_TIME_S)
        idle = (time.process_time() - used) / (time.monotonic() - began)
        return TableSpeed(total, work, 100 * idle, read_memory_mb())


def _press_button(session: TableSession, panel: Panel, page: PageClient) -> tuple[float, float]:
    """Press the button of the player to move; return the ms until the score is on the page, and the CPU time in ms."""
    player, before = session.state.turn_of or 0, session.state.events
    page.forget_events()
    used, pressed = time.process_time(), time.monotonic()
    panel.handle_edge(END_TURN_BUTTONS[player], True)
    seen = page.wait_for_events(before + 1)
    used = time.process_time() - used
    panel.handle_edge(END_TURN_BUTTONS[player], False)
    return 1000 * (seen - pressed), 1000 * used
