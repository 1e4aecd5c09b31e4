"""Checks of the network that phones need to reach the page: Wi-Fi, the table's own hotspot, host name, port."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from device.doctor.finding import Finding, Subject
from device.doctor.service import is_package_installed, read_service_state
from device.doctor.system import System
from device.settings import Settings
from device.system.hotspot import HOTSPOT_CONNECTION, HotspotError, read_hotspot

OWN_NAME = "tilekeeper"
"""Name of the process of a running table, as `ss` shows it."""


def check_wifi(system: System, _settings: Settings) -> Iterator[Finding]:
    """Check that the machine is connected to a network, by Wi-Fi or by cable."""
    subject = Subject("wi-fi")
    addresses = system.ask("hostname", "-I")
    if re.search(r"\bblocked", system.ask("rfkill", "--noheadings", "--output", "SOFT,HARD", "list", "wifi")):
        yield subject.fault(
            "it is switched off: on a Raspberry Pi the country must be set first",
            "sudo raspi-config nonint do_wifi_country DE (your country), then: sudo rfkill unblock wifi",
        )
    elif addresses:
        yield subject.good(f"connected: {addresses}")
    else:
        yield subject.fault("neither Wi-Fi nor cable is connected", "sudo nmtui, to join a network; or plug in a cable")


def check_hotspot(system: System, settings: Settings) -> Iterator[Finding]:
    """Check that the table's own hotspot, for places without a known Wi-Fi, is set up."""
    subject = Subject("own wi-fi")
    if not system.glob("/sys/class/net/*/wireless"):
        return
    file = system.path("/etc/tilekeeper/hotspot.toml")
    if file.exists() and not os.access(file, os.R_OK):
        yield subject.note("its name and password cannot be read", "sudo tilekeeper doctor")
        return
    remedy = _find_hotspot_remedy(system, settings.page.port)
    try:
        hotspot = read_hotspot(file)
    except HotspotError as error:
        yield subject.warning(str(error), f"sudo rm /etc/tilekeeper/hotspot.toml, then {remedy}")
        return
    connections = system.ask("nmcli", "--get-values", "NAME", "connection", "show").splitlines()
    if hotspot is None or (connections and HOTSPOT_CONNECTION not in connections):
        text = "none is set up in NetworkManager: away from home, phones cannot reach the table"
        yield subject.warning(text, f"sudo rm -f /etc/tilekeeper/hotspot.toml, then {remedy}")
    elif (states := _list_wifi_states(system)) and "connected" not in states:
        yield subject.warning(
            f"neither a known network nor {hotspot.name} is open",
            f"sudo nmcli connection up {HOTSPOT_CONNECTION}, then find the reason in: journalctl -b -u NetworkManager",
        )
    else:
        yield subject.good(f"{hotspot.name}, used if no known network is in range")


def _find_hotspot_remedy(system: System, port: int) -> str:
    """Return the action that makes the table's own hotspot; `port` is that of the page."""
    if is_package_installed(system):
        return (
            "sudo apt install network-manager dnsmasq-base nftables iw && "
            f'sudo /opt/tilekeeper/make-hotspot.sh "" {port} && sudo nmcli connection reload && '
            "sudo systemctl restart tilekeeper"
        )
    return "sudo ./systemd/install.sh --hotspot in the folder of Tilekeeper"


def _list_wifi_states(system: System) -> tuple[str, ...]:
    """Return the states of the Wi-Fi devices, such as `connected`; empty if they are not known."""
    devices = system.ask("nmcli", "--get-values", "TYPE,STATE", "device").splitlines()
    return tuple(line.removeprefix("wifi:") for line in devices if line.startswith("wifi:"))


def check_host_name(system: System, _settings: Settings) -> Iterator[Finding]:
    """Check that phones can resolve the host name with mDNS (Avahi)."""
    subject = Subject("name")
    host = system.read_text("/etc/hostname") or "this machine"
    if system.ask("systemctl", "is-active", "avahi-daemon.service") in ("", "active"):  # empty: no systemd
        yield subject.good(f"{host}.local")
    else:
        remedy = "sudo apt install avahi-daemon && sudo systemctl enable --now avahi-daemon"
        yield subject.warning(f"{host}.local cannot be found: avahi-daemon is not running", remedy)


def check_ports(system: System, settings: Settings) -> Iterator[Finding]:
    """Check that the ports of the page are free, or in use by the running table itself.

    Without the port of https, the table works, so its finding is only a warning.
    """
    subject, page = Subject("page"), settings.page
    users = {port: _find_port_user(system, port) for port in (page.port, page.secure_port)}
    remedy = "stop that program, or set another page.port or page.secure_port in the settings file"
    if users[page.port] in ("", OWN_NAME):
        yield subject.good(f"port {page.port} is {'in use by the table' if users[page.port] else 'free'}")
    else:
        yield subject.fault(f"port {page.port} is used by {users[page.port]}", remedy)
    if users[page.secure_port] not in ("", OWN_NAME):
        yield subject.warning(f"no https: port {page.secure_port} is used by {users[page.secure_port]}", remedy)


def _find_port_user(system: System, port: int) -> str:
    """Return the name of the program that listens on a port; empty if the port is free.

    Only root sees the programs of other users. Without a name, a running table is assumed to have the port.
    """
    listener = system.ask("ss", "-Hltnp", f"sport = :{port}")
    if found := re.search(r'users:\(\("([^"]+)"', listener):
        return found[1]
    unknown = OWN_NAME if read_service_state(system) == "active" else "another program"
    return unknown if listener else ""
