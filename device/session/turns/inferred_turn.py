"""Decide about a turn by its inference alone: the events, or a question with an answer for each explanation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from device.catalogue import get_text
from device.session.messages import (
    PASS_OR_EXCHANGE,
    PASS_OR_MISTAKE,
    Question,
    format_sentence,
    make_question,
)
from device.session.questions import TurnQuestion
from device.session.snapshot_builder import find_max_exchange
from device.session.turns.decision import Decision
from engine.board import NEIGHBOURS, SQUARES, Square, square_name
from engine.descriptions import describe_events
from engine.events import (
    Event,
    Exchanged,
    Passed,
    PlayerTurn,
    Ref,
    SquareCorrected,
    TurnCorrected,
    filter_plays,
)
from engine.game import Game
from engine.inference.explain import DoubtKind, Explanation, Inference, InferenceQuestion, changes_record
from engine.reading import HIDDEN, BoardReading
from engine.validation.alternative_plays import list_other_orders, pass_after_exchange
from engine.validation.turn_checks import move_to_seat

MIN_OFFERED_PROBABILITY = 0.01
"""Smallest posterior probability of an explanation that is offered as an answer."""
MIN_STORY_PROBABILITY = 0.001
"""The same in a question how recorded turns have changed, which has room for `MAX_STORIES` answers."""
MAX_STORIES = 3
"""Largest number of answers, besides *Look again*, to the question how recorded turns have changed."""
MIN_LIKELY_STORY_WEIGHT = 0.3
"""Smallest weight of an answer for which there is room beside two likelier ones, before the turns as recorded."""
MIN_HIDDEN_PROBABILITY = 0.5
"""Limit of the probability that a hand hides a square. Above it, the square counts as hidden, so it may have an
unseen tile."""


def decide_by_inference(game: Game, inference: Inference, reading: BoardReading, seat: int | None = None) -> Decision:
    """Return the decision about a turn from the inferred explanations only, without a validation of the events.

    `seat` is the player whose button or phone ended the turn, or None.
    """
    best = inference.best
    corrections = [event for event in best.events if isinstance(event, SquareCorrected) and game.board[event.square]]
    is_pass = len(corrections) == len(best.events) and not best.is_uncleared
    if inference.question is None:
        return _decide_without_play(game, reading, corrections) if is_pass else Decision(best.events)
    has_other_tiles = best.leftover_squares or best.missing_squares or best.misread_squares
    if is_pass and not has_other_tiles and _find_hidden_squares(game, reading):
        return _decide_without_play(game, reading, corrections)  # a play may be hidden; an old tile may be, too
    likely = _list_likely_explanations(inference)
    answers = _collect_answers(game, inference.question, likely, seat)
    events = next(iter(answers.values()))
    if len(answers) == 1:
        lost = best.missing_squares if inference.question.doubt is DoubtKind.TILE_LOST else ()
        return Decision(events, warning=inference.question.text, lost_squares=lost)
    question = Question(
        format_sentence(_choose_question_text(game, inference.question, likely, len(answers))),
        tuple(map(format_sentence, answers)),
        squares=inference.question.squares,
    )
    return Decision(events, TurnQuestion(question, tuple(answers.values())))


def _collect_answers(
    game: Game, question: InferenceQuestion, likely: Sequence[Explanation], seat: int | None
) -> dict[str, tuple[Event, ...]]:
    """Return the events of each answer to the question of an inference, by the text of the answer.

    The answers are the `likely` explanations and other ways in which players get these tiles, the likeliest first.
    *Look again* is added to a single answer that is in doubt, and if recorded turns may have changed. If tiles of no
    play are on the board, the first answer has no events.
    """
    best, *_ = likely
    listed = [answer for explanation in likely for answer in _list_answers(game, explanation, seat)]
    weighted: dict[str, tuple[float, tuple[Event, ...]]] = {}
    for weight, text, events in sorted(listed, key=lambda answer: -answer[0]):
        weighted.setdefault(text, (weight, events))
    is_story = any(_revises(explanation.events) for explanation in likely)
    answers = {text: weighted[text][1] for text in (_choose_stories(weighted) if is_story else weighted)}
    if best.leftover_squares and not best.events and not best.is_uncleared:
        answers = {question.text: (), **answers}
    is_unusual = question.doubt is DoubtKind.UNUSUAL_TURN or len(filter_plays(best.events)) > 1
    if is_story or (len(answers) == 1 and (best.covered_squares or is_unusual)):
        answers[get_text("answer-look-again")] = ()
    return answers


def _list_answers(
    game: Game, explanation: Explanation, seat: int | None
) -> Iterator[tuple[float, str, tuple[Event, ...]]]:
    """Yield the ways in which players get the board of an explanation, each with its weight and its text."""
    events = _get_events(game, explanation)
    weight = explanation.probability
    if seat is not None and (filter_plays(events) or changes_record(events)):
        moved = move_to_seat(game, events, seat)
        weight *= 1.0 if moved == events else 0.5  # another player's button, or passes without a press
        yield weight, _describe_events(game, moved), moved
    elif seat not in (None, game.to_move) and not explanation.leftover_squares:
        yield 2.0 * weight, get_text("answer-mistake"), ()
    yield weight, _describe_answer(game, explanation), events
    others: list[tuple[float, tuple[Event, ...]]] = []
    if _revises(events) and not any(isinstance(event, PlayerTurn) for event in events):
        share = 0.5 if seat is None else 2.0 if seat == game.to_move else 0.001
        others.append((share, (*events, Passed(game.to_move))))  # the next player has pressed
    if not explanation.is_order_shown:
        others += ((0.5, other) for other in list_other_orders(game, explanation.events))
    if exchanged := pass_after_exchange(game, explanation.events):
        others.append((0.5, exchanged))
    for share, other in others:
        yield weight * share, _describe_events(game, other), other


def _choose_stories(answers: Mapping[str, tuple[float, tuple[Event, ...]]]) -> list[str]:
    """Return the texts of `MAX_STORIES` of the answers, which have weights and events, the likeliest answer first.

    The last one makes room for the first answer that changes no recorded turn, if its own weight is below
    `MIN_LIKELY_STORY_WEIGHT`.
    """
    kept = list(answers)[:MAX_STORIES]
    recorded = next((text for text, (_, events) in answers.items() if not changes_record(events)), None)
    if recorded is not None and recorded not in kept and answers[kept[-1]][0] < MIN_LIKELY_STORY_WEIGHT:
        kept[-1] = recorded
    return kept


def _revises(events: Sequence[Event]) -> bool:
    return any(isinstance(event, SquareCorrected | TurnCorrected) for event in events)


def _choose_question_text(
    game: Game, question: InferenceQuestion, likely: Sequence[Explanation], answer_count: int
) -> str:
    """Return the text of the question, or a general text if its list of explanations is long or lacks answers.

    If a recorded play may have changed, the text says how. The list is long if there are more than two answers, or if
    an explanation has several events. A question about one tile lacks the answers that lead to the same board as
    another answer.
    """
    changes = (change for explanation in likely for change in _describe_change(game, explanation))
    if change := next(changes, None):
        return change
    is_long = answer_count > 2 or any(len(explanation.events) > 1 for explanation in likely)
    lacks_answers = answer_count > len(likely) and question.doubt in (DoubtKind.ONE_TILE, DoubtKind.UNUSUAL_TURN)
    is_general = lacks_answers or (is_long and question.doubt is DoubtKind.TWO_EXPLANATIONS)
    return get_text("which-of-these") if is_general else question.text


def _describe_change(game: Game, explanation: Explanation) -> Iterator[str]:
    """Yield a question that names the recorded play that an explanation changes, and what it has become."""
    for event in explanation.events:
        match event:
            case SquareCorrected(_, _, Ref() as ref) | TurnCorrected(ref, _):
                old, new = game.find_turn(ref), explanation.game.find_turn(ref)
                if old is None or new is None or not (old.words and new.words):
                    continue
                before, after = old.words[0].word, new.words[0].word
                is_same_place = not {*old.placements}.isdisjoint(new.placements) or old.at == new.at
                key = "play-became" if is_same_place else "play-gone"
                yield get_text(key, before, after)


def _list_likely_explanations(inference: Inference) -> list[Explanation]:
    """Return the explanations that are offered as answers: the likely ones, or at least the best one.

    - If a likely one corrects recorded turns, those with `MIN_STORY_PROBABILITY` or more and without leftover tiles are
      offered, too.
    - None with leftover tiles is offered if the best one has none, and it corrects recorded turns, or readings show the
      order of the plays of a likely one.
    - If there is only one, the second best is offered, too, if it differs only on the doubtful squares.
    - If all change recorded turns, the best one that changes none is offered, too.
    """
    best, *others = inference.explanations
    likely = [one for one in inference.explanations if one.probability >= MIN_OFFERED_PROBABILITY] or [best]
    if any(_revises(one.events) for one in likely):
        possible = [one for one in others if MIN_STORY_PROBABILITY <= one.probability < MIN_OFFERED_PROBABILITY]
        likely += [one for one in possible if not one.leftover_squares]
    is_explained = _revises(best.events) or any(one.is_order_shown for one in likely)
    if is_explained and not best.leftover_squares:
        likely, others = ([one for one in some if not one.leftover_squares] for some in (likely, others))
    if len(likely) == 1 and others:
        differences = {*best.game.board.differences(others[0].game.board)}
        if differences and differences <= {*inference.doubtful_squares}:
            likely.append(others[0])
    if all(changes_record(explanation.events) for explanation in likely):
        likely += [other for other in others if not changes_record(other.events)][:1]
    return likely


def _get_events(game: Game, explanation: Explanation) -> tuple[Event, ...]:
    return explanation.events or (() if explanation.is_uncleared else (Passed(game.to_move),))


def _describe_answer(game: Game, explanation: Explanation) -> str:
    """Return the text of an explanation as an answer to a question.

    Without events, the answer is that the player to move has passed. Only if the tiles of a withdrawn play are still on
    the board (`is_uncleared`), it is no pass, and has the text of the explanation.
    """
    is_pass = not (explanation.events or explanation.is_uncleared)
    return _describe_events(game, _get_events(game, explanation)) if is_pass else explanation.text


def _describe_events(game: Game, events: tuple[Event, ...]) -> str:
    return describe_events(game, game.push(*events), events)


def _decide_without_play(game: Game, reading: BoardReading, corrections: Sequence[Event]) -> Decision:
    """Return the decision about a turn without new tiles: a pass, an exchange, or a play that a hand hides.

    The players are asked about a pass even if no exchange is allowed: after a press by mistake, the next play would
    count for the wrong player. `corrections` of old tiles are recorded with every answer.
    """
    name = game.players[game.to_move]
    passed: tuple[Event, ...] = (*corrections, Passed(game.to_move))
    if hidden := _find_hidden_squares(game, reading):
        squares = ", ".join(map(square_name, hidden))
        answers = (get_text("answer-look-again"), get_text("answer-pass", name))
        question = make_question("hidden-pass", squares, name, answers=answers, squares=hidden)
        return Decision((), TurnQuestion(question, ((), passed)))
    counts = range(1, find_max_exchange(game) + 1)
    texts = (
        get_text("answer-pass", name),
        *(get_text("answer-exchange", name, str(count)) for count in counts),
        get_text("answer-mistake"),
    )
    exchanges = tuple((*corrections, Exchanged(game.to_move, count)) for count in counts)
    events: tuple[tuple[Event, ...], ...] = (passed, *exchanges, tuple(corrections))
    question = make_question(PASS_OR_EXCHANGE if counts else PASS_OR_MISTAKE, name, answers=texts)
    return Decision(passed, TurnQuestion(question, events))


def _find_hidden_squares(game: Game, reading: BoardReading) -> tuple[Square, ...]:
    """Return the hidden squares that may be part of a play: those next to a tile, or all if the board is empty."""
    board = game.board
    hidden = [square for square in SQUARES if reading.squares[square].probability(HIDDEN) > MIN_HIDDEN_PROBABILITY]
    free = [square for square in hidden if board[square] is None]
    return tuple(square for square in free if not board or any(board[near] for near in NEIGHBOURS[square]))
