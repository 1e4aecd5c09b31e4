"""The decision of a challenge by the word list, or by the players if the list may not decide it.

The command is `ChallengePlay`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from device.session.game_controller import GameController
from device.session.messages import WHO_CHALLENGED, WHO_PAYS
from device.session.recording import Record
from engine.blanks import find_invalid_words, is_play_valid
from engine.errors import NotationError, RulesError
from engine.events import BlankNamed, Challenged
from engine.game import Game
from engine.ledger import Alternative, Answered, Doubt, Due, Entry, Ledger, Seat, Sentence, Value, find_counting_entries
from engine.lexicon import WordList
from engine.rules import ChallengeRule
from engine.state import Turn

PossiblePlay = tuple[Entry, Turn | None]
"""An entry with an open question, and the turn that may be challenged after one of its answers; None if none may."""


def is_in_doubt(game: Game, play: Turn, possible: Sequence[PossiblePlay], words: WordList) -> bool:
    """Return True if the word list cannot decide whether the words of `play` are valid.

    This is so if an answer to an open question would change it, or if the list has the text of a word which may be that
    of other tiles. `possible` are the plays of `list_possible_plays`.
    """
    is_valid = is_play_valid(play.words, game.tiles, words)
    return is_valid is None or any(
        other is None or is_play_valid(other.words, game.tiles, words) != is_valid for _, other in possible
    )


def find_question_about_play(play: Turn, possible: Sequence[PossiblePlay]) -> Entry | None:
    """Return the entry with a question of which an answer would make another play than `play` the last one, or None.

    Until the answer, it is not known which of the plays is challenged. Another play is on other squares, or is the same
    play with more or fewer tiles by another player. `possible` are the plays of `list_possible_plays`.
    """
    squares = {square for square, _ in play.placements}
    for entry, other in possible:
        if other is None:
            continue
        other_squares = {square for square, _ in other.placements}
        if other_squares != squares and (other.player != play.player or squares.isdisjoint(other_squares)):
            return entry
    return None


def list_possible_plays(ledger: Ledger) -> list[PossiblePlay]:
    """Return each entry with an open question, with the turn that may be challenged after each of its answers.

    Questions about the letter of a blank are left out, because a blank may stand for any letter that makes a valid
    word, and so are answers that later turns exclude.
    """
    possible: list[PossiblePlay] = []
    for entry in find_counting_entries(ledger):
        if any(isinstance(step, BlankNamed) for steps in entry.alternatives for step in steps):
            continue
        for number in range(len(entry.alternatives)):
            with suppress(NotationError, RulesError):
                possible.append((entry, ledger.answer(entry.number, number).game.challengeable_turn))
    return possible


def ask_players(controller: GameController, play: Turn) -> None:
    """Record the question with which the players decide whether the challenged words are valid.

    The word list in use does not decide this challenge: the question only mentions which words are in the list.
    """
    game = controller.game
    seats = find_challengers(game, play)
    alternatives: list[Alternative] = [(), (Challenged(_name_seat(game, seats[0]), upheld=True, of=play.ref),)]
    player = Due((play.player - game.to_move) % len(game.players))
    texts = [Sentence("answer-looking-up"), Sentence("answer-bad", (player,))]
    for seat in seats:
        alternatives.append((Challenged(_name_seat(game, seat), upheld=False, of=play.ref),))
        named: Value = Seat(seat) if len(game.players) > 2 else Due((seat - game.to_move) % len(game.players))
        texts.append(Sentence("answer-in-vain", (named,)) if len(seats) > 1 else Sentence("answer-good"))
    code, values = _describe_words(game, play, controller.words)
    doubt = Doubt(code, values, tuple(enumerate(texts)), waits=True)
    controller.record(Record(tuple(alternatives), doubt))


def _describe_words(game: Game, play: Turn, words: WordList | None) -> tuple[str, tuple[str, ...]]:
    """Return the code and the values of the question whether the words of a play are valid."""
    formed = ", ".join(word.word for word in play.words)
    unlisted = () if words is None else find_invalid_words(play.words, game.tiles, words)
    if unlisted:
        return "good-words-unlisted", (formed, ", ".join(unlisted))
    is_listed = words is not None and is_play_valid(play.words, game.tiles, words)
    return ("good-words-listed" if is_listed else "good-words"), (formed,)


def update_challenge_question(controller: GameController) -> None:
    """Ask about the words that an undecided challenge has now, after a command may have corrected them."""
    entry = controller.undecided_challenge
    if entry is None or entry.doubt is None or entry.group == controller.ledger.last_group:
        return
    refs = [step.of for steps in entry.alternatives for step in steps if isinstance(step, Challenged)]
    play = next((turn for turn in controller.game.turns if turn.play and turn.stands and turn.ref in refs), None)
    if play is None:
        controller.record(Record(((Answered(entry.number, 0),),)))
    elif (entry.doubt.code, entry.doubt.values) != _describe_words(controller.game, play, controller.words):
        controller.record(Record(((Answered(entry.number, 0),),)))
        ask_players(controller, play)


def decide_by_list(controller: GameController, play: Turn, words: WordList) -> None:
    """Record a challenge that the word list decides; the challenger is assumed to be the most likely player.

    If a failed challenge costs the challenger a penalty, also ask who has challenged.
    """
    game = controller.game
    invalid_words = find_invalid_words(play.words, game.tiles, words)
    seats = find_challengers(game, play)
    challenged = Challenged(_name_seat(game, seats[0]), bool(invalid_words), invalid_words, play.ref)
    if challenged.upheld or len(seats) == 1:
        record_challenge(controller, challenged, play)
        return
    key = WHO_CHALLENGED if game.rules.challenge is ChallengeRule.DOUBLE else WHO_PAYS
    texts = tuple((number, Sentence("", (Seat(seat),))) for number, seat in enumerate(seats))
    alternatives = tuple((replace(challenged, by=seat),) for seat in seats)
    controller.record(Record(alternatives, Doubt(key, (), texts)))
    tell_outcome(controller, challenged, play)


def record_challenge(controller: GameController, challenged: Challenged, play: Turn) -> None:
    """Record the outcome of a challenge of a play, and tell it to the players."""
    controller.record(Record(((challenged,),)))
    tell_outcome(controller, challenged, play)


def tell_outcome(controller: GameController, challenged: Challenged, play: Turn) -> None:
    """Show a notice with the outcome of a challenge of a play."""
    name = controller.game.players[play.player]
    if challenged.upheld:
        words = challenged.words or tuple(word.word for word in play.words)
        controller.show_notice("take-off", name, ", ".join(words))
    else:
        controller.show_notice("challenge-failed", name)


def _name_seat(game: Game, seat: int) -> int | None:
    """Return the challenger to record: with two players, it follows from the play."""
    return seat if len(game.players) > 2 else None


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
