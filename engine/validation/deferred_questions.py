"""Questions that the players answer later: list them, apply a late answer, and answer them from later readings.

A deferred question is an event of the game (`engine.events.QuestionDeferred`). The events before it are provisional. A
late answer replaces these events, and the later turns are applied again. A question is settled if a later reading
answers it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import log

from engine.board import Square
from engine.errors import NotationError, RulesError
from engine.events import (
    BlankNamed,
    BlankTaken,
    Challenged,
    Correction,
    Event,
    PlayerTurn,
    PlayMade,
    PlayWithdrawn,
    QuestionClosed,
    QuestionDeferred,
    SquareCorrected,
    TileRecycled,
    TurnCorrected,
    TurnInserted,
)
from engine.game import Game
from engine.inference.history import (
    EMPTY_HISTORY,
    MIN_CLEAR_PROBABILITY,
    Evidence,
    ReadingHistory,
    align_reading,
    face_of,
)
from engine.inference.hypotheses import Hypothesis, generate_hypotheses
from engine.lexicon import WordList
from engine.messages import make_message
from engine.reading import BoardReading
from engine.state import Turn, find_challengeable_turn
from engine.validation.findings import MIN_LETTER_CONFIDENCE
from engine.validation.void_plays import withdraw_void_plays

MAX_OPEN_QUESTIONS = 3
"""Maximum number of deferred questions. If the players defer one more, the oldest question is closed."""
MIN_SETTLING_LOG_ODDS = log(20)
"""Minimum log-odds (nats) between the two most likely answers for a reading to settle the question."""
MIN_SETTLING_CONFIDENCE = 0.99
"""Minimum confidence of a second reading for it to confirm the doubtful symbols of the first reading."""


def find_open_questions(game: Game) -> tuple[QuestionDeferred, ...]:
    """Return the deferred questions without an answer, the oldest question first."""
    closed = {event.number for event in game.events if isinstance(event, QuestionClosed)}
    deferred = (event for event in game.events if isinstance(event, QuestionDeferred))
    return tuple(event for event in deferred if event.number not in closed)


def find_provisional_turns(game: Game) -> Mapping[int, QuestionDeferred]:
    """Return the turns that count provisionally, because a question about them is open.

    The keys are the numbers of the turns (from 0), the values their questions.
    """
    found: dict[int, QuestionDeferred] = {}
    for question in find_open_questions(game):
        before = _find_game_before(game, question)
        after = before.push(*game.events[len(before.events) : game.events.index(question)])
        found |= dict.fromkeys(range(len(before.turns), len(after.turns)), question)
    return found


def defer_question(game: Game, question: QuestionDeferred, reading: BoardReading | None) -> tuple[Event, ...]:
    """Return the events that defer a question about the last `question.count` events of a game.

    The deferred question gets a number, and the symbols that `reading` has on the squares where the answers differ. If
    more than `MAX_OPEN_QUESTIONS` questions would be open, the oldest question is closed.
    """
    question = _number_question(game, question)
    if reading is not None:
        before = Game.from_events(game.events[: len(game.events) - question.count])
        reads = [reading.squares[square] for square in _find_disputed_squares(before, question.answers)]
        confidence = min((read.confidence for read in reads), default=1.0)
        question = replace(question, seen=tuple(read.symbol for read in reads), confidence=confidence)
    oldest = find_open_questions(game)[: -(MAX_OPEN_QUESTIONS - 1)]
    return (question, *(QuestionClosed(other.number) for other in oldest))


def close_question(game: Game, question: QuestionDeferred) -> tuple[Event, ...]:
    """Return the events that record an answered question about the last `question.count` events.

    Squares without a tile are removed from the recorded question.
    """
    squares = tuple(square for square in question.squares if game.board[square] is not None)
    question = replace(_number_question(game, question), squares=squares)
    return question, QuestionClosed(question.number)


def find_corrected_questions(game: Game) -> tuple[QuestionDeferred, ...]:
    """Return the deferred questions that the players have answered by a correction of their squares or their turn."""
    provisional = find_provisional_turns(game)
    found = []
    for question in find_open_questions(game):
        later = game.events[game.events.index(question) + 1 :]
        turns = {number for number, other in provisional.items() if other is question}
        squares = {event.square for event in later if isinstance(event, SquareCorrected) and event.told}
        disputed = _find_disputed_squares(_find_game_before(game, question), question.answers)
        if (
            _is_blank_named(game, question)
            or any(isinstance(event, TurnCorrected) and event.turn in turns for event in later)
            or (disputed and squares.issuperset(disputed))
        ):
            found.append(question)
    return tuple(found)


def _number_question(game: Game, question: QuestionDeferred) -> QuestionDeferred:
    numbers = [event.number for event in game.events if isinstance(event, QuestionDeferred)]
    return replace(question, number=max(numbers, default=0) + 1)


def answer_deferred_question(
    game: Game, number: int, answer: int, *, stays_open: bool = False, words: WordList | None = None
) -> Game:
    """Return the game after a late answer to the deferred question `number`.

    The events of the answer replace the provisional events, and the later events are applied again. If `stays_open` is
    True, the answer takes effect, but the question stays open. `words` is the word list; it is needed in a game in
    which invalid plays do not count (`ChallengeRule.VOID`). Even in such a game, an invalid play counts if later turns
    need its tiles. Raises `RulesError` if there is no such question or answer, or if the later turns are not possible
    after the answer.
    """
    question = _find_open_question(game, number)
    if question is None or not 0 <= answer < len(question.answers):
        raise RulesError(make_message("nothing-asked", "There is no open question."))
    if answer == question.chosen:
        return game if stays_open else game.push(QuestionClosed(number))
    before = _find_game_before(game, question)
    events = question.answers[answer]
    recorded, void_plays = (events, ()) if words is None else withdraw_void_plays(before, events, words)
    chosen = replace(question, chosen=answer)
    if void_plays:
        with suppress(_TilesNeededError):
            return _replace_provisional_events(game, before, chosen, recorded, stays_open)
    return _replace_provisional_events(game, before, chosen, events, stays_open)


def _find_open_question(game: Game, number: int) -> QuestionDeferred | None:
    """Return the deferred question with a number, or None if it is not open."""
    return next((question for question in find_open_questions(game) if question.number == number), None)


def _replace_provisional_events(
    game: Game, before: Game, question: QuestionDeferred, events: Sequence[Event], stays_open: bool
) -> Game:
    """Return the game with `events` in place of the provisional events of a question, which follow `before`.

    `question` is the question with the answer that is in effect now. Raises `RulesError` if the later turns are not
    possible.
    """
    new = before.push(*events, replace(question, count=len(events)))
    if not stays_open:
        new = new.push(QuestionClosed(question.number))
    later = len(before.events) + question.count + 1  # index of the first event after the question
    old = before.push(*game.events[len(before.events) : later])
    shift = _TurnShift(len(before.turns), len(old.turns), len(new.turns) - len(old.turns))
    return _repeat_events(game.events[later:], old, new, shift)


@dataclass(frozen=True, slots=True)
class _TurnShift:
    """Change of the turn numbers by a late answer that adds `added` turns (negative: removes turns).

    The turns from `start` to `end` (exclusive) are the provisional turns, which the answer replaces.
    """

    start: int
    end: int
    added: int

    def move(self, event: Correction) -> Correction:
        """Return a correction whose turn number is adapted to the answer.

        If the answer changes turn numbers, `RulesError` is raised for two kinds of corrections: those of a provisional
        turn, and those that insert or delete a turn.
        """
        if isinstance(event, BlankNamed) or event.turn is None or not self.added:
            return event
        if isinstance(event, TurnInserted) or (isinstance(event, TurnCorrected) and event.event is None):
            raise _LateAnswerError  # later corrections have the turn numbers after this one
        if event.turn < self.start:
            return event
        if event.turn < self.end:
            raise _LateAnswerError
        return replace(event, turn=event.turn + self.added)


class _LateAnswerError(RulesError):
    """Error for a late answer after which the later turns are not possible."""

    def __init__(self) -> None:
        text = "This answer would make later turns impossible. Correct those turns first."
        super().__init__(make_message("answer-too-late", text))


class _TilesNeededError(_LateAnswerError):
    """Error for a late answer after which a later play is not legal, because it needs tiles that are not played."""


def _repeat_events(events: Sequence[Event], old: Game, new: Game, shift: _TurnShift) -> Game:
    """Return the game `new` with the events that followed `old`, after adapting their players and turn numbers.

    Raises `RulesError` if an event is no longer possible.
    """
    for event in events:
        moved = _move_event(event, old, new, shift)
        if isinstance(event, PlayMade) and new.check_play(event.play) & ~old.check_play(event.play):
            raise _TilesNeededError
        old, new = old.push(event), new.push(moved)
    return new


def _move_event(event: Event, old: Game, new: Game, shift: _TurnShift) -> Event:
    """Return an event that followed the game `old`, with player and turn numbers adapted to the game `new`.

    Raises `RulesError` if the event is no longer possible.
    """
    if isinstance(event, PlayWithdrawn | Challenged):
        play = _find_same_play(old, new, shift, event)
        event = replace(event, player=play.player) if isinstance(event, PlayWithdrawn) else event
        if _find_target(new, event) != play:
            raise _LateAnswerError
    if old.to_move == new.to_move and not shift.added:
        return event
    if isinstance(event, PlayerTurn | TileRecycled | BlankTaken) and event.player == old.to_move:
        return replace(event, player=new.to_move)
    if isinstance(event, Challenged) and event.by == old.to_move:
        return replace(event, by=new.to_move)
    if isinstance(event, QuestionDeferred):
        old, new = (Game.from_events(game.events[: len(game.events) - event.count]) for game in (old, new))
        return replace(event, answers=tuple(tuple(_move_events(events, old, new, shift)) for events in event.answers))
    if not isinstance(event, Correction):
        return event
    moved = shift.move(event)
    if isinstance(event, TurnCorrected) and isinstance(moved, TurnCorrected):
        other = moved.event
        if isinstance(other, PlayerTurn) and other.player == old.turns[event.turn].player:
            return replace(moved, event=replace(other, player=new.turns[moved.turn].player))
    return moved


def _find_same_play(old: Game, new: Game, shift: _TurnShift, event: PlayWithdrawn | Challenged) -> Turn:
    """Return the turn of the game `new` with the play that `event`, which followed the game `old`, refers to.

    The play is the one on the same squares. A late answer may change its tiles, but an earlier play to which the answer
    adds these tiles is another play. Raises `RulesError` if there is no such play.
    """
    target = _find_target(old, event)
    squares = {square for square, _ in target.placements} if target else set[Square]()
    for turn in new.state.standing_plays():
        covered = {square for square, _ in turn.placements}
        if covered == squares or (turn.number >= shift.start and not covered.isdisjoint(squares)):
            return turn
    raise _LateAnswerError


def _find_target(game: Game, event: PlayWithdrawn | Challenged) -> Turn | None:
    """Return the turn of the play that an event takes back or challenges, or None if there is no such play."""
    if isinstance(event, Challenged):
        return find_challengeable_turn(game.state)
    return next((turn for turn in game.state.standing_plays() if turn.player == event.player), None)


def _move_events(events: Sequence[Event], old: Game, new: Game, shift: _TurnShift) -> Iterator[Event]:
    for event in events:
        moved = _move_event(event, old, new, shift)
        yield moved
        old, new = old.push(event), new.push(moved)


def settle_questions(
    game: Game, reading: BoardReading, history: ReadingHistory = EMPTY_HISTORY, words: WordList | None = None
) -> Game:
    """Return the game after settling the deferred questions that a new reading answers.

    A question is settled if the reading is much more likely after one of the answers than after the others. A reading
    of the same symbols as before settles nothing: the same light may cause the same error. `words` has the same
    meaning as in `answer_deferred_question`.
    """
    for number in [question.number for question in find_open_questions(game)]:
        question = _find_open_question(game, number)  # an answer to an earlier question may have changed it
        answer = None if question is None else _find_settled_answer(game, question, reading, history)
        if answer is not None:
            with suppress(NotationError, RulesError):  # the question stays open for the players
                game = answer_deferred_question(game, number, answer, words=words)
    return game


def _find_settled_answer(
    game: Game, question: QuestionDeferred, reading: BoardReading, history: ReadingHistory
) -> int | None:
    """Return the index of the answer that a new reading gives to a question, or None if the reading does not decide."""
    if _is_blank_named(game, question):
        return question.chosen
    before = _find_game_before(game, question)
    disputed = _find_disputed_squares(before, question.answers)
    aligned = align_reading(game, reading)
    if not disputed or aligned is None:
        return None
    if any(aligned.occupancy[square].hidden > MIN_CLEAR_PROBABILITY for square in disputed):
        return None
    if not _is_new_observation(question, disputed, aligned):
        return None
    hypotheses = _explain_after_answers(game, question, reading, history)
    best, *others = sorted(hypotheses, key=lambda answer: -hypotheses[answer].log_posterior)
    if not others or hypotheses[best].log_posterior - hypotheses[others[0]].log_posterior < MIN_SETTLING_LOG_ODDS:
        return None
    plays = [event.play for event in hypotheses[best].events if isinstance(event, PlayMade)]
    if best != question.chosen and any(not set(disputed).isdisjoint(play.squares) for play in plays):
        return None  # the tile there fits no answer, and is more likely misread than a tile of the next play
    boards = [_read_faces(before, events, disputed) for events in question.answers]
    if boards.count(boards[best]) > 1:
        return None  # the reading does not distinguish these answers
    return best


def _find_game_before(game: Game, question: QuestionDeferred) -> Game:
    """Return the game before the provisional events of a deferred question."""
    return Game.from_events(game.events[: game.events.index(question) - question.count])


def _is_blank_named(game: Game, question: QuestionDeferred) -> bool:
    """Return True if the question asked for the letter of a blank, and the blank is now named or not on the board."""
    squares = {event.square for events in question.answers for event in events if isinstance(event, BlankNamed)}
    tiles = [game.board[square] for square in squares]
    return bool(squares) and not any(tile is not None and tile.is_unnamed for tile in tiles)


def _explain_after_answers(
    game: Game, question: QuestionDeferred, reading: BoardReading, history: ReadingHistory
) -> Mapping[int, Hypothesis]:
    """Return the best hypothesis for a reading after each answer, by index of the answer.

    Answers that are not possible are left out.
    """
    hypotheses: dict[int, Hypothesis] = {}
    for answer in range(len(question.answers)):
        try:
            after = answer_deferred_question(game, question.number, answer)
        except (NotationError, RulesError):
            continue
        aligned = align_reading(after, reading) or reading
        evidence = Evidence(aligned, after.board, history.false_readings, not after.rules.retake_blanks)
        hypotheses[answer] = generate_hypotheses(after, evidence, ())[0]
    return hypotheses


def _is_new_observation(question: QuestionDeferred, squares: Sequence[Square], reading: BoardReading) -> bool:
    """Return True if a reading of the squares differs from the reading when the question was asked.

    It differs if it has other symbols, or if a doubtful symbol is certain now.
    """
    reads = [reading.squares[square] for square in squares]
    if tuple(read.symbol for read in reads) != question.seen:
        return True
    is_clear = all(read.confidence >= MIN_SETTLING_CONFIDENCE for read in reads)
    return question.confidence < MIN_LETTER_CONFIDENCE and is_clear


def _find_disputed_squares(before: Game, answers: Sequence[Sequence[Event]]) -> tuple[Square, ...]:
    """Return the squares on which the answers lead to different boards, so that a reading can decide between them."""
    boards = [before.push(*events).board for events in answers]
    found = {square for board in boards for square in boards[0].differences(board)}
    return tuple(sorted(s for s in found if len({face_of(board[s]) for board in boards}) > 1))


def _read_faces(before: Game, events: Sequence[Event], squares: Sequence[Square]) -> tuple[str, ...]:
    board = before.push(*events).board
    return tuple(face_of(board[square]) for square in squares)
