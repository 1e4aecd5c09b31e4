"""Capture of a turn: take a picture, read the board, infer the play, and repeat while the play is uncertain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from device.cameras import Frame, Image
from device.capture.board_camera import AdvanceReading, BoardCamera, Capture
from device.capture.key_frames import KeyFrame, find_stable_frames
from device.capture.turn_images import EncodedPictures, encode_pictures
from device.catalogue import get_text
from device.session.snapshot_builder import list_premium_texts
from device.session.threads import CaptureProgress
from device.session.turns.decision import Decision, TurnContext
from device.session.turns.inferred_turn import MIN_HIDDEN_PROBABILITY, ask_one_or_two_plays
from device.session.turns.key_frame_plays import find_earlier_tile, find_extended_plays, needs_key_frames, split_turns
from device.session.turns.turn_validation import decide_reading, validate_decision
from engine.board import Square
from engine.events import filter_plays
from engine.game import Game
from engine.inference.alignment import align_reading
from engine.inference.explain import Inference
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

ReadBoard = Callable[[Image], BoardReading | None]
"""A function that reads the board in a picture of the table's camera; it returns None if no board was found."""


@dataclass(frozen=True, slots=True, eq=False)
class TurnCapture:
    """Result of the capture of a turn: the last picture, the merged reading, the inference and the decision.

    If no board was read, inference and decision are None. `ledger` is that before the turn, with the answers that the
    reading has given to open questions.
    """

    frame: Frame
    reading: PhotoReading
    ledger: Ledger
    inference: Inference | None = None
    decision: Decision | None = None
    is_split: bool = False
    """True if the board showed two turns, which were separated with key frames (earlier pictures)."""
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

    `captures` are that of `reading` and, if the play is uncertain, those of further pictures of the same scene.
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


def capture_turn(
    camera: BoardCamera,
    context: TurnContext,
    key_frames: Sequence[KeyFrame],
    progress: CaptureProgress,
    advance: AdvanceCapture | None,
) -> TurnCapture:
    """Take and read pictures of the board, and compare the new tiles with those of `key_frames`.

    `key_frames` are the pictures of the board at rest since the last turn. For `advance` see `_read_pictures`. Raises
    `CameraError`.
    """

    def read(image: Image) -> BoardReading | None:
        progress.record_step()
        return camera.read_earlier_picture(image, context.ledger.game.tiles.letters).board

    turn = _read_pictures(camera, context, progress, advance)
    turn = _split_turns(turn, context, read, key_frames)
    return _check_key_frames(turn, context, read, key_frames)


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


def check_advance_key_frames(
    camera: BoardCamera, turn: TurnCapture, context: TurnContext, key_frames: Sequence[KeyFrame]
) -> TurnCapture:
    """Compare the new tiles of a turn that was captured in advance with those of `key_frames`, as at a press."""

    def read(image: Image) -> BoardReading | None:
        return camera.read_earlier_picture(image, turn.game.tiles.letters).board

    return _check_key_frames(_split_turns(turn, context, read, key_frames), context, read, key_frames)


def _read_pictures(
    camera: BoardCamera, context: TurnContext, progress: CaptureProgress, advance: AdvanceCapture | None
) -> TurnCapture:
    """Take and read pictures until the play is clear, the time limit has passed, or `MAX_IMAGES` pictures were read.

    - If the play is clear in a single picture, only this picture is used. Otherwise the readings of all pictures are
      merged, because a square that a hand hides in one picture may be visible in another.
    - While a hand hides squares, more than `MAX_IMAGES` pictures are read, for up to `MAX_HAND_WAIT_S` seconds.
    - If the first picture shows no board, the camera adjusts exposure and focus again.
    - If the board still looks as in the capture `advance`, the pictures and readings of `advance` are used first.

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
        if advance is not None and capture is advance.reading.capture:
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
    """Infer the play from the last reading or, if the result is unclear, from all readings merged."""
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


def _split_turns(
    turn: TurnCapture, context: TurnContext, read: ReadBoard, key_frames: Sequence[KeyFrame]
) -> TurnCapture:
    """Split a capture into two turns that were ended with one press, if a key frame shows the board between them."""
    board, game = turn.reading.board, turn.game
    if board is None or turn.inference is None or not needs_key_frames(turn.inference):
        return turn
    readings = [reading for frame in key_frames if (reading := read(frame.decode_image())) is not None]
    inference = split_turns(game, board, readings, context.reading_history)
    if inference is None:
        return turn
    decision = validate_decision(game, Decision(inference.events), board, context)
    return replace(turn, inference=inference, decision=decision, is_split=True)


def _check_key_frames(
    turn: TurnCapture,
    context: TurnContext,
    read: ReadBoard,
    key_frames: Sequence[KeyFrame],
) -> TurnCapture:
    """Return the capture with a changed decision, if a key frame shows only some of the new tiles.

    If the tiles in the key frame may be a separate play, the players are asked who placed them. If the reading
    of the previous play may have missed one of the tiles, the turn is validated again.
    """
    if turn.is_split or turn.inference is None or turn.decision is None:
        return turn
    if turn.decision.open_question or turn.decision.warning:
        return turn
    game, board, plays = turn.game, turn.reading.board, filter_plays(turn.decision.events)
    if board is None or len(plays) != 1 or len(plays[0].play.tiles) < 2:
        return turn
    stable_readings = [
        (reading, stable_s)
        for frame, stable_s in find_stable_frames(key_frames, turn.frame)
        if (reading := read(frame.decode_image())) is not None
    ]
    if (square := find_earlier_tile(game, plays[0].play, stable_readings)) is not None:
        context = replace(context, reading_history=context.reading_history.with_early_tile(square))
        inferred = Decision(turn.decision.events, notices=turn.decision.notices)
        return replace(turn, decision=validate_decision(game, inferred, board, context))
    pairs = find_extended_plays(game, turn.inference, stable_readings, context.reading_history, context.words)
    if not pairs:
        return turn
    asked = ask_one_or_two_plays(game, plays[0], pairs)
    return replace(turn, decision=replace(turn.decision, open_question=asked))
