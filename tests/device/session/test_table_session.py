"""The session: from a pressed button to a confirmed turn that everybody was told of."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from device.session.commands.corrections import CorrectSquare, InsertTurn, NameBlank, RevealRack
from device.session.commands.games import EndGame, StartGame, Undo
from device.session.commands.questions import AnswerQuestion
from device.session.commands.turns import ChallengePlay, DecideChallenge, EndTurn, ExchangeTiles, PassTurn
from device.session.messages import Notice, Trouble
from device.session.snapshot import Moment, Phase
from device.session.table_session import CommandRefusedError, TableSession
from device.storage.store import GameStore
from engine.events import GameStarted
from engine.lexicon import Lexicon
from engine.reading import BoardReading, SquareReading
from engine.rules import PRESETS, STANDARD_RULES, ChallengeRule
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


def test_challenge_takes_an_invalid_play_back(playing: TableSession, table: TextTable) -> None:
    play(playing, table, ("HRON", 7, 5, True))
    state = playing.submit(ChallengePlay()).result(PATIENCE_S)
    assert [(t.kind, t.score) for t in state.turns] == [("play", 14), ("withdrawn", -14)]
    assert state.players[0].total == 0 and state.turn_of == 1
    assert "take the tiles off" in state.notices[0].text
    state = play(playing, table, ("HRON", 7, 5, True))
    assert "still on the board" in state.notices[0].text and len(state.turns) == 2
    state = play(playing, table, FARM)
    assert (state.turns[-1].player, state.turns[-1].at, state.turns[-1].score) == (1, "H6", 18)


def test_next_player_may_cover_the_squares_of_a_play_challenged_off(playing: TableSession, table: TextTable) -> None:
    play(playing, table, ("HRON", 7, 5, True))
    playing.submit(ChallengePlay()).result(PATIENCE_S)
    state = play(playing, table, ("FARM", 7, 5, True))
    assert state.question is None and state.notices == ()
    assert [(t.player, t.at, t.score) for t in state.turns if t.stands and t.word] == [(0, "8F", -14), (1, "8F", 18)]


def test_challenge_of_valid_words_fails(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    state = playing.submit(ChallengePlay()).result(PATIENCE_S)
    assert state.players[0].total == 14 and "failed" in state.notices[0].text


def test_challenger_in_vain_is_asked_for_where_several_may_have_been(session: TableSession, table: TextTable) -> None:
    session.submit(StartGame(GameStarted(("Anna", "Ben", "Cleo"), lexicon="test"))).result(PATIENCE_S)
    play(session, table, HORN)
    state = session.submit(ChallengePlay()).result(PATIENCE_S)
    assert state.question is not None and state.question.key == "who-challenged"
    assert state.question.answers == ("Ben", "Cleo") and state.turn_of == 2, "Ben has the turn, and it counts meanwhile"
    state = session.submit(AnswerQuestion(1)).result(PATIENCE_S)
    assert state.question is None and state.turn_of == 1
    assert play(session, table, HORN, FARM).turn_of == 0, "Cleo loses the next turn (rule 8)"
    session.submit(Undo()).result(PATIENCE_S)
    assert len(session.submit(Undo()).result(PATIENCE_S).turns) == 1, "challenge and answer are one press"


@pytest.mark.parametrize(
    ("rule", "key"), [("points", "who-challenged-pays"), ("double", "who-challenged"), ("single", None)]
)
def test_challenger_who_pays_is_asked_for_where_there_are_points_to_pay(
    session: TableSession, table: TextTable, rule: str, key: str | None
) -> None:
    rules = replace(STANDARD_RULES, challenge=ChallengeRule(rule), challenge_points=5, challenger_pays=True)
    session.submit(StartGame(GameStarted(("Anna", "Ben", "Cleo"), lexicon="test", rules=rules))).result(PATIENCE_S)
    play(session, table, HORN)
    question = session.submit(ChallengePlay()).result(PATIENCE_S).question
    assert (question.key if question else None) == key


def test_next_player_has_challenged_where_nobody_says_otherwise(session: TableSession, table: TextTable) -> None:
    session.submit(StartGame(GameStarted(("Anna", "Ben", "Cleo"), lexicon="test"))).result(PATIENCE_S)
    play(session, table, HORN)
    session.submit(ChallengePlay()).result(PATIENCE_S)
    state = play(session, table, HORN, FARM)
    assert state.question is None and [(t.kind, t.player) for t in state.turns][-1] == ("play", 2)


@pytest.mark.parametrize("players", [("Anna", "Ben"), ("Anna", "Ben", "Cleo")])
@pytest.mark.parametrize("rule", ["single", "points", "double"])
def test_challenger_is_not_asked_for_where_nothing_hangs_on_it(
    session: TableSession, table: TextTable, players: tuple[str, ...], rule: str
) -> None:
    rules = replace(STANDARD_RULES, challenge=ChallengeRule(rule), challenge_points=5 if rule == "points" else 0)
    session.submit(StartGame(GameStarted(players, lexicon="test", rules=rules))).result(PATIENCE_S)
    play(session, table, HORN)
    assert (session.submit(ChallengePlay()).result(PATIENCE_S).question is not None) == (
        rule == "double" and len(players) > 2
    )


def test_challenger_of_a_good_play_is_part_of_what_people_decide(table: TextTable, path: Path) -> None:
    with GameStore(path) as store, TableSession(table, table, store) as session:
        session.submit(StartGame(GameStarted(("Anna", "Ben", "Cleo")))).result(PATIENCE_S)
        play(session, table, HORN)
        asked = session.submit(ChallengePlay()).result(PATIENCE_S).question
        assert asked is not None and asked.answers[2:] == (
            "Yes: the challenge by Ben failed.",
            "Yes: the challenge by Cleo failed.",
        )
        assert session.submit(AnswerQuestion(3)).result(PATIENCE_S).turn_of == 1
        assert play(session, table, HORN, FARM).turn_of == 0


def test_words_are_not_checked_without_a_list(table: TextTable, path: Path) -> None:
    with GameStore(path) as store, TableSession(table, table, store) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        state = play(session, table, ("HRON", 7, 5, True))
        assert state.turns[0].words[0].valid is None and not state.words_checked


@pytest.mark.parametrize(("answer", "totals", "turn_of"), [(1, [0, 0], 1), (2, [14, 0], 0)], ids=["no", "yes"])
def test_people_decide_a_challenge_where_no_list_does(
    table: TextTable, path: Path, answer: int, totals: list[int], turn_of: int
) -> None:
    with GameStore(path) as store, TableSession(table, table, store) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        play(session, table, ("HRON", 7, 5, True))
        asked = session.submit(ChallengePlay()).result(PATIENCE_S)
        assert asked.question is not None and asked.question.text == "Words of this play: HRON. Is it valid?"
        assert asked.question.answers[1] == "No: Anna takes the tiles back." and len(asked.turns) == 1
        state = session.submit(AnswerQuestion(answer)).result(PATIENCE_S)
        assert ([p.total for p in state.players], state.turn_of) == (totals, turn_of)
        assert state.question is None
        assert session.submit(Undo()).result(PATIENCE_S).turns == asked.turns  # they look again


def test_list_that_only_advises_marks_no_word_as_invalid_and_decides_no_challenge(table: TextTable, path: Path) -> None:
    words = replace(Lexicon.from_words("system", ["horn"]), is_authoritative=False)
    with GameStore(path) as store, TableSession(table, table, store, words) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        state = play(session, table, ("HRON", 7, 5, True))
        assert state.lexicon_advises and state.turns[0].invalid_words == ()
        assert state.turns[0].unlisted_words == ("HRON",) and state.turns[0].words[0].valid is None
        assert session.submit(ChallengePlay()).result(PATIENCE_S).question is not None


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("HORN", "The word list has HORN. Is this play valid?"),
        ("HRON", "Words of this play: HRON. The word list does not have HRON. Is the play valid?"),
    ],
)
def test_list_that_the_players_did_not_choose_gives_only_its_opinion(
    session: TableSession, table: TextTable, word: str, text: str
) -> None:
    session.submit(StartGame(replace(STARTED, rules=replace(STANDARD_RULES, list_decides=False)))).result(PATIENCE_S)
    play(session, table, (word, 7, 5, True))
    state = session.submit(ChallengePlay()).result(PATIENCE_S)
    assert state.question is not None and state.question.text == text
    assert len(state.turns) == 1


def test_undo_cancels_a_challenge_that_the_players_decide(session: TableSession, table: TextTable) -> None:
    session.submit(StartGame(replace(STARTED, rules=replace(STANDARD_RULES, list_decides=False)))).result(PATIENCE_S)
    play(session, table, HORN)
    session.submit(ChallengePlay()).result(PATIENCE_S)
    state = session.submit(Undo()).result(PATIENCE_S)
    assert state.question is None and [turn.kind for turn in state.turns] == ["play"]
    assert session.submit(Undo()).result(PATIENCE_S).turns == ()


def test_play_that_the_list_withdraws_counts_if_the_players_overrule_it(
    playing: TableSession, table: TextTable
) -> None:
    play(playing, table, ("HRON", 7, 5, True))
    assert playing.submit(ChallengePlay()).result(PATIENCE_S).turns[-1].kind == "withdrawn"
    state = playing.submit(DecideChallenge(upheld=False)).result(PATIENCE_S)
    assert [turn.kind for turn in state.turns] == ["play", "challenge"] and state.turns[-1].by == 1
    assert [player.total for player in state.players] == [14, 0] and state.turn_of == 0
    assert "The play of Anna counts" in state.notices[0].text
    assert [turn.kind for turn in playing.submit(Undo()).result(PATIENCE_S).turns] == ["play"], "one press"


def test_play_that_the_list_accepts_is_withdrawn_if_the_players_overrule_it(
    playing: TableSession, table: TextTable
) -> None:
    play(playing, table, HORN)
    assert playing.submit(ChallengePlay()).result(PATIENCE_S).turns[-1].kind == "challenge"
    state = playing.submit(DecideChallenge(upheld=True)).result(PATIENCE_S)
    assert [turn.kind for turn in state.turns] == ["play", "withdrawn"] and state.players[0].total == 0
    assert "take the tiles off" in state.notices[0].text
    assert "still on the board" in play(playing, table, HORN).notices[0].text


def test_outcome_of_a_challenge_is_entered_by_hand_with_its_challenger(session: TableSession, table: TextTable) -> None:
    session.submit(StartGame(GameStarted(("Anna", "Ben", "Cleo"), lexicon="test"))).result(PATIENCE_S)
    play(session, table, HORN)
    state = session.submit(DecideChallenge(upheld=False, player=2)).result(PATIENCE_S)
    assert (state.turns[-1].kind, state.turns[-1].by, state.turn_of) == ("challenge", 2, 1)


@pytest.mark.parametrize("upheld", [True, False])
def test_player_of_the_play_cannot_be_the_challenger(playing: TableSession, table: TextTable, upheld: bool) -> None:
    play(playing, table, HORN)
    with pytest.raises(CommandRefusedError, match="Anna made this play") as refused:
        playing.submit(DecideChallenge(upheld, player=0)).result(PATIENCE_S)
    assert refused.value.key == "own-play" and len(playing.state.turns) == 1


def test_play_with_an_invalid_word_does_not_count_without_challenges(session: TableSession, table: TextTable) -> None:
    rules = replace(STANDARD_RULES, challenge=ChallengeRule.VOID)
    session.submit(StartGame(replace(STARTED, rules=rules))).result(PATIENCE_S)
    state = play(session, table, ("HRON", 7, 5, True))
    assert [turn.kind for turn in state.turns] == ["play", "withdrawn"] and state.players[0].total == 0
    assert state.notices[0].text.startswith("The play of Anna does not count: HRON is not in the word list.")
    assert state.turn_of == 1 and "still on the board" in play(session, table, ("HRON", 7, 5, True)).notices[0].text
    state = play(session, table, HORN)
    assert (state.turns[-1].player, state.turns[-1].score) == (1, 14)
    session.submit(Undo()).result(PATIENCE_S)
    assert session.submit(Undo()).result(PATIENCE_S).turns == (), "play and withdrawal are one press"


def test_play_entered_by_hand_does_not_count_with_an_invalid_word(session: TableSession) -> None:
    rules = replace(STANDARD_RULES, challenge=ChallengeRule.VOID)
    session.submit(StartGame(replace(STARTED, rules=rules))).result(PATIENCE_S)
    state = session.submit(InsertTurn(1, at="8F", word="HRON")).result(PATIENCE_S)
    assert [turn.kind for turn in state.turns] == ["play", "withdrawn"] and state.players[0].total == 0


@pytest.mark.parametrize(("answer", "totals"), [(0, [23, 0]), (1, [14, 9])])
def test_invalid_play_does_not_count_without_challenges_if_one_press_ended_two_turns(
    session: TableSession, table: TextTable, answer: int, totals: list[int]
) -> None:
    rules = replace(STANDARD_RULES, challenge=ChallengeRule.VOID)
    session.submit(StartGame(replace(STARTED, rules=rules))).result(PATIENCE_S)
    play(session, table, HORN)
    asked = play(session, table, HORN, FARM, ("NXT", 7, 8, False))
    assert "does not count: NXT is not in the word list" in asked.notices[0].text
    state = session.submit(AnswerQuestion(answer)).result(PATIENCE_S)
    assert [player.total for player in state.players] == totals


def test_tiles_of_an_invalid_play_before_another_turn_are_waited_for(session: TableSession, table: TextTable) -> None:
    rules = replace(STANDARD_RULES, challenge=ChallengeRule.VOID)
    session.submit(StartGame(replace(STARTED, rules=rules))).result(PATIENCE_S)
    play(session, table, HORN)
    play(session, table, HORN, FARM, ("NXT", 7, 8, False))
    turns = session.submit(AnswerQuestion(0)).result(PATIENCE_S).turns
    state = play(session, table, HORN, FARM, ("NXT", 7, 8, False))
    assert state.turns == turns and "still on the board" in state.notices[0].text
    state = play(session, table, HORN, FARM, PASTE)
    assert [(turn.player, turn.word) for turn in state.turns[len(turns) :]] == [(1, "PASTE")]


def test_outcome_without_a_challenge_is_refused(playing: TableSession, table: TextTable) -> None:
    with pytest.raises(CommandRefusedError, match="no play to challenge"):
        playing.submit(DecideChallenge(upheld=True)).result(PATIENCE_S)
    play(playing, table, HORN)
    play(playing, table, HORN, FARM)
    with pytest.raises(CommandRefusedError, match="no player number 4"):
        playing.submit(DecideChallenge(upheld=True, player=3)).result(PATIENCE_S)


def test_undo_takes_back_the_last_turn(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    state = playing.submit(Undo()).result(PATIENCE_S)
    assert state.turns == () and state.turn_of == 0
    with pytest.raises(CommandRefusedError, match="nothing to undo"):
        playing.submit(Undo()).result(PATIENCE_S)


def test_square_is_put_right(playing: TableSession, table: TextTable) -> None:
    play(playing, table, ("HURN", 7, 5, True))
    state = playing.submit(CorrectSquare("G8", "O")).result(PATIENCE_S)
    assert state.turns[0].words[0].text == "HORN"
    with pytest.raises(CommandRefusedError):
        playing.submit(CorrectSquare("Z99", "O")).result(PATIENCE_S)


def test_blank_is_named_by_people(playing: TableSession, table: TextTable) -> None:
    state = play(playing, table, ("F?RM", 7, 5, True))
    assert state.turns[0].words[0].valid is None
    state = playing.submit(NameBlank("G8", "A")).result(PATIENCE_S)
    assert (state.turns[0].words[0].text, state.turns[0].words[0].valid) == ("FARM", True)
    for square, letter in (("F8", "A"), ("G8", "Ä"), ("A1", "A"), ("G88", "A")):
        with pytest.raises(CommandRefusedError):
            playing.submit(NameBlank(square, letter)).result(PATIENCE_S)


def test_live_camera_looks_again_while_there_is_a_doubt(playing: TableSession, table: TextTable) -> None:
    table.live = True
    table.lay(("HO", 7, 5, True), ("N", 12, 12, True))
    table.then = [rows(HORN)]
    state = playing.submit(EndTurn()).result(PATIENCE_S)
    assert table.pictures == 2
    assert state.turns[0].word == "HORN" and state.notices == ()


def test_live_camera_gives_up_after_three_looks(playing: TableSession, table: TextTable) -> None:
    table.live = True
    table.lay(("HO", 7, 5, True), ("N", 12, 12, True))
    state = playing.submit(EndTurn()).result(PATIENCE_S)
    assert table.pictures == 3 and state.question is not None and state.turns == ()


def test_fault_of_our_own_changes_nothing_and_is_said(
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


def test_page_is_told_at_once_that_the_board_is_looked_at(playing: TableSession, table: TextTable) -> None:
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
    with pytest.raises(CommandRefusedError, match="faster"):
        playing.submit(EndTurn(), seen).result(PATIENCE_S)
    with pytest.raises(CommandRefusedError, match="faster"):
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


def test_revisions_only_grow_and_listeners_hear_all_of_them(playing: TableSession, table: TextTable) -> None:
    heard: list[int] = []
    playing.add_listener(lambda state: heard.append(state.revision))
    play(playing, table, HORN)
    play(playing, table, HORN, FARM)
    assert heard == sorted(set(heard)) and len(heard) == 4


def test_camera_trouble_is_said_and_the_game_waits(playing: TableSession, table: TextTable) -> None:
    table.trouble = "the camera sends no pictures"
    state = playing.submit(EndTurn()).result(PATIENCE_S)
    assert state.notices[0].trouble is Trouble.CAMERA and state.turns == ()
    table.trouble = ""
    assert len(play(playing, table, HORN).turns) == 1
    assert playing.state.notices == ()


def test_picture_without_a_board_is_said_and_shown(playing: TableSession, table: TextTable) -> None:
    table.board = None
    state = playing.submit(EndTurn()).result(PATIENCE_S)
    assert "No board was found." in state.notices[0].text and state.turns == ()
    assert state.look is not None
    picture = playing.picture(state.look.picture)
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


def test_people_choose_between_two_readings(playing: TableSession, table: TextTable) -> None:
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
    assert state.question is not None and "F8" in state.question.text
    state = play(playing, table, *gone, ("AT", 4, 7, False))
    assert state.notices == () and state.question is not None and state.question.key == "asked-press-missed"


def test_unplayed_letters_that_nobody_knows_are_asked_for_and_counted(playing: TableSession, table: TextTable) -> None:
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


def test_game_ends_when_people_end_it(playing: TableSession, table: TextTable) -> None:
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


def test_one_tile_lies_on_a_square(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    for symbol in ("", "AB"):
        with pytest.raises(CommandRefusedError, match="holds one tile"):
            playing.submit(CorrectSquare("G8", symbol)).result(PATIENCE_S)


def test_words_belong_to_the_new_game(playing: TableSession) -> None:
    state = playing.submit(StartGame(GameStarted(("Anna", "Ben"), lexicon="none"), words=None)).result(PATIENCE_S)
    assert not state.words_checked
    with pytest.raises(CommandRefusedError, match="faster"):
        playing.submit(StartGame(STARTED), Moment(1, 7)).result(PATIENCE_S)


def test_unseen_tiles_are_those_that_do_not_lie_on_the_board(playing: TableSession, table: TextTable) -> None:
    assert dict(playing.state.unseen)["A"] == 9
    state = play(playing, table, FARM)
    assert dict(state.unseen)["A"] == 8 and "F" in dict(state.unseen) and sum(n for _, n in state.unseen) == 96


def test_closed_dictionary_shows_no_word_as_invalid_before_a_challenge(session: TableSession, table: TextTable) -> None:
    session.submit(StartGame(GameStarted(("Anna", "Ben"), rules=PRESETS["tournament"], lexicon="test"))).result(
        PATIENCE_S
    )
    state = play(session, table, ("HRON", 7, 5, True))
    assert state.turns[0].invalid_words == () and not state.open_dictionary
    assert session.submit(ChallengePlay()).result(PATIENCE_S).turns[-1].kind == "withdrawn"


def test_everybody_is_told_what_is_no_part_of_the_game(playing: TableSession) -> None:
    playing.notify(Notice("Pairing is locked."))
    assert [notice.text for notice in playing.state.notices] == ["Pairing is locked."]
    assert playing.submit(PassTurn()).result(PATIENCE_S).notices == ()
