"""The event of a hall: which game counts for which pairing, what a change of a round changes, and the standings."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from device.hall.receiving.event import (
    Event,
    Pairing,
    PairingsError,
    PairingState,
    Result,
    Standing,
    assign_games,
    compute_standings,
    decide,
    find_current_round,
    find_uncounted,
    make_result,
    make_rounds,
    save_round,
    undo_change,
)
from device.hall.receiving.pairings import import_pairings
from engine.events import EndReason, GameEnded, GameStarted, RackRevealed
from engine.game import Game

PLAYED = "1,1,Anna,Ben\n1,2,Cleo,Dan\n2,1,Anna,Cleo\n2,2,Ben,Dan"


def make_event(text: str) -> Event:
    return import_pairings(Event(), text)


def result(game: int, first: str, points: int, second: str, others: int, table: str = "9") -> Result:
    best = max(points, others)
    winners = tuple(seat for seat, total in enumerate((points, others)) if total == best)
    return Result(table, (first, second), (points, others), winners, 1000.0 + game, game)


def play(event: Event, *results: Result) -> Event:
    """Return the event after the games have come one after the other."""
    for count in range(len(results)):
        event = assign_games(event, results[: count + 1])
    return event


def list_points(event: Event, *results: Result) -> dict[int, list[tuple[int, ...]]]:
    rounds = make_rounds(event, results)
    return {number: [line.points if line.counts else () for line in lines] for number, lines in rounds.items()}


GAMES = (
    result(1, "Anna", 400, "Ben", 300),
    result(2, "dan", 350, "Cleo", 350),
    result(3, "Cleo", 380, "Anna", 300),
)


def test_saved_round_leaves_all_other_rounds_and_their_results() -> None:
    event = play(make_event(PLAYED), *GAMES)
    later = save_round(event, 3, (Pairing("1", "Anna", "Dan"), Pairing("2", "Ben", "Cleo")))
    assert {number: later.rounds[number] for number in (1, 2)} == event.rounds
    assert len(compute_standings(later, GAMES)) == 4 and list_points(later, *GAMES)[1] == [(400, 300), (350, 350)]


def test_pasted_text_with_other_rounds_does_not_change_them() -> None:
    event = make_event(PLAYED)
    assert import_pairings(event, "1,1,X,Y\n3,1,Anna,Dan", 3).rounds == {
        **event.rounds,
        3: (Pairing("1", "Anna", "Dan"),),
    }


def test_file_at_the_start_adds_only_rounds_that_the_event_lacks() -> None:
    event = save_round(make_event(PLAYED), 1, (Pairing("5", "Eve", "Finn"),))
    again = import_pairings(event, f"{PLAYED}\n3,1,Anna,Dan")
    assert again.rounds[1] == event.rounds[1] and 3 in again.rounds


def test_undone_change_of_a_round_brings_its_results_back() -> None:
    event = decide(play(make_event(PLAYED), *GAMES), 1, "Cleo", points=(1, 2))
    changed = save_round(event, 1, (Pairing("1", "Eve", "Finn"),))
    later = result(4, "Ben", 410, "Dan", 300)
    assert list_points(play(undo_change(play(changed, later), event), *GAMES), *GAMES, later) == {
        1: [(400, 300), (1, 2)],
        2: [(300, 380), (410, 300)],
    }


def test_undone_new_event_brings_the_event_back() -> None:
    event = play(make_event(PLAYED), *GAMES)
    assert undo_change(Event(begun=5000.0, last_game=3), event) == event


def test_pairing_keeps_its_decision_when_its_round_is_saved_again_with_swapped_players() -> None:
    event = decide(make_event(PLAYED), 1, "Anna", points=(400, 300))
    saved = save_round(event, 1, (Pairing("7", "Ben", "Anna"), Pairing("2", "Cleo", "Eve")))
    assert [one.points for one in saved.rounds[1]] == [(300, 400), None]


@pytest.mark.parametrize("pairings", ["1,1,Anna,Ben\n1,2,anna,Cleo", "1,A,Anna,Ben\n1,a,Cleo,Dan"])
def test_player_or_table_with_two_games_in_a_round_is_refused(pairings: str) -> None:
    with pytest.raises(PairingsError, match="has two games in round 1"):
        make_event(pairings)


def test_bye_is_not_an_open_game() -> None:
    event = make_event("1,1,Anna,Ben\n1,,Cleo,\n2,1,Anna,Cleo\n2,,Ben,")
    assert find_current_round(event, make_rounds(event, ())) == 1
    games = GAMES[:1]
    assert find_current_round(event, make_rounds(play(event, *games), games)) == 2


def test_players_who_meet_again_get_a_result_in_the_later_round() -> None:
    event = make_event("1,1,Anna,Ben\n2,1,Anna,Cleo\n3,1,Ben,Anna")
    games = (GAMES[0], GAMES[2], result(5, "Anna", 250, "Ben", 350))
    assert list_points(play(event, *games), *games) == {1: [(400, 300)], 2: [(300, 380)], 3: [(350, 250)]}


def test_game_keeps_its_round_when_a_round_before_it_is_added() -> None:
    game = result(1, "Anna", 400, "Ben", 300)
    event = play(make_event("2,1,Anna,Ben"), game)
    assert list_points(play(save_round(event, 1, (Pairing("1", "Anna", "Ben"),)), game), game) == {
        1: [()],
        2: [(400, 300)],
    }


def test_false_start_that_the_players_stopped_does_not_count() -> None:
    event = make_event("1,1,Anna,Ben\n1,2,Cleo,Dan\n2,1,Ben,Anna")
    false, real = replace(result(1, "Anna", 13, "Ben", -1), is_early=True), result(2, "Anna", 8, "Ben", 38)
    assert list_points(play(event, false, real), false, real)[1][0] == (8, 38)
    stopped = replace(real, is_early=True)
    assert list_points(play(event, false, stopped), false, stopped)[1][0] == (8, 38), "the newer of two stopped games"


def test_game_for_fun_after_the_game_of_the_round_does_not_count() -> None:
    event = make_event("1,1,Anna,Ben\n1,2,Cleo,Dan")
    games = (GAMES[0], result(2, "Ben", 410, "Anna", 300))
    assert list_points(play(event, *games), *games)[1][0] == (400, 300)
    chosen = decide(play(event, *games), 1, "Anna", game=2)
    assert list_points(chosen, *games)[1][0] == (300, 410)


def test_game_without_unplayed_letters_is_shown_and_counts_if_the_director_says_so() -> None:
    event, game = make_event("1,1,Anna,Ben"), replace(GAMES[0], needs_letters=True)
    event = play(event, game)
    (line,) = make_rounds(event, [game])[1]
    assert (line.state, line.points, line.counts) == (PairingState.LETTERS, (400, 300), False)
    (line,) = make_rounds(decide(event, 1, "Anna", game=1), [game])[1]
    assert (line.state, line.winners) == (PairingState.TABLE, (0,))


def test_result_by_hand_replaces_that_of_the_table_until_it_is_removed() -> None:
    event = decide(play(make_event(PLAYED), *GAMES), 1, "anna", points=(1, 2))
    assert list_points(event, *GAMES)[1][0] == (1, 2)
    assert list_points(decide(event, 1, "Anna"), *GAMES)[1][0] == (400, 300)


def test_game_that_was_overruled_by_hand_is_shown_only_in_its_round() -> None:
    event = decide(play(make_event(PLAYED), *GAMES), 1, "anna", points=(1, 2))
    (line, _) = make_rounds(event, GAMES)[1]
    assert GAMES[0] in line.games and GAMES[0] not in find_uncounted(event, GAMES)


def test_players_of_a_round_are_compared_with_those_of_earlier_rounds() -> None:
    event = make_event("1,1,Anna,Ben\n1,,Cleo,\n2,1,Anna,cleo\n2,,Dan,\n3,1,Anna,Bem\n3,2,Dan,Ben")
    assert [event.compare_players(number) for number in (1, 2, 3, 4)] == [
        ((), ()),
        (("Dan",), ("Ben",)),
        (("Bem",), ("cleo",)),
        ((), ()),
    ]


def test_running_game_is_shown_with_its_totals() -> None:
    game = replace(GAMES[0], ended=0.0, winners=())
    (line, _) = make_rounds(play(make_event(PLAYED), game), [game])[1]
    assert (line.state, line.points, line.counts) == (PairingState.PLAYING, (400, 300), False)


def test_game_with_another_name_counts_after_the_name_is_corrected() -> None:
    event, played = make_event("1,1,Anna,Ben"), result(1, "Ana", 310, "Ben", 320)
    event = play(event, played)
    assert find_uncounted(event, [played]) == [played]
    renamed = replace(played, players=("anna ", "Ben"))
    assert list_points(play(event, renamed), renamed)[1] == [(310, 320)]


def test_game_from_before_the_event_counts_only_if_the_director_chooses_it() -> None:
    event = replace(make_event("1,1,Anna,Ben"), begun=5000.0)
    old = result(7, "Anna", 400, "Ben", 300)
    assert list_points(play(event, old), old)[1] == [()] and find_uncounted(event, [old]) == [old]
    assert list_points(decide(event, 1, "Anna", game=7), old)[1] == [(400, 300)]


def test_game_that_was_seen_in_progress_counts_though_the_clock_of_its_table_is_slow() -> None:
    event = replace(make_event("1,1,Anna,Ben"), begun=5000.0)
    event = play(event, replace(GAMES[0], ended=0.0))
    assert list_points(play(event, GAMES[0]), GAMES[0])[1] == [(400, 300)]


def test_standings_count_wins_then_spread_and_equal_records_have_equal_ranks() -> None:
    event = make_event("1,1,Anna,Ben\n1,2,Cleo,Dan\n1,3,Łukasz,Zoë\n1,,Eve,")
    games = (*GAMES[:2], result(5, "Zoë", 300, "Łukasz", 400))
    assert compute_standings(play(event, *games), games) == [
        Standing("Anna", 1, 1.0, 100, 1),
        Standing("Łukasz", 1, 1.0, 100, 1),
        Standing("Eve", 1, 1.0, 50, 3),
        Standing("Cleo", 1, 0.5, 0, 4),
        Standing("Dan", 1, 0.5, 0, 4),
        Standing("Ben", 1, 0.0, -100, 6),
        Standing("Zoë", 1, 0.0, -100, 6),
    ]


def test_bye_counts_from_the_first_result_of_its_round_on() -> None:
    event = make_event("1,,Anna,Ben\n1,,Cleo,\n2,,Anna,Cleo\n2,,Ben,\n3,,Anna,")
    games = (GAMES[0], result(2, "Anna", 400, "Cleo", 300))

    def count_byes(*played: Result) -> int:
        return sum(one.games for one in compute_standings(play(event, *played), played)) - 2 * len(played)

    assert [count_byes(*games[:count]) for count in range(3)] == [0, 1, 3]


def test_without_rounds_all_games_of_two_count() -> None:
    three = Result("7", ("A", "B", "C"), (1, 2, 3), (2,), 1.0, 9)
    games = (three, result(10, "Anna", 400, "Dan", 300))
    assert [one.name for one in compute_standings(play(Event(), *games), games)] == ["Anna", "Dan"]


def test_game_that_the_players_ended_without_a_turn_has_no_result() -> None:
    game = Game.begin(GameStarted(("Anna", "Ben")))
    for act in (RackRevealed(0, ("A",)), RackRevealed(1, ("B",)), GameEnded(EndReason.AGREED)):
        game = game.push(act)
    assert make_result("7", 1, game, 5.0) is None
