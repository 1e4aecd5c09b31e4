"""A table that learns reads better, and no picture makes it worse; each picture is read before it is learnt."""

import re
from collections import defaultdict
from pathlib import Path

import pytest

from calibration.evaluation import profile_gain
from calibration.evaluation.profile_gain import UNTRAINED_FONTS, Tally, replay_shots
from calibration.evaluation.rendered_tables import RenderedTable, load_photo_shots
from tests.support.local_data import PHOTOS_DIR, needs_photos
from vision.training.font_list import DEBIAN_ROOT

pytestmark = pytest.mark.slow


def test_tiles_in_a_hand_that_no_training_saw_are_read_better_from_game_to_game() -> None:
    font = DEBIAN_ROOT / UNTRAINED_FONTS["fonts-urw-base35"][0]
    if not font.exists():
        pytest.skip(f"the font {font} is not installed")
    games: dict[tuple[str, str], Tally] = defaultdict(Tally)
    for table in (RenderedTable(font, seed) for seed in (5000, 5001, 5002, 5003)):
        for shot, tally in replay_shots(shot for game in range(3) for shot in table.render_game(game, 2)):
            games[shot.table, shot.game].add(tally)
    later = [tally for (_, game), tally in games.items() if game != "0"]
    for name in {table for table, _ in games}:  # a single game may have three errors in place of two
        tallies = [tally for (table, _), tally in games.items() if table == name]
        assert sum(t.wrong_with for t in tallies) <= sum(t.wrong_without for t in tallies), name
    # Over these tables the ratio is 0.40: from 0.08 to 1 (three wrong tiles in either case).
    assert sum(t.wrong_with for t in later) < 0.75 * sum(t.wrong_without for t in later)


@needs_photos
def test_no_photograph_of_a_game_is_read_worse_for_what_the_table_knows() -> None:
    whole = Tally()
    for shot, tally in replay_shots(load_photo_shots(PHOTOS_DIR / "jheidel")):
        assert tally.spoiled == 0, shot.name
        whole.add(tally)
    assert whole.pictures > 0
    assert whole.wrong_with <= whole.wrong_without


def test_fonts_that_are_missing_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(profile_gain, "DEBIAN_ROOT", tmp_path)
    monkeypatch.setattr("sys.argv", ["learning", "--rendered"])
    with pytest.raises(SystemExit):
        profile_gain.main()
    assert re.search("apt-get install .*fonts-dejavu-extra", capsys.readouterr().err)
