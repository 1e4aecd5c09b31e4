"""Challenges: which list or player decides, who is the challenger, and plays that do not count."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from device.session.commands.answers import AnswerQuestion
from device.session.commands.challenges import ChallengePlay, DecideChallenge
from device.session.commands.games import EndGame, ResumeGame, StartGame, Undo
from device.session.commands.turn_corrections import CorrectTurn, InsertTurn
from device.session.commands.turns import EndTurn
from device.session.messages import CommandRefusedError
from device.session.table_session import TableSession
from device.storage.store import GameStore
from engine.events import GameStarted
from engine.lexicon import Lexicon
from engine.rules import PRESETS, STANDARD_RULES, ChallengeRule, FinishLineLevel
from tests.support.text_table import FARM, HORN, PASTE, STARTED, TextTable, play, totals
from tests.support.waiting import PATIENCE_S


def test_challenge_takes_an_invalid_play_back(playing: TableSession, table: TextTable) -> None:
    play(playing, table, ("HRON", 7, 5, True))
    state = playing.submit(ChallengePlay()).result(PATIENCE_S)
    assert [(t.kind, t.score) for t in state.turns] == [("play", 14), ("withdrawn", -14)]
    assert state.players[0].total == 0 and state.turn_of == 1
    assert "Take the tiles off" in state.notices[0].text
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


@pytest.mark.parametrize("left", [("PASTZ", 9, 5, True), ("PAS", 9, 5, True)], ids=["all", "some"])
def test_play_beside_tiles_that_must_be_taken_back_is_recorded_when_they_are_gone(
    playing: TableSession, table: TextTable, left: tuple[str, int, int, bool]
) -> None:
    for words in ((HORN,), (HORN, FARM), (HORN, FARM, ("PASTZ", 9, 5, True))):
        play(playing, table, *words)
    playing.submit(ChallengePlay()).result(PATIENCE_S)
    fate = ("FATE", 5, 7, True)
    state = play(playing, table, HORN, FARM, left, fate)
    key = state.question.key if state.question else state.notices[0].key
    assert key == "still-there" and totals(state) == [14, 9]
    assert totals(play(playing, table, HORN, FARM, fate)) == [14, 18]


def test_challenge_of_a_play_is_refused_before_it_is_recorded(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    table.lay_unclear(HORN, ("FARMZ", 5, 7, False))
    asked = playing.submit(EndTurn()).result(PATIENCE_S).question
    with pytest.raises(CommandRefusedError) as refusal:
        playing.submit(ChallengePlay()).result(PATIENCE_S)
    assert refusal.value.key == "answer-first" and asked is not None and playing.state.question == asked
    playing.submit(AnswerQuestion(1, question_id=asked.id)).result(PATIENCE_S)
    state = playing.submit(ChallengePlay()).result(PATIENCE_S)
    assert [(turn.kind, turn.player) for turn in state.turns] == [("play", 0), ("play", 1), ("withdrawn", 1)]


def test_challenge_while_the_order_of_two_plays_is_in_question_asks_for_it(
    playing: TableSession, table: TextTable
) -> None:
    play(playing, table, HORN)
    asked = play(playing, table, HORN, ("HAT", 7, 5, False), ("NE", 7, 8, False)).question
    state = playing.submit(ChallengePlay()).result(PATIENCE_S)
    assert asked is not None and state.question is not None and state.question.text == asked.text
    assert [turn.word for turn in state.turns if turn.stands] == ["HORN", ".AT", ".E"]
    playing.submit(AnswerQuestion(1)).result(PATIENCE_S)
    state = playing.submit(ChallengePlay()).result(PATIENCE_S)
    assert [turn.word for turn in state.turns if turn.stands and turn.kind == "play"] == ["HORN", ".E"]


def test_challenge_of_valid_words_fails(playing: TableSession, table: TextTable) -> None:
    play(playing, table, HORN)
    state = playing.submit(ChallengePlay()).result(PATIENCE_S)
    assert state.players[0].total == 14 and "failed" in state.notices[0].text


def test_challenger_of_a_failed_challenge_is_asked_for_if_there_are_several(
    session: TableSession, table: TextTable
) -> None:
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


def test_challenger_is_the_next_player_by_default(session: TableSession, table: TextTable) -> None:
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


def test_challenge_of_a_word_whose_tiles_the_list_does_not_show_is_decided_by_the_players(table: TextTable) -> None:
    """The list has LLAN, but not whether its LL is the tile LL."""
    words = frozenset({"LLAN"})
    with GameStore(":memory:") as store, TableSession(table, table, store, words) as session:
        session.submit(StartGame(GameStarted(("Anna", "Ben"), tile_set="cy", lexicon="test"))).result(PATIENCE_S)
        state = play(session, table, ("LLAN", 7, 5, True))
        assert [word.valid for word in state.turns[0].words] == [None]
        asked = session.submit(ChallengePlay()).result(PATIENCE_S)
        assert asked.question is not None and asked.question.text == "This play makes LLAN. Is it valid?"


@pytest.mark.parametrize(("answer", "totals", "turn_of"), [(1, [0, 0], 1), (2, [14, 0], 0)], ids=["no", "yes"])
def test_challenge_without_a_list_is_decided_by_the_players(
    table: TextTable, path: Path, answer: int, totals: list[int], turn_of: int
) -> None:
    with GameStore(path) as store, TableSession(table, table, store) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        play(session, table, ("HRON", 7, 5, True))
        asked = session.submit(ChallengePlay()).result(PATIENCE_S)
        assert asked.question is not None and asked.question.text == "This play makes HRON. Is it valid?"
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
        ("HRON", "This play makes HRON. The word list does not have HRON. Is the play valid?"),
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


def test_challenge_that_was_open_at_a_power_cut_is_still_to_be_decided(table: TextTable, path: Path) -> None:
    started = replace(STARTED, rules=replace(STANDARD_RULES, list_decides=False))
    with GameStore(path) as store, TableSession(table, table, store, None) as session:
        session.submit(StartGame(started)).result(PATIENCE_S)
        play(session, table, HORN)
        asked = session.submit(ChallengePlay()).result(PATIENCE_S).question
    with GameStore(path) as store, TableSession(table, table, store, None) as session:
        state = session.submit(ResumeGame()).result(PATIENCE_S)
        assert asked is not None and state.question == asked


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
    assert "Take the tiles off" in state.notices[0].text
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


def test_outcome_of_a_challenge_after_the_end_is_refused(session: TableSession, table: TextTable) -> None:
    rules = replace(STANDARD_RULES, finish_line=(FinishLineLevel.BEGINNER,))
    session.submit(StartGame(replace(STARTED, rules=rules))).result(PATIENCE_S)
    play(session, table, HORN)
    session.submit(CorrectTurn(1, score=80)).result(PATIENCE_S)
    assert session.submit(EndGame()).result(PATIENCE_S).winners == (0,)
    with pytest.raises(CommandRefusedError, match="ended"):
        session.submit(DecideChallenge(upheld=True)).result(PATIENCE_S)


def test_closed_dictionary_shows_no_word_as_invalid_before_a_challenge(session: TableSession, table: TextTable) -> None:
    session.submit(StartGame(GameStarted(("Anna", "Ben"), rules=PRESETS["tournament"], lexicon="test"))).result(
        PATIENCE_S
    )
    state = play(session, table, ("HRON", 7, 5, True))
    assert state.turns[0].invalid_words == () and not state.open_dictionary
    assert session.submit(ChallengePlay()).result(PATIENCE_S).turns[-1].kind == "withdrawn"
