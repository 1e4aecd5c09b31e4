"""The file with the hall's key."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from device.hall.connection import BrokerConnection, BrokerRefusedError
from device.hall.director import KeyFileError, open_key
from device.settings import HallSettings
from tests.support.waiting import PATIENCE_S


def test_key_is_kept_in_a_file_of_its_user(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    first = open_key(path)
    assert open_key(path).private_bytes_raw() == first.private_bytes_raw()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_broken_key_file_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    path.write_text("broken")
    with pytest.raises(KeyFileError, match="or delete it"):
        open_key(path)
    assert path.read_text() == "broken"


@pytest.mark.parametrize("name", ["key.pem", "password"])
def test_fifo_is_no_file_of_the_hall(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    os.mkfifo(path)
    settings = HallSettings("127.0.0.1", 1, user="hall", password_file=path)
    with ThreadPoolExecutor(1) as worker, pytest.raises((KeyFileError, BrokerRefusedError)):
        opened = worker.submit(open_key, path) if name == "key.pem" else worker.submit(BrokerConnection, settings, "7")
        try:
            opened.result(PATIENCE_S)
        finally:
            release(path)


@pytest.mark.parametrize("is_password", [False, True])
def test_missing_file_is_named(tmp_path: Path, is_password: bool) -> None:
    path = tmp_path / "missing"
    settings = HallSettings("127.0.0.1", 1, user="hall", password_file=path) if is_password else HallSettings(ca=path)
    with pytest.raises(BrokerRefusedError, match=f"{path}: No such file or directory"):
        BrokerConnection(settings, "7")


def release(path: Path) -> None:
    """Let a reader that waits for the writer of a FIFO go on."""
    with suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
