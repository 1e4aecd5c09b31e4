"""What people do besides ending turns: pass or exchange, draw, pause, put turns right, take back and bring back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from device.catalogue import get_text
from device.session.commands.corrections import CorrectSquare, CorrectTurn, InsertTurn, RenamePlayer, RevealRack
from device.session.commands.games import (
    DrawFirst,
    EndGame,
    EndPause,
    Pause,
    PlayAgain,
    Redo,
    ResumeGame,
    StartGame,
    Undo,
)
from device.session.commands.questions import AnswerQuestion, ConfirmExchange
from device.session.commands.turns import ChallengePlay, EndTurn, PassTurn
from device.session.messages import PASS_OR_EXCHANGE, PASS_OR_MISTAKE
from device.session.snapshot import Moment, Phase, TableSnapshot
from device.session.table_session import CommandRefusedError, TableSession
from device.storage.store import GameStore
from engine.events import GameStarted, to_json
from engine.game import Game
from engine.messages import values_of
from engine.reading import BoardReading, SquareReading
from engine.rules import STANDARD_RULES, Rules
from tests.support.play_at_random import played_out
from tests.support.text_table import EMPTY_ROWS, FARM, HORN, PASTE, TextTable, rows
from tests.support.waiting import PATIENCE_S

STARTED = GameStarted(("Anna", "Ben"), lexicon="test")
WORDS = frozenset({"HORN", "FARM", "PASTE", "FARMS"})


class Watchmaker:
    """A clock that goes on as a test says."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def table() -> TextTable:
    return TextTable()


@pytest.fixture
def clock() -> Watchmaker:
    return Watchmaker()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "games.db"


@pytest.fixture
def session(table: TextTable, path: Path, clock: Watchmaker) -> Iterator[TableSession]:
    with GameStore(path) as store, TableSession(table, table, store, WORDS, clock=clock) as session:
        yield session


@pytest.fixture
def playing(session: TableSession) -> TableSession:
    session.submit(StartGame(STARTED)).result(PATIENCE_S)
    return session


def play(session: TableSession, table: TextTable, *words: tuple[str, int, int, bool]) -> TableSnapshot:
    table.lay(*words)
    return session.submit(EndTurn()).result(PATIENCE_S)


def totals(state: TableSnapshot) -> list[int]:
    return [player.total for player in state.players]


# Pass or exchange


def test_turn_without_new_tiles_asks_whether_the_player_passed(playing: TableSession) -> None:
    state = playing.submit(EndTurn()).result(PATIENCE_S)
    assert state.phase is Phase.QUESTION and state.question is not None
    assert (state.question.key, state.question.answers[0]) == (PASS_OR_EXCHANGE, "Anna passed.")
    assert (state.turns[-1].kind, state.turn_of) == ("pass", 1), "play goes on meanwhile"


def test_answer_makes_the_pass_an_exchange(playing: TableSession, table: TextTable) -> None:
    playing.submit(EndTurn()).result(PATIENCE_S)
    state = playing.submit(AnswerQuestion(3)).result(PATIENCE_S)
    assert [turn.kind for turn in state.turns] == ["exchange"] and state.question is None
    assert play(playing, table, HORN).turns[-1].player == 1
    playing.submit(Undo()).result(PATIENCE_S)
    assert playing.submit(Undo()).result(PATIENCE_S).turns == (), "pass and answer are one press"


def test_panel_says_exchanged_without_a_number(playing: TableSession) -> None:
    playing.submit(EndTurn()).result(PATIENCE_S)
    assert playing.submit(ConfirmExchange()).result(PATIENCE_S).turns[-1].kind == "exchange"


def test_pass_is_asked_about_where_nobody_may_exchange(session: TableSession, table: TextTable) -> None:
    session.submit(StartGame(replace(STARTED, rules=replace(STANDARD_RULES, exchange_minimum_bag=99)))).result(
        PATIENCE_S
    )
    state = play(session, table)
    assert state.question is not None and state.question.key == PASS_OR_MISTAKE
    assert [turn.kind for turn in state.turns] == ["pass"]
    assert [turn.kind for turn in session.submit(AnswerQuestion(0)).result(PATIENCE_S).turns] == ["pass"]


def test_second_press_by_mistake_records_nothing_where_nobody_may_exchange(
    session: TableSession, table: TextTable
) -> None:
    session.submit(StartGame(replace(STARTED, rules=replace(STANDARD_RULES, exchange_minimum_bag=99)))).result(
        PATIENCE_S
    )
    play(session, table, HORN)
    play(session, table, HORN)
    state = session.submit(AnswerQuestion(1)).result(PATIENCE_S)
    assert [turn.word for turn in state.turns] == ["HORN"] and state.turn_of == 1


