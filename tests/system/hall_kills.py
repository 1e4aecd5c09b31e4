"""Kill tables and hall at random while the broker is restarted again and again; afterwards all must agree.

    python -m tests.system.hall_kills 1 2 3      # seeds, one run each; needs Mosquitto

Each table is a real session with a store and the real publisher, and the hall is the program `tilekeeper hall`; all are
processes of their own, ended by SIGKILL at moments that the seed chooses. The broker is restarted ten times while the
tables play, take back and begin further games. At the end the hall has each game of each table once, to the last event,
and its page shows the totals of the newest ones.
"""

from __future__ import annotations

import json
import multiprocessing
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Container, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

from device.hall import broker_task
from device.hall.publishing.publisher import HallPublisher
from device.hall.receiving.hall_state import replay_game
from device.hall.receiving.received_games import ReceivedGame
from device.session.commands.base import TableCommand
from device.session.commands.games import EndGame, ResumeGame, StartGame, Undo
from device.session.commands.turns import ExchangeTiles
from device.session.messages import CommandRefusedError
from device.session.snapshot import Phase, TableSnapshot
from device.session.table_session import TableSession
from device.settings import HallSettings
from device.storage.store import GameStore, StoredEvent
from tests.support.broker import Broker
from tests.support.ports import find_free_port
from tests.support.text_table import STARTED, WORDS, TextTable

TABLES = 3
RESTARTS = 10
PLAY_S = (0.2, 1.5)
"""Shortest and longest time, in seconds, between two restarts of the broker."""
DOWN_S = (0.0, 1.0)
THINKING_S = (0.01, 0.15)
AGREE_S = 120.0
"""Time, in seconds, in which all must agree after the last kill."""
COMMANDS: tuple[tuple[TableCommand, int], ...] = (
    (ExchangeTiles(1), 12),
    (Undo(), 3),
    (EndGame(), 1),
    (StartGame(STARTED), 1),
)
"""Commands of the players, with weights; what the phase of the game does not allow is refused."""
_PROGRAM = "import sys; from device.cli import main; sys.exit(main())"


@dataclass
class Kills:
    """The numbers of kills and of games, and the differences at the end."""

    tables: int = 0
    halls: int = 0
    games: int = 0
    events: int = 0
    faults: list[str] = field(default_factory=list)


def play_table(path: Path, settings: HallSettings, seed: int, end: Path) -> None:
    """Play at one table until the file `end` exists, and publish until the process is killed."""
    broker_task.RECONNECT_DELAYS_S = (0.05, 0.2)
    rng, board = random.Random(seed), TextTable()
    with GameStore(path) as store, TableSession(board, board, store, WORDS) as session:
        with suppress(CommandRefusedError):  # there is no game, or it has ended
            session.submit(ResumeGame()).result()
        with HallPublisher(session, store, settings, print):
            while True:
                time.sleep(rng.uniform(*THINKING_S))
                commands, weights = zip(*COMMANDS, strict=True)
                if not end.exists():
                    with suppress(CommandRefusedError):
                        session.submit(rng.choices(commands, weights)[0]).result()


