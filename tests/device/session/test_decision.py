"""What people are asked when letters are in doubt."""

from __future__ import annotations

from device.session.decision import judge
from engine.inference.explain import explain
from tests.support.engine_table import new_game, play, seen


def test_letters_that_are_each_a_little_in_doubt_are_asked_about_with_something_to_choose() -> None:
    game = new_game()
    board = play(game, "8E DARTERS").board
    others = [dict.fromkeys("LMVW", 0.0075) for _ in "DARTERS"]
    doubts = {
        f"{column}8": {tile: 0.97, **rest} for column, tile, rest in zip("EFGHIJK", "DARTERS", others, strict=False)
    }
    reading = seen(board, doubts)
    verdict = judge(game, explain(game, reading), reading)
    assert verdict.asked is not None and len(verdict.asked.answers) == 2
    assert not verdict.said
