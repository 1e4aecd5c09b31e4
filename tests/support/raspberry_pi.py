"""A Raspberry Pi 4 without faults below a folder: real files, and commands that are real programs.

Tests of faults change these files, commands and pins.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Mapping
from pathlib import Path

from device.cameras import Image
from device.doctor import Finding, Report, Severity
from device.doctor.system import GpioLine, System
from device.settings_document import read_default_text
from device.storage.store import GameStore
from tests.support.ports import find_free_port

SERVICE = Path(__file__).parents[2] / "systemd" / "tilekeeper.service"
GROUPS = ("video", "render", "gpio", "i2c", "spi")

FILES = {
    "/etc/os-release": 'PRETTY_NAME="Debian GNU/Linux 13 (trixie)"\nVERSION_CODENAME=trixie\n',
    "/etc/hostname": "tilekeeper\n",
    "/etc/passwd": "root:x:0:0:root:/root:/bin/bash\ntilekeeper:x:987:987::/var/lib/tilekeeper:/usr/sbin/nologin\n",
    "/etc/tilekeeper/hotspot.toml": 'name = "Tilekeeper-k3fa"\npassword = "h7wq2mzrda"\naddress = "10.42.0.1"\n',
    "/proc/device-tree/model": "Raspberry Pi 4 Model B Rev 1.5\0",
    "/proc/mounts": "/dev/mmcblk0p2 / ext4 rw,noatime 0 0\ntmpfs /run tmpfs rw 0 0\n",
    "/proc/sys/kernel/osrelease": "6.12.47+rpt-rpi-v8\n",
    "/sys/class/net/eth0/operstate": "down\n",
    "/sys/class/net/wlan0/operstate": "up\n",
    "/sys/class/net/wlan0/wireless/nothing": "",
    "/sys/class/rfkill/rfkill0/type": "wlan\n",
    "/sys/class/rfkill/rfkill0/soft": "0\n",
    "/sys/class/rfkill/rfkill0/hard": "0\n",
    "/sys/class/thermal/thermal_zone0/temp": "48686\n",
    "/sys/fs/ext4/mmcblk0p2/errors_count": "0\n",
    "/usr/sbin/avahi-daemon": "",
}
DEVICES = ("video0", "media0", "dma_heap/linux,cma", "gpiochip0", "gpiochip1", "i2c-1", "snd/pcmC0D0p")
CAMERAS = """Available cameras
-----------------
0 : imx708 [4608x2592 10-bit RGGB] (/base/soc/i2c0mux/i2c@1/imx708@1a)
    Modes: 'SRGGB10_CSI2P' : 1536x864 [120.13 fps - (768, 432)/3072x1728 crop]
"""
COMMANDS: Mapping[str, Mapping[str, str]] = {
    "vcgencmd": {"get_throttled": "throttled=0x0"},
    "rpicam-hello": {"--list-cameras": CAMERAS},
    "systemctl": {
        "is-active tilekeeper.service": "inactive",
        "is-enabled tilekeeper.service": "enabled",
        "is-active avahi-daemon.service": "active",
    },
    "journalctl": {"--dmesg --boot --no-pager --output=cat": "mmc0: new ultra high speed SDR104 SDHC card"},
    "timedatectl": {"show --property=NTPSynchronized --value": "yes"},
    "nmcli": {"--get-values NAME connection show": "home\ntilekeeper-hotspot\nlo"},
    "ss": {},
    "espeak-ng": {},
}


class RaspberryPi(System):
    """A Raspberry Pi 4 without faults; `view` is the picture of its camera."""

    def __init__(self, root: Path, view: Image, port: int) -> None:
        super().__init__(root, str(root / "bin"), [str(root / "python")])
        self.view = view
        self.labels = {0: "pinctrl-bcm2711", 1: "raspberrypi-exp-gpio"}
        self.users: dict[int, str] = {}
        self.room: int | None = None
        for name, text in FILES.items():
            self.write(name, text)
        self.write("/etc/group", "".join(f"{name}:x:{os.getgid()}:tilekeeper\n" for name in GROUPS))
        self.write("/etc/systemd/system/tilekeeper.service", SERVICE.read_text(encoding="utf-8"))
        text = read_default_text().replace("port = 8080", f"port = {port}")
        text = text.replace("port = 8443", f"port = {find_free_port()}")
        self.write("/etc/tilekeeper/settings.toml", text)
        for name in DEVICES:
            self.write(f"/dev/{name}", "").chmod(0o660)
        for name in ("picamera2", "luma"):
            self.write(f"/python/{name}/__init__.py", "")
        for command, answers in COMMANDS.items():
            self.command(command, answers)
        data = self.path("/var/lib/tilekeeper")
        data.mkdir(parents=True)
        data.chmod(0o770)
        with GameStore(data / "games.db"):
            pass
        for file in data.iterdir():
            file.chmod(0o660)

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
        cases = "".join(
            f"'{words}') printf '%s\\n' '{said.replace(chr(39), '')}' ;;\n" for words, said in answers.items()
        )
        path = self.write(f"/bin/{name}", f'#!/bin/sh\ncase "$*" in\n{cases}*) exit 1 ;;\nesac\n')
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def answer(self, name: str, arguments: str, said: str) -> None:
        """Change the answer of a command for these arguments."""
        self.command(name, {**COMMANDS[name], arguments: said})

    def read_gpio_chips(self) -> dict[int, tuple[str, tuple[GpioLine, ...]]]:
        lines = tuple(GpioLine(number, self.users.get(number, "")) for number in range(58))
        return {number: (label, lines) for number, label in self.labels.items()}

    def take_picture(self, source: str) -> Image:  # noqa: ARG002 (there is one camera)
        return self.view

    def measure_free_bytes(self, name: str | Path) -> int | None:
        return super().measure_free_bytes(name) if self.room is None else self.room


def find_findings(report: Report, subject: str, state: Severity) -> list[Finding]:
    """Return the findings about a subject that have this severity."""
    return [finding for finding in report.findings if finding.subject == subject and finding.state is state]
