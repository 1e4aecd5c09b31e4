"""Who may touch the game: phones that were told the code which stands at the table.

The code is new with each start, and after many wrong tries (`web.security.rate_limit` counts them). A phone is known
again by a random name in its signed cookie, a program by the same name in a signed token; the first one that was
paired is the admin, who may unpair others.
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
"""Phones paired at a time; the one that was paired longest ago makes room, but never the admin."""


_CLIENT_ID_KEY = "phone"


class PairingCodeError(TilekeeperError):
    """Not the code; so many tries are left."""

    def __init__(self, left: int) -> None:
        super().__init__(left)
        self.tries_left = left


class PairingLockedError(TilekeeperError):
    """Too many wrong codes from this device; it must wait so long."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.minutes = max(1, round(seconds / 60))


@dataclass(frozen=True, slots=True)
class PairedClient:
    """A paired device: the name it is told apart by, what it says it is, since when (Unix time), and its rank."""

    id: str
    device: str
    since: float
    admin: bool


class Pairing:
    """The code of the table and the phones that know it. `tell` hears, in a sentence, of attempts to guess it."""

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
        """Six digits, to be shown at the table only."""
        return self._code

    @property
    def clients(self) -> tuple[PairedClient, ...]:
        """The paired phones, in the order in which they were paired."""
        with self._lock:
            return tuple(self._clients.values())

    def pair(self, code: str, address: str, device: str) -> PairedClient:
        """Pair the device at this address if it knows the code. Raises `PairingCodeError`, `PairingLockedError`."""
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
        """Forget a phone; when the admin goes, the oldest of the others is admin. False: it was not paired."""
        with self._lock:
            gone = self._clients.pop(phone, None)
            if gone is not None and gone.admin and self._clients:
                oldest = next(iter(self._clients.values()))
                self._clients[oldest.id] = PairedClient(oldest.id, oldest.device, oldest.since, admin=True)
            return gone is not None

    def find_client(self, phone: str) -> PairedClient | None:
        """The phone of this name, if it is paired."""
        with self._lock:
            return self._clients.get(phone)

    def _add_client(self, device: str) -> PairedClient:
        if len(self._clients) >= MAX_PAIRED_CLIENTS:
            del self._clients[next(phone.id for phone in self._clients.values() if not phone.admin)]
        phone = PairedClient(secrets.token_urlsafe(12), device, self._wall_clock(), admin=not self._clients)
        self._clients[phone.id] = phone
        return phone


def current_client(pairing: Pairing) -> PairedClient | None:
    """The paired phone that asks now, by its cookie; None for everybody else."""
    return pairing.find_client(str(session.get(_CLIENT_ID_KEY, "")))


def remember_client(phone: PairedClient) -> None:
    """Let this visitor's cookie say from now on which phone it is."""
    session[_CLIENT_ID_KEY] = phone.id
    session.permanent = True


def _make_code() -> str:
    return f"{secrets.randbelow(1_000_000):06}"
