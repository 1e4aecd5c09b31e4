"""Replay a game from the frames of a video: find the turns without a button, and score them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from device.cameras.folder import FolderCamera
from device.capture.board_camera import MIN_REST_S, BoardCamera
from device.capture.motion import RestDetector
from device.capture.video_frames import VideoFrame
from device.session.evidence import TableEvidence
from device.session.recording import add_evidence, add_record, make_question_history, make_record
from device.session.snapshot import TableSnapshot
from device.session.snapshot_builder import build_snapshot
from device.session.turns.decision import Decision, TurnContext
from device.session.turns.turn_finder import FoundTurn, TurnFinder
from engine.board import square_name
from engine.errors import NotationError, RulesError, TilekeeperError
from engine.events import Event, Exchanged, GameStarted, Passed
from engine.ledger import Ledger, Source, find_open_entries
from engine.lexicon import WordList, find_deciding_words
from engine.reading import BoardReading, merge_readings
from engine.validation.open_questions import find_provisional_turns
from engine.validation.settlement import settle_questions
from vision.recognition.reader import PhotoReader

MAX_READINGS = 3
"""Largest number of frames that are read and merged while the board stays at rest. After a clear play, no more are
read."""
READING_INTERVAL_S = 0.5
"""Time between two readings while the board stays at rest, in seconds."""
LONG_PAUSE_S = 180.0
"""Longest usual time between two turns, in seconds. A longer time is reported: a pass or exchange may be missing."""
_ENTRY = re.compile(r"(?:(\d+):)?(\d+):(\d\d)\s+(?:(pass)|exchange\s+(\d+))", re.IGNORECASE)


class TurnListError(TilekeeperError):
    """Error for a list of turns that cannot be read; the message gives the line and how to correct it."""


@dataclass(frozen=True, slots=True)
class EnteredTurn:
    """A pass (`count` is 0) or an exchange of `count` tiles, at `time` (s) of the video."""

    time: float
    count: int

    def make_event(self, player: int) -> Event:
        """Return the event of this turn by `player`, who is to move."""
        return Exchanged(player, self.count) if self.count else Passed(player)


def parse_turn_list(text: str) -> tuple[EnteredTurn, ...]:
    """Return the passes and exchanges in a text, which has one on each line, sorted by time. Raises `TurnListError`.

    Empty lines, and text after a `#`, are ignored.

    >>> parse_turn_list("2:31 pass\\n1:05:02 exchange 3  # Ben")
    (EnteredTurn(time=151.0, count=0), EnteredTurn(time=3902.0, count=3))
    """
    turns = []
    for number, line in enumerate(text.splitlines(), 1):
        entry = line.partition("#")[0].strip()
        if not entry:
            continue
        match = _ENTRY.fullmatch(entry)
        if match is None:
            raise TurnListError(f"line {number}: write a time and a turn, for example 2:31 pass, or 5:02 exchange 3")
        hours, minutes, seconds, is_pass, count = match.groups()
        time = 3600.0 * int(hours or 0) + 60 * int(minutes) + int(seconds)
        turns.append(EnteredTurn(time, 0 if is_pass else int(count)))
    return tuple(sorted(turns, key=lambda turn: turn.time))


@dataclass(frozen=True, slots=True)
class VideoResult:
    """The game of a video: its last snapshot, the time (s) at which each turn appeared, and problems as sentences.

    A turn that is in doubt is `provisional` in the snapshot, and its `doubtful` squares are those of the question about
    it.
    """

    state: TableSnapshot
    times: tuple[float, ...]
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Problem:
    """A problem as a sentence. If it is a question that a later reading may answer, `question` is its number."""

    text: str
    question: int | None = None


def replay_video(
    frames: Iterable[VideoFrame],
    reader: PhotoReader,
    started: GameStarted,
    words: WordList | None,
    entered: Sequence[EnteredTurn] = (),
) -> VideoResult:
    """Find and score the turns in the frames of a video.

    `entered` are the passes and exchanges, which the frames do not show. Exceptions of `frames` are passed on.
    """
    replay = _VideoReplay(reader, started, words, entered)
    for frame in frames:
        replay.add_frame(frame)
    return replay.finish()


class _VideoReplay:
    """A replay in progress: the game so far, the finder of turns, and the problems."""

    def __init__(
        self, reader: PhotoReader, started: GameStarted, words: WordList | None, entered: Sequence[EnteredTurn]
    ) -> None:
        self._camera = BoardCamera(FolderCamera(()), reader)
        self._detector = RestDetector(MIN_REST_S)
        self._finder = TurnFinder()
        self._context = TurnContext(Ledger(started), words)
        self._evidence = TableEvidence()
        self._entered = list(entered)
        self._readings: list[BoardReading] = []
        self._next_reading = 0.0
        self._now = 0.0
        self._times: list[float] = []
        self._problems: list[_Problem] = []

    def add_frame(self, frame: VideoFrame) -> None:
        """Detect motion in a frame, read the board if it has come to rest, and record a turn that has ended."""
        self._now = frame.time
        while self._entered and self._entered[0].time <= frame.time:
            self._record_entered(self._entered.pop(0))
        is_at_rest = self._detector.update(frame.image, frame.time)
        since = frame.time - self._detector.still_s
        if self._detector.still_s == 0:
            self._finder.add_motion()
            self._readings, self._next_reading = [], 0.0
        elif is_at_rest and self._needs_reading():
            self._read(frame, since)
        elif is_at_rest:
            self._finder.add_rest(since)
        if (found := self._finder.check(frame.time)) is not None:
            self._record(found)

    def finish(self) -> VideoResult:
        """Record the play at the end of the video, and return the game."""
        if (found := self._finder.take()) is not None:
            self._record(found)
        for turn in self._entered:
            self._record_entered(turn)
        self._report_pause(self._now)
        if self._finder.unexplained_question:
            self._problems.append(_Problem(f"{format_time(self._now)}: {self._finder.unexplained_question}"))
        open_questions = {entry.number for entry in find_open_entries(self._ledger)}
        problems = (problem.text for problem in self._problems if problem.question in (None, *open_questions))
        return VideoResult(self._build_snapshot(), tuple(self._times), tuple(problems))

    def _build_snapshot(self) -> TableSnapshot:
        """Return the snapshot of the game, with the squares of open questions marked as doubtful in their turns."""
        game, asked = self._ledger.game, find_provisional_turns(self._ledger)
        state = build_snapshot(game, self._context.words, asked)
        squares = {
            number: (entry.doubt and entry.doubt.squares) or [square for square, _ in game.turns[number].placements]
            for number, entry in asked.items()
        }
        turns = (
            replace(view, doubtful=tuple(map(square_name, squares[n]))) if n in squares else view
            for n, view in enumerate(state.turns)
        )
        return replace(state, turns=tuple(turns))

    def _needs_reading(self) -> bool:
        pending = self._finder.pending
        is_certain = pending is not None and pending.is_certain
        is_due = self._now >= self._next_reading
        return is_due and (not self._readings or (not is_certain and len(self._readings) < MAX_READINGS))

    def _read(self, frame: VideoFrame, since: float) -> None:
        """Read the board in a frame, and record the turns that the reading shows.

        The board has been at rest since `since` (s). The reading is merged with the earlier readings since that time.
        """
        reading = self._camera.read_board(frame.image, self._ledger.game.tiles.letters)
        self._next_reading = frame.time + READING_INTERVAL_S
        if reading.board is None:
            return
        self._camera.confirm_location(reading)
        self._readings.append(reading.board)
        merged = merge_readings(self._readings)
        self._continue_with(settle_questions(self._ledger, merged, self._context.reading_history), frame.time)
        while (found := self._finder.add_reading(merged, self._context, since)) is not None:
            self._record(found)

    @property
    def _ledger(self) -> Ledger:
        return self._context.ledger

    def _record(self, found: FoundTurn) -> None:
        """Record a turn that was found, with its question: no player answers it, but a later reading may."""
        decision = found.decision
        is_asked = decision.open_question is not None and not found.is_certain
        asked = decision.open_question if is_asked and decision.events else None
        number = len(self._ledger.entries) + 1
        decision, before = replace(decision, open_question=asked), self._ledger.game
        if not self._push(decision, found.time, found.reading):
            return
        self._evidence = add_evidence(self._evidence, before, decision, found.reading, found.history)
        questions = make_question_history(self._ledger, self._evidence, frozenset())
        self._context = replace(self._context, reading_history=found.history, question_history=questions)
        if found.question:
            text = f"{format_time(found.time)}: {found.question}"
            self._problems.append(_Problem(text, number if asked is not None else None))

    def _record_entered(self, turn: EnteredTurn) -> None:
        """Record a pass or exchange from the list. The pending play is recorded first, because it was placed before."""
        if (found := self._finder.take()) is not None:
            self._record(found)
        self._push(Decision((turn.make_event(self._ledger.game.to_move),)), turn.time, None)

    def _push(self, decision: Decision, time: float, reading: BoardReading | None) -> bool:
        """Record the decision about a turn; if the rules do not allow it, add a problem and return False."""
        ledger, words = self._ledger, find_deciding_words(self._context.words)
        try:
            record = make_record(ledger.game, decision, Source.AUTOMATIC, None, reading)
            ledger, _ = add_record(ledger, record, words, group=ledger.next_group)
        except (RulesError, NotationError) as error:
            self._problems.append(_Problem(f"{format_time(time)}: {error}"))
            return False
        self._report_pause(time)
        self._continue_with(ledger, time)
        return True

    def _continue_with(self, ledger: Ledger, time: float) -> None:
        """Continue with `ledger`. Its new turns appeared at `time` (s)."""
        count = len(ledger.game.turns)
        self._times = [*self._times, *[time] * (count - len(self._times))][:count]
        questions = make_question_history(ledger, self._evidence, frozenset())
        self._context = replace(self._context, ledger=ledger, question_history=questions)

    def _report_pause(self, until: float) -> None:
        """Add a problem if there was no turn for a long time before `until` (s): a pass may be missing."""
        before = self._times[-1] if self._times else 0.0
        if until - before > LONG_PAUSE_S:
            span = f"from {format_time(before)} to {format_time(until)}"
            self._problems.append(_Problem(f"no play {span}: give a pass or an exchange with --turns"))


def format_time(seconds: float) -> str:
    """Return a time of a video, in seconds, as hours, minutes and seconds.

    >>> format_time(3902.4)
    '1:05:02'
    """
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
