"""Tables and hall that are killed at random while the broker is restarted agree afterwards."""

from __future__ import annotations

import pytest

from tests.support.broker import HAS_MOSQUITTO
from tests.system.hall_kills import run_seed


@pytest.mark.slow
@pytest.mark.skipif(not HAS_MOSQUITTO, reason="needs mosquitto: sudo apt install mosquitto")
@pytest.mark.parametrize("seed", [1, 2])
def test_hall_and_tables_agree_after_kills_at_random(seed: int) -> None:
    kills = run_seed(seed)
    assert kills.tables + kills.halls >= 3 and kills.events >= 20, kills
    assert kills.faults == [], kills
