"""Ten simulated tables that publish to a broker on this machine, for `tilekeeper hall --demo`."""

from __future__ import annotations

import random
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from device.demo.demo_table import load_demo_games
from device.hall.publishing.directed_table import DirectedTable
from device.hall.publishing.publisher import HallPublisher
from device.session.clock import ChessClock
from device.session.commands.base import TableCommand
from device.session.commands.games import StartClock
from device.session.messages import make_refusal
from device.session.phases import find_refusal_key
from device.session.snapshot import Listener, Phase, TableSnapshot
from device.session.snapshot_builder import build_snapshot
from device.session.threads import Listeners
from device.settings import HallSettings
from device.storage.archive import make_ledger
from device.storage.game_log import GameLog
from device.storage.store import GameStore
from device.system.periodic import PeriodicTask
from engine.errors import TilekeeperError
from engine.events import GameStarted, RecordImported
from engine.gcg import build_game
from engine.ledger import Alternative
from engine.rules import rules_preset

_NAMES = (
    "Anna", "Ben", "Cleo", "Dario", "Edda", "Finn", "Greta", "Hugo", "Ines", "Jonas", "Karla", "Luka", "Mira", "Nils",
    "Olga", "Paul", "Quinn", "Rosa", "Sami", "Tom", "Uta", "Vera", "Wim", "Xenia", "Yuri", "Zoë",
)  # fmt: skip


class ScriptedTable:
    """A table that plays recorded games in a store; like a session, it has snapshots and listeners.

    `number` chooses the games and the names of the players. `now` returns the time in seconds.
    """

    def __init__(self, store: GameStore, number: int, now: Callable[[], float] = time.monotonic) -> None:
        self.state = TableSnapshot()
        self.store = store
        self._random = random.Random(number)
        self._names = _pick_names(number)
        self._now = now
        self._listeners = Listeners[TableSnapshot]()
        self._log: GameLog | None = None
        self._moves: Sequence[Alternative] = ()
        self._turn_began = 0.0
        self._used: list[float] = []
        self._is_paused = False
        self._lock = threading.Lock()

    def add_listener(self, listener: Listener) -> None:
        """Call `listener` with each new snapshot."""
        self._listeners.add(listener)

    def remove_listener(self, listener: Listener) -> None:
        """Stop calling `listener`."""
        self._listeners.remove(listener)

    def submit(self, command: TableCommand) -> Future[TableSnapshot]:
        """Run the command `StartClock`, with which a director starts a round; refuse all other commands."""
        future = Future[TableSnapshot]()
        with self._lock:
            if isinstance(command, StartClock) and self._is_paused and set(command.players) == set(self.players):
                self._is_paused = False
                self._show()
                future.set_result(self.state)
            else:
                future.set_exception(make_refusal(find_refusal_key(self.state.phase, command.transition)))
        return future

    @property
    def players(self) -> tuple[str, ...]:
        """The names of the players."""
        return tuple(player.name for player in self.state.players)

    def begin_game(self, skipped: int = 0, players: Sequence[str] = (), *, is_paused: bool = False) -> None:
        """Begin a random recorded game; its first `skipped` events are played without waiting.

        `players` are those that the director of a hall has sent; if it is empty, the table's own names are used. If
        `is_paused` is True, the game begins with a pause, which the first event or `StartClock` ends.
        """
        with self._lock:
            self._begin_game(skipped, tuple(players), is_paused=is_paused)

    def _begin_game(self, skipped: int, players: tuple[str, ...], *, is_paused: bool) -> None:
        records = load_demo_games().values()
        fitting = [record for record in records if len(record.players) == len(players) or not players]
        record = self._random.choice(fitting or list(records))
        names = players if fitting else ()
        players = names or self._names[: len(record.players)]
        self._log, _ = GameLog.begin_game(
            self.store, GameStarted(players, rules_preset("tournament"), lexicon="en"), self._log
        )
        moves = (entry.alternatives[0] for entry in make_ledger(build_game(record)).entries)
        self._moves = [steps for steps in moves if not isinstance(steps[0], RecordImported)]
        self._used = [0.0] * len(players)
        self._is_paused = is_paused
        for _ in range(min(skipped, len(self._moves) - 1)):
            self._apply_next()
            self._used[self._log.game.to_move] += self._random.uniform(10.0, 60.0)
        self._show()

    def play_next(self) -> bool:
        """Play the next event; return False if the game is over."""
        with self._lock:
            if self._log is None or not self._moves:
                return False
            if not self._is_paused:
                self._used[self._log.game.to_move] += self._now() - self._turn_began
            self._is_paused = False
            self._apply_next()
            self._show()
            return True

    def _apply_next(self) -> None:
        assert self._log is not None
        steps, *self._moves = self._moves
        self._log.append(self._log.ledger.record([(steps,)]))

    def _show(self) -> None:
        assert self._log is not None
        game = self._log.game
        self._turn_began = self._now()
        running = None if game.is_over or self._is_paused else game.to_move
        limit, overtime = float(game.rules.clock_seconds), game.rules.overtime_points
        clock = ChessClock(limit, overtime, tuple(self._used), running, self._is_paused, self._turn_began)
        self.state = replace(
            build_snapshot(game, None),
            revision=self.state.revision + 1,
            game=self._log.number,
            events=self._log.length,
            phase=Phase.ENDED if game.is_over else Phase.PAUSED if self._is_paused else Phase.TURN,
            clock=clock,
        )
        self._listeners.notify(self.state)


def _pick_names(number: int) -> tuple[str, ...]:
    """Return three names for the table `number`; when all names are used, they are repeated with a numeral.

    >>> _pick_names(1), _pick_names(9)
    (('Dario', 'Edda', 'Finn'), ('Ben II', 'Cleo II', 'Dario II'))
    """
    rounds, first = divmod(3 * number, len(_NAMES))
    suffix = f" {'I' * (rounds + 1)}" if 0 < rounds < 3 else f" {rounds + 1}" if rounds else ""
    return tuple(f"{_NAMES[(first + i) % len(_NAMES)]}{suffix}" for i in range(3))


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
