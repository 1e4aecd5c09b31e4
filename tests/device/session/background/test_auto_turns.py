"""Turns end without a button, or the table proposes it, when a legal play has been still."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import pytest

from device.session.background.auto_turns import AutoTurnConfig
from device.session.commands.answers import AnswerQuestion
from device.session.commands.base import TableCommand
from device.session.commands.challenges import ChallengePlay, DecideChallenge
from device.session.commands.corrections import CorrectSquare
from device.session.commands.games import EndGame, EndPause, Pause, PlayAgain, StartGame, Undo
from device.session.commands.turns import EndFoundTurn, EndTurn, ExchangeTiles, PassTurn
from device.session.messages import CommandRefusedError
from device.session.snapshot import Moment, Phase, Sight
from device.session.turns.turn_capture import MAX_IMAGES
from device.storage.game_log import GameLog
from device.storage.store import GameStore
from engine.board import parse_square
from engine.inference.alignment import shift_reading
from engine.lexicon import WordList
from engine.reading import BoardReading, SquareReading
from engine.rules import STANDARD_RULES, ChallengeRule
from tests.support.engine_table import new_game
from tests.support.stepped_tables import SteppedTable, open_stepped_table
from tests.support.stepped_time import get_advance
from tests.support.text_table import FARM, HORN, PASTE, STARTED, WORDS, PaintedTable, RuledTable
from tests.support.waiting import PATIENCE_S
from vision.geometry import Image
from vision.recognition.reader import PhotoReading

WAIT_S = 5.0
FARM_ACROSS = ("FARM", 7, 5, True)
FARMS = ("FARMS", 5, 7, False)
HAT = ("HAT", 7, 5, False)


def open_table(
    *, ends: bool = True, words: WordList | None = WORDS, kind: type[PaintedTable] = RuledTable
) -> AbstractContextManager[SteppedTable]:
    return open_stepped_table(kind, words=words, auto_turns=AutoTurnConfig(ends, WAIT_S))


def found(auto: SteppedTable) -> list[tuple[int, str]]:
    """Return player and word of each turn."""
    return [(turn.player, turn.word) for turn in auto.session.state.turns]


def pass_hand(auto: SteppedTable) -> None:
    """Cover the board for a moment, so that it is read again afterwards."""
    assert isinstance(auto.table, RuledTable)
    auto.table.covered = True
    auto.rest(0.6)
    auto.table.covered = False
    auto.rest(1.0)


class DoubtfulTable(RuledTable):
    """A painted table on which a tile on G8 is read as A or O; the first of `letters` is the likelier one."""

    letters = "AO"

    def read(self, image: Image, tiles: Collection[str], **place: object) -> PhotoReading:
        reading, square = super().read(image, tiles, **place), parse_square("G8")
        if reading.board is None or not reading.board.squares[square].is_tile:
            return reading
        squares = list(reading.board.squares)
        squares[square] = SquareReading(tuple(zip(self.letters, (0.6, 0.4), strict=True)))
        return replace(reading, board=BoardReading(tuple(squares)))


class ShiftedTable(RuledTable):
    """A painted table whose grid is found one row too high while `is_shifted`."""

    is_shifted = False

    def read(self, image: Image, tiles: Collection[str], **place: object) -> PhotoReading:
        reading = super().read(image, tiles, **place)
        if reading.board is None or not self.is_shifted:
            return reading
        return replace(reading, board=shift_reading(reading.board, 1, 0))


@pytest.fixture
def auto() -> Iterator[SteppedTable]:
    with open_table() as table:
        yield table


@pytest.fixture
def proposing() -> Iterator[SteppedTable]:
    with open_table(ends=False) as table:
        yield table


def test_play_that_is_still_ends_the_turn(auto: SteppedTable) -> None:
    auto.lay(HORN)
    assert auto.rest(WAIT_S).turns == ()
    state = auto.rest(1.5)
    assert [(turn.word, turn.score) for turn in state.turns] == [("HORN", 14)] and state.question is None
    assert state.look is not None and auto.session.find_picture(state.look.picture) is not None
    assert len(auto.rest(15.0).turns) == 1


def test_board_in_poor_light_ends_the_turn_too() -> None:
    with open_table(kind=PaintedTable) as dark:  # a change could be missed, so that a press reads the board again
        dark.lay(HORN)
        dark.rest(6.5)
        assert found(dark) == [(0, "HORN")]


def test_first_word_that_was_placed_before_a_new_game_ends_the_turn(auto: SteppedTable) -> None:
    for words in ((HORN,), (HORN, FARM), (), (FARM_ACROSS,)):
        auto.lay(*words)
        auto.rest(7.0 if HORN in words else 3.0)
    auto.submit(PlayAgain(new_game().start_event))
    auto.rest(8.0)
    assert found(auto) == [(1, "FARM")]


def test_board_without_a_play_ends_no_turn(auto: SteppedTable) -> None:
    auto.lay(("HORN", 0, 0, True))
    assert auto.rest(15.0).turns == ()


def test_play_that_grows_is_one_turn(auto: SteppedTable) -> None:
    auto.lay(FARM_ACROSS)
    auto.rest(4.0)
    auto.lay(("FARMS", 7, 5, True))
    assert auto.rest(4.0).turns == ()
    auto.rest(3.0)
    assert found(auto) == [(0, "FARMS")]


def test_word_that_was_still_before_it_was_lengthened_is_asked_about(auto: SteppedTable) -> None:
    """Anna may have added the S before Ben's turn had ended."""
    auto.lay(HORN)
    auto.rest(7.0)
    auto.lay(HORN, FARM)
    auto.rest(4.0)
    auto.lay(HORN, FARMS)
    state = auto.rest(7.0)
    assert found(auto) == [(0, "HORN"), (1, "FA.MS")]
    assert state.question is not None and state.question.key in ("which-of-these", "which-is-right")
    auto.submit(AnswerQuestion(1))
    assert found(auto) == [(0, "HORN"), (1, "FA.M"), (0, "....S")]


