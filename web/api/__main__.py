"""Print the OpenAPI document of the API: `python -m web.api > web/api/openapi.json`."""

from __future__ import annotations

import json
from typing import Any, cast

from web.api import DeviceOperations, list_operations
from web.api.openapi_generator import build_document

if __name__ == "__main__":
    nothing = cast(Any, None)  # the document needs only the type annotations of the operations
    document = build_document(
        list_operations(nothing, nothing, nothing, nothing, nothing, DeviceOperations(nothing, b""))
    )
    print(json.dumps(document, indent=1, ensure_ascii=False))
