"""Authorisation of devices by pairing.

There are five ways to pair, and all of them require access to the table:

- the six-digit code, limited by `PairingRateLimiter`;
- the secret in the QR code, which is too long to guess and needs no rate limit;
- a link with a one-time token, which makes an owner, for the user who started the program;
- a press on the panel, which allows one device to pair;
- the table's own Wi-Fi, on which the very first phone needs no code.

A phone is identified by a random id in a signed cookie, a program by a random id in a signed token. The devices and the
signing key are stored in a file. Code and secret change at each start, after many wrong
codes, and after a device was unpaired. Owners (`PairedClient.admin`) may change the table: the first paired device, one
that opened a one-time link (of the start or of `tilekeeper owner`), and each that another owner has chosen.
"""

from __future__ import annotations

import hmac
import ipaddress
import logging
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import msgspec
from flask import current_app, request, session
from werkzeug.local import LocalProxy

from device.catalogue import get_text
from device.player_names import clean_name
from device.storage.files import may_exist, read_small_file, set_aside, write_file
from device.storage.store import MAX_TIME_S
from engine.errors import TilekeeperError, is_read_fault
from engine.limits import MAX_PAIRED_CLIENTS

FILE_NAME = "pairing.json"
"""Name of the file in the data folder. Only the program's own user may read it (mode 0600)."""
OWNER_LINK_FILE_NAME = "owner-link"
"""Name of the file in the data folder with the one-time token of `tilekeeper owner`."""
OWNER_CARD_FILE = Path("/boot/firmware/tilekeeper-owner.txt")
"""A file on the card of a table without a shell: the first device that pairs after the start becomes an owner."""
OWNER_S = 900.0
"""Time in seconds for which a one-time link, or the start with `OWNER_CARD_FILE`, makes an owner."""
KEY_BYTES = 32
_MAX_FILE_BYTES = 256 * 1024
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PairedClient:
    """A paired device: id, description (`iPhone`), time of pairing (Unix time), admin flag, and the player's name.

    `player` is empty if the device belongs to no player. It is a name and not a seat, so that the device has the right
    seat in later games, and none in games without this player.
    """

    id: str
    device: str
    since: float
    admin: bool
    player: str = ""

    def find_seat(self, players: Sequence[str]) -> int | None:
        """Return the seat of the device's player; None if the player is not among `players` (in seat order)."""
        return players.index(self.player) if self.player and self.player in players else None


class PairingData(msgspec.Struct, frozen=True):
    """Content of the file: signing key for cookies and tokens (hexadecimal), and the devices in order of pairing."""

    key: str
    clients: tuple[PairedClient, ...] = ()


def make_pairing_data() -> PairingData:
    """Return pairing data with a new signing key and without devices."""
    return PairingData(secrets.token_hex(KEY_BYTES))


def load_pairing_data(path: Path) -> tuple[PairingData, bool]:
    """Return the content of the file, and True unless the file is damaged.

    For a missing or damaged file, the result is a new signing key without devices. A damaged file is renamed to
    `*.damaged`. Raises `OSError` if the disk cannot read the file.
    """
    try:
        data = msgspec.json.decode(read_small_file(path, _MAX_FILE_BYTES), type=PairingData)
        if len(bytes.fromhex(data.key)) != KEY_BYTES or not all(0 <= c.since < MAX_TIME_S for c in data.clients):
            raise ValueError("no key, or an impossible time")
    except FileNotFoundError:
        return make_pairing_data(), True
    except (OSError, ValueError) as error:  # exceptions of msgspec are subclasses of ValueError
        if is_read_fault(error):
            raise
        _log.warning("%s is damaged (%s): all devices must be paired again", path, error)
        set_aside(path)
        return make_pairing_data(), False
    return data, True


def save_pairing_data(path: Path, data: PairingData) -> str:
    """Write the file atomically. Return the reason if writing fails, otherwise an empty string."""
    try:
        write_file(path, msgspec.json.encode(data))
    except OSError as error:
        _log.warning("%s cannot be written (%s): devices stay paired until the program ends", path, error)
        return error.strerror or str(error)
    return ""


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


