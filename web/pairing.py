"""Who may touch the game: phones that were told the code which stands at the table.

The code is new with each start. A device has a few tries, then it must wait; and after many wrong tries of all devices
together there is a new code, so that guessing leads nowhere. A phone is known again by a random name in its signed
cookie; the first one that was paired is the admin, who may unpair others.
"""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from flask import session

TRIES = 5
"""Wrong codes of one device in succession, then it waits."""
LOCKED_S = 600.0
TRIES_OF_ALL = 30
"""Wrong codes of all devices together, then the code changes."""

TOLD_LOCKED = "Somebody typed the wrong code too often: pairing is locked for that device."
TOLD_RENEWED = "Many wrong codes were typed: the table has a new code."

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
        self._wrong: dict[str, tuple[int, float]] = {}
        self._wrong_of_all = 0

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
        told = ""
        try:
            with self._lock:
                tries, last = self._wrong.get(address, (0, 0.0))
                waits = last + LOCKED_S - self._clock()
                if tries >= TRIES and waits > 0:
                    raise Locked(waits)
                if hmac.compare_digest("".join(code.split()).encode(), self._code.encode()):
                    self._wrong.pop(address, None)
                    phone = Phone(secrets.token_urlsafe(12), device, self._now(), admin=not self._phones)
                    self._phones[phone.id] = phone
                    return phone
                told = self._count_wrong(address, 0 if tries >= TRIES else tries)
                raise WrongCode(TRIES - self._wrong[address][0])
        finally:
            if told:
                self._tell(told)

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

    def _count_wrong(self, address: str, tries: int) -> str:
        self._wrong[address] = (tries + 1, self._clock())
        self._wrong_of_all += 1
        if self._wrong_of_all >= TRIES_OF_ALL:
            self._wrong_of_all = 0
            self._code = _new_code()
            return TOLD_RENEWED
        return TOLD_LOCKED if tries + 1 == TRIES else ""


def visitor(pairing: Pairing) -> Phone | None:
    """The paired phone that asks now, by its cookie; None for everybody else."""
    return pairing.find(str(session.get(_COOKIE_KEY, "")))


def greet(phone: Phone) -> None:
    """Let this visitor's cookie say from now on which phone it is."""
    session[_COOKIE_KEY] = phone.id
    session.permanent = True


def _new_code() -> str:
    return f"{secrets.randbelow(1_000_000):06}"
