"""End turns automatically, or propose to end them, when a legal play has been at rest for some seconds.

`TurnFinder` finds the plays, as it does in a video. It does not use the word list. Otherwise the end of a turn would
reveal that the words of the play are valid.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace

from device.capture.board_camera import MIN_REST_S
from device.session.game_controller import GameController
from device.session.messages import CommandRefusedError
from device.session.snapshot import Moment, TableSnapshot
from device.session.threads import CommandQueue
from device.session.turns.advance_reader import AdvanceReader
from device.session.turns.decision import TurnContext
from device.session.turns.turn_capture import AdvanceCapture
from device.session.turns.turn_finder import FoundTurn, TurnFinder
from engine.game import Game

CHECK_INTERVAL_S = 0.25
MAX_ECHO_S = 5.0
"""Time after the automatic end of a turn, in seconds, in which a press of the button may be an echo: the player means
the turn that has just ended, so the press is ignored."""


@dataclass(frozen=True, slots=True)
class AutoTurnConfig:
    """Settings for turns that end without a button.

    A turn is over when the board has shown a play at rest for `wait_s` seconds. If `ends` is True, the session then
    ends the turn; otherwise it only proposes to end the turn.
    """

    ends: bool
    wait_s: float


@dataclass(frozen=True, slots=True)
class _EndedTurn:
    """A turn that was ended automatically: the number of turns after it, its capture, and the time (s) of its end."""

    turn_count: int
    capture: AdvanceCapture
    time: float


@dataclass(frozen=True, slots=True, eq=False)
class _FinderInput:
    """The input of the turn finder: a capture of the board, at rest since `since` (s), and the context."""

    capture: AdvanceCapture
    context: TurnContext
    since: float

    def is_same(self, other: _FinderInput) -> bool:
        """Return True if `other` has the same capture, context and time at rest."""
        is_same_board = self.capture is other.capture and self.since == other.since
        return is_same_board and self.context.is_same(other.context)


class AutoTurns:
    """Automatic end of turns: ends a turn or proposes its end; a thread named `auto` calls `check` repeatedly.

    Commands of players take precedence: the automatic command is refused if the game has changed since the play was
    found. A play that was removed with *Undo* is found again only after something on the board has moved.
    """

    def __init__(
        self,
        config: AutoTurnConfig,
        controller: GameController,
        queue: CommandQueue,
        advance_reader: AdvanceReader,
        clock: Callable[[], float],
        end_turn: Callable[[AdvanceCapture, Moment], Future[TableSnapshot]],
        propose_end: Callable[[], None],
    ) -> None:
        """Store the arguments. `end_turn` submits the command, and `propose_end` shows that the turn may be over."""
        self._config = config
        self._controller = controller
        self._queue = queue
        self._advance_reader = advance_reader
        self._clock = clock
        self._end_turn = end_turn
        self._propose_end = propose_end
        self._finder = TurnFinder(config.wait_s)
        self._rest_since: float | None = None
        """Time (s) since which the board has been at rest; None while it moves."""
        self._last_rest_since: float | None = None
        """`_rest_since` at the last check. If it has changed since then, something has moved."""
        self._not_before = 0.0
        """Time (s) of the last check at which no turn could end. Only the time at rest after this check counts."""
        self._finder_input: _FinderInput | None = None
        """The input that `_add_capture` last passed to the finder; None if the next reading must be passed anyway."""
        self._last_capture: AdvanceCapture | None = None
        """The capture at the last check."""
        self._last_turn_count = 0
        """Number of turns of the game at the last check."""
        self._undone_capture: AdvanceCapture | None = None
        """The newest capture at the time of an undo. It must not end the same turn again."""
        self._ended_turn: _EndedTurn | None = None
        """The last turn that was ended automatically, until the next press of the button; otherwise None."""

    def handle_motion(self, is_moving: bool) -> None:
        """Store that the board is moving (`is_moving` is True) or has come to rest. May be called on any thread."""
        self._rest_since = None if is_moving else self._clock() - MIN_REST_S

    def note_end(self, capture: AdvanceCapture, game: Game) -> None:
        """Store that a turn was ended automatically with `capture`; `game` is the game after it.

        Runs on the session's thread.
        """
        self._ended_turn = _EndedTurn(len(game.turns), capture, self._clock())

    def consume_ended_turn(self, game: Game) -> AdvanceCapture | None:
        """Return the capture of the turn that has just ended automatically, if a press now may mean this turn.

        The press may mean it if it is the first one, comes within `MAX_ECHO_S` seconds, and no turn was recorded or
        undone since. Otherwise return None. Runs on the session's thread.
        """
        ended, self._ended_turn = self._ended_turn, None
        if ended is None or ended.turn_count != len(game.turns) or self._clock() - ended.time >= MAX_ECHO_S:
            return None
        return ended.capture

    def check(self) -> float:
        """End the turn or propose its end, if the turn is over. Return the seconds until the next check."""
        if self._queue.is_busy:
            return CHECK_INTERVAL_S
        now, state, rest_since = self._clock(), self._queue.state, self._rest_since
        if rest_since is None or rest_since != self._last_rest_since:
            self._last_rest_since = rest_since
            self._finder.add_motion()
        if not self._can_end():
            self._forget_play()
            self._not_before = now
        elif rest_since is not None and (capture := self._advance_reader.get_newest()) is not None:
            since = max(rest_since, capture.turn.frame.time, self._not_before)
            self._add_capture(capture, since, state.moment)
            if (found := self._finder.check(now)) is not None:
                self._end(found, state.moment)
        return CHECK_INTERVAL_S

    def _can_end(self) -> bool:
        """Return True if a turn may end automatically now.

        It may not while the players must remove the tiles of a withdrawn play, or while a question is open that has no
        provisional answer.
        """
        controller = self._controller
        if not (controller.phase.in_play and controller.awaits_play) or controller.evidence.to_clear:
            return False
        return not controller.waits_for_answer

    def _add_capture(self, capture: AdvanceCapture, since: float, moment: Moment) -> None:
        """Pass the reading of a capture to the turn finder, unless the finder has it already for the same game.

        A capture whose turn was undone is ignored until something moves. The board has been at rest since `since` (s).
        `moment` is the version of the game for which a turn is ended.
        """
        game, board = self._controller.game, capture.turn.reading.board
        if capture is self._last_capture and len(game.turns) < self._last_turn_count:  # undone, and nothing has moved
            self._undone_capture = capture
        if len(game.turns) != self._last_turn_count:
            self._forget_play()  # a press came first
        self._last_capture, self._last_turn_count = capture, len(game.turns)
        # The words are checked when the turn is ended. No player has pressed a button for it yet.
        context = replace(self._controller.turn_context, words=None, seat=None)
        finder_input = _FinderInput(capture, context, since)
        if board is None or capture is self._undone_capture:
            self._forget_play()
        elif self._finder_input is None or not finder_input.is_same(self._finder_input):
            self._finder_input = finder_input
            if (found := self._finder.add_reading(board, context, since, capture)) is not None:
                self._end(found, moment)  # the next player has already played

    def _end(self, found: FoundTurn, moment: Moment) -> None:
        """End a turn that is over, or only propose to end it."""
        assert found.capture is not None, "`_add_capture` passes one with each reading"
        if not self._config.ends:
            self._propose_end()
            return
        try:
            self._end_turn(found.capture, moment).result()
        except CommandRefusedError:
            self._finder_input = None  # a command came first: the reading is added again, to the new game

    def _forget_play(self) -> None:
        self._finder.take()
        self._finder_input = None
