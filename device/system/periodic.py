"""Periodic task: a thread that repeats some work until it is closed."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

_log = logging.getLogger(__name__)


class PeriodicTask:
    """Calls `work` repeatedly on a thread named `name`; `work` returns the seconds to wait, or None to stop.

    The thread also stops when `closing` is set, which several tasks may share; all waiting is done on it.
    """

    def __init__(self, name: str, work: Callable[[], float | None], closing: threading.Event | None = None) -> None:
        self._work = work
        self._closing = closing or threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop the thread after the current call."""
        self._closing.set()
        if self._thread is not threading.current_thread():
            self._thread.join()

    def _run(self) -> None:
        wait: float | None = 0.0
        while wait is not None and not self._closing.wait(wait):
            try:
                wait = self._work()
            except Exception:  # a fault must not end what the table relies on
                _log.exception("%s failed; it goes on", self._thread.name)
                wait = 1.0
