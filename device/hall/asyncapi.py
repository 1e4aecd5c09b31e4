"""The AsyncAPI document of the messages; `python -m device.hall.asyncapi > docs/hall.asyncapi.json` writes it."""

from __future__ import annotations

import inspect
import json
from typing import Any

import msgspec

from device.hall.director import KEY_TOPIC, DirectorOrder, HallKey, SignedOrder
from device.hall.messages import SCHEMA_VERSION, TOPIC_ROOT, OrderAnswer, TableEvent, TableLog, TableState, TableStatus

_CHANNELS = {kind.channel: kind for kind in (TableStatus, TableState, TableEvent, TableLog, OrderAnswer)}
_RECEIVED = {"director": SignedOrder, "key": HallKey}
"""Types of the messages that a table receives, by channel. A `SignedOrder` contains a `DirectorOrder` as JSON text."""
_ADDRESSES = {"key": KEY_TOPIC}


def build_document() -> dict[str, Any]:
    """Return the document (AsyncAPI 3.0), with the schemas of the message structs."""
    kinds = (*_CHANNELS.values(), *_RECEIVED.values(), DirectorOrder)
    _, schemas = msgspec.json.schema_components(kinds, ref_template="#/components/schemas/{name}")
    channels = {
        name: {
            "address": _ADDRESSES.get(name, f"{TOPIC_ROOT}/{{table}}/{name}"),
            **({} if name in _ADDRESSES else {"parameters": {"table": {"description": "Name of the table."}}}),
            "messages": {kind.__name__: {"payload": {"$ref": f"#/components/schemas/{kind.__name__}"}}},
        }
        for name, kind in (_CHANNELS | _RECEIVED).items()
    }
    operations = {
        f"{action}_{name}": {
            "action": action,
            "channel": {"$ref": f"#/channels/{name}"},
            "bindings": {"mqtt": {"qos": 1}},
        }
        for action, names in (("send", _CHANNELS), ("receive", _RECEIVED))
        for name in names
    }
    return {
        "asyncapi": "3.0.0",
        "info": {"title": "Tilekeeper tables", "version": str(SCHEMA_VERSION)},
        "defaultContentType": "application/json",
        "channels": channels,
        "operations": operations,
        "components": {"schemas": {name: _dedent_description(schema) for name, schema in schemas.items()}},
    }


def _dedent_description(schema: dict[str, Any]) -> dict[str, Any]:
    return {**schema, "description": inspect.cleandoc(schema["description"])}


def format_document() -> str:
    """Return the document as JSON text."""
    return json.dumps(build_document(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    print(format_document(), end="")
