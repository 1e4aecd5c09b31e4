"""Questions of the validation at the table: what counts until they are answered, and what an answer changes."""

from __future__ import annotations

import pytest

from device.session.commands.answers import AnswerDeferred, AnswerQuestion, ChooseNextAnswer, DeferQuestion
from device.session.commands.base import TableCommand
from device.session.commands.corrections import RevealRack
from device.session.commands.games import Undo
from device.session.commands.turn_corrections import CorrectTurn, InsertTurn
from device.session.commands.turns import EndTurn, PassTurn
from device.session.snapshot import Phase, TableSnapshot
from device.session.table_session import TableSession
from engine.board import parse_square
from engine.reading import BoardReading, SquareReading
from tests.support.questions import answer, get_key
from tests.support.text_table import FARM, HORN, PASTE, TextTable, play, rows
from tests.support.waiting import PATIENCE_S

PASTE_AT_I9 = ("PASTE", 8, 8, True)


def play_in_doubt(
    session: TableSession, table: TextTable, candidates: dict[str, dict[str, float]], *words: tuple[str, int, int, bool]
) -> TableSnapshot:
    """End a turn with these words on the board, some squares of it read with other probabilities."""
    squares = list(BoardReading.from_rows(rows(*words)).squares)
    for name, symbols in candidates.items():
        squares[parse_square(name)] = SquareReading(tuple(symbols.items()))
    table.board = BoardReading(tuple(squares))
    return session.submit(EndTurn()).result(PATIENCE_S)


