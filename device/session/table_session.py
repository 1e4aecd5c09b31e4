"""The table session: connects camera, reader, engine, store and listeners.

A turn has these steps (`TurnRecorder.take_turn`): the session takes a still picture, vision reads the board, the
engine infers the play, the events are written to the store, and all listeners (page, panel, voice) get a new snapshot.
`device.session.phases` defines the phases in which each command is allowed.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace

from calibration.profile import TableProfile
from device.cameras.base import Camera, CameraError, Image
from device.cameras.phone import PhoneCamera, PhoneStreamCamera, PictureNeededError
from device.capture.board_camera import BoardCamera
from device.session import lookups
from device.session.background.auto_turns import AutoTurnConfig
from device.session.background.profile_updater import ProfileUpdater
from device.session.background.sight_monitor import find_sight_after_command
from device.session.background.work import BackgroundWork
from device.session.commands.base import (
    CommandContext,
    QuestionCommand,
    TableCommand,
    is_play_unrecorded,
)
from device.session.commands.challenges import update_challenge_question
from device.session.commands.turn_corrections import TurnCommand
from device.session.commands.turns import EndFoundTurn
from device.session.game_controller import Director, GameController
from device.session.lookups import PlayPreview
from device.session.messages import CommandRefusedError, Notice, Trouble, make_refusal
from device.session.phases import ALLOWED_PHASES, Transition, find_refusal_key
from device.session.setup import Corners, SetupView, TableSetup
from device.session.snapshot import BoardView, Listener, Moment, TableSnapshot
from device.session.snapshot_builder import list_premium_texts
from device.session.threads import MAX_TURN_S, CommandQueue, TurnWorker
from device.session.turn_recorder import TurnRecorder
from device.session.turns.turn_capture import TurnCapture
from device.session.used_pictures import UsedPictures
from device.storage.errors import StoreError
from device.storage.store import GameStore
from device.system.closeable import Closeable
from engine.board import load_layout
from engine.lexicon import WordList
from vision.recognition.reader import PhotoReader, PhotoReading

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionConfig:
    """Settings of a session: how it finds the board, and how it ends turns."""

    follows_board: bool = True
    """See `BoardCamera`. A board in pictures of a phone that a player holds is never followed."""
    max_turn_s: float = MAX_TURN_S
    """Time limit for the reading of a turn, in seconds. If it is exceeded, the players are asked what to do."""
    auto_turns: AutoTurnConfig | None = None
    """Settings for turns that end without a press; None means that only a press ends a turn."""


DEFAULT_CONFIG = SessionConfig()


class TableSession(Closeable):
    """Session of one table, with its camera, its store, and one game at a time.

    Clients submit commands and read `state`, an immutable snapshot. Listeners are called with each new snapshot:

        with TableSession(camera, reader, store, words) as session:
            session.add_listener(print)
            session.submit(EndTurn()).result()

    `submit` may be called from any thread and returns at once. Only the thread named `table` changes the game; it runs
    one command at a time. Other threads work between commands: `ahead`, which reads the board in advance while it is at
    rest, and those in `device.session.background.work`.
    """

    def __init__(
        self,
        camera: Camera,
        reader: PhotoReader,
        store: GameStore,
        words: WordList | None = None,
        *,
        profile: TableProfile | None = None,
        config: SessionConfig = DEFAULT_CONFIG,
        clock: Callable[[], float] = time.monotonic,
        closing: threading.Event | None = None,
    ) -> None:
        """Open a session and start its threads.

        `words` is the word list; None means that words are not checked. `profile` describes the tiles of this table and
        learns from each turn. `clock` returns seconds. All threads wait on the event `closing`, which `close` sets.
        Tests replace `clock` and `closing`, so that no thread really waits.
        """
        closing = closing or threading.Event()
        self._store = store
        self._now = clock
        self.uses_phone_camera = isinstance(camera, PhoneCamera)
        """True if phones take the pictures of turns (`EndTurnWithPicture`)."""
        self.phone_stream = camera if isinstance(camera, PhoneStreamCamera) else None
        """The camera if it is a phone on a stand that sends its pictures, otherwise None."""
        follows_board = config.follows_board and not self.uses_phone_camera
        self._board_camera = BoardCamera(camera, reader, follows_board=follows_board, clock=clock, wait=closing.wait)
        self.director: Director | None = None
        """The director of a hall, for whom new games wait."""
        self._controller = GameController(store, words, clock, lambda: self.director)
        self._setup = TableSetup(self._board_camera, store, profile)
        self._turn_worker = TurnWorker[TurnCapture](clock, config.max_turn_s)
        empty_board = BoardView(premiums=list_premium_texts(load_layout()))
        self._queue = CommandQueue(TableSnapshot(board=empty_board), self._build_snapshot)
        self._background = BackgroundWork(
            self._board_camera,
            self._controller,
            self._queue,
            ProfileUpdater(profile) if profile else None,
            lambda capture, moment: self.submit(EndFoundTurn(capture), moment),
            clock=clock,
            closing=closing,
            auto=config.auto_turns,
        )
        phone_camera = camera if isinstance(camera, PhoneCamera | PhoneStreamCamera) else None
        self._context = CommandContext(self._controller, self._make_turn_recorder(), phone_camera)

    def _make_turn_recorder(self) -> TurnRecorder:
        return TurnRecorder(
            self._board_camera,
            self._controller,
            self._queue,
            self._turn_worker,
            UsedPictures(self._store, is_last_refused=self.uses_phone_camera),
            self._background,
            rejects_blur=self.uses_phone_camera,
        )

    def close(self) -> None:
        """Finish the running command, stop the threads and release the camera."""
        self._background.close()
        self._turn_worker.stop()
        self._queue.close()
        self._turn_worker.close()
        self._controller.close()
        if not self._controller.save():
            _log.error("not all events could be saved")
        self._board_camera.close()

    @property
    def state(self) -> TableSnapshot:
        """The current snapshot."""
        return self._queue.state

    def notify(self, notice: Notice) -> None:
        """Add a notice to the snapshot until the next command, and call all listeners."""
        self._queue.add_notice(notice)

    def add_listener(self, listener: Listener) -> None:
        """Call `listener` with every new snapshot."""
        self._queue.listeners.add(listener)

    def remove_listener(self, listener: Listener) -> None:
        """Stop calling `listener`."""
        self._queue.listeners.remove(listener)

    def ping(self, work: Callable[[], object] = lambda: None) -> Future[object]:
        """Run `work` on the thread that runs the commands, to check that this thread does not hang.

        The returned future gets the result of `work`. The thread also runs `work` while it waits for the reading of a
        turn.
        """
        return self._queue.submit_ping(work)

    def check_progress(self) -> None:
        """Raise `TimeoutError` if the reading of a turn makes no progress."""
        self._turn_worker.check_progress()

    def find_picture(self, name: str) -> bytes | None:
        """Return a picture of the rectified board or of a question (JPEG data) by its name in a snapshot.

        Return None if there is no such picture. Raises `StoreError`.
        """
        return self._controller.pictures.find(name)

    def list_players(self) -> tuple[tuple[str, str], ...]:
        """Return the names and colours of all players in the store, most recent first. Raises `StoreError`."""
        return self._store.list_players()

    def look_up(self, word: str) -> bool | None:
        """Return True if the word list contains the word, or None if there is no authoritative list.

        Raises `CommandRefusedError` if the rules forbid looking up words now.
        """
        return lookups.look_up(self.state, self._controller.words, word)

    def preview_play(self, at: str, word: str) -> PlayPreview:
        """Score and validate a play without recording it; see `device.session.lookups`."""
        if not self._controller.has_game:
            raise make_refusal("no-game")
        return lookups.preview_play(self._controller.game, self._controller.words, at, word)

    def preview_correction(self, command: TurnCommand) -> TableSnapshot:
        """Return the score sheet after a correction, without recording it; see `device.session.lookups`."""
        if not self._controller.has_game:
            raise make_refusal("no-game")
        return lookups.preview_correction(self._controller.game, self._controller.words, command)

    def list_blank_letters(self, square: str) -> tuple[str, ...]:
        """Return the letters that the blank on a square may stand for; see `device.session.lookups`."""
        controller = self._controller
        return lookups.list_blank_letters(controller.game, controller.words, square) if controller.has_game else ()

    def find_player_due(self, number: int) -> int:
        """Return the player whose turn it was before the turn with this number in the score sheet, from 1."""
        return self._controller.game.find_player_due(number - 1)

    def submit(
        self, command: TableCommand, expected: Moment | None = None, seat: int | None = None
    ) -> Future[TableSnapshot]:
        """Run a command (a class of `device.session.commands`) on the session's thread.

        The returned future holds the snapshot after the command, or `CommandRefusedError`. A command is refused in
        these cases: another command is running; the phase does not allow the command; the game has changed since the
        moment `expected`; the command answers another question than the open one; the game has no player `seat`. `seat`
        is the player whose button or phone gave the command; None means a shared button or phone. If it is not this
        player's turn, the players are asked.
        """
        pressed = self._now()

        def find_refusal(state: TableSnapshot) -> CommandRefusedError | None:
            if state.phase not in ALLOWED_PHASES[command.transition]:
                return make_refusal(find_refusal_key(state.phase, command.transition))
            if seat is not None and state.game and seat >= len(state.players):
                return make_refusal("nobody-sits")
            if expected is not None and expected != state.moment:
                is_ended = command.transition is Transition.END_TURN and self._controller.has_turn_since(expected)
                return make_refusal("turn-recorded-already" if is_ended else "quicker")
            is_stale = isinstance(command, QuestionCommand) and not command.is_about(state.question)
            return make_refusal("other-question") if is_stale else None

        return self._queue.submit_command(
            lambda: self._run_command(command, pressed, seat), find_refusal, command.interim_phase
        )

    # Set-up: these methods wait for the running command, and their futures may hold a `CameraError`

    def capture_setup_view(self) -> Future[SetupView]:
        """Take a picture for the set-up page and find the corners of the board."""
        return self._queue.submit_task(lambda: self._setup.capture_setup_view(self._controller.readable_letters))

    def capture_still(self) -> Image:
        """Return a new picture from the camera, `(H, W, 3) uint8 BGR`. Raises `CameraError`."""
        return self._board_camera.capture_still().image

    def read_photograph(self, image: Image, tiles: Collection[str]) -> PhotoReading:
        """Return the reading of a photograph of any board, for a tile set with the letters `tiles`."""
        return self._board_camera.read_photograph(image, tiles)

    def place_corners(self, corners: Corners | None) -> Future[SetupView]:
        """Use corners that a user placed, in pixels of `SetupView.jpeg`; if `corners` is None, search the board."""
        return self._queue.submit_task(lambda: self._setup.place_corners(corners, self._controller.readable_letters))

    def enrol_tiles(self, rows: Sequence[Sequence[str]]) -> Future[tuple[str, ...]]:
        """Add the tiles on the board to the profile; return the squares on which the reading differs from `rows`.

        `rows` are 15 rows of 15 faces (letter, blank or empty), entered by the user.
        """

        def enrol() -> tuple[str, ...]:
            if self._controller.has_game and self._controller.game.tiles.by_hand_only:
                raise make_refusal("by-hand-only")
            return self._setup.enrol_tiles(rows, self._controller.readable_letters)

        return self._queue.submit_task(enrol)

    # Running a command

    def _run_command(self, command: TableCommand, pressed: float, seat: int | None) -> None:
        """Run a command that was submitted at time `pressed` (s) by the player `seat`.

        Errors become notices for the players, except `CommandRefusedError`, which is raised.
        """
        controller = self._controller
        wait_question, notices, seat_before = controller.wait_question, controller.notices, controller.seat
        controller.notices = ()
        try:
            self._begin_command(command, seat)
            if controller.clock_keeper:
                controller.clock_keeper.stop(pressed)
            command.run(self._context)
            if self._has_recorded():
                self._turn_worker.stop()  # a turn that is still being read began in the game before this command
            update_challenge_question(controller)
            self._background.check_removed_tiles()
            self._context.turn_recorder.settle_flip()  # the tiles recorded now may show if pictures are mirrored
        except CameraError as error:
            trouble = Trouble.NONE if isinstance(error, PictureNeededError) else Trouble.CAMERA
            controller.show_problem(str(error), trouble)
        except StoreError as error:
            controller.show_problem(str(error), Trouble.STORE)
        except CommandRefusedError:
            controller.seat = seat_before
            if not self._has_recorded():  # nothing has changed, so question and notices are still right
                controller.wait_question, controller.notices = wait_question, notices
            raise
        except Exception:
            _log.exception("a command failed")
            controller.show_notice("failed", trouble=Trouble.BOARD)
        finally:
            controller.update_clock()

    def _has_recorded(self) -> bool:
        """Return True if the running command has recorded events."""
        return self._controller.has_game and self._controller.log.length != self.state.events

    def _begin_command(self, command: TableCommand, seat: int | None) -> None:
        """Note which player gives a command that ends a turn (`seat`), and stop a reading that is not ready.

        Raises `CommandRefusedError` if the players must answer a question first.
        """
        if command.needs_recorded_play and is_play_unrecorded(self._context):
            raise make_refusal("answer-first")
        if command.keeps_turn:
            return  # an answer belongs to the turn in question, and may wait for its reading
        self._controller.seat, self._controller.wait_question = seat, None
        self._turn_worker.stop()

    def _build_snapshot(self) -> TableSnapshot:
        """Return the snapshot after a command, with the notice about a fault of the camera if there is one."""
        state, camera_notice = self._controller.build_snapshot(self.state), self._background.camera_notice
        state = replace(state, sight=find_sight_after_command(self.state, state))
        if camera_notice is None or any(notice.trouble is Trouble.CAMERA for notice in state.notices):
            return state
        return replace(state, notices=(*state.notices, camera_notice))
