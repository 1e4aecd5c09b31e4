"""Ten simulated tables that publish to a broker on this machine, for `tilekeeper hall --demo`."""

from __future__ import annotations

import random
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from device.demo.scripted_table import ScriptedTable
from device.hall.publishing.directed_table import DirectedTable
from device.hall.publishing.publisher import HallPublisher
from device.session.snapshot import Phase
from device.settings import HallSettings
from device.storage.store import GameStore
from device.system.periodic import PeriodicTask
from engine.errors import TilekeeperError

TABLE_COUNT = 10
TURN_S = (3.0, 12.0)
"""Shortest and longest time of a turn, in seconds."""
GAME_PAUSE_S = 30.0
START_WAIT_S = 120.0
"""Longest wait, in seconds, for the director to start the round; after it, a new game begins anyway."""
MAX_SKIPPED_EVENTS = 25
"""Maximum number of events that are skipped in a table's first game, so that the tables are not all at the beginning of
a game."""
MAX_WAIT_S = 1.0
START_TIMEOUT_S = 5.0


class NoBrokerError(TilekeeperError):
    """Error for a broker that cannot run, because Mosquitto is not installed or does not start."""


@contextmanager
def open_broker() -> Iterator[HallSettings]:
    """Run Mosquitto on a free port of this machine; yield the settings of a client. Raises `NoBrokerError`."""
    program = shutil.which("mosquitto", path="/usr/local/sbin:/usr/sbin:/usr/local/bin:/usr/bin:/opt/homebrew/sbin")
    if program is None:
        raise NoBrokerError("the demo needs the broker Mosquitto: sudo apt install mosquitto")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "mosquitto.conf"
        file.write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\n", encoding="utf-8")
        broker = subprocess.Popen([program, "-c", file], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            due = time.monotonic() + START_TIMEOUT_S
            while not _is_open(port):
                if broker.poll() is not None or time.monotonic() > due:
                    raise NoBrokerError("Mosquitto does not start: mosquitto -v shows why")
                time.sleep(0.05)
            yield HallSettings("127.0.0.1", port)
        finally:
            broker.terminate()
            broker.wait()


def _is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class DemoHall:
    """Ten tables, all on one thread named `demo-hall`. Each table plays recorded games, one after the other.

    The tables accept the first hall that offers its key. The director's pairing gives the players of a table's next
    game, which waits up to `START_WAIT_S` seconds for the start of the round.
    """

    def __init__(self, broker: HallSettings, count: int = TABLE_COUNT) -> None:
        self._stack = ExitStack()
        self._random = random.Random(1)
        self._tables: list[tuple[float, ScriptedTable, DirectedTable]] = []
        for number in range(1, count + 1):
            store = self._stack.enter_context(GameStore(":memory:"))
            table = ScriptedTable(store, number)
            settings = HallSettings(broker.host, broker.port, table=f"Table {number}")
            directed = DirectedTable(settings.table, store, table.submit, print)
            self._stack.enter_context(HallPublisher(table, store, settings, print, directed))
            self._tables.append((time.monotonic(), table, directed))
        self._task = PeriodicTask("demo-hall", self._play, threading.Event())

    def __enter__(self) -> DemoHall:
        return self

    def __exit__(self, *_: object) -> None:
        self._task.close()
        self._stack.close()

    def _play(self) -> float:
        """Play the events that are due; return the seconds until the next one."""
        now = time.monotonic()
        for i, (due, table, directed) in enumerate(self._tables):
            if directed.offered_key and not directed.direction.key:
                directed.accept(directed.offered_key)
            if due <= now:
                if not table.state.game:
                    table.begin_game(self._random.randrange(MAX_SKIPPED_EVENTS))
                elif not table.play_next():
                    table.begin_game(players=directed.pairing, is_paused=directed.must_wait(directed.pairing))
                pauses = {Phase.ENDED: GAME_PAUSE_S, Phase.PAUSED: START_WAIT_S}
                self._tables[i] = now + pauses.get(table.state.phase, self._random.uniform(*TURN_S)), table, directed
        return min(MAX_WAIT_S, max(0.05, min(due for due, _, _ in self._tables) - time.monotonic()))
