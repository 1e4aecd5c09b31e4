"""Paired phones over restarts of the table: the file that lists them, and the first start without a file."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest
from flask import Flask

from device.catalogue import get_text
from engine.limits import MAX_PAIRED_CLIENTS
from tests.support import samples
from tests.support.api_table import Program
from tests.web.conftest import ShownTable, pair, token
from web import create_app
from web.security.csrf import MAX_AGE_S
from web.security.pairing import FILE_NAME, Pairing, PairingCodeError, PairingFullError


def restart(table: ShownTable, file: Path) -> Flask:
    return create_app(table, pairing=Pairing(file=file))


def test_phones_and_programs_stay_paired_across_restarts(table: ShownTable, tmp_path: Path) -> None:
    before = restart(table, tmp_path / FILE_NAME)
    phone = before.test_client()
    pair(phone)
    program = Program(before)
    program.pair(before.extensions["pairing"].code)
    after = restart(table, tmp_path / FILE_NAME)
    cookie = phone.get_cookie("tilekeeper")
    assert cookie
    again = after.test_client()
    again.set_cookie("tilekeeper", cookie.value)
    assert 'id="panel"' in again.get("/").text
    program.client = after.test_client()
    assert program.call("GET", "/devices").status_code == 200
    assert before.extensions["pairing"].code != after.extensions["pairing"].code
    for app in (before, after):
        app.extensions["live"].close()


def test_cookie_does_not_depend_on_the_clock_of_the_table(
    table: ShownTable, app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.show(samples.MIDGAME)
    monkeypatch.setattr("time.time", lambda: 0.0)
    client = app.test_client()
    answer = client.post("/pair", data={"csrf": token(client), "code": app.extensions["pairing"].code})
    assert "Expires" not in answer.headers["Set-Cookie"] and f"Max-Age={MAX_AGE_S}" in answer.headers["Set-Cookie"]
    cookie = client.get_cookie("tilekeeper")
    assert cookie
    for now in (1e10, -3600.0):  # the clock is set, in both directions
        monkeypatch.setattr("time.time", lambda now=now: now)
        later = app.test_client()
        later.set_cookie("tilekeeper", cookie.value)
        assert 'id="panel"' in later.get("/").text
        assert later.post("/actions/undo", data={"csrf": token(later), "seen": "4"}).status_code != 403


def test_keys_are_readable_by_the_program_alone(tmp_path: Path) -> None:
    Pairing(file=tmp_path / FILE_NAME)
    assert stat.S_IMODE((tmp_path / FILE_NAME).stat().st_mode) == 0o600


@pytest.mark.parametrize("content", [b"", b"{}", b"null", b"\xff\xfe", b'{"key": "00"}', b"[" * 100_000])
def test_damaged_list_of_phones_is_replaced_with_a_notice(tmp_path: Path, content: bytes) -> None:
    file, notices = tmp_path / FILE_NAME, []
    file.write_bytes(content)
    pairing = Pairing(notices.append, file=file)
    assert notices == [get_text("pairing-damaged")] and pairing.clients == ()
    phone = pairing.pair(pairing.code, "1", "phone")
    assert Pairing(file=file).clients == (phone,)


def test_impossible_time_in_the_list_of_phones_is_damage(tmp_path: Path) -> None:
    file, notices = tmp_path / FILE_NAME, list[str]()
    pairing = Pairing(now=lambda: 1764313580.5, file=file)
    pairing.pair(pairing.code, "1", "phone")
    file.write_text(file.read_text().replace("1764313580.5", "1764313580e5"))
    assert Pairing(notices.append, file=file).clients == () and notices == [get_text("pairing-damaged")]


def test_list_of_phones_that_cannot_be_read_is_kept(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).mkdir()
    pairing = Pairing(file=tmp_path / FILE_NAME)
    phone = pairing.pair(pairing.code, "1", "phone")
    assert Pairing(file=tmp_path / FILE_NAME).clients == (phone,) and (tmp_path / f"{FILE_NAME}.damaged").is_dir()


def test_phones_are_paired_until_the_end_where_nothing_can_be_written(tmp_path: Path) -> None:
    pairing = Pairing(file=tmp_path / "missing" / FILE_NAME)
    phone = pairing.pair(pairing.code, "1", "phone")
    assert pairing.find_client(phone.id) == phone


def test_devices_that_were_used_are_never_pushed_out(tmp_path: Path) -> None:
    pairing = Pairing(file=tmp_path / FILE_NAME)
    phones = [pairing.pair(pairing.code, "1", "") for _ in range(MAX_PAIRED_CLIENTS)]
    with pytest.raises(PairingFullError):
        pairing.pair(pairing.code, "1", "")
    restarted = Pairing(file=tmp_path / FILE_NAME)
    restarted.find_client(phones[1].id)
    restarted.pair(restarted.code, "1", "")
    kept = restarted.clients
    assert phones[0] in kept and phones[1] in kept and phones[2] not in kept and len(kept) == MAX_PAIRED_CLIENTS


def test_list_of_phones_that_is_no_file_is_reported(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / FILE_NAME)
    messages: list[str] = []
    Pairing(messages.append, file=tmp_path / FILE_NAME)
    assert len(messages) == 1


class FailingDisk:
    """A list with one phone, on a disk that gives an I/O error when the list is read."""

    def __init__(self, file: Path) -> None:
        self._file, self._content = file, file.with_suffix(".whole")
        pairing = Pairing(file=file)
        self.phone = pairing.pair(pairing.code, "1", "phone")
        file.rename(self._content)
        file.symlink_to("/proc/self/mem")

    def recover(self) -> None:
        self._content.replace(self._file)


def test_list_of_phones_that_the_disk_cannot_read_is_used_by_the_next_start(tmp_path: Path) -> None:
    disk, notices = FailingDisk(tmp_path / FILE_NAME), list[str]()
    assert Pairing(notices.append, file=tmp_path / FILE_NAME).clients == ()
    assert notices == [get_text("pairing-unread", "Input/output error")]
    disk.recover()
    assert Pairing(file=tmp_path / FILE_NAME).clients == (disk.phone,)


def test_list_of_phones_is_not_overwritten_as_soon_as_the_disk_can_read_it(tmp_path: Path) -> None:
    disk = FailingDisk(tmp_path / FILE_NAME)
    pairing = Pairing(file=tmp_path / FILE_NAME)
    disk.recover()
    pairing.pair(pairing.code, "1", "phone")
    assert Pairing(file=tmp_path / FILE_NAME).clients == (disk.phone,)


def test_list_of_phones_that_stays_unreadable_is_set_aside_when_a_phone_is_paired(tmp_path: Path) -> None:
    FailingDisk(tmp_path / FILE_NAME)
    pairing = Pairing(file=tmp_path / FILE_NAME)
    phone = pairing.pair(pairing.code, "1", "phone")
    assert Pairing(file=tmp_path / FILE_NAME).clients == (phone,) and (tmp_path / f"{FILE_NAME}.damaged").is_symlink()


class FirstStart:
    """A table that starts for the first time; only 10.42.0.x is its own Wi-Fi."""

    def __init__(self, file: Path) -> None:
        self.now = 0.0
        self.file = file
        self.pairing = self.start()

    def start(self) -> Pairing:
        return Pairing(clock=lambda: self.now, file=self.file, is_on_hotspot=lambda a: a.startswith("10.42.0."))


@pytest.fixture
def first_start(tmp_path: Path) -> FirstStart:
    return FirstStart(tmp_path / FILE_NAME)


def test_first_phone_on_the_own_wifi_needs_no_code(first_start: FirstStart) -> None:
    assert first_start.pairing.pair("", "10.42.0.17", "iPhone").admin


def test_second_phone_on_the_own_wifi_needs_a_code(first_start: FirstStart) -> None:
    first = first_start.pairing.pair("", "10.42.0.17", "iPhone")
    with pytest.raises(PairingCodeError):
        first_start.pairing.pair("", "10.42.0.18", "Android")
    first_start.pairing.unpair(first.id)
    with pytest.raises(PairingCodeError):
        first_start.pairing.pair("", "10.42.0.18", "Android")


def test_first_phone_in_another_network_needs_a_code(first_start: FirstStart) -> None:
    with pytest.raises(PairingCodeError):
        first_start.pairing.pair("", "192.168.1.7", "iPhone")


def test_first_phone_needs_a_code_after_ten_minutes(first_start: FirstStart) -> None:
    first_start.now = 600.0
    with pytest.raises(PairingCodeError):
        first_start.pairing.pair("", "10.42.0.17", "iPhone")


def test_first_phone_needs_a_code_after_a_second_start(first_start: FirstStart) -> None:
    with pytest.raises(PairingCodeError):
        first_start.start().pair("", "10.42.0.17", "iPhone")


def test_phones_are_paired_until_the_end_in_a_folder_that_may_not_be_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deny(path: Path, **_: object) -> os.stat_result:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "stat", deny)
    pairing = Pairing(file=tmp_path / FILE_NAME, is_on_hotspot=lambda _: True)
    with pytest.raises(PairingCodeError):
        pairing.pair("", "10.42.0.17", "iPhone")
    phone = pairing.pair(pairing.code, "1", "phone")
    assert pairing.find_client(phone.id) == phone
