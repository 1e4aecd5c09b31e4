"""The Wi-Fi that the table opens where no known one is in reach: its name and password, for people and their phones.

The installer makes it as a connection of NetworkManager and writes what people need into a file; here it is read.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from engine.errors import TilekeeperError
from engine.messages import said

HOTSPOT_FILE = Path("/etc/tilekeeper/hotspot.toml")
_KEYS = ("name", "password", "address")
_ROUTES_FILE = Path("/proc/net/fib_trie")


class HotspotError(TilekeeperError):
    """The file about the table's own Wi-Fi cannot be used; the message says why, on one line."""


@dataclass(frozen=True, slots=True)
class Hotspot:
    """The table's own Wi-Fi, and the address of the table in it."""

    name: str
    password: str
    address: str

    @property
    def qr_text(self) -> str:
        """What a phone's camera understands as a Wi-Fi to join.

        As in https://github.com/zxing/zxing/wiki/Barcode-Contents#wi-fi-network-config-android-ios-11.

        >>> Hotspot("Tile;keeper", "abc", "10.42.0.1").qr_text
        'WIFI:T:WPA;S:Tile\\\\;keeper;P:abc;;'
        """
        return f"WIFI:T:WPA;S:{_escape_field(self.name)};P:{_escape_field(self.password)};;"

    def is_active(self, routes: Path = _ROUTES_FILE) -> bool:
        """Whether the machine has the Wi-Fi's address now: then the Wi-Fi is open."""
        try:
            return re.search(rf"\b{re.escape(self.address)}\b", routes.read_text(encoding="ascii")) is not None
        except OSError:
            return False


def read_hotspot(path: Path = HOTSPOT_FILE) -> Hotspot | None:
    """The table's own Wi-Fi, or None where there is none, or not for this user. Raises `HotspotError`."""
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, PermissionError):
        return None
    except OSError as error:
        raise HotspotError(said("wifi-unreadable", "{0} cannot be read ({1})", path, error.strerror)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise HotspotError(said("wifi-no-toml", "{0} is not written as TOML: {1}", path, error)) from error
    values = [told.get(key) for key in _KEYS]
    if not all(isinstance(value, str) and value for value in values):
        raise HotspotError(said("wifi-keys", "{0} must give {1}, each as text", path, ", ".join(_KEYS)))
    return Hotspot(*map(str, values))


def _escape_field(text: str) -> str:
    return re.sub(r'([\\;,:"])', r"\\\1", text)
