"""Waits of the tests: they end with the event itself, and their limit matters only on failure."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_S = 60.0
"""Longest wait in a test, in seconds: far longer than what a loaded machine needs, so that only a fault reaches it."""
_POLL_INTERVAL_S = 0.002


def until(condition: Callable[[], object]) -> float:
    """Wait until `condition()` is true; return the seconds. Raises `AssertionError` after `PATIENCE_S` seconds.

    A condition that holds only for a while may be missed: wait for its trace, or stop the clock.
    """
    begun = time.monotonic()
    while not condition():
        assert time.monotonic() - begun < PATIENCE_S, f"not so within {PATIENCE_S:.0f} s"
        time.sleep(_POLL_INTERVAL_S)
    return time.monotonic() - begun
