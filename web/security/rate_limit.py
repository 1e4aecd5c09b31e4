"""How often somebody may guess the code of the table.

A device has a few tries, then it waits. All devices together have some more, then nobody can pair for a while, the
first time a minute and each time twice as long: a million codes cannot be tried in an evening, whatever addresses the
guesses come from. What is remembered is bounded.
"""

from __future__ import annotations

import ipaddress
from collections import OrderedDict
from dataclasses import dataclass

MAX_TRIES_PER_CLIENT = 5
"""Wrong codes of one device in succession, then it waits."""
LOCKOUT_S = 600.0
MAX_TRIES_ALL_CLIENTS = 30
"""Wrong codes of all devices together, then everybody waits."""
FIRST_PAUSE_S = 60.0
MAX_PAUSE_S = 3600.0
MAX_TRACKED_CLIENTS = 256
"""Devices whose tries are counted; the one that has been silent longest makes room."""


@dataclass(frozen=True, slots=True)
class _Failures:
    """Wrong codes in succession, and when the last one came."""

    count: int
    last_at: float


class PairingRateLimiter:
    """Counts wrong codes by address. Times are seconds of one clock, told by the caller; no lock of its own."""

    def __init__(self) -> None:
        self._failures: OrderedDict[str, _Failures] = OrderedDict()
        self._total_failures = 0
        self._pause_count = 0
        self._paused_until = float("-inf")

    def __len__(self) -> int:
        return len(self._failures)

    def wait_time(self, address: str, now: float) -> float:
        """How long this address must wait before it may try, in seconds; 0.0 or less: it may."""
        count = self._failures.get(_make_client_key(address))
        alone = count.last_at + LOCKOUT_S - now if count and count.count >= MAX_TRIES_PER_CLIENT else 0.0
        return max(alone, self._paused_until - now)

    def tries_left(self, address: str) -> int:
        """How many wrong codes this address has left."""
        count = self._failures.get(_make_client_key(address))
        return MAX_TRIES_PER_CLIENT - count.count if count else MAX_TRIES_PER_CLIENT

    def record_failure(self, address: str, now: float) -> bool:
        """Count a wrong code; True when all devices together have had theirs, and everybody waits from now on."""
        device = _make_client_key(address)
        before = self._failures.pop(device, None)
        so_far = before.count if before and before.count < MAX_TRIES_PER_CLIENT else 0  # who has waited begins anew
        self._failures[device] = _Failures(so_far + 1, now)
        while len(self._failures) > MAX_TRACKED_CLIENTS:
            self._failures.popitem(last=False)
        self._total_failures += 1
        if self._total_failures < MAX_TRIES_ALL_CLIENTS:
            return False
        self._total_failures = 0
        self._paused_until = now + min(FIRST_PAUSE_S * 2**self._pause_count, MAX_PAUSE_S)
        self._pause_count = min(self._pause_count + 1, 16)
        return True

    def record_success(self, address: str) -> None:
        """The code was right: the wrong ones before it are forgotten."""
        self._failures.pop(_make_client_key(address), None)


def _make_client_key(address: str) -> str:
    """What counts as one device: an address, or the 64 bits that a network gives one in IPv6 (RFC 4291, 2.5.4)."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address[:64]
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped:
        return str(found.ipv4_mapped)
    if found.is_link_local:
        return str(found)
    return str(ipaddress.ip_network((found, 64), strict=False))