def make_client_key(address: str) -> str:
    """Return the key of a device for limits per device: the IPv4 address, or the IPv6 /64 network (RFC 4291, 2.5.4).

    >>> make_client_key("2001:db8::1:2")
    '2001:db8::/64'
    """
    try:
        ip_address = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address[:64]
    if isinstance(ip_address, ipaddress.IPv4Address):
        return str(ip_address)
    if ip_address.ipv4_mapped:
        return str(ip_address.ipv4_mapped)
    if ip_address.is_link_local:
        return str(ip_address)
    return str(ipaddress.ip_network((ip_address, 64), strict=False))


@dataclass(frozen=True, slots=True)
class _Failures:
    """Number of consecutive wrong codes, and the time of the last one."""

    count: int
    last_at: float


class PairingRateLimiter:
    """Counter of wrong codes by address. Not thread-safe. Times are seconds of the caller's clock.

    Each device must wait after a few wrong codes. If all devices together reach a second limit, no device can pair for
    one minute, and the next pause is twice as long. So even an attacker with many addresses cannot try the million
    codes in an evening.
    """

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


FIRST_PAIRING_S = 600.0
"""Time after the first start, in seconds, during which the first phone on the table's own Wi-Fi needs no code."""
PAIRING_WINDOW_S = 60.0
"""Time after a press on the panel, in seconds, during which one device may pair without a code."""
HANDOVER_S = 600.0
"""Time in which a paired device may change from http to https, in seconds. Accepting the certificate takes a while."""
DOUBLE_TAP_S = 10.0
"""Time in seconds in which a second request with the same form is a double tap, and pairs no other device."""
_SECRET_BYTES = 12
"""Length of the secret in bytes. 96 bits are the most that fit in the QR code on a small display."""
_CLIENT_ID_KEY, CSRF_KEY = "phone", "csrf"
"""Keys in the session cookie."""


class PairingCodeError(TilekeeperError):
    """Error for a wrong pairing code. `tries_left` is the number of remaining tries."""

    def __init__(self, left: int) -> None:
        super().__init__(left)
        self.tries_left = left


