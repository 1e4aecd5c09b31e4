"""The worked example of the rule sheets (classic-2008, travel-case, giant-deluxe-2020): five turns and their scores."""

import pytest

from engine.board import Board, load_layout
from engine.events import PlayMade
from engine.game import Game
from engine.plays import Play
from engine.rules import STANDARD_RULES
from engine.scoring import Status, score_play
from engine.tiles import load_tile_set

EN = load_tile_set("en")

TURNS = [
    ("8F HORN", {"HORN": 14}),
    ("H6 FA.M", {"FARM": 9}),
    ("10F PASTE", {"PASTE": 15, "FARMS": 10}),
    ("9H .OB", {"MOB": 8, "NOT": 4, "BE": 4}),
    ("11E BIT", {"BIT": 10, "PI": 4, "AT": 2}),
]


@pytest.mark.parametrize("turn", range(5), ids=[turn for turn, _ in TURNS])
def test_each_turn_scores_word_by_word(turn: int) -> None:
    board = Board()
    for notation, _ in TURNS[:turn]:
        board = Play.from_gcg(board, *notation.split(), EN).apply_to(board)
    notation, words = TURNS[turn]
    play = Play.from_gcg(board, *notation.split(), EN)
    scored = score_play(board, play, load_layout(), EN, STANDARD_RULES)
    assert {word.word: word.score for word in scored.words} == words
    assert scored.total == sum(words.values())
    assert play.to_gcg(board, EN) == notation


def test_the_game_keeps_the_totals() -> None:
    game = Game.start(("A", "B"))
    for notation, _ in TURNS:
        play = Play.from_gcg(game.board, *notation.split(), game.tiles)
        assert game.check_play(play, game.to_move) == Status.VALID
        game = game.push(PlayMade(game.to_move, play))
    assert [turn.score for turn in game.turns] == [14, 9, 25, 16, 16]
    assert game.totals == (55, 25)
    assert [f"{turn.at} {turn.word}" for turn in game.turns] == [notation for notation, _ in TURNS]
