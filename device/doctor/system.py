"""Read-only access to the machine that `tilekeeper doctor` examines: files, commands, GPIO lines, camera."""

from __future__ import annotations

import errno
import http.client
import os
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from device.cameras import Image

COMMAND_TIMEOUT_S = 15.0
"""Maximum running time of a command in seconds. A command that takes longer is stopped."""
CONNECT_TIMEOUT_S = 3.0
"""Maximum time for a connection to another machine in seconds."""
MAX_STATE_BYTES = 4_000_000
_COMMAND_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"  # the PATH of a service may lack sbin


@dataclass(frozen=True, slots=True)
class CompletedCommand:
    """Exit status and output of a command."""

    status: int
    out: str
    err: str


@dataclass(frozen=True, slots=True)
class GpioLine:
    """A line of a GPIO chip: its number, and the name of the program that has opened it (empty if unused)."""

    number: int
    user: str


@dataclass(frozen=True, slots=True)
class UserAccount:
    """A Unix user; `groups` maps the names of all groups of the user to their numbers (GID)."""

    name: str
    uid: int
    groups: Mapping[str, int]


class TableNotice(msgspec.Struct, frozen=True):
    """A message of a running table, and the part with a problem (`board`, `camera`, `store` or `none`)."""

    text: str
    trouble: str


class _TableState(msgspec.Struct, frozen=True):
    """The part of the answer to `GET /api/v1/state` that the doctor needs."""

    notices: tuple[TableNotice, ...]


