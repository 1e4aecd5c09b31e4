"""Capture of a turn: take a picture, read the board, infer the play, and repeat while the play is uncertain.

`TurnWorker` captures turns in a thread of its own. The thread that changes the game waits for the capture for a limited
time. After this time the players are asked, and the capture continues: it is used if the players choose to wait, and
stopped at its next step by any other command.

`ProfileUpdater` lets the table profile (the appearance of one table's tiles) learn from a captured turn, once the next
turn has confirmed it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, fields, replace
from typing import Generic, TypeVar

from calibration.profile import ProfileError, TableProfile
from device.cameras import Frame, Image
from device.capture.board_camera import AdvanceReading, BoardCamera, Capture
from device.capture.turn_images import (
    EncodedPictures,
    KeyFrame,
    encode_pictures,
    find_extended_play,
    find_stable_frames,
    needs_key_frames,
    split_turns,
)
from device.session.decision import (
    MIN_HIDDEN_PROBABILITY,
    Decision,
    TurnContext,
    ask_one_or_two_plays,
    decide,
    filter_plays,
    validate_decision,
)
from engine.board import Board
from engine.errors import TilekeeperError
from engine.game import Game
from engine.inference.explain import Inference, infer_play
from engine.inference.history import align_reading
from engine.reading import BOARD_SIZE, HIDDEN, BoardReading, merge_readings
from engine.validation.deferred_questions import settle_questions
from vision.recognition.reader import PhotoReading
from vision.recognition.views import BoardViews

MAX_TURN_S = 10.0
"""Default time for the capture of a turn, in seconds; then the players are asked."""
MAX_STEP_S = 60.0
"""Time, in seconds, after which a step of a capture counts as stuck. Slow machines need 30 s for a picture."""
_POLL_INTERVAL_S = 0.1


Result = TypeVar("Result")

MAX_IMAGES = 3
"""Largest number of pictures of a live camera that are read before a question is asked."""
MAX_HAND_WAIT_S = 3.0
"""Time, in seconds, during which further pictures are taken while a hand hides a part of the board."""

ReadBoard = Callable[[Image], BoardReading | None]
"""A function that reads the board in a picture of this camera; it returns None if no board was found."""


class CaptureStoppedError(TilekeeperError):
    """Raised in the thread of a capture whose result is not needed any more, to end the capture."""


class CaptureProgress:
    """Progress of one capture, which calls `record_step` before each step that may take seconds."""

    def __init__(self, clock: Callable[[], float], max_s: float) -> None:
        self._clock = clock
        self._due = clock() + max_s
        self._is_stopped = False
        self.last_step = clock()
        """Time of the last step, in seconds of the clock."""

    @property
    def is_late(self) -> bool:
        """True if the time for the capture has passed; then no further picture is taken."""
        return self._clock() >= self._due

    def record_step(self) -> None:
        """Record that the capture has reached its next step. Raises `CaptureStoppedError` after `stop`."""
        self.last_step = self._clock()
        if self._is_stopped:
            raise CaptureStoppedError("the capture was stopped")

    def stop(self) -> None:
        """End the capture at its next step."""
        self._is_stopped = True


class TurnWorker(Generic[Result]):
    """A thread named `reading` that captures one turn at a time."""

    def __init__(self, clock: Callable[[], float], max_s: float = MAX_TURN_S) -> None:
        """Start the thread; `max_s` is the longest time, in seconds, that `wait` waits for a capture."""
        self.max_s = max_s
        self._clock = clock
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="reading")
        self._pending: tuple[CaptureProgress, Future[Result]] | None = None
        self._due: float | None = None

    @property
    def is_pending(self) -> bool:
        """True if a capture has been started and `wait` has not returned it yet."""
        return self._pending is not None

    def start(self, capture: Callable[[CaptureProgress], Result]) -> None:
        """Stop the previous capture and run `capture` on the thread."""
        self.stop()
        progress = CaptureProgress(self._clock, self.max_s)
        self._due = self._clock() + self.max_s
        self._pending = progress, self._thread.submit(capture, progress)

    def wait(self, report_waiting: Callable[[], None]) -> Result | None:
        """Return the result of the capture, or None `max_s` seconds after its start; then the capture is still pending.

        The next call waits for the same time again.
        `report_waiting` is called several times a second. Raises the exception of the capture.
        """
        assert self._pending is not None, "a capture has been started"
        future, due = self._pending[1], self._due or self._clock() + self.max_s
        self._due = None
        while not wait([future], _POLL_INTERVAL_S).done:
            report_waiting()
            if self._clock() >= due or self._pending is None:
                return None
        self._pending = None
        try:
            return future.result()
        except (CancelledError, CaptureStoppedError):  # the session is closed
            return None

    def stop(self) -> None:
        """Discard the pending capture; it ends at its next step."""
        if self._pending:
            progress, future = self._pending
            progress.stop()
            future.cancel()
            self._pending = None

    def check_progress(self) -> None:
        """Raise `TimeoutError` if a step of the pending capture takes longer than `MAX_STEP_S`."""
        pending = self._pending
        if pending and not pending[1].done() and self._clock() - pending[0].last_step > MAX_STEP_S:
            raise TimeoutError(f"no progress for {MAX_STEP_S:.0f} s")

    def close(self) -> None:
        """Stop the thread after its present step."""
        self.stop()
        self._thread.shutdown()


@dataclass(frozen=True, slots=True, eq=False)
class TurnCapture:
    """Result of the capture of a turn: the last picture, the merged reading, the inference and the decision.

    The inference and the decision are None if no board was read. `game` is the game before the turn. If the reading has
    settled deferred questions, it is the game after their answers.
    """

    frame: Frame
    reading: PhotoReading
    game: Game
    inference: Inference | None = None
    decision: Decision | None = None
    is_split: bool = False
    """True if the board showed two turns, which were separated with key frames (earlier pictures)."""
    is_aligned: bool = True
    """False if the grid was found one square off and the reading was shifted back."""
    pictures: EncodedPictures | None = None
    """The pictures to store and show, if they were encoded in advance."""

    def encode_pictures(self) -> EncodedPictures:
        """Return the pictures to store and show."""
        return self.pictures or encode_pictures(self.frame, self.reading)


@dataclass(frozen=True, slots=True, eq=False)
class AdvanceCapture:
    """A turn that was captured in advance, from one reading: it counts if the scene, game and context are the same."""

    reading: AdvanceReading
    game: Game
    context: TurnContext
    capture: TurnCapture

    def adapt(self, game: Game, context: TurnContext) -> TurnCapture:
        """Return the capture for the present game and context, which is inferred again if either has changed."""
        is_same = game is self.game and all(
            getattr(context, field.name) is getattr(self.context, field.name) for field in fields(TurnContext)
        )
        if is_same:
            return self.capture
        seen = self.reading.capture
        return replace(_explain_first_reading(seen, game, context), pictures=self.capture.pictures)


def capture_in_advance(reading: AdvanceReading, game: Game, context: TurnContext) -> AdvanceCapture:
    """Infer the turn from a reading before the turn has ended; nothing is recorded or asked yet."""
    capture = _explain_first_reading(reading.capture, game, context)
    pictures = encode_pictures(capture.frame, capture.reading)
    return AdvanceCapture(reading, game, context, replace(capture, pictures=pictures))


def capture_turn(
    sight: BoardCamera,
    game: Game,
    context: TurnContext,
    key_frames: Sequence[KeyFrame],
    now: Callable[[], float],
    progress: CaptureProgress,
    advance: AdvanceCapture | None = None,
) -> TurnCapture:
    """Take pictures, at most about `MAX_IMAGES`, until the play is clear or it is late. Raises `CameraError`.

    `key_frames` are the pictures of the board at rest since the last turn. If the play is clear in a single picture,
    only this picture is used. Otherwise the readings of all pictures are merged, because a square that a hand hides in
    one picture may be visible in another picture. While the scene of the capture `advance` is unchanged, its
    picture and reading are used as the first ones.
    """
    hands_until = now() + MAX_HAND_WAIT_S
    readings: list[BoardReading] = []
    looks = 0
    while True:
        looks += 1
        progress.record_step()
        seen = sight.capture_board(game.tiles.letters, advance.reading if advance and looks == 1 else None)
        progress.record_step()
        if seen.reading.board is not None:
            readings.append(seen.reading.board)
        if advance is not None and seen is advance.reading.capture:
            found = advance.adapt(game, context)
        else:
            found = _explain_readings(TurnCapture(seen.frame, seen.reading, game), game, context, readings)
        clear = found.decision is not None and found.decision.is_clear
        if clear and found.is_aligned:
            sight.confirm_location(found.reading)
        else:
            sight.mark_location_unreliable()
        if clear or not sight.live or progress.is_late:
            break
        if looks >= MAX_IMAGES and not (_has_hidden_squares(found) and now() < hands_until):
            break

    def read(image: Image) -> BoardReading | None:
        progress.record_step()
        return sight.read_board(image, game.tiles.letters).board

    found = _split_turns(found, context, read, key_frames)
    return _check_for_two_plays(found, context, read, key_frames)


def _explain_first_reading(seen: Capture, game: Game, context: TurnContext) -> TurnCapture:
    board = seen.reading.board
    return _explain_readings(TurnCapture(seen.frame, seen.reading, game), game, context, (board,) if board else ())


def _explain_readings(
    found: TurnCapture, game: Game, context: TurnContext, readings: Sequence[BoardReading]
) -> TurnCapture:
    """Infer the play from the last reading or, if the result is unclear, from all readings merged."""
    if found.reading.board is None:
        return found
    for board in dict.fromkeys((readings[-1], merge_readings(readings))):
        before = settle_questions(game, board, context.earlier)
        settled = context.asked.settle_reading(before, board)
        explained = infer_play(before, settled, context.earlier, context.asked.open_squares)
        verdict = decide(before, explained, settled, context)
        found = replace(
            found,
            game=before,
            reading=replace(found.reading, board=board),
            inference=explained,
            decision=verdict,
            is_aligned=align_reading(before, board) is board,
        )
        if verdict.is_clear:
            break
    return found


def _has_hidden_squares(found: TurnCapture) -> bool:
    board = found.reading.board
    return board is None or any(square.probability(HIDDEN) > MIN_HIDDEN_PROBABILITY for square in board.squares)


def _split_turns(
    found: TurnCapture, context: TurnContext, read: ReadBoard, key_frames: Sequence[KeyFrame]
) -> TurnCapture:
    """Split two turns that were ended with one press, if a key frame shows the board after the first turn."""
    board, game = found.reading.board, found.game
    if board is None or found.inference is None or not key_frames or not needs_key_frames(found.inference):
        return found
    readings = (read(frame.decode_image()) for frame in key_frames)
    explained = split_turns(game, board, [reading for reading in readings if reading is not None], context.earlier)
    if explained is None:
        return found
    decision = validate_decision(game, Decision(explained.events), explained, board, context)
    return replace(found, inference=explained, decision=decision, is_split=True)


def _check_for_two_plays(
    found: TurnCapture,
    context: TurnContext,
    read: ReadBoard,
    key_frames: Sequence[KeyFrame],
) -> TurnCapture:
    """Ask if the new tiles are one play or two plays, if a key frame shows only a part of the new tiles."""
    if found.is_split or found.inference is None or found.decision is None:
        return found
    if found.decision.open_question or found.decision.warning:
        return found
    game, plays = found.game, filter_plays(found.decision.events)
    if len(plays) != 1 or len(plays[0].play.tiles) < 2:
        return found
    seen = ((read(frame.decode_image()), stood) for frame, stood in find_stable_frames(key_frames, found.frame))
    boards = ((board, stood) for board, stood in seen if board)
    two = find_extended_play(game, found.inference, boards, context.earlier, context.words)
    if two is None:
        return found
    asked = ask_one_or_two_plays(game, plays[0], two)
    return replace(found, decision=replace(asked, asked=found.decision.asked))


@dataclass(frozen=True, slots=True, eq=False)
class _PendingTurn:
    """The reading of the last turn, which the next turn has not confirmed yet.

    `turn` is the index of the turn, and `board` the board after the turn.
    """

    turn: int
    board: Board
    reading: BoardReading
    views: BoardViews


class ProfileUpdater:
    """Updater that lets the table profile learn from confirmed turns; used by one thread."""

    def __init__(self, profile: TableProfile) -> None:
        self._profile = profile
        self._pending: _PendingTurn | None = None
        self._error = ""

    def add_turn(self, turn: TurnCapture, source: str, game: Game) -> str:
        """Learn from the previous turn, and keep this turn until the next turn confirms it.

        Uncertain turns are not used. `source` identifies the game. Return an error message the first time that the
        profile cannot be saved, otherwise an empty string.
        """
        board, before, self._error = turn.reading.board, self._error, ""
        if board is None or turn.decision is None or not turn.decision.is_clear or turn.is_split:
            self.discard_pending()
            return ""
        self._error = self.learn_pending(source, game)
        self.set_pending(game, board, turn.reading.views)
        return "" if before else self._error

    def discard_pending(self) -> None:
        """Discard the pending turn, because it was undone or is uncertain."""
        self._pending = None

    def learn_pending(self, source: str, game: Game) -> str:
        """Learn from the pending turn, with the board of this turn as it is recorded now.

        `source` identifies the game. Return an error message if the profile could not be saved, otherwise an empty
        string.
        """
        pending, self._pending = self._pending, None
        if pending is None or pending.turn >= len(game.turns) or not game.turns[pending.turn].stands:
            return ""
        board = game.turns[pending.turn].board
        faces = [
            HIDDEN if hidden > MIN_HIDDEN_PROBABILITY else symbol
            for (_, hidden, _), symbol in zip(pending.reading.occupancy, board.symbols(), strict=True)
        ]
        rows = [faces[at : at + BOARD_SIZE] for at in range(0, BOARD_SIZE * BOARD_SIZE, BOARD_SIZE)]
        self._profile.learn(pending.views, rows, source)
        try:
            self._profile.save()
        except ProfileError as error:
            return str(error)
        return ""

    def set_pending(self, game: Game, reading: BoardReading, views: BoardViews | None) -> None:
        """Keep the reading of the last turn of the game until the next turn confirms it."""
        if views is not None and game.turns:
            self._pending = _PendingTurn(len(game.turns) - 1, game.board, reading, views)