class KilledHall:
    """Broker, hall and tables of one run in `folder`."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder = folder
        self._rng = random.Random(seed)
        self._end = folder / "end"
        self._broker = Broker(folder)
        self._port = find_free_port()
        self._hall: subprocess.Popen[bytes] | None = None
        self._tables: dict[str, multiprocessing.process.BaseProcess] = {}
        self.kills = Kills()

    def run(self) -> Kills:
        """Play, kill and restart, and return what was found."""
        with ExitStack() as stack:
            stack.callback(self._broker.stop)
            self._broker.start()
            stack.callback(self._end_all)
            self._start_hall()
            self._wait_for_hall()
            for i in range(TABLES):
                self._start_table(f"T{i}")
            self._wait_for_games()
            for _ in range(RESTARTS):
                self._disturb()
            self._end.touch()
            deadline = time.monotonic() + AGREE_S
            while (faults := self._find_faults()) and time.monotonic() < deadline:
                time.sleep(0.5)
            self.kills.faults = faults
        return self.kills

    def _disturb(self) -> None:
        """Restart the broker once, and kill none, some or all of the others before, while or after it is down."""
        rng = self._rng
        time.sleep(rng.uniform(*PLAY_S))
        victims = [name for name in ("hall", *self._tables) if rng.random() < 0.3]
        moments = {name: rng.choice(("before", "down", "after")) for name in victims}
        for moment in ("before", "down", "after"):
            if moment == "down":
                self._broker.stop()
            for name in victims:
                if moments[name] == moment:
                    self._kill(name)
            time.sleep(rng.uniform(*DOWN_S))
            if moment == "down":
                self._broker.start()

    def _kill(self, name: str) -> None:
        """Kill the hall or a table, and start it again."""
        if name == "hall":
            assert self._hall is not None
            self._hall.kill()
            self._hall.wait()
            self.kills.halls += 1
            self._start_hall()
            return
        self._tables[name].kill()
        self._tables[name].join()
        self.kills.tables += 1
        self._start_table(name)

    def _start_hall(self) -> None:
        command = [sys.executable, "-c", _PROGRAM, "hall", "--broker", "127.0.0.1", "--host", "127.0.0.1"]
        command += ["--broker-port", str(self._broker.port), "--data", str(self._folder), "--port", str(self._port)]
        settings = self._broker.settings()
        command += ["--user", settings.user, "--password-file", str(settings.password_file)]
        self._hall = subprocess.Popen(command, stdout=subprocess.DEVNULL)

    def _start_table(self, name: str) -> None:
        arguments = (self._store(name), self._broker.settings(table=name), self._rng.randrange(10**6), self._end)
        process = multiprocessing.get_context("spawn").Process(target=play_table, args=arguments)
        process.start()
        self._tables[name] = process

    def _store(self, name: str) -> Path:
        return self._folder / f"{name}.db"

    def _wait_for_hall(self) -> None:
        """Wait until the broker keeps messages for the hall: it knows it after the first connection."""
        deadline = time.monotonic() + AGREE_S
        while time.monotonic() < deadline:
            with suppress(OSError):
                if b"tables" in self._read_page("/") and b"reached" not in self._read_page("/"):
                    return
            time.sleep(0.1)
        raise TimeoutError("the hall does not reach the broker")

    def _wait_for_games(self) -> None:
        """Wait until each table plays: on a busy machine, the kills would otherwise find nothing to lose."""
        deadline = time.monotonic() + AGREE_S
        while {game.table for game, _ in read_games(self._folder / "hall.db")} != set(self._tables):
            if time.monotonic() > deadline:
                raise TimeoutError("not all tables begin a game")
            time.sleep(0.1)

    def _read_page(self, path: str) -> bytes:
        with urllib.request.urlopen(f"http://127.0.0.1:{self._port}{path}", timeout=20) as answer:
            return bytes(answer.read())

    def _find_faults(self) -> list[str]:
        """Return where hall and tables differ; empty if they agree."""
        faults: list[str] = []
        self.kills.games = self.kills.events = 0
        received = read_games(self._folder / "hall.db")
        for name in self._tables:
            if self._store(name).exists():
                faults += self._compare_table(name, [(game, log) for game, log in received if game.table == name])
        return faults

    def _compare_table(self, name: str, received: Sequence[tuple[ReceivedGame, list[StoredEvent]]]) -> list[str]:
        faults = []
        with GameStore(self._store(name), is_owner=False) as store:
            games = {game.id: list(store.read_events(game.id)) for game in store.list_games()}
        starts = {log[0].time for log in games.values()}
        there = [(one, log) for one, log in received if one.number in games or not is_dropped(one, log, starts)]
        if sorted(game.number for game, _ in there) != sorted(games):
            faults.append(f"{name}: games {sorted(games)}, in the hall {sorted(game.number for game, _ in there)}")
        for game, events in there:
            self.kills.games, self.kills.events = self.kills.games + 1, self.kills.events + len(events)
            if events != games.get(game.number):
                faults.append(f"{name}: game {game.number} has {len(games.get(game.number, ()))} events, {len(events)}")
        newest = max(games, default=0)
        if newest and not faults:
            faults += self._compare_page(
                name, replay_game(ReceivedGame(1, name, newest, 0.0, ""), games[newest]).snapshot
            )
        return faults

    def _compare_page(self, name: str, expected: TableSnapshot) -> list[str]:
        try:
            shown = json.loads(self._read_page(f"/tables/{name}/state.json"))
        except OSError as error:
            return [f"{name}: no page: {error}"]
        totals = [(player["name"], player["total"]) for player in shown["players"]]
        wanted = [(player.name, player.total) for player in expected.players]
        if totals == wanted and len(shown["turns"]) == len(expected.turns):
            return []
        return [f"{name}: the page shows {totals} after {len(shown['turns'])} turns, not {wanted}"]

    def _end_all(self) -> None:
        for process in self._tables.values():
            process.kill()
            process.join()
        if self._hall:
            self._hall.kill()
            self._hall.wait()


def read_games(path: Path) -> list[tuple[ReceivedGame, list[StoredEvent]]]:
    """Return the games in the file of a hall that runs, with their events."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        sql = "SELECT id, place, number, started, store, events FROM game ORDER BY id"
        return [
            (ReceivedGame(*game), [StoredEvent(n, at, body) for n, (at, body) in enumerate(json.loads(events))])
            for *game, events in db.execute(sql)
        ]


def is_dropped(game: ReceivedGame, log: Sequence[StoredEvent], starts: Container[float]) -> bool:
    """Return True if a game may be one that its table dropped: when it has no turns and the next game begins.

    What was taken back last may not have been sent. `starts` are the times at which the games of the table began.
    """
    snapshot = replay_game(game, log).snapshot
    return log[0].time not in starts and (snapshot.phase is not Phase.ENDED or not snapshot.turns)


def run_seed(seed: int) -> Kills:
    """Return what was found with this seed."""
    with tempfile.TemporaryDirectory() as folder:
        return KilledHall(Path(folder), seed).run()


if __name__ == "__main__":
    outcomes = {seed: run_seed(int(seed)) for seed in sys.argv[1:]}
    for seed, kills in outcomes.items():
        print(f"seed {seed}: {kills}")
    sys.exit(any(kills.faults for kills in outcomes.values()))
