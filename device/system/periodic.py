"""Periodic tasks, and increasing delays between the attempts of an operation that fails."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence

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


class Backoff:
    """Counter of consecutive failures, which determines the delay before the next attempt.

    Threads that share a `Backoff` need a lock.

    >>> backoff = Backoff((0.5, 1.0))
    >>> [backoff.record_failure() for _ in range(3)]
    [0.5, 1.0, 1.0]
    >>> backoff.reset()
    >>> backoff.record_failure()
    0.5
    """

    def __init__(self, delays_s: Sequence[float]) -> None:
        """Set the delays in seconds, one for each consecutive failure; the last one is repeated."""
        self._delays_s = tuple(delays_s)
        self._failure_count = 0

    def record_failure(self) -> float:
        """Count a failure; return the seconds to wait before the next attempt."""
        delay_s = self._delays_s[min(self._failure_count, len(self._delays_s) - 1)]
        self._failure_count += 1
        return delay_s

    def reset(self) -> None:
        """Reset the count of failures after a success."""
        self._failure_count = 0
