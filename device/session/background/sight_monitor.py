"""Monitor the board between presses: a hand in view, a moved board, or a board that differs from the recorded one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from device.cameras.base import Frame, Image
from device.capture.board_camera import BoardCamera
from device.session.game_controller import GameController
from device.session.snapshot import Moment, Sight, TableSnapshot
from device.session.threads import CommandQueue
from device.session.turns.advance_reader import AdvanceReader
from device.session.withdrawn_tiles import find_remaining_plays
from engine.game import Game
from engine.inference.alignment import align_reading
from engine.inference.evidence import MIN_CLEAR_PROBABILITY, is_consistent
from engine.reading import HIDDEN, BoardReading
from vision.geometry import Floats
from vision.recognition.reader import PhotoReading
from vision.tracking import MIN_MOVED_SQUARES, measure_corner_distance


@dataclass(frozen=True, slots=True)
class _Comparison:
    """A comparison of the board with the recorded one: the result, and the versions of the game and of the board.

    `change_count` is the number of changes of the board before it was compared.
    """

    sight: Sight
    moment: Moment
    change_count: int


class SightMonitor:
    """Monitor of the board between presses; it sets `TableSnapshot.sight`.

    The thread `watch` calls the methods whose names begin with `handle`. `propose_turn_end` runs on the thread `auto`,
    `check_tiles_to_clear` and `check_removed_tiles` on the session's thread. Pictures are read on the session's
    thread, and only after the board has been at rest for some time, so that a press rarely has to wait.
    """

    def __init__(
        self,
        camera: BoardCamera,
        controller: GameController,
        queue: CommandQueue,
        advance_reader: AdvanceReader,
        remove_notices: Callable[[str], None],
    ) -> None:
        """Store the arguments; `remove_notices` removes the notices with a message key."""
        self._camera = camera
        self._controller = controller
        self._queue = queue
        self._advance_reader = advance_reader
        self._remove_notices = remove_notices
        self._change_count = 0
        """Number of times that the board has come to rest and looked different."""
        self._last_comparison: _Comparison | None = None

    def handle_motion(self, is_moving: bool) -> None:
        """Show that something has begun to move (`is_moving` is True), or that the board has come to rest.

        At rest, the result of the last comparison is shown again if only a hand has passed over the board.
        """
        self._set_sight(Sight.HAND_IN_VIEW if is_moving else self._find_known_sight() or Sight.READY)

    def propose_turn_end(self) -> None:
        """Show that the turn may be over, until something moves or a command has run."""
        if not self._is_hand_in_view():
            self._set_sight(Sight.TURN_OVER)

    def handle_rest(self, frame: Frame) -> None:
        """Handle a picture of the board, which has changed and come to rest.

        If players must remove the tiles of a withdrawn play, check whether they have.
        """
        self._change_count += 1
        self._set_sight(Sight.READY)
        if self._controller.evidence.to_clear:
            self._queue.run_task(lambda: self.check_tiles_to_clear(self._read_board(frame.image)))

    def check_removed_tiles(self) -> None:
        """Check after a command whether the tiles of the play that it withdrew were removed even before the command.

        In this case the board may already be at rest, so that `handle_rest` is not called. Runs on the session's
        thread.
        """
        capture = self._advance_reader.get_unused()
        if capture is not None and not self._is_hand_in_view():
            self.check_tiles_to_clear(capture.turn.reading)

    def handle_long_rest(self, preview: Frame) -> None:
        """Check if the board has moved, or differs from the recorded one. Raises `CameraError`.

        Nothing is done if the last check found the board as recorded, and neither the board nor the game has changed
        since. If the board was read in advance and still looks the same in `preview`, that reading is used. Otherwise a
        picture is taken and read.
        """
        if not (self._queue.state.phase.in_play and self._controller.game.board):
            return
        if self._find_known_sight() is Sight.READY:
            return
        advance, change_count = self._advance_reader.get_newest(), self._change_count
        if advance is not None and self._camera.is_unchanged(advance.reading, preview):
            reading = advance.turn.reading
            self._queue.run_task(lambda: self._check_board(lambda: reading, change_count))
        else:
            image = self._camera.capture_still().image
            self._queue.run_task(lambda: self._check_board(lambda: self._read_board(image), change_count))

    def check_tiles_to_clear(self, reading: PhotoReading) -> None:
        """Forget the withdrawn plays whose tiles are gone in `reading`; after the last one, remove the notice."""
        controller = self._controller
        if controller.evidence.to_clear and reading.board:
            remaining = find_remaining_plays(controller.evidence.to_clear, reading.board)
            controller.evidence = replace(controller.evidence, to_clear=remaining)
            if not remaining:
                self._remove_notices("take-off")

    def _find_known_sight(self) -> Sight | None:
        """Return the result of the last comparison; None if the board or the game has changed since."""
        last = self._last_comparison
        if last is None or (last.moment, last.change_count) != (self._queue.state.moment, self._change_count):
            return None
        return last.sight

    def _check_board(self, read: Callable[[], PhotoReading], change_count: int) -> None:
        """Compare the board with the recorded one, and set the sight. `read` returns the reading of the board."""
        if not self._queue.state.phase.in_play or self._is_hand_in_view():
            return
        before, reading = self._camera.tracker.corners, read()
        self.check_tiles_to_clear(reading)
        if reading.board is not None:
            self._controller.evidence = replace(self._controller.evidence, reading=reading.board)
        sight = judge_sight(self._controller.game, reading, before)
        self._last_comparison = _Comparison(sight, self._queue.state.moment, change_count)
        keeps_proposal = sight is Sight.READY and self._queue.state.sight is Sight.TURN_OVER
        if not (keeps_proposal or self._is_hand_in_view()):  # the hand may have come during the reading
            self._set_sight(sight)

    def _is_hand_in_view(self) -> bool:
        return self._queue.state.sight is Sight.HAND_IN_VIEW

    def _read_board(self, image: Image) -> PhotoReading:
        return self._camera.read_board(image, self._controller.readable_letters)

    def _set_sight(self, sight: Sight) -> None:
        if sight is not self._queue.state.sight:
            self._queue.update_state(lambda state: replace(state, sight=sight))


def find_sight_after_command(before: TableSnapshot, after: TableSnapshot) -> Sight:
    """Return the sight after a command, given the snapshots before and after it.

    A proposal to end the turn is not kept. If the game has changed, a difference from the recorded board is not kept
    either, because it was about the game before.
    """
    is_outdated = before.sight is Sight.BOARD_DIFFERS and before.moment != after.moment
    return Sight.READY if is_outdated or before.sight is Sight.TURN_OVER else before.sight


def judge_sight(game: Game, reading: PhotoReading, corners: Floats | None) -> Sight:
    """Return the state of the board according to a reading between two presses.

    `corners` are the corners of the board at the last turn, `(4, 2)` in pixels, or None if they are not known.
    """
    if reading.board is None or reading.corners is None:
        return Sight.BOARD_MOVED
    if corners is not None and measure_corner_distance(reading.corners, corners) >= MIN_MOVED_SQUARES:
        return Sight.BOARD_MOVED
    return Sight.BOARD_DIFFERS if differs_from_record(game, reading.board) else Sight.READY


def differs_from_record(game: Game, reading: BoardReading) -> bool:
    """Return True if recorded tiles are clearly missing or different in a reading; new tiles do not count."""
    fit = align_reading(game, reading)
    if fit is None:
        return True
    reads = ((fit.squares[square], game.board[square]) for square in game.board.occupied_squares())
    return any(
        read.confidence > MIN_CLEAR_PROBABILITY and read.symbol != HIDDEN and not is_consistent(read.symbol, tile)
        for read, tile in reads
    )
