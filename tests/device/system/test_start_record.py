"""A part that fails three starts in a row is left out of the next one, and tried again in the one after."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from device.system.start_record import HARDWARE_PARTS, MAX_FAILURES, FailedPart, StartRecord, find_crashed_part


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
    record.close()
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


@pytest.mark.parametrize("name", ["starts.json", "starts.crash"])
def test_fifo_in_place_of_the_record_does_not_hold_up_the_start(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    record = StartRecord(tmp_path / "starts.json")
    assert record.build("camera", lambda: "camera", lambda: "without") == "camera"
    record.complete()
    record.close()


CRASH_REPORT = """Fatal Python error: Segmentation fault

Thread 0x1 (most recent call first):
  File "/opt/tilekeeper/device/panel/displays.py", line 7 in run

Current thread 0x2 (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 1 in wait
  File "/opt/tilekeeper/device/system/voice.py", line 9 in speak
  File "/opt/tilekeeper/device/session/command_queue.py", line 9 in run
"""


def crash_service(path: Path, count: int, report: str = CRASH_REPORT) -> None:
    """Start a service that builds its parts and crashes before it is stable."""
    for _ in range(count):
        record = StartRecord(path)
        for part in HARDWARE_PARTS:
            record.build(part, lambda: "with", lambda: "without")
        record.complete()
        before = path.read_bytes()
        record.close()
        path.write_bytes(before)  # a crash does not come so far
        path.with_suffix(".crash").write_text(report)


def build_parts(record: StartRecord) -> dict[str, str]:
    return {part: record.build(part, lambda: "with", lambda: "without") for part in HARDWARE_PARTS}


def test_part_that_crashed_three_times_in_the_first_minute_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "starts.json"
    crash_service(path, MAX_FAILURES - 1)
    assert build_parts(StartRecord(path)) == {"camera": "with", "panel": "with", "voice": "with"}
    crash_service(path, 1)
    record = StartRecord(path)
    assert build_parts(record) == {"camera": "with", "panel": "with", "voice": "without"}
    assert "failed at voice" in record.failed_parts[0].reason


def test_crashes_without_a_report_leave_out_the_hardware(tmp_path: Path) -> None:
    path = tmp_path / "starts.json"
    crash_service(path, MAX_FAILURES, report="")
    assert set(build_parts(StartRecord(path)).values()) == {"without"}


def test_part_that_crashed_is_tried_again_after_a_stable_service(tmp_path: Path) -> None:
    path = tmp_path / "starts.json"
    crash_service(path, MAX_FAILURES)
    record = StartRecord(path)
    build_parts(record)
    record.complete()
    record.confirm()
    record.close()
    assert build_parts(StartRecord(path))["voice"] == "with"
    crash_service(path, 1)
    assert build_parts(StartRecord(path))["voice"] == "without"


def test_service_that_is_stable_or_was_stopped_counts_no_crash(tmp_path: Path) -> None:
    path = tmp_path / "starts.json"
    for _ in range(MAX_FAILURES):
        crash_service(path, 1)
        record = StartRecord(path)
        build_parts(record)
        record.complete()
        record.close()
    assert set(build_parts(StartRecord(path)).values()) == {"with"}


def test_power_cut_in_the_first_minute_is_no_crash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, boot = tmp_path / "starts.json", tmp_path / "boot_id"
    monkeypatch.setattr("device.system.start_record._BOOT_ID_FILE", boot)
    for number in range(MAX_FAILURES + 1):
        boot.write_text(f"{number:08x}-9af8-4f6b-a3ae-2d1fdc1e6f0a")
        crash_service(path, 1)
    boot.write_text("ffffffff-9af8")
    assert set(build_parts(StartRecord(path)).values()) == {"with"}


def test_part_of_a_crash_is_that_of_the_thread_that_crashed() -> None:
    assert find_crashed_part(CRASH_REPORT) == "voice"
    assert find_crashed_part('Current thread\n  File "/x/vision/net.py", line 3 in run') == "camera"
    assert find_crashed_part("") == find_crashed_part('Current thread\n  File "/x/web/app.py", line 3 in get') == ""


def test_without_file_no_part_is_left_out() -> None:
    record = StartRecord(None)
    for _ in range(MAX_FAILURES + 1):
        with pytest.raises(CrashError):
            record.build("camera", crash, lambda: "without")
