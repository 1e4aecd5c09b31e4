"""Folders of photographs and games: the environment variable first, then the folder beside the checkout."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.local_data import SHARED_DIR, find_folder


def test_find_folder_named_by_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TILEKEEPER_PHOTOS", str(tmp_path))
    assert find_folder("TILEKEEPER_PHOTOS", "photos") == tmp_path


def test_find_folder_without_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TILEKEEPER_PHOTOS", raising=False)
    assert find_folder("TILEKEEPER_PHOTOS", "photos") == SHARED_DIR / "photos"


def test_find_folder_with_an_empty_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEKEEPER_PHOTOS", "")
    assert find_folder("TILEKEEPER_PHOTOS", "photos") == SHARED_DIR / "photos"
