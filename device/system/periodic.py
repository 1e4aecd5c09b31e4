"""Periodic tasks: threads that call a function repeatedly until they are closed."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

_log = logging.getLogger(__name__)


class PeriodicTask:
    """A thread named `name` that calls `work` repeatedly.

    `work` returns the seconds to wait before the next call, or None to stop. Setting the event `closing` also ends the
    thread, even while it waits. Several tasks may share one event.
    """

    def __init__(self, name: str, work: Callable[[], float | None], closing: threading.Event | None = None) -> None:
        self._work = work
        self._closing = closing or threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def close(self, timeout_s: float | None = None) -> bool:
        """Stop the thread, and wait until the current call has returned, for `timeout_s` seconds at most.

        Return False if the call has not returned; the thread then ends later, at the latest with the program.
        """
        self._closing.set()
        if self._thread is not threading.current_thread():
            self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        wait: float | None = 0.0
        while wait is not None and not self._closing.wait(wait):
            try:
                wait = self._work()
            except Exception:  # one failed call must not end the thread, because the table needs the task
                _log.exception("%s failed; it goes on", self._thread.name)
                wait = 1.0
