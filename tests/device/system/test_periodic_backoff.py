"""Growing delays between attempts."""

from __future__ import annotations

from device.system.periodic import Backoff


def test_backoff_repeats_its_last_delay() -> None:
    backoff = Backoff((0.5, 1.0, 2.0))
    assert [backoff.record_failure() for _ in range(5)] == [0.5, 1.0, 2.0, 2.0, 2.0]


def test_backoff_begins_again_after_a_success() -> None:
    backoff = Backoff((0.5, 1.0))
    backoff.record_failure()
    backoff.reset()
    assert backoff.record_failure() == 0.5
