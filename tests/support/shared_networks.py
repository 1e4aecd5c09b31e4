"""Fixture for folders of tests: each network is loaded once, because that takes longer than reading a board."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from vision.net import Net


@pytest.fixture(scope="session", autouse=True)
def shared_networks() -> Iterator[None]:
    """Let all networks from files with the same content share what was loaded."""
    load, loaded = Net.__init__, dict[bytes, dict[str, object]]()

    def load_once(net: Net, path: Path) -> None:
        content = path.read_bytes() if path.is_file() else b""
        if content not in loaded:
            load(net, path)
            loaded[content] = {name: getattr(net, name) for name in ("_session", "metadata", "_input")}
        vars(net).update(loaded[content])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Net, "__init__", load_once)
        yield
