"""Find the turns of a game from readings of the board at rest, without a button.

There is no I/O here: callers pass in readings and times. Times are seconds of any clock that is never set back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from device.session.turns.decision import Decision, TurnContext
from device.session.turns.turn_capture import AdvanceCapture
from device.session.turns.turn_validation import decide_reading
from engine.board import Square
from engine.errors import NotationError, RulesError
from engine.events import Event, PlayMade, PlayWithdrawn, SquareCorrected, TurnCorrected, filter_plays
from engine.game import Game
from engine.inference.explain import Inference
from engine.inference.history import ReadingHistory
from engine.ledger import Ledger, Source, make_relative
from engine.reading import HIDDEN, BoardReading
from engine.validation.board_checks import find_last_play_squares

DEFAULT_WAIT_S = 4.0
"""Time in seconds for which a play must stay unchanged before the turn counts as ended."""

_RECORDED_KINDS = PlayMade, PlayWithdrawn, SquareCorrected, TurnCorrected
MAX_HIDDEN_PROBABILITY = 0.2
"""Largest probability that a square of a play is hidden. Above it, the letter may be a guess: the play ends no turn."""


@dataclass(frozen=True, slots=True, eq=False)
class FoundTurn:
    """A turn that was found: the decision about its play, and the time (s) at which the play appeared.

    - `reading`: the reading that shows the play.
    - `history`: the evidence from all readings up to this turn, with which the next turn is inferred.
    - `is_complete`: False if the play may not be complete: a hand hides squares of the play or at its ends, or there
      are more tiles on the board.
    - `capture`: the capture of `reading`, if the caller passed one.
    """

    decision: Decision
    reading: BoardReading
    history: ReadingHistory
    time: float
    is_complete: bool = True
    capture: AdvanceCapture | None = None

    @property
    def events(self) -> tuple[Event, ...]:
        """The events of the turn."""
        return self.decision.events

    def record(self, ledger: Ledger) -> Ledger:
        """Return the ledger with this turn. Raises `RulesError` or `NotationError`."""
        return ledger.record([[make_relative(ledger.game, self.events, None)]], source=Source.AUTOMATIC)

    @property
    def is_certain(self) -> bool:
        """True if tiles and points of the turn are certain; only the letter of a blank may be unknown."""
        return self.decision.open_question is None and not self.decision.warning

    @property
    def can_end(self) -> bool:
        """True if the play may be recorded as a turn when nothing moves any more; a letter may still be in doubt."""
        kinds = PlayMade | SquareCorrected | TurnCorrected
        is_one_play = self.play_count == 1 and all(isinstance(event, kinds) for event in self.events)
        return self.is_certain or (self.is_complete and is_one_play)

    @property
    def play_count(self) -> int:
        """The number of plays; more than one if they appeared together."""
        return len(filter_plays(self.events))

    @property
    def squares(self) -> tuple[Square, ...]:
        """The squares of the tiles that were placed in this turn."""
        return tuple(square for event in filter_plays(self.events) for square in event.play.squares)

    @property
    def question(self) -> str:
        """The question about the turn, or the warning if there is nothing to choose from; otherwise an empty string."""
        return _read_question(self.decision)


class TurnFinder:
    """Finder of turns: `add_reading` takes readings of the board at rest, and `check` returns turns that are over.

    The rules for the decision:

    - A turn is found when the board shows a play, and nothing moves for the next `wait_s` seconds. Every movement
      restarts this wait.
    - The play is always inferred from the board of the last recorded turn. During the wait, a play may grow: new tiles
      that form one legal play with the tiles of the play belong to the same turn. So a player who places `HORN` and
      then the `S` has one turn. After the wait, more tiles in the same line are the next player's play.
    - The next player may be quick: if the board shows the pending play and another play after it, the pending play is a
      turn, even during the wait.
    - A doubt about a letter of the play, or about a tile that was recorded before, ends the turn, too: no player may be
      there to answer, and the game goes on. The turn has the most probable letters, and a question.
    - A play that may not be complete (a hand hides squares, more tiles are on the board, a tile is in doubt) ends no
      turn, nor do two plays that appear together. They are kept, and become turns when a reading shows the next play.
    - If the tiles are taken off before the wait is over, there was no turn.

    Passes, exchanges and failed challenges do not change the board and are not found.

        finder = TurnFinder()
        while (turn := finder.add_reading(reading, context, now)) is not None:
            context = replace(context, ledger=turn.record(context.ledger))   # the reading shows the next play, too
        turn = finder.check(now + 5)
    """

    def __init__(self, wait_s: float = DEFAULT_WAIT_S) -> None:
        self._wait_s = wait_s
        self._pending: FoundTurn | None = None
        self._still_since: float | None = None
        self.unexplained_question = ""
        """The question about the last reading if it shows tiles of no play that can be recorded, or an empty string."""

    @property
    def pending(self) -> FoundTurn | None:
        """The play on the board that is not a turn yet, or None."""
        return self._pending

    def add_motion(self) -> None:
        """Record that something moves; no turn is found before the board is at rest again."""
        self._still_since = None

    def add_rest(self, time: float) -> None:
        """Record that the board has been at rest since `time` (s) and looks as in the last reading."""
        if self._still_since is None and self._pending is not None and self._pending.can_end:
            self._still_since = time

    def add_reading(
        self,
        reading: BoardReading,
        context: TurnContext,
        time: float,
        capture: AdvanceCapture | None = None,
    ) -> FoundTurn | None:
        """Add a reading of the board, which has been at rest since `time` (s).

        Return the pending play if the reading also shows the play after it, so that the pending play was a turn. The
        caller then records this turn, and adds the reading again with the new game. `capture` is the capture of the
        reading, if any; it is returned with the play that the reading shows.
        """
        found, decision = _find_turn(reading, context, time)
        found = replace(found, capture=capture) if found is not None else None
        self.unexplained_question = _read_question(decision) if found is None and _has_new_tiles(decision) else ""
        if found is not None and found.is_certain:
            self._keep(found)
        elif found is None and not _has_new_tiles(decision):
            self.take()  # the pending play was only a play with a tile lifted
        elif self._is_next_shown(found, reading, context, time):
            return self.take()
        elif found is not None and found.can_end:
            self._keep(found)
        else:
            self._keep_incomplete(found)
        return None

    def _is_next_shown(self, found: FoundTurn | None, reading: BoardReading, context: TurnContext, time: float) -> bool:
        """Return True if a reading shows the pending play and the next play, so that the pending play was a turn.

        `found` is the turn that the reading shows in the game without the pending play.
        """
        before, after = self._pending, self._find_next_play(reading, context, time)
        if before is None or after is None:
            return False
        return _is_next_likelier(before, after, found) and not _may_be_put_back(context.ledger.game, before, after)

    def _find_next_play(self, reading: BoardReading, context: TurnContext, time: float) -> FoundTurn | None:
        """Return the play after the pending play, if the reading shows exactly one."""
        before = self._pending
        if before is None:
            return None
        try:
            context = replace(context, ledger=before.record(context.ledger), reading_history=before.history)
            after, _ = _find_turn(reading, context, time)
        except (NotationError, RulesError):  # an answer to an earlier question has made the pending play impossible
            return None
        return after if after is not None and after.can_end and after.play_count == 1 else None

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

        The wait starts again if the play has changed, or if something has moved since the last reading. A play on the
        same squares replaces the pending one only if its letters are not less certain.
        """
        before = self._pending
        is_known = before is not None and before.squares == found.squares
        if not is_known or self._still_since is None:
            self._still_since = found.time
        if before is None or not is_known:
            self._pending = found
        elif found.is_certain or not before.is_certain:
            self._pending = replace(found, time=before.time)

    def _keep_incomplete(self, found: FoundTurn | None) -> None:
        """Stop the wait; keep `found`, which ends no turn, as the pending play if there is no better one."""
        self._still_since, before = None, self._pending
        if found is not None and (before is None or not (before.is_certain or found.play_count > before.play_count)):
            self._pending = found


