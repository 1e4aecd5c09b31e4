"""The open question of a session: what the players are asked, and the events of each answer."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from device.catalogue import get_text
from device.session.messages import (
    NOT_READ_IN_TIME,
    PICTURE_ANSWERS,
    WHO_CHALLENGED,
    WHO_PAYS,
    Question,
    format_sentence,
    make_question,
)
from engine.board import Board, Square
from engine.descriptions import describe_events
from engine.events import (
    BlankNamed,
    Challenged,
    ClockRead,
    Event,
    GameEnded,
    Passed,
    PlayWithdrawn,
    PositionEntered,
    QuestionDeferred,
    TurnCorrected,
    filter_plays,
)
from engine.game import Game
from engine.messages import key_of
from engine.reading import EMPTY, BoardReading
from engine.rules import ChallengeRule
from engine.tiles import TileSet
from engine.validation import Finding, Option, Reason
from engine.validation.deferred_questions import find_new_names


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """An open question with the events of each answer.

    - `is_answer_recorded`: the events of the chosen answer (at first the first one) are recorded, and count until the
      players choose another answer. If it is False, nothing is recorded before they answer.
    - `stops_clock`: the clocks are stopped until the players answer, for example while they decide a challenge.
    - `was_answer_unrecorded`: the panel has chosen an answer, and none was recorded before.
    - `reading`: the reading of the board that the question is about.
    - `deferred`: the number of a deferred question that is shown again, otherwise 0.
    - `finding`: the finding of the validation that caused the question, or None.
    - `following`: the question that follows from the answer that the panel chose, or None. It is deferred when the
      choice is final.
    """

    question: Question
    answers: tuple[tuple[Event, ...], ...]
    is_answer_recorded: bool = True
    stops_clock: bool = False
    was_answer_unrecorded: bool = False
    finding: Finding | None = None
    reading: BoardReading | None = None
    deferred: int = 0
    following: OpenQuestion | None = None

    @property
    def view(self) -> Question:
        """The question for clients, with its `id`, and with `can_defer` and `can_look_again` set.

        The `id` depends only on the texts and events. So it is the same after a restart, and after the panel has chosen
        an answer.
        """
        contents = self.question.text, self.question.answers, self.question.squares, self.answers, self.deferred
        number = zlib.crc32(repr(contents).encode()) or 1
        can_look_again = self.reading is not None and not any(map(self.asks_for_picture, range(len(self.answers))))
        return replace(self.question, can_defer=not self.stops_clock, can_look_again=can_look_again, id=number)

    def asks_for_picture(self, answer: int) -> bool:
        """Return True if the answer with the index `answer` means that the board is to be read again."""
        return not self.answers[answer] and key_of(self.question.answers[answer]) in PICTURE_ANSWERS

    @property
    def is_deferrable(self) -> bool:
        """True if the turn counts provisionally until the players answer, and the answers may change the scores.

        What the players choose about the words of a challenge is final.
        """
        counts = self.is_answer_recorded and bool(self.answers[self.question.chosen])
        outcomes = {event.upheld for events in self.answers for event in events if isinstance(event, Challenged)}
        return counts and not self.stops_clock and not self.question.is_about_pass and len(outcomes) < 2

    @property
    def is_challenge(self) -> bool:
        """True if the players decide whether the words of a challenged play are valid."""
        return self.stops_clock and not self.question.offers_wait

    @property
    def is_turn_unrecorded(self) -> bool:
        """True if the turn in question is not recorded before the answer. A challenged turn is recorded."""
        return not self.is_answer_recorded and not self.is_challenge

    @property
    def is_play_unrecorded(self) -> bool:
        """True if the turn in question is not recorded before the answer, and may be a play."""
        return not self.is_answer_recorded and any(map(filter_plays, self.answers))

    @property
    def offers_end(self) -> bool:
        """True if one of the answers is that the game is over."""
        return any(isinstance(event, GameEnded) for events in self.answers for event in events)

    @property
    def is_about_player(self) -> bool:
        """True if the question asks whose turn it was. After the answer, another question about the turn may follow."""
        return self.finding is not None and self.finding.reason in (Reason.OUT_OF_TURN, Reason.PRESS_MISSED)

    def make_deferred(self, events: Sequence[Event], chosen: int | None = None) -> QuestionDeferred:
        """Return the event that stores this question for a later answer.

        `events` are the last events of the game, which the question is about. The answer *Look again* is left out. If
        the question is about missing tiles, and no answer keeps their play while the game goes on, an answer without
        events is added. This answer means that the players did not take back the play: the picture was an old one, or
        something covered the tiles.

        `chosen` is the index of the answer in effect; None means the chosen answer of the question. The number of the
        event is 0, because it is assigned later.
        """
        pairs = zip(self.question.answers, self.answers, strict=True)
        offered = [(text, answer) for text, answer in pairs if answer]
        is_removed = self.finding is not None and self.finding.reason is Reason.TILES_REMOVED
        other_kinds = PlayWithdrawn, TurnCorrected, GameEnded  # first events of answers that do not keep the play
        if is_removed and all(isinstance(answer[0], other_kinds) for _, answer in offered):
            offered.append((get_text("answer-not-taken-back"), ()))
        texts, answers = zip(*offered, strict=True)
        earlier_answers = self.answers[: self.question.chosen if chosen is None else chosen]
        return QuestionDeferred(
            number=0,
            text=self.question.text,
            texts=texts,
            answers=answers,
            count=sum(not isinstance(event, ClockRead) for event in events),
            chosen=sum(bool(answer) for answer in earlier_answers),  # its index among the answers that are offered
            squares=self.question.squares,
        )


def make_recalled_question(game: Game, deferred: QuestionDeferred) -> OpenQuestion:
    """Return a deferred question of a game as the open question of the table."""
    question = Question.from_event(deferred).with_names(find_new_names(game, deferred))
    return OpenQuestion(question, deferred.answers, deferred=deferred.number)


def make_wait_question(max_s: float) -> OpenQuestion:
    """Return the question about a turn that was not read within `max_s` seconds; it stops the clocks."""
    answers = get_text("answer-wait"), get_text("answer-by-hand")
    question = make_question(NOT_READ_IN_TIME, f"{max_s:.0f}", answers=answers)
    return OpenQuestion(question, ((), ()), is_answer_recorded=False, stops_clock=True)


def make_finding_question(game: Game, finding: Finding) -> OpenQuestion:
    """Return the question about a finding of the validation, with an answer for each option of the finding."""
    answers: dict[str, tuple[Event, ...]] = {}
    for option in finding.options:
        answers.setdefault(_describe_option(game, finding, option), option.events)
    question = make_question(
        f"asked-{finding.reason}", *finding.values, answers=tuple(answers), squares=finding.squares
    )
    if finding.reason is Reason.BOARD_ALREADY_FULL:
        boards = [_add_position(game.board, option.events) for option in finding.options]
        question = replace(question, symbols=list_symbols(boards, game.tiles, finding.squares))
    is_counted = bool(finding.options[0].events)
    return OpenQuestion(question, tuple(answers.values()), is_answer_recorded=is_counted, finding=finding)


def make_challenger_question(game: Game, seats: Sequence[int]) -> Question:
    """Return the question "who has challenged?" about a valid play; the answers are the players on `seats`."""
    key = WHO_CHALLENGED if game.rules.challenge is ChallengeRule.DOUBLE else WHO_PAYS
    return make_question(key, answers=tuple(game.players[seat] for seat in seats))


def _add_position(board: Board, events: Sequence[Event]) -> Board:
    """Return the board with the tiles of the entered position, if there is one among the events."""
    for event in events:
        if isinstance(event, PositionEntered):
            board = board.with_tiles(dict(event.board))
    return board


def list_symbols(boards: Iterable[Board], tiles: TileSet, squares: Sequence[Square]) -> tuple[tuple[str, ...], ...]:
    """Return the symbols (letter, blank or empty) on the given squares, for each board."""

    def find_symbol(board: Board, square: Square) -> str:
        tile = board[square]
        return EMPTY if tile is None else tiles.text(tile)

    return tuple(tuple(find_symbol(board, square) for square in squares) for board in boards)


def _describe_option(game: Game, finding: Finding, option: Option) -> str:
    if not option.events:
        return get_text("answer-mistake" if option.is_mistake else "answer-read-again")
    if isinstance(option.events[-1], GameEnded):
        return get_text("answer-game-over")
    if option.events == (Passed(game.to_move),) and finding.reason is Reason.OLD_TILE_DIFFERS:
        return get_text("answer-as-recorded")
    if isinstance(option.events[-1], PositionEntered):
        return get_text("answer-start-here", game.players[option.events[-1].to_move])
    if isinstance(option.events[-1], BlankNamed):
        return get_text("answer-blank", option.events[-1].letter)
    return format_sentence(describe_events(game, game.push(*option.events), option.events))
