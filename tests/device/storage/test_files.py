"""Small files: written completely or not at all, and without leftovers."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from device.storage.files import OLD_PART_S, read_small_file, write_file

KILLED_WRITER = """
import os, signal, sys
from pathlib import Path
from device.storage.files import write_file

os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
write_file(Path(sys.argv[1]), b"new")
"""


def kill_writer(path: Path) -> Path:
    """Kill a program while it writes the file; return the incomplete file that it leaves."""
    before = set(path.parent.iterdir())
    subprocess.run([sys.executable, "-c", KILLED_WRITER, str(path)], check=False)
    (part,) = set(path.parent.iterdir()) - before
    return part


def test_file_that_a_killed_program_left_is_removed_at_a_later_write(tmp_path: Path) -> None:
    file = tmp_path / "table.npz"
    write_file(file, b"old")
    part = kill_writer(file)
    assert file.read_bytes() == b"old"
    past = time.time() - OLD_PART_S - 1
    os.utime(part, (past, past))
    write_file(file, b"newer")
    assert list(tmp_path.iterdir()) == [file] and file.read_bytes() == b"newer"


def test_file_that_another_program_may_be_writing_is_kept(tmp_path: Path) -> None:
    part = kill_writer(tmp_path / "table.npz")
    write_file(tmp_path / "table.npz", b"new")
    assert part.exists()


def test_incomplete_part_of_another_file_is_kept(tmp_path: Path) -> None:
    part = kill_writer(tmp_path / "pairing.json")
    os.utime(part, (0, 0))
    write_file(tmp_path / "table.npz", b"new")
    assert part.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only the system's owner can give files away")
@pytest.mark.parametrize("is_new", [True, False])
def test_file_written_by_root_can_be_read_by_the_service(tmp_path: Path, is_new: bool) -> None:
    file = tmp_path / "settings.toml"
    if not is_new:
        write_file(file, b"old")
    os.chown(tmp_path if is_new else file, 65534, 65534)
    write_file(file, b"new", mode=0o600)
    assert (file.stat().st_uid, file.stat().st_gid) == (65534, 65534)


def test_file_is_read_again_after_a_fault_of_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "pairing.json"
    path.symlink_to("/proc/self/mem")  # the system answers with an I/O error

    def recover(_: float) -> None:
        path.unlink()
        path.write_bytes(b"whole")

    monkeypatch.setattr(time, "sleep", recover)
    assert read_small_file(path, 100) == b"whole"
