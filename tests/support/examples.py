"""How many examples the properties try."""

from __future__ import annotations

import os
from typing import Any

from hypothesis import settings

IS_CI = bool(os.environ.get("CI"))
"""True on CI, where the examples are the same each time."""


def try_examples(count: int, **more: Any) -> settings:
    """Return settings for `count` examples on CI, and for a third at the desk, where they are new each time."""
    return settings(max_examples=count if IS_CI else max(3, count // 3), **more)