def test_quick_next_player_ends_the_turn(auto: SteppedTable) -> None:
    auto.lay(HORN)
    auto.rest(3.0)
    auto.lay(HORN, FARM)
    auto.rest(2.0)
    assert found(auto) == [(0, "HORN")]
    auto.rest(5.0)
    assert found(auto) == [(0, "HORN"), (1, "FA.M")]


@pytest.mark.parametrize(
    ("command", "seat", "later"),
    [
        (PassTurn(), None, [(0, "pass")]),
        (ChallengePlay(), None, [(1, "challenge")]),
        (EndGame(), None, []),
        (EndTurn(), None, []),
        (EndTurn(), 1, []),
    ],
)
def test_play_of_the_quick_next_player_counts_before_its_wait_is_over(
    command: TableCommand, seat: int | None, later: list[tuple[int, str]], auto: SteppedTable
) -> None:
    auto.lay(HORN)
    auto.rest(3.0)
    auto.lay(HORN, FARM)
    auto.rest(1.5)
    assert found(auto) == [(0, "HORN")]
    turns = auto.submit(command, seat=seat).turns
    assert found(auto)[:2] == [(0, "HORN"), (1, "FA.M")]
    assert [(turn.player, turn.kind) for turn in turns[2:]] == later
    assert auto.rest(8.0).turns == turns


def test_hand_over_the_play_ends_no_turn(auto: SteppedTable) -> None:
    auto.table.hidden = [frozenset({(7, 6), (7, 7)})] * MAX_IMAGES
    auto.lay(HORN)
    assert auto.rest(20.0).turns == ()


def test_press_comes_first(auto: SteppedTable) -> None:
    auto.lay(HORN)
    auto.rest(3.0)
    auto.submit(EndTurn())
    auto.rest(20.0)
    assert found(auto) == [(0, "HORN")]


def test_play_of_an_earlier_moment_is_refused(auto: SteppedTable) -> None:
    auto.lay(HORN)
    auto.rest(2.0)
    capture = get_advance(auto.session)
    assert capture is not None
    with pytest.raises(CommandRefusedError):
        auto.session.submit(EndFoundTurn(capture), Moment(1, 99)).result(PATIENCE_S)
    assert auto.session.state.turns == ()


