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

from device.session.messages import text
from web.security.rate_limit import Tries

MOST_PHONES = 64
"""Phones paired at a time; the one that was paired longest ago makes room, but never the admin."""


_COOKIE_KEY = "phone"


class WrongCode(Exception):  # noqa: N818 (named for what happened)
    """Not the code; so many tries are left."""

    def __init__(self, left: int) -> None:
        super().__init__(left)
        self.left = left


class Locked(Exception):  # noqa: N818 (named for what happened)
    """Too many wrong codes from this device; it must wait so long."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.minutes = max(1, round(seconds / 60))


@dataclass(frozen=True, slots=True)
class Phone:
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
        self._tell = tell or (lambda _: None)
        self._clock = clock
        self._now = now
        self._lock = threading.Lock()
        self._code = _new_code()
        self._phones: dict[str, Phone] = {}
        self._tries = Tries()

    @property
    def code(self) -> str:
        """Six digits, to be shown at the table only."""
        return self._code

    @property
    def phones(self) -> tuple[Phone, ...]:
        """The paired phones, in the order in which they were paired."""
        with self._lock:
            return tuple(self._phones.values())

    def pair(self, code: str, address: str, device: str) -> Phone:
        """Pair the device at this address if it knows the code. Raises `WrongCode`, `Locked`."""
        with self._lock:
            now = self._clock()
            if (seconds := self._tries.wait(address, now)) > 0:
                raise Locked(seconds)
            if hmac.compare_digest("".join(code.split()).encode(), self._code.encode()):
                self._tries.right(address)
                return self._add(device)
            paused = self._tries.wrong(address, now)
            if paused:
                self._code = _new_code()
            left = self._tries.left(address)
            waits = self._tries.wait(address, now)
        if paused:
            self._tell(text("pairing-rests", str(Locked(waits).minutes)))
        elif not left:
            self._tell(text("pairing-locked"))
        raise WrongCode(left)

    def unpair(self, phone: str) -> bool:
        """Forget a phone; when the admin goes, the oldest of the others is admin. False: it was not paired."""
        with self._lock:
            gone = self._phones.pop(phone, None)
            if gone is not None and gone.admin and self._phones:
                oldest = next(iter(self._phones.values()))
                self._phones[oldest.id] = Phone(oldest.id, oldest.device, oldest.since, admin=True)
            return gone is not None

    def find(self, phone: str) -> Phone | None:
        """The phone of this name, if it is paired."""
        with self._lock:
            return self._phones.get(phone)

    def _add(self, device: str) -> Phone:
        if len(self._phones) >= MOST_PHONES:
            del self._phones[next(phone.id for phone in self._phones.values() if not phone.admin)]
        phone = Phone(secrets.token_urlsafe(12), device, self._now(), admin=not self._phones)
        self._phones[phone.id] = phone
        return phone


def visitor(pairing: Pairing) -> Phone | None:
    """The paired phone that asks now, by its cookie; None for everybody else."""
    return pairing.find(str(session.get(_COOKIE_KEY, "")))


def greet(phone: Phone) -> None:
    """Let this visitor's cookie say from now on which phone it is."""
    session[_COOKIE_KEY] = phone.id
    session.permanent = True


def _new_code() -> str:
    return f"{secrets.randbelow(1_000_000):06}"
