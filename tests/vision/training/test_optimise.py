"""Batches that several processes make."""

from __future__ import annotations

import queue

import pytest

pytest.importorskip("torch", reason="training needs the extra [train]")

from vision.training import optimise


def test_batches_of_several_processes_come_in_order() -> None:
    assert list(optimise.draw_in_processes(lambda step: 10 * step, range(1, 12), 3)) == [10 * i for i in range(1, 12)]


def test_process_that_fails_ends_the_training(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(optimise, "_MAX_DRAWING_S", 1.0)

    def fail_at_three(step: int) -> int:
        if step == 3:
            raise ValueError("no batch")
        return step

    with pytest.raises(queue.Empty):
        list(optimise.draw_in_processes(fail_at_three, range(1, 6), 2))
    assert "no batch" in capfd.readouterr().err
