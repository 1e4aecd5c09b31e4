"""Fixture for folders of tests: each network is loaded once, because that takes longer than reading a board."""

from __future__ import annotations

from collections.abc import Iterator

import onnxruntime
import pytest


@pytest.fixture(scope="session", autouse=True)
def shared_networks() -> Iterator[None]:
    """Let all networks from files with the same content have one session of onnxruntime."""
    load, loaded = onnxruntime.InferenceSession, dict[bytes, object]()

    def load_once(content: bytes, **options: object) -> object:
        if content not in loaded:
            loaded[content] = load(content, **options)
        return loaded[content]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(onnxruntime, "InferenceSession", load_once)
        yield
