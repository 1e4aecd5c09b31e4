"""The times of the last changes: a press right after a change may have been meant for what was there before."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from device.session.snapshot import Phase, TableSnapshot


@dataclass(frozen=True, slots=True)
class Elapsed:
    """Seconds since the last event of the game, since a question was closed, and since a pause began or ended."""

    event: float = inf
    question: float = inf
    pause: float = inf


class RecentChanges:
    """The times of the last changes of the table, for presses right after them."""

    def __init__(self, state: TableSnapshot) -> None:
        """Begin with the snapshot `state`, which counts as old."""
        self._state = state
        self._event_time = self._question_time = self._pause_time = -inf

    def update(self, state: TableSnapshot, now: float) -> None:
        """Handle the next snapshot at time `now` (s)."""
        elapsed, self._state = self.measure(state, now), state
        self._event_time, self._question_time = now - elapsed.event, now - elapsed.question
        self._pause_time = now - elapsed.pause

    def measure(self, state: TableSnapshot, now: float) -> Elapsed:
        """Return the times from the last changes to `now`; 0 for a change in `state` that was not handled yet.

        `state` is the current snapshot. While the board is read, no question is shown. This does not count as the end
        of a question.
        """
        before = self._state
        is_closed = before.question is not None and state.question is None and state.phase is not Phase.LOOKING
        is_pause_changed = (before.phase is Phase.PAUSED) is not (state.phase is Phase.PAUSED)
        return Elapsed(
            0.0 if state.moment != before.moment else now - self._event_time,
            0.0 if is_closed else now - self._question_time,
            0.0 if is_pause_changed else now - self._pause_time,
        )
