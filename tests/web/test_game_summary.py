"""What is told of a game when it is over, and the colours in which it is told."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from device.session.new_game import PALETTE
from device.session.snapshot import PlayerView
from engine.rules import EDITION_COLOURS
from tests.support import samples
from web.colours import build_editions_css, choose_ink, contrast_ratio, ensure_contrast
from web.filters import colour_of
from web.game_summary import summaries


def test_summary_has_best_play_bingos_average_and_unplayed_letters() -> None:
    anna, ben = summaries(samples.FINISHED)
    assert anna.best is not None and (anna.best.word, anna.best.score) == ("PASTE", 25)
    assert (anna.bingos, anna.average, anna.unplayed) == (0, (14 + 25) / 2, "")
    assert ben.best is not None and (ben.best.score, ben.bingos) == (74, 1)
    assert (ben.average, ben.unplayed) == ((9 + 74) / 2, "QA")


def test_play_that_was_taken_back_is_a_turn_without_points() -> None:
    gone = replace(samples.PASTE, stands=False)
    back = replace(gone, number=4, kind="withdrawn", score=-25)
    anna, _ = summaries(replace(samples.MIDGAME, turns=(samples.HORN, samples.FARM, gone, back)))
    assert anna.best is not None and anna.best.word == "HORN" and anna.average == 14 / 2


def test_swap_of_a_tile_is_no_turn_of_its_own() -> None:
    swap = replace(samples.PASTE, kind="recycled", score=0, word="", words=())
    anna, _ = summaries(replace(samples.MIDGAME, turns=(samples.HORN, samples.FARM, swap, samples.PASTE)))
    assert anna.average == (14 + 25) / 2


def test_game_without_plays_has_no_best_one() -> None:
    assert all(one.best is None and one.average == 0 for one in summaries(samples.BEFORE))


def test_players_have_the_colour_they_chose_and_never_the_same() -> None:
    players = (PlayerView("A", 0, "blue"), PlayerView("B", 0), PlayerView("C", 0, "blue"), PlayerView("D", 0, "x"))
    state = replace(samples.BEFORE, players=players)
    colours = [colour_of(state, seat) for seat in range(4)]
    assert colours[0] == "blue" and len(set(colours)) == 4 and set(colours) <= set(PALETTE)


@pytest.mark.parametrize("edition", EDITION_COLOURS)
def test_what_is_written_on_a_premium_square_can_be_read(edition: str) -> None:
    shown = re.findall(rf'"{edition}"] .p\d\w{{--p:(#\w+);--on:(#\w+)}}', build_editions_css())
    assert len(shown) == 8, "four premiums, dark and light"
    assert all(contrast_ratio(ground, ink) >= 4.5 for ground, ink in shown)


def test_colour_that_reads_badly_is_moved_no_further_than_needed() -> None:
    assert ensure_contrast("#3a7db8") == "#3a7db8" or contrast_ratio("#3a7db8", choose_ink("#3a7db8")) < 4.5
    grey = ensure_contrast("#767676")
    assert 4.5 <= contrast_ratio(grey, choose_ink(grey)) < 5


def test_contrast_is_that_of_the_guidelines() -> None:
    assert contrast_ratio("#000000", "#ffffff") == pytest.approx(21)
    assert contrast_ratio("#777777", "#ffffff") == pytest.approx(4.478, abs=0.01)
