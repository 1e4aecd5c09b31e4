"""What the camera monitor notices: faults of the camera, tiles to take off, two turns at one press, hands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from device.session.commands.answers import AnswerQuestion, ReadAgain
from device.session.commands.base import TableCommand
from device.session.commands.challenges import ChallengePlay
from device.session.commands.games import StartGame, Undo
from device.session.commands.turns import EndTurn, ExchangeTiles, PassTurn
from device.session.messages import CommandRefusedError, Trouble
from device.session.snapshot import Phase
from device.session.table_session import TableSession
from engine.rules import Rules
from tests.support.questions import get_key
from tests.support.stepped_tables import SteppedTable
from tests.support.stepped_tables import session as session
from tests.support.stepped_tables import stepped as stepped
from tests.support.stepped_tables import table as table
from tests.support.text_table import FARM, HORN, PASTE, STARTED, PaintedTable

FARMS = ("FARMS", 5, 7, False)


def rest(stepped: SteppedTable, *words: tuple[str, int, int, bool]) -> None:
    """Lay tiles and leave them until the table has seen them at rest."""
    stepped.lay(*words)
    stepped.rest(1.0)


def camera_notices(session: TableSession) -> list[str]:
    return [notice.text for notice in session.state.notices if notice.trouble is Trouble.CAMERA]


def test_unplugged_camera_is_reported_and_recovers(
    stepped: SteppedTable, session: TableSession, table: PaintedTable
) -> None:
    table.trouble = "the camera sends no pictures"
    stepped.until(lambda: camera_notices(session) == ["The camera sends no pictures."])
    assert stepped.submit(PassTurn()).phase is Phase.TURN, "the game goes on by hand"
    assert camera_notices(session) == ["The camera sends no pictures."], "and the trouble is still told"
    table.trouble = ""
    stepped.until(lambda: camera_notices(session) == [])
    table.lay(HORN)
    assert stepped.submit(EndTurn()).turns[-1].word == "HORN"


def test_refused_command_does_not_show_a_fault_of_the_camera_again(
    stepped: SteppedTable, session: TableSession, table: PaintedTable
) -> None:
    table.trouble = "the camera sends no pictures"
    stepped.rest(3.0)
    stepped.submit(EndTurn())
    table.trouble = ""
    stepped.until(lambda: camera_notices(session) == [])
    with pytest.raises(CommandRefusedError):
        stepped.submit(ExchangeTiles(90))
    assert camera_notices(session) == []


def test_black_pictures_cause_a_notice(stepped: SteppedTable, session: TableSession, table: PaintedTable) -> None:
    table.black = True
    stepped.until(lambda: any("black" in text for text in camera_notices(session)))
    table.black = False
    stepped.until(lambda: not camera_notices(session))


def test_two_turns_of_one_press_are_separated_by_readings_at_rest(stepped: SteppedTable, table: PaintedTable) -> None:
    rest(stepped, HORN)
    table.lay(HORN, FARM)
    state = stepped.submit(EndTurn())
    assert [(turn.player, turn.word, turn.score) for turn in state.turns] == [(0, "HORN", 14), (1, "FA.M", 9)]
    assert [notice.key for notice in state.notices] == ["two-turns"]
    assert state.turn_of == 0 and state.question is None
    assert stepped.submit(Undo()).turns == ()


def test_letter_added_after_a_rest_is_one_turn_of_one_player(stepped: SteppedTable, table: PaintedTable) -> None:
    rest(stepped, ("HOR", 7, 5, True))
    table.lay(HORN)
    state = stepped.submit(EndTurn())
    assert [(turn.player, turn.word) for turn in state.turns] == [(0, "HORN")] and state.notices == ()


def test_word_that_was_seen_at_rest_before_it_was_lengthened_is_asked_about(
    stepped: SteppedTable, table: PaintedTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.inference.history.MIN_REST_S", 0.0)
    rest(stepped, HORN)
    stepped.submit(EndTurn())
    rest(stepped, HORN, FARM)
    table.lay(HORN, FARMS)
    state = stepped.submit(EndTurn())
    assert [(turn.player, turn.word, turn.score) for turn in state.turns][1:] == [(1, "FA.MS", 10)]
    assert state.question is not None and state.question.key in ("which-is-right", "which-of-these")
    assert state.question.answers == (
        "Ben played FARMS at H6 for 10.",
        "Ben played FARM at H6 for 9, Anna played FARMS at H6 for 10.",
    )
    state = stepped.submit(AnswerQuestion(1))
    assert [(turn.player, turn.score) for turn in state.turns] == [(0, 14), (1, 9), (0, 10)] and state.turn_of == 1
    assert len(stepped.submit(Undo()).turns) == 1


def fail_to_take_a_picture(stepped: SteppedTable) -> None:
    stepped.table.trouble = "unplugged"
    stepped.submit(EndTurn())
    stepped.table.trouble = ""
    stepped.rest(3.0)


def end_and_undo(stepped: SteppedTable) -> None:
    stepped.submit(EndTurn())
    stepped.submit(Undo())


@pytest.mark.parametrize(
    ("prepare", "command"),
    [
        (fail_to_take_a_picture, EndTurn()),
        (end_and_undo, EndTurn()),
        (lambda stepped: stepped.submit(EndTurn()), ReadAgain()),
    ],
    ids=["camera fault", "undo", "look again"],
)
def test_lengthened_word_is_asked_about_at_the_next_press_too(
    prepare: Callable[[SteppedTable], object], command: TableCommand, stepped: SteppedTable
) -> None:
    stepped.lay(HORN)
    stepped.rest(1.0)
    stepped.submit(EndTurn())
    stepped.lay(HORN, FARM)
    stepped.rest(12.0)
    stepped.lay(HORN, FARMS)
    stepped.rest(1.0)
    prepare(stepped)
    assert get_key(stepped.submit(command)) in ("which-is-right", "which-of-these")


def test_question_about_a_rest_is_asked_beside_one_about_a_pass(
    stepped: SteppedTable, table: PaintedTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.inference.history.MIN_REST_S", 0.0)
    rest(stepped, HORN)
    stepped.submit(EndTurn())
    stepped.submit(EndTurn())  # Ben passes, or Anna has pressed twice
    rest(stepped, HORN, FARM)
    table.lay(HORN, FARMS)
    state = stepped.submit(EndTurn())
    assert state.question is not None and state.question.key in ("which-is-right", "which-of-these")


def test_part_of_a_play_that_is_no_word_is_asked_about_only_after_a_long_time(
    stepped: SteppedTable, table: PaintedTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    for stood, asks in ((60.0, False), (0.0, True)):
        monkeypatch.setattr("engine.inference.history.MIN_REST_S", 0.0)
        monkeypatch.setattr("engine.inference.history.MIN_REST_UNKNOWN_WORDS_S", stood)
        rest(stepped, HORN)
        stepped.submit(EndTurn())
        rest(stepped, HORN, ("FAR", 5, 7, False))
        table.lay(HORN, FARM)
        state = stepped.submit(EndTurn())
        assert [turn.word for turn in state.turns] == ["HORN", "FA.M"] and (state.question is not None) == asks
        table.lay()
        stepped.submit(StartGame(STARTED))


def test_part_of_a_play_that_is_a_word_is_not_asked_about_sooner_if_the_dictionary_is_closed(
    stepped: SteppedTable, table: PaintedTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a question after three seconds would show that FARM is in the list."""
    monkeypatch.setattr("engine.inference.history.MIN_REST_S", 0.0)
    stepped.submit(StartGame(replace(STARTED, rules=Rules(open_dictionary=False))))
    rest(stepped, HORN)
    stepped.submit(EndTurn())
    rest(stepped, HORN, FARM)
    table.lay(HORN, FARMS)
    state = stepped.submit(EndTurn())
    assert [turn.word for turn in state.turns] == ["HORN", "FA.MS"] and state.question is None


