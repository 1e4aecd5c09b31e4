"""The session: from a press to a recorded turn of which all listeners were notified."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from device.catalogue import get_text
from device.session.commands.answers import AnswerQuestion
from device.session.commands.challenges import ChallengePlay
from device.session.commands.corrections import CorrectSquare, NameBlank, RevealRack
from device.session.commands.games import EndGame, StartGame, Undo
from device.session.commands.turns import EndTurn, ExchangeTiles, PassTurn
from device.session.messages import CommandRefusedError, Notice, Trouble
from device.session.snapshot import Moment, Phase, TableSnapshot
from device.session.table_session import TableSession
from device.storage.store import GameStore
from engine.events import GameStarted
from engine.reading import BoardReading, SquareReading
from tests.support.text_table import FARM, HORN, PASTE, STARTED, TextTable, play, rows
from tests.support.waiting import PATIENCE_S


def test_three_turns_of_the_rule_sheet(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    play(playing, table, HORN, FARM)
    state = play(playing, table, HORN, FARM, PASTE)
    assert [(t.player, t.at, t.score, t.total) for t in state.turns] == [
        (0, "8F", 14, 14),
        (1, "H6", 9, 9),
        (0, "10F", 25, 39),
    ]
    paste, farms = state.turns[2].words
    assert (paste.text, paste.score, paste.valid) == ("PASTE", 15, True)
    assert (farms.text, farms.score) == ("FARMS", 10)
    assert [p.total for p in state.players] == [39, 9]
    assert state.turn_of == 1


def test_nothing_added_is_a_pass(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    state = play(playing, table, HORN)
    assert [t.kind for t in state.turns] == ["play", "pass"]
    assert state.turn_of == 0


def test_invalid_words_are_marked_and_scored_all_the_same(playing: TableSession, table: TextTable) -> None:
    state = play(playing, table, ("HRON", 7, 5, True))
    assert state.turns[0].invalid_words == ("HRON",)
    assert state.players[0].total == 14


def test_words_are_not_checked_without_a_list(table: TextTable, path: Path) -> None:
    with GameStore(path) as store, TableSession(table, table, store) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        state = play(session, table, ("HRON", 7, 5, True))
        assert state.turns[0].words[0].valid is None and not state.words_checked


def test_undo_takes_back_the_last_turn(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    state = playing.submit(Undo()).result(PATIENCE_S)
    assert state.turns == () and state.turn_of == 0
    with pytest.raises(CommandRefusedError, match="nothing to undo"):
        playing.submit(Undo()).result(PATIENCE_S)


def test_square_is_corrected(playing: TableSession, table: TextTable) -> None:
    play(playing, table, ("HURN", 7, 5, True))
    state = playing.submit(CorrectSquare("G8", "O")).result(PATIENCE_S)
    assert state.turns[0].words[0].text == "HORN"
    with pytest.raises(CommandRefusedError):
        playing.submit(CorrectSquare("Z99", "O")).result(PATIENCE_S)


def test_blank_is_named_by_a_command(playing: TableSession, table: TextTable) -> None:
    state = play(playing, table, ("F?RM", 7, 5, True))
    assert state.turns[0].words[0].valid is None
    state = playing.submit(NameBlank("G8", "A")).result(PATIENCE_S)
    assert (state.turns[0].words[0].text, state.turns[0].words[0].valid) == ("FARM", True)
    for square, letter in (("F8", "A"), ("G8", "Ä"), ("A1", "A"), ("G88", "A")):
        with pytest.raises(CommandRefusedError):
            playing.submit(NameBlank(square, letter)).result(PATIENCE_S)


def test_live_camera_looks_again_while_there_is_a_doubt(playing: TableSession, table: TextTable) -> None:
    table.is_live = True
    table.lay(("HO", 7, 5, True), ("N", 12, 12, True))
    table.then = [rows(HORN)]
    state = playing.submit(EndTurn()).result(PATIENCE_S)
    assert table.pictures == 2
    assert state.turns[0].word == "HORN" and state.notices == ()


def test_live_camera_gives_up_after_three_looks(playing: TableSession, table: TextTable) -> None:
    table.is_live = True
    table.lay(("HO", 7, 5, True), ("N", 12, 12, True))
    state = playing.submit(EndTurn()).result(PATIENCE_S)
    assert table.pictures == 3 and state.question is not None and state.turns == ()


def test_error_in_a_command_is_reported_and_changes_nothing(
    playing: TableSession, table: TextTable, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(table, "read", lambda *_, **__: 1 / 0)
    state = playing.submit(EndTurn()).result(PATIENCE_S)
    assert "nothing was changed" in state.notices[0].text and state.phase is Phase.TURN
    assert "ZeroDivisionError" in caplog.text
    monkeypatch.undo()
    assert len(play(playing, table, HORN).turns) == 1


def test_exchange_is_a_turn(playing: TableSession) -> None:
    state = playing.submit(ExchangeTiles(3)).result(PATIENCE_S)
    assert [(t.kind, t.score) for t in state.turns] == [("exchange", 0)] and state.turn_of == 1


def test_taken_back_and_played_anew_are_two_turns_of_one_look(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    play(playing, table, HORN, ("FARM", 5, 7, False))
    state = play(playing, table, ("SHORN", 7, 4, True))
    assert [(t.player, t.kind) for t in state.turns][-2:] == [(1, "withdrawn"), (0, "play")]


def test_listeners_are_notified_when_a_reading_begins(playing: TableSession, table: TextTable) -> None:
    phases: list[Phase] = []
    playing.add_listener(lambda state: phases.append(state.phase))
    table.lay(HORN)
    with table.hold_reading():
        done = playing.submit(EndTurn())
        assert phases == [Phase.LOOKING]
    assert done.result(PATIENCE_S).phase is Phase.CHALLENGE
    assert phases == [Phase.LOOKING, Phase.CHALLENGE]


def test_second_press_while_looking_is_refused(playing: TableSession, table: TextTable) -> None:
    table.lay(HORN)
    with table.hold_reading():
        first = playing.submit(EndTurn())
        with pytest.raises(CommandRefusedError, match="being read"):
            playing.submit(EndTurn()).result(PATIENCE_S)
    assert len(first.result(PATIENCE_S).turns) == 1


def test_press_for_an_earlier_moment_is_refused(playing: TableSession, table: TextTable) -> None:
    seen = playing.state.moment
    play(playing, table, HORN)
    with pytest.raises(CommandRefusedError, match=r"ended|changed"):
        playing.submit(EndTurn(), seen).result(PATIENCE_S)
    with pytest.raises(CommandRefusedError, match=r"ended|changed"):
        playing.submit(Undo(), seen).result(PATIENCE_S)
    assert len(playing.state.turns) == 1


def test_many_taps_at_once_are_one_turn(playing: TableSession, table: TextTable) -> None:
    table.lay(HORN)
    seen = playing.state.moment
    barrier = threading.Barrier(8)
    outcomes: list[str] = []

    def tap() -> None:
        barrier.wait()
        try:
            playing.submit(EndTurn(), seen).result(PATIENCE_S)
            outcomes.append("done")
        except CommandRefusedError:
            outcomes.append("refused")

    threads = [threading.Thread(target=tap) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["done"] + ["refused"] * 7
    assert len(playing.state.turns) == 1


def test_revisions_only_grow_and_listeners_hear_all_until_they_are_removed(
    playing: TableSession, table: TextTable
) -> None:
    heard: list[int] = []

    def listener(state: TableSnapshot) -> None:
        heard.append(state.revision)

    playing.add_listener(listener)
    play(playing, table, HORN)
    play(playing, table, HORN, FARM)
    playing.remove_listener(listener)
    play(playing, table, HORN, FARM, PASTE)
    assert heard == sorted(set(heard)) and len(heard) == 4


def test_fault_of_the_camera_is_reported_and_records_nothing(playing: TableSession, table: TextTable) -> None:
    table.trouble = "the camera sends no pictures"
    state = playing.submit(EndTurn()).result(PATIENCE_S)
    assert state.notices[0].trouble is Trouble.CAMERA and state.turns == ()
    table.trouble = ""
    assert len(play(playing, table, HORN).turns) == 1
    assert playing.state.notices == ()


def test_picture_without_a_board_is_reported_and_shown(playing: TableSession, table: TextTable) -> None:
    table.board = None
    state = playing.submit(EndTurn()).result(PATIENCE_S)
    assert "No board was found." in state.notices[0].text and state.turns == ()
    assert state.look is not None
    picture = playing.find_picture(state.look.picture)
    assert picture is not None and picture.startswith(b"\xff\xd8")


def test_tiles_that_are_no_play_end_no_turn(playing: TableSession, table: TextTable) -> None:
    state = play(playing, table, ("HO", 7, 5, True), ("N", 12, 12, True))
    assert state.turns == () and state.turn_of == 0
    assert state.question is not None and "M13" in state.question.text and state.question.chosen == 0
    assert state.look is not None and 12 * 15 + 12 in state.look.doubtful


def uncertain(*words: tuple[str, int, int, bool], at: tuple[int, int], symbols: str) -> BoardReading:
    """A board on which one square may hold either of two symbols, the first a little more likely."""
    squares = list(BoardReading.from_rows(rows(*words)).squares)
    squares[at[0] * 15 + at[1]] = SquareReading(((symbols[0], 0.55), (symbols[1], 0.45)))
    return BoardReading(tuple(squares))


def test_players_choose_between_two_readings(playing: TableSession, table: TextTable) -> None:
    table.board = uncertain(HORN, at=(7, 8), symbols="NM")
    state = playing.submit(EndTurn()).result(PATIENCE_S)
    assert state.question is not None and state.question.chosen == 0
    assert "M" in state.question.text and len(state.question.answers) >= 2
    assert (state.turns[0].word, state.turn_of) == ("HORN", 1)
    state = playing.submit(AnswerQuestion(1)).result(PATIENCE_S)
    assert (state.turns[0].word, state.turn_of, state.question) == ("HORM", 1, None)
    with pytest.raises(CommandRefusedError, match="There is no open question"):
        playing.submit(AnswerQuestion(0)).result(PATIENCE_S)
    assert playing.submit(CorrectSquare("I8", "N")).result(PATIENCE_S).turns[0].word == "HORN"
    state = play(playing, table, HORN, FARM)
    assert state.question is None and state.players[1].total == 9


def test_tile_that_went_missing_is_asked_about_once(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN, FARM)
    gone = ("ORN", 7, 6, True), FARM
    state = play(playing, table, *gone)
    assert state.question is not None and state.question.text == "HORN became ORN. What happened?"
    state = play(playing, table, *gone, ("AT", 4, 7, False))
    assert state.notices == () and state.question is None and state.turns[0].provisional


def test_unknown_unplayed_letters_are_asked_for_and_counted(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    state = playing.submit(EndGame()).result(PATIENCE_S)
    assert state.racks_wanted == (0, 1) and state.winners == ()
    playing.submit(RevealRack(0, "AQ")).result(PATIENCE_S)
    state = playing.submit(RevealRack(1, "E")).result(PATIENCE_S)
    assert [p.total for p in state.players] == [3, -1] and state.racks_wanted == () and state.winners == (0,)
    for player, letters in ((0, "QQ"), (5, "A"), (0, "7")):
        with pytest.raises(CommandRefusedError):
            playing.submit(RevealRack(player, letters)).result(PATIENCE_S)


def test_commands_before_a_game_are_refused(session: TableSession) -> None:
    for request in (EndTurn(), ChallengePlay(), Undo(), EndGame()):
        with pytest.raises(CommandRefusedError, match="no game"):
            session.submit(request).result(PATIENCE_S)
    with pytest.raises(CommandRefusedError, match="2 to 4"):
        session.submit(StartGame(GameStarted(("Anna",)))).result(PATIENCE_S)


def test_game_ends_by_a_command(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    state = playing.submit(EndGame()).result(PATIENCE_S)
    assert state.phase is Phase.ENDED and state.turn_of is None
    assert state.winners == () and state.racks_wanted == (0, 1), "no winner before the unplayed letters are known"
    for player, letters in ((0, "AAEEIIO"), (1, "EEEEEEE")):
        state = playing.submit(RevealRack(player, letters)).result(PATIENCE_S)
    assert state.winners == (0,) and state.notices == ()
    assert playing.submit(RevealRack(0, "AE")).result(PATIENCE_S).notices[0].key == "rack-count"
    with pytest.raises(CommandRefusedError, match="ended"):
        playing.submit(EndTurn()).result(PATIENCE_S)


def test_pass_needs_no_camera(playing: TableSession, table: TextTable) -> None:
    state = playing.submit(PassTurn()).result(PATIENCE_S)
    assert [(t.player, t.kind) for t in state.turns] == [(0, "pass")] and state.turn_of == 1
    assert table.pictures == 0


def test_end_of_the_game_can_be_undone(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    assert playing.submit(EndGame()).result(PATIENCE_S).phase is Phase.ENDED
    assert playing.submit(Undo()).result(PATIENCE_S).phase is Phase.CHALLENGE


def test_square_holds_exactly_one_tile(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    for symbol in ("", "AB"):
        with pytest.raises(CommandRefusedError, match="holds one tile"):
            playing.submit(CorrectSquare("G8", symbol)).result(PATIENCE_S)


def test_words_belong_to_the_new_game(playing: TableSession) -> None:
    state = playing.submit(StartGame(GameStarted(("Anna", "Ben"), lexicon="none"), words=None)).result(PATIENCE_S)
    assert not state.words_checked
    with pytest.raises(CommandRefusedError, match="changed in the meantime"):
        playing.submit(StartGame(STARTED), Moment(1, 7)).result(PATIENCE_S)


def test_unseen_tiles_are_those_that_do_not_lie_on_the_board(playing: TableSession, table: TextTable) -> None:
    assert dict(playing.state.unseen)["A"] == 9
    state = play(playing, table, FARM)
    assert dict(state.unseen)["A"] == 8 and "F" in dict(state.unseen) and sum(n for _, n in state.unseen) == 96


def test_notice_of_another_part_is_shown_until_the_next_command(playing: TableSession) -> None:
    playing.notify(Notice("Pairing is locked."))
    assert [notice.text for notice in playing.state.notices] == ["Pairing is locked."]
    assert playing.submit(PassTurn()).result(PATIENCE_S).notices == ()


def test_pairing_of_a_later_round_replaces_what_the_director_sent_before(session: TableSession) -> None:
    session.notify(Notice("Pairing is locked."))
    session.notify(Notice(get_text("order-refused", "x")))
    for number in (1, 2):
        session.notify(Notice(get_text("order-pairing", number, "Anna")))
    assert [notice.text for notice in session.state.notices] == ["Pairing is locked.", "Round 2: Anna"]
