"""A game that starts from a position at the table: the question about the first picture, and the command."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from device.cli.options import make_board_reader
from device.demo.demo_table import load_demo_games
from device.session.commands.answers import AnswerQuestion, ChooseNextAnswer, DeferQuestion
from device.session.commands.corrections import CorrectSquare, RevealRack
from device.session.commands.games import EndGame, EnterPosition, Redo, ResumeGame, StartGame, Undo
from device.session.commands.turn_corrections import CorrectTurn, InsertTurn
from device.session.commands.turns import EndTurn, PassTurn
from device.session.messages import START_FROM_HERE, CommandRefusedError
from device.session.snapshot import Phase, TableSnapshot
from device.session.table_session import TableSession
from device.storage.store import GameStore
from engine.board import column_of, row_of
from engine.events import GameStarted
from engine.gcg import build_game
from engine.messages import values_of
from engine.reading import BOARD_SIZE
from engine.tiles import load_tile_set
from tests.support.rendered_table import RenderedTable
from tests.support.text_table import FARM, HORN, PASTE, TextTable, play, rows, totals
from tests.support.waiting import PATIENCE_S

ROWS = tuple(map(tuple, rows(HORN, FARM, PASTE)))


def ask(session: TableSession, table: TextTable) -> TableSnapshot:
    """Press for the first time with three plays on the board; the question must be open."""
    state = play(session, table, HORN, FARM, PASTE)
    assert state.question is not None and state.question.key == START_FROM_HERE and state.turns == ()
    return state


def enter(session: TableSession, **changes: object) -> TableSnapshot:
    fields: Mapping[str, object] = {"rows": ROWS, "totals": (120, 98), **changes}
    return session.submit(EnterPosition(**fields)).result(PATIENCE_S)  # type: ignore[arg-type]


def test_letters_that_follow_from_another_rack_are_named(playing: TableSession) -> None:
    tiles = Counter(load_tile_set("en").counts) - Counter("EOU")
    symbols = [*tiles.elements(), *"." * (BOARD_SIZE**2 - tiles.total())]
    enter(playing, rows=tuple(tuple(symbols[start::BOARD_SIZE]) for start in range(BOARD_SIZE)))
    playing.submit(EndGame()).result(PATIENCE_S)
    state = playing.submit(RevealRack(1, "U")).result(PATIENCE_S)
    (notice,) = state.notices
    assert notice.key == "rack-rest" and values_of(notice.text) == ("E and O", "Anna")
    assert not state.racks_wanted and totals(state) == [118, 97]


def test_first_press_with_three_plays_asks_before_anything_is_recorded(playing: TableSession, table: TextTable) -> None:
    state = ask(playing, table)
    assert state.turns == () and state.question is not None
    assert state.question.text == "There are already 12 tiles on the board. Do you want to start from here?"
    assert len(state.question.squares) == 12 and state.question.can_defer
    assert set(state.question.symbols[0]) == {"."} and "".join(state.question.symbols[1]) == "FAHORNMPASTE"


def test_board_is_not_read_again_by_a_second_button_if_an_answer_does(playing: TableSession, table: TextTable) -> None:
    question = ask(playing, table).question
    assert question is not None and question.answers[0] == "Look again." and not question.can_look_again


def test_question_about_the_first_picture_is_answered_with_the_position(
    playing: TableSession, table: TextTable
) -> None:
    ask(playing, table)
    state = playing.submit(AnswerQuestion(1)).result(PATIENCE_S)
    assert state.question is None and state.turn_of == 0 and totals(state) == [0, 0]
    assert [(turn.kind, turn.score) for turn in state.turns] == [("position", 0), ("position", 0)]
    state = play(playing, table, HORN, FARM, ("PASTED", 9, 5, True))
    assert [turn.word for turn in state.turns[2:]] == [".....D"] and state.question is None


def test_question_about_the_first_picture_is_answered_with_another_picture(
    playing: TableSession, table: TextTable
) -> None:
    ask(playing, table)
    table.lay(HORN)
    state = playing.submit(AnswerQuestion(0)).result(PATIENCE_S)
    assert [turn.word for turn in state.turns] == ["HORN"]


def test_question_about_the_first_picture_is_asked_again_later(playing: TableSession, table: TextTable) -> None:
    ask(playing, table)
    state = playing.submit(DeferQuestion()).result(PATIENCE_S)
    assert state.question is None and state.turns == () and state.open_questions == ()
    ask(playing, table)


def test_position_after_a_pass_replaces_the_pass(playing: TableSession, table: TextTable) -> None:
    playing.submit(PassTurn()).result(PATIENCE_S)
    state = play(playing, table, HORN, FARM, PASTE)
    assert state.question is not None and state.question.key == START_FROM_HERE
    state = playing.submit(AnswerQuestion(1)).result(PATIENCE_S)
    assert state.question is None and [turn.kind for turn in state.turns] == ["position", "position"]


def test_seat_that_pressed_is_followed_by_the_next_player(playing: TableSession, table: TextTable) -> None:
    table.lay(HORN, FARM, PASTE)
    playing.submit(EndTurn(), seat=0).result(PATIENCE_S)
    assert playing.submit(AnswerQuestion(1)).result(PATIENCE_S).turn_of == 1


def test_panel_starts_from_the_position_and_corrects_the_points_later(playing: TableSession, table: TextTable) -> None:
    ask(playing, table)
    state = playing.submit(ChooseNextAnswer()).result(PATIENCE_S)
    assert [turn.kind for turn in state.turns] == ["position", "position"] and state.question is not None
    state = playing.submit(CorrectTurn(2, score=98)).result(PATIENCE_S)
    assert totals(state) == [0, 98] and state.question is None


def test_panel_drops_the_position_with_the_next_press(playing: TableSession, table: TextTable) -> None:
    ask(playing, table)
    playing.submit(ChooseNextAnswer()).result(PATIENCE_S)
    state = playing.submit(ChooseNextAnswer()).result(PATIENCE_S)
    assert state.turns == () and state.question is None


@pytest.mark.parametrize(
    ("words", "is_asked"),
    [
        ((HORN,), False),
        ((HORN, FARM), False),
        ((HORN, FARM, PASTE), True),
        ((HORN, ("CAT", 0, 0, True)), False),  # three loose tiles beside a play: what was played?
        ((HORN, ("CATTLE", 0, 0, True)), True),
        ((("CATTLE", 0, 0, True), ("HORN", 13, 5, True)), True),
    ],
)
def test_first_picture_of_more_than_two_plays_is_a_position(
    playing: TableSession, table: TextTable, words: tuple[tuple[str, int, int, bool], ...], is_asked: bool
) -> None:
    state = play(playing, table, *words)
    assert (state.question is not None and state.question.key == START_FROM_HERE) is is_asked


def test_position_that_the_set_does_not_have_is_refused_and_the_question_stays(
    playing: TableSession, table: TextTable
) -> None:
    play(playing, table, HORN, ("QQQ", 5, 7, False), PASTE)
    with pytest.raises(CommandRefusedError, match="more of these tiles than the set: Q"):
        playing.submit(AnswerQuestion(1)).result(PATIENCE_S)
    assert playing.state.question is not None
    assert enter(playing).question is None


def test_position_by_hand_has_points_and_the_next_player(playing: TableSession) -> None:
    state = enter(playing, player=1)
    assert totals(state) == [120, 98] and state.turn_of == 1 and state.notices == ()
    assert state.in_bag == 100 - 12 - 14
    state = playing.submit(InsertTurn(3, kind="play", at="10F", word=".....D")).result(PATIENCE_S)
    assert totals(state) == [120, 98 + 9]


def test_position_answers_the_question_about_the_first_picture(playing: TableSession, table: TextTable) -> None:
    ask(playing, table)
    state = enter(playing)
    assert state.question is None and totals(state) == [120, 98]


def test_position_is_undone_and_redone(playing: TableSession) -> None:
    before = playing.state
    enter(playing)
    state = playing.submit(Undo()).result(PATIENCE_S)
    assert (state.turns, state.board, state.players) == (before.turns, before.board, before.players)
    assert totals(playing.submit(Redo()).result(PATIENCE_S)) == [120, 98]


def test_position_with_loose_tiles_is_noted(playing: TableSession) -> None:
    state = enter(playing, rows=tuple(map(tuple, rows(HORN, ("AT", 0, 0, True)))))
    assert [notice.text for notice in state.notices] == [
        "The tiles on A1, B1 are not connected to the centre of the board. Check these squares."
    ]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"totals": (1,)}, "points of all 2 players, not of 1"),
        ({"player": 2}, "layer 2 cannot begin"),
        ({"rows": tuple(map(tuple, rows()))}, "needs at least one tile"),
        ({"racks": ("AB", "")}, "only if the bag is empty"),
        ({"rows": (("ß",) * 15,) * 15}, "ß"),
    ],
)
def test_impossible_position_is_refused_with_a_sentence(
    playing: TableSession, changes: dict[str, object], reason: str
) -> None:
    with pytest.raises(CommandRefusedError, match=reason):
        enter(playing, **changes)
    assert playing.state.turns == ()


def test_position_after_a_turn_is_refused(playing: TableSession) -> None:
    playing.submit(PassTurn()).result(PATIENCE_S)
    with pytest.raises(CommandRefusedError, match="only before its first turn"):
        enter(playing)


def test_position_of_a_finished_game_is_refused(playing: TableSession) -> None:
    playing.submit(EndGame()).result(PATIENCE_S)
    with pytest.raises(CommandRefusedError) as refusal:
        enter(playing)
    assert refusal.value.key == "ended"


def test_position_is_no_turn_that_can_be_removed(playing: TableSession) -> None:
    enter(playing)
    with pytest.raises(CommandRefusedError, match="Correct the points or a square"):
        playing.submit(CorrectTurn(1, kind="none")).result(PATIENCE_S)


def test_square_of_a_position_is_corrected(playing: TableSession) -> None:
    enter(playing)
    state = playing.submit(CorrectSquare("H8", "B")).result(PATIENCE_S)
    tile = state.board.tiles[112]
    assert tile is not None and tile.letter == "B" and totals(state) == [120, 98]


def test_game_from_a_position_is_resumed_from_the_store(playing: TableSession) -> None:
    enter(playing)
    state = playing.submit(ResumeGame()).result(PATIENCE_S)
    assert totals(state) == [120, 98] and state.phase is Phase.TURN


def test_rendered_picture_of_a_game_that_has_begun_is_asked_about(tmp_path: Path) -> None:
    game = build_game(load_demo_games()["three-of-us"])
    board = next(turn.board for turn in game.turns if len(turn.board.occupied_squares()) >= 33)
    squares = board.occupied_squares()
    table, reader = RenderedTable((1280, 960)), make_board_reader()
    table.lay(*((board.tile(s).letter, row_of(s), column_of(s), True) for s in squares))
    with GameStore(tmp_path / "games.db") as store, TableSession(table, reader, store) as session:
        session.submit(StartGame(GameStarted(game.players))).result(PATIENCE_S)
        state = session.submit(EndTurn()).result(PATIENCE_S)
        while state.question and state.question.offers_wait:  # on a busy machine, reading takes long
            state = session.submit(AnswerQuestion(state.question.chosen)).result(PATIENCE_S)
        assert state.question is not None and state.question.key == START_FROM_HERE and state.turns == ()
        assert state.question.squares == squares and state.question.picture
        state = session.submit(AnswerQuestion(1)).result(PATIENCE_S)
        read = {s: tile.letter for s, tile in enumerate(state.board.tiles) if tile is not None}
    assert read == {s: board.tile(s).letter for s in squares}
