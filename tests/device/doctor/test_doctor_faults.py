"""One thing at a time that is not in order, and what the doctor says of it."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
import pytest

from device.cameras.base import Image
from device.doctor import Severity, examine
from tests.support.raspberry_pi import FIND_MOUNT, RaspberryPi, find_findings

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
    "a word list that the service may not read": (
        lambda pi: (
            pi.change("/etc/tilekeeper/settings.toml", 'lexicon = ""', 'lexicon = "/home/pi/words.txt"'),
            pi.write("/home/pi/words.txt", "HORN\n"),
            pi.close_to_service("/home/pi/words.txt"),
        ),
        "word list",
        "the table may not read /home/pi/words.txt",
        "sudo install -m 644 /home/pi/words.txt /etc/tilekeeper/",
    ),
    "pictures that the service may not read": (
        lambda pi: (
            pi.change("/etc/tilekeeper/settings.toml", 'source = "pi"', 'source = "folder:/home/pi/pics"'),
            pi.write("/home/pi/pics/1.jpg", ""),
            pi.close_to_service("/home/pi/pics"),
        ),
        "camera",
        "the table may not read the folder /home/pi/pics",
        "camera.source",
    ),
    "no folder of pictures": (
        lambda pi: pi.change("/etc/tilekeeper/settings.toml", 'source = "pi"', 'source = "folder:/srv/pics"'),
        "camera",
        "there is no folder /srv/pics",
        "camera.source",
    ),
    "camera not for the user": (
        lambda pi: pi.close_to_service("/dev/video0"),
        "camera",
        "the user tilekeeper may not use /dev/video0",
        "usermod -aG video",
    ),
    "pins not for the user": (
        lambda pi: pi.close_to_service("/dev/gpiochip0"),
        "pins",
        "may not use /dev/gpiochip0",
        "usermod -aG gpio",
    ),
    "card is full": (
        lambda pi: setattr(pi, "room", 90_000_000),
        "games",
        "90 MB are free in /var/lib/tilekeeper: soon no turn can be saved",
        "apt-get clean",
    ),
    "partition of the games is read-only": (
        lambda pi: pi.answer("findmnt", FIND_MOUNT, "ext4 ro,noatime /media/USB Stick"),
        "games",
        "/var/lib/tilekeeper is mounted read-only",
        "mount -o remount,rw '/media/USB Stick'",
    ),
    "profile of the tiles was copied with sudo": (
        lambda pi: (
            pi.write("/var/lib/tilekeeper/table.npz", ""),
            pi.close_to_service("/var/lib/tilekeeper/table.npz"),
        ),
        "games",
        "the table cannot write to /var/lib/tilekeeper/table.npz",
        "chown -R tilekeeper",
    ),
    "games on an overlay": (
        lambda pi: pi.answer("findmnt", FIND_MOUNT, "overlay rw,relatime /"),
        "games",
        "every game is lost when the power goes",
        "do_overlayfs 1",
    ),
    "folder of the games is another's": (
        lambda pi: pi.close_to_service("/var/lib/tilekeeper"),
        "games",
        "the table cannot write to /var/lib/tilekeeper",
        "chown -R tilekeeper",
    ),
    "voltage too low": (
        lambda pi: pi.answer("vcgencmd", "get_throttled", "throttled=0x50005"),
        "power",
        "the voltage is too low now",
        "power supply",
    ),
    "Wi-Fi without a country": (
        lambda pi: pi.answer("rfkill", "--noheadings --output SOFT,HARD list wifi", "blocked unblocked"),
        "wi-fi",
        "switched off",
        "do_wifi_country",
    ),
    "no network": (
        lambda pi: pi.answer("hostname", "-I", ""),
        "wi-fi",
        "neither Wi-Fi nor cable is connected",
        "nmtui",
    ),
    "loudspeaker not for the user": (
        lambda pi: (
            pi.change("/etc/tilekeeper/settings.toml", "[voice]\nuse = false", "[voice]\nuse = true"),
            pi.close_to_service("/dev/snd/pcmC0D0p"),
        ),
        "voice",
        "the user tilekeeper may not use /dev/snd/pcmC0D0p",
        "usermod -aG audio",
    ),
    "service ended with a fault": (
        lambda pi: pi.answer("systemctl", "is-active tilekeeper.service", "failed"),
        "service",
        "stopped with an error",
        "journalctl -u tilekeeper",
    ),
}
WARNINGS: dict[str, tuple[Break, str, str, str]] = {
    "a word list of a spell checker": (
        lambda pi: (
            pi.change("/etc/tilekeeper/settings.toml", 'lexicon = ""', f'lexicon = "{pi.path("/words.dic")}"'),
            pi.write("/words.dic", "2\nhorn/SM\nfarm/S\n"),
        ),
        "word list",
        "Words read from words: 2. Lines left out: 1 (with digits or signs: 1). This is the list of a spell",
        "name another file as game.lexicon",
    ),
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
    "voltage was too low": (
        lambda pi: pi.answer("vcgencmd", "get_throttled", "throttled=0x10000"),
        "power",
        "too low at times",
        "power supply",
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
    "service does not start by itself": (
        lambda pi: pi.answer("systemctl", "is-enabled tilekeeper.service", "disabled"),
        "service",
        "does not start when the machine starts",
        "systemctl enable",
    ),
    "service that keeps failing": (
        lambda pi: pi.answer("systemctl", "is-active tilekeeper.service", "activating"),
        "service",
        "the table is starting, or keeps failing",
        "journalctl -u tilekeeper",
    ),
    "no avahi": (
        lambda pi: pi.answer("systemctl", "is-active avahi-daemon.service", "inactive"),
        "name",
        "tilekeeper.local cannot be found",
        "apt install avahi-daemon",
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
    "hotspot that was deleted in the settings of the network": (
        lambda pi: pi.command("nmcli", {"--get-values NAME connection show": "home\nlo"}),
        "own wi-fi",
        "none is set up in NetworkManager",
        "install.sh --hotspot",
    ),
    "hotspot that does not open": (
        lambda pi: pi.command(
            "nmcli",
            {
                "--get-values NAME connection show": "home\ntilekeeper-hotspot\nlo",
                "--get-values TYPE,STATE device": "ethernet:connected\nwifi:connecting (configuring)",
            },
        ),
        "own wi-fi",
        "neither a known network nor",
        "nmcli connection up tilekeeper-hotspot",
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
