"""The table session: joins camera, reader, engine, store and everybody who wants to know.

A turn takes one way through the house: the button is pressed, the session asks the camera for a still picture, vision
reads it, the engine explains what was played, the events are appended and synced, and page, lights and voice are told.
`TableSession._take_turn` is that sentence.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from types import EllipsisType
from typing import Protocol

from device import commands
from device.cameras import Camera, CameraError, Frame, Settling
from device.commands import Refused as Refused
from device.commands import refusing, sentence
from device.gamelog import GameLog
from device.look import Look, take_look
from device.state import Listener, LookView, Notice, Phase, Question, TableState, Trouble
from device.stillness import still_board
from device.store import GameStore, StoreError
from device.verdict import Verdict, judge
from device.view import Words, decides, view_game, view_premiums
from engine.board import layout
from engine.events import Event, GameStarted, Undone
from engine.evidence import Memory
from engine.explain import Explained, explain
from engine.game import Game
from vision.geometry import Floats, Image
from vision.reader import PhotoReading

_logger = logging.getLogger(__name__)

LOOKS = 3
"""So many pictures of a live camera are read before a doubt is shown to people."""
KEPT_PICTURES = 4
LONGEST_NAME = 40
"""Letters of a picture's name; anybody may ask for any."""


class Reader(Protocol):
    """Reads boards from pictures: `vision.reader.BoardReader`."""

    def read(self, image: Image, tiles: Collection[str], corners: Floats | None = None) -> PhotoReading:
        """Read the board in `image`, `(H, W, 3) uint8 BGR`."""


