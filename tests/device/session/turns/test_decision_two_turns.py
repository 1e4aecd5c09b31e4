"""Two turns lie on the board at once: who laid which is asked where nothing tells."""

from __future__ import annotations

from device.session.turns.decision import TurnContext
from device.session.turns.turn_validation import decide
from engine.events import PlayMade
from engine.game import Game
from engine.inference.explain import infer_play
from engine.plays import Play
from engine.reading import BoardReading
from tests.support.engine_table import as_ledger
from tests.support.text_table import HORN, rows


def game() -> Game:
    started = Game.start(("Anna", "Ben", "Carl"))
    return started.push(PlayMade(0, Play.from_gcg(started.board, "8F", "HORN", started.tiles)))


def test_either_order_is_offered_and_each_gives_the_points_to_another() -> None:
    before = game()
    reading = BoardReading.from_rows(rows(HORN, ("FARM", 5, 7, False), ("NON", 7, 8, False)))
    verdict = decide(before, infer_play(before, reading), reading, TurnContext(as_ledger(before)))
    assert verdict.open_question is not None and len(verdict.open_question.answers) == 2
    totals = set()
    for events in verdict.open_question.answers:
        after = before
        for event in events:
            after = after.push(event)
        assert [turn.player for turn in after.turns] == [0, 1, 2]
        totals.add(after.totals)
    assert len(totals) == 2
