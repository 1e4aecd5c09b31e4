"""One thing at a time that is not in order, and what the doctor says of it."""

from __future__ import annotations

import os
from collections.abc import Callable

import cv2
import numpy as np
import pytest

from device.cameras import Image
from device.doctor import Severity, examine
from tests.support.raspberry_pi import RaspberryPi, find_findings

Break = Callable[[RaspberryPi], object]

FAULTS: dict[str, tuple[Break, str, str, str]] = {
    "settings with a mistake": (
        lambda pi: pi.change("/etc/tilekeeper/settings.toml", "challenge = 17", "challenge = 5"),
        "settings",
        "panel.challenge: GPIO 5 is already used by end_turn",
        "nano",
    ),
    "a word list that is not there": (
        lambda pi: pi.change("/etc/tilekeeper/settings.toml", 'lexicon = ""', 'lexicon = "/etc/tilekeeper/words.txt"'),
        "word list",
        "/etc/tilekeeper/words.txt",
        "game.lexicon",
    ),
    "a word list in a home folder": (
        lambda pi: pi.change("/etc/tilekeeper/settings.toml", 'lexicon = ""', 'lexicon = "/home/pi/words.txt"'),
        "word list",
        "/home/pi/words.txt is in a home folder, which the service cannot see",
        "sudo install -m 644 /home/pi/words.txt /etc/tilekeeper/",
    ),
    "a word list that only root may read": (
        lambda pi: (
            pi.change("/etc/tilekeeper/settings.toml", 'lexicon = ""', 'lexicon = "/etc/tilekeeper/words.txt"'),
            pi.write("/etc/tilekeeper/words.txt", "HORN\n").chmod(0o600),
            os.chown(pi.path("/etc/tilekeeper/words.txt"), 0, 4711) if os.getuid() == 0 else None,
        ),
        "word list",
        "/etc/tilekeeper/words.txt cannot be read by the user tilekeeper",
        "install -m 644",
    ),
    "pictures in a home folder": (
        lambda pi: pi.change("/etc/tilekeeper/settings.toml", 'source = "pi"', 'source = "folder:/home/pi/pics"'),
        "camera",
        "the folder /home/pi/pics is in a home folder, which the service cannot see",
        "camera.source",
    ),
    "pictures in the home folder of an unknown user": (
        lambda pi: pi.change("/etc/tilekeeper/settings.toml", 'source = "pi"', 'source = "folder:~nobody-here/pics"'),
        "camera",
        "there is no folder ~nobody-here/pics",
        "camera.source",
    ),
    "the second camera module is not there": (
        lambda pi: pi.change("/etc/tilekeeper/settings.toml", 'source = "pi"', 'source = "pi:1"'),
        "camera",
        "libcamera sees 1 camera module, and none is pi:1",
        'camera.source = "pi"',
    ),
    "no picamera2": (
        lambda pi: pi.remove("/python/picamera2"),
        "camera",
        "picamera2 is not installed",
        "apt install python3-picamera2",
    ),
    "cable of the camera is loose": (
        lambda pi: pi.answer("rpicam-hello", "--list-cameras", "No cameras available!"),
        "camera",
        "libcamera sees no camera module",
        "ribbon cable",
    ),
    "USB camera, but the settings want a module": (
        lambda pi: (
            pi.answer("rpicam-hello", "--list-cameras", "No cameras available!"),
            pi.write("/dev/v4l/by-id/usb-046d_C920-video-index0", ""),
        ),
        "camera",
        "a USB camera is plugged in",
        'camera.source = "usb:/dev/v4l/by-id/usb-046d_C920-video-index0"',
    ),
    "USB camera is unplugged": (
        lambda pi: pi.change("/etc/tilekeeper/settings.toml", 'source = "pi"', 'source = "usb:2"'),
        "camera",
        "/dev/video2 is missing",
        "lsusb",
    ),
    "network camera is switched off": (
        lambda pi: pi.change("/etc/tilekeeper/settings.toml", 'source = "pi"', 'source = "http://u:pw@127.0.0.1:1/v"'),
        "camera",
        "nothing answers at http://127.0.0.1:1/v",
        "switch the camera on",
    ),
    "password of a network camera with a number sign": (
        lambda pi: pi.change("/etc/tilekeeper/settings.toml", 'source = "pi"', 'source = "rtsp://u:a#b@127.0.0.1/v"'),
        "camera",
        "rtsp://127.0.0.1/v is not a valid address",
        "# as %23",
    ),
    "device in place of a USB camera": (
        lambda pi: (
            pi.change("/etc/tilekeeper/settings.toml", 'source = "pi"', 'source = "usb:0"'),
            pi.write("/sys/class/video4linux/video0/name", "unicam"),
            pi.write("/dev/v4l/by-id/usb-046d_C920-video-index0", ""),
        ),
        "camera",
        "/dev/video0 is no USB camera, but unicam",
        'camera.source = "usb:/dev/v4l/by-id/usb-046d_C920-video-index0"',
    ),
    "camera not for the user": (
        lambda pi: pi.path("/dev/video0").chmod(0o600),
        "camera",
        "the user tilekeeper may not use /dev/video0",
        "usermod -aG video",
    ),
    "user in no group": (
        lambda pi: pi.write("/etc/group", "video:x:44:\ngpio:x:997:\ni2c:x:998:\nspi:x:999:\nrender:x:105:\n"),
        "user",
        "not in the groups video, gpio, i2c, spi, render",
        "usermod -aG video,gpio,i2c,spi,render",
    ),
    "user is missing": (
        lambda pi: pi.change("/etc/passwd", "tilekeeper:", "somebody:"),
        "user",
        "no user tilekeeper",
        "systemd-sysusers",
    ),
    "pins not for the user": (
        lambda pi: pi.path("/dev/gpiochip0").chmod(0o600),
        "pins",
        "may not use /dev/gpiochip0",
        "usermod -aG gpio",
    ),
    "card is full": (
        lambda pi: setattr(pi, "room", 90_000_000),
        "games",
        "only 90 MB are free",
        "apt-get clean",
    ),
    "card is read-only": (
        lambda pi: pi.change("/proc/mounts", "rw,noatime", "ro,noatime"),
        "card",
        "mounted read-only",
        "write a new card",
    ),
    "partition of the games is read-only": (
        lambda pi: pi.write(
            "/proc/mounts",
            "/dev/mmcblk0p2 / ext4 rw 0 0\n/dev/sda1 /var/lib/tilekeeper ext4 ro,noatime 0 0\n",
        ),
        "games",
        "/var/lib/tilekeeper is mounted read-only",
        "mount -o remount,rw /var/lib/tilekeeper",
    ),
    "profile of the tiles was copied with sudo": (
        lambda pi: (
            pi.write("/var/lib/tilekeeper/table.npz", "").chmod(0o600),
            os.chown(pi.path("/var/lib/tilekeeper/table.npz"), 0, 4711) if os.getuid() == 0 else None,
        ),
        "games",
        "the table cannot write to /var/lib/tilekeeper/table.npz",
        "chown -R tilekeeper",
    ),
    "games on an overlay": (
        lambda pi: pi.change("/proc/mounts", "/dev/mmcblk0p2 / ext4", "overlayroot / overlay"),
        "games",
        "every game is lost when the power goes",
        "do_overlayfs 1",
    ),
    "folder of the games is another's": (
        lambda pi: pi.path("/var/lib/tilekeeper").chmod(0o700),
        "games",
        "the table cannot write to",
        "chown -R tilekeeper",
    ),
    "store is damaged": (
        lambda pi: pi.write("/var/lib/tilekeeper/games.db", "x" * 4096),
        "games",
        "is damaged, or is not a store",
        "restart tilekeeper: the table keeps the file, and recovers the games",
    ),
    "store was copied with sudo": (
        lambda pi: (
            pi.write("/var/lib/tilekeeper/games.db", "x" * 4096).chmod(0o600),
            os.chown(pi.path("/var/lib/tilekeeper/games.db"), 0, 4711) if os.getuid() == 0 else None,
        ),
        "games",
        "the table cannot write to /var/lib/tilekeeper/games.db",
        "chown -R tilekeeper",
    ),
    "voltage too low": (
        lambda pi: pi.answer("vcgencmd", "get_throttled", "throttled=0x50005"),
        "power",
        "the voltage is too low now",
        "power supply",
    ),
    "Wi-Fi without a country": (
        lambda pi: pi.write("/sys/class/rfkill/rfkill0/soft", "1\n"),
        "wi-fi",
        "switched off",
        "do_wifi_country",
    ),
    "no network": (
        lambda pi: pi.write("/sys/class/net/wlan0/operstate", "down\n"),
        "wi-fi",
        "neither Wi-Fi nor cable is connected",
        "nmtui",
    ),
    "port of the machine's own": (
        lambda pi: (
            pi.write("/etc/tilekeeper/settings.toml", "[page]\nport = 80\n"),
            pi.write("/etc/systemd/system/tilekeeper.service", "[Service]\nCapabilityBoundingSet=\n"),
        ),
        "page",
        "the table's user may not open port 80",
        "page.port = 8080",
    ),
    "service ended with a fault": (
        lambda pi: pi.answer("systemctl", "is-active tilekeeper.service", "failed"),
        "service",
        "stopped with an error",
        "journalctl -u tilekeeper",
    ),
}
WARNINGS: dict[str, tuple[Break, str, str, str]] = {
    "a pin is taken": (
        lambda pi: pi.users.update({18: "PWM0"}),
        "pins",
        "GPIO 18 (status_light) is used by 'PWM0'",
        "config.txt",
    ),
    "no header among the chips": (
        lambda pi: pi.labels.update({0: "something-else"}),
        "pins",
        "GPIO header of a Raspberry Pi",
        "panel.use = false",
    ),
    "display without its bus": (
        lambda pi: (
            pi.change("/etc/tilekeeper/settings.toml", "displays = []", 'displays = ["oled:0x3C"]'),
            pi.remove("/dev/i2c-1"),
        ),
        "displays",
        "/dev/i2c-1 is missing",
        "do_i2c 0",
    ),
    "voltage was too low": (
        lambda pi: pi.answer("vcgencmd", "get_throttled", "throttled=0x10000"),
        "power",
        "too low at times",
        "power supply",
    ),
    "too hot": (
        lambda pi: pi.write("/sys/class/thermal/thermal_zone0/temp", "82300\n"),
        "temperature",
        "82 °C",
        "heat sink",
    ),
    "card with errors in the log": (
        lambda pi: pi.answer(
            "journalctl",
            "--dmesg --boot --no-pager --output=cat",
            "mmc0: card never left busy state\nmmc0: error -110 whilst initialising SD card",
        ),
        "card",
        "mmc0: error -110",
        "new card",
    ),
    "file system with errors": (
        lambda pi: pi.write("/sys/fs/ext4/mmcblk0p2/errors_count", "3\n"),
        "card",
        "has had 3 errors",
        "new card",
    ),
    "service does not start by itself": (
        lambda pi: pi.answer("systemctl", "is-enabled tilekeeper.service", "disabled"),
        "service",
        "does not start when the machine starts",
        "systemctl enable",
    ),
    "no avahi": (
        lambda pi: pi.remove("/usr/sbin/avahi-daemon"),
        "name",
        "tilekeeper.local cannot be found",
        "apt install avahi-daemon",
    ),
    "cloud-init restores another name": (
        lambda pi: (
            pi.write("/etc/cloud/cloud.cfg", "preserve_hostname: false\n"),
            pi.write("/boot/firmware/user-data", "#cloud-config\nhostname: raspberrypi\nmanage_etc_hosts: true\n"),
        ),
        "name",
        "cloud-init will rename this machine to raspberrypi at the next start",
        "sudo /opt/tilekeeper/host-name.sh set tilekeeper",
    ),
    "voice without espeak": (
        lambda pi: (
            pi.change("/etc/tilekeeper/settings.toml", "[voice]\nuse = false", "[voice]\nuse = true"),
            pi.remove("/bin/espeak-ng"),
        ),
        "voice",
        "espeak-ng is not installed",
        "apt install espeak-ng",
    ),
    "loudspeaker not for the user": (
        lambda pi: (
            pi.change("/etc/tilekeeper/settings.toml", "[voice]\nuse = false", "[voice]\nuse = true"),
            pi.path("/dev/snd/pcmC0D0p").chmod(0o600),
        ),
        "voice",
        "the user tilekeeper may not use the loudspeaker",
        "usermod -aG audio",
    ),
    "hall whose broker does not answer": (
        lambda pi: (
            pi.change(
                "/etc/tilekeeper/settings.toml", 'host = ""                               # the', 'host = "127.0.0.1" #'
            ),
            pi.write("/python/paho/__init__.py", ""),
            pi.change("/etc/tilekeeper/settings.toml", "port = 1883", "port = 1"),
            pi.change("/etc/tilekeeper/settings.toml", 'table = ""', 'table = "7"'),
        ),
        "hall",
        "127.0.0.1:1 cannot be reached",
        "is the broker on?",
    ),
    "hotspot that was deleted in the settings of the network": (
        lambda pi: pi.command("nmcli", {"--get-values NAME connection show": "home\nlo"}),
        "own wi-fi",
        "NetworkManager no longer has the connection tilekeeper-hotspot",
        "install.sh --hotspot",
    ),
    "hotspot file with a mistake": (
        lambda pi: pi.write("/etc/tilekeeper/hotspot.toml", "name = 1\n"),
        "own wi-fi",
        "must have the keys name, password, address",
        "install.sh",
    ),
}
PICTURES: dict[str, tuple[Break, str, str, str]] = {
    "it is dark": (lambda pi: setattr(pi, "view", pi.view // 8), "light", "dark", "lamp"),
    "lens out of focus": (
        lambda pi: setattr(pi, "view", cv2.GaussianBlur(pi.view, (0, 0), 0.08 * pi.view.shape[0] / 15)),
        "focus",
        "blurred",
        "turn the lens",
    ),
    "camera too far away": (
        lambda pi: setattr(pi, "view", _shrink_picture(pi.view, 0.35)),
        "board",
        "it is small in the picture",
        "closer",
    ),
    "no board under the camera": (
        lambda pi: setattr(pi, "view", np.full_like(pi.view, 120)),
        "board",
        "no board in the picture",
        "under the camera",
    ),
}


def _shrink_picture(image: Image, scale: float) -> Image:
    """Return a grey picture of the same size with `image` in its middle, reduced by `scale`."""
    height, width = image.shape[:2]
    small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    top, left = (height - small.shape[0]) // 2, (width - small.shape[1]) // 2
    whole = np.full_like(image, 110)
    whole[top : top + small.shape[0], left : left + small.shape[1]] = small
    return whole


def _assert_finding(pi: RaspberryPi, case: tuple[Break, str, str, str], state: Severity, picture: bool = False) -> None:
    """Break a part of the machine as in `case`; check that the doctor has the finding with the severity `state`."""
    break_part, subject, text, remedy = case
    break_part(pi)
    findings = find_findings(examine(pi, picture=picture), subject, state)
    assert any(text in finding.text and remedy in finding.remedy for finding in findings), findings


@pytest.mark.parametrize("name", FAULTS)
def test_fault_is_reported_with_its_remedy(pi: RaspberryPi, name: str) -> None:
    _assert_finding(pi, FAULTS[name], Severity.FAULT)


@pytest.mark.parametrize("name", WARNINGS)
def test_warning_is_reported_with_its_remedy(pi: RaspberryPi, name: str) -> None:
    _assert_finding(pi, WARNINGS[name], Severity.WARNING)


@pytest.mark.parametrize("name", PICTURES)
def test_poor_picture_is_reported_with_its_remedy(pi: RaspberryPi, name: str) -> None:
    _assert_finding(pi, PICTURES[name], Severity.WARNING, picture=True)
