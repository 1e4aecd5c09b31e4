"""The doctor: a table that is in order, and what it says of one thing at a time that is not."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from device.cameras import AbsentCamera, CameraError, Frame, Image
from device.cli import main
from device.doctor import Severity, System, examine
from device.doctor.network import check_secure_port
from device.doctor.program import PACKAGE_UNIT, REQUIRED_MODULES
from device.session.messages import Notice, Trouble
from device.session.table_session import TableSession
from device.settings import load_settings
from device.storage.store import GameStore
from engine.events import to_json
from tests.support.broker import make_certificate
from tests.support.raspberry_pi import RaspberryPi, find_findings
from tests.support.sessions import open_phone_session
from tests.support.text_table import STARTED, TextTable
from tests.support.waiting import until
from web import create_app
from web.security.server import PageServer, TlsSettings


def test_a_table_in_order_has_nothing_to_mend(pi: RaspberryPi) -> None:
    report = examine(pi)
    bad = [finding for finding in report.findings if finding.state in (Severity.WARNING, Severity.FAULT)]
    assert bad == []
    texts = [finding.text for finding in report.findings]
    assert "libcamera sees imx708 (4608 x 2592); it has autofocus" in texts
    assert "all 16 are available on gpiochip0 (pinctrl-bcm2711)" in texts
    assert report.versions["machine"] == "Raspberry Pi 4 Model B Rev 1.5"


def test_games_on_a_partition_of_their_own_below_an_overlay_are_good(pi: RaspberryPi) -> None:
    pi.change(
        "/proc/mounts", "/dev/mmcblk0p2 / ext4", "/dev/mmcblk0p3 /var/lib/tilekeeper ext4 rw 0 0\noverlayroot / overlay"
    )
    assert not find_findings(examine(pi), "games", Severity.FAULT)


def test_games_on_a_stick_whose_name_has_a_space_are_good(pi: RaspberryPi) -> None:
    pi.change("/etc/systemd/system/tilekeeper.service", "--data /var/lib/tilekeeper", "")
    pi.change("/etc/tilekeeper/settings.toml", 'folder = ""', 'folder = "/media/USB Stick/games"')
    pi.write("/proc/mounts", "overlayroot / overlay rw 0 0\n/dev/sda1 /media/USB\\040Stick ext4 rw 0 0\n")
    folder = pi.path("/media/USB Stick/games")
    folder.mkdir(parents=True)
    folder.chmod(0o770)
    assert not find_findings(examine(pi), "games", Severity.FAULT)


def test_games_are_examined_in_the_folder_that_the_service_uses(pi: RaspberryPi) -> None:
    pi.change("/etc/tilekeeper/settings.toml", 'folder = ""', 'folder = "/mnt/stick"')
    good = find_findings(examine(pi), "games", Severity.GOOD)
    assert any("/var/lib/tilekeeper/games.db is intact" in finding.text for finding in good)


def test_games_of_a_user_are_examined_in_the_data_folder_of_the_environment(
    pi: RaspberryPi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/srv/data")
    pi.remove("/etc/systemd/system/tilekeeper.service")
    pi.write("/srv/data/tilekeeper/games.db", "x" * 4096)
    (finding,) = find_findings(examine(pi, picture=False), "games", Severity.FAULT)
    assert finding.text.startswith("/srv/data/tilekeeper/games.db is damaged")
    assert finding.remedy.startswith("restart the table:")


def test_deleted_games_are_not_counted(pi: RaspberryPi) -> None:
    with GameStore(pi.path("/var/lib/tilekeeper/games.db")) as store:
        store.delete_game(store.begin_game(to_json(STARTED)))
        store.begin_game(to_json(STARTED))
    good = find_findings(examine(pi), "games", Severity.GOOD)
    assert any(finding.text.endswith("is intact: 1 game") for finding in good)


def test_settings_of_cloud_init_that_cannot_be_read_are_skipped(pi: RaspberryPi) -> None:
    pi.path("/etc/cloud/cloud.cfg.d/50-network.cfg").mkdir(parents=True)  # root may read every file
    pi.write("/etc/cloud/cloud.cfg.d/60-owner.cfg", "").write_bytes(b"# M\xfcller\n")
    assert find_findings(examine(pi), "name", Severity.GOOD)


@pytest.mark.parametrize("name", ['"tilekeeper"', "'tilekeeper'", "tilekeeper # of the table"])
def test_name_of_cloud_init_may_be_quoted(pi: RaspberryPi, name: str) -> None:
    pi.write("/etc/cloud/cloud.cfg", "")
    pi.write("/boot/firmware/user-data", f"hostname: {name}\n")
    assert not find_findings(examine(pi), "name", Severity.WARNING)


def test_a_name_that_cloud_init_leaves_alone_is_good(pi: RaspberryPi) -> None:
    pi.write("/etc/cloud/cloud.cfg.d/99-tilekeeper.cfg", "preserve_hostname: true\n")
    pi.write("/boot/firmware/user-data", "hostname: raspberrypi\n")
    assert [finding.text for finding in find_findings(examine(pi), "name", Severity.GOOD)] == ["tilekeeper.local"]


@pytest.mark.parametrize(
    ("candidate", "texts"),
    [("0.2.0~trixie", ["0.1.0~trixie is installed, and 0.2.0~trixie is available"]), ("0.1.0~trixie", [])],
)
def test_newer_package_is_reported(pi: RaspberryPi, candidate: str, texts: list[str]) -> None:
    policy = f"tilekeeper:\n  Installed: 0.1.0~trixie\n  Candidate: {candidate}\n"
    pi.command("apt-cache", {"policy tilekeeper": policy})
    assert [finding.text for finding in find_findings(examine(pi, picture=False), "version", Severity.NOTE)] == texts


def test_port_in_use_is_reported_with_its_user(pi: RaspberryPi, port: int) -> None:
    pi.answer("ss", f"-Hltnp sport = :{port}", f'LISTEN 0 511 *:{port} *:* users:(("apache2",pid=77,fd=4))')
    with socket.socket() as other:
        other.bind(("", port))
        other.listen()
        (finding,) = find_findings(examine(pi, picture=False), "page", Severity.FAULT)
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
        (finding,) = find_findings(examine(pi, picture=False), "page", Severity.WARNING)
    assert f"port {secure} is used by another program" in finding.text and "secure_port" in finding.remedy


def test_port_of_https_that_another_program_took_from_the_running_service_is_a_warning(
    pi: RaspberryPi, port: int
) -> None:
    pi.answer("systemctl", "is-active tilekeeper.service", "active")
    with socket.create_server(("", 0)) as other:
        secure = other.getsockname()[1]
        pi.write("/etc/tilekeeper/settings.toml", f"[page]\nport = {port}\nsecure_port = {secure}\n")
        pi.answer("ss", f"-Hltnp sport = :{secure}", f'LISTEN 0 5 *:{secure} *:* users:(("java",pid=77,fd=3))')
        (finding,) = find_findings(examine(pi, picture=False), "page", Severity.WARNING)
    assert finding.text == f"no https: port {secure} is used by another program (java)"


def test_port_of_https_is_good_if_a_table_answers_there(pi: RaspberryPi, tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path, "table")
    tls = TlsSettings(certificate, certificate.with_suffix(".key"), 0)
    with (
        open_phone_session(TextTable()) as session,
        PageServer(create_app(session), 0, "127.0.0.1", tls=tls) as server,
    ):
        pi.write(
            "/etc/tilekeeper/settings.toml",
            f'[page]\nhost = "127.0.0.1"\nport = {server.port}\nsecure_port = {server.secure_port}\n',
        )
        findings = list(check_secure_port(pi, load_settings(pi.path("/etc/tilekeeper/settings.toml"))))
    assert findings == []


def test_a_running_table_is_left_its_camera_its_port_and_its_pins(pi: RaspberryPi, port: int) -> None:
    pi.answer("systemctl", "is-active tilekeeper.service", "active")
    pi.answer("ss", f"-Hltnp sport = :{port}", f'LISTEN 0 128 *:{port} *:* users:(("tilekeeper",pid=77,fd=4))')
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
    assert find_findings(examine(pi), "camera", Severity.FAULT)


@pytest.fixture
def package_pi(pi: RaspberryPi) -> RaspberryPi:
    """A Raspberry Pi on which the Debian package was installed."""
    unit = pi.path(PACKAGE_UNIT)
    unit.parent.mkdir(parents=True)
    pi.path("/etc/systemd/system/tilekeeper.service").rename(unit)
    return pi


def test_libraries_of_the_debian_package_are_restored_by_the_package(package_pi: RaspberryPi) -> None:
    package_pi.change("/etc/tilekeeper/settings.toml", "displays = []", 'displays = ["oled:0x3C"]')
    package_pi.remove("/python/luma")
    (finding,) = find_findings(examine(package_pi, picture=False), "displays", Severity.WARNING)
    assert "sudo apt install --reinstall ./tilekeeper_*.deb" in finding.remedy


def test_hotspot_of_the_debian_package_is_made_by_its_script(package_pi: RaspberryPi, port: int) -> None:
    package_pi.remove("/etc/tilekeeper/hotspot.toml")
    (finding,) = find_findings(examine(package_pi, picture=False), "own wi-fi", Severity.NOTE)
    assert f'sudo /opt/tilekeeper/make-hotspot.sh "" {port} && ' in finding.remedy


def test_user_of_the_service_is_created_from_the_file_of_any_installation(package_pi: RaspberryPi) -> None:
    package_pi.change("/etc/passwd", "tilekeeper:", "somebody:")
    (finding,) = find_findings(examine(package_pi, picture=False), "user", Severity.FAULT)
    assert finding.remedy.startswith("sudo systemd-sysusers tilekeeper.conf && ")


def test_no_remedy_for_the_debian_package_is_the_installer(package_pi: RaspberryPi) -> None:
    package_pi.write("/etc/tilekeeper/hotspot.toml", "name = 1\n")
    package_pi.write("/etc/group", "")
    findings = examine(package_pi, picture=False).findings
    assert not [finding for finding in findings if "install.sh" in finding.remedy or "/etc/sysusers" in finding.remedy]


EXAMINER = """
import json, sys
from dataclasses import asdict
from pathlib import Path
from device.doctor import System
from device.doctor.network import check_hotspot
from device.doctor.games import check_games
from device.settings import Settings

