"""Print the OpenAPI document of the API: `python -m web.api > web/api/openapi.json`."""

from __future__ import annotations

import json

from web.api import OPERATIONS
from web.api.openapi_generator import build_document

if __name__ == "__main__":
    print(json.dumps(build_document(OPERATIONS), indent=1, ensure_ascii=False))
