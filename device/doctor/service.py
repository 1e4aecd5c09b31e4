"""The installed service: its unit, its user and what that user may read and write; whether the table runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from device.doctor.finding import Finding, Subject
from device.doctor.system import System
from device.settings import Settings

SERVICE_USER = "tilekeeper"
PACKAGE_UNIT = "/usr/lib/systemd/system/tilekeeper.service"
"""Path of the systemd unit that the Debian package installs, which the card image has, too."""
SERVICE_UNITS = ("/etc/systemd/system/tilekeeper.service", PACKAGE_UNIT)
"""Paths of the systemd unit as installed by `install.sh` and by the Debian package."""


def read_unit(system: System) -> str:
    """Return the text of the systemd unit without comments; empty if the service is not installed."""
    return re.sub(r"(?m)^#.*", "", next(filter(None, map(system.read_text, SERVICE_UNITS)), ""))


def is_service_installed(system: System) -> bool:
    """Return True if the unit of the service is installed."""
    return any(system.path(unit).exists() for unit in SERVICE_UNITS)


def is_package_installed(system: System) -> bool:
    """Return True if the program was installed by the Debian package, beside which `install.sh` refuses to install."""
    return system.path(PACKAGE_UNIT).exists()


def find_reinstall_remedy(system: System) -> str:
    """Return the action that installs the program again, in the way in which it was installed."""
    if is_package_installed(system):
        return "sudo apt install --reinstall ./tilekeeper_*.deb in the folder of the newest Debian package"
    return "sudo ./systemd/install.sh in the folder of Tilekeeper"


def read_service_state(system: System) -> str:
    """Return systemd's state of the service (`active`, `failed`, ...), or an empty string if it is unknown."""
    return system.ask("systemctl", "is-active", "tilekeeper.service")


def check_service(system: System, settings: Settings) -> Iterator[Finding]:
    """Check that the systemd service is enabled and running, and report the problems that the running table shows."""
    subject = Subject("service")
    if not is_service_installed(system):
        yield subject.note("not installed: the table does not start automatically", find_reinstall_remedy(system))
        yield from _find_problems(system, settings, "restart the table")
        return
    if system.ask("systemctl", "is-enabled", "tilekeeper.service") == "disabled":
        yield subject.warning("does not start when the machine starts", "sudo systemctl enable tilekeeper")
    state = read_service_state(system)
    if state == "active":
        yield subject.good("the table is running")
    elif state == "failed":
        remedy = "journalctl -u tilekeeper -n 20, then: sudo systemctl restart tilekeeper"
        yield subject.fault("the table stopped with an error", remedy)
    elif state == "activating":
        yield subject.warning("the table is starting, or keeps failing", "journalctl -u tilekeeper -n 20")
    elif state:
        yield subject.note("the table is not running", "sudo systemctl start tilekeeper")
    yield from _find_problems(system, settings, "sudo systemctl restart tilekeeper")


def _find_problems(system: System, settings: Settings, restart: str) -> Iterator[Finding]:
    """Report each problem that the page of a running table shows; `restart` is the remedy that restarts the table."""
    for notice in system.read_problems(settings.page.host, settings.page.port):
        subject = Subject(notice.trouble)
        if notice.trouble == "board":
            yield subject.note(notice.text, "the players fix this at the board or on the page")
        else:  # a restart loses what is only in memory
            yield subject.fault(notice.text, f"if it stays so, save a game in progress on the page, then: {restart}")


def is_closed_to_service(system: System, path: Path, mode: str) -> bool:
    """Return True if the service is installed, but may not use a file or folder; `mode` is that of test(1): r, w.

    Only root can find that out; for other users and for a missing file, return False.
    """
    found = system.path(path)
    if not is_service_installed(system) or not found.exists():
        return False
    answer = system.run("runuser", "-u", SERVICE_USER, "--", "test", f"-{mode}", str(found))
    return answer is not None and answer.returncode == 1 and not answer.stderr


def check_access(system: System, subject: Subject, pattern: str, group: str) -> Iterator[Finding]:
    """Check that the service may open all device files that match `pattern`; `group` is that of the files."""
    devices = (Path("/") / path.relative_to(system.root) for path in system.glob(pattern))
    if closed := next((device for device in devices if is_closed_to_service(system, device, "w")), None):
        remedy = f"sudo usermod -aG {group} {SERVICE_USER} && sudo udevadm trigger && sudo systemctl restart tilekeeper"
        yield subject.fault(f"the user {SERVICE_USER} may not use {closed}", remedy)
