"""A table learns its own tiles from turns that the next turn has confirmed, never from one in doubt."""

from __future__ import annotations

from dataclasses import dataclass

from calibration.profile import TableKnowledge
from calibration.profile_file import KnowledgeError
from device.session.turn_capture import Looked
from engine.board import Board
from engine.game import Game
from engine.inference.history import face_of
from engine.reading import HIDDEN, SIZE, BoardReading
from engine.squares import SQUARES
from vision.recognition.board_views import BoardViews

UNSEEN = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class _Pending:
    """What a turn was read from, until another confirms it: its place among the turns, and the board as it was then."""

    turn: int
    board: Board
    reading: BoardReading
    views: BoardViews


class Learner:
    """Hands to a table's knowledge what it may learn; used from one thread."""

    def __init__(self, knowledge: TableKnowledge) -> None:
        self._knowledge = knowledge
        self._pending: _Pending | None = None

    def follow(self, looked: Looked, source: str, game: Game) -> str:
        """A turn was taken: the one before is learnt if neither is in doubt. As `confirm`."""
        board = looked.reading.board
        if board is None or looked.verdict is None or not looked.verdict.is_clear or looked.split:
            self.forget()
            return ""
        trouble = self.confirm(source, game)
        self.remember(game, board, looked.reading.views)
        return trouble

    def forget(self) -> None:
        """What was read last is not learnt: it was taken back, or is in doubt."""
        self._pending = None

    def confirm(self, source: str, game: Game) -> str:
        """A turn without doubt has followed: learn from the one before, as the record has it by now.

        `source` names the game. Returns why it is not kept, empty where it is.
        """
        pending, self._pending = self._pending, None
        if pending is None or pending.turn >= len(game.turns) or not game.turns[pending.turn].stands:
            return ""
        board = game.turns[pending.turn].board
        told = board.differences(pending.board)
        faces = [
            HIDDEN if pending.reading.squares[s].probability(HIDDEN) > UNSEEN else face_of(board[s]) for s in SQUARES
        ]
        rows = [faces[at : at + SIZE] for at in range(0, SIZE * SIZE, SIZE)]
        self._knowledge.learn(pending.views, rows, source, told)
        try:
            self._knowledge.save()
        except KnowledgeError as error:
            return str(error)
        return ""

    def remember(self, game: Game, reading: BoardReading, views: BoardViews | None) -> None:
        """The last turn of a game was read from this, without doubt."""
        if views is not None and game.turns:
            self._pending = _Pending(len(game.turns) - 1, game.board, reading, views)