def shows_unended_play(reading: BoardReading, context: TurnContext) -> bool:
    """Return True if a reading of the board at rest shows a new play that may become a turn.

    A letter of the play may be in doubt. `context` has the game up to the last recorded turn.
    """
    found, _ = _find_turn(reading, context, 0.0)
    return found is not None and found.can_end and found.play_count > 0


def _find_turn(reading: BoardReading, context: TurnContext, time: float) -> tuple[FoundTurn | None, Decision]:
    """Return the turn that a reading shows, and the decision about the reading.

    The turn is None if the decision records nothing, a pass, or the end of the game. A turn without events means that
    the reading only answers open questions.
    """
    read = decide_reading(reading, context)
    inference, decision = read.inference, read.decision
    if read.ledger is not context.ledger and not filter_plays(decision.events):
        return FoundTurn(Decision(()), reading, inference.history, time), decision
    if not decision.events or not all(isinstance(event, _RECORDED_KINDS) for event in decision.events):
        return None, decision
    found = FoundTurn(decision, reading, inference.history, time)
    return replace(found, is_complete=_is_complete(found, inference, read.ledger.game)), decision


def _has_new_tiles(decision: Decision) -> bool:
    """Return False if a decision clearly shows that no tile was added since the last turn."""
    return bool(decision.warning or filter_plays(decision.events) or not decision.is_clear)


