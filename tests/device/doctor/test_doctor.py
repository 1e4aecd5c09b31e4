"""The doctor: a table that is in order, and what it says of one thing at a time that is not."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest

from device.cameras import CameraError, Image
from device.cli import main
from device.doctor import Finding, Report, Severity, System, examine
from device.system.hotspot import Hotspot, HotspotError, read_hotspot
from tests.support.raspberry_pi import RaspberryPi
from vision.rendering.simulated_table import SimulatedTable

Break = Callable[[RaspberryPi], object]


@pytest.fixture(scope="module")
def view() -> Image:
    """A board with a few words, from above."""
    table = SimulatedTable(3)
    words = {(7, 4 + i): letter for i, letter in enumerate("QUARTZ")} | {(3 + i, 6): s for i, s in enumerate("PLAY")}
    table.lay_tiles(words | {(7, 6): "A"})
    return table.photograph().image


@pytest.fixture
def port() -> Iterator[int]:
    """A port of this machine that is free."""
    with socket.socket() as probe:
        probe.bind(("", 0))
        number = probe.getsockname()[1]
    yield number


@pytest.fixture
def pi(tmp_path: Path, view: Image, port: int) -> RaspberryPi:
    return RaspberryPi(tmp_path, view, port)


def found(report: Report, subject: str, state: Severity) -> list[Finding]:
    return [finding for finding in report.findings if finding.subject == subject and finding.state is state]


def test_a_table_in_order_has_nothing_to_mend(pi: RaspberryPi) -> None:
    report = examine(pi)
    bad = [finding for finding in report.findings if finding.state in (Severity.WARNING, Severity.FAULT)]
    assert bad == []
    texts = [finding.text for finding in report.findings]
    assert "libcamera sees imx708 (4608 x 2592); it has autofocus" in texts
    assert "all 16 are available on gpiochip0 (pinctrl-bcm2711)" in texts
    assert report.versions["machine"] == "Raspberry Pi 4 Model B Rev 1.5"


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
        "games.db.damaged",
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
        lambda pi: setattr(pi, "view", _smaller(pi.view, 0.35)),
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


def _smaller(image: Image, scale: float) -> Image:
    """The picture in the middle of a larger, grey one of the same size."""
    height, width = image.shape[:2]
    small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    top, left = (height - small.shape[0]) // 2, (width - small.shape[1]) // 2
    whole = np.full_like(image, 110)
    whole[top : top + small.shape[0], left : left + small.shape[1]] = small
    return whole


def _tells(pi: RaspberryPi, case: tuple[Break, str, str, str], state: Severity, picture: bool = False) -> None:
    break_it, subject, text, mend = case
    break_it(pi)
    findings = found(examine(pi, picture=picture), subject, state)
    assert any(text in finding.text and mend in finding.mend for finding in findings), findings


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_told_with_what_mends_it(pi: RaspberryPi, name: str) -> None:
    _tells(pi, FAULTS[name], Severity.FAULT)


def test_games_on_a_partition_of_their_own_below_an_overlay_are_good(pi: RaspberryPi) -> None:
    pi.change(
        "/proc/mounts", "/dev/mmcblk0p2 / ext4", "/dev/mmcblk0p3 /var/lib/tilekeeper ext4 rw 0 0\noverlayroot / overlay"
    )
    assert not found(examine(pi), "games", Severity.FAULT)


def test_a_name_that_cloud_init_leaves_alone_is_good(pi: RaspberryPi) -> None:
    pi.write("/etc/cloud/cloud.cfg.d/99-tilekeeper.cfg", "preserve_hostname: true\n")
    pi.write("/boot/firmware/user-data", "hostname: raspberrypi\n")
    assert [finding.text for finding in found(examine(pi), "name", Severity.GOOD)] == ["tilekeeper.local"]


@pytest.mark.parametrize(
    ("candidate", "texts"),
    [("0.2.0~trixie", ["0.1.0~trixie is installed, and 0.2.0~trixie is available"]), ("0.1.0~trixie", [])],
)
def test_newer_package_is_reported(pi: RaspberryPi, candidate: str, texts: list[str]) -> None:
    policy = f"tilekeeper:\n  Installed: 0.1.0~trixie\n  Candidate: {candidate}\n"
    pi.command("apt-cache", {"policy tilekeeper": policy})
    assert [finding.text for finding in found(examine(pi, picture=False), "version", Severity.NOTE)] == texts


@pytest.mark.parametrize("name", WARNINGS)
def test_a_warning_is_told_with_what_mends_it(pi: RaspberryPi, name: str) -> None:
    _tells(pi, WARNINGS[name], Severity.WARNING)


@pytest.mark.parametrize("name", PICTURES)
def test_a_poor_picture_is_told_with_what_mends_it(pi: RaspberryPi, name: str) -> None:
    _tells(pi, PICTURES[name], Severity.WARNING, picture=True)


def test_a_port_in_use_is_told_with_its_user(pi: RaspberryPi, port: int) -> None:
    pi.answer("ss", f"-Hltnp sport = :{port}", f'LISTEN 0 511 *:{port} *:* users:(("apache2",pid=77,fd=4))')
    with socket.socket() as other:
        other.bind(("", port))
        other.listen()
        (finding,) = found(examine(pi, picture=False), "page", Severity.FAULT)
    assert finding.text == f"port {port} is used by another program (apache2)"


def test_ports_of_a_table_that_a_user_started_are_good(pi: RaspberryPi, port: int) -> None:
    with socket.create_server(("", port)), socket.create_server(("", 0)) as other:
        secure = other.getsockname()[1]
        pi.write("/etc/tilekeeper/settings.toml", f"[page]\nport = {port}\nsecure_port = {secure}\n")
        users = 'LISTEN 0 128 *:* *:* users:(("tilekeeper",pid=77,fd=4))'
        pi.command("ss", {f"-Hltnp sport = :{number}": users for number in (port, secure)})
        findings = [finding for finding in examine(pi, picture=False).findings if finding.subject == "page"]
    assert [finding.text for finding in findings] == [f"served on port {port}"]


def test_port_of_https_in_use_is_a_warning(pi: RaspberryPi, port: int) -> None:
    with socket.create_server(("", 0)) as other:
        secure = other.getsockname()[1]
        pi.write("/etc/tilekeeper/settings.toml", f"[page]\nport = {port}\nsecure_port = {secure}\n")
        (finding,) = found(examine(pi, picture=False), "page", Severity.WARNING)
    assert f"port {secure} is used by another program" in finding.text and "secure_port" in finding.mend


def test_a_running_table_is_left_its_camera_its_port_and_its_pins(pi: RaspberryPi, port: int) -> None:
    pi.answer("systemctl", "is-active tilekeeper.service", "active")
    pi.users.update(dict.fromkeys((5, 6, 13), "lg"))
    with socket.socket() as table:
        table.bind(("", port))
        table.listen()
        report = examine(pi)
    assert report.count(Severity.FAULT) == report.count(Severity.WARNING) == 0
    assert any("running table is using it" in finding.text for finding in report.findings)


def test_a_camera_that_gives_no_picture_is_a_fault(pi: RaspberryPi, monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(_source: str) -> Image:
        raise CameraError("the camera sends no pictures. Check its cable")

    monkeypatch.setattr(pi, "take_picture", lost)
    assert found(examine(pi), "camera", Severity.FAULT)


def test_turns_that_cannot_end_by_themselves_are_a_warning(pi: RaspberryPi) -> None:
    pi.change("/etc/tilekeeper/settings.toml", 'auto = "off"', 'auto = "end"')
    assert not found(examine(pi), "camera", Severity.WARNING)
    pi.change("/etc/tilekeeper/settings.toml", 'source = "pi"', 'source = "phone"')
    assert "table.auto = end" in found(examine(pi), "camera", Severity.WARNING)[0].text


def test_before_installing_only_the_program_is_looked_at(tmp_path: Path) -> None:
    report = examine(System(tmp_path, ""), program_only=True)
    assert {finding.subject for finding in report.findings} == {"settings", "libraries", "networks", "word list"}
    assert report.count(Severity.FAULT) == 0


def test_an_empty_machine_is_no_reason_to_fail(tmp_path: Path) -> None:
    report = examine(System(tmp_path, "", []))
    assert found(report, "camera", Severity.FAULT) and found(report, "service", Severity.NOTE)


def test_the_command_answers_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--program", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["faults"] == 0 and answer["versions"]["python"]
    assert all(finding.keys() == {"subject", "state", "text", "mend"} for finding in answer["findings"])


def test_the_command_says_what_to_mend_and_ends_with_status_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "settings.toml").write_text("[page]\nport = 0\n", encoding="utf-8")
    assert main(["doctor", "--program", "--settings", str(tmp_path / "settings.toml")]) == 1
    said = capsys.readouterr().out
    assert "FAIL  settings: " in said and "line 2: page.port: 0 is not allowed here" in said and "-> sudo nano" in said


def test_the_own_wifi_is_read(tmp_path: Path) -> None:
    path = tmp_path / "hotspot.toml"
    assert read_hotspot(path) is None
    path.write_text('name = "Tilekeeper-k3fa"\npassword = "h7wq2mzrda"\naddress = "10.42.0.1"\n', encoding="utf-8")
    made = read_hotspot(path)
    assert made == Hotspot("Tilekeeper-k3fa", "h7wq2mzrda", "10.42.0.1")
    assert made.qr_text == "WIFI:T:WPA;S:Tilekeeper-k3fa;P:h7wq2mzrda;;"


@pytest.mark.parametrize("text", [f"name = {'9' * 5000}", f"name = {'[' * 3000}"])
def test_hotspot_file_with_a_huge_number_or_deep_nesting_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "hotspot.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(HotspotError, match="not valid TOML"):
        read_hotspot(path)


def test_the_own_wifi_is_open_while_its_address_is_the_machines(tmp_path: Path) -> None:
    routes = tmp_path / "fib_trie"
    made = Hotspot("a", "b", "10.42.0.1")
    assert not made.is_active(routes)
    routes.write_text("|-- 10.42.0.10\n   /32 host LOCAL\n", encoding="utf-8")
    assert not made.is_active(routes)
    routes.write_text("|-- 10.42.0.1\n   /32 host LOCAL\n", encoding="utf-8")
    assert made.is_active(routes)


@pytest.mark.parametrize("text", ["name =", 'name = ""\npassword = "x"\naddress = "y"\n'])
def test_a_broken_file_of_the_own_wifi_is_said(tmp_path: Path, text: str) -> None:
    path = tmp_path / "hotspot.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(HotspotError, match=r"hotspot\.toml"):
        read_hotspot(path)


@pytest.mark.parametrize(
    ("address", "is_client"),
    [("10.42.0.17", True), ("::ffff:10.42.0.17", True), ("10.42.0.1", False), ("192.168.1.7", False), ("?", False)],
)
def test_phone_in_the_own_wifi_is_recognised(monkeypatch: pytest.MonkeyPatch, address: str, is_client: bool) -> None:
    monkeypatch.setattr(Hotspot, "is_active", lambda _: True)
    assert Hotspot("Tilekeeper-k3fa", "h7wq2mzrda", "10.42.0.1").has_client(address) is is_client
