"""The file that keeps the paired devices and the key of their cookies, so that they stay paired across restarts."""

from __future__ import annotations

import logging
import secrets
from dataclasses import dataclass
from pathlib import Path

import msgspec

from device.storage.files import write_file

FILE_NAME = "pairing.json"
"""Name of the file in the data folder. Only the program's own user may read it (mode 0600)."""
KEY_BYTES = 32
_MAX_FILE_BYTES = 256 * 1024

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PairedClient:
    """A paired device: its id, its description (`iPhone`), when it was paired (Unix time), and its rank."""

    id: str
    device: str
    since: float
    admin: bool


class PairingData(msgspec.Struct, frozen=True):
    """Content of the file: the key that signs cookies and tokens (hexadecimal), and the devices in order of pairing."""

    key: str
    clients: tuple[PairedClient, ...] = ()


def make_pairing_data() -> PairingData:
    """Return a new key without paired devices."""
    return PairingData(secrets.token_hex(KEY_BYTES))


def load_pairing_data(path: Path) -> tuple[PairingData, bool]:
    """Return the content of the file, and False if it is damaged; a new key if it is damaged or missing."""
    try:
        if path.stat().st_size > _MAX_FILE_BYTES:
            raise ValueError("too large")
        data = msgspec.json.decode(path.read_bytes(), type=PairingData)
        if len(bytes.fromhex(data.key)) != KEY_BYTES:
            raise ValueError("no key")
    except FileNotFoundError:
        return make_pairing_data(), True
    except (OSError, ValueError) as error:  # what msgspec raises is a ValueError too
        _log.warning("%s cannot be read (%s): all devices must be paired again", path, error)
        return make_pairing_data(), False
    return data, True


def save_pairing_data(path: Path, data: PairingData) -> bool:
    """Write the file completely or not at all; return False if it cannot be written."""
    try:
        write_file(path, msgspec.json.encode(data), mode=0o600)
    except OSError as error:
        _log.warning("%s cannot be written (%s): devices stay paired until the program ends", path, error)
        return False
    return True
