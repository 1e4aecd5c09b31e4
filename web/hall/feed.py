"""Feed of the hall's states to its two views: without delay to the director, with a delay to all others."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import cast

from flask import current_app
from werkzeug.local import LocalProxy

from device.hall.receiving.hall_state import HallState
from device.hall.receiving.receiver import HallReceiver
from device.system.periodic import PeriodicTask
from web.hall.view import HallView
from web.security.pairing import find_current_client

TICK_S = 0.05
"""Interval between two checks of the state, in seconds. Changes within one interval are shown together."""
DELAYED_STEP_S = 1.0
"""Shortest time between two states that are kept for the delayed view, in seconds."""
MAX_DELAY_S = 1800.0


class HallFeed:
    """Feed that passes the newest state of the hall to the view `live`, and an older state to the view `delayed`.

    This is done in a thread named `hall-feed`, and for `live` also in the thread that calls `show_newest`.
    """

    def __init__(self, hall: HallReceiver, live: HallView, delayed: HallView) -> None:
        self.receiver = hall
        self._lock = threading.Lock()
        self.streams = live.streams
        self.live = live
        self.delayed = delayed
        self._live_state: HallState | None = None
        """The last state passed to `live`."""
        self._kept_states: deque[tuple[float, HallState]] = deque()
        """Times (s) and states that are not old enough for `delayed` yet, the oldest first."""
        self._newest_kept: HallState | None = None
        """The last state added to `_kept_states`; it may have been passed to `delayed` already."""
        self._task: PeriodicTask | None = None

    def start(self) -> None:
        """Start the thread."""
        self._task = PeriodicTask("hall-feed", self._run, threading.Event())

    def close(self) -> None:
        """Stop the thread, and end all streams."""
        if self._task:
            self._task.close()
        self.streams.close()

    def tick(self, now: float) -> None:
        """Pass on the states that are due at the time `now`, in seconds of a monotonic clock."""
        with self._lock:
            state, delay_s = self.receiver.state, self.receiver.delay_s
            self._show(state)
            # Keep a state for the delayed view only once in a while: the board changes more often than viewers need.
            is_step_over = not self._kept_states or not delay_s or now - self._kept_states[-1][0] >= DELAYED_STEP_S
            if state is not self._newest_kept and is_step_over:
                self._kept_states.append((now, state))
                self._newest_kept = state
            if due := self._take_due(now - delay_s):
                time_s, delayed_state = due
                self.delayed.show(delayed_state, now - time_s)

    def show_newest(self) -> None:
        """Pass the newest state to the view `live` at once. Then directors see the changes that they have just made."""
        with self._lock:
            self._show(self.receiver.state)

    def _show(self, state: HallState) -> None:
        if state is not self._live_state:
            self._live_state = state
            self.live.show(state, 0.0)

    def _take_due(self, until: float) -> tuple[float, HallState] | None:
        """Remove the kept states up to the time `until` (s); return the newest of them with its time, or None."""
        due = None
        while self._kept_states and self._kept_states[0][0] <= until:
            due = self._kept_states.popleft()
        return due

    def _run(self) -> float:
        self.tick(time.monotonic())
        return TICK_S


hall = cast(HallFeed, LocalProxy(lambda: current_app.extensions["live"]))
"""The hall that the application of the request serves."""


def choose_view() -> HallView:
    """Return the view for the client of the request: delayed, unless the client is paired."""
    return hall.live if find_current_client() else hall.delayed
