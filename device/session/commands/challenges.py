"""The decision of a challenge: by the word list, or by the players if the list may not decide it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from device.catalogue import get_text
from device.session.game_controller import GameController
from device.session.messages import make_question
from device.session.open_question import OpenQuestion, make_challenger_question
from engine.blanks import find_invalid_words, is_play_valid
from engine.errors import NotationError, RulesError
from engine.events import BlankNamed, Challenged, Event, QuestionDeferred
from engine.game import Game
from engine.lexicon import WordList
from engine.rules import ChallengeRule
from engine.state import Turn
from engine.validation.deferred_questions import find_deferred_questions
from engine.validation.late_answers import answer_deferred_question

PossiblePlay = tuple[QuestionDeferred, Turn | None]
"""A deferred question, and the turn that may be challenged after one of its answers; None if none may."""


def is_in_doubt(game: Game, play: Turn, possible: Sequence[PossiblePlay], words: WordList) -> bool:
    """Return True if the word list cannot decide whether the words of `play` are valid.

    This is so if an answer to a deferred question would change it, or if the list has the text of a word which may be
    that of other tiles.

    `possible` are the plays of `list_possible_plays`, without the answers that only name a blank, because a blank may
    stand for any letter that makes a valid word.
    """
    is_valid = is_play_valid(play.words, game.tiles, words)
    return is_valid is None or any(
        other is None or is_play_valid(other.words, game.tiles, words) != is_valid for _, other in possible
    )


def find_question_about_play(play: Turn, possible: Sequence[PossiblePlay]) -> QuestionDeferred | None:
    """Return the deferred question of which an answer would make another play than `play` the last one; None if none.

    Until the answer, it is not known which of the plays is challenged. Another play is on other squares, or is the same
    play with more or fewer tiles by another player. `possible` are the plays of `list_possible_plays`.
    """
    squares = {square for square, _ in play.placements}
    for question, other in possible:
        if other is None:
            continue
        other_squares = {square for square, _ in other.placements}
        if other_squares != squares and (other.player != play.player or squares.isdisjoint(other_squares)):
            return question
    return None


def list_possible_plays(game: Game) -> list[PossiblePlay]:
    """Return each deferred question with the turn that may be challenged after each of its answers.

    Answers that only name a blank, and those that later turns exclude, are left out.
    """
    possible: list[PossiblePlay] = []
    for question in find_deferred_questions(game):
        for number, events in enumerate(question.answers):
            if any(isinstance(event, BlankNamed) for event in events):
                continue
            with suppress(NotationError, RulesError):
                after = answer_deferred_question(game, question.number, number, stays_open=True)
                possible.append((question, after.challengeable_turn))
    return possible


def make_challenge_question(game: Game, play: Turn, words: WordList | None) -> OpenQuestion:
    """Return the question with which the players decide whether the challenged words are valid.

    `words` is the word list in use, or None. The list does not decide this challenge: the question only mentions which
    words are in the list.
    """
    seats = find_challengers(game, play)
    texts = [get_text("answer-looking-up"), get_text("answer-bad", game.players[play.player])]
    answers: list[tuple[Event, ...]] = [(), (Challenged(seats[0], upheld=True),)]
    for seat in seats:
        texts.append(get_text("answer-in-vain", game.players[seat]) if len(seats) > 1 else get_text("answer-good"))
        answers.append((Challenged(seat, upheld=False),))
    formed = ", ".join(word.word for word in play.words)
    unlisted = () if words is None else find_invalid_words(play.words, game.tiles, words)
    if unlisted:
        question = make_question("good-words-unlisted", formed, ", ".join(unlisted), answers=tuple(texts))
    else:
        is_listed = words is not None and is_play_valid(play.words, game.tiles, words)
        key = "good-words-listed" if is_listed else "good-words"
        question = make_question(key, formed, answers=tuple(texts))
    return OpenQuestion(question, tuple(answers), is_answer_recorded=False, stops_clock=True)


def update_challenge_question(controller: GameController) -> None:
    """Ask about the words and players that an undecided challenge has now, after a command may have corrected them."""
    open_question = controller.open_question
    if open_question is not None and open_question.is_challenge:
        play = controller.game.challengeable_turn
        controller.open_question = make_challenge_question(controller.game, play, controller.words) if play else None


def decide_by_list(controller: GameController, play: Turn, words: WordList) -> None:
    """Record a challenge that the word list decides; the challenger is assumed to be the most likely player.

    If a failed challenge costs the challenger a penalty, also ask who has challenged.
    """
    game = controller.game
    invalid_words = find_invalid_words(play.words, game.tiles, words)
    seats = find_challengers(game, play)
    challenged = Challenged(seats[0], bool(invalid_words), invalid_words)
    record_challenge(controller, challenged, play)
    if not challenged.upheld and len(seats) > 1:
        question = make_challenger_question(game, seats)
        controller.open_question = OpenQuestion(question, tuple((replace(challenged, by=seat),) for seat in seats))


def record_challenge(
    controller: GameController, challenged: Challenged, play: Turn, *, is_replacement: bool = False
) -> None:
    """Record the outcome of a challenge; if `is_replacement` is True, replace the last recorded outcome."""
    if is_replacement:
        controller.replace_last_press([challenged])
    else:
        controller.commit_events([challenged])
    name = controller.game.players[play.player]
    if challenged.upheld:
        words = challenged.words or tuple(word.word for word in play.words)
        controller.show_notice("take-off", name, ", ".join(words))
    else:
        controller.show_notice("challenge-failed", name)


def find_challengers(game: Game, play: Turn) -> tuple[int, ...]:
    """Return the seats of the players who may have challenged a play, the next player first.

    Any opponent may challenge. The challenger of a valid play loses the next turn (rule 8), or points in some clubs. If
    the rules of this game have no such penalty, only the next player is returned.
    """
    seats = range(len(game.players))
    opponents = tuple(seat for seat in (*seats[game.to_move :], *seats[: game.to_move]) if seat != play.player)
    has_point_penalty = game.rules.challenge is ChallengeRule.POINTS and game.rules.challenger_pays
    has_penalty = game.rules.challenge is ChallengeRule.DOUBLE or has_point_penalty
    return opponents if has_penalty else opponents[:1]
