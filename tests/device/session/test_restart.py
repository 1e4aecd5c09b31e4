"""A restart at any point of a game: the table shows the same afterwards, and explains the next reading alike."""

from __future__ import annotations

from dataclasses import replace

import pytest

from device.session.commands.answers import AnswerQuestion, ChooseNextAnswer, DeferQuestion
from device.session.commands.base import TableCommand
from device.session.commands.challenges import ChallengePlay
from device.session.commands.corrections import CorrectSquare
from device.session.commands.games import ResumeGame, StartGame, Undo
from device.session.commands.turn_corrections import CorrectTurn, InsertTurn
from device.session.commands.turns import EndTurn, PassTurn
from device.session.snapshot import TableSnapshot
from device.session.table_session import TableSession
from device.storage.store import GameStore
from engine.reading import BoardReading, SquareReading
from tests.support.text_table import FARM, HORN, PASTE, STARTED, WORDS, TextTable, rows
from tests.support.waiting import PATIENCE_S

O_OF_HORN, F_OF_FARM = 7 * 15 + 6, 5 * 15 + 7
Words = tuple[tuple[str, int, int, bool], ...]
Step = tuple[Words, int | None] | TableCommand
"""A press with these words on the board by the button of a player (None: a shared button), or a command."""

EVENINGS: dict[str, tuple[Step, ...]] = {
    "letters": (
        ((HORN,), None),
        ((HORN, FARM), None),
        DeferQuestion(),
        ((HORN, FARM, PASTE), None),
        CorrectSquare("H6", "P"),
    ),
    "answers": (((HORN,), None), ((HORN, FARM), None), ChooseNextAnswer(), AnswerQuestion(1), Undo(), Undo()),
    "passes": (((HORN,), None), ((HORN,), None), ((HORN, FARM), None), ((HORN, FARM), None), PassTurn()),
    "seats": (((HORN,), 1), AnswerQuestion(1), ((HORN, FARM), 0), InsertTurn(1, kind="pass"), CorrectTurn(1, score=4)),
    "challenges": (
        ((HORN,), None),
        ((HORN, FARM), None),
        ChallengePlay(),
        AnswerQuestion(2),
        ((HORN, FARM, PASTE), None),
    ),
    "blanks": (((("H?R?", 7, 5, True),), None), DeferQuestion(), ((("H?R?", 7, 5, True), FARM), None), Undo()),
    "nothing recorded": (((("CAT", 1, 1, True),), None), ((HORN,), None), AnswerQuestion(0), ((HORN, FARM), None)),
}


def lay(table: TextTable, words: Words) -> None:
    """Place words; the O of HORN is a little in doubt, and the F of FARM very much."""
    squares = list(BoardReading.from_rows(rows(*words)).squares)
    if squares[O_OF_HORN].probability("O") == 1:
        squares[O_OF_HORN] = SquareReading((("O", 0.97), ("Q", 0.02)))
    if squares[F_OF_FARM].probability("F") == 1:
        squares[F_OF_FARM] = SquareReading((("F", 0.55), ("P", 0.45)))
    table.board = BoardReading(tuple(squares))


def take(session: TableSession, table: TextTable, step: Step) -> TableSnapshot:
    """Press a button, or give a command."""
    if isinstance(step, TableCommand):
        return session.submit(step).result(PATIENCE_S)
    words, seat = step
    lay(table, words)
    return session.submit(EndTurn(), seat=seat).result(PATIENCE_S)


def compare_states(state: TableSnapshot) -> TableSnapshot:
    """Return what a restart keeps of a snapshot: all but its number, the notices and what the camera sees now."""
    return replace(state, revision=0, notices=())


@pytest.mark.parametrize("evening", EVENINGS)
def test_snapshot_is_the_same_after_a_restart_and_the_game_goes_on_alike(evening: str) -> None:
    """The evidence of earlier readings, and what was asked before, decide about later readings."""
    ends = []
    for restarts in (False, True):
        table = TextTable()
        with GameStore(":memory:") as store:
            session = TableSession(table, table, store, WORDS)
            state = session.submit(StartGame(STARTED)).result(PATIENCE_S)
            for step in (None, *EVENINGS[evening]):
                state = take(session, table, step) if step else state
                if restarts:
                    session.close()
                    session = TableSession(table, table, store, WORDS)
                    after = session.submit(ResumeGame()).result(PATIENCE_S)
                    assert compare_states(after) == compare_states(state), f"after {step}"
            session.close()
            ends.append(compare_states(state))
    assert ends[0] == ends[1]
