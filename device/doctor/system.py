"""Read-only access to the machine that `tilekeeper doctor` examines: files, commands, GPIO lines, camera."""

from __future__ import annotations

import http.client
import os
import shutil
import subprocess
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
        from device.cameras import AutoExposureCamera, open_camera

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
