"""The table session: joins camera, reader, engine, store and everybody who wants to know.

A turn takes one way through the house: the button is pressed, the session asks the camera for a still picture, vision
reads it, the engine explains what was played, the events are appended and synced, and page, lights and voice are told.
`TableSession._take_turn` is that sentence. What may be done when is data, in `device.session.phases`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from types import EllipsisType

from calibration.profile import TableKnowledge
from device.cameras import Camera, CameraError, Frame
from device.capture.board_camera import Reader as Reader
from device.capture.board_camera import Sight, Whereabouts
from device.capture.camera_monitor import Watch
from device.capture.key_frames import Glimpses
from device.capture.turn_images import take_look
from device.session import commands, dictionary
from device.session.command_queue import Desk
from device.session.game_controller import Playing
from device.session.messages import Refused as Refused
from device.session.messages import notice, refusal, sentence
from device.session.phases import Cue, objection
from device.session.profile_updater import Learner
from device.session.setup import Corners, SetUp
from device.session.snapshot import Listener, Moment, Notice, Phase, SetUpView, TableState, Trouble, TurnChange
from device.session.snapshot_builder import Words, view_premiums
from device.session.turn_capture import Looked, look_and_explain
from device.storage.store import GameStore, StoreError
from device.system.periodic import Ticker
from engine.board import layout
from engine.events import GameStarted
from engine.game import Game
from engine.messages import joined
from engine.reading import EMPTY
from engine.tiles import tile_set

_logger = logging.getLogger(__name__)

LONGEST_NAME = 40
NOTE_CLOCK_S = 0.5
"""So often the running clock is put on disk."""
SAVE_AGAIN_S = 5.0
"""So often what the disk did not take is tried again."""
GONE = 0.5
"""A square is free again where the camera says so with this probability."""


class TableSession:
    """One table: its camera, its store, and a game at a time.

    Commands come from any thread and return at once; a thread named `table` carries them out one after the other. The
    returned `Future` holds the state after it, or `Refused`. `seen`, where given, is `TableState.moment` of what the
    command was meant for: if the game has moved on since, it is refused. Another thread, `watch`, looks at the camera
    between turns, `clock` keeps the running clock on disk, and `saving` what the disk did not take at once.
    """

    def __init__(
        self,
        camera: Camera,
        reader: Reader,
        store: GameStore,
        words: Words | None = None,
        *,
        where: Whereabouts | None = None,
        knowledge: TableKnowledge | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`where` is what the reader locates boards by; `knowledge` what it has learnt of this table."""
        self._store = store
        self._now = clock
        self._sight = Sight(camera, reader, where)
        self._playing = Playing(store, words, clock)
        self._set_up = SetUp(self._sight, store, knowledge)
        self._learner = Learner(knowledge) if knowledge else None
        self._unkept = ""
        self._glimpses = Glimpses()
        self._camera_trouble: Notice | None = None
        self._desk = Desk(TableState(board=replace(TableState().board, premiums=view_premiums(layout()))), self._view)
        watch = Watch(self._sight, self._tell_camera, self._notice_rest, lambda: not self._desk.busy)
        self._tickers = (
            Ticker("watch", watch.look),
            Ticker("clock", self._note_clock),
            Ticker("saving", self._save_again),
        )

    def __enter__(self) -> TableSession:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Finish the command that is being carried out, end the threads, give the camera back."""
        for ticker in self._tickers:
            ticker.close()
        self._desk.close()
        if self._playing.keeper:
            self._playing.keeper.note()
        if not self._playing.save():
            _logger.error("the disk has not taken all of this evening")
        self._sight.close()

    @property
    def state(self) -> TableState:
        """The table now."""
        return self._desk.state

    def tell(self, notice: Notice) -> None:
        """Let everybody know something that is no part of the game; the next command ends it."""
        self._desk.add_notice(notice)

    def listen(self, listener: Listener) -> None:
        """Tell `listener` each new state from now on."""
        self._desk.listen(listener)

    def forget(self, listener: Listener) -> None:
        """Tell it no more."""
        self._desk.forget(listener)

    def ping(self) -> Future[None]:
        """Done once the thread that carries out the commands has come by: proof that it works."""
        return self._desk.beside(lambda: None)

    def picture(self, name: str) -> bytes | None:
        """The rectified board as JPEG, by the name that a state gave it."""
        if kept := self._playing.pictures.get(name):
            return kept
        game, _, number = name.partition("-")
        if len(name) > LONGEST_NAME or not (game.isdecimal() and number.isdecimal()):
            return None
        return self._store.picture(int(game), int(number), "board")

    def known_players(self) -> tuple[tuple[str, str], ...]:
        """Everybody who played at this table and the colour of each, who played last first. Raises `StoreError`."""
        return self._store.players()

    def look_up(self, word: str) -> bool | None:
        """Whether the word list has a word; None where nobody can say. Raises `Refused` while nobody may look."""
        return dictionary.look_up(self.state, self._playing.words, word)

    def letters_for(self, square: str) -> tuple[str, ...]:
        """The letters that the blank on a square may stand for, those that make words where there are any."""
        table = self._playing
        return dictionary.letters_for(table.game, table.words, square) if table.has_game else ()

    # Commands

    def start_game(
        self,
        started: GameStarted,
        seen: Moment | None = None,
        *,
        words: Words | EllipsisType | None = ...,
        colours: Sequence[str] = (),
    ) -> Future[TableState]:
        """Begin a game, with the players in these colours from now on.

        `words`, where given, is the list to check by from now on (None: words are not checked).
        """
        return self._command(Cue.START, lambda: self._begin(lambda: self._playing.start(started, words, colours)), seen)

    def play_again(
        self,
        otherwise: GameStarted,
        seen: Moment | None = None,
        *,
        words_for: Callable[[GameStarted], Words | None] | None = None,
    ) -> Future[TableState]:
        """Begin another game as the last one was, the next player first; `otherwise`, where there was none yet.

        After a restart the last one is the newest of the store; `words_for` finds its list, as in `resume`.
        """
        again = partial(self._playing.start_again, otherwise, words_for)
        return self._command(Cue.START, lambda: self._begin(again), seen)

    def resume(self, words_for: Callable[[GameStarted], Words | None] | None = None) -> Future[TableState]:
        """Go on with the newest game of the store, if it has not ended.

        `words_for` finds the list that this game was begun with; without it the table's list stays.
        """
        return self._command(Cue.RESUME, lambda: self._begin(lambda: self._playing.resume(words_for)), None)

    def draw_first(self, letters: tuple[str, ...], seen: Moment | None = None) -> Future[TableState]:
        """The players drew these tiles for first play, in seat order (`?` a blank, empty: did not draw)."""
        return self._command(Cue.DRAW, lambda: self._playing.draw(letters), seen)

    def end_turn(self, seen: Moment | None = None) -> Future[TableState]:
        """The player whose turn it is has played, or passes: the board is read."""
        return self._command(Cue.END_TURN, self._take_turn, seen, meanwhile=Phase.LOOKING)

    def answer(self, number: int, seen: Moment | None = None) -> Future[TableState]:
        """The people choose one of the answers of the open question."""
        return self._command(Cue.ANSWER, lambda: self._playing.answer(number), seen, keeps_question=True)

    def say_exchanged(self, seen: Moment | None = None) -> Future[TableState]:
        """The answer to whether a player passed or exchanged: tiles were exchanged, nobody says how many."""
        return self._command(Cue.ANSWER, self._answer_last, seen, keeps_question=True)

    def exchange(self, count: int, seen: Moment | None = None) -> Future[TableState]:
        """The player whose turn it is exchanges tiles."""
        return self._command(
            Cue.EXCHANGE, lambda: self._playing.record(lambda game: commands.exchange(game, count)), seen
        )

    def pass_turn(self, seen: Moment | None = None) -> Future[TableState]:
        """The player whose turn it is lays nothing; the board is not looked at."""
        return self._command(Cue.PASS, lambda: self._playing.record(commands.pass_turn), seen)

    def challenge(self, seen: Moment | None = None) -> Future[TableState]:
        """The last play is challenged; the word list decides, or else people are asked. In vain: who it was, too."""
        return self._command(Cue.CHALLENGED, self._playing.challenge, seen)

    def undo(self, seen: Moment | None = None) -> Future[TableState]:
        """The last press never happened, with all that came of it; the end of a game too."""
        return self._command(Cue.UNDO, lambda: self._playing.step(self._playing.log.undo), seen)

    def redo(self, seen: Moment | None = None) -> Future[TableState]:
        """The press that was taken back last counts again."""
        return self._command(Cue.REDO, lambda: self._playing.step(self._playing.log.redo), seen)

    def correct(self, square: str, symbol: str, seen: Moment | None = None) -> Future[TableState]:
        """A square (`H8`) was read wrong: `symbol` lies there (`A` a tile, `a` a blank, `.` nothing)."""
        return self._command(
            Cue.PUT_RIGHT, lambda: self._playing.record(lambda game: commands.correct(game, square, symbol)), seen
        )

    def name_blank(self, square: str, letter: str, seen: Moment | None = None) -> Future[TableState]:
        """Somebody says what the blank on a square (`H8`) stands for."""
        return self._command(
            Cue.PUT_RIGHT, lambda: self._playing.record(lambda game: commands.name_blank(game, square, letter)), seen
        )

    def correct_turn(self, number: int, change: TurnChange, seen: Moment | None = None) -> Future[TableState]:
        """A turn (`TurnView.number`) was something else than what was recorded."""
        return self._command(
            Cue.PUT_RIGHT,
            lambda: self._playing.commit(commands.correct_turn(self._playing.game, number, change)),
            seen,
        )

    def insert_turn(self, number: int, change: TurnChange, seen: Moment | None = None) -> Future[TableState]:
        """A turn was forgotten: it becomes the one with this number; the next number is a turn entered by hand."""
        return self._command(
            Cue.PUT_RIGHT,
            lambda: self._playing.commit(commands.insert_turn(self._playing.game, number, change)),
            seen,
        )

    def tell_rack(self, player: int, letters: str, seen: Moment | None = None) -> Future[TableState]:
        """Somebody tells the unplayed letters of a player; once the game has ended they are counted."""
        return self._command(Cue.RACK, lambda: self._playing.tell_rack(player, letters), seen)

    def end_game(self, seen: Moment | None = None) -> Future[TableState]:
        """The players end the game; unplayed letters are counted."""
        return self._command(Cue.END, self._playing.end, seen)

    def pause(self, seen: Moment | None = None) -> Future[TableState]:
        """The clocks stand still until `go_on`."""
        return self._command(Cue.PAUSE, lambda: self._playing.pause(True), seen, keeps_question=True)

    def go_on(self, seen: Moment | None = None) -> Future[TableState]:
        """The game goes on after a pause."""
        return self._command(Cue.GO_ON, lambda: self._playing.pause(False), seen, keeps_question=True)

    # Setting the table up; these wait for a command that is being carried out, and may raise `CameraError`

    def look_around(self) -> Future[SetUpView]:
        """The camera's whole picture, and where the board is in it."""
        return self._desk.beside(lambda: self._set_up.look_around(self._letters()))

    def place_corners(self, corners: Corners | None) -> Future[SetUpView]:
        """People say where the corners are, in pixels of `SetUpView.jpeg`; None: the table finds them by itself."""
        return self._desk.beside(lambda: self._set_up.place(corners, self._letters()))

    def teach(self, rows: Sequence[Sequence[str]]) -> Future[tuple[str, ...]]:
        """The board shows these letters now (15 rows of faces): the table learns them; else which squares differ."""
        return self._desk.beside(lambda: self._set_up.teach(rows, self._letters()))

    # The way of a turn

    def _take_turn(self) -> None:
        table = self._playing
        glimpses = self._glimpses.take()
        looked = look_and_explain(self._sight, table.game, table.memory, glimpses, table.words, self._now)
        look = take_look(looked.frame, looked.reading, looked.explained, f"look-{self.state.revision}")
        if looked.explained is None or looked.verdict is None:
            table.say(joined("; ", looked.reading.problems), Trouble.BOARD)
            table.show(look)
            return
        self._glimpses.read(looked.frame)
        table.commit(looked.verdict.events, look)
        table.ask(looked.verdict)
        table.memory = looked.explained.memory
        if looked.split:
            table.notices += (notice("two-turns"),)
        self._desk.beside(lambda: self._learn(looked, table.game))

    def _learn(self, looked: Looked, game: Game) -> None:
        """The turn confirms the one before it, which the table learns from."""
        if self._learner:
            before, self._unkept = self._unkept, self._learner.follow(looked, str(self._playing.log.number), game)
            if self._unkept and not before:
                self.tell(notice("not-learnt", self._unkept, trouble=Trouble.STORE))

    # What the other commands need of camera and threads

    def _begin(self, begin: Callable[[], None]) -> None:
        begin()
        self._glimpses.take()
        if self._learner:
            self._learner.forget()
        self._sight.settle()

    def _answer_last(self) -> None:
        asked = self._playing.asked
        self._playing.answer(len(asked.answers) - 1 if asked else 0)

    def _letters(self) -> tuple[str, ...]:
        """The letters that the camera may see now."""
        return self._playing.game.tiles.letters if self._playing.has_game else tile_set("en").letters

    # Between turns: called by the threads `watch` and `clock`

    def _tell_camera(self, trouble: str | None) -> None:
        """Say what is wrong with the camera until it is well again."""
        before = self._camera_trouble
        self._camera_trouble = Notice(sentence(trouble), Trouble.CAMERA) if trouble else None

        def told(state: TableState) -> TableState:
            others = tuple(notice for notice in state.notices if notice.trouble is not Trouble.CAMERA)
            return replace(state, notices=(*others, *([self._camera_trouble] if self._camera_trouble else [])))

        if before != self._camera_trouble:
            self._desk.tell(told)

    def _notice_rest(self, frame: Frame) -> None:
        """The board has come to rest: keep what it looks like, and see whether tiles have left that must."""
        if self.state.phase.in_play:
            self._glimpses.add(frame)
        if self._playing.leaving:
            self._desk.beside(lambda: self._check_leaving(frame))

    def _check_leaving(self, frame: Frame) -> None:
        table = self._playing
        reading = self._sight.read(frame.image, self._letters())
        squares = reading.board.squares if reading.board else ()
        if table.leaving and squares and all(squares[s].probability(EMPTY) > GONE for s in table.leaving):
            table.leaving = ()
            self._unsay("take-off")

    def _unsay(self, key: str) -> None:
        self._playing.unsay(key)
        self._desk.tell(lambda state: replace(state, notices=tuple(one for one in state.notices if one.key != key)))

    def _note_clock(self) -> float:
        state, keeper = self.state, self._playing.keeper
        if keeper and state.clock and state.clock.running is not None:
            keeper.note()
        return NOTE_CLOCK_S

    def _save_again(self) -> float:
        """The disk may have room again though nobody presses anything."""

        def save() -> None:
            if self._playing.save():
                self._unsay("not-saved")

        if self._playing.owes:
            self._desk.beside(save)
        return SAVE_AGAIN_S

    # Taking commands and telling what came of them

    def _command(
        self,
        cue: Cue,
        work: Callable[[], None],
        seen: Moment | None,
        *,
        keeps_question: bool = False,
        meanwhile: Phase | None = None,
    ) -> Future[TableState]:
        pressed = self._now()

        def object_to(state: TableState) -> Refused | None:
            key = objection(state.phase, cue)
            if not key and seen is not None and seen != state.moment:
                key = "quicker"
            return refusal(key) if key else None

        def look_up(state: TableState) -> TableState:
            return replace(state, phase=meanwhile or state.phase, notices=(), question=None)

        return self._desk.take(
            lambda: self._carry_out(work, pressed, keeps_question), object_to, look_up if meanwhile else None
        )

    def _carry_out(self, work: Callable[[], None], pressed: float, keeps_question: bool) -> None:
        table = self._playing
        before = table.asked, table.notices
        table.notices = ()
        if not keeps_question:
            table.asked = None
        if table.keeper:
            table.keeper.stop(pressed)
        try:
            work()
        except CameraError as error:
            table.say(str(error), Trouble.CAMERA)
        except StoreError as error:
            table.say(str(error), Trouble.STORE)
        except Refused:
            table.asked, table.notices = before
            raise
        except Exception:
            _logger.exception("a command failed")
            table.notices += (notice("failed", trouble=Trouble.BOARD),)
        finally:
            table.run_clock()

    def _view(self) -> TableState:
        state = self._playing.view(self.state)
        known = self._camera_trouble
        if known is None or any(notice.trouble is Trouble.CAMERA for notice in state.notices):
            return state
        return replace(state, notices=(*state.notices, known))