def test_play_that_is_laid_tile_by_tile_is_not_asked_about(
    stepped: SteppedTable, table: PaintedTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.inference.history.MIN_REST_S", 60.0)
    rest(stepped, HORN)
    stepped.submit(EndTurn())
    rest(stepped, HORN, FARM)
    table.lay(HORN, FARMS)
    state = stepped.submit(EndTurn())
    assert [turn.word for turn in state.turns] == ["HORN", "FA.MS"] and state.question is None


def test_end_tile_seen_at_rest_belongs_to_the_play_before(
    stepped: SteppedTable, table: PaintedTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.inference.history.MIN_REST_S", 0.0)
    monkeypatch.setattr("engine.inference.history.MIN_REST_UNKNOWN_WORDS_S", 0.0)
    rest(stepped, HORN)
    stepped.submit(EndTurn())
    table.lay(HORN, FARM)
    stepped.submit(EndTurn())
    rest(stepped, HORN, FARMS)  # the S was missed when FARM was read
    table.lay(HORN, FARMS, PASTE)
    state = stepped.submit(EndTurn())
    assert [(turn.word, turn.score) for turn in state.turns] == [("HORN", 14), ("FA.MS", 10), ("PA.TE", 15)]
    assert state.question is not None and state.question.key == "play-became"
    state = stepped.submit(AnswerQuestion(1))
    assert [(turn.word, turn.score) for turn in state.turns] == [("HORN", 14), ("FA.M", 9), ("PASTE", 25)]


def test_two_turns_that_were_not_seen_at_rest_are_asked_about(stepped: SteppedTable, table: PaintedTable) -> None:
    table.lay(HORN)
    stepped.submit(EndTurn())
    table.lay(HORN, FARM, PASTE)
    state = stepped.submit(EndTurn())
    assert state.question is not None
    assert state.question.answers[0] == "Ben played FARM at H6 for 9, Anna played PASTE at 10F for 25."


def test_tiles_of_an_upheld_challenge_are_watched_until_they_leave(
    stepped: SteppedTable, session: TableSession, table: PaintedTable
) -> None:
    rest(stepped, ("HRON", 7, 5, True))
    stepped.submit(EndTurn())
    state = stepped.submit(ChallengePlay())
    assert [notice.key for notice in state.notices] == ["take-off"]
    table.lay()
    stepped.until(lambda: session.state.notices == ())
    table.lay(FARM)
    assert stepped.submit(EndTurn()).turns[-1].player == 1


def test_hand_that_hides_different_squares_in_each_picture_hides_nothing(
    stepped: SteppedTable, table: PaintedTable
) -> None:
    table.lay(HORN)
    table.hidden = [frozenset({(7, 8), (7, 9)}), frozenset({(7, 4), (7, 5)})]
    state = stepped.submit(EndTurn())
    assert [(turn.word, turn.score) for turn in state.turns] == [("HORN", 14)]
    assert state.question is None and state.notices == ()


def test_hand_that_stays_on_the_word_ends_in_a_question(
    stepped: SteppedTable, table: PaintedTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("device.session.turns.turn_capture.MAX_HAND_WAIT_S", 0.0)
    table.lay(HORN)
    table.hidden = [frozenset({(7, 8), (7, 9), (6, 8)})] * 9
    state = stepped.submit(EndTurn())
    assert state.question is not None and "I8" in state.question.text, state.notices
    assert state.question.answers[-1] == "Look again."
    table.hidden = []
    state = stepped.submit(AnswerQuestion(len(state.question.answers) - 1))
    assert state.question is None and [turn.score for turn in state.turns] == [14]


def test_still_table_is_not_read(stepped: SteppedTable, table: PaintedTable) -> None:
    rest(stepped, HORN)
    stills, reads = table.stills, table.reads
    stepped.rest(5.0)
    assert (table.stills, table.reads) == (stills, reads)


def test_set_up_shows_the_picture_and_where_the_board_is(stepped: SteppedTable, session: TableSession) -> None:
    view = stepped.time.finish(session.capture_setup_view())
    assert view.jpeg.startswith(b"\xff\xd8") and view.size == (300, 300)
    assert view.corners is not None and view.corners[2] == (300.0, 300.0)