def test_press_just_after_the_end_is_no_pass(auto: SteppedTable) -> None:
    auto.lay(HORN)
    auto.rest(6.5)
    state = auto.submit(EndTurn())
    assert found(auto) == [(0, "HORN")] and [notice.key for notice in state.notices] == ["turn-ended-already"]
    auto.submit(EndTurn())
    assert len(found(auto)) == 2, "the second press is a pass"


def test_automatic_end_has_the_phase_of_a_press(auto: SteppedTable) -> None:
    """The panel beeps after this phase, also for a question."""
    phases: list[Phase] = []
    auto.session.add_listener(lambda state: phases.append(state.phase))
    auto.lay(HORN)
    auto.until(lambda: auto.session.state.turns)
    assert phases[-2:] == [Phase.LOOKING, Phase.CHALLENGE]


@pytest.mark.parametrize("seat", [None, 0])
def test_press_just_after_the_end_is_no_pass_even_if_a_hand_has_passed(auto: SteppedTable, seat: int | None) -> None:
    assert isinstance(auto.table, RuledTable)
    auto.lay(HORN)
    auto.until(lambda: auto.session.state.turns)
    auto.table.covered = True
    auto.rest(0.6)
    auto.table.covered = False
    auto.rest(1.0)
    state = auto.submit(EndTurn(), seat)
    assert found(auto) == [(0, "HORN")] and [notice.key for notice in state.notices] == ["turn-ended-already"]


def test_press_with_a_hand_over_the_board_just_after_the_end_is_no_pass(auto: SteppedTable) -> None:
    assert isinstance(auto.table, RuledTable)
    auto.lay(HORN)
    auto.until(lambda: auto.session.state.turns)
    auto.table.covered = True
    auto.rest(0.6)
    auto.table.hidden = [frozenset((5, column) for column in range(15))] * 1000
    auto.table.covered = False
    state = auto.submit(EndTurn())
    assert found(auto) == [(0, "HORN")] and [notice.key for notice in state.notices] == ["turn-ended-already"]


def test_press_just_after_the_end_is_no_pass_if_hidden_squares_are_now_visible(auto: SteppedTable) -> None:
    assert isinstance(auto.table, RuledTable)
    auto.table.hidden = [frozenset((0, column) for column in range(5))] * 1000
    auto.lay(HORN)
    auto.until(lambda: auto.session.state.turns)
    auto.table.hidden = []
    pass_hand(auto)
    state = auto.submit(EndTurn())
    assert found(auto) == [(0, "HORN")] and [notice.key for notice in state.notices] == ["turn-ended-already"]


def test_tiles_on_squares_that_were_hidden_at_the_end_count(auto: SteppedTable) -> None:
    auto.table.hidden = [frozenset((row, 7) for row in range(5))] * 1000
    auto.lay(HORN)
    auto.until(lambda: auto.session.state.turns)
    auto.table.hidden = []
    auto.lay(HORN, ("PASTE", 3, 7, False))
    state = auto.submit(EndTurn())
    assert "turn-ended-already" not in [notice.key for notice in state.notices]


def test_tile_that_is_removed_at_the_press_just_after_the_end_counts(auto: SteppedTable) -> None:
    auto.lay(HORN)
    auto.until(lambda: auto.session.state.turns)
    auto.lay(("HOR", 7, 5, True))
    state = auto.submit(EndTurn())
    assert "turn-ended-already" not in [notice.key for notice in state.notices]


@pytest.mark.parametrize("has_hand_passed", [False, True])
def test_press_just_after_the_end_is_no_pass_if_a_doubtful_letter_is_read_differently(has_hand_passed: bool) -> None:
    with open_table(kind=DoubtfulTable) as table:
        assert isinstance(table.table, DoubtfulTable)
        table.lay(HORN)
        table.until(lambda: table.session.state.turns)
        table.table.letters = "OA"
        if has_hand_passed:
            pass_hand(table)
        state = table.submit(EndTurn())
        assert found(table) == [(0, "HARN")]
        assert [notice.key for notice in state.notices] == ["turn-ended-already"]


