"""Standings: wins, draws, byes, and which result belongs to which pairing."""

from __future__ import annotations

from msgspec.structs import replace

from device.hall.receiving.pairings import (
    Pairing,
    Result,
    format_csv,
    parse_pairings,
)
from device.hall.receiving.standings import Standing, compute_standings, find_uncounted, match_games, match_results

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


def test_bye_counts_from_its_round_on() -> None:
    pairings = parse_pairings("1,,Anna,Ben\n1,,Cleo,\n2,,Anna,Cleo\n2,,Ben,\n3,,Ben,Cleo\n3,,Anna,\n4,,Anna,")
    games = [result("Anna", 400, "Ben", 300), result("Anna", 400, "Cleo", 300), result("Ben", 400, "Cleo", 300)]

    def count_byes(*played: Result) -> int:
        return sum(one.games for one in compute_standings(pairings, played)) - 2 * len(played)

    assert [count_byes(*games[:count]) for count in range(4)] == [1, 2, 3, 4]
    assert count_byes(games[1]) == 2, "a game of round 1 has no result yet"


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


def test_names_are_compared_as_they_are_seen() -> None:
    composed, decomposed = "Zo\u00eb  Mai", "Zoe\u0308 Mai"
    pairings = parse_pairings(f"1,7,{composed},Ben")
    played = result(decomposed, 400, "Ben", 300)
    assert match_results(pairings, [played]) == [(pairings[0], played)]
    assert len(compute_standings(pairings, [played])) == 2
    assert format_csv(match_results(pairings, [played])).splitlines()[1].endswith(",400,Ben,300")


def test_result_belongs_to_the_pairing_at_its_table() -> None:
    pairings = parse_pairings("1,1,Anna,Ben\n2,2,Ben,Anna")
    second = replace(result("Anna", 310, "Ben", 320), table="2")
    assert match_results(pairings, [second]) == [(pairings[0], None), (pairings[1], second)], "round 1 is played later"
    first = replace(result("Anna", 400, "Ben", 300, ended=-9000.0), table="1")
    assert match_results(pairings, [second, first])[0] == (pairings[0], first), "the clock of a table may be wrong"


def test_result_that_the_director_enters_for_a_round_replaces_that_of_the_table() -> None:
    pairings = parse_pairings("1,1,Anna,Ben\n2,2,Ben,Anna")
    played = replace(result("Anna", 310, "Ben", 320), table="1")
    wrong, entered = (replace(result("Anna", n, "Ben", 320, float(n)), table="", round=1) for n in (300, 330))
    assert match_results(pairings, [played, wrong, entered]) == [(pairings[0], entered), (pairings[1], None)]
    assert find_uncounted(pairings, [played, wrong, entered]) == [played, wrong]


def test_game_whose_result_was_corrected_counts_for_no_later_round() -> None:
    pairings = parse_pairings("1,,Anna,Ben\n5,,Ben,Anna")
    misread, played = result("Anna", 310, "Ben", 320, ended=10.0), result("Anna", 400, "Ben", 300, ended=50.0)
    entered = replace(result("Anna", 330, "Ben", 320, ended=20.0), table="", round=1)
    assert match_results(pairings, [misread, entered]) == [(pairings[0], entered), (pairings[1], None)]
    assert match_results(pairings, [misread, entered, played])[1] == (pairings[1], played)
    assert match_results(pairings, [entered, played])[1] == (pairings[1], played), "round 1 had no camera"


def test_entered_result_keeps_the_game_that_it_replaces() -> None:
    pairings = parse_pairings("1,1,Anna,Ben\n2,1,Anna,Ben")
    entered = replace(result("Anna", 1, "Ben", 2), table="", round=1)
    played = [replace(result("Anna", 3, "Ben", 4), table="1", game=5), replace(result("Ben", 5, "Anna", 6), game=6)]
    assert [game for _, game in match_games(pairings, [*played, entered])] == [5, 6]
    assert [game for _, game in match_games(pairings, [played[0], entered])] == [5, 0]


def test_result_of_a_misspelt_name_does_not_count() -> None:
    played = result("Ana", 310, "Ben", 320)
    assert find_uncounted(parse_pairings("1,1,Anna,Ben"), [played]) == [played]
    assert find_uncounted((), [played]) == []


def test_csv_has_the_points_in_the_order_of_the_pairing() -> None:
    pairings = (Pairing(1, "Table 1", "Anna", "=Ben"), Pairing(1, "", "Eve", ""))
    text = format_csv(match_results(pairings, [result("=Ben", 300, "Anna", 400)]))
    assert text.splitlines()[1:] == ["1,Table 1,Anna,400,'=Ben,300", "1,,Eve,,,"]
