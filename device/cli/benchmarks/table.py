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
import multiprocessing
import statistics
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from device.capture.camera_monitor import IDLE_CHECK_INTERVAL_S, LONG_REST_S, MIN_REST_S
from device.cli.benchmarks.fixture import (
    TIMEOUT_S,
    FakeTable,
    PageClient,
    VideoCamera,
    load_longest_game,
    read_memory_mb,
    render_jpegs,
    run_table,
    start_game,
)
from device.panel.buttons import DOUBLE_PRESS_S, END_TURN_BUTTONS
from device.session.background.work import LEARN_INTERVAL_S
from device.session.commands.turns import EndTurn
from engine.board import Board
from engine.state import TurnKind

if TYPE_CHECKING:
    from device.panel.panel import Panel
    from device.session.table_session import TableSession

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
