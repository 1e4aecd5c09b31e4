"""The doctor: a table that is in order, and what it says of one thing at a time that is not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from device.cameras.base import AbsentCamera, CameraError, Frame, Image
from device.cli import main
from device.doctor import Severity, System, examine
from device.doctor.checks import check_speech
from device.doctor.system import PACKAGE_UNIT
from device.session.messages import Notice, Trouble
from device.session.table_session import TableSession
from device.settings import Settings, VoiceSettings
from tests.support.raspberry_pi import RaspberryPi, find_findings
from tests.support.sessions import open_phone_session
from tests.support.text_table import TextTable
from tests.support.waiting import until
from web import create_app
from web.security.server import PageServer


def test_a_table_in_order_has_nothing_to_mend(pi: RaspberryPi) -> None:
    report = examine(pi)
    bad = [finding for finding in report.findings if finding.state in (Severity.WARNING, Severity.FAULT)]
    assert bad == []
    texts = [finding.text for finding in report.findings]
    assert "all 16 are available" in texts and "pi takes pictures" in texts
    assert report.versions["machine"] == "Raspberry Pi 4 Model B Rev 1.5"


def test_games_are_examined_in_the_folder_that_the_service_uses(pi: RaspberryPi) -> None:
    pi.change("/etc/tilekeeper/settings.toml", 'folder = ""', 'folder = "/mnt/stick"')
    assert find_findings(examine(pi), "games", Severity.GOOD)[0].text.endswith(" MB are free in /var/lib/tilekeeper")


@pytest.mark.parametrize(
    ("candidate", "texts"),
    [("0.2.0~trixie", ["0.1.0~trixie is installed, and 0.2.0~trixie is available"]), ("0.1.0~trixie", [])],
)
def test_newer_package_is_reported(pi: RaspberryPi, candidate: str, texts: list[str]) -> None:
    policy = f"tilekeeper:\n  Installed: 0.1.0~trixie\n  Candidate: {candidate}\n"
    pi.command("apt-cache", {"policy tilekeeper": policy})
    assert [finding.text for finding in find_findings(examine(pi, picture=False), "version", Severity.NOTE)] == texts


@pytest.mark.parametrize(
    ("setting", "text", "state"),
    [
        ("port", "port {} is used by apache2", Severity.FAULT),
        ("secure_port", "no https: port {} is used by apache2", Severity.WARNING),
    ],
)
def test_port_in_use_is_reported_with_its_user(pi: RaspberryPi, setting: str, text: str, state: Severity) -> None:
    pi.write("/etc/tilekeeper/settings.toml", f"[page]\n{setting} = 8181\n")
    pi.answer("ss", "-Hltnp sport = :8181", 'LISTEN 0 511 *:8181 *:* users:(("apache2",pid=77,fd=4))')
    pi.answer("systemctl", "is-active tilekeeper.service", "active")
    (finding,) = find_findings(examine(pi, picture=False), "page", state)
    assert finding.text == text.format(8181) and setting in finding.remedy


@pytest.mark.parametrize(("state", "severity"), [("active", Severity.GOOD), ("inactive", Severity.FAULT)])
def test_port_whose_user_only_root_can_see_belongs_to_a_running_table(
    pi: RaspberryPi, port: int, state: str, severity: Severity
) -> None:
    pi.answer("systemctl", "is-active tilekeeper.service", state)
    pi.answer("ss", f"-Hltnp sport = :{port}", f"LISTEN 0 128 *:{port} *:*")
    assert find_findings(examine(pi, picture=False), "page", severity)


def test_a_running_table_is_left_its_camera_its_port_and_its_pins(pi: RaspberryPi, port: int) -> None:
    pi.answer("systemctl", "is-active tilekeeper.service", "active")
    pi.answer("ss", f"-Hltnp sport = :{port}", f'LISTEN 0 128 *:{port} *:* users:(("tilekeeper",pid=77,fd=4))')
    pi.users.update(dict.fromkeys((5, 6, 13), "lg"))
    report = examine(pi)
    assert report.count(Severity.FAULT) == report.count(Severity.WARNING) == 0
    assert any("running table is using it" in finding.text for finding in report.findings)


def test_a_camera_that_gives_no_picture_is_a_fault(pi: RaspberryPi, monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(_source: str) -> Image:
        raise CameraError("the camera sends no pictures. Check its cable")

    monkeypatch.setattr(pi, "take_picture", lost)
    (finding,) = find_findings(examine(pi), "camera", Severity.FAULT)
    assert finding.text == "the camera sends no pictures. Check its cable" and "connected: no camera" in finding.remedy
    assert not find_findings(examine(pi, picture=False), "camera", Severity.FAULT)


@pytest.fixture
def package_pi(pi: RaspberryPi) -> RaspberryPi:
    """A Raspberry Pi on which the Debian package was installed."""
    unit = pi.path(PACKAGE_UNIT)
    unit.parent.mkdir(parents=True)
    pi.path("/etc/systemd/system/tilekeeper.service").rename(unit)
    return pi


def test_hotspot_of_the_debian_package_is_made_by_its_script(package_pi: RaspberryPi, port: int) -> None:
    package_pi.remove("/etc/tilekeeper/hotspot.toml")
    (finding,) = find_findings(examine(package_pi, picture=False), "own wi-fi", Severity.WARNING)
    assert f'sudo /opt/tilekeeper/make-hotspot.sh "" {port} && ' in finding.remedy


def test_no_remedy_for_the_debian_package_is_the_installer(package_pi: RaspberryPi) -> None:
    package_pi.write("/etc/tilekeeper/hotspot.toml", "name = 1\n")
    findings = examine(package_pi, picture=False).findings
    assert not [finding for finding in findings if "install.sh" in finding.remedy or "/etc/sysusers" in finding.remedy]


EXAMINER = """
import json, sys
from dataclasses import asdict
from pathlib import Path
from device.doctor import System
from device.doctor.checks import check_hotspot
from device.doctor.checks import check_disk
from device.settings import Settings

system = System(Path(sys.argv[1]), "")
print(json.dumps([asdict(one) for check in (check_disk, check_hotspot) for one in check(system, Settings())]))
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


def test_before_installing_only_the_program_is_looked_at(tmp_path: Path) -> None:
    report = examine(System(tmp_path, ""), program_only=True)
    assert {finding.subject for finding in report.findings} == {"settings", "word list"}
    assert report.count(Severity.FAULT) == 0


def test_an_empty_machine_is_no_reason_to_fail(tmp_path: Path) -> None:
    report = examine(System(tmp_path, ""))
    assert find_findings(report, "camera", Severity.NOTE) and find_findings(report, "service", Severity.NOTE)


def test_library_that_cannot_be_loaded_is_the_only_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "device.cli.appliance", None)  # an import of this module now fails
    findings = examine(System(tmp_path, "")).findings
    assert [finding.subject for finding in findings] == ["settings", "libraries"]
    assert findings[1].state is Severity.FAULT and "install.sh" in findings[1].remedy


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


@pytest.mark.parametrize(
    ("status", "text"),
    [(0, "a word was spoken on plughw:9"), (1, "plughw:9 does not play: no card 9")],
)
def test_loudspeaker_is_named_and_heard(pi: RaspberryPi, status: int, text: str) -> None:
    pi.write("/bin/espeak-ng", f"#!/bin/sh\necho no card 9 >&2; exit {status}\n").chmod(0o755)
    (found,) = check_speech(pi, Settings(voice=VoiceSettings(use=True, device="plughw:9")))
    assert found.text == text
