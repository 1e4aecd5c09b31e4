"""The machine that `tilekeeper doctor` examines, read only: files, commands, the installed service, GPIO lines, camera.

A check reports what it finds as a `Finding`.
"""

from __future__ import annotations

import http.client
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from device.settings import Settings

if TYPE_CHECKING:
    from device.cameras.base import Image


class Severity(StrEnum):
    """Severity of a finding, from `GOOD` to `FAULT`."""

    GOOD = "good"
    NOTE = "note"
    """Information only; nothing needs to be done."""
    WARNING = "warning"
    """The table works, but a part of it is missing or about to fail."""
    FAULT = "fault"
    """The table does not work until the fault is fixed."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One result of a check of the machine.

    `subject` is a short heading (`camera`), `state` the severity, `text` a sentence for the user, and `remedy` the
    command or action that fixes the fault (empty if nothing needs to be done).
    """

    subject: str
    state: Severity
    text: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Subject:
    """Factory for findings with the same subject (heading)."""

    name: str

    def good(self, text: str) -> Finding:
        """Return a finding for a part that works."""
        return Finding(self.name, Severity.GOOD, text)

    def note(self, text: str, remedy: str = "") -> Finding:
        """Return a finding for information only."""
        return Finding(self.name, Severity.NOTE, text, remedy)

    def warning(self, text: str, remedy: str) -> Finding:
        """Return a finding for a part that is missing or about to fail."""
        return Finding(self.name, Severity.WARNING, text, remedy)

    def fault(self, text: str, remedy: str) -> Finding:
        """Return a finding for a fault that keeps the table from working."""
        return Finding(self.name, Severity.FAULT, text, remedy)


COMMAND_TIMEOUT_S = 15.0
"""Maximum running time of a command in seconds. A command that takes longer is stopped."""
CONNECT_TIMEOUT_S = 3.0
"""Maximum time for a connection to another machine in seconds."""
MAX_STATE_BYTES = 4_000_000
_COMMAND_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"  # the PATH of a service may lack sbin


class TableNotice(msgspec.Struct, frozen=True):
    """A message of a running table, and the part with a problem (`board`, `camera`, `store` or `none`)."""

    text: str
    trouble: str


class _TableState(msgspec.Struct, frozen=True):
    """The part of the answer to `GET /api/v1/state` that the doctor needs."""

    notices: tuple[TableNotice, ...]


class System:
    """The machine to examine; in tests, a folder with the layout of a root file system."""

    def __init__(self, root: Path = Path("/"), commands: str = _COMMAND_PATH) -> None:
        """Examine the machine with the root folder `root`; `commands` is used as PATH."""
        self.root = root
        self._commands = commands

    def path(self, name: str | Path) -> Path:
        """Return the path below `root` for an absolute path on the examined machine."""
        return self.root / str(name).lstrip("/")

    def read_text(self, name: str | Path) -> str:
        """Return the text of a file without surrounding white space and NULs; empty if it cannot be read."""
        try:
            return self.path(name).read_text(encoding="utf-8", errors="replace").strip(" \t\r\n\0")
        except OSError:
            return ""

    def glob(self, pattern: str) -> list[Path]:
        """Return a sorted list of the paths (below `root`) that match an absolute `pattern`."""
        return sorted(self.root.glob(pattern.lstrip("/")))

    def run(self, command: str, *arguments: str) -> subprocess.CompletedProcess[str] | None:
        """Run a command; return None if the command does not exist or takes longer than `COMMAND_TIMEOUT_S`."""
        program = shutil.which(command, path=self._commands)
        if program is None:
            return None
        environment = {**os.environ, "LC_ALL": "C", "PATH": self._commands}
        words = [program, *arguments]
        try:
            return subprocess.run(
                words, capture_output=True, text=True, errors="replace", timeout=COMMAND_TIMEOUT_S, env=environment
            )
        except (OSError, subprocess.TimeoutExpired):
            return None

    def ask(self, command: str, *arguments: str) -> str:
        """Run a command and return what it printed, without surrounding white space; empty if it cannot be run."""
        answer = self.run(command, *arguments)
        return answer.stdout.strip() if answer else ""

    def measure_free_bytes(self, folder: Path) -> int:
        """Return the free bytes on the file system of a folder."""
        return shutil.disk_usage(self.path(folder)).free

    def read_line_users(self) -> dict[int, str]:
        """Return the name of the program that has opened each line of the GPIO header (empty if unused), by number.

        Raises ImportError if lgpio is not installed, and `GpioUnavailableError` if the header cannot be opened.
        """
        import lgpio

        from device.panel.gpio import find_header_chip, read_chip_labels

        handle = lgpio.gpiochip_open(find_header_chip(read_chip_labels(lgpio)))
        try:
            count = lgpio.gpio_get_chip_info(handle)[1]
            line_infos = (lgpio.gpio_get_line_info(handle, line) for line in range(count))
            return {line: user.rstrip("\0") for _, line, _, _, user in line_infos}
        finally:
            lgpio.gpiochip_close(handle)

    def take_picture(self, source: str) -> Image:
        """Take one picture, `(H, W, 3) uint8 BGR`, with the camera `source` (as in settings). Raises `CameraError`.

        The camera adjusts to the light first, as at the beginning of a game: its first picture may be dark.
        """
        from device.cameras import open_camera
        from device.cameras.base import AutoExposureCamera

        camera = open_camera(source)
        try:
            if isinstance(camera, AutoExposureCamera):
                camera.settle()
            return camera.capture_still().image
        finally:
            camera.close()

    def read_problems(self, host: str, port: int) -> tuple[TableNotice, ...]:
        """Return the messages about problems of the table whose page is at `host` (empty: all addresses) and `port`.

        If no table answers there, there are no messages.
        """
        connection = http.client.HTTPConnection(host or "127.0.0.1", port, timeout=CONNECT_TIMEOUT_S)
        try:
            connection.request("GET", "/api/v1/state")
            state = msgspec.json.decode(connection.getresponse().read(MAX_STATE_BYTES), type=_TableState)
        except (OSError, http.client.HTTPException, msgspec.MsgspecError):
            return ()
        finally:
            connection.close()
        return tuple(notice for notice in state.notices if notice.trouble != "none")


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