class PairingLockedError(TilekeeperError):
    """Error for too many wrong pairing codes. The device must wait `minutes` minutes."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.minutes = max(1, round(seconds / 60))


class PairingFullError(TilekeeperError):
    """Error for a new device at the limit of paired devices, if no paired device may be replaced.

    A device may be replaced only if it was not used since the program started.
    """


class Pairing:
    """The pairing code and the paired devices.

    `notify` is called with a sentence about attempts to guess the code. `clock` returns the seconds of a monotonic
    clock, for limits of time, and `now` the Unix time, which dates the pairing of a device. `file` stores the paired
    devices; if it is None, all devices must be paired again after a restart. `is_on_hotspot` returns True if an IP
    address is in the table's own Wi-Fi. In the first minutes after the first start, the first phone in this Wi-Fi needs
    no code, because only the table shows the password of the Wi-Fi.
    """

    def __init__(
        self,
        notify: Callable[[str], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
        file: Path | None = None,
        is_on_hotspot: Callable[[str], bool] = lambda _: False,
        card_file: Path = OWNER_CARD_FILE,
    ) -> None:
        self._notify = notify or (lambda _: None)
        self._clock = clock
        self._wall_clock = now
        self._file = file
        self._problem = ""
        """The reason why the file could not be written at the last attempt; empty if it was written."""
        self._is_unread = False
        """True if the disk could not read the file. The file is then not overwritten as long as it may be readable."""
        self._lock = threading.Lock()
        self._notices: list[str] = []
        """Sentences for `notify` that are sent as soon as the lock is released (`_change`)."""
        self._rate_limiter = PairingRateLimiter()
        self._open_until = float("-inf")
        """Time (s, `clock`) until which one device may pair without a code, because of a press on the panel."""
        is_first_start = file is not None and not may_exist(file)
        self._first_pairing_until = clock() + FIRST_PAIRING_S if is_first_start else float("-inf")
        """Time (s, `clock`) until which the first phone on the table's own Wi-Fi may pair without a code."""
        self._is_on_hotspot = is_on_hotspot
        self._one_time_token, self._token_until = "", float("-inf")
        self._owner_until = clock() + OWNER_S if may_exist(card_file) else float("-inf")
        """Time (s, `clock`) until which the next device that pairs becomes an owner."""
        self._last_form = "", "", float("-inf")
        """The secret of the form that was accepted last, the id of its device, and the time (s, `clock`) until which it
        pairs no other device."""
        self._handovers: dict[str, tuple[str, float]] = {}
        """Token for the change from http to https, and its time of expiry (s, `clock`), by the id of the device."""
        self._used_clients: set[str] = set()
        self._make_codes()
        self._load()

    @property
    def key(self) -> bytes:
        """The secret key for signatures of cookies and tokens."""
        return bytes.fromhex(self._key)

    @property
    def code(self) -> str:
        """The six-digit pairing code, to be shown only at the table."""
        return self._code

    @property
    def secret(self) -> str:
        """The secret in the QR code, to be shown only at the table."""
        return self._secret

    @property
    def secrets(self) -> tuple[str, ...]:
        """All texts that pair a device or are part of a cookie or token. They must not be in any log or report."""
        with self._lock:
            tokens = [token for token, _ in self._handovers.values()]
        ids = (client.id for client in self.clients)
        return (self._code, self._secret, self._key, self._one_time_token, *tokens, *ids)

    @property
    def is_open(self) -> bool:
        """True if a device may pair without a code because of a press on the panel."""
        return self._clock() < self._open_until

    def is_open_for(self, address: str) -> bool:
        """Return True if the device with this IP address may pair without a code."""
        if self.is_open:
            return True
        is_first = self._clock() < self._first_pairing_until
        return is_first and self._is_on_hotspot(address)

    @property
    def clients(self) -> tuple[PairedClient, ...]:
        """The paired devices in the order of pairing."""
        with self._lock:
            return tuple(self._clients.values())

    def pair(self, code: str, address: str, device: str, form: str = "") -> PairedClient:
        """Pair the device named `device`, at the IP address `address`, by code or secret; return the paired device.

        An empty `code` is accepted if the device may pair without one. `form` is the secret of the form: if the user
        taps twice, the second request has no cookie of a paired device yet, and gets the same device. Raises
        `PairingCodeError`, `PairingLockedError`, `PairingFullError`.
        """
        code = "".join(code.split())
        with self._change():
            if (client := self._find_double_tap(form)) is not None:
                return client
            if _are_equal(code, self._secret):
                return self._add_client(device, form)
            if not code and self.is_open_for(address):
                self._open_until = float("-inf")
                client = self._add_client(device, form)
                self._notices.append(get_text("pairing-done", client.device))
                return client
            now = self._clock()
            if (seconds := self._rate_limiter.wait_time(address, now)) > 0:
                raise PairingLockedError(seconds)
            if _are_equal(code, self._code):
                self._rate_limiter.record_success(address)
                return self._add_client(device, form)
            paused = self._rate_limiter.record_failure(address, now)
            left = self._rate_limiter.count_tries_left(address)
            if paused:
                self._make_codes()
                self._notices.append(get_text("pairing-rests", str(PairingLockedError(paused).minutes)))
            elif not left:
                self._notices.append(get_text("pairing-locked"))
        raise PairingCodeError(left)

    @contextmanager
    def _change(self) -> Iterator[None]:
        """Hold the lock in the `with` block. Afterwards, show the notices that the block has collected.

        The notices are shown without the lock, to avoid a deadlock: `notify` waits for the lock of the session, and
        listeners of the session wait for this lock when they rename players.
        """
        try:
            with self._lock:
                yield
        finally:
            with self._lock:
                notices, self._notices = self._notices, []
            for notice in notices:
                self._notify(notice)

    def _find_double_tap(self, form: str) -> PairedClient | None:
        """Return the device that was paired with this form a moment ago, or None."""
        last, phone, until = self._last_form
        is_again = bool(form) and _are_equal(form, last) and self._clock() < until
        return self._clients.get(phone) if is_again else None

    def open_for_one_device(self) -> None:
        """Allow one device to pair without a code within `PAIRING_WINDOW_S`."""
        self._open_until = self._clock() + PAIRING_WINDOW_S

    def make_one_time_token(self) -> str:
        """Return a new one-time token that makes an owner within `OWNER_S`. The previous token becomes invalid."""
        self._one_time_token, self._token_until = secrets.token_hex(16), self._clock() + OWNER_S
        return self._one_time_token

    def redeem(self, token: str, device: str, known: PairedClient | None = None) -> PairedClient | None:
        """Make a device an owner by a one-time token, and pair it unless it is the paired device `known`.

        Return None if the token is wrong, too old, or was already used.
        """
        with self._change():
            if not self._use_token(token):
                return None
            return self._make_owner(known) if known else self._add_client(device, owner=True)

    def _use_token(self, token: str) -> bool:
        """Return True if this one-time token is valid. Afterwards it is no longer valid."""
        if self._clock() < self._token_until and _are_equal(token, self._one_time_token):
            self._token_until = float("-inf")
            return True
        return self._file is not None and use_owner_link(self._file.parent, token, self._wall_clock())

    def make_owner(self, phone: str) -> bool:
        """Make the device with the id `phone` an owner. Return False if it is not paired."""
        with self._change():
            client = self._clients.get(phone)
            return client is not None and bool(self._make_owner(client))

    def _make_owner(self, client: PairedClient) -> PairedClient:
        self._clients[client.id] = owner = replace(client, admin=True)
        self._save()
        return owner

    def make_handover_token(self, phone: str) -> str:
        """Return a one-time token with which the device with the id `phone` can identify itself over https.

        The token is valid for `HANDOVER_S` seconds. Without it, the device would have to be paired again, because the
        cookie of http is not sent over https.
        """
        with self._lock:
            token, until = self._handovers.get(phone, ("", 0.0))
            if not token or self._clock() >= until:  # a page that was opened twice has the same link
                token = secrets.token_urlsafe(_SECRET_BYTES)
            self._handovers[phone] = token, self._clock() + HANDOVER_S
            return token

    def redeem_handover(self, token: str) -> PairedClient | None:
        """Return the paired device to which a handover token belongs, or None. The token becomes invalid."""
        with self._lock:
            for phone, (expected, until) in self._handovers.items():
                if _are_equal(token, expected):
                    del self._handovers[phone]
                    return self._clients.get(phone) if self._clock() < until else None
            return None

    def unpair(self, phone: str) -> bool:
        """Unpair the device with the id `phone`, and change code and secret. Return False if it was not paired.

        If it was the last owner, the oldest remaining device becomes an owner.
        """
        with self._change():
            self._handovers.pop(phone, None)
            removed = self._clients.pop(phone, None)
            if removed is None:
                return False
            if self._clients and not any(client.admin for client in self._clients.values()):
                oldest = next(iter(self._clients.values()))
                self._clients[oldest.id] = replace(oldest, admin=True)
            self._make_codes()
            self._save()
            return True

    def assign_player(self, phone: str, player: str) -> bool:
        """Assign the device with the id `phone` to the player with this name, or to no player if the name is empty.

        Return False if the device is not paired.
        """
        with self._change():
            if phone not in self._clients:
                return False
            self._clients[phone] = replace(self._clients[phone], player=player)
            self._save()
            return True

    def rename_player(self, before: str, after: str) -> None:
        """Assign the devices of the player `before` to the new name `after`."""
        with self._change():
            theirs = {
                client.id: replace(client, player=after) for client in self._clients.values() if client.player == before
            }
            if before and theirs:
                self._clients |= theirs
                self._save()

    def find_client(self, phone: str) -> PairedClient | None:
        """Return the paired device with this id, or None if no paired device has the id."""
        with self._lock:
            client = self._clients.get(phone)
            if client is not None:
                self._used_clients.add(phone)
            return client

    def _add_client(self, device: str, form: str = "", *, owner: bool = False) -> PairedClient:
        """Add a device, which has sent the form with the secret `form`, and return it.

        The first device becomes an owner even without `owner`. At the limit of devices, the new device replaces the
        oldest device that was not used since the program started, but never an owner. Raises `PairingFullError`.
        """
        if len(self._clients) >= MAX_PAIRED_CLIENTS:
            unused = (client.id for client in self._clients.values() if client.id not in self._used_clients)
            oldest = next((name for name in unused if not self._clients[name].admin), None)
            if oldest is None:
                raise PairingFullError(MAX_PAIRED_CLIENTS)
            del self._clients[oldest]
        self._first_pairing_until = float("-inf")
        name = clean_name(device) or "?"
        is_owner = owner or not self._clients or self._clock() < self._owner_until
        self._owner_until = float("-inf")
        phone = PairedClient(secrets.token_urlsafe(12), name, self._wall_clock(), admin=is_owner)
        self._clients[phone.id] = phone
        self._used_clients.add(phone.id)
        self._last_form = form, phone.id, self._clock() + DOUBLE_TAP_S
        self._save()
        return phone

    def _make_codes(self) -> None:
        self._code = _make_code()
        self._secret = secrets.token_urlsafe(_SECRET_BYTES)

    def _load(self) -> None:
        """Load the signing key and the devices; write the file if it is missing or damaged."""
        data, is_intact = make_pairing_data(), True
        if self._file is not None:
            try:
                data, is_intact = load_pairing_data(self._file)
            except OSError as error:
                _log.warning("%s cannot be read, and is kept: %s", self._file, error)
                self._notify(get_text("pairing-unread", error.strerror))
                self._is_unread = True
        self._key = data.key
        self._clients = {client.id: client for client in data.clients}
        if self._file is not None and not (is_intact and may_exist(self._file)):
            with self._change():
                self._save()
        if not is_intact:
            self._notify(get_text("pairing-damaged"))

    def _save(self) -> None:
        if self._file is not None and not self._keeps_unread(self._file):
            problem = save_pairing_data(self._file, PairingData(self._key, tuple(self._clients.values())))
            if problem and not self._problem:
                self._notices.append(get_text("pairing-not-saved", problem))
            self._problem = problem

    def _keeps_unread(self, path: Path) -> bool:
        """Return True if the file must not be overwritten: it could not be read at the start, but can be read now.

        The next start will use such a file. A file that still cannot be read is set aside.
        """
        if not self._is_unread:
            return False
        with suppress(OSError):
            read_small_file(path, _MAX_FILE_BYTES)
            return True
        set_aside(path)
        self._is_unread = False
        return False