class System:
    """The machine to examine; in tests, a folder with the layout of a root file system."""

    def __init__(
        self, root: Path = Path("/"), commands: str = _COMMAND_PATH, modules: Sequence[str] | None = None
    ) -> None:
        """Examine the machine with the root folder `root`; `commands` is used as PATH, and `modules` as `sys.path`."""
        self.root = root
        self._commands = commands
        self._modules = modules

    def path(self, name: str | Path) -> Path:
        """Return the path below `root` for an absolute path on the examined machine."""
        return self.root / str(name).lstrip("/")

    def read_text(self, name: str | Path) -> str | None:
        """Return the text of a file without surrounding white space and NULs, or None if it cannot be read."""
        try:
            return self.path(name).read_text(encoding="utf-8", errors="replace").strip(" \t\r\n\0")
        except OSError:
            return None

    def glob(self, pattern: str) -> list[Path]:
        """Return a sorted list of the paths (below `root`) that match an absolute `pattern`."""
        return sorted(self.root.glob(pattern.lstrip("/")))

    def has_command(self, command: str) -> bool:
        """Return True if a command of this name is found in PATH."""
        return shutil.which(command, path=self._commands) is not None

    def run(self, command: str, *arguments: str) -> CompletedCommand | None:
        """Run a command; return None if the command does not exist or takes longer than `COMMAND_TIMEOUT_S`."""
        program = shutil.which(command, path=self._commands)
        if program is None:
            return None
        try:
            completed = subprocess.run(
                [program, *arguments],
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                timeout=COMMAND_TIMEOUT_S,
                env={**os.environ, "LC_ALL": "C", "PATH": self._commands},
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return CompletedCommand(completed.returncode, completed.stdout, completed.stderr)

    def has_module(self, name: str) -> bool:
        """Return True if Python can find the module; the module is not imported."""
        return PathFinder.find_spec(name, self._modules) is not None

    def measure_free_bytes(self, name: str | Path) -> int | None:
        """Return the free bytes on the file system of a folder, or None if unknown; the folder need not exist."""
        folder = self.path(name)
        while not folder.exists() and folder != folder.parent:
            folder = folder.parent
        try:
            return shutil.disk_usage(folder).free
        except OSError:
            return None

    def find_account(self, name: str) -> UserAccount | None:
        """Return the user with this name from `/etc/passwd` and `/etc/group`, or None if there is no such user."""
        number = group = None
        for fields in _split_entries(self.read_text("/etc/passwd")):
            if fields[0] == name and len(fields) > 3:
                number, group = int(fields[2]), int(fields[3])
        if number is None:
            return None
        groups = {
            fields[0]: int(fields[2])
            for fields in _split_entries(self.read_text("/etc/group"))
            if len(fields) > 3 and (name in fields[3].split(",") or int(fields[2]) == group)
        }
        return UserAccount(name, number, groups)

    def read_group_names(self) -> frozenset[str]:
        """Return the names of all groups in `/etc/group`."""
        return frozenset(fields[0] for fields in _split_entries(self.read_text("/etc/group")))

    def read_gpio_chips(self) -> dict[int, tuple[str, tuple[GpioLine, ...]]]:
        """Return the label and the lines of each GPIO chip, by chip number.

        Raises ImportError if lgpio is not installed, and `GpioUnavailableError` if a chip cannot be opened.
        """
        import lgpio

        from device.panel.gpio import read_chip_labels

        chips = {}
        for number, label in read_chip_labels(lgpio).items():
            handle = lgpio.gpiochip_open(number)
            try:
                count = lgpio.gpio_get_chip_info(handle)[1]
                line_infos = (lgpio.gpio_get_line_info(handle, line) for line in range(count))
                lines = tuple(GpioLine(line, user.rstrip("\0")) for _, line, _, _, user in line_infos)
            finally:
                lgpio.gpiochip_close(handle)
            chips[number] = (label.rstrip("\0"), lines)
        return chips

    def take_picture(self, source: str) -> Image:
        """Take one picture, `(H, W, 3) uint8 BGR`, with the camera `source` (as in settings). Raises `CameraError`.

        The camera adjusts to the light first, as at the beginning of a game: its first picture may be dark.
        """
        from device.cameras import AutoExposureCamera, open_camera

        camera = open_camera(source)
        try:
            if isinstance(camera, AutoExposureCamera):
                camera.settle()
            return camera.capture_still().image
        finally:
            camera.close()

    def can_connect(self, host: str, port: int) -> bool:
        """Return True if a program on the machine `host` accepts connections on this TCP port."""
        try:
            socket.create_connection((host, port), CONNECT_TIMEOUT_S).close()
        except (OSError, UnicodeError):  # UnicodeError: no name of a machine
            return False
        return True

    def read_problems(self, host: str, port: int) -> tuple[TableNotice, ...]:
        """Return the messages of a running table about problems.

        The table's page is at `host` (empty: all addresses) and `port`. If it does not answer, there are no messages.
        """
        state = _request_state(http.client.HTTPConnection(host or "127.0.0.1", port, timeout=CONNECT_TIMEOUT_S))
        return tuple(notice for notice in state.notices if notice.trouble != "none") if state else ()

    def serves_table_securely(self, host: str, port: int) -> bool:
        """Return True if a table answers over https at `host` (empty: all addresses) and `port`."""
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # the table makes its certificate itself
        connection = http.client.HTTPSConnection(host or "127.0.0.1", port, timeout=CONNECT_TIMEOUT_S, context=context)
        return _request_state(connection) is not None

    def is_port_free(self, host: str, port: int) -> bool:
        """Return True if a server can listen on the port, and False if another program uses the port.

        Raises OSError for any other problem, such as a missing permission.
        """
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except OSError as error:
                if error.errno == errno.EADDRINUSE:
                    return False
                raise
        return True


def can_read(path: Path, account: UserAccount, root: Path = Path("/")) -> bool:
    """Return True if `account` may read a file or folder and enter all folders above it, up to `root`."""
    needed = 0o5 if path.is_dir() else 0o4
    parents = [folder for folder in path.parents if folder.is_relative_to(root) and folder != root]
    return _has_access(path, account, needed) and all(_has_access(folder, account, 0o1) for folder in parents)


def can_write(path: Path, account: UserAccount) -> bool:
    """Return True if `account` may read and write a file or folder, according to its owner, group and mode."""
    return _has_access(path, account, 0o6)


def _request_state(connection: http.client.HTTPConnection) -> _TableState | None:
    """Return the state of the table at the other end of a connection, or None if no table answers there."""
    try:
        connection.request("GET", "/api/v1/state")
        return msgspec.json.decode(connection.getresponse().read(MAX_STATE_BYTES), type=_TableState)
    except (OSError, http.client.HTTPException, msgspec.MsgspecError):
        return None
    finally:
        connection.close()


def _has_access(path: Path, account: UserAccount, needed: int) -> bool:
    """Return True if `account` has the `needed` permissions (4 read, 2 write, 1 execute or enter)."""
    if account.uid == 0:
        return True
    status = path.stat()
    if status.st_uid == account.uid:
        return status.st_mode >> 6 & needed == needed
    if status.st_gid in account.groups.values():
        return status.st_mode >> 3 & needed == needed
    return status.st_mode & needed == needed


def _split_entries(text: str | None) -> Iterable[list[str]]:
    return (line.split(":") for line in (text or "").splitlines() if ":" in line)
