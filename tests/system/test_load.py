"""The commands `load` and `fuzz` in a shorter form: many viewers, and made-up requests."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.limits import MAX_STREAMS
from tests.support.api_table import open_web_table
from tests.system.crowd import CLIENTS_PER_DEVICE, DEVICES, load_by_crowd
from tests.system.fuzz import fuzz
from tests.system.load import load, share

pytestmark = pytest.mark.slow


@pytest.mark.serial
def test_hundred_phones_see_turns_in_time_while_others_ask() -> None:
    found = load(streams=100, rate=20, seconds=12)
    assert found.lost == 0 and found.failed == 0
    assert found.turns >= 8 and len(found.deliveries) >= 98 * found.turns  # a phone that is late gets the newest only
    assert share(found.deliveries, 0.95) < 0.3, found
    assert share(found.requests, 0.95) < 0.1, found
    assert found.memory[1] - found.memory[0] < 8 and found.memory[1] < 250, found


def test_made_up_requests_are_answered_as_the_document_says(tmp_path: Path) -> None:
    with open_web_table(tmp_path) as table:
        found = fuzz(table, 800)
    assert found.wrong == []
    assert found.requests > 300 and len(found.operations) > 30
    assert max(found.statuses) < 500 and {200, 204, 400, 401, 404, 409} <= found.statuses.keys()


@pytest.mark.serial
def test_crowd_beside_idle_connections_keeps_no_command_waiting() -> None:
    found = load_by_crowd(10)
    assert found.streams == MAX_STREAMS and found.streams + found.pollers == len(DEVICES) * CLIENTS_PER_DEVICE, found
    assert found.refused == 0 and found.failed == 0 and len(found.polls) > found.pollers, found
    assert found.command_p95_s < 1, found  # 0.2 s on a machine that does nothing else
    assert found.memory < 250, found