class TableSession:
    """One table: a game at a time, its camera, its store.

    Commands come from any thread and return at once; a thread named `table` carries them out one after the other. The
    returned `Future` holds the state after it, or `Refused`. `seen`, where given, is `TableState.events` of the moment
    that the command was meant for: if the game has moved on since, it is refused.
    """

    def __init__(self, camera: Camera, reader: Reader, store: GameStore, words: Words | None = None) -> None:
        self._camera = camera
        self._reader = reader
        self._store = store
        self._words = words
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="table")
        self._lock = threading.RLock()
        self._busy = False
        self._listeners: list[Listener] = []
        self._state = TableState(board=replace(TableState().board, premiums=view_premiums(layout())))
        # What follows belongs to the worker.
        self._log: GameLog | None = None
        self._memory: Memory | None = None
        self._look: LookView | None = None
        self._notices: tuple[Notice, ...] = ()
        self._said: set[str] = set()
        self._question: Question | None = None
        self._answers: tuple[tuple[Event, ...], ...] = ()
        self._pictures: dict[str, bytes] = {}

    def __enter__(self) -> TableSession:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Finish the command that is being carried out, end the thread, give the camera back."""
        self._worker.shutdown(cancel_futures=True)
        self._camera.close()

    @property
    def state(self) -> TableState:
        """The table now."""
        return self._state

    def tell(self, notice: Notice) -> None:
        """Let everybody know something that is no part of the game; the next command ends it."""
        with self._lock:
            self._tell(replace(self._state, notices=(*self._state.notices, notice)))

    def listen(self, listener: Listener) -> None:
        """Tell `listener` each new state from now on."""
        with self._lock:
            self._listeners.append(listener)

    def forget(self, listener: Listener) -> None:
        """Tell it no more."""
        with self._lock:
            self._listeners.remove(listener)

    def picture(self, name: str) -> bytes | None:
        """The rectified board as JPEG, by the name that a state gave it."""
        if kept := self._pictures.get(name):
            return kept
        game, _, number = name.partition("-")
        if len(name) > LONGEST_NAME or not (game.isdecimal() and number.isdecimal()):
            return None
        return self._store.picture(int(game), int(number), "board")

    def known_names(self) -> tuple[str, ...]:
        """Everybody who played at this table, who played last first. Raises `StoreError`."""
        games = self._store.games()
        return tuple(dict.fromkeys(name for game in games for name in game.first.get("players", ())))

    # Commands

    def start_game(
        self, started: GameStarted, seen: int | None = None, *, words: Words | EllipsisType | None = ...
    ) -> Future[TableState]:
        """Begin a game. `words`, where given, is the list to check by from now on (None: words are not checked)."""
        return self._command(lambda: self._start(started, words), seen, needs_game=False)

    def resume(self, words_for: Callable[[GameStarted], Words | None] | None = None) -> Future[TableState]:
        """Go on with the newest game of the store, if it has not ended.

        `words_for` finds the list that this game was begun with; without it the table's list stays.
        """
        return self._command(lambda: self._resume(words_for), None, needs_game=False)

    def end_turn(self, seen: int | None = None) -> Future[TableState]:
        """The player whose turn it is has played, or passes: the board is read."""
        return self._command(self._take_turn, seen, phase=Phase.LOOKING)

    def answer(self, number: int, seen: int | None = None) -> Future[TableState]:
        """The people choose one of the answers of the open question."""
        return self._command(lambda: self._answer(number), seen, keeps_question=True)

    def exchange(self, count: int, seen: int | None = None) -> Future[TableState]:
        """The player whose turn it is exchanges tiles."""
        return self._command(lambda: self._record(lambda game: commands.exchange(game, count)), seen)

    def pass_turn(self, seen: int | None = None) -> Future[TableState]:
        """The player whose turn it is lays nothing; the board is not looked at."""
        return self._command(lambda: self._record(commands.pass_turn), seen)

    def challenge(self, seen: int | None = None) -> Future[TableState]:
        """The next player challenges the last play; the word list decides, or else people are asked."""
        return self._command(self._challenge, seen)

    def undo(self, seen: int | None = None) -> Future[TableState]:
        """What was done last never happened; the end of a game too."""
        return self._command(lambda: self._commit([Undone()]), seen, after_end=True)

    def correct(self, square: str, symbol: str, seen: int | None = None) -> Future[TableState]:
        """A square (`H8`) was read wrong: `symbol` lies there (`A` a tile, `a` a blank, `.` nothing)."""
        return self._command(lambda: self._record(lambda game: commands.correct(game, square, symbol)), seen)

    def name_blank(self, square: str, letter: str, seen: int | None = None) -> Future[TableState]:
        """Somebody says what the blank on a square (`H8`) stands for."""
        return self._command(lambda: self._record(lambda game: commands.name_blank(game, square, letter)), seen)

    def tell_rack(self, player: int, letters: str, seen: int | None = None) -> Future[TableState]:
        """Somebody tells the unplayed letters of a player; once the game has ended they are counted."""
        return self._command(
            lambda: self._record(lambda game: commands.tell_rack(game, player, letters)), seen, after_end=True
        )

    def end_game(self, seen: int | None = None) -> Future[TableState]:
        """The players end the game; unplayed letters are counted."""
        return self._command(self._end, seen)

    # The way of a turn

    def _take_turn(self) -> None:
        frame, reading, explained = self._look_and_explain()
        look = take_look(frame, reading, explained, f"look-{self._state.revision}")
        if reading.board is None or explained is None:
            self._say("; ".join(reading.problems), Trouble.BOARD)
            self._show(look)
            return
        verdict = judge(self._playing().game, explained)
        self._commit(verdict.events, look)
        self._ask(verdict)
        self._memory = explained.memory

    def _look_and_explain(self) -> tuple[Frame, PhotoReading, Explained | None]:
        """Ask the camera, read, explain; look again while a live camera leaves a doubt."""
        game = self._playing().game
        for attempt in range(1, LOOKS + 1):
            frame = still_board(self._camera)
            reading = self._reader.read(frame.image, game.tiles.letters)
            explained = None if reading.board is None else explain(game, reading.board, self._memory)
            if not self._camera.live or (explained and explained.is_certain) or attempt == LOOKS:
                break
        return frame, reading, explained

    def _ask(self, verdict: Verdict) -> None:
        """Offer the people what else it may have been; where there is no choice, only say what is wrong."""
        if len(verdict.answers) > 1:
            self._offer(verdict.question, verdict.answers)
        elif (
            verdict.question not in self._said or not verdict.events
        ):  # what was said and left alone is not nagged about
            self._said.add(verdict.question)
            self._say(verdict.question, Trouble.BOARD)

    def _offer(self, question: str, answers: Sequence[tuple[str, tuple[Event, ...]]]) -> None:
        self._question = Question(sentence(question), tuple(sentence(text) for text, _ in answers))
        self._answers = tuple(events for _, events in answers)

    def _commit(self, events: Sequence[Event], look: Look | None = None) -> None:
        """Append events to the log, synced, and keep the picture that they were read from."""
        log = self._playing()
        if look and events:
            look = look.named(f"{log.number}-{log.length + len(events) - 1}")
        if look:
            self._show(look)
        if not events:
            return
        with refusing():
            trouble = log.append(events, look.jpegs() if look else {})
        if trouble:
            self._say(f"This turn is not saved: {trouble}. Play goes on", Trouble.STORE)

    def _show(self, look: Look) -> None:
        """Let the page have the picture of a look."""
        self._look = look.view
        self._pictures = dict([*self._pictures.items(), (look.view.picture, look.crop)][-KEPT_PICTURES:])

    def _say(self, text: str, trouble: Trouble = Trouble.NONE) -> None:
        """Add a sentence to what is told with the next state; nothing for an empty one."""
        if text:
            self._notices += (Notice(sentence(text), trouble),)

    # The other commands, carried out by the worker

    def _start(self, started: GameStarted, words: Words | EllipsisType | None) -> None:
        with refusing():
            log = GameLog.begin(self._store, started)
        if not isinstance(words, EllipsisType):
            self._words = words
        self._open(log)

    def _resume(self, words_for: Callable[[GameStarted], Words | None] | None) -> None:
        log = GameLog.newest(self._store)
        if log is None:
            raise Refused("There is no game to go on with.")
        if log.game.is_over:
            raise Refused("The last game has ended.")
        if words_for:
            self._words = words_for(log.game.started)
        self._open(log)

    def _open(self, log: GameLog) -> None:
        self._log, self._memory, self._look = log, None, None
        self._said.clear()
        if isinstance(self._camera, Settling):
            self._camera.settle()

    def _answer(self, number: int) -> None:
        question = self._question
        if question is None or not 0 <= number < len(self._answers):
            raise Refused("Nothing is asked now.")
        if number != question.chosen:
            taken_back = [Undone()] * len(self._answers[question.chosen])
            self._commit([*taken_back, *self._answers[number]])
        self._question = replace(question, chosen=number)

    def _challenge(self) -> None:
        game = self._playing().game
        if self._words is None or not decides(self._words):
            answers = commands.challenge_answers(game)
            words = ", ".join(word.word for word in game.turns[-1].words)
            self._offer(f"Are all these words good: {words}?", answers)
            return
        challenged = commands.challenge(game, self._words)
        player = game.challengeable.player if game.challengeable else 0
        self._commit([challenged])
        if challenged.upheld:
            words = ", ".join(challenged.words)
            self._say(f"{game.players[player]} takes back {words}: take the tiles off the board")
        else:
            self._say("The challenge failed: every word is in the list")

    def _end(self) -> None:
        self._commit([commands.end_game(self._playing().game)])
        game = self._playing().game
        if game.racks_wanted:
            names = " and ".join(game.players[player] for player in game.racks_wanted)
            self._say(f"The letters that {names} did not play are not counted yet")

    def _record(self, command: Callable[[Game], Event]) -> None:
        """Carry out a command that is one event."""
        self._commit([command(self._playing().game)])

    def _playing(self) -> GameLog:
        assert self._log is not None, "commands that need a game are refused without one"
        return self._log

    # Taking commands and telling what came of them

    def _command(
        self,
        work: Callable[[], None],
        seen: int | None,
        *,
        needs_game: bool = True,
        after_end: bool = False,
        keeps_question: bool = False,
        phase: Phase | None = None,
    ) -> Future[TableState]:
        with self._lock:
            if reason := self._objection(seen, needs_game, after_end):
                refused: Future[TableState] = Future()
                refused.set_exception(Refused(reason))
                return refused
            self._busy = True
            if phase is not None:
                self._tell(replace(self._state, phase=phase, notices=(), question=None))
            return self._worker.submit(self._carry_out, work, keeps_question)

    def _objection(self, seen: int | None, needs_game: bool, after_end: bool) -> str:
        if self._busy:
            return "One moment: the board is being looked at."
        if needs_game and self._state.phase is Phase.LOBBY:
            return "There is no game yet."
        if needs_game and not after_end and self._state.phase is Phase.ENDED:
            return "The game has ended."
        if seen is not None and seen != self._state.events:
            return "Somebody was quicker: the game has moved on. Look again, then press."
        return ""

    def _carry_out(self, work: Callable[[], None], keeps_question: bool) -> TableState:
        self._notices = ()
        if not keeps_question:
            self._question = None
        try:
            work()
        except CameraError as error:
            self._say(str(error), Trouble.CAMERA)
        except StoreError as error:
            self._say(str(error), Trouble.STORE)
        except Refused:
            raise
        except Exception:
            _logger.exception("a command failed")
            self._say("Something went wrong; nothing was changed. Try again", Trouble.BOARD)
        finally:
            with self._lock:
                self._busy = False
                self._tell(self._seen_from_outside())
        return self._state

    def _tell(self, state: TableState) -> None:
        """Publish a state: everybody who listens is told, in order."""
        with self._lock:
            self._state = replace(state, revision=self._state.revision + 1)
            for listener in self._listeners:
                listener(self._state)

    def _seen_from_outside(self) -> TableState:
        if self._log is None:
            return replace(self._state, phase=Phase.LOBBY, notices=self._notices)
        return replace(
            view_game(self._log.game, self._words),
            events=self._log.length,
            look=self._look,
            notices=self._notices,
            question=self._question,
        )