def test_hand_over_the_board_is_no_pass(playing: TableSession, table: TextTable) -> None:
    squares = list(BoardReading.from_rows(EMPTY_ROWS).squares)
    for square in (111, 112, 113):
        squares[square] = SquareReading((("#", 0.9), (".", 0.1)))
    table.board = BoardReading(tuple(squares))
    state = playing.submit(EndTurn()).result(PATIENCE_S)
    assert state.turns == () and state.question is not None and state.question.key == "hidden-pass"
    assert state.question.squares == (111, 112, 113)
    assert playing.submit(AnswerQuestion(1)).result(PATIENCE_S).turns[-1].kind == "pass"


def test_answer_look_again_about_a_hand_reads_the_board_again(playing: TableSession, table: TextTable) -> None:
    squares = list(BoardReading.from_rows(EMPTY_ROWS).squares)
    squares[112] = SquareReading((("#", 0.9), (".", 0.1)))
    table.board = BoardReading(tuple(squares))
    assert playing.submit(EndTurn()).result(PATIENCE_S).question is not None
    table.lay(HORN)
    assert [turn.word for turn in playing.submit(AnswerQuestion(0)).result(PATIENCE_S).turns] == ["HORN"]


def test_answer_look_again_about_a_play_reads_the_board_again(session: TableSession, table: TextTable) -> None:
    session.submit(StartGame(replace(STARTED, rules=replace(STANDARD_RULES, rearrange=True)))).result(PATIENCE_S)
    play(session, table, HORN)
    question = play(session, table, ("NORHS", 7, 5, True)).question
    assert question is not None and question.answers[1] == "No: look again."
    table.lay(HORN, FARM)
    state = session.submit(AnswerQuestion(1)).result(PATIENCE_S)
    assert [turn.word for turn in state.turns] == ["HORN", "FA.M"]
    assert [turn.word for turn in session.submit(Undo()).result(PATIENCE_S).turns] == ["HORN"]


# Challenges


@pytest.mark.parametrize(("word", "kind"), [("F?RM", "challenge"), ("?ORN", "challenge"), ("H?ON", "withdrawn")])
def test_blank_without_a_name_stands_for_whatever_makes_a_word(
    playing: TableSession, table: TextTable, word: str, kind: str
) -> None:
    play(playing, table, (word, 7, 5, True))
    assert playing.submit(ChallengePlay()).result(PATIENCE_S).turns[-1].kind == kind


# Drawing for first play


def test_letter_closest_to_a_begins(session: TableSession) -> None:
    state = session.submit(StartGame(replace(STARTED, draw=True))).result(PATIENCE_S)
    assert (state.phase, state.drawing) == (Phase.DRAWING, (0, 1))
    with pytest.raises(CommandRefusedError, match="Draw tiles"):
        session.submit(EndTurn()).result(PATIENCE_S)
    state = session.submit(DrawFirst(("M", "C"))).result(PATIENCE_S)
    assert (state.phase, state.turn_of, state.drawing) == (Phase.TURN, 1, ())
    assert [notice.text for notice in state.notices] == ["Ben begins."]


def test_who_drew_alike_draws_again_alone(session: TableSession) -> None:
    session.submit(StartGame(GameStarted(("Anna", "Ben", "Cem"), draw=True))).result(PATIENCE_S)
    state = session.submit(DrawFirst(("B", "T", "B"))).result(PATIENCE_S)
    assert (state.phase, state.drawing) == (Phase.DRAWING, (0, 2))
    with pytest.raises(CommandRefusedError, match="Anna, Cem"):
        session.submit(DrawFirst(("A", "B", "C"))).result(PATIENCE_S)
    assert session.submit(DrawFirst(("T", "", "?"))).result(PATIENCE_S).turn_of == 2


def test_draw_goes_on_after_a_restart(table: TextTable, path: Path) -> None:
    with GameStore(path) as store, TableSession(table, table, store, WORDS) as session:
        session.submit(StartGame(replace(STARTED, draw=True))).result(PATIENCE_S)
    with GameStore(path) as store, TableSession(table, table, store, WORDS) as again:
        assert again.submit(ResumeGame()).result(PATIENCE_S).phase is Phase.DRAWING


@pytest.mark.parametrize("letters", [(), ("A",), ("A", "B", "C"), ("A", "Ä"), ("", ""), ("Q", "Q")])
def test_draw_names_a_tile_for_everybody(session: TableSession, letters: tuple[str, ...]) -> None:
    session.submit(StartGame(replace(STARTED, draw=True))).result(PATIENCE_S)
    with pytest.raises(CommandRefusedError):
        session.submit(DrawFirst(letters)).result(PATIENCE_S)


