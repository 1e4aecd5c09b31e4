"""The configuration for Home Assistant: its templates read the messages that the table publishes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace

import pytest
from jinja2 import Environment

from device.hall.messages import TableStatus, make_table_state
from device.hall.publishing.home_assistant import make_discovery_message
from device.session.messages import Notice, Trouble
from device.session.snapshot import TableSnapshot
from tests.support import samples

CONFIG = json.loads(make_discovery_message("Table 7").payload)


def read(template: str, payload: bytes) -> str:
    return Environment().from_string(template).render(value_json=json.loads(payload))


def read_entities(state: TableSnapshot) -> Mapping[str, str]:
    payload = make_table_state("Table 7", "a", state, 0.0, 0.0).publication.payload
    return {key: read(one["value_template"], payload) for key, one in CONFIG["components"].items()}


def test_entities_follow_a_game() -> None:
    assert read_entities(samples.MIDGAME) == {
        "turn": "Ben",
        "totals": ", ".join(f"{player.name} {player.total}" for player in samples.MIDGAME.players),
        "game_over": "OFF",
        "trouble": "OFF",
    }


def test_entities_tell_trouble_and_the_end() -> None:
    trouble = replace(samples.MIDGAME, notices=(Notice("No picture.", Trouble.CAMERA),))
    assert read_entities(trouble)["trouble"] == "ON"
    over = replace(samples.MIDGAME, phase="ended", turn_of=None)
    assert (read_entities(over)["turn"], read_entities(over)["game_over"]) == ("", "ON")


@pytest.mark.parametrize(("online", "text"), [(True, "online"), (False, "offline")])
def test_availability_is_the_status_of_the_table(online: bool, text: str) -> None:
    status = TableStatus(table="Table 7", online=online).publication
    assert status.topic == CONFIG["availability_topic"]
    assert read(CONFIG["availability_template"], status.payload) == text


def test_ids_of_two_tables_differ() -> None:
    tables = ("Стол А", "Стол Б", "Ä", "Ö", "Tisch 1", "Tisch-1", "Tisch_1", "Tisch  1", "Tisch.1", "Tisch 1 ")
    ids = {make_discovery_message(table).topic for table in tables}
    assert len(ids) == len(tables)
    assert all(re.fullmatch("homeassistant/device/[A-Za-z0-9_-]+/config", one) for one in ids)


def test_ids_have_no_spaces() -> None:
    assert make_discovery_message("Table 7").topic == "homeassistant/device/tilekeeper_Table_7/config"
    assert CONFIG["components"]["turn"]["unique_id"] == "tilekeeper_Table_7_turn"
