"""Updates of the table profile from captured turns. A turn is used only after the next turn has confirmed it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from calibration.profile import ProfileError, TableProfile
from device.session.turns.turn_capture import TurnCapture
from device.storage.files import write_file
from engine.ledger import Ledger
from engine.reading import BOARD_SIZE, HIDDEN, BoardReading
from engine.validation.open_questions import find_open_squares
from vision.recognition.views import BoardViews


@dataclass(frozen=True, slots=True, eq=False)
class _PendingTurn:
    """The reading of the last turn, which the next turn has not confirmed yet.

    `turn` is the index of the turn. `reading` is that of the picture of `views` alone.
    """

    turn: int
    reading: BoardReading
    views: BoardViews


@dataclass(frozen=True, slots=True, eq=False)
class _LearntTurn:
    """The last turn from which the profile has learnt: the true faces that it has learnt, and the name of the game."""

    turn: _PendingTurn
    rows: Sequence[Sequence[str]]
    source: str


class ProfileUpdater:
    """Updater of the table profile: it learns the look of the tiles from confirmed turns. Not thread-safe."""

    def __init__(self, profile: TableProfile) -> None:
        self._profile = profile
        self._pending: _PendingTurn | None = None
        self._learnt: _LearntTurn | None = None
        self._checked_ledger: Ledger | None = None
        self._has_failed = False
        """True if the profile could not be saved after the last turn, so that the error is not reported again."""

    def add_turn(self, turn: TurnCapture, source: str, ledger: Ledger) -> str:
        """Learn from the previous turn, and keep this turn until the next turn confirms it.

        A turn is not used if it is uncertain, or if its grid was found one square off. `source` identifies the game.
        Return an error message if the profile cannot be saved, but only the first time; otherwise an empty string.
        """
        own = turn.own_board
        is_certain = turn.decision is not None and turn.decision.is_clear and turn.is_aligned
        if own is None or not is_certain:
            self._has_failed = False
            self._pending = None
            return ""
        error = self._learn_pending(source, ledger)
        if turn.reading.views is not None and ledger.game.turns:
            self._pending = _PendingTurn(len(ledger.game.turns) - 1, own, turn.reading.views)
        is_reported, self._has_failed = self._has_failed, bool(error)
        return "" if is_reported else error

    def discard_pending(self) -> None:
        """Discard the pending turn, because it was undone or its game is over.

        Later corrections of the last learnt turn are not learnt any more (`learn_corrections`).
        """
        self._pending = self._learnt = None

    def learn_corrections(self, source: str, ledger: Ledger) -> str:
        """Learn the last learnt turn again, if the players have corrected it since: its examples were wrong.

        `source` identifies the game, and `ledger` has the corrections. Later pictures of the game would replace the
        wrong examples, but there may be none. Return an error message if the profile could not be saved, otherwise an
        empty string.
        """
        learnt = self._learnt
        if learnt is None or learnt.source != source or ledger is self._checked_ledger:
            return ""
        self._checked_ledger = ledger
        turn = learnt.turn
        if turn.turn >= len(ledger.game.turns) or not ledger.game.turns[turn.turn].stands:
            return ""
        return "" if _list_faces(turn, ledger) == learnt.rows else self._learn(turn, source, ledger)

    def _learn_pending(self, source: str, ledger: Ledger) -> str:
        """Learn from the pending turn, which the last turn of `ledger` confirms.

        The true faces are those in `ledger`, where the turn may have been corrected. Nothing is learnt if the pending
        turn is itself the last one: it was undone and played again, and its picture may show other tiles. `source`
        identifies the game. Return an error message if the profile could not be saved, otherwise an empty string.
        """
        pending, self._pending = self._pending, None
        if pending is None or pending.turn >= len(ledger.game.turns) - 1 or not ledger.game.turns[pending.turn].stands:
            return ""
        return self._learn(pending, source, ledger)

    def _learn(self, turn: _PendingTurn, source: str, ledger: Ledger) -> str:
        """Add the tiles of a turn to the profile, and save it. Return an error message, or an empty string."""
        rows = _list_faces(turn, ledger)
        self._learnt = _LearntTurn(turn, rows, source)
        self._profile.learn(turn.views, rows, source)
        try:
            self._profile.save(write_file)
        except ProfileError as error:
            return str(error)
        return ""


def _list_faces(turn: _PendingTurn, ledger: Ledger) -> list[list[str]]:
    """Return the true faces on the squares in the picture of a turn, as 15 rows of 15 symbols.

    A square is `#` if nothing can be learnt from it: no tile was read there, or the players have not answered a
    question about it.
    """
    board, open_squares = ledger.game.turns[turn.turn].board, find_open_squares(ledger)
    symbols = [
        symbol if read.is_tile and square not in open_squares else HIDDEN
        for square, (read, symbol) in enumerate(zip(turn.reading.squares, board.symbols(), strict=True))
    ]
    return [symbols[start : start + BOARD_SIZE] for start in range(0, len(symbols), BOARD_SIZE)]
