"""Authorisation: devices paired with the six-digit code that is shown at the table.

The code is new at each start, and after many wrong codes (counted by `web.security.rate_limit`). A phone is recognised
by a random id in its signed cookie, a program by one in a signed token. The first paired device is the admin, which may
unpair others.
"""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from flask import session

from device.session.messages import get_text
from engine.errors import TilekeeperError
from web.security.rate_limit import PairingRateLimiter

MAX_PAIRED_CLIENTS = 64
"""Maximum number of paired devices; the one paired first, except the admin, makes room for a new one."""


_CLIENT_ID_KEY = "phone"


class PairingCodeError(TilekeeperError):
    """A wrong code; `tries_left` counts the remaining tries."""

    def __init__(self, left: int) -> None:
        super().__init__(left)
        self.tries_left = left


class PairingLockedError(TilekeeperError):
    """Too many wrong codes; the device must wait for `minutes`."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.minutes = max(1, round(seconds / 60))


@dataclass(frozen=True, slots=True)
class PairedClient:
    """A paired device: its id, its description (`iPhone`), when it was paired (Unix time), and its rank."""

    id: str
    device: str
    since: float
    admin: bool


class Pairing:
    """The pairing code and the paired devices. `tell` is called with a sentence about attempts to guess the code."""

    def __init__(
        self,
        tell: Callable[[str], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._notify = tell or (lambda _: None)
        self._clock = clock
        self._wall_clock = now
        self._lock = threading.Lock()
        self._code = _make_code()
        self._clients: dict[str, PairedClient] = {}
        self._rate_limiter = PairingRateLimiter()

    @property
    def code(self) -> str:
        """The six-digit code; show it at the table only."""
        return self._code

    @property
    def clients(self) -> tuple[PairedClient, ...]:
        """The paired devices in the order of pairing."""
        with self._lock:
            return tuple(self._clients.values())

    def pair(self, code: str, address: str, device: str) -> PairedClient:
        """Pair the device at this address if the code is correct. Raises `PairingCodeError`, `PairingLockedError`."""
        with self._lock:
            now = self._clock()
            if (seconds := self._rate_limiter.wait_time(address, now)) > 0:
                raise PairingLockedError(seconds)
            if hmac.compare_digest("".join(code.split()).encode(), self._code.encode()):
                self._rate_limiter.record_success(address)
                return self._add_client(device)
            paused = self._rate_limiter.record_failure(address, now)
            if paused:
                self._code = _make_code()
            left = self._rate_limiter.tries_left(address)
            waits = self._rate_limiter.wait_time(address, now)
        if paused:
            self._notify(get_text("pairing-rests", str(PairingLockedError(waits).minutes)))
        elif not left:
            self._notify(get_text("pairing-locked"))
        raise PairingCodeError(left)

    def unpair(self, phone: str) -> bool:
        """Unpair a device and return True, or False if it was not paired.

        If it was the admin, the device that was paired next becomes admin.
        """
        with self._lock:
            removed = self._clients.pop(phone, None)
            if removed is not None and removed.admin and self._clients:
                oldest = next(iter(self._clients.values()))
                self._clients[oldest.id] = PairedClient(oldest.id, oldest.device, oldest.since, admin=True)
            return removed is not None

    def find_client(self, phone: str) -> PairedClient | None:
        """Return the paired device with this id, or None."""
        with self._lock:
            return self._clients.get(phone)

    def _add_client(self, device: str) -> PairedClient:
        if len(self._clients) >= MAX_PAIRED_CLIENTS:
            del self._clients[next(phone.id for phone in self._clients.values() if not phone.admin)]
        phone = PairedClient(secrets.token_urlsafe(12), device, self._wall_clock(), admin=not self._clients)
        self._clients[phone.id] = phone
        return phone


def current_client(pairing: Pairing) -> PairedClient | None:
    """Return the paired device that made the current request, according to its cookie, or None."""
    return pairing.find_client(str(session.get(_CLIENT_ID_KEY, "")))


def remember_client(phone: PairedClient) -> None:
    """Store the device's id in the session cookie."""
    session[_CLIENT_ID_KEY] = phone.id
    session.permanent = True


def _make_code() -> str:
    return f"{secrets.randbelow(1_000_000):06}"
