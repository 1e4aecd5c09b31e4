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
"""Shortest time between two updates of the list of tables, in seconds. Each update sends the HTML of all tables again,
and many tables are new when a hall starts."""
DELAYED_STEP_S = 1.0
"""Shortest time between two states that are kept for the delayed view, in seconds."""
MAX_DELAY_S = 1800.0

Show = Callable[[HallState, float], None]


class HallFeed:
    """Feed of states: passes the newest state to `show_live`, and a delayed one to `show_delayed`.

    `read_delay_s` returns the delay in seconds. `show_live` and `show_delayed` are called with the state and its age
    in seconds, in a thread named `hall-feed`, or in the thread that calls `show_newest`.
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
        self._lock = threading.Lock()
        self._show_live = show_live
        self._show_delayed = show_delayed
        self._live_state: HallState | None = None
        """The last state passed to `show_live`."""
        self._list_due = 0.0
        """Time (s) before which new tables are not shown."""
        self._kept_states: deque[tuple[float, HallState]] = deque()
        """Times (s) and states that are not old enough for `show_delayed` yet, the oldest first."""
        self._newest_kept: HallState | None = None
        """The last state added to `_kept_states`; it may have been passed to `show_delayed` already."""
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
        with self._lock:
            state, delay_s = self._choose_state(now), self._read_delay_s()
            self._show(state)
            is_step_over = not self._kept_states or not delay_s or now - self._kept_states[-1][0] >= DELAYED_STEP_S
            if state is not self._newest_kept and is_step_over:
                self._kept_states.append((now, state))
                self._newest_kept = state
            if due := self._take_due(now - delay_s):
                time_s, delayed_state = due
                self._show_delayed(delayed_state, now - time_s)

    def show_newest(self) -> None:
        """Pass on the newest state to `show_live` at once, so that the director sees a change of their own."""
        with self._lock:
            self._show(self._read_state())

    def _show(self, state: HallState) -> None:
        if state is not self._live_state:
            self._live_state = state
            self._show_live(state, 0.0)

    def _take_due(self, until: float) -> tuple[float, HallState] | None:
        """Remove the kept states up to the time `until` (s); return the newest of them with its time, or None."""
        due = None
        while self._kept_states and self._kept_states[0][0] <= until:
            due = self._kept_states.popleft()
        return due

    def _choose_state(self, now: float) -> HallState:
        """Return the newest state; if its new tables must wait, return the state that was shown last instead.

        New tables are shown at most once in `NEW_TABLES_STEP_S` seconds, so that several of them appear together.
        """
        newest, shown = self._read_state(), self._live_state
        if shown is None or newest.names_revision == shown.names_revision:
            return newest
        if now < self._list_due:
            return shown
        self._list_due = now + NEW_TABLES_STEP_S
        return newest

    def _run(self) -> float:
        self.tick(time.monotonic())
        return TICK_S
