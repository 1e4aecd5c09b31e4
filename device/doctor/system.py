"""The machine that the doctor looks at: its files, its commands, its pins, its camera. Nothing of it is changed."""

from __future__ import annotations

import errno
import os
import shutil
import socket
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from device.cameras import Image

COMMAND_TIMEOUT_S = 15.0
"""A command that takes longer hangs."""
_COMMAND_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"  # a service's PATH may lack the sbins


@dataclass(frozen=True, slots=True)
class CompletedCommand:
    """What a command answered."""

    status: int
    out: str
    err: str


@dataclass(frozen=True, slots=True)
class GpioLine:
    """A line of a GPIO chip: its number, and who uses it (empty: nobody)."""

    number: int
    user: str


@dataclass(frozen=True, slots=True)
class UserAccount:
    """A user by name, with the names and numbers of all its groups."""

    name: str
    uid: int
    groups: Mapping[str, int]


class System:
    """This machine, or one that is laid out under another root with commands of its own."""

    def __init__(
        self, root: Path = Path("/"), commands: str = _COMMAND_PATH, modules: Sequence[str] | None = None
    ) -> None:
        """`commands` is a search path as in PATH, `modules` one as `sys.path` (default: that)."""
        self.root = root
        self._commands = commands
        self._modules = modules

    def path(self, name: str | Path) -> Path:
        """Where the file is that the machine calls `name` (an absolute path)."""
        return self.root / str(name).lstrip("/")

    def read_text(self, name: str | Path) -> str | None:
        """What stands in a file, without the spaces and zeros around it; None where it cannot be read."""
        try:
            return self.path(name).read_text(encoding="utf-8", errors="replace").strip(" \t\r\n\0")
        except OSError:
            return None

    def glob(self, pattern: str) -> list[Path]:
        """The files that `pattern` (absolute) finds, in order."""
        return sorted(self.root.glob(pattern.lstrip("/")))

    def has_command(self, command: str) -> bool:
        """Whether there is such a command."""
        return shutil.which(command, path=self._commands) is not None

    def run(self, command: str, *arguments: str) -> CompletedCommand | None:
        """What a command answers; None where there is no such command, or it hangs."""
        program = shutil.which(command, path=self._commands)
        if program is None:
            return None
        try:
            done = subprocess.run(
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
        return CompletedCommand(done.returncode, done.stdout, done.stderr)

    def has_module(self, name: str) -> bool:
        """Whether Python finds a module of that name; it is not imported."""
        return PathFinder.find_spec(name, self._modules) is not None

    def free_bytes(self, name: str | Path) -> int | None:
        """Bytes free for files under a folder, or under the nearest one above it that exists."""
        place = self.path(name)
        while not place.exists() and place != place.parent:
            place = place.parent
        try:
            return shutil.disk_usage(place).free
        except OSError:
            return None

    def find_account(self, name: str) -> UserAccount | None:
        """The user of that name, from the machine's own lists."""
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
        """The names of all groups of the machine."""
        return frozenset(fields[0] for fields in _split_entries(self.read_text("/etc/group")))

    def read_gpio_chips(self) -> dict[int, tuple[str, tuple[GpioLine, ...]]]:
        """Number -> label and lines of every GPIO chip. Raises ImportError without lgpio, `GpioUnavailableError`
        otherwise."""
        import lgpio

        from device.panel.gpio import read_chip_labels

        found = {}
        for number, label in read_chip_labels(lgpio).items():
            handle = lgpio.gpiochip_open(number)
            try:
                count = lgpio.gpio_get_chip_info(handle)[1]
                told = (lgpio.gpio_get_line_info(handle, line) for line in range(count))
                lines = tuple(GpioLine(line, user.rstrip("\0")) for _, line, _, _, user in told)
            finally:
                lgpio.gpiochip_close(handle)
            found[number] = (label.rstrip("\0"), lines)
        return found

    def take_picture(self, source: str) -> Image:
        """One picture of the table, `(H, W, 3) uint8 BGR`. Raises `CameraError`."""
        from device.cameras import open_camera

        camera = open_camera(source)
        try:
            return camera.still().image
        finally:
            camera.close()

    def is_port_free(self, host: str, port: int) -> bool:
        """Whether a page could be served there. Raises OSError where something else than another server forbids it."""
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


def can_write(path: Path, account: UserAccount) -> bool:
    """Whether `account` may read and write a file or folder, by its owner, group and mode."""
    if account.uid == 0:
        return True
    found = path.stat()
    if found.st_uid == account.uid:
        return found.st_mode & 0o600 == 0o600
    if found.st_gid in account.groups.values():
        return found.st_mode & 0o060 == 0o060
    return found.st_mode & 0o006 == 0o006


def _split_entries(text: str | None) -> Iterable[list[str]]:
    return (line.split(":") for line in (text or "").splitlines() if ":" in line)
