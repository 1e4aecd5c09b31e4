"""What the evening's load and made-up requests do to the page: the commands of `load` and `fuzz`, shorter."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.api_table import house
from tests.system.fuzz import fuzz
from tests.system.load import load, share

pytestmark = pytest.mark.slow


def test_hundred_phones_see_turns_in_time_while_others_ask() -> None:
    found = load(streams=100, rate=20, seconds=12)
    assert found.lost == 0 and found.failed == 0
    assert found.turns >= 8 and len(found.deliveries) >= 98 * found.turns  # a phone that is late gets the newest only
    assert share(found.deliveries, 0.95) < 0.3, found
    assert share(found.requests, 0.95) < 0.1, found
    assert found.memory[1] - found.memory[0] < 8, found


def test_made_up_requests_are_answered_as_the_document_says(tmp_path: Path) -> None:
    with house(tmp_path) as table:
        found = fuzz(table, 500)
    assert found.wrong == []
    assert found.requests > 300 and len(found.operations) > 30
    assert max(found.statuses) < 500 and {200, 204, 400, 401, 404, 409} <= found.statuses.keys()
