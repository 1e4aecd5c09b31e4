"""Checks of the network that phones need to reach the page: Wi-Fi, the table's own hotspot, host name, port."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from device.doctor.finding import Finding, Subject
from device.doctor.machine import read_service_state
from device.doctor.program import SERVICE_UNITS, is_package_installed, is_service_installed
from device.doctor.system import System
from device.settings import Settings
from device.system.hotspot import HOTSPOT_CONNECTION, HotspotError, read_hotspot

FIRST_UNPRIVILEGED_PORT = 1024
"""Lowest port that a user other than root may open (ip(7), `ip_unprivileged_port_start`)."""


def check_wifi(system: System, _settings: Settings) -> Iterator[Finding]:
    """Check that the machine is connected to a network, by Wi-Fi or by cable."""
    subject = Subject("wi-fi")
    wired = [path.name for path in system.glob("/sys/class/net/e*") if _read_link_state(system, path.name) == "up"]
    radios = [path.parent.name for path in system.glob("/sys/class/net/*/wireless")]
    if _is_wifi_blocked(system):
        yield subject.fault(
            "it is switched off: on a Raspberry Pi the country must be set first",
            "sudo raspi-config nonint do_wifi_country DE (your country), then: sudo rfkill unblock wifi",
        )
        return
    connected = [name for name in radios if _read_link_state(system, name) == "up"]
    if connected:
        yield subject.good(f"{', '.join(connected)} is connected")
    elif wired:
        yield subject.good(f"not connected, but {', '.join(wired)} is connected by cable")
    elif radios:
        yield subject.fault("neither Wi-Fi nor cable is connected", "sudo nmtui, to join a network")
    else:
        yield subject.fault("this machine has no working network", "plug in a cable or a Wi-Fi adapter")


def _is_wifi_blocked(system: System) -> bool:
    """Return True if a Wi-Fi device is switched off by software or by a switch (rfkill)."""
    for path in system.glob("/sys/class/rfkill/rfkill*"):
        switch = f"/{path.relative_to(system.root)}"
        blocks = (system.read_text(f"{switch}/soft"), system.read_text(f"{switch}/hard"))
        if system.read_text(f"{switch}/type") == "wlan" and "1" in blocks:
            return True
    return False


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
    if hotspot is None:
        yield subject.note("none is set up: away from home, phones cannot reach the table", remedy)
    elif (known := _list_connections(system)) and HOTSPOT_CONNECTION not in known:
        yield subject.warning(
            f"NetworkManager no longer has the connection {HOTSPOT_CONNECTION}: away from home, phones cannot reach "
            "the table",
            f"sudo rm /etc/tilekeeper/hotspot.toml, then {remedy}",
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


def _list_connections(system: System) -> tuple[str, ...]:
    """Return the names of NetworkManager's connections; empty if they are not known."""
    answer = system.run("nmcli", "--get-values", "NAME", "connection", "show")
    return tuple(answer.out.splitlines()) if answer is not None and answer.status == 0 else ()


def check_host_name(system: System, _settings: Settings) -> Iterator[Finding]:
    """Check that phones can resolve the host name with mDNS (Avahi)."""
    subject = Subject("name")
    answer = system.run("systemctl", "is-active", "avahi-daemon.service")
    host = system.read_text("/etc/hostname") or "this machine"
    if not system.path("/usr/sbin/avahi-daemon").exists():
        yield subject.warning(f"{host}.local cannot be found: avahi-daemon is missing", "sudo apt install avahi-daemon")
    elif answer is not None and answer.out.strip() not in ("active", ""):
        yield subject.warning(
            f"{host}.local cannot be found: avahi-daemon is not running", "sudo systemctl enable --now avahi-daemon"
        )
    else:
        yield subject.good(f"{host}.local")
    if (name := _find_cloud_name(system)) and name != host:
        yield subject.warning(
            f"cloud-init will rename this machine to {name} at the next start, so {host}.local will not be found",
            f"sudo /opt/tilekeeper/host-name.sh set {host}",
        )


def _find_cloud_name(system: System) -> str:
    """Return the host name that cloud-init sets at each start, or an empty string if it sets none.

    Raspberry Pi Imager 2 writes this name to the file `user-data` of the cards that it customises. A settings file that
    only root may read is skipped.
    """
    user_data = system.read_text("/boot/firmware/user-data") or ""
    files = (system.read_text(path.relative_to(system.root)) for path in system.glob("/etc/cloud/cloud.cfg.d/*.cfg"))
    if any("preserve_hostname: true" in text for text in (*filter(None, files), user_data)):
        return ""
    match = re.search(r"""(?m)^hostname: *["']?([\w.-]+)""", user_data)
    return match[1] if match and system.path("/etc/cloud").exists() else ""


def check_port(system: System, settings: Settings) -> Iterator[Finding]:
    """Check that the address and port of the page are free, or in use by the running table itself."""
    subject = Subject("page")
    page = settings.page
    if page.port < FIRST_UNPRIVILEGED_PORT and is_service_installed(system):
        unit = next(filter(None, map(system.read_text, SERVICE_UNITS)), "")
        if "CAP_NET_BIND_SERVICE" not in re.sub(r"(?m)^#.*", "", unit):
            yield subject.fault(
                f"the table's user may not open port {page.port}",
                "set page.port = 8080 in the settings file",
            )
            return
    try:
        free = system.is_port_free(page.host, page.port)
    except OSError as error:
        yield subject.fault(
            f"cannot be served at {page.host or 'all addresses'}, port {page.port}: {error.strerror}",
            "set page.host and page.port in the settings file",
        )
        return
    if free:
        yield subject.good(f"port {page.port} is free")
    elif _is_served(system, page.port):
        yield subject.good(f"served on port {page.port}")
    else:
        yield subject.fault(
            f"port {page.port} is used by another program{_name_port_user(system, page.port)}",
            "stop that program, or set another page.port in the settings file",
        )


def check_secure_port(system: System, settings: Settings) -> Iterator[Finding]:
    """Check that the port of https is free. If not, give only a warning: the table also works without https."""
    page = settings.page
    try:
        free = system.is_port_free(page.host, page.secure_port)
    except OSError:  # the address is wrong, which `check_port` reports
        return
    if not free and not _is_served_securely(system, settings):
        yield Subject("page").warning(
            f"no https: port {page.secure_port} is used by another program{_name_port_user(system, page.secure_port)}",
            "stop that program, or set another page.secure_port in the settings file",
        )


def _is_served(system: System, port: int) -> bool:
    """Return True if the service is running, or if a table that runs without the service listens on the port."""
    return read_service_state(system) == "active" or _find_port_user(system, port) == "tilekeeper"


def _is_served_securely(system: System, settings: Settings) -> bool:
    """Return True if a table uses the port of https.

    The service may run without https, so its state does not answer this. Only root can find the user of every port,
    so a table is also looked for behind the port.
    """
    page = settings.page
    if _find_port_user(system, page.secure_port) == "tilekeeper":
        return True
    return system.serves_table_securely(page.host, page.secure_port)


def _name_port_user(system: System, port: int) -> str:
    name = _find_port_user(system, port)
    return f" ({name})" if name else ""


def _find_port_user(system: System, number: int) -> str:
    """Return the name of the program that listens on a port; empty if it is not known."""
    answer = system.run("ss", "-Hltnp", f"sport = :{number}")
    match = re.search(r'users:\(\("([^"]+)"', answer.out) if answer else None
    return match[1] if match else ""


def _read_link_state(system: System, interface: str) -> str:
    return system.read_text(f"/sys/class/net/{interface}/operstate") or ""
