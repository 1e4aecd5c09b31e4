"""Records over many games: each figure against games that can be counted by hand."""

from __future__ import annotations

import pytest

from device.storage.statistics import (
    Best,
    HeadToHead,
    PlaySummary,
    compute_head_to_heads,
    compute_player_records,
    summarise_game,
)
from engine.events import (
    Challenged,
    EndReason,
    Event,
    Exchanged,
    GameEnded,
    GameStarted,
    Passed,
    PlayMade,
    PositionEntered,
    RackRevealed,
)
from engine.game import Game
from engine.plays import Play


def play(player: int, game: Game, at: str, word: str) -> PlayMade:
    return PlayMade(player, Play.from_gcg(game.board, at, word, game.tiles))


def played(*moves: tuple[str, str] | Event, players: tuple[str, ...] = ("Anna", "Ben")) -> Game:
    """A game; plays as (square, word) by whose turn it is."""
    game = Game.begin(GameStarted(players))
    for move in moves:
        game = game.push(play(game.to_move, game, *move) if isinstance(move, tuple) else move)
    return game


ENDED = GameEnded(EndReason.AGREED)
# HORN 8F 14; FARM H5 (over the R) 9
FIRST = played(("8F", "HORN"), ("H6", "FA.M"), RackRevealed(0, ()), RackRevealed(1, ()), ENDED)
# a bingo of Ben: SEATING through the centre, then Anna exchanges, Ben lays a phony that is withdrawn
BINGO = played(
    ("8D", "SEATING"),
    Exchanged(1, 2),
    ("J5", "QXZ."),
    Challenged(1, True),
    Passed(1),
    RackRevealed(0, ()),
    RackRevealed(1, ()),
    ENDED,
    players=("Ben", "Anna"),
)


def test_points_of_a_position_count_in_the_total_but_are_no_turn() -> None:
    position = PositionEntered(FIRST.turns[0].placements, (120, 98), 0)
    total = summarise_game(3, 100.0, played(position, Passed(0), RackRevealed(0, ()), RackRevealed(1, ()), ENDED))
    assert total is not None
    assert [(seat.total, seat.turns, seat.plays, seat.points) for seat in total.seats] == [
        (120, 1, 0, 0),
        (98, 0, 0, 0),
    ]


def test_sum_of_a_game_counts_what_each_player_did() -> None:
    total = summarise_game(3, 100.0, FIRST)
    assert total is not None and (total.number, total.started, total.drawn) == (3, 100.0, False)
    anna, ben = total.seats
    assert (anna.name, anna.total, anna.won, anna.turns, anna.plays, anna.points) == ("Anna", 14, True, 1, 1, 14)
    assert anna.best == PlaySummary(14, "HORN", 1)
    assert (ben.total, ben.won, ben.bingos, ben.best) == (9, False, 0, PlaySummary(9, "FARM", 2))


def test_game_that_goes_on_counts_for_nothing() -> None:
    assert summarise_game(1, 0.0, played(("8F", "HORN"))) is None


def test_withdrawn_play_is_a_phony_and_no_points() -> None:
    total = summarise_game(1, 0.0, BINGO)
    assert total is not None
    ben, anna = total.seats
    assert (ben.phonies, ben.bingos, ben.plays, ben.turns) == (1, 1, 1, 2)
    assert ben.best is not None and ben.best.word == "SEATING" and ben.total == ben.points == ben.best.score
    assert (anna.turns, anna.plays, anna.points, anna.best) == (2, 0, 0, None)


def test_records_over_two_games() -> None:
    sums = [one for one in (summarise_game(1, 0.0, FIRST), summarise_game(2, 9.0, BINGO)) if one]
    bingo = BINGO.totals[0]
    ben, anna = compute_player_records(sums)
    assert (ben.name, ben.games, ben.won, ben.lost, ben.drawn) == ("Ben", 2, 1, 1, 0)
    assert ben.average == pytest.approx((9 + bingo) / 2) and ben.average_turn == pytest.approx((9 + bingo) / 3)
    assert ben.high_game == Best(bingo, 2) and ben.high_play == Best(bingo, 2, 1, "SEATING")
    assert (anna.high_game, anna.high_play, anna.bingos) == (Best(14, 1), Best(14, 1, 1, "HORN"), 0)
    assert compute_head_to_heads(sums) == (HeadToHead(("Anna", "Ben"), 2, (1, 1), (14, 9 + bingo)),)


def test_shared_first_place_is_drawn_and_the_earlier_of_equal_records_stands() -> None:
    level = played(Passed(0), Passed(1), RackRevealed(0, ()), RackRevealed(1, ()), ENDED)
    sums = [one for number in (4, 5) if (one := summarise_game(number, 0.0, level))]
    for record in compute_player_records(sums):
        assert (record.won, record.drawn, record.lost, record.high_play) == (0, 2, 0, None)
        assert record.high_game == Best(0, 4)
    (pair,) = compute_head_to_heads(sums)
    assert (pair.level, pair.ahead) == (2, (0, 0))


def test_three_players_make_three_pairs() -> None:
    game = played(("8F", "HORN"), *(RackRevealed(p, ()) for p in range(3)), ENDED, players=("A", "B", "C"))
    total = summarise_game(1, 0.0, game)
    assert total is not None
    assert [pair.names for pair in compute_head_to_heads([total])] == [("A", "B"), ("A", "C"), ("B", "C")]
    assert compute_head_to_heads([]) == () and compute_player_records([]) == ()


def test_game_has_no_winner_before_racks_are_counted() -> None:
    open_game = played(("8F", "HORN"), ("H6", "FA.M"), ENDED)
    summary, counted = summarise_game(1, 0.0, open_game), summarise_game(2, 0.0, FIRST)
    assert summary is not None and counted is not None
    assert not summary.racks_counted and [seat.won for seat in summary.seats] == [False, False]
    [anna, ben] = compute_player_records([summary, counted])
    assert (anna.games, anna.won, anna.lost, anna.undecided) == (2, 1, 0, 1)
    assert (ben.games, ben.won, ben.lost, ben.undecided) == (2, 0, 1, 1)
    assert compute_head_to_heads([summary]) == ()


def test_totals_without_the_racks_are_no_record_and_not_in_the_average() -> None:
    open_game = played(("8D", "SEATING"), ENDED)
    summary, counted = summarise_game(1, 0.0, open_game), summarise_game(2, 0.0, FIRST)
    assert summary is not None and counted is not None
    [anna, _] = compute_player_records([summary, counted])
    assert (anna.average, anna.high_game) == (14, Best(14, 2))
    [anna, _] = compute_player_records([summary])
    assert (anna.average, anna.high_game) == (0, None)
