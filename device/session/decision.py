"""What the table makes of an explanation: which events count, and what is said or asked. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from device.session.messages import format_sentence, get_text, make_question
from device.session.snapshot import PASS_OR_EXCHANGE, Question
from engine.events import Event, Exchanged, Passed, PlayMade
from engine.game import Game
from engine.inference.explain import Inference
from engine.inference.explanation import Explanation
from engine.inference.phrases import explanation_text
from engine.reading import EMPTY, HIDDEN, BoardReading
from engine.squares import SQUARES, Square, square_name

MIN_OFFERED_LIKELIHOOD = 0.01
"""Explanations less likely than this are not offered."""
MIN_HIDDEN_PROBABILITY = 0.5
"""A square that is hidden with more than this probability may hold a tile."""


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """An open question, and the events that each of its answers stands for.

    The events of the first answer count from the beginning where `counts`. A challenge that people decide `stops` the
    clocks, and stays open until they do.
    """

    question: Question
    answers: tuple[tuple[Event, ...], ...]
    first_is_default: bool = True
    stops_clock: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """What is taken to have happened, what is asked, and what is only `said`: nobody can choose."""

    events: tuple[Event, ...]
    open_question: OpenQuestion | None = None
    warning: str = ""

    @property
    def is_clear(self) -> bool:
        """True where looking again would tell no more; whether a player passed or exchanged nobody can see."""
        return not self.warning and (self.open_question is None or self.open_question.question.key == PASS_OR_EXCHANGE)


def decide(game: Game, explained: Inference, reading: BoardReading) -> Decision:
    """Decide what a button press was: what the engine explains, a pass or an exchange, or nothing yet."""
    best = explained.best
    if explained.question is None:
        return Decision(best.events) if best.events or best.is_waiting else _decide_without_play(game, reading)
    likely = [one for one in explained.explanations if one.likelihood >= MIN_OFFERED_LIKELIHOOD] or [best]
    if len(likely) == 1:
        likely += _find_rivals(explained)
    meant = {one.text: _get_events(game, one) for one in likely}
    meant |= dict(other for one in likely if (other := _swap_plays(game, one.events)) and other[0] not in meant)
    if best.leftover_squares and not best.events and not best.is_waiting:
        meant = {explained.question: (), **meant}
    if len(meant) == 1 and best.covered_squares:
        meant[get_text("answer-look-again")] = ()
    events = next(iter(meant.values()))
    if len(meant) == 1:
        return Decision(events, warning=explained.question)
    squares = explained.doubtful_squares
    asked = Question(
        format_sentence(explained.question),
        tuple(map(format_sentence, meant)),
        squares=squares,
        symbols=_list_symbols(game, likely, squares) if len(meant) == len(likely) else (),
    )
    return Decision(events, OpenQuestion(asked, tuple(meant.values()), first_is_default=bool(events)))


def ask_one_or_two_plays(game: Game, play: PlayMade, two: tuple[PlayMade, PlayMade]) -> Decision:
    """The question whether a play was one, which counts, or `two`: one button was pressed, but a part lay there before.

    Nobody can see who laid the rest.
    """
    meant: list[tuple[Event, ...]] = [(play,), two]
    texts = []
    for events in meant:
        after = game
        for event in events:
            after = after.push(event)
        texts.append(format_sentence(explanation_text(game, after, events, "")))
    squares = tuple(square for square, _ in two[1].play.tiles)
    names = game.players[two[0].player], game.players[two[1].player]
    asked = make_question("one-or-two", *names, answers=tuple(texts), squares=squares)
    return Decision((play,), OpenQuestion(asked, tuple(meant)))


def _find_rivals(explained: Inference) -> list[Explanation]:
    """The second explanation where the question is about how it differs from the best, however unlikely it is."""
    best, *others = explained.explanations
    boards = ((other, best.game.board.differences(other.game.board)) for other in others[:1])
    return [other for other, differs in boards if differs and {*differs} <= {*explained.doubtful_squares}]


def _get_events(game: Game, one: Explanation) -> tuple[Event, ...]:
    return one.events or (() if one.is_waiting else (Passed(game.to_move),))


def _swap_plays(game: Game, events: tuple[Event, ...]) -> tuple[str, tuple[Event, ...]] | None:
    """Two turns at once in the other order, in words and as events; None where they can only have come in this one.

    Nothing on the board tells who laid which, unless one play leans on the other.
    """
    plays = filter_plays(events)
    if len(plays) != 2 or len(events) != 2:
        return None
    first, second = (replace(one, play=other.play) for one, other in zip(plays, reversed(plays), strict=True))
    between = game.push(first)
    if game.check_play(first.play) or between.check_play(second.play):
        return None
    return explanation_text(game, between.push(second), (first, second), ""), (first, second)


def _list_symbols(game: Game, likely: list[Explanation], squares: tuple[Square, ...]) -> tuple[tuple[str, ...], ...]:
    """What each explanation says of these squares, as a tile set writes it."""
    boards = [one.game.board for one in likely]
    return tuple(
        tuple(EMPTY if (tile := board[square]) is None else game.tiles.text(tile) for square in squares)
        for board in boards
    )


def _decide_without_play(game: Game, reading: BoardReading) -> Decision:
    """Nothing was laid, as far as can be seen: a pass, an exchange, or a play under a hand."""
    name, passed = game.players[game.to_move], (Passed(game.to_move),)
    if hidden := _find_hidden_squares(game, reading):
        squares = ", ".join(map(square_name, hidden))
        answers = (get_text("answer-look-again"), get_text("answer-pass", name))
        asked = make_question("hidden-pass", squares, name, answers=answers, squares=hidden)
        return Decision((), OpenQuestion(asked, ((), passed), first_is_default=False))
    most = find_max_exchange(game)
    if not most:
        return Decision(passed)
    counts = range(1, most + 1)
    texts = (get_text("answer-pass", name), *(get_text("answer-exchange", name, str(count)) for count in counts))
    exchanges = tuple((Exchanged(game.to_move, count),) for count in counts)
    return Decision(passed, OpenQuestion(make_question(PASS_OR_EXCHANGE, name, answers=texts), (passed, *exchanges)))


def find_max_exchange(game: Game) -> int:
    """How many tiles may be exchanged now."""
    return next((count for count in range(game.rules.rack_size, 0, -1) if game.can_exchange(count)), 0)


def _find_hidden_squares(game: Game, reading: BoardReading) -> tuple[Square, ...]:
    """The hidden squares without a tile on the record that touch one, or any before the first play."""
    board = game.board
    hidden = [
        s for s in SQUARES if board[s] is None and reading.squares[s].probability(HIDDEN) > MIN_HIDDEN_PROBABILITY
    ]
    return tuple(s for s in hidden if not board or any(board[near] for near in board.neighbours(s)))


def filter_plays(events: tuple[Event, ...]) -> tuple[PlayMade, ...]:
    """The plays among events."""
    return tuple(event for event in events if isinstance(event, PlayMade))