def test_press_just_after_the_end_is_no_pass_if_the_grid_is_found_one_square_off() -> None:
    with open_table(kind=ShiftedTable) as table:
        assert isinstance(table.table, ShiftedTable)
        table.lay(HORN)
        table.until(lambda: len(found(table)) == 1)
        table.lay(HORN, FARM)
        table.until(lambda: len(found(table)) == 2)
        table.lay(HORN, FARM, PASTE)
        table.until(lambda: len(found(table)) == 3)
        table.table.is_shifted = True
        pass_hand(table)
        state = table.submit(EndTurn())
        assert len(found(table)) == 3 and [notice.key for notice in state.notices] == ["turn-ended-already"]


def test_press_just_after_the_end_reads_nothing_if_the_board_looks_the_same(auto: SteppedTable) -> None:
    auto.lay(HORN)
    auto.until(lambda: auto.session.state.turns)
    reads = auto.table.reads
    auto.submit(EndTurn())
    assert auto.table.reads == reads


def test_press_just_after_the_end_is_no_pass_if_it_is_read_late(monkeypatch: pytest.MonkeyPatch) -> None:
    with open_table(kind=PaintedTable) as dark:  # a press reads the board again
        dark.lay(HORN)
        dark.until(lambda: dark.session.state.turns)
        worker, wait = dark.session._turn_worker, dark.session._turn_worker.wait

        def give_up(report_waiting: Callable[[], None]) -> None:
            """Wait for the reading, but let it count as not ready."""
            pending = worker._pending
            wait(report_waiting)
            worker._pending = pending

        with monkeypatch.context() as patch:
            patch.setattr(worker, "wait", give_up)
            question = dark.submit(EndTurn()).question
        assert question is not None and question.key == "not-read-in-time"
        state = dark.submit(AnswerQuestion(0))
        assert found(dark) == [(0, "HORN")] and [notice.key for notice in state.notices] == ["turn-ended-already"]


def test_turn_of_the_next_player_counts_if_the_board_changes_at_the_press(auto: SteppedTable) -> None:
    auto.lay(HORN)
    auto.until(lambda: auto.session.state.turns)
    auto.lay(HORN, FARM)
    auto.submit(EndTurn())
    assert found(auto) == [(0, "HORN"), (1, "FA.M")]


def test_turn_of_the_next_player_just_after_the_end_counts(auto: SteppedTable) -> None:
    auto.lay(HORN)
    auto.rest(6.5)
    auto.lay(HORN, FARM)
    auto.rest(1.0)
    auto.submit(EndTurn())
    assert found(auto) == [(0, "HORN"), (1, "FA.M")]


def test_undone_turn_is_not_found_before_something_moves(auto: SteppedTable) -> None:
    auto.lay(HORN)
    auto.rest(6.5)
    auto.submit(Undo())
    assert auto.rest(15.0).turns == ()
    auto.lay(("HORNS", 7, 5, True))
    auto.rest(6.5)
    assert found(auto) == [(0, "HORNS")]


def test_open_question_about_a_blank_does_not_stop_the_next_turn(auto: SteppedTable) -> None:
    auto.lay(("HO?N", 7, 5, True))
    assert auto.rest(6.5).question is not None
    auto.lay(("HO?N", 7, 5, True), ("SHE", 6, 5, False))
    auto.rest(6.5)
    assert [player for player, _ in found(auto)] == [0, 1]


def test_doubtful_letter_without_an_answer_stops_no_later_turn() -> None:
    with open_table(kind=DoubtfulTable) as table:
        table.lay(HORN)
        state = table.rest(6.5)
        assert found(table) == [(0, "HARN")] and state.question is not None and state.question.squares == (111,)
        table.lay(HORN, FARM)
        state = table.rest(6.5)
        assert found(table) == [(0, "HARN"), (1, "FA.M")]
        assert [turn.provisional for turn in state.turns] == [True, False]


