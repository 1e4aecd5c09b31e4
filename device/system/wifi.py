"""Wi-Fi of the machine through NetworkManager's D-Bus interface: find and join networks, close and open the hotspot.

The hotspot is the table's own Wi-Fi. Reference: https://networkmanager.dev/docs/api/latest/spec.html.
`systemd/tilekeeper.polkit` allows the user of the service to make these calls.
"""

from __future__ import annotations

import logging
import re
import subprocess
import threading
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

from jeepney import DBusAddress, Properties, new_method_call
from jeepney.io.blocking import DBusConnection, open_dbus_connection
from jeepney.wrappers import DBusErrorResponse, unwrap_msg

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
        """Text of the QR code that connects a phone to the hotspot."""
        return format_wifi_text(self.name, self.password)

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


def format_wifi_text(name: str, password: str) -> str:
    """Return the text of a QR code for joining a Wi-Fi: `WIFI:T:WPA;S:...;P:...;;`, or without T and P."""
    from segno.helpers import make_wifi_data  # only a page or display with a QR code needs it

    return str(make_wifi_data(ssid=name, password=password or None, security="WPA" if password else None))


CALL_TIMEOUT_S = 5.0
JOIN_TIMEOUT_S = 45.0
"""Time limit for joining a network, in seconds; authentication and DHCP may take half a minute."""
SCAN_S = 12.0
"""Time in seconds for which the hotspot stays closed, so that NetworkManager can scan and join a known network."""
UNUSED_S = 300.0
"""Time without a phone, in seconds, before the table's own Wi-Fi is closed to search for a known network."""
CHECK_INTERVAL_S = 60.0
UNCONNECTED_CHECKS = 3
"""Number of checks in a row without any Wi-Fi after which the table reports that its own did not open."""

_log = logging.getLogger(__name__)

_NAME = "org.freedesktop.NetworkManager"
_ROOT = "/org/freedesktop/NetworkManager"
_NO_OBJECT = "/"
_WIFI_DEVICE = 2
"""Value of `NM_DEVICE_TYPE_WIFI`."""
_ACTIVATED, _DEACTIVATED = 2, 4
"""Values of `NMActiveConnectionState`."""
_DEVICE_ACTIVATED = 100
"""Value of `NM_DEVICE_STATE_ACTIVATED`."""


class WifiError(TilekeeperError):
    """Error for a failed call: NetworkManager is missing, has no Wi-Fi device, or refuses the call.

    The message is one line.
    """


class WifiRefusedError(WifiError):
    """Error for a call that NetworkManager refuses, for example because the object does not exist any more."""


@dataclass(frozen=True, slots=True)
class WifiNetwork:
    """A network in range: its name (SSID), and its strength in percent."""

    name: str
    strength: int


class NetworkManager:
    """NetworkManager of this machine; each call of a method uses a new connection to the system bus.

    All methods raise `WifiError`.
    """

    def find_networks(self) -> tuple[WifiNetwork, ...]:
        """Return the networks in range, the strongest first. Each name occurs once."""
        with _open_bus() as bus:
            strongest: dict[str, WifiNetwork] = {}
            for network in bus.read_access_points(bus.find_wifi_device()).values():
                if network.name and network.strength >= strongest.get(network.name, network).strength:
                    strongest[network.name] = network
        return tuple(sorted(strongest.values(), key=lambda network: -network.strength))

    def scan(self) -> None:
        """Start a search for networks, which takes some seconds. NetworkManager refuses it during another search."""
        with _open_bus() as bus:
            bus.call(bus.find_wifi_device(), f"{_NAME}.Device.Wireless", "RequestScan", "a{sv}", {})

    def join(self, name: str, password: str = "") -> None:
        """Join a network and save it for later; a network that cannot be joined is not saved. Raises `WifiError`."""
        with _open_bus() as bus:
            device = bus.find_wifi_device()
            arguments = (make_connection(name, password), device, bus.find_access_point(device, name))
            profile, active = bus.call_many(_ROOT, _NAME, "AddAndActivateConnection", "a{sa{sv}}oo", *arguments)
            deadline = time.monotonic() + JOIN_TIMEOUT_S
            while (state := bus.read_state(active)) not in (_ACTIVATED, _DEACTIVATED) and time.monotonic() < deadline:
                time.sleep(0.5)
            if state != _ACTIVATED:
                bus.call(profile, f"{_NAME}.Settings.Connection", "Delete")
                raise WifiError(get_text("wifi-not-joined", name))

    def is_connected(self) -> bool:
        """Return True if the Wi-Fi device has joined a network or opened the table's own."""
        with _open_bus() as bus:
            return bool(bus.read(bus.find_wifi_device(), f"{_NAME}.Device", "State") == _DEVICE_ACTIVATED)

    def close_hotspot(self) -> None:
        """Close the table's own Wi-Fi, so that NetworkManager can join a known network."""
        with _open_bus() as bus:
            for active in bus.read(_ROOT, _NAME, "ActiveConnections"):
                if bus.read(active, f"{_NAME}.Connection.Active", "Id") == HOTSPOT_CONNECTION:
                    bus.call(_ROOT, _NAME, "DeactivateConnection", "o", active)

    def open_hotspot(self) -> None:
        """Open the table's own Wi-Fi again, unless another network was joined.

        This is necessary because NetworkManager does not open it automatically after `close_hotspot`.
        """
        with _open_bus() as bus:
            device = bus.find_wifi_device()
            if bus.read(device, f"{_NAME}.Device", "ActiveConnection") != _NO_OBJECT:
                return
            for profile in bus.call(f"{_ROOT}/Settings", f"{_NAME}.Settings", "ListConnections"):
                settings = bus.call(profile, f"{_NAME}.Settings.Connection", "GetSettings")
                if settings["connection"]["id"][1] == HOTSPOT_CONNECTION:
                    bus.call_many(_ROOT, _NAME, "ActivateConnection", "ooo", profile, device, _NO_OBJECT)


