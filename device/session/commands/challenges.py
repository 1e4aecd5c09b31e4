"""The commands of a challenge. The word list decides the challenge, or the players if the list may not.

A challenge is one event, `Challenged`, which `engine.transitions` applies. If it is upheld, the play is withdrawn, and
its player has lost the turn. If it fails, it costs the challenger what the rules of the game say.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from device.session.commands.base import CommandContext, PlayerNumber, TableCommand, check_challenger
from device.session.game_controller import GameController
from device.session.messages import WHO_CHALLENGED, WHO_PAYS, make_refusal
from device.session.phases import Transition
from device.session.recording import Record
from engine.blanks import find_invalid_words, is_play_valid
from engine.errors import NotationError, RulesError
from engine.events import BlankNamed, Challenged, PlayCounted, PlayWithdrawn, TurnCorrected
from engine.game import Game
from engine.ledger import Alternative, Answered, Doubt, Due, Entry, Ledger, Seat, Sentence, Value, find_counting_entries
from engine.lexicon import WordList, find_deciding_words
from engine.rules import ChallengeRule
from engine.state import Turn, TurnKind
from engine.validation.void_plays import find_void_turn

PossiblePlay = tuple[Entry, Turn | None]
"""An entry with an open question, and the play that may be challenged after one of its answers; None for no play."""


class ChallengePlay(TableCommand, frozen=True):
    """Challenge the last play; the outcome is decided by the word list, or by the players if no list may decide it.

    The players also decide if an open question makes it uncertain which words were played, or if only they know the
    tiles of a word (Hungarian SZ is one tile or two). If it is uncertain which play is the last one, the open question
    is asked first. If the challenge fails and the challenger is not known, the players are asked who has challenged.
    """

    name = "challenge"
    transition = Transition.CHALLENGE
    operation_id = "challenge"
    needs_recorded_play = True  # the players mean that play, and the last recorded play is the one before it

    def run(self, context: CommandContext) -> None:
        """Decide the challenge, or ask the players; refuse the command if there is no play to challenge.

        A play on the board whose turn was not ended yet is the challenged play.
        """
        controller = context.controller
        if controller.game.challengeable_turn is not None:
            context.turn_recorder.record_unended_play(controller.seat, may_read_board=True)
        game = controller.game
        play = game.challengeable_turn
        if play is None:
            raise make_refusal("nothing-to-challenge")
        possible = list_possible_plays(controller.ledger)
        if (asked := find_question_about_play(play, possible)) is not None:
            controller.recall(asked)
            controller.show_notice("answer-first")
            return
        words = find_deciding_words(controller.words) if game.rules.list_decides else None
        if words is not None and not is_in_doubt(game, play, possible, words):
            decide_by_list(controller, play, words)
        else:
            ask_players(controller, play)


class DecideChallenge(TableCommand, frozen=True):
    """Enter by hand whether a challenge of the last play succeeds, or change the outcome that was just recorded.

    `upheld` is true if the play is withdrawn. `player` is the challenger; null means the next player. In a game without
    challenges, in which invalid words do not count, this command decides whether the last play counts.
    """

    name = "decide-challenge"
    transition = Transition.CORRECT
    operation_id = "decide_challenge"
    schema_name = "ChallengeOrder"
    needs_recorded_play = True

    upheld: bool
    player: PlayerNumber | None = None

    def run(self, context: CommandContext) -> None:
        """Record the outcome; refuse the command unless the last turn is a play or the outcome of a challenge."""
        controller = context.controller
        game = controller.game
        if game.is_over:
            raise make_refusal("ended")
        if game.rules.challenge is ChallengeRule.VOID:
            _decide_void_play(controller, self.upheld)
            return
        last = game.last_turn
        # The last line may be the outcome of a challenge: the withdrawal of a play, or a failed challenge.
        decided = last if last is not None and not last.is_implied else None
        is_decided = decided is not None and decided.target is not None
        play = game.turns[decided.target] if decided and decided.target is not None else game.challengeable_turn
        if play is None:
            raise make_refusal("nothing-to-challenge")
        check_challenger(game, self.player, play)
        by = self.player if self.player is not None or len(game.players) == 2 else find_challengers(game, play)[0]
        challenged = Challenged(by, self.upheld, of=play.ref)
        if last is not None and is_decided:
            is_newest = last.ref.entry == len(controller.ledger.entries)
            controller.record(Record(((TurnCorrected(last.ref, challenged),),)), joins_last=is_newest)
            tell_outcome(controller, challenged, play)
            return
        if (asked := controller.undecided_challenge) is not None:
            controller.record(Record(((Answered(asked.number, 0), challenged),)))
            tell_outcome(controller, challenged, play)
        else:
            record_challenge(controller, challenged, play)


def _decide_void_play(controller: GameController, is_invalid: bool) -> None:
    """Withdraw the last play, or restore the play that was withdrawn last, in a game without challenges.

    Raises `CommandRefusedError` if there is no such play.
    """
    game = controller.game
    last = game.last_turn
    if is_invalid and last is not None and last.kind is TurnKind.PLAY and last.stands:
        controller.record(Record(((PlayWithdrawn(None, last.ref),),)))
        words = ", ".join(word.word for word in last.words)
        controller.show_notice("take-off", game.players[last.player], words)
    elif not is_invalid and (void := find_void_turn(game)) is not None:
        controller.record(Record(((PlayCounted(void.ref),),)))
    elif not is_invalid and last is not None and last.kind is TurnKind.WITHDRAWN:
        controller.record(Record(((TurnCorrected(last.ref, None),),)))
    else:
        raise make_refusal("nothing-to-challenge")


def is_in_doubt(game: Game, play: Turn, possible: Sequence[PossiblePlay], words: WordList) -> bool:
    """Return True if the word list cannot decide whether the words of `play` are valid.

    There are two reasons. An answer to an open question may lead to a play that the list judges in another way;
    `possible` are the plays after these answers. Or only the players know the tiles of a word: in Hungarian, SZ is one
    tile or two.
    """
    is_valid = is_play_valid(play.words, game.tiles, words)
    return is_valid is None or any(
        other is None or is_play_valid(other.words, game.tiles, words) != is_valid for _, other in possible
    )


def find_question_about_play(play: Turn, possible: Sequence[PossiblePlay]) -> Entry | None:
    """Return the entry whose question decides which play is challenged, so that it must be answered first, or None.

    `possible` are the plays after the answers to open questions. A play is another one than `play` if it is on other
    squares, or if another player has made it with more or fewer tiles.
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
    """Return the plays that may be challenged after each answer to each open question, with the entry of the question.

    Questions about the letter of a blank are left out, because a blank may stand for any letter that makes a valid
    word. Answers that make later turns impossible are left out, too.
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

    The word list in use does not decide this challenge: the question only mentions which words are in the list. The
    answers are: the words are still being looked up; the play is withdrawn; the challenge has failed. If a failed
    challenge costs the challenger something, there is an answer for each player who may have challenged.
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
    """Ask again about a challenge that the players have not decided, if a command has changed the challenged words."""
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
    """Return the challenger to record: `seat`, or None with two players, where it follows from the play."""
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


CHALLENGE_COMMANDS = (ChallengePlay, DecideChallenge)
