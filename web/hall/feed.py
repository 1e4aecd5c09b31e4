"""Feed of the hall's states to its two views: without delay to the director, with a delay to all others."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

from device.hall.receiving.hall_state import HallState
from device.system.periodic import PeriodicTask

TICK_S = 0.05
"""Interval between two checks of the state, in seconds. Changes within one interval are shown together."""
NEW_TABLES_STEP_S = 1.0
"""Shortest time between two updates of the list of tables, in seconds. Each update sends all cards again, and many
tables are new when a hall starts."""
DELAYED_STEP_S = 1.0
"""Shortest time between two states that are kept for the delayed view, in seconds."""
MAX_DELAY_S = 1800.0

Show = Callable[[HallState, float], None]


class HallFeed:
    """Feed of states: passes the newest state to `show_live`, and a delayed one to `show_delayed`.

    `read_delay_s` returns the delay in seconds. Both functions get the state and its age in seconds. A thread named
    `hall-feed` calls them.
    """

    def __init__(
        self,
        read_state: Callable[[], HallState],
        read_delay_s: Callable[[], float],
        show_live: Show,
        show_delayed: Show,
    ) -> None:
        self._read_state = read_state
        self._read_delay_s = read_delay_s
        self._show_live = show_live
        self._show_delayed = show_delayed
        self._seen: HallState | None = None
        self._list_due = 0.0
        self._waiting: deque[tuple[float, HallState]] = deque()
        self._last_kept: HallState | None = None
        self._task: PeriodicTask | None = None

    def start(self) -> None:
        """Start the thread."""
        self._task = PeriodicTask("hall-feed", self._run, threading.Event())

    def close(self) -> None:
        """Stop the thread."""
        if self._task:
            self._task.close()

    def tick(self, now: float) -> None:
        """Pass on the states that are due at the time `now`, in seconds of a monotonic clock."""
        state, delay_s = self._choose_state(now), self._read_delay_s()
        if state is not self._seen:
            self._seen = state
            self._show_live(state, 0.0)
        is_due = not self._waiting or not delay_s or now - self._waiting[-1][0] >= DELAYED_STEP_S
        if state is not self._last_kept and is_due:
            self._waiting.append((now, state))
            self._last_kept = state
        due = None
        while self._waiting and self._waiting[0][0] <= now - delay_s:
            due = self._waiting.popleft()
        if due:
            self._show_delayed(due[1], now - due[0])

    def _choose_state(self, now: float) -> HallState:
        """Return the newest state, or the state shown before as long as new tables must wait.

        New tables are shown at most once in `NEW_TABLES_STEP_S` seconds, so that several of them appear together.
        """
        newest, seen = self._read_state(), self._seen
        if seen is None or newest.names_revision == seen.names_revision:
            return newest
        if now < self._list_due:
            return seen
        self._list_due = now + NEW_TABLES_STEP_S
        return newest

    def _run(self) -> float:
        self.tick(time.monotonic())
        return TICK_S
