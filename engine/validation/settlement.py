"""Settle deferred questions: answer them from later readings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from math import log

from engine.board import Square
from engine.errors import NotationError, RulesError
from engine.events import Event, PlayMade, QuestionDeferred, filter_plays
from engine.game import Game
from engine.inference.alignment import align_reading
from engine.inference.evidence import MIN_CLEAR_PROBABILITY, Evidence, face_of, tile_confidence
from engine.inference.history import EMPTY_HISTORY, ReadingHistory
from engine.inference.hypotheses import Hypothesis, generate_hypotheses
from engine.inference.log_priors import REPEATED_PLAY_LOG_PRIOR
from engine.lexicon import WordList
from engine.reading import EMPTY, HIDDEN, BoardReading
from engine.validation.deferred_questions import (
    find_deferred_question,
    find_deferred_questions,
    find_disputed_squares,
    is_blank_named,
)
from engine.validation.findings import MIN_LETTER_CONFIDENCE
from engine.validation.late_answers import LateAnswerReplay

MIN_SETTLING_LOG_ODDS = log(20)
"""Minimum log-odds (nats) between the two most likely answers for a reading to settle the question."""
MIN_SETTLING_CONFIDENCE = 0.99
"""Minimum confidence of a second reading for it to confirm the doubtful symbols of the first reading."""


def settle_questions(
    game: Game,
    reading: BoardReading,
    history: ReadingHistory = EMPTY_HISTORY,
    words: WordList | None = None,
    *,
    has_own_buttons: bool = False,
) -> Game:
    """Return the game after settling the deferred questions that a new reading answers.

    A question is settled if the reading is much more likely after one of the answers than after the others. A reading
    of the same symbols as before settles nothing: the same light may cause the same error. A tile that was clearly seen
    and is gone settles nothing, either: it was lifted or taken back. An invalid play that was withdrawn stays so, even
    if the answer makes it valid: its tiles may have been taken back. `words` and `has_own_buttons` have the same
    meaning as in `answer_deferred_question`.
    """
    for number in [question.number for question in find_deferred_questions(game)]:
        question = find_deferred_question(game, number)  # an answer to an earlier question may have changed it
        answer = None if question is None else _find_settled_answer(game, question, reading, history)
        if question is not None and answer is not None:
            with suppress(NotationError, RulesError):  # the question stays open for the players
                game = LateAnswerReplay(game, question, has_own_buttons=has_own_buttons).apply(answer, words=words)
    return game


def _find_settled_answer(
    game: Game, question: QuestionDeferred, reading: BoardReading, history: ReadingHistory
) -> int | None:
    """Return the index of the answer that a new reading gives to a question, or None if the reading does not decide."""
    if is_blank_named(game, question):
        return question.chosen
    aligned = align_reading(game, reading)
    if aligned is None:
        return None
    if _is_confirmed(game, question, aligned):
        return question.chosen
    replay = LateAnswerReplay(game, question)
    before = replay.before
    disputed = find_disputed_squares(before, question.answers)
    if not disputed:
        return None
    if any(aligned.occupancy[square].hidden > MIN_CLEAR_PROBABILITY for square in disputed):
        return None
    if not _is_new_observation(question, disputed, aligned) or _is_tile_lifted(question, disputed, aligned):
        return None
    hypotheses = _explain_after_answers(replay, question, reading, history)
    best, *others = sorted(hypotheses, key=lambda answer: -hypotheses[answer].log_posterior)
    if not others or hypotheses[best].log_posterior - hypotheses[others[0]].log_posterior < MIN_SETTLING_LOG_ODDS:
        return None
    plays = [event.play for event in filter_plays(hypotheses[best].events)]
    if best != question.chosen and any(not set(disputed).isdisjoint(play.squares) for play in plays):
        return None  # the tile there fits no answer, and is more likely misread than a tile of the next play
    boards = [_read_faces(before, events, disputed) for events in question.answers]
    if boards.count(boards[best]) > 1:
        return None  # the reading does not distinguish these answers
    return best


def _is_confirmed(game: Game, question: QuestionDeferred, reading: BoardReading) -> bool:
    """Return True if one play is the only answer, and a reading clearly shows the recorded tiles in question.

    The question was about letters in doubt, or about hidden squares at the ends of the play.
    """
    if len(question.answers) > 1 or not isinstance(question.answers[0][-1], PlayMade) or question.count > 1:
        return False
    confidences = [tile_confidence(reading.squares[square], game.board[square]) for square in question.squares]
    return min(confidences, default=0.0) >= MIN_SETTLING_CONFIDENCE


def _explain_after_answers(
    replay: LateAnswerReplay, question: QuestionDeferred, reading: BoardReading, history: ReadingHistory
) -> Mapping[int, Hypothesis]:
    """Return the best hypothesis for a reading after each answer, by index of the answer.

    Answers that are not possible are left out. If the disputed squares were empty when the question was asked, tiles on
    them have not been left there after a withdrawal. A new play hardly has the same tiles as a play that was withdrawn,
    least of all no other tiles.
    """
    before = replay.before
    were_empty = set(question.seen) == {EMPTY}
    hypotheses: dict[int, Hypothesis] = {}
    for answer in range(len(question.answers)):
        try:
            after = replay.apply(answer)
        except (NotationError, RulesError):
            continue
        aligned = align_reading(after, reading) or reading
        has_marked_blanks = not after.rules.retake_blanks
        evidence = Evidence(aligned, after.board, history.false_readings, has_marked_blanks=has_marked_blanks)
        found = generate_hypotheses(after, evidence, ())
        best = next(one for one in found if not (were_empty and one.uncleared_board))
        tiles = [placed for event in filter_plays(best.events) for placed in event.play.tiles]
        repeated_count = sum(face_of(before.board[square]) == tile.face for square, tile in tiles)
        is_same_play = bool(tiles) and repeated_count == len(tiles)
        log_prior = best.log_prior + (repeated_count + is_same_play) * REPEATED_PLAY_LOG_PRIOR
        hypotheses[answer] = replace(best, log_prior=log_prior)
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


def _is_tile_lifted(question: QuestionDeferred, squares: Sequence[Square], reading: BoardReading) -> bool:
    """Return True if a square is empty on which a tile was clearly seen when the question was asked.

    Players have taken the tile off the board since then, so its square does not say what they played before. Return
    False if it is not known what was seen: the question was not about a reading, or its answers have changed since.
    """
    if question.confidence < MIN_LETTER_CONFIDENCE or len(question.seen) != len(squares):
        return False
    pairs = zip(squares, question.seen, strict=True)
    return any(seen not in (EMPTY, HIDDEN) and reading.squares[square].symbol == EMPTY for square, seen in pairs)


def _read_faces(before: Game, events: Sequence[Event], squares: Sequence[Square]) -> tuple[str, ...]:
    board = before.push(*events).board
    return tuple(face_of(board[square]) for square in squares)
