"""A part that fails three starts in a row is left out of the next one, and tried again in the one after."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from device.system.start_record import MAX_FAILURES, FailedPart, StartRecord


class CrashError(BaseException):
    """The end of the program, which no part can survive."""


def crash() -> str:
    raise CrashError


def fail_starts(path: Path, count: int) -> None:
    for _ in range(count):
        with pytest.raises(CrashError):
            StartRecord(path).build("camera", crash, lambda: "without")


def test_part_that_raises_an_exception_is_left_out_at_once(tmp_path: Path) -> None:
    record = StartRecord(None)
    assert record.build("profile", (tmp_path / "table.npz").read_text, lambda: "without", tmp_path) == "without"
    reason = f"{tmp_path / 'table.npz'}: No such file or directory"
    assert record.failed_parts == [FailedPart("profile", reason, tmp_path)]  # a folder may be set aside


def test_exception_that_ends_the_start_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        StartRecord(None).build("store", lambda: 1 / 0, lambda: 1.0, raises=(ZeroDivisionError,))


def test_part_that_failed_three_starts_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "starts.json"
    fail_starts(path, MAX_FAILURES)
    record = StartRecord(path)
    assert record.build("camera", crash, lambda: "without") == "without"
    assert [part.reason for part in record.failed_parts] == [
        "The last 3 starts failed at camera, so the table has started without it. The log gives the reason."
    ]
    assert record.build("panel", lambda: "panel", lambda: "without") == "panel"


def test_power_cuts_during_starts_do_not_leave_out_a_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for boot in range(1, MAX_FAILURES + 2):
        monkeypatch.setattr("device.system.start_record._read_boot_number", lambda boot=boot: boot)
        fail_starts(tmp_path / "starts.json", 1)  # never left out


def test_record_waits_for_no_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    StartRecord(tmp_path / "starts.json").build("panel", lambda: "panel", lambda: "without")
    assert synced == []


def test_part_that_was_left_out_is_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "starts.json"
    fail_starts(path, MAX_FAILURES)
    record = StartRecord(path)
    for _ in range(2):  # another part ended the first of these starts
        assert StartRecord(path).build("camera", crash, lambda: "without") == "without"
    record.build("camera", crash, lambda: "without")
    record.complete()
    assert StartRecord(path).build("camera", lambda: "camera", lambda: "without") == "camera"
    fail_starts(path, MAX_FAILURES)  # counted from the beginning


def test_good_start_resets_the_count(tmp_path: Path) -> None:
    path = tmp_path / "starts.json"
    fail_starts(path, MAX_FAILURES - 1)
    StartRecord(path).build("camera", lambda: "camera", lambda: "without")
    fail_starts(path, MAX_FAILURES)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"camera": "many"}'])
def test_damaged_record_counts_nothing(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "starts.json"
    path.write_bytes(content)
    assert StartRecord(path).build("camera", lambda: "camera", lambda: "without") == "camera"


def test_fifo_in_place_of_the_record_does_not_hold_up_the_start(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "starts.json")
    record = StartRecord(tmp_path / "starts.json")
    assert record.build("camera", lambda: "camera", lambda: "without") == "camera"
    record.complete()


def test_without_file_no_part_is_left_out() -> None:
    record = StartRecord(None)
    for _ in range(MAX_FAILURES + 1):
        with pytest.raises(CrashError):
            record.build("camera", crash, lambda: "without")
