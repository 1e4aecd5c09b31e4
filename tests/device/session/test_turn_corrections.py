"""Recorded turns are put right: player, score, word and kind, a play with its withdrawal or its challenge."""

from __future__ import annotations

import pytest

from device.session.commands.challenges import ChallengePlay
from device.session.commands.corrections import CorrectSquare, RevealRack
from device.session.commands.games import EndGame, StartGame, Undo
from device.session.commands.turn_corrections import CorrectTurn, InsertTurn
from device.session.commands.turns import PassTurn
from device.session.messages import CommandRefusedError
from device.session.snapshot import Phase
from device.session.table_session import TableSession
from engine.events import GameStarted
from engine.gcg import build_record
from engine.rules import ChallengeRule, Rules
from tests.support.questions import answer
from tests.support.text_table import FARM, HORN, PASTE, TextTable, play, totals
from tests.support.waiting import PATIENCE_S

# Turns put right


def test_player_of_a_turn_is_corrected(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    state = playing.submit(CorrectTurn(1, player=1)).result(PATIENCE_S)
    assert (totals(state), state.turn_of) == ([0, 14], 0)


def test_score_of_a_turn_is_corrected(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    assert totals(playing.submit(CorrectTurn(1, score=99)).result(PATIENCE_S)) == [99, 0]


def test_corrected_word_changes_later_turns(playing: TableSession, table: TextTable) -> None:
    play(playing, table, ("HOTN", 7, 5, True))
    state = playing.submit(CorrectTurn(1, at="8F", word="HORN")).result(PATIENCE_S)
    assert state.turns[0].word == "HORN"
    assert play(playing, table, HORN, FARM).turns[-1].score == 9


@pytest.mark.parametrize(
    ("correction", "expected"),
    [(CorrectTurn(1, word="HORSE"), ("8F", "HORSE")), (CorrectTurn(1, at="8G"), ("8G", "HORN"))],
    ids=["word", "square"],
)
def test_word_or_square_that_is_left_out_keeps_its_value(
    playing: TableSession, table: TextTable, correction: CorrectTurn, expected: tuple[str, str]
) -> None:
    play(playing, table, HORN)
    turn = playing.submit(correction).result(PATIENCE_S).turns[0]
    assert (turn.at, turn.word) == expected


def test_play_becomes_an_exchange_and_back(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    state = playing.submit(CorrectTurn(1, kind="exchange", count=3)).result(PATIENCE_S)
    assert state.turns[0].kind == "exchange" and totals(state) == [0, 0]
    state = playing.submit(CorrectTurn(1, kind="play", at="8F", word="HORN")).result(PATIENCE_S)
    assert totals(state) == [14, 0]


def test_turn_that_was_never_played_is_removed(playing: TableSession) -> None:
    playing.submit(PassTurn()).result(PATIENCE_S)
    state = playing.submit(CorrectTurn(1, kind="none")).result(PATIENCE_S)
    assert state.turns == () and state.turn_of == 0


def test_forgotten_turn_is_put_between(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    playing.submit(InsertTurn(1, kind="pass", player=1)).result(PATIENCE_S)
    assert [(turn.player, turn.kind) for turn in playing.state.turns] == [(1, "pass"), (0, "play")]


def test_turn_inserted_without_a_player_is_that_of_the_player_whose_turn_it_was(
    session: TableSession, table: TextTable
) -> None:
    session.submit(StartGame(GameStarted(("Anna", "Ben", "Cem")))).result(PATIENCE_S)
    for words in ((HORN,), (HORN, FARM)):
        play(session, table, *words)
    state = session.submit(InsertTurn(2, kind="pass")).result(PATIENCE_S)
    assert [(turn.player, turn.kind) for turn in state.turns] == [(0, "play"), (1, "pass"), (2, "play")]


def test_later_turns_move_to_the_players_who_are_due_after_a_forgotten_pass(
    playing: TableSession, table: TextTable
) -> None:
    for words in ((HORN,), (HORN, FARM), (HORN, FARM, PASTE)):
        state = play(playing, table, *words)
    assert totals(state) == [39, 9]
    state = playing.submit(InsertTurn(2, kind="pass")).result(PATIENCE_S)
    assert totals(state) == [23, 25] and [turn.player for turn in state.turns] == [0, 1, 0, 1]


def test_later_turns_move_to_the_players_who_were_due_without_a_pass_by_mistake(
    playing: TableSession, table: TextTable
) -> None:
    for words in ((HORN,), (HORN,), (HORN, FARM), (HORN, FARM, PASTE)):
        state = play(playing, table, *words)
    assert totals(state) == [23, 25]
    state = playing.submit(CorrectTurn(2, kind="none")).result(PATIENCE_S)
    assert totals(state) == [39, 9] and [turn.player for turn in state.turns] == [0, 1, 0]


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


def test_three_of_the_sheet_by_hand_are_as_by_camera(playing: TableSession) -> None:
    for number, (at, word) in enumerate((("8F", "HORN"), ("H6", "FA.M"), ("10F", "PASTE")), start=1):
        state = playing.submit(InsertTurn(number, at=at, word=word)).result(PATIENCE_S)
    assert totals(state) == [39, 9]
    assert PASTE[0] in str(state.turns[-1].word)


# Points without a play


@pytest.fixture
def clubs_game(session: TableSession, table: TextTable) -> TableSession:
    """Return a session after HORN and FARM, in a club where a failed challenge costs 5 points."""
    rules = Rules(challenge=ChallengeRule.POINTS, challenge_points=5)
    session.submit(StartGame(GameStarted(("Anna", "Ben"), rules))).result(PATIENCE_S)
    play(session, table, HORN), play(session, table, HORN, FARM)
    return session


def test_failed_challenge_is_entered_afterwards(clubs_game: TableSession) -> None:
    state = clubs_game.submit(InsertTurn(2, kind="challenge")).result(PATIENCE_S)
    assert [(turn.kind, turn.target) for turn in state.turns] == [("play", None), ("challenge", 1), ("play", None)]
    assert totals(state) == [14 + 5, 9] and state.turn_of == 0


@pytest.mark.parametrize(("kind", "score", "total"), [("penalty", -10, 4), ("bonus", 25, 39)])
def test_penalty_and_bonus_are_lines_without_a_turn(
    clubs_game: TableSession, kind: str, score: int, total: int
) -> None:
    state = clubs_game.submit(InsertTurn(3, player=0, kind=kind, score=score)).result(PATIENCE_S)
    assert totals(state) == [total, 9] and state.turn_of == 0
    assert [(turn.kind, turn.player, turn.score) for turn in state.turns[2:]] == [(kind, 0, score)]


@pytest.mark.parametrize(
    "line",
    [InsertTurn(2, kind="challenge"), InsertTurn(2, player=0, kind="penalty", score=-10)],
    ids=["challenge", "penalty"],
)
def test_line_without_a_turn_is_changed_and_removed(clubs_game: TableSession, line: InsertTurn) -> None:
    clubs_game.submit(line).result(PATIENCE_S)
    assert totals(clubs_game.submit(CorrectTurn(2, score=7)).result(PATIENCE_S)) == [14 + 7, 9]
    state = clubs_game.submit(CorrectTurn(2, kind="none")).result(PATIENCE_S)
    assert [turn.kind for turn in state.turns] == ["play", "play"] and totals(state) == [14, 9]


def test_time_penalty_is_entered_after_the_end(clubs_game: TableSession) -> None:
    clubs_game.submit(EndGame()).result(PATIENCE_S)
    for player, letter in enumerate("AE"):
        clubs_game.submit(RevealRack(player, letter)).result(PATIENCE_S)
    state = clubs_game.submit(InsertTurn(3, player=1, kind="penalty", score=-10)).result(PATIENCE_S)
    assert totals(state) == [14 - 1, 9 - 1 - 10] and state.phase is Phase.ENDED


def test_late_challenge_and_penalty_of_a_running_game_are_lines_of_its_export(clubs_game: TableSession) -> None:
    clubs_game.submit(InsertTurn(3, at="I7", word="T.O")).result(PATIENCE_S)
    clubs_game.submit(InsertTurn(3, player=0, kind="challenge")).result(PATIENCE_S)
    state = clubs_game.submit(InsertTurn(5, player=0, kind="penalty", score=-20)).result(PATIENCE_S)
    assert [turn.kind for turn in state.turns] == ["play", "play", "challenge", "play", "penalty"]
    plays = [turn.score for turn in state.turns if turn.kind == "play"]
    exported = build_record(clubs_game._controller.game)
    assert [(entry.kind.value, entry.player, entry.score, entry.total) for entry in exported.entries] == [
        ("play", 0, 14, 14), ("play", 1, 9, 9), ("challenge", 1, 5, 14), ("play", 0, plays[2], 14 + plays[2]),
        ("time", 0, -20, 14 + plays[2] - 20),
    ]  # fmt: skip
    for number in (5, 3):
        state = clubs_game.submit(CorrectTurn(number, kind="none")).result(PATIENCE_S)
    assert totals(state) == [14 + plays[2], 9]


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


@pytest.mark.parametrize("turn", [CorrectTurn(1, kind="pass"), CorrectTurn(1, kind="exchange", count=3)])
def test_corrected_score_stays_with_a_turn_without_tiles(
    playing: TableSession, table: TextTable, turn: CorrectTurn
) -> None:
    play(playing, table, HORN)
    for correction in (turn, CorrectTurn(1, score=-5), CorrectTurn(1, player=1)):
        state = playing.submit(correction).result(PATIENCE_S)
    assert totals(state) == [0, -5]


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


def test_challenge_stays_with_a_corrected_play(challenged: TableSession) -> None:
    state = challenged.submit(CorrectTurn(2, at="H6", word="FA.MS")).result(PATIENCE_S)
    assert [(turn.kind, turn.target) for turn in state.turns[1:]] == [("play", None), ("challenge", 2)]


def test_challenger_who_gets_the_play_changes_places_with_its_player(
    challenged: TableSession, table: TextTable
) -> None:
    state = challenged.submit(CorrectTurn(2, player=0)).result(PATIENCE_S)
    assert [(turn.player, turn.by) for turn in state.turns if turn.kind == "challenge"] == [(0, 1)]
    assert state.turn_of == 0, "Ben's challenge failed, and he loses the turn after that of Anna"
    assert play(challenged, table, HORN, FARM, PASTE).turn_of == 1


def test_score_entered_for_a_challenge_is_kept_if_its_players_change_places(challenged: TableSession) -> None:
    challenged.submit(CorrectTurn(3, score=-5)).result(PATIENCE_S)
    state = challenged.submit(CorrectTurn(2, player=0)).result(PATIENCE_S)
    assert [(turn.player, turn.score) for turn in state.turns if turn.kind == "challenge"] == [(0, -5)]


@pytest.mark.parametrize("turn", [InsertTurn(3, at="10F", word="PASTE"), InsertTurn(3, kind="pass")])
def test_turn_between_a_play_and_its_challenge_leaves_the_challenge_with_the_play(
    challenged: TableSession, turn: InsertTurn
) -> None:
    state = challenged.submit(turn).result(PATIENCE_S)
    assert [(turn.kind, turn.target) for turn in state.turns if turn.kind == "challenge"] == [("challenge", 2)]
    assert len(state.turns) == 4


def test_play_between_a_play_of_the_same_player_and_its_withdrawal_stands(
    playing: TableSession, table: TextTable
) -> None:
    play(playing, table, HORN), play(playing, table, HORN, FARM), play(playing, table, HORN, FARM, PASTE)
    assert totals(play(playing, table, HORN, FARM)) == [14, 9]
    state = playing.submit(InsertTurn(4, at="11E", word="BIT", player=0)).result(PATIENCE_S)
    assert [turn.stands for turn in state.turns] == [True, True, False, True, True]


@pytest.fixture
def withdrawn(playing: TableSession, table: TextTable) -> TableSession:
    """Return a session in which Anna took back PASTE after a pass of Ben and one of her own; HORN and FARM count."""
    play(playing, table, HORN), play(playing, table, HORN, FARM), play(playing, table, HORN, FARM, PASTE)
    for _ in range(2):
        playing.submit(PassTurn()).result(PATIENCE_S)
    state = play(playing, table, HORN, FARM)
    if state.question:
        state = answer(playing, state.question.answers[0])
    assert [turn.kind for turn in state.turns[2:]] == ["play", "pass", "pass", "withdrawn"]
    return playing


@pytest.mark.parametrize(
    "correction",
    [
        CorrectTurn(5, kind="play", at="11E", word="BIT"),
        CorrectTurn(4, kind="play", player=0, at="11E", word="BIT"),
        CorrectTurn(4, kind="play", at="11E", word="BIT"),
    ],
    ids=["pass", "pass given to the player", "pass of the opponent"],
)
def test_withdrawal_stays_with_its_play_after_a_correction_of_a_turn_between_them(
    withdrawn: TableSession, correction: CorrectTurn
) -> None:
    state = withdrawn.submit(correction).result(PATIENCE_S)
    assert [turn.target for turn in state.turns if turn.kind == "withdrawn"] == [3]


def test_pass_that_is_given_to_the_other_player_has_a_problem_if_that_player_moves_twice(
    playing: TableSession, table: TextTable
) -> None:
    play(playing, table, HORN)
    playing.submit(PassTurn()).result(PATIENCE_S)
    state = playing.submit(CorrectTurn(2, player=0)).result(PATIENCE_S)
    assert [turn.player for turn in state.turns] == [0, 0] and state.turns[1].problems
