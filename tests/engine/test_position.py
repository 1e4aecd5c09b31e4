"""A game that starts from a position: tiles on the board and points so far, before the first turn."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.board import EMPTY_BOARD, Board, load_layout, parse_square
from engine.errors import RulesError
from engine.events import (
    BlankNamed,
    Challenged,
    EndReason,
    Event,
    FirstDrawn,
    GameEnded,
    GameStarted,
    Passed,
    PlayMade,
    PositionEntered,
    RackRevealed,
    ScoreCorrected,
    SquareCorrected,
    TileRecycled,
    TurnCorrected,
    TurnInserted,
)
from engine.game import Game
from engine.gcg import build_record
from engine.inference.explain import infer_play
from engine.plays import Play
from engine.position import find_loose_squares
from engine.rules import STANDARD_RULES, FinishLineLevel
from engine.state import TurnKind
from engine.tiles import Tile
from tests.support.engine_table import NAMES, act_ref, new_game, play, seen, written
from tests.support.examples import try_examples
from tests.support.play_at_random import random_game

A4, H8, J8 = map(parse_square, ("A4", "H8", "J8"))
BOARD = play(new_game(), "8F HORN", "H6 FA.M").board


def position(
    board: Board = BOARD, totals: tuple[int, ...] = (120, 98), to_move: int = 1, racks: tuple[tuple[str, ...], ...] = ()
) -> PositionEntered:
    return PositionEntered(tuple((s, board.tile(s)) for s in board.occupied_squares()), totals, to_move, racks)


def late_board(left: str) -> Board:
    """Return a board with all tiles of the set but `left`."""
    tiles = (new_game().unseen - Counter(left)).elements()
    return EMPTY_BOARD.with_tiles({s: Tile.unnamed() if t == "?" else Tile(t) for s, t in enumerate(tiles, 60)})


def test_position_is_one_line_for_each_player_beginner_first() -> None:
    game = Game.start(NAMES[:3], first=1).push(position(totals=(10, 20, 30), to_move=0))
    assert [(turn.player, turn.kind, turn.score, turn.total) for turn in game.turns] == [
        (1, TurnKind.POSITION, 20, 20),
        (2, TurnKind.POSITION, 30, 30),
        (0, TurnKind.POSITION, 10, 10),
    ]
    assert game.totals == (10, 20, 30) and game.to_move == 0 and game.board == BOARD


def test_position_takes_its_tiles_from_the_bag() -> None:
    game = new_game().push(position())
    assert game.bag_count == 100 - 7 - 14 and game.state.rack_counts == (7, 7)
    assert game.unseen.total() == 93 and game.challengeable_turn is None and game.end_due is None


def test_play_after_a_position_is_scored_on_its_board() -> None:
    game = play(new_game().push(position()), "8F ....S")
    assert game.totals == (120, 98 + 8) and game.turns[-1].words[0].word == "HORNS"


def test_play_after_a_position_is_inferred_from_a_reading() -> None:
    game = new_game().push(position())
    found = infer_play(game, seen(play(game, "8F ....S").board))
    assert found.question is None and found.events == (PlayMade(1, written(game, "8F ....S")),)


@pytest.mark.parametrize("square", ["F8", "H6"])
def test_tile_that_was_missed_in_a_position_is_no_play(square: str) -> None:
    missed = parse_square(square)
    game = new_game().push(position(BOARD.without_tiles([missed])))
    found = infer_play(game, seen(play(new_game().push(position()), "J6 AST").board))
    correction = SquareCorrected(missed, BOARD[missed], act_ref(0))
    assert found.events == (correction, PlayMade(1, written(game.push(correction), "J6 AST")))
    assert found.question is not None


def test_position_ends_the_draw_for_first_play() -> None:
    game = Game.begin(GameStarted(NAMES[:2], draw=True)).push(FirstDrawn(("A", "A"))).push(position())
    assert game.drawing == () and game.to_move == 1


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (position(totals=(1,)), "the points of all 2 players, not of 1"),
        (position(to_move=2), "Player 2 cannot begin"),
        (position(to_move=-1), "Player -1 cannot begin"),
        (position(board=EMPTY_BOARD), "needs at least one tile"),
        (position(board=BOARD.with_tiles({0: Tile("Q"), 1: Tile("Q")})), "more of these tiles than the set: Q"),
        (position(racks=(("A",), ())), "The bag still has 79 tiles"),
    ],
)
def test_impossible_position_is_refused(event: PositionEntered, reason: str) -> None:
    with pytest.raises(RulesError, match=reason):
        new_game().push(event)


@pytest.mark.parametrize("turn", [PlayMade(0, written(new_game(), "8F HORN")), Passed(0), position()])
def test_position_after_a_turn_is_refused(turn: Event) -> None:
    with pytest.raises(RulesError, match="only before its first turn"):
        new_game().push(turn).push(position())


@pytest.mark.parametrize(
    ("racks", "counts"),
    [
        ((), (2, 3)),  # the player to move has the odd tile
        ((("A",), ()), (1, 4)),
        ((("A",), ("E", "E", "I", "?")), (1, 4)),
    ],
)
def test_racks_of_a_position_with_an_empty_bag(racks: tuple[tuple[str, ...], ...], counts: tuple[int, ...]) -> None:
    game = new_game().push(position(late_board("AEEI?"), racks=racks))
    assert game.bag_count == 0 and game.state.rack_counts == counts


@pytest.mark.parametrize(
    "racks",
    [
        (("A",), ("E",)),
        (("Z",), ()),
        (("A", "E"),),
        (("A", "A"), ()),
        (("A", "E", "E", "I", "?", "A"), ()),
        (("A", "E"), ("E", "I"), ("?",)),
    ],
)
def test_racks_that_do_not_hold_the_other_tiles_are_refused(racks: tuple[tuple[str, ...], ...]) -> None:
    with pytest.raises(RulesError, match="do not match the 5 tiles"):
        new_game().push(position(late_board("AEEI?"), racks=racks))


def test_known_racks_make_the_end_exact() -> None:
    ended = new_game().push(position(late_board("AEI"), racks=(("A", "I"), ("E",)))).push(GameEnded())
    assert ended.racks_wanted == () and ended.totals == (120 - 2, 98 - 1)


def test_tiles_played_after_a_position_leave_its_racks() -> None:
    game = new_game().push(position(late_board("AEIOZ"), racks=(("A", "I", "Z"), ("E", "O"))))
    game = game.push(PlayMade(1, Play.from_tiles({A4: Tile("O")})))
    ended = game.push(GameEnded())
    assert ended.racks_wanted == () and ended.totals == (120 - 12, game.totals[1] - 1)


def test_rack_of_a_position_with_more_tiles_than_a_rack_holds_is_refused() -> None:
    with pytest.raises(RulesError, match="do not match the 8 tiles"):
        new_game().push(position(late_board("AEEIIOOU"), racks=(tuple("AEEIIOOU"), ())))


def test_tiles_of_a_withdrawn_play_go_back_to_the_rack_of_a_position() -> None:
    game = new_game().push(position(late_board("AEIOZ"), racks=(("A", "I", "Z"), ("E", "O"))))
    game = game.push(PlayMade(1, Play.from_tiles({A4: Tile("O")})), Challenged(0, upheld=True))
    assert game.push(GameEnded()).totals == (120 - 12, 98 - 2)


def test_racks_of_a_position_are_known_after_plays_of_all_players() -> None:
    game = new_game().push(position(late_board("AEIOZ"), racks=(("A", "I", "Z"), ("E", "O"))))
    game = game.push(PlayMade(1, Play.from_tiles({A4: Tile("O")})), PlayMade(0, Play.from_tiles({A4 + 1: Tile("Z")})))
    assert game.push(GameEnded()).racks_wanted == ()


def test_rack_of_a_position_is_not_known_after_its_player_took_a_tile_of_the_board() -> None:
    game = new_game(replace(STANDARD_RULES, recycle=True)).push(
        position(late_board("AEIOZ"), racks=(("A", "I", "Z"), ("E", "O")))
    )
    recycled = game.push(TileRecycled(1, 60, Tile("O")), TileRecycled(0, 61, Tile("Z")))
    assert recycled.push(GameEnded()).racks_wanted == (0, 1)


def test_game_from_a_position_ends_when_a_rack_is_empty() -> None:
    game = new_game().push(position(late_board("EZ"), racks=(("Z",), ("E",))))
    game = game.push(PlayMade(1, Play.from_tiles({A4: Tile("E")})))
    assert game.end_due is EndReason.PLAYED_OUT
    ended = game.push(GameEnded(EndReason.PLAYED_OUT))
    points = game.turns[-1].score
    assert ended.racks_wanted == () and ended.totals == (120 - 10, 98 + points + 10)


def test_player_whose_rack_was_unknown_in_a_position_goes_out() -> None:
    game = new_game().push(position(late_board("AEEIZ"), to_move=0), Passed(0))
    game = game.push(PlayMade(1, Play.from_tiles({A4: Tile("Z")})))
    points = game.turns[-1].score
    assert game.end_due is None, "the number of tiles on each rack is not known"
    ended = game.push(GameEnded())
    assert ended.racks_wanted == (0, 1)
    ended = ended.push(RackRevealed(0, ("A", "E", "E", "I")))
    assert ended.racks_wanted == () and ended.totals == (120 - 4, 98 + points + 4)


def test_player_who_seems_out_after_a_position_may_hold_more_tiles() -> None:
    game = new_game().push(position(late_board("AEEZ"), to_move=0))
    game = game.push(PlayMade(0, Play.from_tiles({A4: Tile("Z"), A4 + 1: Tile("A")})))
    points = game.turns[-1].score
    assert game.end_due is EndReason.PLAYED_OUT, "this is only a proposal"
    ended = game.push(GameEnded(), RackRevealed(1, ("E",)))
    assert ended.racks_wanted == () and ended.totals == (120 + points - 1, 98 - 1)


def test_finish_line_counts_the_points_of_a_position() -> None:
    rules = replace(STANDARD_RULES, finish_line=(FinishLineLevel.BEGINNER, FinishLineLevel.BEGINNER))
    lines = rules.finish_lines(2)
    game = new_game(rules).push(position(totals=(lines[0], 0)))
    assert game.end_due is EndReason.FINISH_LINE and game.push(GameEnded(EndReason.FINISH_LINE)).outcome is not None


@pytest.mark.parametrize(("player", "totals"), [(0, (50, 98)), (1, (120, 50))])
def test_score_correction_changes_the_points_of_one_player(player: int, totals: tuple[int, int]) -> None:
    game = play(new_game().push(position()), "8F ....S").push(ScoreCorrected(act_ref(0), 50, player))
    assert game.totals == (totals[0], totals[1] + 8) and all(turn.computed_score is None for turn in game.turns)


@pytest.mark.parametrize("correction", [TurnCorrected(act_ref(0), Passed(1)), TurnInserted(act_ref(0), Passed(0))])
def test_turn_correction_of_a_position_is_refused(correction: Event) -> None:
    with pytest.raises(RulesError, match=r"cannot be corrected as a turn|only before its first turn"):
        play(new_game().push(position()), "8F ....S").push(correction)


def test_turn_after_a_position_is_corrected_and_inserted() -> None:
    game = play(new_game().push(position()), "8F ....S")
    assert game.push(TurnInserted(act_ref(1), Passed(1))).turns[2].kind is TurnKind.PASS
    assert game.push(TurnCorrected(act_ref(1), None)).totals == (120, 98)


@pytest.mark.parametrize(
    ("correction", "tile"),
    [
        (SquareCorrected(H8, Tile("S")), Tile("S")),
        (SquareCorrected(H8, None), None),
        (SquareCorrected(J8, Tile("S")), None),
        (SquareCorrected(J8, Tile("S"), act_ref(0)), None),
    ],
)
def test_square_of_a_position_is_corrected(correction: SquareCorrected, tile: Tile | None) -> None:
    game = new_game().push(position()).push(correction)
    assert game.board[correction.square] == correction.tile and game.totals == (120, 98)
    assert game.bag_count == 100 - 14 - len(game.board.occupied_squares()) and (tile is None or game.board[H8] == tile)


def test_last_tile_of_a_position_cannot_be_taken_away() -> None:
    game = new_game().push(position(EMPTY_BOARD.with_tiles({H8: Tile("A")})))
    with pytest.raises(RulesError, match="needs at least one tile"):
        game.push(SquareCorrected(H8, None))


def test_square_of_a_position_changes_the_later_plays() -> None:
    game = play(new_game().push(position()), "8F ....S").push(SquareCorrected(H8, Tile("T")))
    assert game.turns[-1].words[0].word == "HOTNS"


def test_blank_of_a_position_is_named() -> None:
    game = new_game().push(position(BOARD.with_tiles({J8: Tile.unnamed()}))).push(BlankNamed(J8, "S"))
    assert game.board[J8] == Tile("S", is_blank=True)


def test_square_without_a_tile_has_no_blank_after_a_position() -> None:
    with pytest.raises(RulesError, match="There is no blank on J8"):
        new_game().push(position()).push(BlankNamed(J8, "S"))


def test_play_after_a_position_can_be_challenged() -> None:
    game = play(new_game().push(position()), "8F ....S").push(Challenged(0, upheld=True))
    assert game.board == BOARD and game.totals == (120, 98)


def test_rack_that_a_player_reveals_replaces_that_of_the_position() -> None:
    game = new_game().push(position(late_board("AEI"), racks=(("A", "I"), ("E",))))
    assert game.push(RackRevealed(0, ("A",))).push(GameEnded()).totals == (120 - 1, 98 - 1)


def test_gcg_of_a_game_from_a_position_is_refused() -> None:
    with pytest.raises(RulesError, match="Save it as a ZIP"):
        build_record(play(new_game().push(position()), "8F ....S"))


@pytest.mark.parametrize(
    ("tiles", "loose"),
    [
        ({}, []),
        ({"A1": "A"}, ["A1"]),
        ({"A1": "A", "B1": "T"}, ["A1", "B1"]),
        ({"J8": "S"}, []),
    ],
)
def test_tiles_that_are_not_connected_with_the_centre_are_loose(tiles: Mapping[str, str], loose: list[str]) -> None:
    board = BOARD.with_tiles({parse_square(at): Tile(letter) for at, letter in tiles.items()})
    assert find_loose_squares(board, load_layout()) == tuple(map(parse_square, loose))


def test_all_tiles_are_loose_without_the_centre() -> None:
    board = BOARD.without_tiles([H8])
    assert find_loose_squares(board, load_layout()) == board.occupied_squares()


@given(st.integers(0, 2**32), st.integers(1, 24), st.integers(2, 4), st.sampled_from(["en", "de", "es"]))
@try_examples(30)
def test_any_board_of_a_game_is_a_position(seed: int, turns: int, players: int, tile_set: str) -> None:
    start = new_game(players=players, tile_set=tile_set)
    played = random_game(random.Random(seed), turns, start)
    if not played.board:
        return
    game = start.push(position(played.board, played.totals, played.to_move))
    assert (game.board, game.totals, game.to_move) == (played.board, played.totals, played.to_move)
    assert sum(game.state.rack_counts) + game.bag_count == game.unseen.total()
    assert find_loose_squares(game.board, game.layout) == ()
    assert Game.begin(game.start_event).push(*game.events).state == game.state
