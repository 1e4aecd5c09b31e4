"""How often somebody may guess the code of the table.

A device has a few tries, then it waits. All devices together have some more, then nobody can pair for a while, the
first time a minute and each time twice as long: a million codes cannot be tried in an evening, whatever addresses the
guesses come from. What is remembered is bounded.
"""

from __future__ import annotations

import ipaddress
from collections import OrderedDict
from dataclasses import dataclass

TRIES = 5
"""Wrong codes of one device in succession, then it waits."""
LOCKED_S = 600.0
TRIES_OF_ALL = 30
"""Wrong codes of all devices together, then everybody waits."""
PAUSE_S = 60.0
LONGEST_PAUSE_S = 3600.0
MOST_DEVICES = 256
"""Devices whose tries are counted; the one that has been silent longest makes room."""


@dataclass(frozen=True, slots=True)
class _Count:
    """Wrong codes in succession, and when the last one came."""

    wrong: int
    last: float


class Tries:
    """Counts wrong codes by address. Times are seconds of one clock, told by the caller; no lock of its own."""

    def __init__(self) -> None:
        self._devices: OrderedDict[str, _Count] = OrderedDict()
        self._wrong_of_all = 0
        self._pauses = 0
        self._paused_until = float("-inf")

    def __len__(self) -> int:
        return len(self._devices)

    def wait(self, address: str, now: float) -> float:
        """How long this address must wait before it may try, in seconds; 0.0 or less: it may."""
        count = self._devices.get(_device(address))
        alone = count.last + LOCKED_S - now if count and count.wrong >= TRIES else 0.0
        return max(alone, self._paused_until - now)

    def left(self, address: str) -> int:
        """How many wrong codes this address has left."""
        count = self._devices.get(_device(address))
        return TRIES - count.wrong if count else TRIES

    def wrong(self, address: str, now: float) -> bool:
        """Count a wrong code; True when all devices together have had theirs, and everybody waits from now on."""
        device = _device(address)
        before = self._devices.pop(device, None)
        so_far = before.wrong if before and before.wrong < TRIES else 0  # who has waited begins anew
        self._devices[device] = _Count(so_far + 1, now)
        while len(self._devices) > MOST_DEVICES:
            self._devices.popitem(last=False)
        self._wrong_of_all += 1
        if self._wrong_of_all < TRIES_OF_ALL:
            return False
        self._wrong_of_all = 0
        self._paused_until = now + min(PAUSE_S * 2**self._pauses, LONGEST_PAUSE_S)
        self._pauses = min(self._pauses + 1, 16)
        return True

    def right(self, address: str) -> None:
        """The code was right: the wrong ones before it are forgotten."""
        self._devices.pop(_device(address), None)


def _device(address: str) -> str:
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
