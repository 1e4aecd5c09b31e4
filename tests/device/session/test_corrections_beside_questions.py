"""A correction while a question is open: it answers the question about its own square or turn, and defers any other.

The outcome of a challenge, entered by hand, defers it, too. A question whose turn is not recorded stays open.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from device.session.commands.answers import AnswerQuestion, DeferQuestion
from device.session.commands.base import TableCommand
from device.session.commands.challenges import ChallengePlay, DecideChallenge
from device.session.commands.corrections import CorrectSquare, NameBlank, RenamePlayer, RevealRack
from device.session.commands.games import EndGame, StartGame, Undo
from device.session.commands.turn_corrections import CorrectTurn, InsertTurn
from device.session.commands.turns import EndTurn, EnterBoard, ExchangeTiles, PassTurn
from device.session.messages import CommandRefusedError
from device.session.snapshot import TableSnapshot
from device.session.table_session import TableSession
from device.storage.store import GameStore
from engine.reading import BoardReading, SquareReading
from tests.support.questions import answer_late, get_key
from tests.support.text_table import FARM, HORN, STARTED, TextTable, play, rows, totals
from tests.support.waiting import PATIENCE_S

H_RN = ("H?RN", 7, 5, True)
FAR = ("FAR", 5, 7, False)
F_SQUARE = 5 * 15 + 7


@pytest.fixture
def asked(playing: TableSession, table: TextTable) -> TableSnapshot:
    """Return the snapshot after H?RN and a play of FARM whose first letter may be a P: the table asks which it is."""
    play(playing, table, H_RN)
    playing.submit(NameBlank("G8", "O")).result(PATIENCE_S)
    squares = list(BoardReading.from_rows(rows(H_RN, FARM)).squares)
    squares[F_SQUARE] = SquareReading((("F", 0.55), ("P", 0.45)))
    table.board = BoardReading(tuple(squares))
    state = playing.submit(EndTurn()).result(PATIENCE_S)
    assert state.question is not None and state.question.squares == (F_SQUARE,)
    return state


@pytest.mark.parametrize(
    "command",
    [CorrectSquare("F8", "B"), CorrectSquare("G8", "a"), CorrectTurn(1, score=20), DecideChallenge(upheld=False)],
    ids=["square", "blank", "turn", "challenge"],
)
def test_correction_of_something_else_keeps_the_question(
    playing: TableSession, asked: TableSnapshot, command: TableCommand
) -> None:
    state = playing.submit(command).result(PATIENCE_S)
    assert [deferred.question.text for deferred in state.open_questions] == [asked.question and asked.question.text]
    assert state.turns[1].provisional
    state = answer_late(playing, 1)
    assert state.turns[1].word == "PA.M" and not state.open_questions


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize("command", [CorrectTurn(2, score=20), CorrectTurn(2, player=0)], ids=["score", "player"])
def test_correction_of_the_turn_that_says_no_letter_keeps_the_question(
    playing: TableSession, command: TableCommand
) -> None:
    assert playing.submit(command).result(PATIENCE_S).turns[1].provisional
    state = answer_late(playing, 1)
    assert state.turns[1].word == "PA.M" and not state.open_questions


def test_correction_of_a_letter_keeps_the_question_who_played_it(table: TextTable) -> None:
    """FAR is not in the word list, so its player may have added the N."""
    words = frozenset({"HORN", "FARN"})
    with GameStore(":memory:") as store, TableSession(table, table, store, words) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        for laid in [(HORN,), (HORN, FAR), (HORN, ("FARN", 5, 7, False))]:
            play(session, table, *laid)
        state = session.submit(CorrectSquare("H9", "M")).result(PATIENCE_S)
        assert [deferred.question.key for deferred in state.open_questions] == ["play-became"]
        state = answer_late(session, 0)
        assert [(turn.player, turn.word) for turn in state.turns] == [(0, "HORN"), (1, "FA.M")]


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize(
    "command", [CorrectSquare("H6", "P"), CorrectTurn(2, at="H6", word="PARM")], ids=["square", "turn"]
)
def test_correction_of_what_is_asked_answers_the_question(playing: TableSession, command: TableCommand) -> None:
    state = playing.submit(command).result(PATIENCE_S)
    assert state.question is None and not state.open_questions
    assert state.turns[1].word == "PA.M" and not state.turns[1].provisional


def test_blank_that_is_named_keeps_the_question_about_another_blank(playing: TableSession, table: TextTable) -> None:
    playing.submit(StartGame(STARTED)).result(PATIENCE_S)
    play(playing, table, H_RN)
    asked = play(playing, table, H_RN, ("?ARM", 5, 7, False)).question
    assert asked is not None and asked.key == "asked-blank-unnamed"
    state = playing.submit(NameBlank("G8", "O")).result(PATIENCE_S)
    assert (F_SQUARE,) in [deferred.question.squares for deferred in state.open_questions]
    before = totals(state)
    state = playing.submit(NameBlank("H6", "F")).result(PATIENCE_S)
    assert totals(state) == before and state.turns[1].word == "fA.M"


def test_entered_board_that_names_an_earlier_blank_can_be_answered(playing: TableSession, table: TextTable) -> None:
    play(playing, table, H_RN)
    playing.submit(AnswerQuestion(0)).result(PATIENCE_S)
    board = rows(("HoRN", 7, 5, True), ("Q", 0, 0, True), ("Z", 0, 3, True), ("A", 14, 14, True))
    asked = playing.submit(EnterBoard(tuple(map(tuple, board)))).result(PATIENCE_S)  # type: ignore[arg-type]
    assert asked.question is not None and len(asked.turns) == 1 and asked.turns[0].word == "HoRN"
    state = playing.submit(AnswerQuestion(len(asked.question.answers) - 1)).result(PATIENCE_S)
    assert [turn.kind for turn in state.turns] == ["play", "pass"] and state.question is None


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize(
    "command", [CorrectSquare("H6", "P"), CorrectTurn(2, at="H6", word="PARM")], ids=["square", "turn"]
)
def test_correction_of_what_was_asked_earlier_answers_the_question(
    playing: TableSession, command: TableCommand
) -> None:
    playing.submit(DeferQuestion()).result(PATIENCE_S)
    state = playing.submit(command).result(PATIENCE_S)
    assert state.turns[1].word == "PA.M" and not state.turns[1].provisional and not state.open_questions
    assert playing.submit(Undo()).result(PATIENCE_S).open_questions, "the correction and its answer are one press"


def test_blank_that_is_named_later_answers_the_question(playing: TableSession, table: TextTable) -> None:
    play(playing, table, H_RN)
    state = play(playing, table, H_RN, FARM)
    assert state.open_questions
    assert not playing.submit(NameBlank("G8", "O")).result(PATIENCE_S).open_questions


@pytest.mark.parametrize(
    "command",
    [
        RenamePlayer(1, "Zoe"),
        RevealRack(0, "E"),
        CorrectTurn(1, score=20),
        CorrectTurn(1, player=1),
        NameBlank("G8", "O"),
    ],
    ids=["name", "rack", "score", "player", "blank"],
)
def test_correction_during_a_challenge_keeps_its_question(table: TextTable, path: Path, command: TableCommand) -> None:
    with GameStore(path) as store, TableSession(table, table, store) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        play(session, table, H_RN)
        session.submit(ChallengePlay()).result(PATIENCE_S)
        state = session.submit(command).result(PATIENCE_S)
        assert state.question is not None and state.question.key == "good-words"
        state = session.submit(AnswerQuestion(1)).result(PATIENCE_S)
        assert [turn.kind for turn in state.turns] == ["play", "withdrawn"]


def test_question_of_a_challenge_has_the_corrected_words_and_names(table: TextTable, path: Path) -> None:
    with GameStore(path) as store, TableSession(table, table, store) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        play(session, table, ("HOBN", 7, 5, True))
        session.submit(ChallengePlay()).result(PATIENCE_S)
        session.submit(CorrectSquare("H8", "R")).result(PATIENCE_S)
        question = session.submit(RenamePlayer(0, "Zoe")).result(PATIENCE_S).question
        assert question is not None and "HORN" in question.text and "Zoe" in question.answers[1]


def test_turn_that_is_removed_during_its_challenge_is_not_asked_about(table: TextTable, path: Path) -> None:
    with GameStore(path) as store, TableSession(table, table, store) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        play(session, table, HORN)
        play(session, table, HORN, FARM)
        session.submit(ChallengePlay()).result(PATIENCE_S)
        state = session.submit(CorrectTurn(2, kind="none")).result(PATIENCE_S)
        assert state.question is None and [turn.word for turn in state.turns] == ["HORN"]


@pytest.mark.parametrize("command", [RenamePlayer(1, "Zoe"), CorrectTurn(1, score=20)], ids=["name", "score"])
def test_correction_of_no_tiles_keeps_a_question_before_which_nothing_is_recorded(
    playing: TableSession, table: TextTable, command: TableCommand
) -> None:
    play(playing, table, HORN)
    table.lay_unclear(HORN, FARM)
    asked = playing.submit(EndTurn()).result(PATIENCE_S).question
    state = playing.submit(command).result(PATIENCE_S)
    assert asked is not None and state.question is not None and state.question.key == asked.key
    assert (state.players[1].name in state.question.answers[1]) and len(state.turns) == 1
    state = playing.submit(AnswerQuestion(1)).result(PATIENCE_S)
    assert [(turn.player, turn.word) for turn in state.turns] == [(0, "HORN"), (1, "FA.M")]


def test_late_answer_during_a_challenge_keeps_its_question(playing: TableSession, asked: TableSnapshot) -> None:
    playing.submit(DeferQuestion()).result(PATIENCE_S)
    playing.submit(ChallengePlay()).result(PATIENCE_S)
    state = answer_late(playing, 1)
    assert state.question is not None and state.question.key == "good-words-unlisted" and "PA" in state.question.text
    state = playing.submit(AnswerQuestion(1)).result(PATIENCE_S)
    assert asked.turns[0] == state.turns[0] and [turn.kind for turn in state.turns[1:]] == ["play", "withdrawn"]


@pytest.fixture
def unrecorded(playing: TableSession, table: TextTable) -> TableSnapshot:
    """Return the snapshot after H?RN and a play of FARM that is not recorded: the table asks which side is up."""
    play(playing, table, H_RN)
    playing.submit(DeferQuestion()).result(PATIENCE_S)
    table.lay_unclear(H_RN, FARM)
    state = playing.submit(EndTurn()).result(PATIENCE_S)
    assert state.question is not None and len(state.turns) == 1
    return state


def test_late_answer_keeps_the_question_which_side_is_up(playing: TableSession, unrecorded: TableSnapshot) -> None:
    letter = unrecorded.open_questions[0].question.answers.index("The blank is O.")
    state = answer_late(playing, letter)
    assert [turn.word for turn in state.turns] == ["HoRN"]
    assert state.question is not None and unrecorded.question is not None
    assert state.question.text == unrecorded.question.text


@pytest.mark.parametrize(
    "command",
    [
        CorrectSquare("H8", "B"),
        CorrectSquare("H6", "F"),
        NameBlank("G8", "O"),
        CorrectTurn(1, at="8F", word="HoBN"),
        InsertTurn(1, kind="pass"),
    ],
    ids=["square", "square of the play", "blank", "turn", "inserted turn"],
)
def test_correction_keeps_the_question_whose_turn_is_not_recorded(
    playing: TableSession, unrecorded: TableSnapshot, command: TableCommand
) -> None:
    state = playing.submit(command).result(PATIENCE_S)
    assert state.question is not None and unrecorded.question is not None
    assert state.question.id == unrecorded.question.id


@pytest.mark.usefixtures("unrecorded")
@pytest.mark.parametrize("command", [EndTurn(), InsertTurn(2, at="H6", word="FARM")], ids=["end", "by hand"])
def test_next_turn_replaces_the_question_about_it(
    playing: TableSession, table: TextTable, command: TableCommand
) -> None:
    table.lay(H_RN, FARM)
    state = playing.submit(command).result(PATIENCE_S)
    assert get_key(state) != "asked-which-side-up" and len(state.turns) == 2
    assert "asked-which-side-up" not in [deferred.question.key for deferred in state.open_questions]


@pytest.mark.parametrize(
    "command",
    [EndGame(), DecideChallenge(upheld=True), PassTurn(), ExchangeTiles(2)],
    ids=["end", "challenge", "pass", "exchange"],
)
def test_command_that_needs_the_play_in_question_is_refused(
    playing: TableSession, unrecorded: TableSnapshot, command: TableCommand
) -> None:
    with pytest.raises(CommandRefusedError) as refusal:
        playing.submit(command).result(PATIENCE_S)
    assert refusal.value.key == "answer-first" and playing.state.question == unrecorded.question


def test_game_ends_while_it_is_asked_whether_it_is_over(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    play(playing, table, HORN, FARM)
    asked = play(playing, table).question
    assert asked is not None and asked.key == "asked-board-cleared"
    state = playing.submit(EndGame()).result(PATIENCE_S)
    assert state.phase == "ended" and state.question is None


@pytest.mark.parametrize(
    ("command", "is_open"), [(PassTurn(), False), (InsertTurn(1, kind="pass"), True)], ids=["pass", "inserted turn"]
)
def test_challenge_is_decided_no_more_after_the_next_turn(
    table: TextTable, path: Path, command: TableCommand, is_open: bool
) -> None:
    with GameStore(path) as store, TableSession(table, table, store) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        play(session, table, HORN)
        session.submit(ChallengePlay()).result(PATIENCE_S)
        state = session.submit(command).result(PATIENCE_S)
        assert (state.question is not None) is is_open and len(state.turns) == 2
