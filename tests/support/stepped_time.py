"""Time that a test moves step by step; the threads of a session do their work between two steps."""

from __future__ import annotations

import threading
from concurrent.futures import wait

from device.session.table_session import TableSession
from tests.support.waiting import PATIENCE_S

STEP_S = 0.1
TASK_NAMES = frozenset({"watch", "clock", "saving", "learning", "auto"})
"""Names of the periodic tasks of a session."""


class SteppedTime(threading.Event):
    """A clock that stands still, and the event `closing` of a session, whose waits follow this clock."""

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0
        self._changed = threading.Condition()
        self._due: dict[threading.Thread, float] = {}

    def clock(self) -> float:
        """Return the seconds of this clock."""
        return self._now

    def set(self) -> None:
        super().set()
        with self._changed:
            self._changed.notify_all()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the clock has moved by `timeout` seconds, or until the event is set."""
        thread = threading.current_thread()
        with self._changed:
            due = self._due[thread] = float("inf") if timeout is None else self._now + timeout
            self._changed.notify_all()
            self._changed.wait_for(lambda: self.is_set() or self._now >= due)
            del self._due[thread]
        return self.is_set()

    def move_to(self, now: float) -> None:
        """Move the clock, and wait until all periodic tasks have done what was due."""
        with self._changed:
            self._now = now
            self._changed.notify_all()
            assert self._changed.wait_for(self._is_idle, PATIENCE_S), "a task is stuck"

    def _is_idle(self) -> bool:
        tasks = (thread for thread in threading.enumerate() if thread.name in TASK_NAMES)
        return all(self._due.get(task, self._now) > self._now for task in tasks)


def wait_for_readings(session: TableSession) -> None:
    """Wait until the board has been read in advance, and the session's thread has done its tasks."""
    if (advance := session._advance_reader._future) is not None:
        wait([advance], PATIENCE_S)
    session.ping().result(PATIENCE_S)


def pass_time(time: SteppedTime, session: TableSession, seconds: float) -> None:
    """Let the threads of a session work for some seconds of the clock."""
    end = time.clock() + seconds
    while time.clock() < end:
        time.move_to(min(end, time.clock() + STEP_S))
        wait_for_readings(session)
