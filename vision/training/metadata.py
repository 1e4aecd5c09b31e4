"""Write metadata (class names, sizes) to the ONNX files of the networks, in the form that `vision.net.Net` reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import onnx

from vision.net import METADATA_KEY


def add_facts(path: Path, facts: Mapping[str, object]) -> None:
    """Add the entries of `facts` to the metadata of the ONNX file `path`."""
    model = onnx.load(path)
    properties = {prop.key: prop.value for prop in model.metadata_props}
    all_facts = json.loads(properties.get(METADATA_KEY, "{}")) | dict(facts)
    onnx.helper.set_model_props(model, properties | {METADATA_KEY: json.dumps(all_facts, ensure_ascii=False)})
    onnx.save(model, path)
