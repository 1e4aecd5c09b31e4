"""The MQTT message from which Home Assistant creates the entities (sensors) of a table.

https://www.home-assistant.io/integrations/mqtt/#mqtt-discovery describes the message (device discovery). The
entities show the status and the state that the table publishes.
"""

from __future__ import annotations

import hashlib
import re

from device.hall.messages import TOPIC_ROOT, Publication

DISCOVERY_ROOT = "homeassistant/device"
_ENTITIES = {
    "turn": (
        "sensor",
        "Turn",
        "mdi:account-arrow-right",
        "{{ value_json.players[value_json.turn_of].name if value_json.turn_of is not none else '' }}",
    ),
    "totals": (
        "sensor",
        "Totals",
        "mdi:scoreboard",
        "{% for player in value_json.players %}{{ player.name }} {{ player.total }}"
        "{{ '' if loop.last else ', ' }}{% endfor %}",
    ),
    "game_over": (
        "binary_sensor",
        "Game over",
        "mdi:flag-checkered",
        "{{ 'ON' if value_json.phase == 'ended' else 'OFF' }}",
    ),
    "trouble": (
        "binary_sensor",
        "Trouble",
        "mdi:alert",
        "{{ 'ON' if value_json.trouble else 'OFF' }}",
    ),
}
"""Platform, name, icon and value template of each entity; the templates read `TableState`."""


def _make_id(table: str) -> str:
    """Return the name of a table in the characters that Home Assistant allows in a topic, different for each name.

    Single spaces become underscores. If the name has other characters, also underscores, the id ends with its hash.

    >>> _make_id("Table 7")
    'Table_7'
    >>> _make_id("Tisch-7")
    'Tisch_7_06873207'
    """
    name = re.sub(r"[^A-Za-z0-9]+", "_", table)
    if name == table.replace(" ", "_") and "_" not in table:
        return name
    return f"{name}_{hashlib.sha256(table.encode()).hexdigest()[:8]}"


def make_discovery_message(table: str) -> Publication:
    """Return the message from which Home Assistant creates the entities of a table."""
    device = _make_device_id(table)
    components = {
        key: {
            "platform": platform,
            "unique_id": f"{device}_{key}",
            "name": name,
            "icon": icon,
            "state_topic": f"{TOPIC_ROOT}/{table}/state",
            "value_template": template,
        }
        for key, (platform, name, icon, template) in _ENTITIES.items()
    }
    message = {
        "device": {"identifiers": [device], "name": f"Tilekeeper {table}", "manufacturer": "Tilekeeper"},
        "origin": {"name": "Tilekeeper"},
        "availability_topic": f"{TOPIC_ROOT}/{table}/status",
        "availability_template": "{{ 'online' if value_json.online else 'offline' }}",
        "components": components,
    }
    return Publication(f"{DISCOVERY_ROOT}/{device}/config", message, retain=True)


def make_removal_messages(table: str, *, has_left: bool) -> list[Publication]:
    """Return the messages that remove the entities of a table, and all of a table that has left this name.

    Home Assistant would otherwise show the table for ever, because the broker keeps its messages.
    """
    topics = [f"{DISCOVERY_ROOT}/{_make_device_id(table)}/config"]
    if has_left:
        topics += [f"{TOPIC_ROOT}/{table}/{kind}" for kind in ("state", "log", "status")]
    return [Publication(topic, None, retain=True) for topic in topics]


def _make_device_id(table: str) -> str:
    return f"tilekeeper_{_make_id(table)}"
