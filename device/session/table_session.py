"""The table session: connects camera, reader, engine, store and listeners.

A turn has these steps (`TableSession._take_turn`): the session takes a still picture, vision reads the board, the
engine infers the play, the events are written to the store, and all listeners (page, panel, voice) get a new snapshot.
`device.session.phases` defines the phases in which each command is allowed.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace

from calibration.profile import TableProfile
from device.cameras import Camera, CameraError, Image
from device.cameras.phone import PhoneCamera, PictureNeededError
from device.cameras.phone_stream import PhoneStreamCamera
from device.capture.board_camera import BoardCamera
from device.capture.turn_images import KeyFrameBuffer, make_turn_images
from device.session import lookups
from device.session.background.auto_turns import AutoTurnConfig
from device.session.background.profile_updater import ProfileUpdater
from device.session.background.sight_monitor import find_sight_after_command
from device.session.background.work import BackgroundWork
from device.session.commands.base import CommandContext, QuestionCommand, TableCommand
from device.session.commands.turns import EndFoundTurn
from device.session.game_controller import GameController
from device.session.lookups import PlayPreview
from device.session.messages import CommandRefusedError as CommandRefusedError
from device.session.messages import Notice, Trouble, make_late_question, make_notice, make_refusal
from device.session.phases import TRANSITIONS, find_refusal_key
from device.session.setup import Corners, SetupView, TableSetup
from device.session.snapshot import Listener, Moment, TableSnapshot, list_premium_texts
from device.session.threads import MAX_TURN_S, CommandQueue, TurnWorker
from device.session.turns.turn_capture import (
    AdvanceCapture,
    AdvanceReader,
    TurnCapture,
    capture_turn,
    reject_blurred_turn,
    reject_used_picture,
    sample_board_colours,
)
from device.session.used_pictures import UsedPictures, digest_image
from device.storage.store import GameStore, StoreError
from device.system.closeable import Closeable
from engine.board import load_layout
from engine.lexicon import WordList
from engine.messages import join_messages, key_of
from vision.recognition.reader import FOREIGN_TILES, PhotoReader

_log = logging.getLogger(__name__)


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
        follows_board: bool = True,
        profile: TableProfile | None = None,
        max_turn_s: float = MAX_TURN_S,
        clock: Callable[[], float] = time.monotonic,
        closing: threading.Event | None = None,
        auto_turns: AutoTurnConfig | None = None,
    ) -> None:
        """Open a session and start its threads.

        `words` is the word list; None means that words are not checked. `profile` describes the tiles of this table and
        learns from each turn. If a turn is not read within `max_turn_s` seconds, the players are asked. `follows_board`
        is passed to `BoardCamera`. `auto_turns` has the settings for turns that end without a press; None means that
        only a press ends a turn. `clock` returns seconds. All threads wait on the event `closing`, which `close` sets.
        Tests replace `clock` and `closing`, so that no thread really waits.
        """
        closing = closing or threading.Event()
        self._store = store
        self._now = clock
        phone_camera = camera if isinstance(camera, PhoneCamera | PhoneStreamCamera) else None
        self.uses_phone_camera = isinstance(camera, PhoneCamera)
        """True if phones take the pictures of turns (`EndTurnWithPicture`)."""
        self.phone_stream = camera if isinstance(camera, PhoneStreamCamera) else None
        """The camera if it is a phone on a stand that sends its pictures, otherwise None."""
        follows_board = follows_board and not self.uses_phone_camera
        self._board_camera = BoardCamera(camera, reader, follows_board=follows_board, clock=clock, wait=closing.wait)
        controller = self._controller = GameController(store, words, clock)
        self._context = CommandContext(
            controller, self._take_turn, self._prepare_board, self._record_advance, self._end_pending_turn, phone_camera
        )
        self._setup = TableSetup(self._board_camera, store, profile)
        self._key_frames = KeyFrameBuffer()
        self._used_pictures = UsedPictures(store, is_last_refused=self.uses_phone_camera)
        self._turn_worker = TurnWorker[TurnCapture](clock, max_turn_s)
        self._queue = CommandQueue(
            TableSnapshot(board=replace(TableSnapshot().board, premiums=list_premium_texts(load_layout()))),
            self._build_snapshot,
        )
        self._advance_reader = AdvanceReader(self._board_camera, self._controller)
        self._background = BackgroundWork(
            self._board_camera,
            self._controller,
            self._queue,
            self._key_frames,
            self._advance_reader,
            ProfileUpdater(profile) if profile else None,
            lambda found, moment: self.submit(EndFoundTurn(found), moment),
            clock=clock,
            closing=closing,
            auto=auto_turns,
        )

    def close(self) -> None:
        """Finish the running command, defer an open question, stop the threads and release the camera."""
        self._background.close()
        self._turn_worker.stop()
        self._advance_reader.close()
        self._queue.close()
        self._turn_worker.close()
        self._controller.defer_question()
        if self._controller.clock_keeper:
            self._controller.clock_keeper.save()
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

    def check_progress(self, _: float = 0.0) -> None:
        """Raise `TimeoutError` if the reading of a turn makes no progress."""
        self._turn_worker.check_progress()

    def picture(self, name: str) -> bytes | None:
        """Return a picture of the rectified board or of a question (JPEG data) by its name in a snapshot.

        Return None if there is no such picture. Raises `StoreError`.
        """
        return self._controller.pictures.find(name)

    def list_players(self) -> tuple[tuple[str, str], ...]:
        """Return the names and colours of all players in the store, most recent first. Raises `StoreError`."""
        return self._store.players()

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

    def list_blank_letters(self, square: str) -> tuple[str, ...]:
        """Return the letters that the blank on a square may stand for; see `device.session.lookups`."""
        controller = self._controller
        return lookups.list_blank_letters(controller.game, controller.words, square) if controller.has_game else ()

    def submit(
        self, command: TableCommand, expected: Moment | None = None, seat: int | None = None
    ) -> Future[TableSnapshot]:
        """Run a command (a class of `device.session.commands`) on the session's thread.

        The returned future holds the snapshot after the command, or `CommandRefusedError`. A command is refused in
        these cases: another command is running; the phase does not allow the command; the game has changed since the
        moment `expected`; the command answers another question than the open one. `seat` is the player whose button or
        phone gave the command; None means a shared button or phone. If it is not this player's turn, the players are
        asked.
        """
        pressed = self._now()

        def find_refusal(state: TableSnapshot) -> CommandRefusedError | None:
            if command.transition not in TRANSITIONS[state.phase]:
                return make_refusal(find_refusal_key(state.phase, command.transition))
            if expected not in (None, state.moment):
                return make_refusal("quicker")
            is_stale = isinstance(command, QuestionCommand) and not command.is_about(state.question)
            return make_refusal("other-question") if is_stale else None

        def show_interim_phase(state: TableSnapshot) -> TableSnapshot:
            return replace(state, phase=command.interim_phase or state.phase, notices=(), question=None)

        return self._queue.submit_command(
            lambda: self._run_command(command, pressed, seat),
            find_refusal,
            show_interim_phase if command.interim_phase else None,
        )

    # Set-up: these methods wait for the running command, and their futures may hold a `CameraError`

    def capture_setup_view(self) -> Future[SetupView]:
        """Take a picture for the set-up page and find the corners of the board."""
        return self._queue.submit_task(lambda: self._setup.capture_setup_view(self._controller.readable_letters))

    def capture_still(self) -> Image:
        """Return a new picture from the camera, `(H, W, 3) uint8 BGR`. Raises `CameraError`."""
        return self._board_camera.still().image

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

    # Taking a turn

    def _take_turn(self) -> tuple[str, ...]:
        """Take a picture, read the board and record the turn; return the problems of the picture.

        If no board is found, the picture and the reason are shown. If the turn is not read in time, the players are
        asked. If they choose to wait, the next call waits for the same reading.
        """
        controller, worker, auto_turns = self._controller, self._turn_worker, self._background.auto_turns
        if controller.game.tiles.by_hand_only:
            controller.notices += (make_notice("by-hand-only", trouble=Trouble.BOARD),)
            return ()
        if auto_turns is not None and auto_turns.take_echo(controller.game):
            controller.notices += (make_notice("turn-ended-already", controller.game.players[controller.game.to_move]),)
            return ()
        if not worker.is_pending:
            game, context, key_frames = controller.game, controller.turn_context, self._key_frames.take_all()
            camera, take_advance = self._board_camera, self._advance_reader.take
            worker.start(lambda progress: capture_turn(camera, game, context, key_frames, progress, take_advance()))
        turn = worker.wait(self._queue.run_pings)
        if turn is None:
            controller.open_question = make_late_question(worker.max_s)
            return ()
        if self.uses_phone_camera:  # a phone can take another picture at once
            turn = reject_blurred_turn(turn)
        digest = b"" if self._board_camera.live else digest_image(turn.frame.image)
        game_number, turn_count = controller.log.number, len(controller.game.turns)
        if digest and self._used_pictures.is_used(digest, game_number, turn_count):
            turn = reject_used_picture(turn)
        if digest and turn.decision is not None:  # before the turn is stored, as there may be a power cut then
            self._used_pictures.add(digest, game_number, turn_count + 1)
        self._record_turn(turn)
        if digest and turn.decision is not None and turn.decision.events:
            self._used_pictures.add(digest, game_number, len(controller.game.turns))
        return turn.reading.problems

    def _record_advance(self, advance: AdvanceCapture) -> None:
        """Record a turn that was captured in advance, with the picture from which it was read."""
        before, auto_turns = self._controller.game, self._background.auto_turns
        turn = advance.adapt(before, self._controller.turn_context)
        self._board_camera.use_advance(advance.reading)
        if turn.is_aligned:
            self._board_camera.confirm_location(turn.reading)
        self._key_frames.take_all()
        self._record_turn(turn)
        if auto_turns is not None and len(self._controller.game.turns) > len(before.turns):
            auto_turns.note_end(self._controller.game)

    def _end_pending_turn(self, seat: int | None) -> None:
        """Record the play on the board, if it is about to end its turn automatically and is not the play of `seat`."""
        auto_turns, controller = self._background.auto_turns, self._controller
        if auto_turns and controller.has_game and (pending := auto_turns.get_pending(controller.game, seat)):
            self._record_advance(pending)
            controller.close_question(is_deferred=True)

    def _record_turn(self, turn: TurnCapture) -> None:
        """Record a captured turn, and show its pictures, question and notices.

        If no board was found, only the picture and the reason are shown.
        """
        controller = self._controller
        images = make_turn_images(turn.encode_pictures(), turn.reading, turn.inference, f"look-{self.state.revision}")
        if turn.inference is None or turn.decision is None:
            controller.add_notice(join_messages(" ", turn.reading.problems), Trouble.BOARD)
            controller.show_images(images)
            return
        self._key_frames.set_reference(turn.frame)
        if not (controller.board_colours and controller.game.turns):  # once for each game
            controller.board_colours = sample_board_colours(turn) or controller.board_colours
        if turn.game is not controller.game:  # the reading has settled a deferred question
            controller.change_history(turn.game, make_notice("question-settled"))
        controller.commit_events(turn.decision.events, images)
        decision = controller.pictures.add_question_crop(turn.decision, turn.frame.image, turn.reading.corners)
        controller.ask_question(decision, turn.reading.board)
        controller.reading_history = turn.inference.history
        if turn.is_split:
            controller.notices += (make_notice("two-turns"),)
        foreign = [problem for problem in turn.reading.problems if key_of(problem) == FOREIGN_TILES]
        controller.notices += tuple(Notice(problem) for problem in foreign)
        self._background.add_turn(turn, controller.game)

    def _prepare_board(self) -> None:
        """Discard the pictures of the previous game and let the camera adjust to the light."""
        self._key_frames.take_all()
        self._advance_reader.discard()
        self._background.discard_turns()
        self._board_camera.settle_camera()

    # Running a command

    def _run_command(self, command: TableCommand, pressed: float, seat: int | None) -> None:
        """Run a command that was submitted at time `pressed` (s). Errors become notices for the players."""
        controller = self._controller
        question, notices, seat_before = controller.open_question, controller.notices, controller.seat
        controller.notices = ()
        is_deferred = not command.keeps_question and command.is_question_deferred(self._context)
        if not command.keeps_question:
            controller.close_question(is_deferred=is_deferred, answered=command.answered_question)
            controller.seat = seat  # an answer belongs to the seat of the turn in question
            self._turn_worker.stop()
        if controller.clock_keeper:
            controller.clock_keeper.stop(pressed)
        try:
            command.run(self._context)
        except CameraError as error:
            trouble = Trouble.NONE if isinstance(error, PictureNeededError) else Trouble.CAMERA
            controller.add_notice(str(error), trouble)
        except StoreError as error:
            controller.add_notice(str(error), Trouble.STORE)
        except CommandRefusedError:
            is_unchanged = question is not None and controller.log.length == self.state.events
            controller.open_question = question if is_unchanged else None  # a deferred question is in the log
            controller.notices, controller.seat = notices, seat_before
            raise
        except Exception:
            _log.exception("a command failed")
            controller.notices += (make_notice("failed", trouble=Trouble.BOARD),)
        finally:
            controller.update_clock()
            controller.save_open_question()

    def _build_snapshot(self) -> TableSnapshot:
        """Return the snapshot after a command, with the notice about a fault of the camera if there is one."""
        state, camera_notice = self._controller.build_snapshot(self.state), self._background.camera_notice
        state = replace(state, sight=find_sight_after_command(self.state, state))
        if camera_notice is None or any(notice.trouble is Trouble.CAMERA for notice in state.notices):
            return state
        return replace(state, notices=(*state.notices, camera_notice))
