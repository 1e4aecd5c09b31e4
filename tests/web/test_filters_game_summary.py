"""The summary of a game for each player: best play, bingos, average, unplayed letters."""

from __future__ import annotations

from dataclasses import replace

from tests.support import samples
from web.filters import summarise_players


def test_summary_has_best_play_bingos_average_and_unplayed_letters() -> None:
    anna, ben = summarise_players(samples.FINISHED)
    assert anna.best is not None and (anna.best.word, anna.best.score) == ("PASTE", 25)
    assert (anna.bingos, anna.average, anna.unplayed) == (0, (14 + 25) / 2, "")
    assert ben.best is not None and (ben.best.score, ben.bingos) == (74, 1)
    assert (ben.average, ben.unplayed) == ((9 + 74) / 2, "QA")


def test_play_that_was_taken_back_is_a_turn_without_points() -> None:
    gone = replace(samples.PASTE, stands=False)
    back = replace(gone, number=4, kind="withdrawn", score=-25)
    anna, _ = summarise_players(replace(samples.MIDGAME, turns=(samples.HORN, samples.FARM, gone, back)))
    assert anna.best is not None and anna.best.word == "HORN" and anna.average == 14 / 2


def test_swap_of_a_tile_is_no_turn_of_its_own() -> None:
    swap = replace(samples.PASTE, kind="recycled", score=0, word="", words=())
    anna, _ = summarise_players(replace(samples.MIDGAME, turns=(samples.HORN, samples.FARM, swap, samples.PASTE)))
    assert anna.average == (14 + 25) / 2


def test_game_without_plays_has_no_best_one() -> None:
    assert all(one.best is None and one.average == 0 for one in summarise_players(samples.BEFORE))
