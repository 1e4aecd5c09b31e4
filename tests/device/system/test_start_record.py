"""A part that fails three starts in a row is left out of the next one, and tried again in the one after."""

from __future__ import annotations

from pathlib import Path

import pytest

from device.system.start_record import MAX_FAILURES, StartRecord


def fail() -> str:
    raise RuntimeError("broken")


def fail_starts(path: Path, count: int) -> None:
    for _ in range(count):
        with pytest.raises(RuntimeError):
            StartRecord(path).build("camera", fail, lambda: "without")


def test_part_that_failed_three_starts_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "starts.json"
    fail_starts(path, MAX_FAILURES)
    record = StartRecord(path)
    assert record.build("camera", fail, lambda: "without") == "without"
    assert record.messages == ["the last 3 starts failed at camera: the table has started without it. The log says why"]
    assert record.build("panel", lambda: "panel", lambda: "without") == "panel"


def test_part_that_was_left_out_is_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "starts.json"
    fail_starts(path, MAX_FAILURES)
    record = StartRecord(path)
    for _ in range(2):  # another part ended the first of these starts
        assert StartRecord(path).build("camera", fail, lambda: "without") == "without"
    record.build("camera", fail, lambda: "without")
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


def test_without_file_no_part_is_left_out() -> None:
    record = StartRecord(None)
    for _ in range(MAX_FAILURES + 1):
        with pytest.raises(RuntimeError):
            record.build("camera", fail, lambda: "without")