def test_pass_after_a_doubtful_play_is_a_turn_of_the_next_player() -> None:
    with open_table(kind=DoubtfulTable) as table:
        table.lay(HORN)
        table.rest(6.5)
        table.submit(PassTurn())
        assert [(turn.player, turn.kind) for turn in table.session.state.turns] == [(0, "play"), (1, "pass")]


@pytest.mark.parametrize("seat", [None, 1])
@pytest.mark.parametrize(("command", "kind"), [(PassTurn(), "pass"), (ExchangeTiles(3), "exchange")])
def test_pass_before_the_end_of_a_turn_is_one_of_the_next_player(
    command: TableCommand, kind: str, seat: int | None, auto: SteppedTable
) -> None:
    auto.lay(HORN)
    auto.rest(3.0)
    auto.submit(command, seat=seat)
    auto.rest(8.0)
    assert [(turn.player, turn.kind) for turn in auto.session.state.turns] == [(0, "play"), (1, kind)]


@pytest.mark.parametrize("seat", [None, 0, 1])
def test_play_before_the_end_of_the_game_counts(seat: int | None, auto: SteppedTable) -> None:
    auto.lay(HORN)
    auto.rest(3.0)
    state = auto.submit(EndGame(), seat=seat)
    assert state.phase is Phase.ENDED and found(auto) == [(0, "HORN")]


def test_play_before_the_next_game_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "games.db"
    with open_stepped_table(RuledTable, path, auto_turns=AutoTurnConfig(ends=True, wait_s=WAIT_S)) as auto:
        auto.lay(HORN)
        auto.rest(3.0)
        game = auto.session.state.game
        auto.submit(PlayAgain(new_game().start_event))
        assert auto.session.state.game != game
    with GameStore(path) as store:
        log = GameLog.load(store, game)
        assert log is not None and [turn.words[0].word for turn in log.game.turns] == ["HORN"]


@pytest.mark.parametrize("seat", [None, 0])
def test_challenge_before_the_end_of_a_turn_is_about_its_play(seat: int | None, auto: SteppedTable) -> None:
    auto.lay(HORN)
    auto.rest(6.5)
    auto.lay(HORN, ("FOXM", 5, 7, False))
    auto.rest(3.0)
    auto.submit(ChallengePlay(), seat=seat)
    kinds = [(turn.player, turn.kind) for turn in auto.session.state.turns]
    assert kinds == [(0, "play"), (1, "play"), (1, "withdrawn")]


def test_challenge_by_the_player_of_the_next_tiles_is_about_the_play_before(auto: SteppedTable) -> None:
    auto.lay(HORN)
    auto.rest(6.5)
    auto.lay(HORN, FARM)
    auto.rest(3.0)
    auto.submit(ChallengePlay(), seat=1)
    last = auto.session.state.turns[-1]
    assert (last.player, last.kind, last.by) == (0, "challenge", 1)


def test_refused_exchange_does_not_open_the_question_about_an_earlier_turn_again(auto: SteppedTable) -> None:
    auto.rest(2.0)
    asked = auto.submit(EndTurn())
    assert asked.question is not None and asked.question.key == "pass-or-exchange"
    auto.lay(HORN)
    auto.rest(3.0)
    with pytest.raises(CommandRefusedError):
        auto.submit(ExchangeTiles(20))
    assert auto.session.state.question is None and found(auto) == [(0, ""), (1, "HORN")]


def test_pass_of_a_player_who_took_the_tiles_off_is_no_play(auto: SteppedTable) -> None:
    auto.lay(HORN)
    auto.rest(3.0)
    auto.lay()
    auto.rest(1.0)
    auto.submit(PassTurn())
    assert [(turn.player, turn.kind) for turn in auto.session.state.turns] == [(0, "pass")]


def test_press_of_a_player_does_not_keep_the_next_turn_from_ending(auto: SteppedTable) -> None:
    auto.lay(HORN)
    auto.rest(2.0)
    auto.submit(EndTurn(), seat=0)
    auto.lay(HORN, FARM)
    auto.rest(8.0)
    assert found(auto) == [(0, "HORN"), (1, "FA.M")]