system = System(Path(sys.argv[1]), "")
print(json.dumps([asdict(one) for check in (check_games, check_hotspot) for one in check(system, Settings())]))
"""


def examine_as_user(pi: RaspberryPi, *closed: str) -> list[dict[str, str]]:
    """Return the findings about games and hotspot for a user who may not open the files `closed`."""
    without_rights = []
    for name in closed:
        pi.path(name).chmod(0)
        if os.getuid() == 0:  # root may open every file, until it gives up these rights
            os.chown(pi.path(name), 4711, 4711)
            without_rights = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    command = [*without_rights, sys.executable, "-c", EXAMINER, str(pi.root)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout))


def test_games_that_only_the_service_may_open_are_left_to_root(pi: RaspberryPi) -> None:
    findings = examine_as_user(pi, "/var/lib/tilekeeper")
    (note,) = [one for one in findings if one["state"] == "note"]
    assert note["text"] == "/var/lib/tilekeeper cannot be opened" and note["remedy"] == "sudo tilekeeper doctor"


def test_hotspot_that_only_the_service_may_read_is_not_called_missing(pi: RaspberryPi) -> None:
    (found,) = [one for one in examine_as_user(pi, "/etc/tilekeeper/hotspot.toml") if one["subject"] == "own wi-fi"]
    assert found["text"] == "its name and password cannot be read" and found["remedy"] == "sudo tilekeeper doctor"


class DarkAtFirst(AbsentCamera):
    """A USB camera whose pictures are dark until it has adjusted to the light."""

    level = 9

    def settle(self) -> None:
        self.level = 120

    def capture_still(self) -> Frame:
        return Frame(np.full((90, 160, 3), self.level, np.uint8), 0.0)


def test_picture_is_taken_after_the_camera_has_adjusted_to_the_light(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("device.cameras.open_camera", lambda _: DarkAtFirst(""))
    assert System().take_picture("usb:0").mean() == 120


def test_network_camera_that_answers_is_good(pi: RaspberryPi) -> None:
    with socket.socket() as camera:
        camera.bind(("127.0.0.1", 0))
        camera.listen()
        address = f"http://anna:secret@127.0.0.1:{camera.getsockname()[1]}/video"
        pi.change("/etc/tilekeeper/settings.toml", 'source = "pi"', f'source = "{address}"')
        texts = [finding.text for finding in find_findings(examine(pi, picture=False), "camera", Severity.GOOD)]
    assert texts == [f"network camera at {address.replace('anna:secret@', '')}"]


@contextmanager
def open_running_table(pi: RaspberryPi, more_settings: str = "") -> Iterator[TableSession]:
    """Serve the page of a table whose port is in the settings, with `more_settings`, and return its session."""
    with (
        open_phone_session(TextTable()) as session,
        PageServer(create_app(session), 0, "127.0.0.1") as server,
    ):
        pi.write("/etc/tilekeeper/settings.toml", f"[page]\nport = {server.port}\n{more_settings}")
        yield session


def test_fault_of_the_camera_that_a_running_table_shows_is_a_fault(pi: RaspberryPi) -> None:
    pi.answer("systemctl", "is-active tilekeeper.service", "active")
    with open_running_table(pi) as session:
        assert not find_findings(examine(pi), "camera", Severity.FAULT)
        session.notify(Notice("The picture of the camera is black.", Trouble.CAMERA))
        until(lambda: bool(session.state.notices))
        (finding,) = find_findings(examine(pi), "camera", Severity.FAULT)
    assert finding.text == "The picture of the camera is black." and "restart" in finding.remedy


@pytest.mark.parametrize(("trouble", "state"), [(Trouble.STORE, Severity.FAULT), (Trouble.BOARD, Severity.NOTE)])
def test_problem_that_a_running_table_with_a_phone_shows_is_reported(
    pi: RaspberryPi, trouble: Trouble, state: Severity
) -> None:
    pi.answer("systemctl", "is-active tilekeeper.service", "active")
    with open_running_table(pi, '[camera]\nsource = "phone"\n') as session:
        session.notify(Notice("The table has a problem.", trouble))
        until(lambda: bool(session.state.notices))
        (finding,) = find_findings(examine(pi, picture=False), str(trouble), state)
    assert finding.text == "The table has a problem." and finding.remedy


def test_problem_of_a_table_without_a_service_is_reported(pi: RaspberryPi) -> None:
    pi.remove("/etc/systemd/system/tilekeeper.service")
    with open_running_table(pi) as session:
        session.notify(Notice("The table has no store.", Trouble.STORE))
        until(lambda: bool(session.state.notices))
        (finding,) = find_findings(examine(pi, picture=False), "store", Severity.FAULT)
    assert "systemctl" not in finding.remedy


def test_message_of_a_running_table_without_a_problem_is_not_reported(pi: RaspberryPi) -> None:
    pi.answer("systemctl", "is-active tilekeeper.service", "active")
    with open_running_table(pi) as session:
        session.notify(Notice("Anna begins."))
        until(lambda: bool(session.state.notices))
        texts = [finding.text for finding in examine(pi, picture=False).findings]
    assert "Anna begins." not in texts


def test_turns_can_end_by_themselves_below_a_phone_on_a_stand(pi: RaspberryPi) -> None:
    pi.change("/etc/tilekeeper/settings.toml", 'source = "pi"', 'source = "phone-stream"')
    pi.change("/etc/tilekeeper/settings.toml", 'auto = "off"', 'auto = "end"')
    assert not find_findings(examine(pi, picture=False), "camera", Severity.WARNING)


def test_turns_that_cannot_end_by_themselves_are_a_warning(pi: RaspberryPi) -> None:
    pi.change("/etc/tilekeeper/settings.toml", 'auto = "off"', 'auto = "end"')
    assert not find_findings(examine(pi), "camera", Severity.WARNING)
    pi.change("/etc/tilekeeper/settings.toml", 'source = "pi"', 'source = "phone"')
    assert "table.auto = end" in find_findings(examine(pi), "camera", Severity.WARNING)[0].text


def test_before_installing_only_the_program_is_looked_at(tmp_path: Path) -> None:
    report = examine(System(tmp_path, ""), program_only=True)
    assert {finding.subject for finding in report.findings} == {"settings", "libraries", "networks", "word list"}
    assert report.count(Severity.FAULT) == 0


def test_an_empty_machine_is_no_reason_to_fail(tmp_path: Path) -> None:
    report = examine(System(tmp_path, "", []))
    assert find_findings(report, "camera", Severity.FAULT) and find_findings(report, "service", Severity.NOTE)


def test_every_library_that_a_table_needs_is_checked() -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = {re.split(r"[<>=]", line)[0] for line in project["dependencies"] if not line.startswith("font-")}
    assert set(REQUIRED_MODULES.values()) == needed - {"babel"}  # an installed table needs no Babel


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
