"""The hotspot: the table's own Wi-Fi for places without a known network.

The installer creates the hotspot as a NetworkManager connection, and writes its name, password and address to
`HOTSPOT_FILE`.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from pathlib import Path

from device.catalogue import get_text
from engine.errors import TilekeeperError

HOTSPOT_CONNECTION = "tilekeeper-hotspot"
"""Name (`connection.id`) of the connection that the installer creates for the table's own Wi-Fi."""
HOTSPOT_FILE = Path("/etc/tilekeeper/hotspot.toml")
_KEYS = ("name", "password", "address")
_ROUTES_FILE = Path("/proc/net/fib_trie")


class HotspotError(TilekeeperError):
    """Error for a `HOTSPOT_FILE` that is unreadable or invalid; the message gives the reason on one line."""


@dataclass(frozen=True, slots=True)
class Hotspot:
    """Name and password of the table's own Wi-Fi, and the table's IP address in this network."""

    name: str
    password: str
    address: str

    @property
    def qr_text(self) -> str:
        """Text of the QR code that connects a phone to the hotspot.

        Format: https://github.com/zxing/zxing/wiki/Barcode-Contents#wi-fi-network-config-android-ios-11.

        >>> Hotspot("Tile;keeper", "abc", "10.42.0.1").qr_text
        'WIFI:T:WPA;S:Tile\\\\;keeper;P:abc;;'
        """
        return f"WIFI:T:WPA;S:{_escape_field(self.name)};P:{_escape_field(self.password)};;"

    def is_active(self, routes: Path = _ROUTES_FILE) -> bool:
        """Return True if the hotspot is active, that is, if the machine has the hotspot's IP address."""
        try:
            return re.search(rf"\b{re.escape(self.address)}\b", routes.read_text(encoding="ascii")) is not None
        except OSError:
            return False

    def has_client(self, address: str) -> bool:
        """Return True if the hotspot is active and the client with the IP address `address` is in its network (/24)."""
        try:
            client = ip_address(address)
        except ValueError:
            return False
        client = getattr(client, "ipv4_mapped", None) or client
        network = ip_network(f"{self.address}/24", strict=False)
        return client in network and client != ip_address(self.address) and self.is_active()


def read_hotspot(path: Path = HOTSPOT_FILE) -> Hotspot | None:
    """Return the hotspot, or None if none is set up or if this user may not read the file.

    Raises `HotspotError` if the file is invalid.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, PermissionError):
        return None
    except OSError as error:
        raise HotspotError(get_text("wifi-unreadable", path, error.strerror)) from error
    except (ValueError, RecursionError) as error:  # also for a number of 5,000 digits
        raise HotspotError(get_text("wifi-no-toml", path, error)) from error
    values = [table.get(key) for key in _KEYS]
    if not all(isinstance(value, str) and value for value in values):
        raise HotspotError(get_text("wifi-keys", path, ", ".join(_KEYS)))
    hotspot = Hotspot(*map(str, values))
    try:
        ip_address(hotspot.address)
    except ValueError:
        raise HotspotError(get_text("wifi-address", path, repr(hotspot.address))) from None
    return hotspot


def _escape_field(text: str) -> str:
    return re.sub(r'([\\;,:"])', r"\\\1", text)