def test_withdrawn_tiles_are_no_play_of_the_next_player(auto: SteppedTable) -> None:
    auto.lay(HORN)
    auto.rest(6.5)
    auto.submit(DecideChallenge(True))
    turns = auto.session.state.turns
    assert auto.rest(15.0).turns == turns
    auto.lay()
    auto.rest(2.0)
    auto.lay(FARM)
    auto.rest(6.5)
    assert found(auto)[-1] == (1, "FARM")


@pytest.mark.parametrize("ends", [True, False])
def test_tile_of_the_last_play_that_is_lifted_and_put_back_ends_no_turn(ends: bool) -> None:
    with open_table(ends=ends) as table:
        table.lay(HORN)
        table.rest(2.0)
        table.submit(EndTurn())
        table.lay(("SPHORN", 7, 3, True))
        table.rest(2.0)
        turns = table.submit(EndTurn()).turns
        table.lay(("PHORN", 7, 4, True))
        table.rest(2.0)
        table.lay(("SPHORN", 7, 3, True))
        state = table.rest(10.0)
        assert state.turns == turns and state.sight is Sight.READY


def test_tiles_of_the_last_play_that_are_put_back_one_after_the_other_end_no_turn(auto: SteppedTable) -> None:
    auto.lay(HORN)
    auto.rest(6.5)
    auto.lay(HORN, FARM)
    auto.rest(6.5)
    for lifted in (("AR", 6, 7, False), ("FAR", 5, 7, False), FARM):
        auto.lay(HORN, lifted)
        auto.rest(2.0)
    assert found(auto) == [(0, "HORN"), (1, "FA.M")] and auto.rest(10.0).question is None


def test_lifted_tile_that_is_put_back_after_the_next_play_is_no_play() -> None:
    with open_table(words=None) as table:
        table.lay(HORN)
        table.rest(6.5)
        table.lay(HORN, HAT)
        table.rest(6.5)
        table.lay(HORN, ("WHA", 6, 5, False))
        table.rest(2.0)
        table.lay(HORN, ("WHAT", 6, 5, False))
        table.rest(8.0)
        assert found(table) == [(0, "HORN"), (1, ".AT"), (0, "W...")]


def test_lifted_play_that_is_put_back_answers_the_question_and_ends_no_turn(auto: SteppedTable) -> None:
    for words in ((HORN,), (HORN, FARM), (HORN, HAT)):
        auto.lay(*words)
        auto.rest(2.0)
        auto.submit(EndTurn())
    auto.lay(HORN, FARM, HAT)
    state = auto.rest(12.0)
    assert found(auto) == [(0, "HORN"), (1, "FA.M"), (0, ".AT")]
    assert state.question is None and not state.open_questions and state.turn_of == 1


@pytest.mark.parametrize("command", [PassTurn(), ExchangeTiles(3)])
def test_withdrawn_tiles_are_no_play_of_their_player_after_a_turn_without_tiles(
    command: TableCommand, auto: SteppedTable
) -> None:
    auto.lay(HORN)
    auto.rest(6.5)
    auto.lay(HORN, HAT)
    auto.rest(6.5)
    auto.submit(ChallengePlay())
    turns = auto.submit(command).turns
    assert auto.rest(15.0).turns == turns
    auto.lay(HORN)
    auto.rest(2.0)
    auto.lay(HORN, HAT)
    auto.rest(6.5)
    assert found(auto)[-1] == (1, ".AT")


def test_next_play_on_the_squares_of_a_withdrawn_play_ends_the_turn(auto: SteppedTable) -> None:
    auto.lay(HORN)
    auto.rest(6.5)
    auto.lay(HORN, ("GORP", 5, 7, False))
    auto.rest(6.5)
    auto.submit(ChallengePlay())
    auto.rest(2.0)
    auto.lay(HORN, FARM)
    assert auto.rest(6.5).notices == ()
    auto.lay(HORN, FARM, HAT)
    auto.rest(6.5)
    assert found(auto)[-2:] == [(0, "FA.M"), (1, ".AT")]


