"""The networks' runtime keeps to itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def test_loading_the_runtime_leaves_nothing_in_the_users_home(tmp_path: Path) -> None:
    environment = {**os.environ, "HOME": str(tmp_path)}
    environment.pop("ORT_DISABLE_TELEMETRY", None)
    environment.pop("XDG_CACHE_HOME", None)
    code = "from vision.detection.locator import BoardLocator; BoardLocator()"
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-B", "-c", code], cwd=root, env=environment, check=True, timeout=60)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