class HotspotWatch:
    """Periodic search for a known network: closes the table's own Wi-Fi for some seconds while no phone uses it.

    This is needed after a power failure, because a Raspberry Pi starts faster than the router. If no known network was
    joined, each check tries to open the table's own Wi-Fi again. `count_phones` returns the number of phones in the
    table's own Wi-Fi. If it returns None (unknown), the Wi-Fi stays open. `report` gets a text when the table has had
    neither a known network nor its own Wi-Fi for `UNCONNECTED_CHECKS` checks.
    """

    def __init__(
        self,
        hotspot: Hotspot,
        manager: NetworkManager,
        closing: threading.Event,
        count_phones: Callable[[], int | None],
        report: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._hotspot = hotspot
        self._manager = manager
        self._closing = closing
        self._count_phones = count_phones
        self._report = report
        self._clock = clock
        self._unused_since: float | None = None
        self._has_closed_hotspot = False
        self._unconnected_checks = 0

    def check(self) -> float:
        """Search for known networks if the hotspot was unused for long enough. Return the seconds until the next check.

        An error of NetworkManager is logged.
        """
        try:
            self._check_hotspot()
        except WifiError as error:
            _log.warning("the table's own Wi-Fi: %s", error)
        return CHECK_INTERVAL_S

    def _check_hotspot(self) -> None:
        """Look for known networks if no phone has used the hotspot for a time. Open it again if that failed before."""
        now = self._clock()
        is_active = self._hotspot.is_active()
        self._report_if_unconnected(is_active)
        if is_active:
            self._has_closed_hotspot = False
        elif self._has_closed_hotspot:
            self._manager.open_hotspot()
        if not is_active or self._count_phones() != 0:
            self._unused_since = None
        elif self._unused_since is None:
            self._unused_since = now
        elif now - self._unused_since >= UNUSED_S:
            self._unused_since = None
            self._look_for_known_networks()

    def _report_if_unconnected(self, is_active: bool) -> None:
        if is_active or self._manager.is_connected():
            self._unconnected_checks = 0
            return
        self._unconnected_checks += 1
        if self._unconnected_checks == UNCONNECTED_CHECKS:
            self._report(get_text("wifi-own-not-open", self._hotspot.name))

    def _look_for_known_networks(self) -> None:
        """Close the hotspot while the Wi-Fi scans, because most devices cannot do both; then open it again."""
        self._has_closed_hotspot = True
        self._manager.close_hotspot()
        try:
            self._manager.scan()
            self._closing.wait(SCAN_S)
        finally:
            self._manager.open_hotspot()


def count_phones_in_hotspot() -> int | None:
    """Return the number of phones in the table's own Wi-Fi, or None if `iw` is not installed or fails."""
    try:
        answer = subprocess.run(
            ["iw", "dev", "wlan0", "station", "dump"],
            capture_output=True,
            text=True,
            check=False,
            timeout=CALL_TIMEOUT_S,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return None if answer.returncode else sum(line.startswith("Station ") for line in answer.stdout.splitlines())


def make_connection(name: str, password: str) -> dict[str, dict[str, tuple[str, object]]]:
    """Return a new connection profile for a network; each value is a pair of D-Bus signature and value.

    NetworkManager adds the missing values.
    """
    profile: dict[str, dict[str, tuple[str, object]]] = {
        "connection": {"id": ("s", name), "type": ("s", "802-11-wireless")},
        "802-11-wireless": {"ssid": ("ay", name.encode())},
    }
    if password:
        profile["802-11-wireless-security"] = {"key-mgmt": ("s", "wpa-psk"), "psk": ("s", password)}
    return profile


class _Bus:
    """One connection to the system bus, for calls to NetworkManager; all methods raise `WifiError`."""

    def __init__(self, connection: DBusConnection) -> None:
        self._connection = connection

    def call_many(
        self, path: str, interface: str, method: str, signature: str = "", *arguments: object
    ) -> Sequence[Any]:
        """Call a method of the object `path` and return all its results."""
        address = DBusAddress(path, bus_name=_NAME, interface=interface)
        return self._send(new_method_call(address, method, signature or None, arguments))

    def call(self, path: str, interface: str, method: str, signature: str = "", *arguments: object) -> Any:
        """Call a method of the object `path` and return its first result, or None if it has none."""
        return next(iter(self.call_many(path, interface, method, signature, *arguments)), None)

    def read(self, path: str, interface: str, name: str) -> Any:
        """Return the property `name` of the object `path`."""
        address = DBusAddress(path, bus_name=_NAME, interface=interface)
        return self._send(Properties(address).get(name))[0][1]

    def read_state(self, active: str) -> int:
        """Return the state of an active connection. An object that is gone counts as deactivated."""
        try:
            return int(self.read(active, f"{_NAME}.Connection.Active", "State"))
        except WifiError:
            return _DEACTIVATED

    def find_wifi_device(self) -> str:
        """Return the path of the Wi-Fi device."""
        for device in self.call(_ROOT, _NAME, "GetDevices"):
            if self.read(device, f"{_NAME}.Device", "DeviceType") == _WIFI_DEVICE:
                return str(device)
        raise WifiError(get_text("wifi-no-device"))

    def list_access_points(self, device: str) -> Sequence[str]:
        """Return the paths of the access points in range."""
        points: Sequence[str] = self.call(device, f"{_NAME}.Device.Wireless", "GetAllAccessPoints")
        return points

    def find_access_point(self, device: str, name: str) -> str:
        """Return the path of an access point of the network `name`, or `/` if none is found (hidden network)."""
        found = (point for point, network in self.read_access_points(device).items() if network.name == name)
        return next(found, _NO_OBJECT)

    def read_access_points(self, device: str) -> dict[str, WifiNetwork]:
        """Return the network of each access point in range, by the path of the access point."""
        networks = {}
        for point in self.list_access_points(device):
            try:
                networks[point] = self._read_access_point(point)
            except WifiRefusedError as error:  # it went out of range after it was listed
                _log.info("the access point %s is skipped: %s", point, error)
        return networks

    def _read_access_point(self, point: str) -> WifiNetwork:
        """Return the network to which an access point belongs."""
        interface = f"{_NAME}.AccessPoint"
        name = bytes(self.read(point, interface, "Ssid")).decode(errors="replace")
        return WifiNetwork(name, int(self.read(point, interface, "Strength")))

    def _send(self, message: Any) -> Sequence[Any]:
        try:
            result: Sequence[Any] = unwrap_msg(self._connection.send_and_get_reply(message, timeout=CALL_TIMEOUT_S))
        except DBusErrorResponse as error:
            raise WifiRefusedError(get_text("wifi-refused", error.name)) from error
        except (OSError, TimeoutError) as error:
            raise WifiError(get_text("wifi-no-answer")) from error
        return result


@contextmanager
def _open_bus() -> Iterator[_Bus]:
    try:
        connection = open_dbus_connection(bus="SYSTEM")
    except (OSError, KeyError) as error:
        raise WifiError(get_text("wifi-no-bus")) from error
    try:
        yield _Bus(connection)
    finally:
        connection.close()
