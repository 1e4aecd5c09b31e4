"""The load of a hall, small: every event reaches every viewer."""

from __future__ import annotations

import pytest

from tests.support.broker import HAS_MOSQUITTO
from tests.system.hall_load import measure


@pytest.mark.slow
@pytest.mark.skipif(not HAS_MOSQUITTO, reason="needs mosquitto: sudo apt install mosquitto")
def test_every_event_reaches_every_viewer() -> None:
    report = measure(tables=8, viewers=3, seconds=10, turn_s=4)
    assert report.events >= 16 and report.missing == 0 and report.complete_delays_ms, report
    assert report.peak_mb < 300, report
