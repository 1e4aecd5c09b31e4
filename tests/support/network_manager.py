"""NetworkManager on a private bus: python-dbusmock's template, which keeps devices, networks and connections."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from jeepney import DBusAddress, new_method_call
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import open_dbus_connection
from jeepney.wrappers import unwrap_msg

from tests.support.waiting import PATIENCE_S

NAME, ROOT = "org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager"
PYTHON = "/usr/bin/python3"
"""Python of the system, which has Debian's package python3-dbusmock."""
START_TIMEOUT_S = 30.0


def find_missing() -> str:
    """Return why the mock cannot run here; empty if it can."""
    if shutil.which("dbus-daemon") is None:
        return "dbus-daemon is not here"
    found = subprocess.run([PYTHON, "-c", "import dbusmock"], capture_output=True, check=False)
    return "python3-dbusmock is not here" if found.returncode else ""


class MockManager:
    """The methods of the mock that change the machine's network."""

    def __init__(self) -> None:
        self.device = str(self.call("AddWiFiDevice", "ssu", "wlan0", "wlan0", 100))

    def call(self, method: str, signature: str, *arguments: object) -> object:
        """Call a method of the mock's own interface and return its result, or None if it has none."""
        address = DBusAddress(ROOT, bus_name=NAME, interface="org.freedesktop.DBus.Mock")
        with open_dbus_connection(bus="SYSTEM") as bus:
            results = unwrap_msg(bus.send_and_get_reply(new_method_call(address, method, signature, arguments)))
        return next(iter(results), None)

    def add_network(self, name: str, strength: int) -> None:
        """Let a network with a password be in range."""
        number = f"AP{name}{strength}".replace(" ", "_")
        frequency, rate, flags = 2425, 5400, 0x100
        self.call("AddAccessPoint", "ssssuuuyu", self.device, number, name, "00:23:F8:7E:12:BB", 2, frequency, rate,
                  strength, flags)  # fmt: skip

    def add_hotspot(self, name: str) -> None:
        """Let the machine know a connection that opens its own Wi-Fi; it is not active."""
        settings = {
            "connection": {"id": ("s", name), "type": ("s", "802-11-wireless")},
            "802-11-wireless": {"ssid": ("ay", name.encode()), "mode": ("s", "ap")},
        }
        address = DBusAddress(f"{ROOT}/Settings", bus_name=NAME, interface=f"{NAME}.Settings")
        with open_dbus_connection(bus="SYSTEM") as bus:
            unwrap_msg(bus.send_and_get_reply(new_method_call(address, "AddConnection", "a{sa{sv}}", (settings,))))

    def list_active(self) -> list[str]:
        """Return the names of the active connections."""
        with open_dbus_connection(bus="SYSTEM") as bus:

            def read(path: str, interface: str, name: str) -> Any:
                address = DBusAddress(path, NAME, "org.freedesktop.DBus.Properties")
                call = new_method_call(address, "Get", "ss", (interface, name))
                return unwrap_msg(bus.send_and_get_reply(call))[0][1]

            return [read(path, f"{NAME}.Connection.Active", "Id") for path in read(ROOT, NAME, "ActiveConnections")]

    def read_connections(self) -> list[dict[str, dict[str, tuple[str, object]]]]:
        """Return the settings of the connections that the mock remembers."""
        settings = DBusAddress(f"{ROOT}/Settings", bus_name=NAME, interface=f"{NAME}.Settings")
        with open_dbus_connection(bus="SYSTEM") as bus:

            def call(address: DBusAddress, method: str) -> Any:
                return unwrap_msg(bus.send_and_get_reply(new_method_call(address, method)))[0]

            paths = call(settings, "ListConnections")
            interface = f"{NAME}.Settings.Connection"
            return [call(DBusAddress(path, NAME, interface), "GetSettings") for path in paths]


@contextmanager
def run_network_manager() -> Iterator[MockManager]:
    """Run the mock on a bus of its own, which is the system bus of this process until the end of the block."""
    bus = subprocess.Popen(
        ["dbus-daemon", "--session", "--nofork", "--print-address"], stdout=subprocess.PIPE, text=True
    )
    assert bus.stdout is not None
    try:
        with patch.dict(os.environ, {"DBUS_SYSTEM_BUS_ADDRESS": bus.stdout.readline().strip()}):
            mock = subprocess.Popen(  # it prints each call
                [PYTHON, "-m", "dbusmock", "--template", "networkmanager"], stdout=subprocess.DEVNULL
            )
            try:
                _wait_for_name()
                yield MockManager()
            finally:
                mock.terminate()
                mock.wait(PATIENCE_S)
    finally:
        bus.terminate()
        bus.wait(PATIENCE_S)
        bus.stdout.close()


def _wait_for_name() -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    with open_dbus_connection(bus="SYSTEM") as connection:
        while not unwrap_msg(connection.send_and_get_reply(message_bus.NameHasOwner(NAME)))[0]:
            assert time.monotonic() < deadline, "the mock of NetworkManager does not start"
            time.sleep(0.1)
