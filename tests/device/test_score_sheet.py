"""Score sheets as they are written on paper."""

from __future__ import annotations

import pytest

from device.rebuilt_game import ScoreSheet, ScoreSheetError, parse_score_sheet

POINTS = [14, 9, 25, 30, 8, 22, 41, 17, 12, 36]


def list_points(sheet: ScoreSheet) -> list[int]:
    return [turn.points for turn in sheet.turns]


def test_names_are_those_of_the_first_line() -> None:
    assert parse_score_sheet("Anna;Ben\n14;9\n").players == ("Anna", "Ben")


def test_sheet_without_names_has_numbered_players() -> None:
    assert parse_score_sheet("14\t9\t12\n").players == ("1", "2", "3")


def test_running_totals_become_points() -> None:
    totals = {0: 0, 1: 0}
    rows = []
    for at in range(0, len(POINTS), 2):
        for seat in totals:
            totals[seat] += POINTS[at + seat]
        rows.append(f"{totals[0]},{totals[1]}")
    assert list_points(parse_score_sheet("\n".join(rows))) == POINTS


def test_falling_total_is_for_unplayed_letters() -> None:
    sheet = parse_score_sheet("14,9\n39,39\n47,61\n88,78\n92,74")
    assert (list_points(sheet), sheet.end) == ([14, 9, 25, 30, 8, 22, 41, 17], (4, -4))


@pytest.mark.parametrize("cell", ["", "-", "–", "0", "x"])
def test_turn_without_points_keeps_the_order(cell: str) -> None:
    sheet = parse_score_sheet(f"14,9\n{cell},30")
    assert [(turn.player, turn.points) for turn in sheet.turns] == [(0, 14), (1, 9), (0, 0), (1, 30)]


def test_empty_cells_at_the_end_are_no_turns() -> None:
    assert len(parse_score_sheet("14,9\n25,\n,\n").turns) == 3


def test_points_for_a_challenge_are_kept_apart() -> None:
    [turn, _] = parse_score_sheet("14+5,9").turns
    assert (turn.points, turn.extra) == (14, 5)


def test_points_with_a_sign_are_for_unplayed_letters() -> None:
    assert parse_score_sheet("14,9\n25,30\n+7,−7").end == (7, -7)


@pytest.mark.parametrize("text", ["", "Anna,Ben", "14\n9", "14,9,1,2,3", "14,9\ntwelve,3", "+7,-7\n14,9", "0,0"])
def test_sheet_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(ScoreSheetError):
        parse_score_sheet(text)
