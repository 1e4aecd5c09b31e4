"""The queue of the session's commands and tasks."""

from __future__ import annotations

import pytest

from device.session.snapshot import TableSnapshot
from device.session.threads import CommandQueue
from tests.support.waiting import PATIENCE_S


def test_error_of_a_task_that_nobody_waits_for_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> None:
        raise ValueError("no such square")

    queue = CommandQueue(TableSnapshot(), TableSnapshot)
    queue.run_task(fail)
    assert queue.submit_task(lambda: "next").result(PATIENCE_S) == "next"
    queue.close()
    assert "no such square" in caplog.text
