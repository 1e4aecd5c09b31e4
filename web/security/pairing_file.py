"""File with the paired devices and the signing key, so that devices stay paired after a restart."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from device.storage.checksums import compute_checksum
from device.storage.files import read_small_file, write_file
from device.storage.stored_game import MAX_TIME_S

FILE_NAME = "pairing.json"
"""Name of the file in the data folder. Only the program's own user may read it (mode 0600)."""
KEY_BYTES = 32
_MAX_FILE_BYTES = 256 * 1024
_CHECKSUM_MARK = b',"checksum":"'

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

    The content of a missing file is a new signing key without devices, and so is that of a file that cannot be read,
    which is renamed to `*.damaged`. If only the checksum is wrong, the content is what can be read.
    """
    try:
        content = read_small_file(path, _MAX_FILE_BYTES)
        data = msgspec.json.decode(content, type=PairingData)
        if len(bytes.fromhex(data.key)) != KEY_BYTES or not all(0 <= c.since < MAX_TIME_S for c in data.clients):
            raise ValueError("no key, or an impossible time")
    except FileNotFoundError:
        return make_pairing_data(), True
    except (OSError, ValueError) as error:  # exceptions of msgspec are subclasses of ValueError
        _log.warning("%s cannot be read (%s): all devices must be paired again", path, error)
        with suppress(OSError):
            path.replace(path.with_name(f"{path.name}.damaged"))
        return make_pairing_data(), False
    body, mark, _ = content.rpartition(_CHECKSUM_MARK)  # files of earlier releases have no checksum
    return data, not mark or content == _add_checksum(body + b"}")


def _add_checksum(body: bytes) -> bytes:
    """Return a JSON object with a checksum of its bytes as a further field."""
    return body.removesuffix(b"}") + _CHECKSUM_MARK + compute_checksum(body).encode() + b'"}'


def save_pairing_data(path: Path, data: PairingData) -> str:
    """Write the file atomically. Return the reason if writing fails, otherwise an empty string."""
    try:
        write_file(path, _add_checksum(msgspec.json.encode(data)), mode=0o600)
    except OSError as error:
        _log.warning("%s cannot be written (%s): devices stay paired until the program ends", path, error)
        return error.strerror or str(error)
    return ""
