"""Time that runs faster, for tests of threads that wait: a clock, and an event and a queue that follow it."""

from __future__ import annotations

import queue
import threading
import time
from typing import Any

SPEED = 10.0
"""Seconds of the fast clock in one real second."""


def fast_clock() -> float:
    """Return the seconds of the fast clock."""
    return time.monotonic() * SPEED


def sleep_fast(seconds: float) -> None:
    """Sleep for some seconds of the fast clock."""
    time.sleep(seconds / SPEED)


class FastEvent(threading.Event):
    """An event whose timeouts are seconds of the fast clock."""

    def wait(self, timeout: float | None = None) -> bool:
        return super().wait(None if timeout is None else timeout / SPEED)


class FastQueue(queue.SimpleQueue[Any]):
    """A queue whose timeouts are seconds of the fast clock."""

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        return super().get(block, None if timeout is None else timeout / SPEED)