def write_owner_link(folder: Path) -> str:
    """Write a one-time token for the table whose data are in `folder`, and return it. Raises `OSError`."""
    token = secrets.token_hex(16)
    write_file(folder / OWNER_LINK_FILE_NAME, token.encode(), mode=0o600)
    return token


def use_owner_link(folder: Path, token: str, now: float) -> bool:
    """Return True if this token was written at most `OWNER_S` before the Unix time `now`; then remove its file."""
    file = folder / OWNER_LINK_FILE_NAME
    try:
        expected = read_small_file(file, _MAX_FILE_BYTES).decode(errors="replace")
        is_young = abs(now - file.stat().st_mtime) < OWNER_S
        if not (is_young and expected and _are_equal(token, expected)):
            return False
        file.unlink()
    except OSError as error:
        _log.info("no link of an owner: %s", error)
        return False
    return True


current_pairing = cast(Pairing, LocalProxy(lambda: current_app.extensions["pairing"]))
"""The pairing of the application that handles the request."""


def find_current_client() -> PairedClient | None:
    """Return the paired device whose id is in the session cookie of the request, or None."""
    return current_pairing.find_client(str(session.get(_CLIENT_ID_KEY, "")))


def is_current_owner() -> bool:
    """Return True if the client that sent the request is an owner of the table."""
    client = find_current_client()
    return client is not None and client.admin


def is_opened_by_user() -> bool:
    """Return True if a user has opened the link of the request; False if the browser only prefetches it."""
    return request.method == "GET" and "prefetch" not in request.headers.get("Sec-Purpose", "")


def remember_client(phone: PairedClient) -> None:
    """Store the device's id in the session cookie, with a new CSRF token.

    The token is new, because somebody else may know the old one, or may have planted the cookie.
    """
    session.clear()
    session[CSRF_KEY] = make_form_secret()
    session[_CLIENT_ID_KEY] = phone.id
    session.permanent = True


def make_form_secret() -> str:
    """Return a secret for a form or a session, which cannot be guessed."""
    return secrets.token_urlsafe(24)


def _make_code() -> str:
    return f"{secrets.randbelow(1_000_000):06}"


def _are_equal(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode(), expected.encode())