def test_removed_play_is_withdrawn_and_asked_about(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    play(playing, table, HORN, FARM)
    state = play(playing, table, HORN)
    assert get_key(state) == "asked-tiles-removed"
    assert [p.total for p in state.players] == [14, 0]


def test_play_of_which_most_tiles_were_lifted_is_not_settled_as_a_pass(playing: TableSession, table: TextTable) -> None:
    """Three of the five tiles of PASTE are in a hand when the button is pressed, and lie there again afterwards."""
    play(playing, table, HORN)
    play(playing, table, HORN, PASTE_AT_I9)
    state = play(playing, table, HORN, ("TE", 8, 11, True))
    assert get_key(state) == "asked-tiles-removed"
    state = play(playing, table, HORN, PASTE_AT_I9, ("MOB", 9, 12, True))
    assert [(turn.player, turn.word) for turn in state.turns] == [(0, "HORN"), (1, "PASTE"), (0, "MOB")]


def test_play_replaced_after_the_press_is_offered_as_a_play_of_the_same_player(
    playing: TableSession, table: TextTable
) -> None:
    play(playing, table, HORN)
    play(playing, table, HORN, FARM)
    state = play(playing, table, HORN, ("NEST", 7, 8, False))
    assert get_key(state) == "asked-tiles-removed" and [p.total for p in state.players] == [14 + 5, 0]
    state = answer(playing, "Ben played NEST")
    assert ([p.total for p in state.players], state.turn_of) == ([14, 5], 0)
    assert [turn.word for turn in state.turns] == ["HORN", ".EST"]


def test_play_replaced_on_the_same_squares_is_offered_as_a_play_of_the_same_player(
    playing: TableSession, table: TextTable
) -> None:
    play(playing, table, HORN)
    play(playing, table, HORN, FARM)
    assert play(playing, table, HORN, ("WORM", 5, 7, False)).question is not None
    state = answer(playing, "Ben played WORM at H6 for 9")
    assert [(turn.player, turn.word) for turn in state.turns] == [(0, "HORN"), (1, "WO.M")]
    assert play(playing, table, HORN, ("WORM", 5, 7, False), PASTE).turns[-1].player == 0


def test_play_replaced_after_the_press_is_answered_after_the_next_turn(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    play(playing, table, HORN, FARM)
    play(playing, table, HORN, ("NEST", 7, 8, False))
    state = play(playing, table, HORN, ("NEST", 7, 8, False), ("BEST", 9, 6, True))
    number = next(n for n, a in enumerate(state.open_questions[0].question.answers) if "Ben played NEST" in a)
    state = playing.submit(AnswerDeferred(state.open_questions[0].number, number)).result(PATIENCE_S)
    assert [(turn.player, turn.word) for turn in state.turns] == [(0, "HORN"), (1, ".EST"), (0, "BE.T")]


def test_tile_added_after_an_early_press_costs_the_next_player_no_turn(playing: TableSession, table: TextTable) -> None:
    play(playing, table, ("HOR", 7, 5, True))
    state = play(playing, table, HORN)
    assert get_key(state) == "play-became" and all(turn.provisional for turn in state.turns)
    state = answer(playing, "Anna played HORN at 8F for 14")
    assert ([p.total for p in state.players], state.turn_of) == ([14, 0], 1)
    state = play(playing, table, HORN, FARM)
    assert [(turn.player, turn.word) for turn in state.turns] == [(0, "HORN"), (1, "FA.M")]


def test_question_about_squares_has_a_crop_of_the_photograph(playing: TableSession, table: TextTable) -> None:
    state = play_in_doubt(playing, table, {"I8": {"N": 0.55, "M": 0.45}}, HORN)
    assert state.question is not None and state.question.picture
    picture = playing.find_picture(state.question.picture)
    assert picture is not None and picture.startswith(b"\xff\xd8") and len(picture) < 60_000


def test_question_without_squares_has_no_picture(playing: TableSession, table: TextTable) -> None:
    state = play(playing, table)
    assert state.question is not None and state.question.squares == state.question.symbols == ()
    assert state.question.picture == ""


def test_look_again_reads_the_board_again(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    play(playing, table, HORN, FARM)
    play(playing, table, HORN)
    table.lay(HORN, FARM, PASTE)
    state = answer(playing, "Look again")
    assert [(t.word, t.score) for t in state.turns] == [("HORN", 14), ("FA.M", 9), ("PASTE", 25)]
    assert state.question is None and state.phase is Phase.CHALLENGE


def test_cleared_board_records_nothing_before_the_answer(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    play(playing, table, HORN, FARM)
    before = playing.state
    state = play(playing, table)
    assert get_key(state) == "asked-board-cleared" and state.turns == before.turns
    assert answer(playing, "The game is over").phase is Phase.ENDED


def test_cleared_board_records_nothing_if_the_button_is_pressed_again(playing: TableSession, table: TextTable) -> None:
    words = HORN, FARM, PASTE, ("MOB", 8, 7, True), ("BIT", 10, 4, True)
    for count in range(1, 6):
        before = play(playing, table, *words[:count])
    for words in ((), (), (("CAT", 7, 6, True),)):
        state = play(playing, table, *words)
        assert get_key(state) == "asked-board-cleared" and state.turns == before.turns


def test_board_of_another_game_records_nothing(playing: TableSession, table: TextTable) -> None:
    for words in ((HORN,), (HORN, FARM), (HORN, FARM, PASTE)):
        before = play(playing, table, *words)
    state = play(playing, table, ("QUIZZES", 7, 4, True), ("ZEBRA", 7, 8, False), ("BOND", 9, 8, True))
    assert get_key(state) == "asked-other-board" and state.turns == before.turns


def test_half_full_board_at_the_first_press_records_nothing(playing: TableSession, table: TextTable) -> None:
    state = play(playing, table, HORN, FARM, PASTE, ("QUARTERS", 2, 0, True))
    assert state.turns == () and state.question is not None and state.question.key == "asked-board-already-full"


def test_unlisted_word_counts_until_the_likely_one_is_chosen(playing: TableSession, table: TextTable) -> None:
    state = play_in_doubt(playing, table, {"G8": {"A": 0.97, "O": 0.02}}, ("HARN", 7, 5, True))
    assert get_key(state) == "asked-word-unlisted" and state.turns[0].word == "HARN"
    state = answer(playing, "HORN")
    assert (state.turns[0].word, state.turns[0].score, state.question) == ("HORN", 14, None)


def test_open_question_ends_once_later_readings_settle_it(playing: TableSession, table: TextTable) -> None:
    play_in_doubt(playing, table, {"G8": {"A": 0.97, "O": 0.02}}, ("HARN", 7, 5, True))
    play(playing, table, HORN, FARM)
    state = play(playing, table, HORN, FARM, PASTE)
    assert [turn.word for turn in state.turns] == ["HORN", "FA.M", "PASTE"]
    assert state.question is None


def test_letter_of_a_blank_is_asked_when_it_is_played(playing: TableSession, table: TextTable) -> None:
    state = play(playing, table, ("HO?N", 7, 5, True))
    assert get_key(state) == "asked-blank-unnamed"
    assert answer(playing, "The blank is R").turns[0].word == "HOrN"


def test_one_button_chooses_each_answer_and_then_closes_the_question(playing: TableSession, table: TextTable) -> None:
    play_in_doubt(playing, table, {"G8": {"A": 0.97, "O": 0.02}}, ("HARN", 7, 5, True))
    state = playing.submit(ChooseNextAnswer()).result(PATIENCE_S)
    assert state.turns[0].word == "HORN" and state.question is not None and state.question.chosen == 1
    state = playing.submit(ChooseNextAnswer()).result(PATIENCE_S)
    assert (state.turns[0].word, state.question) == ("HARN", None)


def test_one_button_answers_a_question_before_which_nothing_is_recorded(
    playing: TableSession, table: TextTable
) -> None:
    play(playing, table, HORN)
    before = play(playing, table, HORN, FARM)
    assert play(playing, table).turns == before.turns
    assert playing.submit(ChooseNextAnswer()).result(PATIENCE_S).phase is Phase.ENDED


@pytest.fixture
def ended_at_the_panel(playing: TableSession, table: TextTable) -> TableSession:
    """Return a session at whose panel the players chose that the game is over, after the board was cleared."""
    for words in ((HORN,), (HORN, FARM), ()):
        play(playing, table, *words)
    assert playing.submit(ChooseNextAnswer()).result(PATIENCE_S).phase is Phase.ENDED
    return playing


def test_one_button_chooses_the_answer_after_the_end_of_the_game(ended_at_the_panel: TableSession) -> None:
    state = ended_at_the_panel.submit(ChooseNextAnswer()).result(PATIENCE_S)
    assert state.question is not None and state.turns[-1].kind == "withdrawn"
    state = ended_at_the_panel.submit(ChooseNextAnswer()).result(PATIENCE_S)
    assert state.question is None and state.phase is Phase.CHALLENGE and len(state.turns) == 2


@pytest.mark.parametrize("command", [AnswerQuestion(1), DeferQuestion(), RevealRack(0, "Q")])
def test_question_closes_after_the_panel_has_ended_the_game(
    ended_at_the_panel: TableSession, command: TableCommand
) -> None:
    state = ended_at_the_panel.submit(command).result(PATIENCE_S)
    assert state.question is None and state.phase is Phase.ENDED


def test_board_is_read_again_after_the_panel_has_ended_the_game(
    ended_at_the_panel: TableSession, table: TextTable
) -> None:
    table.lay(HORN, FARM, PASTE)
    state = ended_at_the_panel.submit(AnswerQuestion(0)).result(PATIENCE_S)
    assert state.phase is Phase.CHALLENGE and [turn.word for turn in state.turns] == ["HORN", "FA.M", "PASTE"]


def test_undone_turn_takes_its_question_with_it(playing: TableSession, table: TextTable) -> None:
    play(playing, table, ("HO?N", 7, 5, True))
    state = playing.submit(Undo()).result(PATIENCE_S)
    assert (state.question, state.turns) == (None, ())


@pytest.mark.parametrize(
    ("at", "word", "key"),
    [
        ("8A", "HORN", "noted-centre-missed"),
        ("8H", "A", "noted-first-word-short"),
        ("8D", "QUARTERS", "noted-too-many-tiles"),
        ("8F", "KKKK", "noted-more-than-set"),
        ("8F", "haus", "noted-more-than-set"),
    ],
)
def test_play_by_hand_is_taken_with_a_notice(playing: TableSession, at: str, word: str, key: str) -> None:
    state = playing.submit(InsertTurn(1, at=at, word=word)).result(PATIENCE_S)
    assert len(state.turns) == 1 and key in [notice.key for notice in state.notices]


def test_turn_by_hand_out_of_turn_is_noted(playing: TableSession) -> None:
    state = playing.submit(InsertTurn(1, player=1, at="8F", word="HORN")).result(PATIENCE_S)
    assert [notice.key for notice in state.notices] == ["noted-out-of-turn"]


def test_removed_first_turn_is_noted_for_the_play_that_it_leaves_alone(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    play(playing, table, HORN, FARM)
    state = playing.submit(CorrectTurn(1, kind="none")).result(PATIENCE_S)
    assert "noted-gap" in [notice.key for notice in state.notices]


def test_play_that_a_correction_leaves_with_the_wrong_player_is_noted(playing: TableSession, table: TextTable) -> None:
    playing.submit(PassTurn()).result(PATIENCE_S)
    play(playing, table, HORN)
    state = playing.submit(CorrectTurn(2, player=0)).result(PATIENCE_S)
    text = "Anna played, but it was the turn of Ben. Correct the player, or add the missing turn."
    assert [notice.text for notice in state.notices if notice.key == "noted-out-of-turn"] == [text]


@pytest.mark.parametrize("command", [InsertTurn(2, kind="pass"), CorrectTurn(1, kind="none")])
def test_correction_that_moves_later_turns_leaves_no_player_out_of_turn(
    playing: TableSession, table: TextTable, command: InsertTurn | CorrectTurn
) -> None:
    playing.submit(PassTurn()).result(PATIENCE_S)
    play(playing, table, HORN)
    play(playing, table, HORN, FARM)
    assert "noted-out-of-turn" not in [n.key for n in playing.submit(command).result(PATIENCE_S).notices]


def test_inserted_play_on_the_squares_of_a_later_play_is_noted(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    play(playing, table, HORN, FARM)
    state = playing.submit(InsertTurn(2, at="8J", word="S")).result(PATIENCE_S)
    assert "noted-square-taken" not in [notice.key for notice in state.notices]
    state = playing.submit(InsertTurn(2, at="H7", word="A.M")).result(PATIENCE_S)
    assert [n.text for n in state.notices if n.key == "noted-square-taken"] == [
        "There is already a tile on one of the squares of H6 FARM. Check the square and the direction."
    ]


def test_correct_play_by_hand_has_no_notice(playing: TableSession) -> None:
    state = playing.submit(InsertTurn(1, at="8F", word="HORN")).result(PATIENCE_S)
    assert state.notices == () and state.question is None
