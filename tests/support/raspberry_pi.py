"""A Raspberry Pi 4 without faults below a folder: real files, and commands that are real programs.

Tests of faults change these files, commands and pins.
"""

from __future__ import annotations

import shutil
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

from device.cameras.base import Image
from device.doctor import Finding, Report, Severity
from device.doctor.system import System
from device.panel.gpio import find_header_chip
from device.settings import read_default_text
from tests.support.ports import find_free_port

SERVICE = Path(__file__).parents[2] / "systemd" / "tilekeeper.service"
FILES = {
    "/etc/os-release": 'PRETTY_NAME="Debian GNU/Linux 13 (trixie)"\nVERSION_CODENAME=trixie\n',
    "/etc/hostname": "tilekeeper\n",
    "/etc/tilekeeper/hotspot.toml": 'name = "Tilekeeper-k3fa"\npassword = "h7wq2mzrda"\naddress = "10.42.0.1"\n',
    "/proc/device-tree/model": "Raspberry Pi 4 Model B Rev 1.5\0",
    "/proc/sys/kernel/osrelease": "6.12.47+rpt-rpi-v8\n",
    "/sys/class/net/wlan0/wireless/nothing": "",
}
DEVICES = ("video0", "media0", "dma_heap/linux,cma", "gpiochip0", "gpiochip1", "i2c-1", "snd/pcmC0D0p")
FIND_MOUNT = "--noheadings --output FSTYPE,OPTIONS,TARGET --target /var/lib/tilekeeper"
COMMANDS: Mapping[str, Mapping[str, str]] = {
    "vcgencmd": {"get_throttled": "throttled=0x0"},
    "findmnt": {FIND_MOUNT: "ext4 rw,noatime /"},
    "hostname": {"-I": "192.168.1.20"},
    "rfkill": {"--noheadings --output SOFT,HARD list wifi": "unblocked unblocked"},
    "systemctl": {
        "is-active tilekeeper.service": "inactive",
        "is-enabled tilekeeper.service": "enabled",
        "is-active avahi-daemon.service": "active",
    },
    "journalctl": {"--dmesg --boot --no-pager --output=cat": "mmc0: new ultra high speed SDR104 SDHC card"},
    "timedatectl": {"show --property=NTPSynchronized --value": "yes"},
    "nmcli": {
        "--get-values NAME connection show": "home\ntilekeeper-hotspot\nlo",
        "--get-values TYPE,STATE device": "wifi:connected\nloopback:connected (externally)",
    },
    "ss": {},
    "espeak-ng": {},
}


class RaspberryPi(System):
    """A Raspberry Pi 4 without faults; `view` is the picture of its camera."""

    def __init__(self, root: Path, view: Image, port: int) -> None:
        super().__init__(root, str(root / "bin"))
        self.view = view
        self.labels = {0: "pinctrl-bcm2711", 1: "raspberrypi-exp-gpio"}
        self.users: dict[int, str] = {}
        self.room: int | None = None
        for name, text in FILES.items():
            self.write(name, text)
        self.write("/etc/systemd/system/tilekeeper.service", SERVICE.read_text(encoding="utf-8"))
        text = read_default_text().replace("port = 8080", f"port = {port}").replace('"auto"', '"pi"  ', 1)
        text = text.replace("port = 8443", f"port = {find_free_port()}")
        self.write("/etc/tilekeeper/settings.toml", text)
        for name in DEVICES:
            self.write(f"/dev/{name}", "")
        for command, answers in COMMANDS.items():
            self.command(command, answers)
        self.close_to_service()
        self.path("/var/lib/tilekeeper").mkdir(parents=True)

    def write(self, name: str, text: str) -> Path:
        """Write a file, replacing an existing one."""
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def change(self, name: str, old: str, new: str) -> None:
        """Replace a text in a file. Raises AssertionError if it is not there."""
        text = self.path(name).read_text(encoding="utf-8")
        assert old in text
        self.write(name, text.replace(old, new))

    def remove(self, name: str) -> None:
        """Remove a file or folder."""
        path = self.path(name)
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()

    def command(self, name: str, answers: Mapping[str, str]) -> None:
        """Write a program that prints an answer for each line of arguments; other arguments give exit status 1."""
        cases = [f"'{words}') printf '%s\\n' '{said.replace(chr(39), '')}' ;;" for words, said in answers.items()]
        self._write_program(name, "$*", [*cases, "*) exit 1 ;;"])

    def close_to_service(self, *names: str) -> None:
        """Let the user of the service read and write all files and folders but these.

        The command is `runuser -u USER -- test -w FILE`.
        """
        self._write_program("runuser", "$6", [f"'{self.path(name)}') exit 1 ;;" for name in names])

    def _write_program(self, name: str, word: str, cases: Sequence[str]) -> None:
        path = self.write(f"/bin/{name}", "\n".join(["#!/bin/sh", f'case "{word}" in', *cases, "esac", ""]))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def answer(self, name: str, arguments: str, said: str) -> None:
        """Change the answer of a command for these arguments."""
        self.command(name, {**COMMANDS[name], arguments: said})

    def read_line_users(self) -> dict[int, str]:
        find_header_chip(self.labels)
        return self.users

    def take_picture(self, source: str) -> Image:  # noqa: ARG002 (there is one camera)
        return self.view

    def measure_free_bytes(self, folder: Path) -> int:
        return super().measure_free_bytes(folder) if self.room is None else self.room


def find_findings(report: Report, subject: str, state: Severity) -> list[Finding]:
    """Return the findings about a subject that have this severity."""
    return [finding for finding in report.findings if finding.subject == subject and finding.state is state]
