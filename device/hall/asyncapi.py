"""The AsyncAPI document of the messages; `python -m device.hall.asyncapi > docs/hall.asyncapi.json` writes it."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from device.hall.messages import TOPIC_ROOT, TableEvent, TableLog, TableState, TableStatus

_CHANNELS = {"status": TableStatus, "state": TableState, "events": TableEvent, "log": TableLog}


def build_document() -> dict[str, Any]:
    """Return the document (AsyncAPI 3.0), with the schemas of the message structs."""
    _, schemas = msgspec.json.schema_components(_CHANNELS.values(), ref_template="#/components/schemas/{name}")
    channels = {
        name: {
            "address": f"{TOPIC_ROOT}/{{table}}/{name}",
            "parameters": {"table": {"description": "Name of the table."}},
            "messages": {kind.__name__: {"payload": {"$ref": f"#/components/schemas/{kind.__name__}"}}},
        }
        for name, kind in _CHANNELS.items()
    }
    operations = {
        f"send_{name}": {"action": "send", "channel": {"$ref": f"#/channels/{name}"}, "bindings": {"mqtt": {"qos": 1}}}
        for name in _CHANNELS
    }
    return {
        "asyncapi": "3.0.0",
        "info": {"title": "Tilekeeper tables", "version": "1"},
        "defaultContentType": "application/json",
        "channels": channels,
        "operations": operations,
        "components": {"schemas": schemas},
    }


def format_document() -> str:
    """Return the document as JSON text."""
    return json.dumps(build_document(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    print(format_document(), end="")
