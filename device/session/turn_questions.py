"""Pure functions that convert the findings of a validation to questions and notices for the players."""

from __future__ import annotations

from dataclasses import dataclass, replace

from device.session.messages import (
    PASS_OR_EXCHANGE,
    Notice,
    Question,
    Trouble,
    format_sentence,
    get_text,
    make_question,
)
from engine.events import BlankNamed, Event, GameEnded, Passed, QuestionDeferred
from engine.game import Game
from engine.inference.explain import explanation_text
from engine.reading import BoardReading
from engine.validation import Finding, Option, Reason
from engine.validation.findings import push_events

WHO_CHALLENGED = "who-challenged"
"""Key of the question about the player who has challenged a valid play."""
_KEPT_REASONS = (Reason.OLD_TILE_DIFFERS,)


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """An open question with the events of each answer.

    If `first_is_default` is True, the events of the first answer are recorded until another answer is chosen. If
    `stops_clock` is True (for a challenge that the players decide), the clocks are stopped until the question is
    answered. `is_unrecorded` is True if no events were recorded before an answer was chosen. `finding` is the finding
    of the validation that caused the question, None for other questions. For a question with a finding, an answer
    without events reads the board again. If `is_late` is True, the turn was not read in time; the first answer waits
    for the reading, and the second one leaves the turn to the players. `reading` is the reading of the board that the
    question is about. `deferred` is the number of a deferred question that is shown again, 0 for other questions.
    """

    question: Question
    answers: tuple[tuple[Event, ...], ...]
    first_is_default: bool = True
    stops_clock: bool = False
    is_unrecorded: bool = False
    finding: Finding | None = None
    is_late: bool = False
    reading: BoardReading | None = None
    deferred: int = 0

    @property
    def view(self) -> Question:
        """The question with the choices that the players have besides the answers."""
        is_about_turn = not self.stops_clock and self.question.key != WHO_CHALLENGED
        return replace(self.question, can_defer=is_about_turn, can_look_again=self.reading is not None)

    @property
    def is_deferrable(self) -> bool:
        """True if the turn counts provisionally until the players answer. Pass and exchange have the same score."""
        is_recorded = self.first_is_default and bool(self.answers[self.question.chosen])
        return is_recorded and not self.stops_clock and self.question.key not in (PASS_OR_EXCHANGE, WHO_CHALLENGED)

    def make_deferred(self, count: int) -> QuestionDeferred:
        """Return the event that defers the question about the last `count` events of the game, without its number."""
        pairs = zip(self.question.answers, self.answers, strict=True)
        kept = [(text, events) for text, events in pairs if events]
        chosen = sum(bool(events) for events in self.answers[: self.question.chosen])
        texts, answers = zip(*kept, strict=True)
        return QuestionDeferred(0, self.question.text, texts, answers, count, chosen, self.question.squares)


def make_recalled_question(deferred: QuestionDeferred) -> OpenQuestion:
    """Return a deferred question as the open question of the table."""
    return OpenQuestion(Question.from_event(deferred), deferred.answers, deferred=deferred.number)


def make_late_question(max_s: float) -> OpenQuestion:
    """Return the question about a turn that is not read after `max_s` seconds; the clocks are stopped meanwhile."""
    answers = get_text("answer-wait"), get_text("answer-by-hand")
    question = make_question("not-read-in-time", f"{max_s:.0f}", answers=answers)
    return OpenQuestion(question, ((), ()), first_is_default=False, stops_clock=True, is_late=True)


def make_finding_question(game: Game, finding: Finding) -> OpenQuestion:
    """Return the question about a finding of the validation, with an answer for each option of the finding."""
    meant: dict[str, tuple[Event, ...]] = {}
    for option in finding.options:
        meant.setdefault(_describe_option(game, finding, option), option.events)
    asked = make_question(f"asked-{finding.reason}", *finding.values, answers=tuple(meant), squares=finding.squares)
    return OpenQuestion(asked, tuple(meant.values()), bool(finding.options[0].events), finding=finding)


def make_finding_notice(finding: Finding) -> Notice:
    """Return the notice about a finding of the validation."""
    return Notice(get_text(f"noted-{finding.reason}", *finding.values), Trouble.BOARD)


def _describe_option(game: Game, finding: Finding, option: Option) -> str:
    if not option.events:
        return get_text("answer-read-again")
    if isinstance(option.events[-1], GameEnded):
        return get_text("answer-game-over")
    if option.events == (Passed(game.to_move),) and finding.reason in _KEPT_REASONS:
        return get_text("answer-as-recorded")
    if isinstance(option.events[-1], BlankNamed):
        return get_text("answer-blank", option.events[-1].letter)
    return format_sentence(explanation_text(game, push_events(game, option.events), option.events, ""))
