"""The demo: recorded games are played on a simulated table, tile by tile, and a real session reads the board."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator, Mapping
from importlib.resources import files

import cv2
import numpy as np

from device.cameras.base import CLOSED_MESSAGE, CameraError, Frame, Image
from device.catalogue import get_text
from device.session.commands.answers import AnswerQuestion
from device.session.commands.challenges import ChallengePlay
from device.session.commands.corrections import CorrectSquare, NameBlank, RevealRack
from device.session.commands.games import EndGame, StartGame
from device.session.commands.turns import EndTurn, ExchangeTiles
from device.session.messages import Question
from device.session.snapshot import Phase, TableSnapshot
from device.session.table_session import TableSession
from device.storage.archive import make_ledger
from device.storage.game_log import write_ledger
from device.storage.lexicons import open_lexicon
from device.storage.store import GameStore, StoredEvent
from engine.board import SQUARES, Board, Square, column_of, row_of, square_name
from engine.errors import TilekeeperError
from engine.events import GameStarted
from engine.gcg import Record, build_game, parse_gcg, replay
from engine.gcg.replay import ReplayedEvent
from engine.inference.evidence import face_of
from engine.plays import Play
from engine.reading import BLANK, EMPTY
from engine.state import TurnKind
from engine.tiles import load_tile_set
from vision.recognition.reader import PhotoReader
from vision.rendering.simulated_table import EDITIONS, SimulatedTable

PREVIEW_STEP = 2


class SimulatedCamera:
    """A camera over a `SimulatedTable`; one thread may place tiles (`lay_tiles`) while another takes pictures."""

    is_live = True

    def __init__(self, table: SimulatedTable) -> None:
        self._table = table
        self._lock = threading.Lock()
        self._preview: Image | None = None
        self._closed = False

    def lay_tiles(self, labels: Mapping[tuple[int, int], str]) -> None:
        """Replace the tiles on the table by `labels`, which maps (row, column) to a letter, or to `?` for a blank."""
        with self._lock:
            self._table.lay_tiles(labels)
            self._preview = None

    def capture_still(self) -> Frame:
        """Return a rendered picture of the table as it is now."""
        with self._lock:
            return Frame(self._render_picture(), time.monotonic())

    def capture_preview(self) -> Frame:
        """Return a grey picture at half the size; a new picture is rendered only after the tiles have changed."""
        with self._lock:
            if self._preview is None:
                self._render_picture()
            assert self._preview is not None
            return Frame(self._preview, time.monotonic())

    def close(self) -> None:
        """Close the camera; further pictures raise `CameraError`."""
        self._closed = True

    def _render_picture(self) -> Image:
        if self._closed:
            raise CameraError(CLOSED_MESSAGE)
        image = self._table.photograph().image
        if self._preview is None:  # each picture is rendered in a slightly different light, but nothing has moved
            grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
            self._preview = np.ascontiguousarray(grey[::PREVIEW_STEP, ::PREVIEW_STEP], np.uint8)
        return image


TILE_INTERVAL_S = 0.5
"""Seconds between two tiles of a play, at speed 1."""
THINKING_TIME_S = 3.5
"""Seconds, at speed 1, before the tiles of a play. With the other times, two presses are more than `MAX_QUICK_S` apart:
after a quicker one, the table may ask about a play that was completed."""
SCORE_DISPLAY_TIME_S = 3.0
"""Seconds, at speed 1, between the score of a play and the next play, so that viewers can see the score."""
PRESS_TIME_S = 4.0
"""Seconds, at speed 1, in which a viewer may press *End turn* after a play. After this time, the demo presses it."""
_READING_POLL_S = 0.05
"""Seconds between two looks at a turn that a viewer has ended and that is being read."""
GAME_PAUSE_S = 15.0
EVENING_AGES_DAYS = (22, 15, 8)
"""Ages, in days, of the finished games that are in the history when the demo starts."""

_GAMES = files("device") / "data" / "games"


def load_demo_games() -> dict[str, Record]:
    """Return the recorded games in the package data, by name."""
    games = {
        entry.name.removesuffix(".gcg"): parse_gcg(entry.read_text(encoding="utf-8")) for entry in _GAMES.iterdir()
    }
    return dict(sorted(games.items()))


def add_finished_games(store: GameStore) -> None:
    """Add games of earlier evenings to a store without games, so that its history is not empty."""
    if store.list_games():
        return
    now = time.time()
    for age, record in zip(EVENING_AGES_DAYS, load_demo_games().values(), strict=False):
        then = now - 24 * 3600 * age
        events = [StoredEvent(n, then, body) for n, body in enumerate(write_ledger(make_ledger(build_game(record))))]
        store.add_game(then, events, (), imported=False)


def make_start_event(record: Record, lexicon: str | None) -> GameStarted:
    """Return the event that starts a recorded game, with the names of its players and the word list."""
    return GameStarted(tuple(player.name for player in record.players), lexicon=lexicon)


class DemoChangedError(TilekeeperError):
    """Error for a game that the demo cannot continue, because a viewer has changed it."""

    def __init__(self) -> None:
        super().__init__(get_text("demo-changed"))


class Demo:
    """A simulated table with a session; use it in a `with` statement and call `play_game` for each game."""

    def __init__(
        self,
        reader: PhotoReader,
        store: GameStore,
        *,
        seed: int,
        speed: float,
        stop: threading.Event,
    ) -> None:
        self._random = random.Random(seed)
        self._speed, self._stop = speed, stop
        self._tiles = load_tile_set("en")
        edition = self._random.choice(sorted(EDITIONS))
        self._camera = SimulatedCamera(SimulatedTable(seed=seed, edition=edition, values=self._tiles.values))
        self._lexicon = open_lexicon(None, "en")
        self._last_play: Play | None = None
        self._left: TableSnapshot | None = None
        """The session as the demo has left it after the last event of the recorded game."""
        self.session = TableSession(self._camera, reader, store, self._lexicon)

    def __enter__(self) -> Demo:
        return self

    def __exit__(self, *_: object) -> None:
        self.session.close()

    def pause_between_games(self) -> None:
        """Wait before the next game."""
        self._wait(GAME_PAUSE_S)

    def _wait(self, seconds: float) -> None:
        """Wait for a time in seconds, divided by the speed of the demo, or until the demo is stopped."""
        self._stop.wait(seconds / self._speed)

    def play_game(self) -> Iterator[str]:
        """Play a random recorded game and yield a line for each turn.

        The last line compares the totals of the session with the recorded totals. Raises `DemoChangedError` or
        `CommandRefusedError` if a viewer has changed the game so that it cannot go on.
        """
        name, record = self._random.choice(list(load_demo_games().items()))
        yield f"{name}: {', '.join(player.name for player in record.players)}"
        self._last_play = self._left = None
        self._show_board(Board())
        self.session.submit(StartGame(make_start_event(record, self._lexicon.name if self._lexicon else None))).result()
        board = Board()
        shown_turns = 0
        for event in replay(record).events:
            if self._stop.is_set():
                return
            self._rejoin()
            board = self._perform_event(event, board)
            # The turns are read after the corrections, which may change them, but shown above the notes about them.
            notes = [f"  {notice.text}" for notice in self.session.state.notices]
            notes += self._correct_reading(board)
            turns = self.session.state.turns
            yield from (self._format_turn(n) for n in range(shown_turns, len(turns)))
            yield from notes
            shown_turns = len(turns)
            self._left = self.session.state  # while the score is shown, a viewer may change the game
            self._wait(SCORE_DISPLAY_TIME_S)
        self._rejoin()
        yield _compare_totals(self._end_game(record), record)

    def _perform_event(self, event: ReplayedEvent, board: Board) -> Board:
        """Perform a recorded event on the simulated table and return the board after the event."""
        match event.entry.kind:
            case TurnKind.PLAY:
                assert event.play is not None, "the demo's games are whole"
                self._wait(THINKING_TIME_S)
                self._lay_play(board, event.play)
                self._end_turn(board, event.play.apply_to(board))
                board = event.play.apply_to(board)
                self._last_play = event.play
            case TurnKind.WITHDRAWN:
                self.session.submit(ChallengePlay()).result()
                self._wait(THINKING_TIME_S)
                assert self._last_play is not None
                board = board.without_tiles(self._last_play.squares)
                self._show_board(board)
            case TurnKind.EXCHANGE:
                self._wait(THINKING_TIME_S)
                self.session.submit(ExchangeTiles(len(event.entry.text))).result()
            case TurnKind.PASS:
                self._wait(THINKING_TIME_S)
                self.session.submit(EndTurn()).result()
            case _:
                return board
        self._wait_for_reading()
        return board

    def _rejoin(self) -> None:
        """Bring the game back to the state in which the demo has left it, if a viewer has changed it since.

        An undone turn is ended again: its tiles are still on the board. Raises `DemoChangedError` if that is not
        enough, for example after a challenge.
        """
        self._wait_for_viewer()
        if self._left is None or _list_turns(self.session.state) == _list_turns(self._left):
            return
        if _list_turns(self.session.state) == _list_turns(self._left)[:-1]:
            self.session.submit(EndTurn()).result()
            self._wait_for_reading()
        if _list_turns(self.session.state) != _list_turns(self._left):
            raise DemoChangedError

    def _wait_for_viewer(self) -> None:
        """Wait while the table reads the board for a viewer, and while a viewer pauses the game."""
        while self.session.state.phase in (Phase.LOOKING, Phase.PAUSED) and not self._stop.wait(_READING_POLL_S):
            pass

    def _end_turn(self, before: Board, after: Board) -> None:
        """Wait `PRESS_TIME_S` seconds (at speed 1) for a viewer to end the turn; if no viewer does, end it.

        If a viewer has undone the turn before, take the new tiles from the simulated board until that turn is back.
        """
        count = len(self.session.state.turns)
        self._wait(PRESS_TIME_S)
        self._wait_for_viewer()
        state = self.session.state
        if state.question is not None or len(state.turns) > count:
            return
        if self._left is not None and _list_turns(state) != _list_turns(self._left):
            self._show_board(before)
            self._rejoin()
            self._show_board(after)
        self.session.submit(EndTurn()).result()

    def _wait_for_reading(self) -> None:
        """Wait until the turn is read or the demo is stopped. Reading may take long on a slow machine."""
        while (question := self.session.state.question) and question.offers_wait:
            if self._stop.is_set():
                return
            self.session.submit(AnswerQuestion(question.chosen)).result()

    def _lay_play(self, board: Board, play: Play) -> None:
        """Place the tiles of a play on the simulated board one by one."""
        for square, tile in play.tiles:
            board = board.with_tiles({square: tile})
            self._show_board(board)
            self._wait(TILE_INTERVAL_S)

    def _correct_reading(self, truth: Board) -> Iterator[str]:
        """Answer the open question, correct misread squares and name blanks, as players would do after a turn.

        Yield a line for each answer and each corrected square. `truth` is the board of the recorded game.
        """
        question = self.session.state.question
        if question:
            chosen = _choose_answer(question, truth) if self._find_misread_squares(truth) else question.chosen
            if chosen != question.chosen:
                self.session.submit(AnswerQuestion(chosen)).result()
            yield f"  {question.text} {question.answers[chosen]}"
        for square in self._find_misread_squares(truth):
            tile = truth[square]
            symbol = EMPTY if tile is None else tile.face
            self.session.submit(CorrectSquare(square_name(square), symbol)).result()
            yield f"  {square_name(square)} is corrected by hand: {symbol}"
        for square, tile in self._last_play.tiles if self._last_play else ():
            shown = self.session.state.board.tiles[square]
            if truth[square] == tile and shown and shown.blank and shown.letter != tile.letter:
                self.session.submit(NameBlank(square_name(square), tile.letter)).result()

    def _find_misread_squares(self, truth: Board) -> list[Square]:
        """Return the squares on which the session's board differs from the simulated board `truth`."""
        shown = self.session.state.board.tiles
        faces = (EMPTY if tile is None else BLANK if tile.blank else tile.letter for tile in shown)
        return [square for square, face in zip(SQUARES, faces, strict=True) if face != face_of(truth[square])]

    def _end_game(self, record: Record) -> TableSnapshot:
        """End the game, enter the unplayed tiles of each player, and return the last snapshot."""
        state = self.session.submit(EndGame()).result()
        left = {e.player: e.text for e in record.entries if e.kind is TurnKind.ENDRACK and e.score < 0}
        for player in state.racks_wanted:
            state = self.session.submit(RevealRack(player, left.get(player, ""))).result()
        return state

    def _show_board(self, board: Board) -> None:
        faces = {(row_of(s), column_of(s)): tile.face for s in SQUARES if (tile := board[s]) is not None}
        self._camera.lay_tiles(faces)

    def _format_turn(self, number: int) -> str:
        state = self.session.state
        turn = state.turns[number]
        what = f"{turn.at} {turn.word}" if turn.at else turn.kind
        wrong = f" ({', '.join(turn.invalid_words)} not in the word list)" if turn.invalid_words else ""
        return f"{turn.number:3} {state.players[turn.player].name:6} {what:20} {turn.score:+4} {turn.total:4}{wrong}"


def _list_turns(state: TableSnapshot) -> list[tuple[object, ...]]:
    """Return what must not change in the turns of a game, so that the demo can go on with it."""
    return [(state.game, turn.player, turn.kind, turn.at, turn.total) for turn in state.turns]


def _choose_answer(question: Question, truth: Board) -> int:
    """Return the index of the answer that agrees with the board `truth`, or of the second answer if none agrees."""
    true_faces = tuple(face_of(truth[square]) for square in question.squares)
    answers = [tuple(BLANK if symbol.islower() else symbol for symbol in symbols) for symbols in question.symbols]
    return answers.index(true_faces) if true_faces in answers else min(1, len(question.answers) - 1)


def _compare_totals(state: TableSnapshot, record: Record) -> str:
    """Return a sentence that compares the totals of a played game with its record; it begins with right or wrong."""
    totals = {player.name: player.total for player in state.players}
    recorded = {player.name: 0 for player in record.players}
    for entry in record.entries:
        recorded[record.players[entry.player].name] += entry.score
    text = ", ".join(f"{name} {total}" for name, total in totals.items())
    if totals == recorded:
        return f"right: {text}, as recorded"
    return f"wrong: {text}; recorded " + ", ".join(f"{name} {total}" for name, total in recorded.items())
