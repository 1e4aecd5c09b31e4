"""Odd and hostile files through the whole program: the command of `odd_inputs`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.system.odd_inputs import try_all

pytestmark = pytest.mark.slow

MAX_MEMORY_MB = 400
MAX_CPU_S = 15
MAX_LIST_CPU_S = 25
"""The longest word lists take 5 s of a fast machine that has nothing else to do, and 10 s of a slow one; other files
take half of that. The limits leave room for a machine that is busy, too."""


def test_odd_files_are_answered_in_one_line_in_little_time_and_memory(tmp_path: Path) -> None:
    outcomes = list(try_all(tmp_path))
    assert len(outcomes) > 40
    for outcome in outcomes:
        assert outcome.status in (0, 1, 2) and "Traceback" not in outcome.output, str(outcome)
        max_cpu_s = MAX_LIST_CPU_S if outcome.name.startswith("words") else MAX_CPU_S
        assert outcome.memory_mb < MAX_MEMORY_MB and outcome.cpu_s < max_cpu_s, str(outcome)
    refused = [outcome for outcome in outcomes if outcome.name.startswith(("import", "too-large", "F."))]
    for outcome in refused:
        sentences = [line for line in outcome.output.splitlines() if not line.startswith("{")]  # the others are JSON
        assert len(sentences) == 1, str(outcome)
