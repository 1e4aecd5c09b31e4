"""Time that a test moves step by step; the threads of a session do their work between two steps."""

from __future__ import annotations

import threading
from concurrent.futures import Future, wait
from typing import TypeVar

from device.session.table_session import TableSession
from device.session.turns.turn_capture import AdvanceCapture
from tests.support.waiting import PATIENCE_S

STEP_S = 0.1
TASK_NAMES = frozenset({"watch", "clock", "saving", "learning", "auto"})
"""Names of the periodic tasks of a session."""

Result = TypeVar("Result")


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
        self._notify()

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

    def finish(self, future: Future[Result]) -> Result:
        """Return the result of a future. The clock moves only while a thread other than a periodic task waits for it.

        So a command takes the same time on this clock on every machine.
        """
        future.add_done_callback(lambda _: self._notify())
        while not future.done():
            with self._changed:
                is_waited_for = self._changed.wait_for(lambda: future.done() or self._find_due(), PATIENCE_S)
                assert is_waited_for, "the command is stuck"
                due = self._find_due()
            if due is not None:
                self.move_to(min(due, self._now + STEP_S))
        return future.result()

    def _notify(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _is_idle(self) -> bool:
        tasks = (thread for thread in threading.enumerate() if thread.name in TASK_NAMES)
        return all(self._due.get(task, self._now) > self._now for task in tasks)

    def _find_due(self) -> float | None:
        """Return the time for which a thread waits that is no periodic task, or None."""
        dues = (due for thread, due in self._due.items() if thread.name not in TASK_NAMES and due > self._now)
        return min(dues, default=None)


def get_advance(session: TableSession) -> AdvanceCapture | None:
    """Return the turn that the session has read in advance, or None if there is none or it was discarded."""
    return session._background.advance_reader.get_newest()


def wait_for_readings(session: TableSession) -> None:
    """Wait until the board has been read in advance, and the session's thread has done its tasks."""
    if (advance := session._background.advance_reader._future) is not None:
        wait([advance], PATIENCE_S)
    session.ping().result(PATIENCE_S)


def pass_time(time: SteppedTime, session: TableSession, seconds: float) -> None:
    """Let the threads of a session work for some seconds of the clock."""
    end = time.clock() + seconds
    while time.clock() < end:
        time.move_to(min(end, time.clock() + STEP_S))
        wait_for_readings(session)