def _read_question(decision: Decision) -> str:
    """Return the question of a decision, or its warning if there is nothing to choose from, or an empty string."""
    return decision.open_question.question.text if decision.open_question else decision.warning


def _is_next_likelier(before: FoundTurn, after: FoundTurn, found: FoundTurn | None) -> bool:
    """Return True if the pending play `before` and the next play `after` explain a reading better than `found` alone.

    `found` is better if it is the pending play with more tiles, which the same player has added: it has all squares of
    `before`, and no more plays. Even then it is not better if it may be incomplete while `after` is certain. But if
    `before` has several plays, `found` remains better: they may be parts of one play in which a tile was missed.
    """
    if found is None or found.play_count > before.play_count or not set(before.squares) <= set(found.squares):
        return True
    return after.is_certain and not found.can_end and before.play_count == 1


def _may_be_put_back(game: Game, before: FoundTurn, after: FoundTurn) -> bool:
    """Return True if the pending play `before` withdraws the last play, but its player may be putting the tiles back.

    In this case the last play has all squares of the tiles that are back so far: those of `before`, or of the next play
    `after`.
    """
    last = find_last_play_squares(game)
    is_withdrawn = any(isinstance(event, PlayWithdrawn) for event in before.events)
    return is_withdrawn and any(last.issuperset(found.squares) for found in (before, after))


def _is_complete(found: FoundTurn, inference: Inference, game: Game) -> bool:
    """Return True if the reading shows the whole play, and no tiles that belong to no play."""
    best, reads = inference.best, [found.reading.squares[square] for square in found.squares]
    others = (*best.covered_squares, *best.leftover_squares)
    is_hidden = any(read.probability(HIDDEN) > MAX_HIDDEN_PROBABILITY for read in reads)
    return not (others or best.is_uncleared or is_hidden or _is_square_in_doubt(inference, game))


def _is_square_in_doubt(inference: Inference, game: Game) -> bool:
    """Return True if it is in doubt whether there is a new tile on a square, not only which tile."""
    best, *rivals = (explanation.game.board for explanation in inference.explanations[:2])
    new = [square for square in inference.doubtful_squares if game.board[square] is None]
    squares = ((best[square], rival[square]) for rival in rivals for square in new)
    return any((tile is None) is not (other is None) for tile, other in squares)
