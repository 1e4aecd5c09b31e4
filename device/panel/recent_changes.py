"""The times of the last changes: a press right after a change may have been meant for what was there before."""

from __future__ import annotations

from math import inf

from device.session.snapshot import Phase, TableSnapshot


class RecentChanges:
    """Times of the last event of the game, and of the last question that was closed, for presses right after them."""

    def __init__(self, state: TableSnapshot) -> None:
        """Begin with the snapshot `state`, which counts as old."""
        self._state = state
        self._turn_time = self._question_time = -inf

    def update(self, state: TableSnapshot, now: float) -> None:
        """Handle the next snapshot at time `now` (s)."""
        self._turn_time = now - self.measure_since_turn(state, now)
        self._question_time = now - self.measure_since_question(state, now)
        self._state = state

    def measure_since_turn(self, state: TableSnapshot, now: float) -> float:
        """Return the seconds from the last event of the game to `now`.

        `state` is the current snapshot. If it was not handled yet and has other events, the result is 0.
        """
        return now - self._turn_time if state.moment == self._state.moment else 0.0

    def measure_since_question(self, state: TableSnapshot, now: float) -> float:
        """Return the seconds from the end of the last question to `now`; 0 if `state` was not handled yet and ends it.

        While the board is read, no question is shown. This does not count as the end of a question.
        """
        is_closed = self._state.question is not None and state.question is None and state.phase is not Phase.LOOKING
        return 0.0 if is_closed else now - self._question_time
