"""A table without camera and board that plays recorded games event by event, for the demo and load tests of a hall."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace

from device.demo.demo_table import load_demo_games
from device.session.clock import ClockView
from device.session.commands.base import TableCommand
from device.session.commands.games import StartClock
from device.session.messages import make_refusal
from device.session.phases import find_refusal_key
from device.session.snapshot import Listener, Phase, TableSnapshot
from device.session.snapshot_builder import build_snapshot
from device.session.threads import Listeners
from device.storage.archive import make_ledger
from device.storage.game_log import GameLog
from device.storage.store import GameStore
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
        clock = ClockView(limit, overtime, tuple(self._used), running, self._is_paused, self._turn_began)
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
