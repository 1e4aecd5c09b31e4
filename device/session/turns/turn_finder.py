"""Find the turns of a game from readings of the board at rest, without a button.

There is no I/O here: callers pass in readings and times. Times are seconds of any clock that only goes forward.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from device.session.turns.decision import Decision, TurnContext, decide, filter_plays
from engine.events import Event, PlayMade, PlayWithdrawn
from engine.game import Game
from engine.inference.explain import Inference, infer_play
from engine.inference.history import ReadingHistory
from engine.reading import BoardReading
from engine.validation import Reason

DEFAULT_WAIT_S = 4.0
"""Time in seconds for which a play must stay unchanged before the turn counts as ended."""


@dataclass(frozen=True, slots=True, eq=False)
class FoundTurn:
    """A turn that was found: the decision about its play, and the time (s) at which the play appeared.

    `history` is the evidence from all readings up to this turn, with which the next turn is inferred.
    """

    decision: Decision
    history: ReadingHistory
    time: float

    @property
    def events(self) -> tuple[Event, ...]:
        """The events of the turn."""
        return self.decision.events

    @property
    def is_certain(self) -> bool:
        """True if tiles and points of the turn are certain; only the letter of a blank may be unknown."""
        question = self.decision.open_question
        return question is None or (question.finding is not None and question.finding.reason is Reason.BLANK_UNNAMED)

    @property
    def question(self) -> str:
        """The question about the turn, or an empty string."""
        return self.decision.open_question.question.text if self.decision.open_question else ""


class TurnFinder:
    """Finder of turns: `add_reading` takes readings of the board at rest, and `check` returns turns that are over.

    The rules for the decision:

    - A turn is found when the board shows a play that is accepted without a question, and nothing moves for the next
      `wait_s` seconds. Every movement restarts this wait.
    - The play is always inferred from the board of the last recorded turn. During the wait, a play may grow: new tiles
      that form one legal play with the tiles of the play belong to the same turn. So a player who places `HORN` and
      then the `S` has one turn. After the wait, more tiles in the same line are the next player's play.
    - The next player may be quick: if the board shows the pending play and another play after it, the pending play is a
      turn, even during the wait.
    - A reading with a question (a hand hides squares, a letter is in doubt, the last play is gone) ends no turn. If the
      first answer is a play, this play is kept, and becomes a turn if a later reading shows the next play. A question
      about the letter of a blank does not matter, because tiles and points are certain.
    - If the tiles are taken off before the wait is over, there was no turn.

    Passes, exchanges and failed challenges do not change the board and are not found.

        finder = TurnFinder()
        while (turn := finder.add_reading(game, reading, context, now)) is not None:
            game = game.push(*turn.events)   # the reading is added again: it shows the next play
        turn = finder.check(now + 5)
    """

    def __init__(self, wait_s: float = DEFAULT_WAIT_S) -> None:
        self._wait_s = wait_s
        self._pending: FoundTurn | None = None
        self._still_since: float | None = None

    @property
    def pending(self) -> FoundTurn | None:
        """The play on the board that is not a turn yet, or None."""
        return self._pending

    def add_motion(self) -> None:
        """Record that something moves; no turn is found before the board is at rest again."""
        self._still_since = None

    def add_rest(self, time: float) -> None:
        """Record that the board is at rest since `time` (s) and looks as in the last reading."""
        if self._still_since is None and self._pending is not None and self._pending.is_certain:
            self._still_since = time

    def add_reading(self, game: Game, reading: BoardReading, context: TurnContext, time: float) -> FoundTurn | None:
        """Add a reading of the board, which has been at rest since `time` (s).

        `game` ends with the last recorded turn. Return the pending play if the reading shows that it was a turn; the
        caller then records it and adds the reading again with the new game.
        """
        inference, decision = _decide(game, reading, context)
        found = _make_turn(inference, decision, time)
        if found is not None and found.is_certain:
            self._keep(found)
            return None
        self._still_since = None
        before = self._pending
        if before is not None and _shows_next_play(game, before, reading, context, time):
            self._pending = None
            return before
        if found is not None and (before is None or not before.is_certain):
            self._pending = found
        elif not _has_new_tiles(decision):
            self._pending = None
        return None

    def check(self, time: float) -> FoundTurn | None:
        """Return and forget the pending play if its wait time is over at `time` (s), otherwise return None."""
        if self._still_since is None or time - self._still_since < self._wait_s:
            return None
        return self.take()

    def take(self) -> FoundTurn | None:
        """Return and forget the pending play without waiting: at the end of a video, or before an entered turn."""
        found, self._pending, self._still_since = self._pending, None, None
        return found

    def _keep(self, found: FoundTurn) -> None:
        """Keep `found` as the pending play.

        The wait starts again if the play has changed, or if something has moved since the last reading.
        """
        before = self._pending
        is_known = before is not None and before.events == found.events
        if not is_known or self._still_since is None:
            self._still_since = found.time
        self._pending = replace(found, time=before.time) if before is not None and is_known else found


def _decide(game: Game, reading: BoardReading, context: TurnContext) -> tuple[Inference, Decision]:
    """Return the inference from a reading, and the decision about it."""
    inference = infer_play(game, reading, context.earlier)
    return inference, decide(game, inference, reading, context)


def _make_turn(inference: Inference, decision: Decision, time: float) -> FoundTurn | None:
    """Return the turn of a decision; None unless the decision records exactly one play."""
    if decision.warning or not decision.events or len(filter_plays(decision.events)) > 1:
        return None
    if not all(isinstance(event, PlayMade | PlayWithdrawn) for event in decision.events):
        return None
    return FoundTurn(decision, inference.history, time)


def _shows_next_play(game: Game, before: FoundTurn, reading: BoardReading, context: TurnContext, time: float) -> bool:
    """Return True if the reading clearly shows the pending play `before` and exactly one play after it."""
    earlier = replace(context, earlier=before.history, question_history=before.decision.question_history)
    after = _make_turn(*_decide(game.push(*before.events), reading, earlier), time)
    return after is not None and after.is_certain and len(filter_plays(after.events)) == 1


def _has_new_tiles(decision: Decision) -> bool:
    """Return False if a decision clearly shows that no tile was added since the last turn."""
    return bool(decision.warning or filter_plays(decision.events) or not decision.is_clear)
