"""Capture of a turn: take a picture, read the board, infer the play, and repeat while the play is uncertain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from device.cameras.base import Frame
from device.capture.board_camera import AdvanceReading, BoardCamera, Capture
from device.capture.turn_images import EncodedPictures, encode_pictures
from device.catalogue import get_text
from device.session.snapshot_builder import list_premium_texts
from device.session.threads import CaptureProgress
from device.session.turns.decision import Decision, TurnContext
from device.session.turns.inferred_turn import MIN_HIDDEN_PROBABILITY
from device.session.turns.turn_validation import decide_reading
from engine.board import Square
from engine.events import filter_plays
from engine.game import Game
from engine.inference.alignment import align_reading
from engine.inference.explain import Inference
from engine.inference.history import Rest
from engine.ledger import Ledger
from engine.reading import EMPTY, HIDDEN, BoardReading, merge_readings
from vision.focus import is_blurred
from vision.recognition.premium_colours import sample_premium_colours
from vision.recognition.reader import PhotoReading

MAX_IMAGES = 3
"""Largest number of pictures of a live camera that are read for one turn, unless a hand hides squares. If the play is
still uncertain after these pictures, a question is asked."""
MAX_HAND_WAIT_S = 3.0
"""Longest time for which more pictures are taken because a hand hides a part of the board, in seconds."""


@dataclass(frozen=True, slots=True, eq=False)
class TurnCapture:
    """Result of the capture of a turn: the last picture, the merged reading, the inference and the decision.

    If no board was read, inference and decision are None. `ledger` is the ledger before the turn, with the answers that
    the reading gives to open questions.
    """

    frame: Frame
    reading: PhotoReading
    ledger: Ledger
    inference: Inference | None = None
    decision: Decision | None = None
    is_aligned: bool = True
    """False if the grid was found one square off, so that the reading had to be shifted."""
    is_echo: bool = False
    """True if the board has not changed since a turn ended automatically just before the press of this capture."""
    own_board: BoardReading | None = None
    """The reading of the last picture alone; `reading.board` may be merged from several pictures."""
    pictures: EncodedPictures | None = None
    """The pictures to store and show, if they were encoded in advance."""

    @property
    def game(self) -> Game:
        """The game before the turn."""
        return self.ledger.game

    def encode_pictures(self) -> EncodedPictures:
        """Return the pictures to store and show; they are encoded now unless they were encoded in advance."""
        return self.pictures or encode_pictures(self.frame, self.reading)


@dataclass(frozen=True, slots=True, eq=False)
class AdvanceCapture:
    """A turn captured in advance, with the context from which it was inferred.

    `captures` are the pictures that were read: that of `reading` and, for an uncertain play, further ones of the scene.
    """

    reading: AdvanceReading
    context: TurnContext
    turn: TurnCapture
    captures: tuple[Capture, ...]

    @property
    def needs_picture(self) -> bool:
        """True if another picture of the scene may answer the question about the turn."""
        decision = self.turn.decision
        is_asked = decision is not None and decision.open_question is not None and not decision.is_clear
        return is_asked and len(self.captures) < MAX_IMAGES

    def add_picture(self, capture: Capture) -> AdvanceCapture:
        """Return the capture of the turn with another picture of the same scene."""
        captures = (*self.captures, capture)
        return replace(self, captures=captures, turn=_explain_captures(captures, self.context))

    def with_pictures(self) -> AdvanceCapture:
        """Return the capture with its pictures encoded, so that this need not be done when the player ends the turn."""
        return replace(self, turn=replace(self.turn, pictures=self.turn.encode_pictures()))

    def adapt(self, context: TurnContext) -> TurnCapture:
        """Return the capture for the current context. If the context has changed, the play is inferred again."""
        if context.is_same(self.context):
            return self.turn
        return replace(_explain_captures(self.captures, context), pictures=self.turn.pictures)


def capture_in_advance(reading: AdvanceReading, context: TurnContext) -> AdvanceCapture:
    """Infer the turn from a reading before the player has ended the turn; nothing is recorded or asked."""
    captures = (reading.capture,)
    return AdvanceCapture(reading, context, _explain_captures(captures, context), captures)


def mark_echo(turn: TurnCapture, ended: TurnCapture, game: Game) -> TurnCapture:
    """Return a capture with `is_echo` set if its board has not changed since `ended`, the last turn of `game`.

    The board has changed if a tile was placed, or a recorded tile removed. A letter that is read differently is no
    change, because the reading of a doubtful tile differs from picture to picture.
    """
    before, after = ended.reading.board, turn.reading.board
    if before is None or after is None:
        return turn
    return replace(turn, is_echo=_find_differing_squares(game, after) <= _find_differing_squares(game, before))


def _find_differing_squares(game: Game, reading: BoardReading) -> set[Square]:
    """Return the visible squares that have a tile either in a reading or on the recorded board, but not on both."""
    pairs = zip((align_reading(game, reading) or reading).squares, game.board.squares, strict=True)
    return {
        square
        for square, (read, tile) in enumerate(pairs)
        if read.symbol != HIDDEN and read.is_tile != (tile is not None)
    }


def capture_turn(
    camera: BoardCamera,
    context: TurnContext,
    progress: CaptureProgress,
    advance: AdvanceCapture | None,
    list_rests: Callable[[float], tuple[Rest, ...]],
) -> TurnCapture:
    """Take and read pictures until the play is clear, the time limit has passed, or `MAX_IMAGES` pictures were read.

    - If the play is clear in a single picture, only this picture is used. Otherwise the readings of all pictures are
      merged, because a square that a hand hides in one picture may be visible in another.
    - While a hand hides squares, more than `MAX_IMAGES` pictures are read, for up to `MAX_HAND_WAIT_S` seconds.
    - If the first picture shows no board, the camera adjusts exposure and focus again.
    - If the board still looks as in the capture `advance`, the pictures and readings of `advance` are used first.
    - `list_rests` returns the readings of the board at rest before the time (s) of a picture.

    Raises `CameraError`.
    """
    letters = context.ledger.game.tiles.letters
    readings: list[BoardReading] = []
    picture_count = 0
    while True:
        picture_count += 1
        progress.record_step()
        capture = camera.capture_board(letters, advance.reading if advance and picture_count == 1 else None)
        progress.record_step()
        if picture_count == 1:
            context = replace(context, rests=list_rests(capture.frame.time))
        if advance is not None and capture is advance.reading.capture:  # the board still looks as in advance
            picture_count = len(advance.captures)
            readings = _list_readings(advance.captures)
            turn = advance.adapt(context)
        else:
            if capture.reading.board is not None:
                readings.append(capture.reading.board)
            turn = _explain_readings(TurnCapture(capture.frame, capture.reading, context.ledger), context, readings)
        is_clear = turn.decision is not None and turn.decision.is_clear
        if is_clear and turn.is_aligned:
            camera.confirm_location(turn.reading)
        else:
            camera.mark_location_unreliable()
        if is_clear or not camera.is_live or progress.is_late:
            return turn
        if capture.reading.board is None and picture_count == 1:
            camera.settle_camera()  # the focus or exposure that was locked may hide the board
        if picture_count >= MAX_IMAGES and not (_has_hidden_squares(turn) and progress.elapsed_s < MAX_HAND_WAIT_S):
            return turn


def reject_blurred_turn(turn: TurnCapture) -> TurnCapture:
    """Return a capture without its inference and decision if it records no events and its picture is blurred.

    Other captures are returned unchanged.
    """
    corners, decision = turn.reading.corners, turn.decision
    if decision is None or decision.events or corners is None or not is_blurred(turn.frame.image, corners):
        return turn
    return _reject_picture(turn, get_text("board-blurred"))


def reject_used_picture(turn: TurnCapture) -> TurnCapture:
    """Return a capture without its inference and decision, because its picture was already used for an earlier turn."""
    return _reject_picture(turn, get_text("picture-used"))


def _reject_picture(turn: TurnCapture, problem: str) -> TurnCapture:
    """Return a capture from which nothing is recorded, with `problem` as the reason."""
    return replace(turn, reading=replace(turn.reading, problems=(problem,)), inference=None, decision=None)


def sample_board_colours(turn: TurnCapture) -> tuple[tuple[str, str], ...]:
    """Return the colours of the board in the picture of a turn, in the format of `TableSnapshot.board_colours`."""
    views = turn.reading.views
    if turn.own_board is None or views is None:
        return ()
    empty = np.array([symbol == EMPTY for symbol in turn.own_board.symbols])
    return sample_premium_colours(views.board, empty, list_premium_texts(turn.game.layout))


def may_show_play(turn: TurnCapture) -> bool:
    """Return True if the board in a picture may show a new play, certain or not, or if squares are hidden."""
    decision = turn.decision
    if decision is None:
        return False
    answers = decision.open_question.answers if decision.open_question else ()
    return any(map(filter_plays, (decision.events, *answers))) or _has_hidden_squares(turn)


def _explain_captures(captures: Sequence[Capture], context: TurnContext) -> TurnCapture:
    """Infer the play from pictures of one scene, of which the last one becomes the picture of the turn."""
    last = captures[-1]
    return _explain_readings(TurnCapture(last.frame, last.reading, context.ledger), context, _list_readings(captures))


def _list_readings(captures: Sequence[Capture]) -> list[BoardReading]:
    return [board for capture in captures if (board := capture.reading.board) is not None]


def _explain_readings(turn: TurnCapture, context: TurnContext, readings: Sequence[BoardReading]) -> TurnCapture:
    """Return the turn as inferred from the last reading or, if the result is unclear, from all readings merged."""
    if turn.reading.board is None:
        return turn
    for board in dict.fromkeys((readings[-1], merge_readings(readings))):
        read = decide_reading(board, context)
        turn = replace(
            turn,
            ledger=read.ledger,
            reading=replace(turn.reading, board=board),
            inference=read.inference,
            decision=read.decision,
            is_aligned=align_reading(read.ledger.game, board) is board,
            own_board=readings[-1],
        )
        if read.decision.is_clear:
            break
    return turn


def _has_hidden_squares(turn: TurnCapture) -> bool:
    board = turn.reading.board
    return board is None or any(square.probability(HIDDEN) > MIN_HIDDEN_PROBABILITY for square in board.squares)
