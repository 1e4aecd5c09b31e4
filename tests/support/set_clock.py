"""A clock that a test sets."""

from __future__ import annotations


class SetClock:
    """A clock that shows `now`, in seconds, until a test changes it."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now
