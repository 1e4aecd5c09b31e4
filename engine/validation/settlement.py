"""Settle questions: if the players have not answered a question, a later reading of the board may answer it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from math import log

from engine.board import Square
from engine.errors import NotationError, RulesError
from engine.events import PlayMade, filter_plays
from engine.game import Game
from engine.inference.alignment import align_reading
from engine.inference.evidence import MIN_CLEAR_PROBABILITY, Evidence, face_of, tile_confidence
from engine.inference.history import EMPTY_HISTORY, Past, ReadingHistory
from engine.inference.hypotheses import Hypothesis, generate_hypotheses
from engine.inference.log_priors import REPEATED_PLAY_LOG_PRIOR
from engine.ledger import Doubt, Entry, Judge, Ledger, compare_boards, find_boards, find_counting_entries
from engine.reading import EMPTY, HIDDEN, BoardReading
from engine.validation.findings import MIN_LETTER_CONFIDENCE
from engine.validation.open_questions import is_blank_named

MIN_SETTLING_LOG_ODDS = log(20)
"""Minimum log-odds (nats) between the two most likely answers for a reading to settle the question."""
MIN_SETTLING_CONFIDENCE = 0.99
"""Minimum confidence of a second reading for it to confirm the doubtful symbols of the first reading."""
MAX_SETTLED_QUESTIONS = 8
"""Maximum number of open questions that are compared with a reading, the newest ones, because each takes time."""


def settle_questions(ledger: Ledger, reading: BoardReading, history: ReadingHistory = EMPTY_HISTORY) -> Ledger:
    """Return the ledger with the answers that a new reading gives to open questions, as a group of entries.

    A question is settled if the reading is much more likely after one of the answers than after the others. A reading
    of the same symbols as before settles nothing: the same light may cause the same error. A tile that was clearly seen
    and is gone settles nothing, either: it was lifted or taken back.
    """
    entries = find_counting_entries(ledger)[-MAX_SETTLED_QUESTIONS:]
    group, settled = ledger.next_group, ledger.with_timeline() if entries else ledger
    for entry in entries:
        assert entry.doubt is not None
        if entry.number in settled.answers:  # what a player has told is not contradicted by a picture
            continue
        answer = _find_settled_answer(settled, entry, entry.doubt, reading, history)
        if answer is not None:
            with suppress(NotationError, RulesError):  # the question stays open for the players
                settled = settled.answer(entry.number, answer, Judge.PICTURE, group=group)
    return ledger.add(*settled.entries[len(ledger.entries) :])


def _find_settled_answer(
    ledger: Ledger, entry: Entry, doubt: Doubt, reading: BoardReading, history: ReadingHistory
) -> int | None:
    """Return the answer that a new reading gives to a question, or None if the reading does not decide."""
    game, chosen = ledger.game, ledger.find_chosen(entry)
    if is_blank_named(game, entry):
        return chosen
    aligned = align_reading(game, reading)
    if aligned is None:
        return None
    if _is_confirmed(game, entry, doubt, aligned):
        return chosen
    before = ledger.find_game_before(entry)
    boards = find_boards(before, entry)
    disputed = compare_boards(list(boards.values()))
    if not disputed:
        return None
    if any(aligned.occupancy[square].hidden > MIN_CLEAR_PROBABILITY for square in disputed):
        return None
    if not _is_new_observation(doubt, disputed, aligned) or _is_tile_lifted(doubt, disputed, aligned):
        return None
    faces = {answer: tuple(face_of(board[square]) for square in disputed) for answer, board in boards.items()}
    hypotheses = _explain_after_answers(ledger, entry, before, faces, reading, history)
    best, *others = sorted(hypotheses, key=lambda answer: -hypotheses[answer].log_posterior)
    if not others or hypotheses[best].log_posterior - hypotheses[others[0]].log_posterior < MIN_SETTLING_LOG_ODDS:
        return None
    plays = [event.play for event in filter_plays(hypotheses[best].events)]
    if best != chosen and any(not set(disputed).isdisjoint(play.squares) for play in plays):
        return None  # the tile there fits no answer, and is more likely misread than a tile of the next play
    if list(faces.values()).count(faces[best]) > 1:
        return None  # the reading does not distinguish these answers
    return best


def _is_confirmed(game: Game, entry: Entry, doubt: Doubt, reading: BoardReading) -> bool:
    """Return True if a question has a single play as its only answer, and a reading clearly shows the tiles in doubt.

    Such a question is about letters in doubt, or about hidden squares at the ends of the play.
    """
    if len(entry.alternatives) > 1 or len(entry.alternatives[0]) != 1:
        return False
    if not isinstance(entry.alternatives[0][0], PlayMade):
        return False
    confidences = [tile_confidence(reading.squares[square], game.board[square]) for square in doubt.squares]
    return min(confidences, default=0.0) >= MIN_SETTLING_CONFIDENCE


def _explain_after_answers(
    ledger: Ledger,
    entry: Entry,
    before: Game,
    answers: Iterable[int],
    reading: BoardReading,
    history: ReadingHistory,
) -> Mapping[int, Hypothesis]:
    """Return, for each answer to a question, the best explanation of a reading if this answer is right.

    `before` is the game before the entry with the question. Answers that are not possible are left out. Two kinds of
    explanations are unlikely or impossible:

    - Tiles of a withdrawn play cannot be left on squares that were empty when the question was asked.
    - A new play rarely has the same tiles on the same squares as before the entry, least of all only such tiles.
    """
    assert entry.doubt is not None
    were_empty = set(entry.doubt.seen) == {EMPTY}
    hypotheses: dict[int, Hypothesis] = {}
    for answer in answers:
        try:
            is_in_effect = answer == ledger.find_chosen(entry)
            after = ledger.game if is_in_effect else ledger.answer(entry.number, answer).game
        except (NotationError, RulesError):
            continue
        aligned = align_reading(after, reading) or reading
        has_marked_blanks = not after.rules.retake_blanks
        false_readings = history.find_false_readings(after)
        evidence = Evidence(aligned, after.board, false_readings, has_marked_blanks=has_marked_blanks)
        found = generate_hypotheses(after, evidence, Past(after, ()))
        best = next(one for one in found if not (were_empty and one.uncleared_board))
        tiles = [placed for event in filter_plays(best.events) for placed in event.play.tiles]
        repeated_count = sum(face_of(before.board[square]) == tile.face for square, tile in tiles)
        is_same_play = bool(tiles) and repeated_count == len(tiles)
        log_prior = best.log_prior + (repeated_count + is_same_play) * REPEATED_PLAY_LOG_PRIOR
        hypotheses[answer] = replace(best, log_prior=log_prior)
    return hypotheses


def _is_new_observation(doubt: Doubt, squares: Sequence[Square], reading: BoardReading) -> bool:
    """Return True if a reading tells more about the squares than the reading for which the question was asked.

    It tells more if it has other symbols, or if a doubtful symbol is certain now.
    """
    reads = [reading.squares[square] for square in squares]
    if tuple(read.symbol for read in reads) != doubt.seen:
        return True
    is_clear = all(read.confidence >= MIN_SETTLING_CONFIDENCE for read in reads)
    return doubt.confidence < MIN_LETTER_CONFIDENCE and is_clear


def _is_tile_lifted(doubt: Doubt, squares: Sequence[Square], reading: BoardReading) -> bool:
    """Return True if a square is empty on which a tile was clearly seen when the question was asked.

    Players have taken the tile off the board since then, so its square does not say what they played before. Return
    False if it is not known what was seen: the question was not about a reading, or its answers have changed since.
    """
    if doubt.confidence < MIN_LETTER_CONFIDENCE or len(doubt.seen) != len(squares):
        return False
    pairs = zip(squares, doubt.seen, strict=True)
    return any(seen not in (EMPTY, HIDDEN) and reading.squares[square].symbol == EMPTY for square, seen in pairs)
