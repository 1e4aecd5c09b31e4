"""Rate limit for wrong pairing codes.

Each device must wait after a few wrong codes. A second limit applies to all devices together: when it is reached, no
device can pair for one minute, and this time doubles each time. So even an attacker with many addresses cannot try the
million codes in an evening. The memory for counters is limited.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from web.security.addresses import make_client_key

MAX_TRIES_PER_CLIENT = 5
"""Number of consecutive wrong codes after which a device must wait."""
LOCKOUT_S = 600.0
MAX_TRIES_ALL_CLIENTS = 30
"""Number of wrong codes from all devices together after which all devices must wait."""
FIRST_PAUSE_S = 60.0
MAX_PAUSE_S = 3600.0
MAX_TRACKED_CLIENTS = 256
"""Largest number of devices whose wrong codes are counted. At the limit, the device with the oldest wrong code is
forgotten."""


@dataclass(frozen=True, slots=True)
class _Failures:
    """Number of consecutive wrong codes, and the time of the last one."""

    count: int
    last_at: float


class PairingRateLimiter:
    """Counter of wrong codes by address. Not thread-safe. Times are seconds of the caller's clock."""

    def __init__(self) -> None:
        self._failures: OrderedDict[str, _Failures] = OrderedDict()
        self._total_failures = 0
        self._pause_count = 0
        self._paused_until = float("-inf")

    def __len__(self) -> int:
        return len(self._failures)

    def wait_time(self, address: str, now: float) -> float:
        """Return the seconds that an address must wait before the next try (0.0 or less: no wait)."""
        count = self._failures.get(make_client_key(address))
        alone = count.last_at + LOCKOUT_S - now if count and count.count >= MAX_TRIES_PER_CLIENT else 0.0
        return max(alone, self._paused_until - now)

    def count_tries_left(self, address: str) -> int:
        """Return the number of remaining tries of an address."""
        count = self._failures.get(make_client_key(address))
        return MAX_TRIES_PER_CLIENT - count.count if count else MAX_TRIES_PER_CLIENT

    def record_failure(self, address: str, now: float) -> float:
        """Count a wrong code, and return the seconds that all devices must wait.

        The result is 0.0 unless the limit for all devices together is reached.
        """
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
        """Reset the counter of an address after a correct code."""
        self._failures.pop(make_client_key(address), None)
