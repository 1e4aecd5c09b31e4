"""Two games of the night at the table; `python -m tests.system.simulate_evenings` plays any number."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.local_data import PHOTOS_DIR, needs_photos
from tests.system.simulate_evenings import play_game, play_photos, report


@pytest.mark.slow
@pytest.mark.serial
@pytest.mark.parametrize("seed", [1, 2])
def test_whole_game_at_the_table_ends_with_the_right_totals(seed: int, tmp_path: Path) -> None:
    result = play_game(seed, tmp_path)
    assert result.right and result.forgotten == 1 and result.hands > 0, report(f"game {seed}", result)


@pytest.mark.slow
@pytest.mark.serial
@needs_photos
def test_sequence_of_photographs_through_the_folder_camera_and_the_buttons(tmp_path: Path) -> None:
    name, result = next(iter(play_photos(PHOTOS_DIR, tmp_path)))
    assert result.right, report(name, result)