def test_nobody_draws_once_a_turn_was_played(playing: TableSession) -> None:
    playing.submit(PassTurn()).result(PATIENCE_S)
    with pytest.raises(CommandRefusedError, match="has begun"):
        playing.submit(DrawFirst(("A", "B"))).result(PATIENCE_S)


# The clock


TIMED = replace(STARTED, rules=replace(STANDARD_RULES, clock_seconds=60))


def test_clock_of_the_player_to_move_runs(session: TableSession, clock: Watchmaker, table: TextTable) -> None:
    session.submit(StartGame(TIMED)).result(PATIENCE_S)
    clock.now += 20
    state = play(session, table, HORN)
    clock.now += 5
    assert state.clock is not None
    assert [state.clock.left(player, clock.now) for player in (0, 1)] == [40.0, 55.0]


def test_pause_stops_the_clock_and_the_game(session: TableSession, clock: Watchmaker) -> None:
    session.submit(StartGame(TIMED)).result(PATIENCE_S)
    state = session.submit(Pause()).result(PATIENCE_S)
    clock.now += 600
    assert state.phase is Phase.PAUSED and state.clock is not None and state.clock.paused
    for request in (EndTurn(), PassTurn(), ChallengePlay()):
        with pytest.raises(CommandRefusedError, match="paused"):
            session.submit(request).result(PATIENCE_S)
    state = session.submit(EndPause()).result(PATIENCE_S)
    assert state.phase is Phase.TURN and state.clock is not None
    assert state.clock.left(0, clock.now + 7) == 53.0


def test_question_stays_open_over_a_pause(playing: TableSession) -> None:
    playing.submit(EndTurn()).result(PATIENCE_S)
    playing.submit(Pause()).result(PATIENCE_S)
    assert playing.submit(EndPause()).result(PATIENCE_S).phase is Phase.QUESTION


def test_clock_stands_while_words_are_looked_up(table: TextTable, path: Path, clock: Watchmaker) -> None:
    with GameStore(path) as store, TableSession(table, table, store, None, clock=clock) as session:
        session.submit(StartGame(TIMED)).result(PATIENCE_S)
        play(session, table, HORN)
        asked = session.submit(ChallengePlay()).result(PATIENCE_S)
        assert asked.clock is not None and asked.clock.running is None
        assert session.submit(AnswerQuestion(0)).result(PATIENCE_S).question is not None, (
            "they are still being looked up"
        )
        decided = session.submit(AnswerQuestion(2)).result(PATIENCE_S)
        assert decided.clock is not None and decided.clock.running == decided.turn_of


def test_clock_comes_back_after_a_restart_to_the_second(table: TextTable, path: Path, clock: Watchmaker) -> None:
    with GameStore(path) as store:
        session = TableSession(table, table, store, WORDS, clock=clock)
        session.submit(StartGame(TIMED)).result(PATIENCE_S)
        clock.now += 21
        play(session, table, HORN)
        clock.now += 8
        session.close()
    clock.now = 3.0  # another run of the machine: its clock begins anew
    with GameStore(path) as store, TableSession(table, table, store, WORDS, clock=clock) as session:
        state = session.submit(ResumeGame()).result(PATIENCE_S)
        assert state.clock is not None and state.clock.running == 1
        assert [state.clock.left(player, clock.now) for player in (0, 1)] == [39.0, 52.0]


def test_clock_stops_with_the_last_tile(table: TextTable, path: Path, clock: Watchmaker) -> None:
    *before, last = played_out(Game.from_events([TIMED])).events
    with GameStore(path) as store, TableSession(table, table, store, WORDS, clock=clock) as session:
        number = store.begin_game(to_json(before[0]))
        for event in (*before[1:], last):
            store.append(number, [to_json(event)])
        state = session.submit(ResumeGame()).result(PATIENCE_S)
        assert state.end_due and state.clock is not None and state.clock.running is None
        state = session.submit(Undo()).result(PATIENCE_S)
        assert not state.end_due and state.clock is not None and state.clock.running == state.turn_of
        state = session.submit(Redo()).result(PATIENCE_S)
        assert state.end_due and state.clock is not None and state.clock.running is None


def test_undo_sets_the_clocks_back_to_the_press(session: TableSession, clock: Watchmaker, table: TextTable) -> None:
    session.submit(StartGame(TIMED)).result(PATIENCE_S)
    clock.now += 20
    play(session, table, HORN)
    clock.now += 15
    state = session.submit(Undo()).result(PATIENCE_S)
    assert state.clock is not None and state.clock.running == 0
    assert [state.clock.left(player, clock.now + 5) for player in (0, 1)] == [35.0, 60.0]


