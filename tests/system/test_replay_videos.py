"""A short game from a rendered video, replayed and live; `python -m tests.system.replay_videos` plays whole games."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.game import Game
from tests.system.replay_videos import VideoScore, format_scores, load_games, measure_video
from vision.recognition.reader import BoardReader

TURNS = 5


@pytest.mark.slow
@pytest.mark.parametrize("is_live", [False, True])
def test_game_is_scored_from_a_video_with_hands_and_a_bump(is_live: bool, tmp_path: Path) -> None:
    game = next(load_games(None))
    beginning = Game.begin(game.start_event).push(*game.events[:TURNS])
    score = measure_video(beginning, tmp_path / "game.mp4", seed=3, reader=BoardReader(), is_live=is_live)
    assert score == VideoScore(TURNS, TURNS, 0, has_right_totals=True)


def test_report_counts_the_videos_with_right_totals() -> None:
    scores = [VideoScore(20, 19, 1, has_right_totals=False), VideoScore(10, 10, 0, has_right_totals=True)]
    assert format_scores(scores) == "29 of 30 turns right, 1 false, 1 of 2 totals right"
