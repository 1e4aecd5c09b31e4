"""Corrections of a play that was withdrawn, above all because of its words in a game without challenges."""

from __future__ import annotations

from dataclasses import replace

import pytest

from device.session.commands.base import TableCommand
from device.session.commands.challenges import DecideChallenge
from device.session.commands.corrections import CorrectSquare, RevealRack
from device.session.commands.games import EndGame, StartGame, Undo
from device.session.commands.turn_corrections import CorrectTurn
from device.session.commands.turns import PassTurn
from device.session.snapshot import TableSnapshot
from device.session.table_session import TableSession
from engine.rules import STANDARD_RULES, ChallengeRule
from tests.support.text_table import HORN, STARTED, TextTable, play, totals
from tests.support.waiting import PATIENCE_S

FXRM, FAR, FARMX = ("FXRM", 5, 7, False), ("FAR", 5, 7, False), ("FARMX", 5, 7, False)


def start(session: TableSession, table: TextTable, misread: tuple[str, int, int, bool]) -> TableSnapshot:
    """Play HORN and FARM, which is read as `misread` and withdrawn."""
    rules = replace(STANDARD_RULES, challenge=ChallengeRule.VOID)
    session.submit(StartGame(replace(STARTED, rules=rules))).result(PATIENCE_S)
    play(session, table, HORN)
    state = play(session, table, HORN, misread)
    assert [turn.kind for turn in state.turns] == ["play", "play", "withdrawn"]
    return state


@pytest.mark.parametrize(
    ("misread", "command"),
    [
        (FXRM, CorrectSquare("H7", "A")),
        (FXRM, CorrectTurn(2, at="H6", word="FARM")),
        (FAR, CorrectSquare("H9", "M")),
        (FAR, CorrectTurn(2, at="H6", word="FARM")),
        (FARMX, CorrectSquare("H10", ".")),
    ],
    ids=["square", "turn", "missed square", "missed tile by turn", "false tile"],
)
def test_play_that_was_misread_counts_after_its_correction(
    session: TableSession, table: TextTable, misread: tuple[str, int, int, bool], command: TableCommand
) -> None:
    start(session, table, misread)
    state = session.submit(command).result(PATIENCE_S)
    assert [turn.kind for turn in state.turns] == ["play", "play"] and totals(state) == [14, 9]
    assert state.turn_of == 0
    assert totals(session.submit(Undo()).result(PATIENCE_S)) == [14, 0]


@pytest.mark.parametrize(
    ("command", "word", "kinds", "expected"),
    [
        (CorrectSquare("H7", "A"), "FA.M", ["play"], [14, -1]),
        (CorrectTurn(2, at="H6", word="FARM"), "FA.M", ["play"], [14, -1]),
        (CorrectSquare("H7", "I"), "FI.M", ["play", "withdrawn"], [14, -10]),
    ],
    ids=["square", "turn", "still invalid"],
)
def test_last_play_that_was_misread_is_corrected_after_the_end(
    session: TableSession, table: TextTable, command: TableCommand, word: str, kinds: list[str], expected: list[int]
) -> None:
    start(session, table, FXRM)
    session.submit(EndGame()).result(PATIENCE_S)
    session.submit(RevealRack(1, "Q")).result(PATIENCE_S)
    state = session.submit(command).result(PATIENCE_S)
    assert [turn.word for turn in state.turns if turn.kind == "play"] == ["HORN", word]
    assert [turn.kind for turn in state.turns[1:-1]] == kinds and totals(state) == expected


def test_play_that_is_still_invalid_after_a_correction_stays_withdrawn(session: TableSession, table: TextTable) -> None:
    start(session, table, FXRM)
    state = session.submit(CorrectSquare("H7", "I")).result(PATIENCE_S)
    assert [turn.kind for turn in state.turns] == ["play", "play", "withdrawn"] and totals(state) == [14, 0]
    assert "FIRM is not in the word list" in state.notices[0].text


@pytest.mark.parametrize(
    "command", [CorrectSquare("H8", "R"), CorrectTurn(1, at="8F", word="HORN")], ids=["square", "turn"]
)
def test_play_through_a_tile_that_was_misread_counts_after_its_correction(
    session: TableSession, table: TextTable, command: TableCommand
) -> None:
    rules = replace(STANDARD_RULES, challenge=ChallengeRule.VOID)
    session.submit(StartGame(replace(STARTED, rules=rules))).result(PATIENCE_S)
    play(session, table, ("HOBN", 7, 5, True))
    session.submit(DecideChallenge(upheld=False)).result(PATIENCE_S)
    state = play(session, table, ("HOBN", 7, 5, True), ("FABM", 5, 7, False))
    assert state.turns[-1].kind == "withdrawn" and totals(state)[1] == 0
    state = session.submit(command).result(PATIENCE_S)
    assert [turn.word for turn in state.turns] == ["HORN", "FA.M"] and totals(state) == [14, 9]
    assert totals(session.submit(Undo()).result(PATIENCE_S))[1] == 0


def test_turn_before_a_withdrawn_play_is_removed(session: TableSession, table: TextTable) -> None:
    start(session, table, FXRM)
    state = session.submit(CorrectTurn(1, kind="none")).result(PATIENCE_S)
    assert [(turn.player, turn.kind) for turn in state.turns] == [(0, "play"), (0, "withdrawn")]


def test_valid_play_that_the_players_withdrew_stays_withdrawn(session: TableSession, table: TextTable) -> None:
    rules = replace(STANDARD_RULES, challenge=ChallengeRule.VOID)
    session.submit(StartGame(replace(STARTED, rules=rules))).result(PATIENCE_S)
    play(session, table, HORN)
    session.submit(DecideChallenge(upheld=True)).result(PATIENCE_S)
    state = session.submit(CorrectTurn(1, player=1)).result(PATIENCE_S)
    assert [turn.kind for turn in state.turns] == ["play", "withdrawn"] and totals(state) == [0, 0]


def test_withdrawn_play_stays_withdrawn_if_the_game_went_on(session: TableSession, table: TextTable) -> None:
    start(session, table, FXRM)
    session.submit(PassTurn()).result(PATIENCE_S)
    state = session.submit(CorrectTurn(2, at="H6", word="FARM")).result(PATIENCE_S)
    assert [turn.kind for turn in state.turns] == ["play", "play", "withdrawn", "pass"] and totals(state) == [14, 0]


@pytest.mark.parametrize(
    "command", [CorrectSquare("H7", "A"), CorrectTurn(2, at="H6", word="FARM")], ids=["square", "turn"]
)
def test_play_that_was_challenged_away_stays_withdrawn_with_a_notice(
    playing: TableSession, table: TextTable, command: TableCommand
) -> None:
    play(playing, table, HORN)
    play(playing, table, HORN, FXRM)
    playing.submit(DecideChallenge(upheld=True)).result(PATIENCE_S)
    state = playing.submit(command).result(PATIENCE_S)
    assert [turn.word for turn in state.turns] == ["HORN", "FA.M", "FA.M"] and totals(state) == [14, 0]
    assert [notice.key for notice in state.notices] == ["noted-still-withdrawn"]


def test_tile_beside_a_withdrawn_play_belongs_to_the_play_that_it_fits(session: TableSession, table: TextTable) -> None:
    start(session, table, FXRM)
    session.submit(CorrectSquare("E8", "T")).result(PATIENCE_S)
    assert session.state.turns[0].word == "THORN" and session.state.turns[-1].kind == "withdrawn"
