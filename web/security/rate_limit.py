"""Rate limit for guesses of the pairing code.

Each device has a few tries and then must wait. All devices together have some more; then no device can pair for a
while, one minute at first and twice as long each further time. So the million codes cannot be tried in an evening from
any number of addresses. The memory used is bounded.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from web.security.addresses import make_client_key

MAX_TRIES_PER_CLIENT = 5
"""Wrong codes in succession after which a device must wait."""
LOCKOUT_S = 600.0
MAX_TRIES_ALL_CLIENTS = 30
"""Wrong codes of all devices together after which all must wait."""
FIRST_PAUSE_S = 60.0
MAX_PAUSE_S = 3600.0
MAX_TRACKED_CLIENTS = 256
"""Number of devices whose tries are counted; the one that was inactive longest is dropped first."""


@dataclass(frozen=True, slots=True)
class _Failures:
    """Number of wrong codes in succession, and the time of the last one."""

    count: int
    last_at: float


class PairingRateLimiter:
    """Counter of wrong codes by address. Times are seconds of the caller's clock; the caller provides the locking."""

    def __init__(self) -> None:
        self._failures: OrderedDict[str, _Failures] = OrderedDict()
        self._total_failures = 0
        self._pause_count = 0
        self._paused_until = float("-inf")

    def __len__(self) -> int:
        return len(self._failures)

    def wait_time(self, address: str, now: float) -> float:
        """Return the seconds that this address must wait before its next try; 0.0 or less if it need not wait."""
        count = self._failures.get(make_client_key(address))
        alone = count.last_at + LOCKOUT_S - now if count and count.count >= MAX_TRIES_PER_CLIENT else 0.0
        return max(alone, self._paused_until - now)

    def tries_left(self, address: str) -> int:
        """Return the number of tries that this address has left."""
        count = self._failures.get(make_client_key(address))
        return MAX_TRIES_PER_CLIENT - count.count if count else MAX_TRIES_PER_CLIENT

    def record_failure(self, address: str, now: float) -> float:
        """Count a wrong code; return the seconds that all devices must wait from now on, 0.0 if they need not."""
        device = make_client_key(address)
        before = self._failures.pop(device, None)
        so_far = (
            before.count if before and before.count < MAX_TRIES_PER_CLIENT else 0
        )  # after the lockout the count starts again
        self._failures[device] = _Failures(so_far + 1, now)
        while len(self._failures) > MAX_TRACKED_CLIENTS:
            self._failures.popitem(last=False)
        self._total_failures += 1
        if self._total_failures < MAX_TRIES_ALL_CLIENTS:
            return 0.0
        self._total_failures = 0
        pause = min(FIRST_PAUSE_S * 2.0**self._pause_count, MAX_PAUSE_S)
        self._paused_until = now + pause
        self._pause_count = min(self._pause_count + 1, 16)
        return pause

    def record_success(self, address: str) -> None:
        """Forget the wrong codes of this address after a correct one."""
        self._failures.pop(make_client_key(address), None)
