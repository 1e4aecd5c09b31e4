"""Back-off: increasing delays between the attempts of an operation that fails."""

from __future__ import annotations

from collections.abc import Sequence


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
        if not delays_s:
            raise ValueError("a back-off needs one delay or more")
        self._delays_s = tuple(delays_s)
        self._failure_count = 0

    def __repr__(self) -> str:
        return f"<Backoff: {self._failure_count} failures>"

    def record_failure(self) -> float:
        """Count a failure; return the seconds to wait before the next attempt."""
        delay_s = self._delays_s[min(self._failure_count, len(self._delays_s) - 1)]
        self._failure_count += 1
        return delay_s

    def reset(self) -> None:
        """Reset the count of failures after a success."""
        self._failure_count = 0
