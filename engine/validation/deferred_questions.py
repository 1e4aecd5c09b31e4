"""Questions that the players answer later: defer and find them.

A deferred question is an event of the game (`engine.events.QuestionDeferred`). The events before it are provisional.
`late_answers` applies the answer of the players, and `settlement` answers a question from later readings.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from engine.board import Square
from engine.events import (
    BlankNamed,
    BlankTaken,
    Event,
    PlayerRenamed,
    PlayMade,
    QuestionClosed,
    QuestionDeferred,
    SquareCorrected,
    TurnCorrected,
    TurnInserted,
    filter_plays,
)
from engine.game import Game
from engine.inference.evidence import face_of
from engine.plays import Play
from engine.reading import BoardReading
from engine.state import Turn

MAX_DEFERRED_QUESTIONS = 8
"""Maximum number of deferred questions. If the players defer one more, the oldest question is closed.

It is limited because each deferred question is compared with every reading, which takes time late in a game.
"""


def find_deferred_questions(game: Game) -> tuple[QuestionDeferred, ...]:
    """Return the deferred questions without an answer, the oldest question first."""
    closed = {event.number for event in game.events if isinstance(event, QuestionClosed)}
    deferred = (event for event in game.events if isinstance(event, QuestionDeferred))
    return tuple(event for event in deferred if event.number not in closed)


def find_provisional_squares(game: Game) -> frozenset[Square]:
    """Return the squares of the deferred questions; later readings may correct the tiles on these squares."""
    return frozenset(square for question in find_deferred_questions(game) for square in question.squares)


def find_provisional_turns(game: Game) -> Mapping[int, QuestionDeferred]:
    """Return the turns that count provisionally, because a question about them is deferred.

    The keys are the numbers of the turns (from 0), the values their questions.
    """
    found: dict[int, QuestionDeferred] = {}
    for question in find_deferred_questions(game):
        turns, _ = _follow_turns(game, question)
        found |= dict.fromkeys(turns, question)
    return found


def _follow_turns(game: Game, question: QuestionDeferred) -> tuple[dict[int, Turn], bool]:
    """Return the provisional turns of a question as first recorded, and True if one of them was corrected later.

    The keys are the numbers (from 0) that the turns have now: turns that were inserted or removed later have changed
    them. A correction that does not answer the question is not counted, see `_is_answer`.
    """
    before, at = find_game_before(game, question), game.events.index(question)
    after = before.push(*game.events[len(before.events) : at])
    turns, is_corrected = {turn.number: turn for turn in after.turns[len(before.turns) :]}, False
    plays = [turn.play for turn in turns.values()]
    for event in game.events[at + 1 :]:
        if isinstance(event, TurnInserted):
            turns = {number + (number >= event.turn): turn for number, turn in turns.items()}
        elif isinstance(event, TurnCorrected):
            corrected = turns.get(event.turn)
            is_corrected |= corrected is not None and _is_answer(event, corrected, plays, before, question)
            if event.event is None:
                turns = {n - (n > event.turn): turn for n, turn in turns.items() if n != event.turn}
    return turns, is_corrected


def _is_answer(
    correction: TurnCorrected, turn: Turn, plays: Sequence[Play | None], before: Game, question: QuestionDeferred
) -> bool:
    """Return True if a correction of `turn`, one of the provisional `plays`, answers the question about them.

    A correction of only the player does not say what was played. Neither does one that adds tiles elsewhere: a later
    reading may have shown that they belong to the play. A correction of the tiles does not say who made the play, if
    this is the question, nor what is on the squares of another play. `before` is the game before the plays.
    """
    disputed = find_disputed_squares(before, question.answers)
    if not is_only_about_turn(turn, disputed, question.answers):
        return False
    if not isinstance(correction.event, PlayMade):
        return True
    play = correction.event.play
    if play in plays or not disputed:
        return False
    kept = [other for other in plays if other is not None and {*other.tiles} <= {*play.tiles}]
    return all({*play.squares}.difference(other.squares).intersection(disputed) for other in kept)


def is_only_about_turn(turn: Turn, disputed: Collection[Square], answers: Sequence[Sequence[Event]]) -> bool:
    """Return True if the disputed squares of a question belong to a turn, or to other plays in place of its play.

    Such a play is among the answers and shares a square with the play of the turn. A turn that is no play may have been
    any play.
    """
    own = {square for square, _ in turn.placements}
    plays = [{*event.play.squares} for events in answers for event in filter_plays(events)]
    return not own or own.union(*(play for play in plays if not own.isdisjoint(play))).issuperset(disputed)


def find_new_names(game: Game, question: QuestionDeferred) -> Mapping[str, str]:
    """Return the current names of the players, by the names that they have in the texts of a deferred question.

    Players may have been renamed since then, and provisional turns may have been given to other players.
    """
    at = game.events.index(question)
    names = list(game.start_event.players)
    for event in game.events[:at]:
        if isinstance(event, PlayerRenamed):
            names[event.player] = event.name
    found = dict(zip(names, game.players, strict=True))
    if any(isinstance(event, TurnCorrected) for event in game.events[at:]):
        turns, _ = _follow_turns(game, question)
        found |= {names[turn.player]: game.players[game.turns[number].player] for number, turn in turns.items()}
    return found


def defer_question(
    game: Game, question: QuestionDeferred, reading: BoardReading | None, *, keep: int = 0
) -> tuple[Event, ...]:
    """Return the events that defer a question about the last `question.count` events of a game.

    The deferred question gets a number, and the symbols that `reading` has on the squares where the answers differ. If
    more than `MAX_DEFERRED_QUESTIONS` questions would be deferred, the oldest question is closed, unless its number is
    `keep`: a question that is answered next.
    """
    question = _number_question(game, question)
    if reading is not None:
        before = Game.from_events(game.events[: len(game.events) - question.count])
        reads = [reading.squares[square] for square in find_disputed_squares(before, question.answers)]
        confidence = min((read.confidence for read in reads), default=1.0)
        question = replace(question, seen=tuple(read.symbol for read in reads), confidence=confidence)
    oldest = find_deferred_questions(game)[: -(MAX_DEFERRED_QUESTIONS - 1)]
    return (question, *(QuestionClosed(other.number) for other in oldest if other.number != keep))


def make_question_events(game: Game, question: QuestionDeferred) -> tuple[Event, ...]:
    """Return the events that record an answered question about the last `question.count` events.

    They defer the question and close it, so that the game contains which squares the players were asked about. Squares
    without a tile are removed from the recorded question.
    """
    squares = tuple(square for square in question.squares if game.board[square] is not None)
    question = replace(_number_question(game, question), squares=squares)
    return question, QuestionClosed(question.number)


def find_corrected_questions(game: Game) -> tuple[QuestionDeferred, ...]:
    """Return the deferred questions that the players have answered by a correction of their squares or their turn."""
    return tuple(question for question in find_deferred_questions(game) if _is_corrected(game, question))


def _is_corrected(game: Game, question: QuestionDeferred) -> bool:
    """Return True if a correction of the squares or of the turn of a deferred question has answered it."""
    if is_blank_named(game, question):
        return True
    later = game.events[game.events.index(question) + 1 :]
    if any(isinstance(event, TurnCorrected) for event in later) and _follow_turns(game, question)[1]:
        return True
    squares = {event.square for event in later if isinstance(event, SquareCorrected) and event.told}
    disputed = find_disputed_squares(find_game_before(game, question), question.answers) if squares else ()
    return bool(disputed) and squares.issuperset(disputed)


def _number_question(game: Game, question: QuestionDeferred) -> QuestionDeferred:
    numbers = [event.number for event in game.events if isinstance(event, QuestionDeferred)]
    return replace(question, number=max(numbers, default=0) + 1)


def find_deferred_question(game: Game, number: int) -> QuestionDeferred | None:
    """Return the deferred question with a number, or None if it is answered or closed."""
    return next((question for question in find_deferred_questions(game) if question.number == number), None)


def find_game_before(game: Game, question: QuestionDeferred) -> Game:
    """Return the game before the provisional events of a deferred question."""
    return Game.from_events(game.events[: game.events.index(question) - question.count])


def is_blank_named(game: Game, question: QuestionDeferred) -> bool:
    """Return True if the question asked for the letter of a blank, and the blank is now named or not on the board.

    A question whether a player has taken a blank does not ask for its letter, although one of its answers names it.
    """
    events = [event for answer in question.answers for event in answer]
    named = {event.square for event in events if isinstance(event, BlankNamed)}
    squares = named - {event.square for event in events if isinstance(event, BlankTaken)}
    tiles = [game.board[square] for square in squares]
    return bool(squares) and not any(tile is not None and tile.is_unnamed for tile in tiles)


def find_disputed_squares(before: Game, answers: Sequence[Sequence[Event]]) -> tuple[Square, ...]:
    """Return the squares on which the answers lead to different boards, so that a reading can decide between them.

    A reading does not show the letter of a blank, so boards that differ only in such a letter count as equal.
    """
    boards = [before.push(*events).board for events in answers]
    found = {square for board in boards for square in boards[0].differences(board)}
    return tuple(sorted(s for s in found if len({face_of(board[s]) for board in boards}) > 1))
