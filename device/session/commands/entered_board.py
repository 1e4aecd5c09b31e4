"""The turn that a board entered by hand shows: its inference, and the letters of its blanks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from device.session.messages import CommandRefusedError, convert_engine_errors, make_refusal
from engine.board import Square
from engine.events import BlankNamed, Event, filter_plays
from engine.game import Game
from engine.inference.explain import Inference
from engine.reading import BoardReading
from engine.scoring import describe_status
from engine.tiles import Tile

MIN_ENTERED_CERTAINTY = 0.8
"""Smallest certainty at which a board entered by hand is recorded without a question. The certainty is the probability
of the best explanation divided by the sum of the probabilities of all explanations that result in this board."""


def match_entered_board(inference: Inference, reading: BoardReading) -> Inference:
    """Return the inference with only those explanations that result in the entered board; unchanged if there are none.

    A camera may misread a letter, but an entered board is exact. So the question of the inference is dropped if the
    best remaining explanation has at least `MIN_ENTERED_CERTAINTY` of the probability of all remaining ones. The
    question is kept for two plays, because the board does not show who made which.

    If no explanation results in the entered board, the board cannot follow from the board before: an old tile was
    changed, or new tiles are beside a play. Raises `CommandRefusedError` in these cases.
    """
    symbols = [square.symbol for square in reading.squares]
    exact = tuple(one for one in inference.explanations if one.game.board.symbols() == symbols)
    if not exact:
        best = inference.best
        if best.misread_squares or best.missing_squares or best.moved_tiles:
            raise make_refusal("old-tile-changed")
        if best.events and best.status:
            raise CommandRefusedError(describe_status(best.status))
        return inference
    inference = replace(inference, explanations=exact)
    has_one_play = len(filter_plays(exact[0].events)) <= 1
    is_likely = exact[0].probability >= MIN_ENTERED_CERTAINTY * sum(one.probability for one in exact)
    return replace(inference, question=None) if has_one_play and is_likely else inference


def name_blanks(game: Game, events: Sequence[Event], tiles: Mapping[Square, Tile]) -> tuple[BlankNamed, ...]:
    """Return events that name the blanks placed by `events`; their letters are those of the entered `tiles`."""
    with convert_engine_errors():
        board = game.push(*events).board
    unnamed = {square for square, tile in enumerate(board.squares) if tile is not None and tile.is_unnamed}
    return tuple(
        BlankNamed(square, tile.letter) for square, tile in tiles.items() if square in unnamed and not tile.is_unnamed
    )
