"""Mutated files of every kind, for less than a minute; `python -m tests.system.fuzz_files 3600` tries for an hour."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.system.fuzz_files import fuzz_files

pytestmark = pytest.mark.fuzz


@pytest.mark.filterwarnings("ignore")
def test_mutated_files_are_taken_or_refused_with_the_error_of_their_kind(tmp_path: Path) -> None:
    result = fuzz_files(40, seed=1, failures_folder=tmp_path)
    assert result.failures == []
    assert {"GCG refused", "picture refused", "settings refused", "ZIP refused"} <= result.answers.keys()
