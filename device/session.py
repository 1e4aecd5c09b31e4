"""The table session: joins camera, reader, engine, store and everybody who wants to know.

A turn takes one way through the house: the button is pressed, the session asks the camera for a still picture, vision
reads it, the engine explains what was played, the events are appended and synced, and page, lights and voice are told.
`TableSession._take_turn` is that sentence. What may be done when is data, in `device.phases`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from dataclasses import replace
from types import EllipsisType
from typing import Protocol

from device import commands
from device.cameras import Camera, CameraError, Frame, Settling
from device.clock import TableClock, from_note, noted
from device.commands import refusing
from device.desk import Desk
from device.gamelog import GameLog
from device.look import Look, take_look
from device.messages import Refused as Refused
from device.messages import notice, refusal, sentence
from device.phases import Cue, objection, phase_of
from device.state import (
    Listener,
    LookView,
    Moment,
    Notice,
    Phase,
    Question,
    SetUpView,
    TableState,
    Trouble,
    TurnChange,
)
from device.stillness import still_board
from device.store import GameStore, StoreError
from device.verdict import Verdict, judge
from device.view import Words, decides, is_listed, view_game, view_premiums
from engine.blanks import letters_that_fit
from engine.board import layout
from engine.events import ClockRead, Event, GameEnded, GameStarted, Turnlike
from engine.evidence import Memory
from engine.explain import Explained, explain
from engine.game import Game
from engine.squares import parse_square
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
    returned `Future` holds the state after it, or `Refused`. `seen`, where given, is `TableState.moment` of what the
    command was meant for: if the game has moved on since, it is refused.
    """

    def __init__(
        self,
        camera: Camera,
        reader: Reader,
        store: GameStore,
        words: Words | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._camera = camera
        self._reader = reader
        self._store = store
        self._words = words
        self._now = clock
        empty = TableState(board=replace(TableState().board, premiums=view_premiums(layout())))
        self._desk = Desk(empty, self._view)
        # What follows belongs to the desk's thread.
        self._log: GameLog | None = None
        self._memory: Memory | None = None
        self._look: LookView | None = None
        self._notices: tuple[Notice, ...] = ()
        self._said: set[str] = set()
        self._question: Question | None = None
        self._answers: tuple[tuple[Event, ...], ...] = ()
        self._stops_clock = False
        self._replaces = False
        self._clock = TableClock(())
        self._paused = False
        self._pictures: dict[str, bytes] = {}
        self._colours: dict[str, str] = {}

    def __enter__(self) -> TableSession:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Finish the command that is being carried out, end the thread, give the camera back."""
        self._desk.close()
        self._note_clock()
        self._camera.close()

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
        if kept := self._pictures.get(name):
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
        if self.state.phase not in (Phase.LOBBY, Phase.ENDED) and not self.state.open_dictionary:
            raise refusal("closed-dictionary")
        return is_listed(word, self._words) if decides(self._words) else None

    def letters_for(self, square: str) -> tuple[str, ...]:
        """The letters that the blank on a square may stand for, those that make words where there are any."""
        log, words = self._log, self._words
        if log is None:
            return ()
        game = log.game
        if words is None or not game.rules.open_dictionary:
            return game.tiles.letters
        with refusing():
            return letters_that_fit(game, parse_square(square), words.__contains__)

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
        return self._command(Cue.START, lambda: self._start(started, words, colours), seen)

    def play_again(self, otherwise: GameStarted, seen: Moment | None = None) -> Future[TableState]:
        """Begin another game as the last one was, the next player first; `otherwise`, where there was none yet."""
        return self._command(Cue.START, lambda: self._play_again(otherwise), seen)

    def resume(self, words_for: Callable[[GameStarted], Words | None] | None = None) -> Future[TableState]:
        """Go on with the newest game of the store, if it has not ended.

        `words_for` finds the list that this game was begun with; without it the table's list stays.
        """
        return self._command(Cue.RESUME, lambda: self._resume(words_for), None)

    def draw_first(self, letters: tuple[str, ...], seen: Moment | None = None) -> Future[TableState]:
        """The players drew these tiles for first play, in seat order (`?` a blank, empty: did not draw)."""
        return self._command(Cue.DRAW, lambda: self._draw(letters), seen)

    def end_turn(self, seen: Moment | None = None) -> Future[TableState]:
        """The player whose turn it is has played, or passes: the board is read."""
        return self._command(Cue.END_TURN, self._take_turn, seen, meanwhile=Phase.LOOKING)

    def answer(self, number: int, seen: Moment | None = None) -> Future[TableState]:
        """The people choose one of the answers of the open question."""
        return self._command(Cue.ANSWER, lambda: self._answer(number), seen, keeps_question=True)

    def say_exchanged(self, seen: Moment | None = None) -> Future[TableState]:
        """The answer to whether a player passed or exchanged: tiles were exchanged, nobody says how many."""
        return self._command(Cue.ANSWER, lambda: self._answer(len(self._answers) - 1), seen, keeps_question=True)

    def exchange(self, count: int, seen: Moment | None = None) -> Future[TableState]:
        """The player whose turn it is exchanges tiles."""
        return self._command(Cue.EXCHANGE, lambda: self._record(lambda game: commands.exchange(game, count)), seen)

    def pass_turn(self, seen: Moment | None = None) -> Future[TableState]:
        """The player whose turn it is lays nothing; the board is not looked at."""
        return self._command(Cue.PASS, lambda: self._record(commands.pass_turn), seen)

    def challenge(self, seen: Moment | None = None) -> Future[TableState]:
        """The next player challenges the last play; the word list decides, or else people are asked."""
        return self._command(Cue.CHALLENGED, self._challenge, seen)

    def undo(self, seen: Moment | None = None) -> Future[TableState]:
        """The last press never happened, with all that came of it; the end of a game too."""
        return self._command(Cue.UNDO, lambda: self._step(self._playing().undo), seen)

    def redo(self, seen: Moment | None = None) -> Future[TableState]:
        """The press that was taken back last counts again."""
        return self._command(Cue.REDO, lambda: self._step(self._playing().redo), seen)

    def correct(self, square: str, symbol: str, seen: Moment | None = None) -> Future[TableState]:
        """A square (`H8`) was read wrong: `symbol` lies there (`A` a tile, `a` a blank, `.` nothing)."""
        return self._command(
            Cue.PUT_RIGHT, lambda: self._record(lambda game: commands.correct(game, square, symbol)), seen
        )

    def name_blank(self, square: str, letter: str, seen: Moment | None = None) -> Future[TableState]:
        """Somebody says what the blank on a square (`H8`) stands for."""
        return self._command(
            Cue.PUT_RIGHT, lambda: self._record(lambda game: commands.name_blank(game, square, letter)), seen
        )

    def correct_turn(self, number: int, change: TurnChange, seen: Moment | None = None) -> Future[TableState]:
        """A turn (`TurnView.number`) was something else than what was recorded."""
        return self._command(
            Cue.PUT_RIGHT, lambda: self._commit(commands.correct_turn(self._game(), number, change)), seen
        )

    def insert_turn(self, number: int, change: TurnChange, seen: Moment | None = None) -> Future[TableState]:
        """A turn was forgotten: it becomes the one with this number; the next number is a turn entered by hand."""
        return self._command(
            Cue.PUT_RIGHT, lambda: self._commit(commands.insert_turn(self._game(), number, change)), seen
        )

    def tell_rack(self, player: int, letters: str, seen: Moment | None = None) -> Future[TableState]:
        """Somebody tells the unplayed letters of a player; once the game has ended they are counted."""
        return self._command(Cue.RACK, lambda: self._tell_rack(player, letters), seen)

    def end_game(self, seen: Moment | None = None) -> Future[TableState]:
        """The players end the game; unplayed letters are counted."""
        return self._command(Cue.END, self._end, seen)

    def pause(self, seen: Moment | None = None) -> Future[TableState]:
        """The clocks stand still until `go_on`."""
        return self._command(Cue.PAUSE, lambda: self._pause(True), seen, keeps_question=True)

    def go_on(self, seen: Moment | None = None) -> Future[TableState]:
        """The game goes on after a pause."""
        return self._command(Cue.GO_ON, lambda: self._pause(False), seen, keeps_question=True)

    # Setting the table up

    def look_around(self) -> Future[SetUpView]:
        """The camera's whole picture, and where the board is in it."""
        raise NotImplementedError

    def place_corners(self, corners: Sequence[tuple[float, float]] | None) -> Future[SetUpView]:
        """People say where the corners are, in pixels of `SetUpView.jpeg`; None: the table finds them by itself."""
        raise NotImplementedError

    def teach(self, rows: Sequence[Sequence[str]]) -> Future[tuple[str, ...]]:
        """The board shows these letters now (15 rows of faces): the table learns them; what was in the way is said."""
        raise NotImplementedError

    # The way of a turn

    def _take_turn(self) -> None:
        frame, reading, explained = self._look_and_explain()
        look = take_look(frame, reading, explained, f"look-{self.state.revision}")
        if reading.board is None or explained is None:
            self._say("; ".join(reading.problems), Trouble.BOARD)
            self._show(look)
            return
        verdict = judge(self._game(), explained)
        self._commit(verdict.events, look)
        self._ask(verdict)
        self._memory = explained.memory

    def _look_and_explain(self) -> tuple[Frame, PhotoReading, Explained | None]:
        """Ask the camera, read, explain; look again while a live camera leaves a doubt."""
        game = self._game()
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
            self._offer(verdict.question, verdict.answers, replaces=bool(verdict.events))
        elif (
            verdict.question not in self._said or not verdict.events
        ):  # what was said and left alone is not nagged about
            self._said.add(verdict.question)
            self._say(verdict.question, Trouble.BOARD)

    def _offer(
        self, question: str, answers: Sequence[tuple[str, tuple[Event, ...]]], *, replaces: bool, stops: bool = False
    ) -> None:
        self._question = Question(sentence(question), tuple(sentence(text) for text, _ in answers))
        self._answers = tuple(events for _, events in answers)
        self._replaces, self._stops_clock = replaces, stops

    def _commit(self, events: Sequence[Event], look: Look | None = None) -> None:
        """Append events to the log, synced, and keep the picture that they were read from."""
        log = self._playing()
        events = (*self._clock_read(events), *events)
        if look and events:
            look = look.named(f"{log.number}-{log.length + len(events) - 1}")
        if look:
            self._show(look)
        if not events:
            return
        with refusing():
            self._saved(log.append(events, look.jpegs() if look else {}))

    def _saved(self, trouble: str) -> None:
        if trouble:
            self._notices += (notice("not-saved", trouble, trouble=Trouble.STORE),)

    def _clock_read(self, events: Sequence[Event]) -> tuple[Event, ...]:
        """What the clock says of the player whose turn these events end, of everybody where they end the game."""
        game = self._game()
        if not game.rules.clock_seconds or not any(isinstance(event, Turnlike) for event in events):
            return ()
        ends = any(isinstance(event, GameEnded) for event in events)
        players = range(len(game.players)) if ends else (game.to_move,)
        used = self._clock.at(self._now()).used
        return tuple(ClockRead(player, round(used[player], 1)) for player in players)

    def _show(self, look: Look) -> None:
        """Let the page have the picture of a look."""
        self._look = look.view
        self._pictures = dict([*self._pictures.items(), (look.view.picture, look.crop)][-KEPT_PICTURES:])

    def _say(self, text: str, trouble: Trouble = Trouble.NONE) -> None:
        """Add a sentence to what is told with the next state; nothing for an empty one."""
        if text:
            self._notices += (Notice(sentence(text), trouble),)

    # The other commands, carried out by the worker

    def _start(self, started: GameStarted, words: Words | EllipsisType | None, colours: Sequence[str]) -> None:
        with refusing():
            log, trouble = GameLog.begin(self._store, started)
        self._saved(trouble)
        if not trouble:
            for name, colour in zip(started.players, colours, strict=False):
                self._store.colour(name, colour)
        if not isinstance(words, EllipsisType):
            self._words = words
        self._open(log)

    def _play_again(self, otherwise: GameStarted) -> None:
        if self._log is None:
            return self._start(otherwise, ..., ())
        before = self._log.game.started
        return self._start(replace(before, first=(before.first + 1) % len(before.players)), ..., ())

    def _resume(self, words_for: Callable[[GameStarted], Words | None] | None) -> None:
        log = GameLog.newest(self._store)
        if log is None:
            raise refusal("nothing-to-resume")
        if log.game.is_over:
            raise refusal("resume-ended")
        if words_for:
            self._words = words_for(log.game.started)
        self._open(log)

    def _open(self, log: GameLog) -> None:
        self._log, self._memory, self._look = log, None, None
        self._said.clear()
        self._clock, self._paused = from_note(self._store.noted(log.number, "clock"), log.clocks)
        self._colours = dict(self._store.players())
        if isinstance(self._camera, Settling):
            self._camera.settle()

    def _draw(self, letters: tuple[str, ...]) -> None:
        self._record(lambda game: commands.draw_first(game, letters))
        game = self._game()
        names = " and ".join(game.players[player] for player in game.drawing)
        self._notices += (notice("draw-again", names) if names else notice("begins", game.players[game.to_move]),)

    def _answer(self, number: int) -> None:
        if self._question is None or not 0 <= number < len(self._answers):
            raise refusal("nothing-asked")
        events, chosen = self._answers[number], self._question.chosen
        if self._stops_clock and not events:
            return  # the words are still being looked up
        self._question = None
        if number == chosen:
            return
        with refusing():
            log = self._playing()
            self._saved(log.instead(events) if self._replaces else log.append(events))

    def _challenge(self) -> None:
        game = self._game()
        if self._words is None or not decides(self._words):
            answers = commands.challenge_answers(game)
            words = ", ".join(word.word for word in game.turns[-1].words)
            self._offer(f"Are all these words good: {words}?", answers, replaces=False, stops=True)
            return
        challenged = commands.challenge(game, self._words)
        player = game.challengeable.player if game.challengeable else 0
        self._commit([challenged])
        if challenged.upheld:
            self._notices += (notice("take-off", game.players[player], ", ".join(challenged.words)),)
        else:
            self._notices += (notice("challenge-failed"),)

    def _end(self) -> None:
        self._record(commands.end_game)
        game = self._game()
        if game.racks_wanted:
            names = " and ".join(game.players[player] for player in game.racks_wanted)
            self._notices += (notice("racks-wanted", names),)

    def _tell_rack(self, player: int, letters: str) -> None:
        self._record(lambda game: commands.tell_rack(game, player, letters))

    def _pause(self, paused: bool) -> None:
        self._paused = paused

    def _step(self, step: Callable[[], str]) -> None:
        """Go back or forth by a press."""
        self._saved(step())

    def _record(self, command: Callable[[Game], Event]) -> None:
        """Carry out a command that is one event."""
        self._commit([command(self._game())])

    def _playing(self) -> GameLog:
        assert self._log is not None, "commands that need a game are refused without one"
        return self._log

    def _game(self) -> Game:
        return self._playing().game

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
        self._notices = ()
        if not keeps_question:
            self._question = None
        self._clock = self._clock.stop(pressed)
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
            self._notices += (notice("failed", trouble=Trouble.BOARD),)
        finally:
            self._run_clock()

    def _run_clock(self) -> None:
        """The time of whose turn it is runs, unless something stands in its way."""
        if self._log is None or not self._game().rules.clock_seconds:
            return
        standing = self._stops_clock and self._question is not None
        if self._phase().in_play and not standing:
            self._clock = self._clock.run(self._game().to_move, self._now())
        else:
            self._clock = self._clock.stop(self._now())
        self._note_clock()

    def _note_clock(self) -> None:
        """Keep the clock beside the log, so that it is right to the second after the power went."""
        log = self._log
        if log is None or not log.game.rules.clock_seconds or log.game.is_over:
            return
        try:
            self._store.note(log.number, "clock", noted(self._clock, self._now(), paused=self._paused))
        except StoreError as error:
            _logger.warning("the clock is not kept: %s", error)

    def _phase(self) -> Phase:
        return phase_of(self._game(), asked=self._question is not None, paused=self._paused)

    def _view(self) -> TableState:
        log = self._log
        if log is None:
            return replace(self.state, phase=Phase.LOBBY, notices=self._notices)
        rules = log.game.rules
        seen = view_game(log.game, self._words)
        clock = self._clock.view(rules.clock_seconds, rules.overtime_points, paused=self._paused)
        return replace(
            seen,
            players=tuple(replace(player, colour=self._colours.get(player.name, "")) for player in seen.players),
            phase=self._phase(),
            game=log.number,
            events=log.length,
            look=self._look,
            notices=self._notices,
            question=self._question,
            clock=clock if rules.clock_seconds else None,
            drawing=log.game.drawing,
            undo=log.can_undo,
            redo=log.can_redo,
        )