def test_misread_withdrawn_tile_with_a_corrected_letter_is_no_play_of_the_next_player() -> None:
    with open_table(words=None) as table:
        table.lay(HORN)
        table.rest(6.5)
        table.lay(("HORNZ", 7, 5, True))
        table.rest(6.5)
        table.submit(CorrectSquare("J8", "S"))
        turns = table.submit(DecideChallenge(True)).turns
        table.table.covered = True
        table.rest(1.0)
        table.table.covered = False
        state = table.rest(20.0)
        assert state.turns == turns and [notice.key for notice in state.notices] == ["take-off"]


def test_misread_withdrawn_tile_that_is_corrected_after_it_was_withdrawn_is_no_play_of_the_next_player(
    auto: SteppedTable,
) -> None:
    auto.submit(StartGame(replace(STARTED, rules=replace(STANDARD_RULES, challenge=ChallengeRule.VOID))))
    auto.lay(HORN)
    auto.rest(6.5)
    auto.lay(("HORNZ", 7, 5, True))
    auto.rest(6.5)
    turns = auto.submit(CorrectSquare("J8", "S")).turns
    assert [(turn.kind, turn.word) for turn in turns[1:]] == [("play", "....S"), ("withdrawn", "....S")]
    auto.table.covered = True
    auto.rest(1.0)
    auto.table.covered = False
    assert auto.rest(20.0).turns == turns


def test_turn_ends_after_a_press_that_showed_that_withdrawn_tiles_are_gone(auto: SteppedTable) -> None:
    auto.lay(HORN)
    auto.rest(6.5)
    auto.lay(HORN, HAT)
    auto.rest(6.5)
    auto.submit(ChallengePlay())
    auto.lay(HORN, FARM)
    auto.submit(EndTurn())
    auto.lay(HORN, FARM, HAT)
    auto.rest(6.5)
    assert found(auto)[-2:] == [(0, "FA.M"), (1, ".AT")]


def test_pause_starts_the_wait_again(auto: SteppedTable) -> None:
    auto.lay(HORN)
    auto.rest(3.0)
    auto.submit(Pause())
    assert auto.rest(20.0).phase is Phase.PAUSED
    auto.submit(EndPause())
    assert auto.rest(4.0).turns == ()
    auto.rest(3.0)
    assert found(auto) == [(0, "HORN")]


def test_proposal_ends_no_turn(proposing: SteppedTable) -> None:
    proposing.lay(HORN)
    assert proposing.rest(WAIT_S).sight is Sight.READY
    state = proposing.rest(20.0)
    assert state.sight is Sight.TURN_OVER and state.turns == ()


def test_press_accepts_the_proposal(proposing: SteppedTable) -> None:
    proposing.lay(HORN)
    proposing.rest(8.0)
    state = proposing.submit(EndTurn())
    assert [turn.word for turn in state.turns] == ["HORN"] and state.sight is Sight.READY


def test_movement_withdraws_the_proposal_until_the_next_rest(proposing: SteppedTable) -> None:
    proposing.lay(HORN)
    proposing.rest(8.0)
    assert isinstance(proposing.table, RuledTable)
    proposing.table.covered = True
    proposing.rest(0.3)  # the camera is looked at every 0.2 s
    proposing.table.covered = False
    proposing.rest(1.0)
    assert proposing.session.state.sight is not Sight.TURN_OVER
    proposing.rest(6.0)
    assert proposing.session.state.sight is Sight.TURN_OVER


@pytest.mark.parametrize("word", ["HORN", "HXRN"])
@pytest.mark.parametrize("words", [None, WORDS])
def test_word_list_does_not_matter(word: str, words: WordList | None) -> None:
    times = []
    with open_table(ends=False, words=words) as table:
        table.session.add_listener(lambda state: times.append((state.sight, table.time.clock())))
        table.lay((word, 7, 5, True))
        table.rest(8.0)
    proposed = [time for sight, time in times if sight is Sight.TURN_OVER]
    assert proposed[0] == pytest.approx(1.0 + WAIT_S + 0.3, abs=0.1)


def test_session_without_the_setting_waits_for_the_button() -> None:
    with open_stepped_table(RuledTable) as table:
        table.lay(HORN)
        state = table.rest(30.0)
    assert state.turns == () and state.sight is Sight.READY
