"""Players pass, challenge or end the game while a play is on the board whose turn has not been ended."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from device.session.background.auto_turns import AutoTurnConfig
from device.session.commands.answers import AnswerQuestion, ChooseNextAnswer
from device.session.commands.base import TableCommand
from device.session.commands.challenges import ChallengePlay, DecideChallenge
from device.session.commands.corrections import CorrectSquare
from device.session.commands.games import EndGame, EndPause, Pause, PlayAgain, Undo
from device.session.commands.turns import EndTurn, ExchangeTiles, PassTurn
from device.session.messages import CommandRefusedError
from device.session.snapshot import Phase
from tests.support.engine_table import new_game
from tests.support.stepped_tables import SteppedTable, open_stepped_table
from tests.support.text_table import FARM, HORN, RuledTable

FOXM = ("FOXM", 5, 7, False)


@pytest.fixture(params=["button", "end"])
def table(request: pytest.FixtureRequest) -> Iterator[SteppedTable]:
    config = AutoTurnConfig(ends=True, wait_s=20.0) if request.param == "end" else None
    with open_stepped_table(RuledTable, auto_turns=config) as table:
        yield table


def lay_and_wait(table: SteppedTable, *words: tuple[str, int, int, bool]) -> None:
    """Place words on the board, and wait until it counts as at rest."""
    table.lay(*words)
    table.rest(3.0)


def list_turns(table: SteppedTable) -> list[tuple[int, str]]:
    """Return player and kind of each turn."""
    return [(turn.player, turn.kind) for turn in table.session.state.turns]


@pytest.mark.parametrize("seat", [None, 1])
@pytest.mark.parametrize(("command", "kind"), [(PassTurn(), "pass"), (ExchangeTiles(3), "exchange")])
def test_pass_or_exchange_after_an_unended_play_is_one_of_the_next_player(
    command: TableCommand, kind: str, seat: int | None, table: SteppedTable
) -> None:
    lay_and_wait(table, HORN)
    state = table.submit(command, seat=seat)
    assert list_turns(table) == [(0, "play"), (1, kind)]
    assert "recorded-first" in [notice.key for notice in state.notices]


def test_pass_by_the_player_of_an_unended_play_is_a_pass(table: SteppedTable) -> None:
    lay_and_wait(table, HORN)
    table.submit(PassTurn(), seat=0)
    assert list_turns(table) == [(0, "pass")]


def test_refused_exchange_after_an_unended_play_says_that_the_play_was_recorded(table: SteppedTable) -> None:
    lay_and_wait(table, HORN)
    with pytest.raises(CommandRefusedError):
        table.submit(ExchangeTiles(20))
    assert list_turns(table) == [(0, "play")]
    assert [notice.key for notice in table.session.state.notices] == ["recorded-first"]


def test_end_of_the_game_after_an_unended_play_counts_the_play(table: SteppedTable) -> None:
    lay_and_wait(table, HORN)
    state = table.submit(EndGame(), seat=0)
    assert state.phase is Phase.ENDED and list_turns(table) == [(0, "play")]


def test_play_that_was_taken_back_during_a_pause_does_not_count(table: SteppedTable) -> None:
    lay_and_wait(table, HORN)
    table.submit(Pause())
    table.rest(5.0)
    table.lay()
    table.rest(5.0)
    table.submit(EndPause())
    table.rest(0.3)
    assert table.submit(EndGame()).turns == ()


def test_unended_play_counts_after_a_pause(table: SteppedTable) -> None:
    lay_and_wait(table, HORN)
    table.submit(Pause())
    table.rest(5.0)
    table.submit(EndPause())
    table.rest(0.3)
    table.submit(EndGame())
    assert list_turns(table) == [(0, "play")]


@pytest.mark.parametrize("command", [EndGame(), PlayAgain(new_game().start_event)])
def test_unended_play_counts_at_the_end_of_a_game_in_a_pause(command: TableCommand, table: SteppedTable) -> None:
    lay_and_wait(table, HORN)
    table.submit(EndTurn())
    lay_and_wait(table, HORN, FARM)
    table.submit(Pause())
    table.rest(5.0)
    assert "recorded-first" in [notice.key for notice in table.submit(command).notices]
    table.submit(Undo())
    assert list_turns(table) == [(0, "play"), (1, "play")]


@pytest.mark.parametrize("command", [EndGame(), PlayAgain(new_game().start_event)])
@pytest.mark.parametrize("left", [(HORN,), ()])
def test_play_that_was_taken_back_during_a_pause_does_not_count_at_the_end_of_the_game(
    left: tuple[tuple[str, int, int, bool], ...], command: TableCommand, table: SteppedTable
) -> None:
    lay_and_wait(table, HORN)
    table.submit(EndTurn())
    lay_and_wait(table, HORN, FARM)
    table.submit(Pause())
    table.rest(5.0)
    table.lay(*left)
    table.rest(5.0)
    assert table.submit(command).notices == ()
    table.submit(Undo())
    assert list_turns(table) == [(0, "play")]


def test_next_game_after_an_unended_play_counts_the_play(table: SteppedTable) -> None:
    lay_and_wait(table, HORN)
    table.submit(PlayAgain(new_game().start_event))
    assert list_turns(table) == []
    table.submit(Undo())
    assert list_turns(table) == [(0, "play")]


def test_pass_after_a_first_word_that_was_placed_before_a_new_game_is_one_of_the_next_player(
    table: SteppedTable,
) -> None:
    lay_and_wait(table, HORN)
    table.submit(EndTurn())
    lay_and_wait(table)
    lay_and_wait(table, FARM)
    table.submit(PlayAgain(new_game().start_event))
    table.rest(3.0)
    table.submit(PassTurn())
    assert list_turns(table) == [(1, "play"), (0, "pass")]


def test_unended_play_counts_after_an_undone_new_game(table: SteppedTable) -> None:
    lay_and_wait(table, HORN)
    table.submit(EndTurn())
    table.submit(Pause())
    lay_and_wait(table, HORN, FARM)
    table.submit(PlayAgain(new_game().start_event))
    table.rest(3.0)
    table.submit(Undo())
    table.submit(EndPause())
    table.rest(1.0)
    table.submit(PassTurn())
    assert list_turns(table) == [(0, "play"), (1, "play"), (0, "pass")]


def test_challenge_after_an_unended_play_is_about_that_play(table: SteppedTable) -> None:
    lay_and_wait(table, HORN)
    table.submit(EndTurn())
    lay_and_wait(table, HORN, FOXM)
    table.submit(ChallengePlay())
    assert list_turns(table) == [(0, "play"), (1, "play"), (1, "withdrawn")]


def test_challenge_by_the_player_of_an_unended_play_is_about_the_play_before(table: SteppedTable) -> None:
    lay_and_wait(table, HORN)
    table.submit(EndTurn())
    lay_and_wait(table, HORN, FARM)
    last = table.submit(ChallengePlay(), seat=1).turns[-1]
    assert (last.player, last.kind, last.by) == (0, "challenge", 1)


def test_pass_under_a_hand_records_no_play(table: SteppedTable) -> None:
    lay_and_wait(table, HORN)
    table.lay()
    table.rest(0.2)
    table.submit(PassTurn())
    assert list_turns(table) == [(0, "pass")]


def test_pass_after_an_undone_play_is_a_pass(table: SteppedTable) -> None:
    lay_and_wait(table, HORN)
    table.submit(EndTurn())
    table.submit(Undo())
    table.submit(PassTurn())
    assert list_turns(table) == [(0, "pass")]


@pytest.mark.parametrize(
    ("command", "seat", "last"),
    [
        (EndGame(), None, (1, "play")),
        (PassTurn(), None, (0, "pass")),
        (PassTurn(), 0, (0, "pass")),
    ],
)
def test_two_unended_plays_are_recorded_in_their_order(
    command: TableCommand, seat: int | None, last: tuple[int, str]
) -> None:
    with open_stepped_table(RuledTable) as table:
        lay_and_wait(table, HORN)
        lay_and_wait(table, HORN, FARM)
        state = table.submit(command, seat=seat)
        assert [(turn.player, turn.word) for turn in state.turns[:2]] == [(0, "HORN"), (1, "FA.M")]
        assert list_turns(table)[-1] == last
        assert {"two-turns", "recorded-first"} <= {notice.key for notice in state.notices}


def test_challenge_after_two_unended_plays_is_about_the_second() -> None:
    with open_stepped_table(RuledTable) as table:
        lay_and_wait(table, HORN)
        table.submit(EndTurn())
        lay_and_wait(table, HORN, FARM)
        lay_and_wait(table, HORN, FARM, ("NOXM", 7, 8, False))
        table.submit(ChallengePlay())
        assert list_turns(table) == [(0, "play"), (1, "play"), (0, "play"), (0, "withdrawn")]


@pytest.mark.parametrize(("command", "kind"), [(PassTurn(), "pass"), (ExchangeTiles(3), "exchange")])
def test_pass_or_exchange_while_the_table_asks_about_a_pass_may_be_the_answer(
    command: TableCommand, kind: str, table: SteppedTable
) -> None:
    lay_and_wait(table, HORN)
    table.submit(EndTurn())
    table.rest(2.0)
    asked = table.submit(EndTurn()).question
    assert asked is not None and asked.is_about_pass
    state = table.submit(command)
    assert state.question is not None and state.question.key == "which-of-these"
    assert list_turns(table) == [(0, "play"), (1, "pass"), (0, kind)]
    table.submit(AnswerQuestion(1))
    assert list_turns(table) == [(0, "play"), (1, kind)]


def test_pass_after_an_exchange_was_chosen_at_the_panel_is_the_next_players(table: SteppedTable) -> None:
    lay_and_wait(table, HORN)
    table.submit(EndTurn())
    table.rest(2.0)
    table.submit(EndTurn())
    table.submit(ChooseNextAnswer())
    table.submit(PassTurn())
    assert list_turns(table) == [(0, "play"), (1, "exchange"), (0, "pass")]


def test_pass_with_the_own_button_of_the_next_player_follows_a_pass_that_is_asked_about(table: SteppedTable) -> None:
    lay_and_wait(table, HORN)
    table.submit(EndTurn())
    table.rest(2.0)
    table.submit(EndTurn(), seat=1)
    table.submit(PassTurn(), seat=0)
    assert list_turns(table) == [(0, "play"), (1, "pass"), (0, "pass")]


def test_pass_with_tiles_that_are_no_play_is_a_pass(table: SteppedTable) -> None:
    lay_and_wait(table, ("HORN", 0, 0, True))
    table.submit(PassTurn())
    assert list_turns(table) == [(0, "pass")]


def test_pass_with_the_tiles_of_a_withdrawn_play_is_a_pass(table: SteppedTable) -> None:
    lay_and_wait(table, HORN)
    table.submit(EndTurn())
    lay_and_wait(table, HORN, FOXM)
    table.submit(EndTurn())
    table.submit(ChallengePlay(), seat=0)
    table.rest(3.0)
    table.submit(PassTurn())
    assert list_turns(table)[2:] == [(1, "withdrawn"), (0, "pass")]


@pytest.mark.parametrize("wait_s", [0.5, 8.0])
def test_pass_after_an_unended_play_where_tiles_were_taken_back_before_the_challenge(
    wait_s: float, table: SteppedTable
) -> None:
    """Ben takes HAT off and Anna challenges it then; her own word is on the same squares when Ben passes."""
    lay_and_wait(table, HORN)
    table.submit(EndTurn())
    lay_and_wait(table, HORN, ("HAT", 7, 5, False))
    table.submit(EndTurn())
    table.lay(HORN)
    table.rest(wait_s)
    state = table.submit(ChallengePlay(), seat=0)
    assert [turn.kind for turn in state.turns] == ["play", "play", "withdrawn"]
    assert table.rest(8.0).notices == ()
    lay_and_wait(table, HORN, ("HEM", 7, 5, False))
    table.submit(PassTurn())
    assert list_turns(table)[3:] == [(0, "play"), (1, "pass")]


@pytest.mark.parametrize("next_play", [FARM, ("RED", 7, 7, False)])
@pytest.mark.parametrize(
    ("command", "rest_s", "later"), [(PassTurn(), 3.0, [(1, "pass")]), (EndGame(), 0.2, []), (EndGame(), 3.0, [])]
)
def test_next_play_on_the_squares_of_a_withdrawn_play_is_recorded_first(
    next_play: tuple[str, int, int, bool],
    command: TableCommand,
    rest_s: float,
    later: list[tuple[int, str]],
    table: SteppedTable,
) -> None:
    lay_and_wait(table, HORN)
    table.submit(EndTurn())
    lay_and_wait(table, HORN, ("GORP", 5, 7, False))
    table.submit(EndTurn())
    table.submit(ChallengePlay())
    table.rest(2.0)
    table.lay(HORN, next_play)
    table.rest(rest_s)
    table.submit(command)
    assert list_turns(table)[2:] == [(1, "withdrawn"), (0, "play"), *later]


def test_misread_withdrawn_tile_with_a_corrected_letter_is_not_recorded_before_a_pass(table: SteppedTable) -> None:
    lay_and_wait(table, HORN)
    table.submit(EndTurn())
    lay_and_wait(table, ("HORNZ", 7, 5, True))
    table.submit(EndTurn())
    table.submit(CorrectSquare("J8", "S"))
    table.submit(DecideChallenge(True))
    table.table.covered = True
    table.rest(1.0)
    table.table.covered = False
    table.rest(3.0)
    table.submit(PassTurn())
    assert list_turns(table)[2:] == [(1, "withdrawn"), (0, "pass")]


@pytest.mark.parametrize("rest_s", [0.0, 0.3, 1.0])
def test_end_of_the_game_just_after_a_play_records_it_first(table: SteppedTable, rest_s: float) -> None:
    lay_and_wait(table, HORN)
    table.submit(EndTurn())
    table.rest(2.0)
    table.lay(HORN, FARM)
    table.rest(rest_s)
    state = table.submit(EndGame())
    assert [player.total for player in state.players] == [14, 9]
    assert "recorded-first" in [notice.key for notice in state.notices] and state.phase is Phase.ENDED


def test_challenge_just_after_a_play_is_about_this_play(table: SteppedTable) -> None:
    lay_and_wait(table, HORN)
    table.submit(EndTurn())
    table.rest(2.0)
    table.lay(HORN, FOXM)
    table.rest(0.3)
    table.submit(ChallengePlay())
    assert list_turns(table) == [(0, "play"), (1, "play"), (1, "withdrawn")]


def test_game_ends_under_a_hand(table: SteppedTable) -> None:
    lay_and_wait(table, HORN)
    table.submit(EndTurn())
    table.table.covered = True
    table.rest(0.3)
    assert table.submit(EndGame()).phase is Phase.ENDED


def test_game_ends_without_a_camera(table: SteppedTable) -> None:
    lay_and_wait(table, HORN)
    table.submit(EndTurn())
    table.lay(HORN, FARM)
    table.rest(0.3)
    table.table.trouble = "camera fault"
    assert table.submit(EndGame()).phase is Phase.ENDED


def test_end_of_the_game_after_two_plays_in_one_movement_says_that_they_are_not_recorded(table: SteppedTable) -> None:
    lay_and_wait(table, HORN, FARM)
    state = table.submit(EndGame())
    assert state.phase is Phase.ENDED and list_turns(table) == []
    assert "play-unrecorded" in [notice.key for notice in state.notices]


def test_end_of_the_game_with_a_hand_on_the_last_play_says_that_a_play_may_be_missing(table: SteppedTable) -> None:
    lay_and_wait(table, HORN)
    table.submit(EndTurn())
    lay_and_wait(table, HORN)
    table.lay(HORN, FARM)
    table.table.hidden = [frozenset((row, 7) for row in range(5, 9))] * 1000
    state = table.submit(EndGame())
    assert "play-unrecorded" in [notice.key for notice in state.notices]
