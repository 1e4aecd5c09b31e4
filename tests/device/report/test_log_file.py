"""The log file for problem reports."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from device.report.contents import LOG_FILE_NAME, MAX_LOG_BYTES, keep_log, read_log

_log = logging.getLogger("device.test")


def test_warnings_are_in_the_file_and_on_the_console(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with keep_log(tmp_path):
        _log.warning("the lens is dusty")
        _log.info("no news")
    _log.warning("after the end")
    assert "WARNING device.test: the lens is dusty" in read_log(tmp_path)
    assert "no news" not in read_log(tmp_path) and "after the end" not in read_log(tmp_path)
    assert "the lens is dusty" in capsys.readouterr().err


def test_log_is_bounded_and_keeps_the_newest(tmp_path: Path) -> None:
    with keep_log(tmp_path):
        for number in range(8000):
            _log.warning("message %d", number)
    files = list(tmp_path.glob(f"{LOG_FILE_NAME}*"))
    assert len(files) == 2 and sum(file.stat().st_size for file in files) <= 2 * MAX_LOG_BYTES
    assert "message 7999" in read_log(tmp_path)


def test_log_that_cannot_be_written_ends_quietly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / LOG_FILE_NAME).mkdir()
    with keep_log(tmp_path):
        _log.warning("the lens is dusty")
    assert "Traceback" not in capsys.readouterr().err
    assert read_log(tmp_path) == ""


def test_log_that_is_a_fifo_does_not_block(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / LOG_FILE_NAME)
    with keep_log(tmp_path):
        _log.warning("the lens is dusty")
    assert "the lens is dusty" in capsys.readouterr().err
    assert read_log(tmp_path) == ""
