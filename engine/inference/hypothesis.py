"""One hypothesis about what happened between two readings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from engine.board import Board
from engine.events import Event
from engine.game import Game
from engine.inference.history import Evidence
from engine.squares import Square


@dataclass(frozen=True)
class Hypothesis:
    """Events that may explain a reading, and the game after them.

    `log_prior` is in nats. `moved_tiles` pairs the square of an old tile with the one where it is seen now.
    `lying_board` is the board that the camera should see if it differs from that of the game: tiles of a play that was
    challenged off are still there. `note` describes the hypothesis if its events do not.
    """

    game: Game
    events: tuple[Event, ...]
    log_prior: float
    evidence: Evidence
    moved_tiles: tuple[tuple[Square, Square], ...] = ()
    lying_board: Board | None = None
    note: str = ""

    @property
    def board(self) -> Board:
        """Return the board that the camera should see."""
        return self.game.board if self.lying_board is None else self.lying_board

    @cached_property
    def log_posterior(self) -> float:
        """Return the log-likelihood with the prior, in nats, up to a constant of the reading."""
        return self.log_prior + self.evidence.board_log_likelihood(self.board)

    def push(self, *events: Event, log_prior: float = 0.0) -> Hypothesis:
        """Return the hypothesis with more events; `log_prior` is added to its own."""
        game = self.game
        for event in events:
            game = game.push(event)
        return replace(self, game=game, events=self.events + events, log_prior=self.log_prior + log_prior)

    def find_unexplained_squares(self) -> frozenset[Square]:
        """Return the squares where a tile is clearly seen and the board has none."""
        return frozenset(square for square in self.evidence.clear_tile_squares if self.board[square] is None)
