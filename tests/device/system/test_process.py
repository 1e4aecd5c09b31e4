"""The description of the machine for a problem report: the output of another process of the same program."""

from __future__ import annotations

import sys

import pytest

from device.system.process import describe_machine

PROGRAM = "import sys; from device.cli import main; sys.exit(main())"


def pretend_to_be(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    """Let this process look as if it was started by `python -c program run`."""
    monkeypatch.setattr(sys, "orig_argv", [sys.executable, "-c", program, "run"])
    monkeypatch.setattr(sys, "argv", ["-c", "run"])


def test_description_is_what_the_doctor_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend_to_be(monkeypatch, "import sys; print('ok  camera'); print(*sys.argv[1:], file=sys.stderr)")
    assert sorted(describe_machine().splitlines()) == ["doctor --no-picture", "ok  camera"]


def test_description_of_a_doctor_that_hangs_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("device.system.process.DOCTOR_TIMEOUT_S", 0.2)
    pretend_to_be(monkeypatch, "import time; time.sleep(60)")
    assert "timed out after 0.2 seconds" in describe_machine()


@pytest.mark.slow
def test_description_has_the_findings_and_the_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend_to_be(monkeypatch, PROGRAM)
    text = describe_machine()
    assert "  settings: " in text and f"python {sys.version.split()[0]}" in text
