"""Late answers to deferred questions, and the later turns that they change."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.board import parse_square
from engine.descriptions import describe_events
from engine.errors import RulesError
from engine.events import (
    Challenged,
    Event,
    Exchanged,
    Passed,
    PlayerTurn,
    PlayMade,
    PlayWithdrawn,
    QuestionDeferred,
    ScoreCorrected,
    SquareCorrected,
    TurnCorrected,
    TurnInserted,
)
from engine.game import Game
from engine.messages import make_message
from engine.rules import STANDARD_RULES, ChallengeRule
from engine.tiles import Tile
from engine.validation.deferred_questions import defer_question, find_deferred_questions, find_provisional_turns
from engine.validation.late_answers import answer_deferred_question
from engine.validation.settlement import settle_questions
from tests.engine.validation.test_settlement import read_board
from tests.support.engine_table import defer, new_game, play, written
from tests.support.play_at_random import random_game, random_play


def test_late_answer_changes_the_turn_and_keeps_the_later_turns() -> None:
    game = answer_deferred_question(play(defer(play(new_game(), "8F HARN"), "8F HORN"), "H6 FA.M"), 1, 1)
    assert [turn.word for turn in game.turns] == ["HORN", "FA.M"]
    assert not find_deferred_questions(game) and not find_provisional_turns(game)


def test_late_answer_changes_a_turn_whose_player_was_corrected() -> None:
    game = defer(play(new_game(players=3), "8F HARN"), "8F HORN")
    game = game.push(TurnCorrected(0, PlayMade(2, written(new_game(), "8F HARN"))))
    game = answer_deferred_question(game, 1, 1)
    assert [(turn.player, turn.word) for turn in game.turns] == [(2, "HORN")]


def test_late_answer_that_confirms_the_turn_closes_the_question() -> None:
    game = play(defer(play(new_game(), "8F HARN"), "8F HORN"), "H6 FA.M")
    after = answer_deferred_question(game, 1, 0)
    assert after.totals == game.totals and not find_deferred_questions(after)


def test_late_answer_that_adds_a_turn_keeps_the_corrected_score_of_an_earlier_turn() -> None:
    game = play(new_game(), "8F HORN")
    farm = PlayMade(1, written(game, "H6 FA.M"))
    question = QuestionDeferred(0, "Whose?", ("Ben", "Anna"), ((farm,), (Passed(1), replace(farm, player=0))), 1)
    game = game.push(farm)
    game = game.push(*defer_question(game, question, None), ScoreCorrected(0, 20))
    assert answer_deferred_question(game, 1, 1).totals == (20 + 9, 0)


def test_late_answer_that_removes_a_corrected_tile_is_refused() -> None:
    """Otherwise the tile would be added to the play before."""
    game, square = play(new_game(), "8F HORN"), parse_square("H6")
    farm = PlayMade(1, written(game, "H6 FA.M"))
    question = QuestionDeferred(0, "Which?", ("Ben played FARM.", "Ben passed."), ((farm,), (Passed(1),)), 1)
    after = game.push(farm)
    after = after.push(*defer_question(after, question, None), SquareCorrected(square, Tile("W"), told=True))
    assert after.turns[-1].word == "WA.M"
    with pytest.raises(RulesError, match="later turns impossible"):
        answer_deferred_question(after, 1, 1)


def test_late_answer_that_stays_open_is_in_effect() -> None:
    game = answer_deferred_question(defer(play(new_game(), "8F HARN"), "8F HORN"), 1, 1, stays_open=True)
    assert game.turns[0].word == "HORN" and find_deferred_questions(game)[0].chosen == 1
    assert answer_deferred_question(game, 1, 0).turns[0].word == "HARN"


def test_late_answer_that_later_turns_exclude_is_refused() -> None:
    game = play(defer(play(new_game(), "8F HORN"), "8G HORN"), "F7 A.M")
    with pytest.raises(RulesError):
        answer_deferred_question(game, 1, 1)


def test_unknown_answer_is_refused() -> None:
    with pytest.raises(RulesError):
        answer_deferred_question(defer(play(new_game(), "8F HARN"), "8F HORN"), 1, 2)


LATER_PASS = (PlayMade(0, written(new_game(), "8F HORN")), Passed(1))


def defer_pass(game: Game) -> Game:
    """Return the game after a question whose second answer is that the next player passed."""
    question = QuestionDeferred(0, "Passed?", ("no", "yes"), (LATER_PASS[:1], LATER_PASS), 1)
    return game.push(*defer_question(game, question, None))


def test_late_answer_with_one_more_turn_keeps_the_corrections_of_later_turns() -> None:
    game = play(defer_pass(play(new_game(), "8F HORN")), "H6 FA.M", "10F PASTE")
    game = game.push(ScoreCorrected(1, 30)).push(TurnCorrected(2, PlayMade(0, written(game, "11E BIT"))))
    after = answer_deferred_question(game, 1, 1)
    words = [(turn.player, turn.word or "", turn.score) for turn in after.turns]
    assert words[:3] == [(0, "HORN", 14), (1, "", 0), (0, "FA.M", 30)] and words[3][:2] == (1, "BIT")


@pytest.mark.parametrize("later", [TurnCorrected(1, None), TurnInserted(1, Passed(0)), SquareCorrected(97, None, 0)])
def test_late_answer_with_one_more_turn_is_refused_after_a_correction_of_unclear_turns(later: Event) -> None:
    game = play(defer_pass(play(new_game(), "8F HORN")), "H6 FA.M").push(later)
    with pytest.raises(RulesError, match="impossible"):
        answer_deferred_question(game, 1, 1)


@pytest.mark.parametrize("event", [Challenged(0, upheld=False), PlayWithdrawn(1), Challenged(0, upheld=True)])
def test_late_answer_with_one_more_turn_is_about_the_play_of_the_other_player(event: Event) -> None:
    game = play(defer_pass(play(new_game(), "8F HORN")), "H6 FA.M").push(event)
    after = answer_deferred_question(game, 1, 1)
    play_, last = after.turns[2], after.turns[3]
    assert (play_.player, last.target, last.by) == (0, 2, 1 if isinstance(event, Challenged) else None)
    assert after.totals == ((14, 0) if isinstance(event, PlayWithdrawn) or event.upheld else (23, 0))


@pytest.mark.parametrize(("named", "challenger"), [(0, 0), (3, 3), (1, 2)])
def test_late_answer_keeps_the_challenger_unless_the_play_is_now_theirs(named: int, challenger: int) -> None:
    before = play(new_game(players=4), "8F HORN")
    farm = PlayMade(2, written(before, "H6 FA.M"))
    answers: tuple[tuple[Event, ...], ...] = ((Passed(1), farm), (replace(farm, player=1),))
    game = before.push(*answers[0])
    game = game.push(*defer_question(game, QuestionDeferred(0, "Who?", ("Cleo", "Ben"), answers, 2), None))
    after = answer_deferred_question(game.push(Challenged(named, upheld=False)), 1, 1)
    assert (after.turns[1].player, after.turns[2].by) == (1, challenger)


def test_late_answer_with_one_more_turn_leaves_a_play_of_the_next_player_on_the_board() -> None:
    before = play(new_game(), "8F HORN", "H6 FA.M")
    event = PlayMade(0, written(before, "10F PASTE"))
    question = QuestionDeferred(0, "Passed?", ("no", "yes"), ((event,), (event, Passed(1))), 1)
    game = before.push(event)
    game = game.push(*defer_question(game, question, None)).push(PlayWithdrawn(0))
    after = answer_deferred_question(game, 1, 1)
    assert after.totals == game.totals == (14, 9) and after.board == before.board


def test_late_answer_without_the_play_that_was_taken_back_is_refused() -> None:
    before = play(new_game(), "8F HORN", "H6 FA.M")
    event = PlayMade(0, written(before, "10F PASTE"))
    question = QuestionDeferred(0, "Passed?", ("no", "yes"), ((event,), (Passed(0),)), 1)
    game = before.push(event)
    game = game.push(*defer_question(game, question, None)).push(PlayWithdrawn(0))
    with pytest.raises(RulesError, match="impossible"):
        answer_deferred_question(game, 1, 1)


@pytest.mark.parametrize("later", [PlayWithdrawn(1), Challenged(0, upheld=True)])
def test_late_answer_that_adds_a_tile_taken_back_to_the_play_before_is_refused(later: Event) -> None:
    before = play(new_game(), "8F HORN")
    event = PlayMade(1, written(before, "8F ....S"))
    longer = TurnCorrected(0, PlayMade(0, written(new_game(), "8F HORNS")))
    question = QuestionDeferred(0, "Whose tile?", ("Ben", "Anna"), ((event,), (longer,)), 1)
    game = before.push(event)
    game = game.push(*defer_question(game, question, None)).push(later)
    with pytest.raises(RulesError, match="impossible"):
        answer_deferred_question(game, 1, 1)


HAT_FIRST, NET_FIRST = ("F8 HAT", "I8 NET"), ("I8 NET", "F8 HAT")


def defer_order() -> Game:
    """Return a game in which it is in question whether Ben played HAT and Anna NET, or the other way round."""
    before = play(new_game(), "8F HORN")
    answers = tuple(play(before, *plays).events[-2:] for plays in (HAT_FIRST, NET_FIRST))
    game = before.push(*answers[0])
    return game.push(*defer_question(game, QuestionDeferred(0, "Which?", ("0", "1"), answers, 2), None))


@pytest.mark.parametrize(
    ("event", "turns"),
    [
        (TurnCorrected(2, PlayMade(0, written(play(new_game(), "8F HORN"), "I8 NETS"))), [".AT", ".ETS"]),
        (TurnCorrected(2, PlayMade(0, written(play(new_game(), "8F HORN"), "I6 TEN"))), [".AT", "TE."]),
        (SquareCorrected(parse_square("I11"), Tile("S"), 2), [".AT", ".ETS"]),
        (SquareCorrected(parse_square("F11"), Tile("S"), 1), [".ATS", ".ET"]),
        (ScoreCorrected(2, 50), [".AT", ".ET"]),
    ],
)
def test_late_answer_about_the_order_keeps_a_correction_with_its_play(event: Event, turns: list[str]) -> None:
    game = defer_order().push(event)
    after = answer_deferred_question(game, 1, 1)
    hat, net = game.turns[1:]
    assert [(turn.player, turn.word, turn.score) for turn in game.turns[1:]] == [
        (1, turns[0], hat.score),
        (0, turns[1], net.score),
    ]
    assert [(turn.player, turn.word, turn.score) for turn in after.turns[1:]] == [
        (1, turns[1], net.score),
        (0, turns[0], hat.score),
    ]


def test_late_answer_moves_the_answers_of_later_questions_to_the_other_player() -> None:
    game = defer(play(defer_pass(play(new_game(), "8F HORN")), "H6 FO.M"), "H6 FA.M")
    after = answer_deferred_question(answer_deferred_question(game, 1, 1), 2, 1)
    assert [(turn.player, turn.word) for turn in after.turns][2] == (0, "FA.M") and after.totals == (23, 0)


@pytest.mark.parametrize(("has_own_buttons", "name"), [(False, "Anna"), (True, "Ben")])
def test_late_answer_updates_the_players_in_the_texts_of_later_questions(has_own_buttons: bool, name: str) -> None:
    game = play(defer_pass(play(new_game(), "8F HORN")), "H6 FO.M")
    before = Game.from_events(game.events[:-1])
    answers = (game.events[-1:], (PlayMade(1, written(before, "H6 FA.M")),))
    texts = tuple(describe_events(before, before.push(*answer), answer) for answer in answers)
    question = QuestionDeferred(0, make_message("who", "Did {0} play it?", "Ben"), texts, answers, 1)
    game = game.push(*defer_question(game, question, None))
    (later,) = find_deferred_questions(answer_deferred_question(game, 1, 1, has_own_buttons=has_own_buttons))
    assert later.text == f"Did {name} play it?"
    last = [text.split(", ")[-1] for text in later.texts]
    assert last == [f"{name} played {word} at H6 for 9" for word in ("FORM", "FARM")]


def test_late_answer_updates_the_players_who_may_have_challenged() -> None:
    before = play(new_game(players=3), "8F HORN")
    farm = PlayMade(2, written(before, "H6 FA.M"))
    answers: tuple[tuple[Event, ...], ...] = ((Passed(1), farm), (replace(farm, player=1),))
    game = before.push(*answers[0])
    game = game.push(*defer_question(game, QuestionDeferred(0, "Who?", ("Cleo", "Ben"), answers, 2), None))
    names, challenges = game.players[:2], ((Challenged(0, upheld=False),), (Challenged(1, upheld=False),))
    game = game.push(*challenges[0])
    game = game.push(*defer_question(game, QuestionDeferred(0, "Who challenged?", names, challenges, 1), None))
    (later,) = find_deferred_questions(answer_deferred_question(game, 1, 1))
    assert later.texts == (game.players[0], game.players[2])
    assert later.answers == ((Challenged(0, upheld=False),), (Challenged(2, upheld=False),))


VOID_GAME = defer(play(new_game(replace(STANDARD_RULES, challenge=ChallengeRule.VOID)), "8F HARN"), "8F HORN")
HARN_ONLY = frozenset({"HARN", "FARM"})


def defer_lengthened(game: Game, longer: str) -> Game:
    """Return the game after an S at the end of row 8, with the question whether it belongs to the first play."""
    game = play(game, "8F ....S")
    moved = TurnCorrected(0, PlayMade(0, written(new_game(), longer)))
    answers: tuple[tuple[Event, ...], ...] = (game.events[-1:], (moved,), (moved, Passed(1)))
    question = QuestionDeferred(0, "Who?", ("Ben", "Anna", "Anna, pass"), answers, 1)
    return game.push(*defer_question(game, question, None))


def test_late_answer_about_a_letter_counts_in_an_answer_that_lengthens_its_word() -> None:
    game = defer_lengthened(defer(play(new_game(), "8F HARN"), "8F HORN"), "8F HARNS")
    game = answer_deferred_question(answer_deferred_question(game, 1, 1), 2, 1)
    assert [turn.word for turn in game.turns] == ["HORNS"]


@pytest.mark.parametrize(
    ("before", "later"),
    [((ScoreCorrected(0, 50),), ()), ((), (ScoreCorrected(0, 50),)), ((), (ScoreCorrected(1, 50),))],
)
def test_late_answer_after_which_the_turn_is_another_one_drops_its_entered_score(
    before: tuple[Event, ...], later: tuple[Event, ...]
) -> None:
    """A score of FARM is not that of FARMS, and a score of a play is not that of a pass."""
    game = defer_lengthened(play(new_game(), "8F FARM").push(*before), "8F FARMS").push(*later)
    after = answer_deferred_question(game, 1, 2)
    assert [(turn.word, turn.score) for turn in after.turns] == [("FARMS", 20), (None, 0)]


def defer_last_letter() -> Game:
    """Return a game of HORN and an S of the next player, with the question whether this player has played at all."""
    game = play(new_game(), "8F HORN", "8F ....S")
    question = QuestionDeferred(0, "Who?", ("Anna, Ben", "only HORN"), (game.events[-2:], game.events[-2:-1]), 2)
    return game.push(*defer_question(game, question, None))


@pytest.mark.parametrize(
    ("has_own_buttons", "turns"),
    [(True, [("play", 20), ("pass", 0), ("exchange", 0)]), (False, [("play", 20), ("exchange", 0)])],
)
def test_late_answer_that_removes_a_turn_keeps_the_entered_score_of_the_play_before(
    has_own_buttons: bool, turns: list[tuple[str, int]]
) -> None:
    game = defer_last_letter().push(Exchanged(0, 2), ScoreCorrected(0, 20))
    after = answer_deferred_question(game, 1, 1, has_own_buttons=has_own_buttons)
    assert [(turn.kind, turn.score) for turn in after.turns] == turns


def test_late_answer_that_removes_a_turn_drops_its_entered_score() -> None:
    """The pass that is added in its place is another turn."""
    game = defer_last_letter().push(Exchanged(0, 2), ScoreCorrected(1, 20))
    after = answer_deferred_question(game, 1, 1, has_own_buttons=True)
    assert [(turn.kind, turn.score) for turn in after.turns] == [("play", 14), ("pass", 0), ("exchange", 0)]


def test_late_answer_that_adds_a_turn_keeps_the_entered_score_of_the_play_before() -> None:
    game = defer_pass(play(new_game(), "8F HORN")).push(ScoreCorrected(0, 20))
    assert [turn.score for turn in answer_deferred_question(game, 1, 1).turns] == [20, 0]


def test_late_answer_that_adds_a_pass_keeps_the_entered_score_of_a_pass_with_its_player() -> None:
    game = play(new_game(players=3), "8F HORN", "8F ....S")
    question = QuestionDeferred(0, "Who?", ("both", "Anna"), (game.events[-2:], game.events[-2:-1]), 2)
    game = game.push(*defer_question(game, question, None)).push(Passed(2), Exchanged(0, 2), ScoreCorrected(2, -5))
    after = answer_deferred_question(game, 1, 1, has_own_buttons=True)
    assert [(turn.player, turn.kind, turn.score) for turn in after.turns] == [
        (0, "play", 14),
        (1, "pass", 0),
        (2, "pass", -5),
        (0, "exchange", 0),
    ]


@pytest.mark.parametrize("later", [ScoreCorrected(0, 50), ScoreCorrected(1, 5)])
def test_late_answer_about_a_letter_keeps_the_entered_scores(later: ScoreCorrected) -> None:
    game = defer(play(new_game(), "8F HARN"), "8F HORN").push(Passed(1), later)
    assert answer_deferred_question(game, 1, 1).turns[later.turn].score == later.score


def test_late_answer_after_which_an_answer_to_a_later_question_is_impossible_leaves_it_out() -> None:
    game = play(defer_lengthened(play(new_game(), "8F HORN"), "8F HORNS"), "8K ED")
    wrong = TurnCorrected(1, PlayMade(1, written(play(new_game(), "8F HORN"), "8F ....SED")))
    question = QuestionDeferred(0, "Who?", ("Anna", "Ben"), (game.events[-1:], (wrong,)), 1)
    game = game.push(*defer_question(game, question, None))
    game = answer_deferred_question(game, 1, 1)
    assert [(turn.player, turn.word) for turn in game.turns] == [(0, "HORNS"), (1, ".....ED")]
    (left,) = find_deferred_questions(game)
    assert left.texts == ("Anna",) and left.answers == ((PlayMade(1, game.turns[1].play),),)


def test_late_answer_with_an_invalid_word_does_not_count_without_challenges() -> None:
    rules = replace(STANDARD_RULES, challenge=ChallengeRule.VOID)
    game = defer(play(new_game(rules), "8F HORN"), "8F HRON").push(Passed(1))
    after = answer_deferred_question(game, 1, 1, words=frozenset({"HORN"}))
    assert [turn.kind for turn in after.turns] == ["play", "withdrawn", "pass"] and after.totals == (0, 0)
    provisional = answer_deferred_question(game, 1, 1, words=frozenset(), stays_open=True)
    assert find_provisional_turns(provisional).keys() == {0, 1}


def test_late_answer_with_an_invalid_word_counts_if_a_later_play_needs_its_tiles() -> None:
    after = answer_deferred_question(play(VOID_GAME, "H6 FA.M"), 1, 1, words=HARN_ONLY)
    assert [(turn.word, turn.stands) for turn in after.turns] == [("HORN", True), ("FA.M", True)]


def test_late_answer_with_an_invalid_word_is_refused_if_a_later_correction_is_in_the_way() -> None:
    game = VOID_GAME.push(Passed(1), TurnInserted(1, Passed(1)))
    with pytest.raises(RulesError, match="impossible"):
        answer_deferred_question(game, 1, 1, words=HARN_ONLY)
    reading = read_board("8F HORN")
    assert settle_questions(game, reading, words=HARN_ONLY) == game


def make_withdrawn_game() -> Game:
    """Return a game in which a play after HARN, which may be HORN, was withdrawn because of the invalid HARNS."""
    return play(VOID_GAME, "8F ....S").push(PlayWithdrawn(1))


HORNS = frozenset({"HARN", "HORN", "HORNS"})


def test_late_answer_restores_the_last_play_that_is_valid_after_it() -> None:
    after = answer_deferred_question(make_withdrawn_game(), 1, 1, words=HORNS)
    assert [(turn.kind, turn.word, turn.stands) for turn in after.turns] == [
        ("play", "HORN", True),
        ("play", "....S", True),
    ]


def test_late_answer_does_not_restore_a_play_that_is_still_invalid() -> None:
    after = answer_deferred_question(make_withdrawn_game(), 1, 1, words=HORNS - {"HORNS"})
    assert after.turns[-1].kind == "withdrawn"


def test_late_answer_does_not_restore_a_play_that_a_later_turn_follows() -> None:
    after = answer_deferred_question(make_withdrawn_game().push(Passed(0)), 1, 1, words=HORNS)
    assert not after.turns[1].stands


def test_late_answer_does_not_restore_a_play_that_was_valid_before() -> None:
    after = answer_deferred_question(make_withdrawn_game(), 1, 1, words=HORNS | {"HARNS"})
    assert not after.turns[1].stands


def test_late_answer_that_stays_open_does_not_restore_a_play() -> None:
    after = answer_deferred_question(make_withdrawn_game(), 1, 1, words=HORNS, stays_open=True)
    assert after.turns[0].word == "HORN" and not after.turns[1].stands


def test_reading_that_settles_a_question_does_not_restore_a_play_whose_tiles_are_gone() -> None:
    after = settle_questions(make_withdrawn_game(), read_board("8F HORN"), words=HORNS)
    assert after.turns[0].word == "HORN" and not after.turns[1].stands


def name_challenger(now: Game, *games: Game) -> int:
    """Return the opponent of the last play of each of the games, or of the game `now` if there is no such player."""
    seats = range(len(now.players))
    opponents = sorted({*seats}.difference(game.turns[-1].player for game in games))
    return opponents[-1] if opponents else (now.turns[-1].player + 1) % len(seats)


def choose_act(rng: random.Random, game: Game, other: Game) -> Callable[[Game], Event]:
    """Return what happens next, as an event of whoever is to move, made the last play or is named as challenger."""
    made, chance = random_play(game, rng), rng.random()
    if game.challengeable_turn and chance < 0.2:
        return lambda now: Challenged(name_challenger(now, game, other), upheld=chance < 0.1)
    if game.challengeable_turn and chance < 0.3:
        return lambda now: PlayWithdrawn(now.turns[-1].player)
    if made and chance < 0.8:
        return lambda now: PlayMade(now.to_move, made)
    return lambda now: Exchanged(now.to_move, 2) if chance < 0.9 else Passed(now.to_move)


def push_at_own_button(game: Game, event: PlayerTurn) -> Game:
    """Return the game after a turn that its player ended with a button of their own; skipped players have passed."""
    while game.to_move != event.player:
        game = game.push(Passed(game.to_move))
    return game.push(event)


@given(st.integers(0, 2**32), st.integers(2, 4), st.booleans(), st.booleans(), st.booleans())
@settings(max_examples=40, deadline=None)
def test_late_answer_leads_to_the_game_in_which_it_was_known_at_once(
    seed: int, players: int, is_pass: bool, is_longer: bool, has_own_buttons: bool
) -> None:
    rng = random.Random(seed)
    before = random_game(rng, 3, new_game(players=players))
    made = random_play(before, rng)
    if made is None:
        return
    right: tuple[Event, ...] = (PlayMade(before.to_move, made),)
    square, _ = rng.choice(made.tiles)
    wrong: tuple[Event, ...] = (PlayMade(before.to_move, made.with_tile(square, Tile("E"))),)
    if is_pass:
        wrong, right = right, (*right, Passed((before.to_move + 1) % players))
        wrong, right = (wrong, right) if is_longer else (right, wrong)
    known = before.push(*right)
    asked = before.push(*wrong)
    asked = asked.push(*defer_question(asked, QuestionDeferred(0, "?", ("a", "b"), (wrong, right), len(wrong)), None))
    for _ in range(4):
        act = choose_act(rng, known, asked)
        event = act(known)
        if not isinstance(event, PlayerTurn) and asked.challengeable_turn is None:
            continue  # its play is the last turn only after the answer
        if has_own_buttons and isinstance(event, PlayerTurn):
            known, asked = known.push(event), push_at_own_button(asked, event)
        else:
            known, asked = known.push(event), asked.push(act(asked))
    answered = answer_deferred_question(asked, 1, 1, has_own_buttons=has_own_buttons)
    assert (answered.totals, answered.to_move) == (known.totals, known.to_move)
    assert [(turn.player, turn.kind, turn.word, turn.by) for turn in answered.turns] == [
        (turn.player, turn.kind, turn.word, turn.by) for turn in known.turns
    ]
