"""What a network's file tells of it beside its weights: facts in its metadata, for `vision.net.Net` to read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import onnx

from vision.net import METADATA_KEY


def add_facts(path: Path, facts: Mapping[str, object]) -> None:
    """Write `facts` into the model at `path`, beside those that are there."""
    model = onnx.load(path)
    known = {prop.key: prop.value for prop in model.metadata_props}
    told = json.loads(known.get(METADATA_KEY, "{}")) | dict(facts)
    onnx.helper.set_model_props(model, known | {METADATA_KEY: json.dumps(told, ensure_ascii=False)})
    onnx.save(model, path)
