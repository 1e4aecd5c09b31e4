"""The table session: connects camera, reader, engine, store and listeners.

A turn is one data flow: a button is pressed, the session takes a still picture, vision reads it, the engine infers the
play, the events are appended to the store and synced, and the listeners (page, panel, voice) get a new snapshot:
`TableSession._take_turn`. The phases in which each command is allowed are data, in `device.session.phases`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from types import EllipsisType

from calibration.profile import TableProfile
from device.cameras import Camera, CameraError, Frame
from device.capture.board_camera import BoardCamera
from device.capture.camera_monitor import CameraMonitor
from device.capture.key_frames import KeyFrameBuffer
from device.capture.turn_images import make_turn_images
from device.session import commands, dictionary
from device.session.command_queue import CommandQueue
from device.session.game_controller import GameController
from device.session.messages import CommandRefusedError as CommandRefusedError
from device.session.messages import format_sentence, make_notice, make_refusal
from device.session.phases import Command, find_refusal_key
from device.session.profile_updater import ProfileUpdater
from device.session.setup import Corners, TableSetup
from device.session.snapshot import Listener, Moment, Notice, Phase, SetupView, TableSnapshot, Trouble, TurnChange
from device.session.snapshot_builder import WordList, list_premium_texts
from device.session.turn_capture import TurnCapture, capture_turn
from device.storage.store import GameStore, StoreError
from device.system.periodic import PeriodicTask
from engine.board import load_layout
from engine.events import GameStarted
from engine.game import Game
from engine.messages import join_messages
from engine.reading import EMPTY
from engine.tiles import load_tile_set
from vision.recognition.reader import PhotoReader

_log = logging.getLogger(__name__)

MAX_PICTURE_NAME_LENGTH = 40
CLOCK_SAVE_INTERVAL_S = 0.5
"""Interval for saving the running clock, in seconds."""
SAVE_RETRY_INTERVAL_S = 5.0
"""Interval for trying to save again what the disk did not accept, in seconds."""
MIN_EMPTY_PROBABILITY = 0.5
"""Probability of being empty from which a tile counts as taken off its square."""


class TableSession:
    """One table: its camera, its store, and one game at a time.

    Commands may be called from any thread and return at once; a thread named `table` runs them one at a time. The
    returned `Future` holds the snapshot after the command, or `CommandRefusedError`. `expected` is the
    `TableSnapshot.moment` that the command was meant for: if the game has moved on since then, it is refused.

    Three more threads run between commands: `watch` monitors the camera, `clock` saves the running clock, and `saving`
    retries what the disk did not accept.
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
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Open a session; `profile` is what the reader knows of this table, `follows_board` as in `BoardCamera`."""
        self._store = store
        self._now = clock
        self._board_camera = BoardCamera(camera, reader, follows_board=follows_board)
        self._controller = GameController(store, words, clock)
        self._setup = TableSetup(self._board_camera, store, profile)
        self._profile_updater = ProfileUpdater(profile) if profile else None
        self._profile_error = ""
        self._key_frames = KeyFrameBuffer()
        self._camera_notice: Notice | None = None
        self._queue = CommandQueue(
            TableSnapshot(board=replace(TableSnapshot().board, premiums=list_premium_texts(load_layout()))),
            self._build_snapshot,
        )
        watch = CameraMonitor(
            self._board_camera, self._update_camera_notice, self._handle_rest, lambda: not self._queue.is_busy
        )
        self._periodic_tasks = (
            PeriodicTask("watch", watch.check_camera),
            PeriodicTask("clock", self._save_clock),
            PeriodicTask("saving", self._retry_save),
        )

    def __enter__(self) -> TableSession:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Finish the running command, stop the threads and release the camera."""
        for ticker in self._periodic_tasks:
            ticker.close()
        self._queue.close()
        if self._controller.clock_keeper:
            self._controller.clock_keeper.save()
        if not self._controller.save():
            _log.error("the disk has not taken all of this evening")
        self._board_camera.close()

    @property
    def state(self) -> TableSnapshot:
        """The current snapshot."""
        return self._queue.state

    def notify(self, notice: Notice) -> None:
        """Show a notice to all listeners, until the next command."""
        self._queue.add_notice(notice)

    def add_listener(self, listener: Listener) -> None:
        """Call `listener` with every new snapshot."""
        self._queue.add_listener(listener)

    def remove_listener(self, listener: Listener) -> None:
        """Stop calling `listener`."""
        self._queue.remove_listener(listener)

    def ping(self) -> Future[None]:
        """Done once the thread that carries out the commands has come by: proof that it works."""
        return self._queue.submit_task(lambda: None)

    def picture(self, name: str) -> bytes | None:
        """The rectified board as JPEG, by the name that a state gave it."""
        if kept := self._controller.pictures.get(name):
            return kept
        game, _, number = name.partition("-")
        if len(name) > MAX_PICTURE_NAME_LENGTH or not (game.isdecimal() and number.isdecimal()):
            return None
        return self._store.picture(int(game), int(number), "board")

    def list_players(self) -> tuple[tuple[str, str], ...]:
        """Everybody who played at this table and the colour of each, who played last first. Raises `StoreError`."""
        return self._store.players()

    def look_up(self, word: str) -> bool | None:
        """Return True if the word list has the word, None if it cannot decide.

        Raises `CommandRefusedError` while the rules do not allow looking words up.
        """
        return dictionary.look_up(self.state, self._controller.words, word)

    def list_blank_letters(self, square: str) -> tuple[str, ...]:
        """Return the letters that the blank on a square may stand for; only those that form words if there are any."""
        table = self._controller
        return dictionary.list_blank_letters(table.game, table.words, square) if table.has_game else ()

    # Commands

    def start_game(
        self,
        started: GameStarted,
        expected: Moment | None = None,
        *,
        words: WordList | EllipsisType | None = ...,
        colours: Sequence[str] = (),
    ) -> Future[TableSnapshot]:
        """Start a new game. A running game is kept in the archive, unfinished.

        `colours` are the players' colours from now on, `words` the word list (None: words are not checked; `...`: keep
        the current list).
        """
        return self._submit_command(
            Command.START,
            lambda: self._begin_game(lambda: self._controller.start_game(started, words, colours)),
            expected,
        )

    def play_again(
        self,
        default: GameStarted,
        expected: Moment | None = None,
        *,
        words_for: Callable[[GameStarted], WordList | None] | None = None,
    ) -> Future[TableSnapshot]:
        """Start a game with the settings of the last one and the next player first; `default` if there was none.

        After a restart the last game is the newest one in the store; `words_for` finds its word list.
        """
        again = partial(self._controller.start_next_game, default, words_for)
        return self._submit_command(Command.START, lambda: self._begin_game(again), expected)

    def resume_last_game(
        self, words_for: Callable[[GameStarted], WordList | None] | None = None
    ) -> Future[TableSnapshot]:
        """Resume the newest game of the store if it has not ended.

        `words_for` finds the word list that the game was started with; without it the current list is kept.
        """
        return self._submit_command(
            Command.RESUME, lambda: self._begin_game(lambda: self._controller.resume_game(words_for)), None
        )

    def draw_first(self, letters: tuple[str, ...], expected: Moment | None = None) -> Future[TableSnapshot]:
        """Record the tiles drawn for first play, in seat order (`?` is a blank, empty: did not draw)."""
        return self._submit_command(Command.DRAW, lambda: self._controller.draw_first(letters), expected)

    def end_turn(self, expected: Moment | None = None) -> Future[TableSnapshot]:
        """End the turn of the player to move: read the board and record the play, pass or exchange."""
        return self._submit_command(Command.END_TURN, self._take_turn, expected, meanwhile=Phase.LOOKING)

    def answer_question(self, number: int, expected: Moment | None = None) -> Future[TableSnapshot]:
        """Choose an answer of the open question, by its number from 0."""
        return self._submit_command(
            Command.ANSWER, lambda: self._controller.answer_question(number), expected, keeps_question=True
        )

    def record_exchange(self, expected: Moment | None = None) -> Future[TableSnapshot]:
        """Answer the question \"pass or exchange?\": tiles were exchanged, an unknown number."""
        return self._submit_command(Command.ANSWER, self._choose_last_answer, expected, keeps_question=True)

    def exchange_tiles(self, count: int, expected: Moment | None = None) -> Future[TableSnapshot]:
        """Record an exchange of `count` tiles by the player to move."""
        return self._submit_command(
            Command.EXCHANGE,
            lambda: self._controller.commit_command(lambda game: commands.exchange_tiles(game, count)),
            expected,
        )

    def pass_turn(self, expected: Moment | None = None) -> Future[TableSnapshot]:
        """Record a pass of the player to move, without reading the board."""
        return self._submit_command(Command.PASS, lambda: self._controller.commit_command(commands.pass_turn), expected)

    def challenge_play(self, expected: Moment | None = None) -> Future[TableSnapshot]:
        """Challenge the last play: the word list decides, otherwise the players are asked.

        If the challenge fails and the challenger is not known, the players are asked who it was.
        """
        return self._submit_command(Command.CHALLENGE, self._controller.challenge_play, expected)

    def undo(self, expected: Moment | None = None) -> Future[TableSnapshot]:
        """Undo the last press with all its events, including the end of a game."""
        return self._submit_command(
            Command.UNDO, lambda: self._controller.move_in_history(self._controller.log.undo), expected
        )

    def redo(self, expected: Moment | None = None) -> Future[TableSnapshot]:
        """Redo the press that was undone last."""
        return self._submit_command(
            Command.REDO, lambda: self._controller.move_in_history(self._controller.log.redo), expected
        )

    def correct_square(self, square: str, symbol: str, expected: Moment | None = None) -> Future[TableSnapshot]:
        """Correct a misread square (`H8`): `symbol` is `A` for a tile, `a` for a blank, `.` for an empty square."""
        return self._submit_command(
            Command.CORRECT,
            lambda: self._controller.commit_command(lambda game: commands.correct_square(game, square, symbol)),
            expected,
        )

    def name_blank(self, square: str, letter: str, expected: Moment | None = None) -> Future[TableSnapshot]:
        """Name the letter that the blank on a square (`H8`) stands for."""
        return self._submit_command(
            Command.CORRECT,
            lambda: self._controller.commit_command(lambda game: commands.name_blank(game, square, letter)),
            expected,
        )

    def correct_turn(self, number: int, change: TurnChange, expected: Moment | None = None) -> Future[TableSnapshot]:
        """Correct a recorded turn, by its `TurnView.number`."""
        return self._submit_command(
            Command.CORRECT,
            lambda: self._controller.commit_events(commands.correct_turn(self._controller.game, number, change)),
            expected,
        )

    def insert_turn(self, number: int, change: TurnChange, expected: Moment | None = None) -> Future[TableSnapshot]:
        """Insert a missing turn with this number; the number after the last turn enters a turn by hand."""
        return self._submit_command(
            Command.CORRECT,
            lambda: self._controller.commit_events(commands.insert_turn(self._controller.game, number, change)),
            expected,
        )

    def reveal_rack(self, player: int, letters: str, expected: Moment | None = None) -> Future[TableSnapshot]:
        """Enter the unplayed letters of a player; they are counted once the game has ended."""
        return self._submit_command(
            Command.REVEAL_RACK, lambda: self._controller.reveal_rack(player, letters), expected
        )

    def end_game(self, expected: Moment | None = None) -> Future[TableSnapshot]:
        """End the game and count unplayed letters."""
        return self._submit_command(Command.END_GAME, self._controller.end_game, expected)

    def pause(self, expected: Moment | None = None) -> Future[TableSnapshot]:
        """Pause the game and stop the clocks until `end_pause`."""
        return self._submit_command(
            Command.PAUSE, lambda: self._controller.set_paused(True), expected, keeps_question=True
        )

    def end_pause(self, expected: Moment | None = None) -> Future[TableSnapshot]:
        """Continue a paused game."""
        return self._submit_command(
            Command.END_PAUSE, lambda: self._controller.set_paused(False), expected, keeps_question=True
        )

    # Set-up: these wait for the running command and may raise `CameraError`

    def capture_setup_view(self) -> Future[SetupView]:
        """Return the camera's whole picture and the corners of the board in it."""
        return self._queue.submit_task(lambda: self._setup.capture_setup_view(self._get_letters()))

    def place_corners(self, corners: Corners | None) -> Future[SetupView]:
        """Place the corners of the board, in pixels of `SetupView.jpeg`; None lets the reader find them."""
        return self._queue.submit_task(lambda: self._setup.place_corners(corners, self._get_letters()))

    def enrol_tiles(self, rows: Sequence[Sequence[str]]) -> Future[tuple[str, ...]]:
        """Learn the tiles on the board, which shows these 15 rows of faces; return the squares that differ."""
        return self._queue.submit_task(lambda: self._setup.enrol_tiles(rows, self._get_letters()))

    # A turn

    def _take_turn(self) -> None:
        table = self._controller
        glimpses = self._key_frames.take_all()
        looked = capture_turn(self._board_camera, table.game, table.reading_history, glimpses, table.words, self._now)
        look = make_turn_images(looked.frame, looked.reading, looked.inference, f"look-{self.state.revision}")
        if looked.inference is None or looked.decision is None:
            table.add_notice(join_messages("; ", looked.reading.problems), Trouble.BOARD)
            table.show_images(look)
            return
        self._key_frames.set_reference(looked.frame)
        table.commit_events(looked.decision.events, look)
        table.ask_question(looked.decision)
        table.reading_history = looked.inference.history
        if looked.is_split:
            table.notices += (make_notice("two-turns"),)
        self._queue.submit_task(lambda: self._update_profile(looked, table.game))

    def _update_profile(self, looked: TurnCapture, game: Game) -> None:
        """Let the profile learn the previous turn, which this one confirms."""
        if self._profile_updater:
            before, self._profile_error = (
                self._profile_error,
                self._profile_updater.add_turn(looked, str(self._controller.log.number), game),
            )
            if self._profile_error and not before:
                self.notify(make_notice("not-learnt", self._profile_error, trouble=Trouble.STORE))

    # Helpers of the commands

    def _begin_game(self, begin: Callable[[], None]) -> None:
        begin()
        self._key_frames.take_all()
        if self._profile_updater:
            self._profile_updater.discard_pending()
        self._board_camera.settle_camera()

    def _choose_last_answer(self) -> None:
        asked = self._controller.open_question
        self._controller.answer_question(len(asked.answers) - 1 if asked else 0)

    def _get_letters(self) -> tuple[str, ...]:
        """Return the letters of the tile set in use."""
        return self._controller.game.tiles.letters if self._controller.has_game else load_tile_set("en").letters

    # Between turns: called by the threads `watch`, `clock` and `saving`

    def _update_camera_notice(self, trouble: str | None) -> None:
        """Show the camera's fault as a notice until it works again; None removes the notice."""
        before = self._camera_notice
        self._camera_notice = Notice(format_sentence(trouble), Trouble.CAMERA) if trouble else None

        def told(state: TableSnapshot) -> TableSnapshot:
            others = tuple(notice for notice in state.notices if notice.trouble is not Trouble.CAMERA)
            return replace(state, notices=(*others, *([self._camera_notice] if self._camera_notice else [])))

        if before != self._camera_notice:
            self._queue.update_state(told)

    def _handle_rest(self, frame: Frame) -> None:
        """Keep a key frame of the board at rest, and check if the tiles of an upheld challenge were taken off."""
        if self.state.phase.in_play:
            self._key_frames.add(frame)
        if self._controller.squares_to_clear:
            self._queue.submit_task(lambda: self._check_squares_to_clear(frame))

    def _check_squares_to_clear(self, frame: Frame) -> None:
        table = self._controller
        reading = self._board_camera.read_board(frame.image, self._get_letters())
        squares = reading.board.squares if reading.board else ()
        if (
            table.squares_to_clear
            and squares
            and all(squares[s].probability(EMPTY) > MIN_EMPTY_PROBABILITY for s in table.squares_to_clear)
        ):
            table.squares_to_clear = ()
            self._remove_notices("take-off")

    def _remove_notices(self, key: str) -> None:
        self._controller.remove_notices(key)
        self._queue.update_state(
            lambda state: replace(state, notices=tuple(one for one in state.notices if one.key != key))
        )

    def _save_clock(self) -> float:
        state, keeper = self.state, self._controller.clock_keeper
        if keeper and state.clock and state.clock.running is not None:
            keeper.save()
        return CLOCK_SAVE_INTERVAL_S

    def _retry_save(self) -> float:
        """Retry saving pending events, also while no button is pressed."""

        def save() -> None:
            if self._controller.save():
                self._remove_notices("not-saved")

        if self._controller.has_unsaved:
            self._queue.submit_task(save)
        return SAVE_RETRY_INTERVAL_S

    # Command queue

    def _submit_command(
        self,
        cue: Command,
        work: Callable[[], None],
        expected: Moment | None,
        *,
        keeps_question: bool = False,
        meanwhile: Phase | None = None,
    ) -> Future[TableSnapshot]:
        pressed = self._now()

        def object_to(state: TableSnapshot) -> CommandRefusedError | None:
            key = find_refusal_key(state.phase, cue)
            if not key and expected is not None and expected != state.moment:
                key = "quicker"
            return make_refusal(key) if key else None

        def look_up(state: TableSnapshot) -> TableSnapshot:
            return replace(state, phase=meanwhile or state.phase, notices=(), question=None)

        return self._queue.submit_command(
            lambda: self._run_command(work, pressed, keeps_question), object_to, look_up if meanwhile else None
        )

    def _run_command(self, work: Callable[[], None], pressed: float, keeps_question: bool) -> None:
        table = self._controller
        before = table.open_question, table.notices
        table.notices = ()
        if not keeps_question:
            table.open_question = None
        if table.clock_keeper:
            table.clock_keeper.stop(pressed)
        try:
            work()
        except CameraError as error:
            table.add_notice(str(error), Trouble.CAMERA)
        except StoreError as error:
            table.add_notice(str(error), Trouble.STORE)
        except CommandRefusedError:
            table.open_question, table.notices = before
            raise
        except Exception:
            _log.exception("a command failed")
            table.notices += (make_notice("failed", trouble=Trouble.BOARD),)
        finally:
            table.update_clock()

    def _build_snapshot(self) -> TableSnapshot:
        state = self._controller.build_snapshot(self.state)
        known = self._camera_notice
        if known is None or any(notice.trouble is Trouble.CAMERA for notice in state.notices):
            return state
        return replace(state, notices=(*state.notices, known))
