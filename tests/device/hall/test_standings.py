"""Pairings and standings: wins, draws, byes, and which result belongs to which pairing."""

from __future__ import annotations

import pytest

from device.hall.results import Result
from device.hall.standings import (
    Pairing,
    PairingsError,
    Standing,
    compute_standings,
    format_csv,
    format_pairings,
    match_results,
    parse_pairings,
)

EVENT = parse_pairings("1;1;Anna;Ben\n1;2;Cleo;Dan\n1;;Eve\n2;1;Anna;Cleo\n2;2;Ben;Dan\n")


def result(first: str, points: int, second: str, others: int, ended: float = 1.0) -> Result:
    best = max(points, others)
    winners = tuple(seat for seat, total in enumerate((points, others)) if total == best)
    return Result("7", (first, second), (points, others), winners, ended)


def test_standings_count_wins_then_spread() -> None:
    results = [result("Ben", 300, "anna", 400), result("Dan", 350, "Cleo", 350), result("Anna", 380, "Cleo", 300)]
    assert compute_standings(EVENT, results) == [
        Standing("Anna", 2, 2.0, 180),
        Standing("Eve", 1, 1.0, 50),
        Standing("Dan", 1, 0.5, 0),
        Standing("Cleo", 2, 0.5, -80),
        Standing("Ben", 1, 0.0, -100),
    ]


def test_game_of_players_who_are_not_paired_does_not_count() -> None:
    assert {one.games for one in compute_standings(EVENT[:2], [result("Anna", 400, "Dan", 300)])} == {0}


def test_without_pairings_all_games_of_two_count() -> None:
    three = Result("7", ("A", "B", "C"), (1, 2, 3), (2,), 1.0)
    names = [one.name for one in compute_standings((), [three, result("Anna", 400, "Dan", 300)])]
    assert names == ["Anna", "Dan"]


def test_players_who_meet_twice_have_two_results() -> None:
    pairings = parse_pairings("2,1,Anna,Ben\n1,1,Ben,Anna\n")
    first, second = result("Anna", 400, "Ben", 300, 1.0), result("Anna", 310, "Ben", 320, 2.0)
    assert match_results(pairings, [first, second]) == [(pairings[1], first), (pairings[0], second)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_may_end_as_in_any_system(end: str) -> None:
    assert len(parse_pairings(f"round,table{end}1,1,Anna,Ben{end}1,,Eve,{end}")) == 2


def test_names_with_delimiters_are_kept_when_pairings_are_saved_again() -> None:
    pairings = parse_pairings('1;"a;b";"Doe; Jane";Roe, Rick\n2;;""Ed"";')
    assert parse_pairings(format_pairings(pairings)) == pairings and format_pairings(()) == ""


def test_csv_has_the_points_in_the_order_of_the_pairing() -> None:
    pairings = (Pairing(1, "Table 1", "Anna", "=Ben"), Pairing(1, "", "Eve", ""))
    text = format_csv(match_results(pairings, [result("=Ben", 300, "Anna", 400)]))
    assert text.splitlines()[1:] == ["1,Table 1,Anna,400,'=Ben,300", "1,,Eve,,,"]


@pytest.mark.parametrize(
    "text", ["1,1,Anna,Anna", "1,1", "1,1,Anna,Ben,Cem", "x\nx,1,Anna,Ben", "1,1,A\x07,Ben", '1,1,"' + "x" * 200_000]
)
def test_pairings_that_cannot_be_are_refused_with_their_line(text: str) -> None:
    with pytest.raises(PairingsError, match=r"line \d"):
        parse_pairings(text)
