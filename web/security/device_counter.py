"""Count things in use, such as streams or downloads, by the device that uses them."""

from __future__ import annotations

import threading
from collections import Counter

from web.security.addresses import is_share_used, is_this_machine


class DeviceCounter:
    """Counter of things in use, with a limit in all and one for each device. Thread-safe.

    A device is the key of `make_client_key`. The limit for one device does not apply to this machine, which may be a
    proxy with many clients.
    """

    def __init__(self, limit: int, limit_per_device: int) -> None:
        self._limit = limit
        self._limit_per_device = limit_per_device
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()

    @property
    def count(self) -> int:
        """Number of things in use."""
        return self._counts.total()

    def add(self, device: str) -> bool:
        """Count one more thing of a device; return False, and do not count it, if a limit is reached."""
        with self._lock:
            is_device_full = self._counts[device] >= self._limit_per_device and not is_this_machine(device)
            is_full = self.count >= self._limit or is_share_used(device, self._counts, self._limit)
            if is_device_full or is_full:
                self._counts += Counter()  # removes devices without a thing in use
                return False
            self._counts[device] += 1
            return True

    def remove(self, device: str) -> None:
        """Remove a thing that is no longer in use from the count."""
        with self._lock:
            self._counts[device] -= 1
            self._counts += Counter()