def test_undo_of_two_presses_sets_the_clocks_back_to_the_first(
    session: TableSession, clock: Watchmaker, table: TextTable
) -> None:
    session.submit(StartGame(TIMED)).result(PATIENCE_S)
    clock.now += 20
    play(session, table, HORN)
    clock.now += 15
    play(session, table, HORN, FARM)
    session.submit(Undo()).result(PATIENCE_S)
    state = session.submit(Undo()).result(PATIENCE_S)
    assert state.clock is not None and state.clock.used == (20.0, 0.0)


def test_redo_sets_the_clocks_back_to_the_press(session: TableSession, clock: Watchmaker, table: TextTable) -> None:
    session.submit(StartGame(TIMED)).result(PATIENCE_S)
    clock.now += 20
    play(session, table, HORN)
    session.submit(Undo()).result(PATIENCE_S)
    clock.now += 9
    state = session.submit(Redo()).result(PATIENCE_S)
    assert state.clock is not None and state.clock.used == (20.0, 0.0) and state.clock.running == 1


def test_answer_that_ends_the_game_stops_the_clocks_and_counts_overtime(
    session: TableSession, clock: Watchmaker, table: TextTable
) -> None:
    session.submit(StartGame(replace(STARTED, rules=replace(STANDARD_RULES, clock_seconds=60)))).result(PATIENCE_S)
    play(session, table, HORN)
    play(session, table, HORN, FARM)
    clock.now += 110
    assert (asked := play(session, table).question) is not None and asked.key == "asked-board-cleared"
    ended = session.submit(AnswerQuestion(1)).result(PATIENCE_S)
    assert (ended.phase, ended.turns[-1].kind, ended.turns[-1].score) == (Phase.ENDED, "time", -10)
    undone = session.submit(Undo()).result(PATIENCE_S)
    assert undone.clock is not None and undone.clock.used == (110.0, 0.0)


def test_undo_of_a_correction_leaves_the_clocks(session: TableSession, clock: Watchmaker, table: TextTable) -> None:
    session.submit(StartGame(TIMED)).result(PATIENCE_S)
    clock.now += 20
    play(session, table, HORN)
    session.submit(RenamePlayer(0, "Eva")).result(PATIENCE_S)
    clock.now += 15
    state = session.submit(Undo()).result(PATIENCE_S)
    assert state.clock is not None and state.clock.used == (20.0, 15.0)


def test_clocks_set_back_by_undo_are_the_same_after_a_restart(table: TextTable, path: Path, clock: Watchmaker) -> None:
    with GameStore(path) as store:
        session = TableSession(table, table, store, WORDS, clock=clock)
        session.submit(StartGame(TIMED)).result(PATIENCE_S)
        clock.now += 20
        play(session, table, HORN)
        clock.now += 15
        play(session, table, HORN, FARM)
        session.submit(Undo()).result(PATIENCE_S)
        session.submit(Undo()).result(PATIENCE_S)
        session.close()
    with GameStore(path) as store, TableSession(table, table, store, WORDS, clock=clock) as session:
        state = session.submit(ResumeGame()).result(PATIENCE_S)
        assert state.clock is not None and state.clock.used == (20.0, 0.0)


def test_answer_that_makes_another_turn_keeps_the_clock_read_at_the_press(
    session: TableSession, clock: Watchmaker
) -> None:
    session.submit(StartGame(TIMED)).result(PATIENCE_S)
    clock.now += 20
    session.submit(EndTurn()).result(PATIENCE_S)
    state = session.submit(AnswerQuestion(1)).result(PATIENCE_S)
    assert [turn.kind for turn in state.turns] == ["exchange"]
    clock.now += 15
    state = session.submit(Undo()).result(PATIENCE_S)
    assert state.clock is not None and state.clock.used == (20.0, 0.0)


def test_overtime_costs_at_the_end(session: TableSession, clock: Watchmaker, table: TextTable) -> None:
    session.submit(StartGame(TIMED)).result(PATIENCE_S)
    clock.now += 61
    play(session, table, HORN)
    clock.now += 130
    state = session.submit(EndGame()).result(PATIENCE_S)
    assert [(turn.kind, turn.player, turn.score) for turn in state.turns if turn.kind == "time"] == [
        ("time", 0, -10),
        ("time", 1, -20),
    ]


# Turns put right


