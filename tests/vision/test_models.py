"""The networks that are shipped are those whose origin is recorded."""

from __future__ import annotations

import hashlib
import re

from vision.net import MODELS_DIR

_ROW = re.compile(r"^\| `([a-z_]+\.onnx(?:\.gz)?)` \|.*\| `([0-9a-f]{64})` \|$", re.MULTILINE)


def test_networks_are_smaller_than_four_and_a_half_megabytes() -> None:
    assert sum(file.stat().st_size for file in MODELS_DIR.glob("*.onnx*")) < 4_500_000


def test_origin_of_every_network_is_recorded() -> None:
    recorded = dict(_ROW.findall((MODELS_DIR / "README.md").read_text(encoding="utf-8")))
    files = [*MODELS_DIR.glob("*.onnx*"), *(MODELS_DIR.parent / "training").glob("*.onnx")]
    shipped = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
    assert recorded == shipped
