"""Word the findings of a validation: questions with answers to choose from, and notices. Pure functions."""

from __future__ import annotations

from dataclasses import dataclass

from device.session.messages import format_sentence, get_text, make_question
from device.session.snapshot import Notice, Question, Trouble
from engine.events import BlankNamed, Event, GameEnded, Passed
from engine.game import Game
from engine.inference.explain import explanation_text
from engine.validation import Finding, Option, Reason
from engine.validation.findings import push_events

_KEPT_REASONS = (Reason.OLD_TILE_DIFFERS,)


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """An open question and the events of each answer.

    With `first_is_default` the events of the first answer are recorded until another one is chosen. With `stops_clock`
    (a challenge decided by the players) the clocks stop until it is answered. `is_unrecorded` is True if nothing was
    recorded before an answer was chosen. `finding` is what the validation found,
    None for other questions; then an answer without events reads the board again.
    """

    question: Question
    answers: tuple[tuple[Event, ...], ...]
    first_is_default: bool = True
    stops_clock: bool = False
    is_unrecorded: bool = False
    finding: Finding | None = None


def make_finding_question(game: Game, finding: Finding) -> OpenQuestion:
    """Return the question of a finding, with an answer for each of its options."""
    meant: dict[str, tuple[Event, ...]] = {}
    for option in finding.options:
        meant.setdefault(_describe_option(game, finding, option), option.events)
    asked = make_question(f"asked-{finding.reason}", *finding.values, answers=tuple(meant), squares=finding.squares)
    return OpenQuestion(asked, tuple(meant.values()), bool(finding.options[0].events), finding=finding)


def make_finding_notice(finding: Finding) -> Notice:
    """Return the notice of a finding."""
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