def test_player_of_a_turn_is_put_right(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    state = playing.submit(CorrectTurn(1, player=1)).result(PATIENCE_S)
    assert (totals(state), state.turn_of) == ([0, 14], 0)


def test_score_of_a_turn_is_put_right(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    assert totals(playing.submit(CorrectTurn(1, score=99)).result(PATIENCE_S)) == [99, 0]


def test_word_of_a_turn_is_put_right_and_later_turns_with_it(playing: TableSession, table: TextTable) -> None:
    play(playing, table, ("HOTN", 7, 5, True))
    state = playing.submit(CorrectTurn(1, at="8F", word="HORN")).result(PATIENCE_S)
    assert state.turns[0].word == "HORN"
    assert play(playing, table, HORN, FARM).turns[-1].score == 9


def test_play_becomes_an_exchange_and_back(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    state = playing.submit(CorrectTurn(1, kind="exchange", count=3)).result(PATIENCE_S)
    assert state.turns[0].kind == "exchange" and totals(state) == [0, 0]
    state = playing.submit(CorrectTurn(1, kind="play", at="8F", word="HORN")).result(PATIENCE_S)
    assert totals(state) == [14, 0]


def test_turn_that_never_was_goes(playing: TableSession) -> None:
    playing.submit(PassTurn()).result(PATIENCE_S)
    state = playing.submit(CorrectTurn(1, kind="none")).result(PATIENCE_S)
    assert state.turns == () and state.turn_of == 0


def test_forgotten_turn_is_put_between(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    playing.submit(InsertTurn(1, kind="pass", player=1)).result(PATIENCE_S)
    assert [(turn.player, turn.kind) for turn in playing.state.turns] == [(1, "pass"), (0, "play")]


def test_forgotten_last_turn_is_entered_after_the_end(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    playing.submit(EndGame()).result(PATIENCE_S)
    for player, letter in enumerate("AE"):
        playing.submit(RevealRack(player, letter)).result(PATIENCE_S)
    state = playing.submit(InsertTurn(4, at="H6", word="FA.M", score=10)).result(PATIENCE_S)
    assert [turn.kind for turn in state.turns] == ["play", "play", "endrack", "endrack"]
    assert state.phase is Phase.ENDED and totals(state) == [14 - 1, 10 - 1]


def test_play_is_entered_by_hand_while_the_camera_is_away(playing: TableSession, table: TextTable) -> None:
    table.trouble = "unplugged"
    state = playing.submit(InsertTurn(1, at="8F", word="HORN")).result(PATIENCE_S)
    assert totals(state) == [14, 0] and state.turn_of == 1


@pytest.mark.parametrize(
    "correction",
    [
        CorrectTurn(1),
        CorrectTurn(1, player=7),
        CorrectTurn(1, kind="dance"),
        CorrectTurn(1, kind="play", at="8F"),
        CorrectTurn(1, kind="play", at="8Z", word="HORN"),
        CorrectTurn(1, kind="exchange"),
        CorrectTurn(1, kind="exchange", count=99),
    ],
)
def test_change_that_makes_no_turn_is_refused(playing: TableSession, correction: CorrectTurn) -> None:
    playing.submit(PassTurn()).result(PATIENCE_S)
    before = playing.state.turns
    with pytest.raises(CommandRefusedError):
        playing.submit(correction).result(PATIENCE_S)
    with pytest.raises(CommandRefusedError, match="no turn number"):
        playing.submit(CorrectTurn(5, score=1)).result(PATIENCE_S)
    assert playing.state.turns == before


def test_missed_tile_belongs_to_the_last_play_that_it_fits(playing: TableSession, table: TextTable) -> None:
    play(playing, table, ("HOR", 7, 5, True))
    play(playing, table, ("HOR", 7, 5, True), FARM)
    play(playing, table, ("HOR", 7, 5, True), FARM, PASTE)
    state = playing.submit(CorrectSquare("I8", "N")).result(PATIENCE_S)
    assert ([turn.word for turn in state.turns], totals(state)) == (["HORN", "FA.M", "PASTE"], [39, 9])
    state = playing.submit(CorrectSquare("K10", "S")).result(PATIENCE_S)
    assert (state.turns[-1].word, state.notices) == ("PASTES", ())


def test_tile_that_fits_no_play_is_said_to_make_the_last_one_impossible(
    playing: TableSession, table: TextTable
) -> None:
    play(playing, table, HORN)
    state = playing.submit(CorrectSquare("A1", "S")).result(PATIENCE_S)
    assert [notice.key for notice in state.notices] == ["noted-not-in-line"]


# Presses taken back


def test_undo_takes_back_both_turns_of_one_press(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    play(playing, table, HORN, FARM)
    play(playing, table, ("SHORN", 7, 4, True))  # taken back, and another laid
    assert len(playing.state.turns) == 4
    state = playing.submit(Undo()).result(PATIENCE_S)
    assert [turn.kind for turn in state.turns] == ["play", "play"] and state.redo
    assert len(playing.submit(Redo()).result(PATIENCE_S).turns) == 4
    with pytest.raises(CommandRefusedError, match="nothing to redo"):
        playing.submit(Redo()).result(PATIENCE_S)


def test_moment_names_the_game_too(playing: TableSession) -> None:
    old = playing.state.moment
    playing.submit(StartGame(STARTED)).result(PATIENCE_S)
    assert playing.state.events == old.events and playing.state.game == old.game + 1
    with pytest.raises(CommandRefusedError, match="faster"):
        playing.submit(EndTurn(), old).result(PATIENCE_S)
    assert Moment.parse(str(old)) == old
    assert [Moment.parse(text) for text in ("", "7", "a-b", "-1-2", "1-²", "1-9999999999")] == [None] * 6


def test_next_game_is_of_the_same_players_and_the_next_begins(playing: TableSession) -> None:
    state = playing.submit(PlayAgain(GameStarted(("Else", "Where")))).result(PATIENCE_S)
    assert [player.name for player in state.players] == ["Anna", "Ben"] and state.turn_of == 1


def test_next_game_after_a_restart_is_like_the_one_that_was_begun_last(path: Path) -> None:
    settings = GameStarted(("Else", "Where"))
    begun = GameStarted(("Mira", "Tom", "Ada"), rules=Rules(clock_seconds=900), tile_set="de", lexicon="own")
    table = TextTable()
    with GameStore(path) as store, TableSession(table, table, store, None) as session:
        session.submit(StartGame(begun)).result(PATIENCE_S)
        session.submit(EndGame()).result(PATIENCE_S)
    asked: list[GameStarted] = []

    def words_for(started: GameStarted) -> frozenset[str]:
        asked.append(started)
        return frozenset({"HORN"})

    with GameStore(path) as store, TableSession(table, table, store, None) as session:
        state = session.submit(PlayAgain(settings, words_for=words_for)).result(PATIENCE_S)
        assert [player.name for player in state.players] == ["Mira", "Tom", "Ada"] and state.turn_of == 1
        assert (state.tile_set, state.clock is not None, state.lexicon) == ("de", True, "own")
        assert asked == [begun] and session.look_up("HORN")


def test_first_game_of_a_panel_is_of_the_players_of_the_settings(session: TableSession) -> None:
    state = session.submit(PlayAgain(GameStarted(("Else", "Where")))).result(PATIENCE_S)
    assert [player.name for player in state.players] == ["Else", "Where"]


# Racks, words, colours


def test_racks_that_do_not_add_up_are_refused_or_said(session: TableSession, table: TextTable) -> None:
    session.submit(StartGame(GameStarted(("Anna", "Ben", "Cem")))).result(PATIENCE_S)
    play(session, table, HORN)
    session.submit(EndGame()).result(PATIENCE_S)
    session.submit(RevealRack(0, "Q")).result(PATIENCE_S)
    with pytest.raises(CommandRefusedError, match="Q cannot be on this rack"):
        session.submit(RevealRack(1, "Q")).result(PATIENCE_S)
    session.submit(RevealRack(0, "A")).result(PATIENCE_S)
    assert 1 in session.submit(RevealRack(1, "Q")).result(PATIENCE_S).racks_wanted or session.state.racks_wanted == (2,)


def test_letters_of_a_rack_are_made_capitals_of_the_language(session: TableSession) -> None:
    session.submit(StartGame(replace(STARTED, tile_set="tr"))).result(PATIENCE_S)
    session.submit(EndGame()).result(PATIENCE_S)
    state = session.submit(RevealRack(0, "i ı")).result(PATIENCE_S)
    assert [turn.word for turn in state.turns if turn.player == 0] == ["İI"]


def test_letters_of_a_rack_with_spaces_are_single_tiles(session: TableSession) -> None:
    session.submit(StartGame(replace(STARTED, tile_set="es"))).result(PATIENCE_S)
    session.submit(EndGame()).result(PATIENCE_S)
    for player, (letters, score) in enumerate((("l l a ? ll", -11), ("C H CH", -12))):
        state = session.submit(RevealRack(player, letters)).result(PATIENCE_S)
        assert [turn.score for turn in state.turns if turn.player == player] == [score]


def test_drawn_tiles_are_made_capitals(session: TableSession) -> None:
    session.submit(StartGame(replace(STARTED, draw=True))).result(PATIENCE_S)
    assert session.submit(DrawFirst(("b", "a"))).result(PATIENCE_S).turn_of == 1


def test_words_are_looked_up_only_where_the_rules_let_them(session: TableSession) -> None:
    assert session.look_up("HORN") is True and session.look_up("XYZ") is False
    session.submit(StartGame(replace(STARTED, rules=replace(STANDARD_RULES, open_dictionary=False)))).result(PATIENCE_S)
    with pytest.raises(CommandRefusedError, match="only in a challenge"):
        session.look_up("HORN")


def test_blank_is_offered_the_letters_that_make_words(playing: TableSession, table: TextTable) -> None:
    play(playing, table, ("F?RM", 7, 5, True))
    assert playing.list_blank_letters("G8") == ("A",)


def test_colours_are_kept_between_games(session: TableSession) -> None:
    state = session.submit(StartGame(STARTED, colours=("amber", "teal"))).result(PATIENCE_S)
    assert [player.colour for player in state.players] == ["amber", "teal"]
    state = session.submit(StartGame(replace(STARTED, players=("Ben", "Cem")))).result(PATIENCE_S)
    assert [player.colour for player in state.players] == ["teal", ""]
    assert ("Ben", "teal") in session.list_players()


# Names


def test_renamed_player_keeps_total_and_colour(session: TableSession, table: TextTable) -> None:
    session.submit(StartGame(STARTED, colours=("amber", "teal"))).result(PATIENCE_S)
    play(session, table, HORN)
    state = session.submit(RenamePlayer(0, "  Cem ")).result(PATIENCE_S)
    assert [(player.name, player.total, player.colour) for player in state.players] == [
        ("Cem", 14, "amber"),
        ("Ben", 0, "teal"),
    ]
    assert ("Cem", "amber") in session.list_players()


def test_rename_can_be_undone(playing: TableSession) -> None:
    playing.submit(RenamePlayer(1, "Cem")).result(PATIENCE_S)
    state = playing.submit(Undo()).result(PATIENCE_S)
    assert [player.name for player in state.players] == ["Anna", "Ben"]


def test_player_is_renamed_while_drawing_for_first_play(session: TableSession) -> None:
    session.submit(StartGame(replace(STARTED, draw=True))).result(PATIENCE_S)
    state = session.submit(RenamePlayer(1, "Cem")).result(PATIENCE_S)
    assert state.phase is Phase.DRAWING and state.players[1].name == "Cem"


def test_next_game_has_the_new_name(playing: TableSession) -> None:
    playing.submit(RenamePlayer(1, "Cem")).result(PATIENCE_S)
    state = playing.submit(PlayAgain(STARTED)).result(PATIENCE_S)
    assert [player.name for player in state.players] == ["Anna", "Cem"]


@pytest.mark.parametrize(
    ("player", "name", "key"), [(0, "Ben", "same-name"), (0, " \n ", "no-name"), (2, "Cem", "no-player")]
)
def test_rename_to_an_impossible_name_is_refused(playing: TableSession, player: int, name: str, key: str) -> None:
    with pytest.raises(CommandRefusedError) as refused:
        playing.submit(RenamePlayer(player, name)).result(PATIENCE_S)
    assert refused.value.key == key and playing.state.players[0].name == "Anna"


# The end of the session


def test_command_after_the_end_is_refused_in_words(session: TableSession) -> None:
    session.close()
    with pytest.raises(CommandRefusedError, match="shutting down"):
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
    with pytest.raises(CommandRefusedError, match="shutting down"):
        session.ping().result(PATIENCE_S)


def test_thread_of_the_commands_answers_a_ping(session: TableSession) -> None:
    assert session.ping().result(PATIENCE_S) is None


def test_what_is_said_has_a_key(playing: TableSession, table: TextTable) -> None:
    play(playing, table, ("HRON", 7, 5, True))
    notice = playing.submit(ChallengePlay()).result(PATIENCE_S).notices[0]
    assert notice.key == "take-off" and notice.text == get_text(notice.key, *values_of(notice.text))


def test_refusal_has_a_key(session: TableSession) -> None:
    with pytest.raises(CommandRefusedError) as refused:
        session.submit(EndTurn()).result(PATIENCE_S)
    assert refused.value.key == "no-game"


def test_question_about_a_tile_says_which_squares(playing: TableSession, table: TextTable) -> None:
    squares = list(BoardReading.from_rows(rows(HORN)).squares)
    squares[113] = SquareReading((("N", 0.55), ("M", 0.45)))
    table.board = BoardReading(tuple(squares))
    question = playing.submit(EndTurn()).result(PATIENCE_S).question
    assert question is not None and question.squares == (113,)
    assert [symbols[0] for symbols in question.symbols][:2] == ["N", "M"]


def test_three_of_the_sheet_by_hand_are_as_by_camera(playing: TableSession) -> None:
    for number, (at, word) in enumerate((("8F", "HORN"), ("H6", "FA.M"), ("10F", "PASTE")), start=1):
        state = playing.submit(InsertTurn(number, at=at, word=word)).result(PATIENCE_S)
    assert totals(state) == [39, 9]
    assert PASTE[0] in str(state.turns[-1].word)


def test_undo_of_a_press_at_which_nothing_was_recorded_cancels_its_question(
    playing: TableSession, table: TextTable
) -> None:
    play(playing, table, HORN)
    play(playing, table, HORN, FARM)
    assert (asked := play(playing, table).question) is not None and asked.key == "asked-board-cleared"
    state = playing.submit(Undo()).result(PATIENCE_S)
    assert state.question is None and totals(state) == [14, 9]
    assert (asked := play(playing, table, HORN, FARM, PASTE).question) is None
    assert totals(playing.submit(Undo()).result(PATIENCE_S)) == [14, 9]


# A withdrawn play, and its withdrawal


def test_withdrawal_of_a_play_that_was_no_play_goes_with_it(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN), play(playing, table, HORN, FARM), play(playing, table, HORN, FARM, PASTE)
    assert totals(play(playing, table, HORN, FARM)) == [14, 9]
    for kind, kinds in (("pass", ["play", "play", "pass"]), ("none", ["play", "play"])):
        state = playing.submit(CorrectTurn(3, kind=kind)).result(PATIENCE_S)
        assert [turn.kind for turn in state.turns] == kinds and totals(state) == [14, 9]
        playing.submit(Undo()).result(PATIENCE_S)


def test_withdrawn_play_is_withdrawn_from_the_player_who_made_it(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN), play(playing, table, HORN, FARM), play(playing, table, HORN, FARM, PASTE)
    play(playing, table, HORN, FARM)
    state = playing.submit(CorrectTurn(3, player=1)).result(PATIENCE_S)
    assert [turn.stands for turn in state.turns] == [True, True, False, True] and totals(state) == [14, 9]


def test_corrected_score_stays_with_a_play_of_another_player(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    playing.submit(CorrectTurn(1, score=30)).result(PATIENCE_S)
    assert totals(playing.submit(CorrectTurn(1, player=1)).result(PATIENCE_S)) == [0, 30]
    assert totals(playing.submit(CorrectTurn(1, word="HORNS", at="8F")).result(PATIENCE_S)) == [0, 16]


# A play after a failed challenge, and that challenge


@pytest.fixture
def challenged(playing: TableSession, table: TextTable) -> TableSession:
    """Anna played HORN, Ben played FARM, and Anna's challenge of FARM failed, which costs her next turn."""
    play(playing, table, HORN), play(playing, table, HORN, FARM)
    playing.submit(ChallengePlay()).result(PATIENCE_S)
    return playing


@pytest.mark.parametrize(
    ("kind", "kinds", "turn_of"), [("none", ["play"], 1), ("pass", ["play", "pass"], 0)], ids=["none", "pass"]
)
def test_challenge_of_a_play_that_was_no_play_goes_with_it(
    challenged: TableSession, kind: str, kinds: list[str], turn_of: int
) -> None:
    state = challenged.submit(CorrectTurn(2, kind=kind)).result(PATIENCE_S)
    assert [turn.kind for turn in state.turns] == kinds and state.turn_of == turn_of
    for player in (turn_of, 1 - turn_of):
        assert challenged.state.turn_of == player  # no player loses a turn any more
        challenged.submit(PassTurn()).result(PATIENCE_S)


def test_challenge_stays_with_a_play_that_is_put_right(challenged: TableSession) -> None:
    state = challenged.submit(CorrectTurn(2, at="H6", word="FA.MS")).result(PATIENCE_S)
    assert [(turn.kind, turn.target) for turn in state.turns[1:]] == [("play", None), ("challenge", 2)]


def test_challenger_who_gets_the_play_changes_places_with_its_player(
    challenged: TableSession, table: TextTable
) -> None:
    state = challenged.submit(CorrectTurn(2, player=0)).result(PATIENCE_S)
    assert [(turn.player, turn.by) for turn in state.turns if turn.kind == "challenge"] == [(0, 1)]
    assert state.turn_of == 0, "Ben's challenge failed, and he loses the turn after that of Anna"
    assert play(challenged, table, HORN, FARM, PASTE).turn_of == 1


@pytest.mark.parametrize("turn", [InsertTurn(3, at="10F", word="PASTE"), InsertTurn(3, kind="pass")])
def test_turn_between_a_play_and_its_challenge_is_refused(challenged: TableSession, turn: InsertTurn) -> None:
    with pytest.raises(CommandRefusedError) as refused:
        challenged.submit(turn).result(PATIENCE_S)
    assert refused.value.key == "turn-between"


def test_play_between_a_play_of_the_same_player_and_its_withdrawal_is_refused(
    playing: TableSession, table: TextTable
) -> None:
    play(playing, table, HORN), play(playing, table, HORN, FARM), play(playing, table, HORN, FARM, PASTE)
    assert totals(play(playing, table, HORN, FARM)) == [14, 9]
    with pytest.raises(CommandRefusedError) as refused:
        playing.submit(InsertTurn(4, at="10F", word="PASTE", player=0)).result(PATIENCE_S)
    assert refused.value.key == "turn-between"
