"""Score rendered games from videos, without a button, and count the turns that are found.

    python -m tests.system.replay_videos --games 10 --gcg DIR --out DIR
    python -m tests.system.replay_videos --games 10 --gcg DIR --live

Each video (MP4, ten frames a second) shows one recorded game: a hand over the board before each play, pauses of 6 to 40
seconds, and a bump of the camera. The board is rendered a few times for each play, and the frames are composed from
these pictures with noise of their own. Passes and exchanges come from a list, as with `tilekeeper replay --turns`.
Without --gcg, the games of the demo are used. A game ends before its first challenge. With --live, the frames go
through a camera to a session whose turns end by themselves (`table.auto`), with a clock that moves from frame to frame.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import takewhile
from pathlib import Path

import cv2
import numpy as np

from device.cameras.base import Frame
from device.capture.video_frames import VideoFrame, read_frames
from device.demo.demo_table import load_demo_games
from device.session.background.auto_turns import AutoTurnConfig
from device.session.commands.games import StartGame
from device.session.commands.turns import ExchangeTiles, PassTurn
from device.session.snapshot import TableSnapshot
from device.session.table_session import SessionConfig, TableSession
from device.session.turns.video_replay import EnteredTurn, replay_video
from device.settings import TableSettings
from device.storage.store import GameStore
from engine.board import SQUARES, Board, column_of, row_of
from engine.errors import RulesError
from engine.events import Exchanged, GameStarted, Passed, PlayMade
from engine.game import Game
from engine.gcg import Record, parse_gcg
from engine.gcg.export import build_game
from tests.support.stepped_time import SteppedTime, wait_for_readings
from tests.support.waiting import PATIENCE_S
from tests.system.night_table import SIZE, NightTable
from vision.geometry import Image
from vision.recognition.reader import BoardReader
from vision.rendering.simulated_table import EDITIONS, Hands

FRAMES_PER_S = 10
HAND_FRAMES = 4
"""Frames of each picture with a hand; there are four such pictures before a play comes to rest."""
PAUSES_S = (6.0, 8.0, 12.0, 40.0)
NOISE_SHEETS = 5
MIN_TURNS = 8


@dataclass(frozen=True, slots=True)
class VideoScore:
    """Result of one video: its turns, those found with the right player and score, false turns, and equal totals."""

    turns: int
    right: int
    false: int
    has_right_totals: bool


def load_games(folder: Path | None) -> Iterator[Game]:
    """Yield the recorded English games, each up to its first challenge, if they have `MIN_TURNS` turns until then."""
    records = load_demo_games().values() if folder is None else map(_read_record, sorted(folder.rglob("*.gcg")))
    for record in records:
        try:
            game = build_game(record)
        except RulesError:
            continue  # the record contradicts itself
        turns = [*takewhile(lambda event: isinstance(event, PlayMade | Passed | Exchanged), game.events)]
        if game.tiles.name == "en" and len(turns) >= MIN_TURNS:
            yield Game.begin(game.start_event).push(*turns)


def _read_record(path: Path) -> Record:
    return parse_gcg(path.read_bytes())


class VideoMaker:
    """Writes the video of a game frame by frame."""

    def __init__(self, path: Path, seed: int) -> None:
        self._chance = random.Random(seed)
        noise = np.random.default_rng(seed)
        self._sheets = [noise.normal(0, 2, (SIZE[1], SIZE[0], 3)).astype(np.int16) for _ in range(NOISE_SHEETS)]
        self._table = NightTable(seed, sorted(EDITIONS)[seed % len(EDITIONS)], {})
        self._writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"mp4v"), FRAMES_PER_S, SIZE)
        self.frames = 0

    def write_game(self, game: Game) -> tuple[EnteredTurn, ...]:
        """Write the video; return the turns of the game that are not visible."""
        self._table = NightTable(self._chance.randrange(1000), self._chance.choice(sorted(EDITIONS)), game.tiles.values)
        bump = self._chance.randrange(2, len(game.turns))
        entered = []
        self._write(self._table.photograph().image, 2.0)
        for number, turn in enumerate(game.turns):
            event = game.events[number]
            if isinstance(event, PlayMade):
                self._write_hands()
                self._lay(turn.board)
                self._write_hands()
            else:
                time = self.frames / FRAMES_PER_S
                entered.append(EnteredTurn(time, event.count if isinstance(event, Exchanged) else 0))
            if number == bump:
                self._table.move(turn=0.4, across=0.004)
            self._write(self._table.photograph().image, self._chance.choice(PAUSES_S))
        self._writer.release()
        return tuple(entered)

    def _lay(self, board: Board) -> None:
        tiles = {s: tile.face for s in SQUARES if (tile := board[s]) is not None}
        self._table.lay_tiles({(row_of(square), column_of(square)): face for square, face in tiles.items()})

    def _write_hands(self) -> None:
        for _ in range(2):
            finger = (self._chance.uniform(2, 13), self._chance.uniform(2, 13))
            self._write(self._table.photograph(Hands((finger,))).image, HAND_FRAMES / FRAMES_PER_S)

    def _write(self, image: Image, seconds: float) -> None:
        for _ in range(round(seconds * FRAMES_PER_S)):
            noisy = np.clip(image + self._chance.choice(self._sheets), 0, 255)
            self._writer.write(noisy.astype(np.uint8))
            self.frames += 1


class VideoCamera:
    """A live camera that shows one frame of a video until it gets the next one."""

    is_live = True

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.image: Image = np.full((SIZE[1], SIZE[0], 3), 128, np.uint8)

    def capture_still(self) -> Frame:
        """Return the frame that is shown."""
        return Frame(self.image, self._clock())

    capture_preview = capture_still

    def close(self) -> None: ...


def play_live(
    frames: Iterable[VideoFrame], reader: BoardReader, started: GameStarted, entered: Sequence[EnteredTurn]
) -> TableSnapshot:
    """Show the frames to a session whose turns end by themselves; return its last snapshot."""
    time, left = SteppedTime(), list(entered)
    camera, auto = VideoCamera(time.clock), AutoTurnConfig(ends=True, wait_s=TableSettings().auto_seconds)
    config = SessionConfig(auto_turns=auto)
    with (
        GameStore(":memory:") as store,
        TableSession(camera, reader, store, config=config, clock=time.clock, closing=time) as session,
    ):
        session.submit(StartGame(started)).result(PATIENCE_S)
        for frame in frames:
            while left and left[0].time <= frame.time:
                turn = left.pop(0)
                session.submit(ExchangeTiles(turn.count) if turn.count else PassTurn()).result(PATIENCE_S)
            camera.image = frame.image
            time.move_to(frame.time)
            wait_for_readings(session)
        time.move_to(time.clock() + auto.wait_s + 1)
        return session.state


def measure_video(game: Game, path: Path, seed: int, reader: BoardReader, *, is_live: bool = False) -> VideoScore:
    """Write the video of a game to `path`, replay it, or play it live, and compare the result with the game."""
    entered = VideoMaker(path, seed).write_game(game)
    if is_live:
        return score_result(game, play_live(read_frames(path), reader, game.start_event, entered))
    result = replay_video(read_frames(path), reader, game.start_event, None, entered)
    for problem in result.problems:
        print(f"  {problem}", file=sys.stderr)
    return score_result(game, result.state)


def score_result(game: Game, state: TableSnapshot) -> VideoScore:
    """Compare the turns and totals of a snapshot with those of the recorded game."""
    truth = [(turn.player, turn.score) for turn in game.turns]
    found = [(turn.player, turn.score) for turn in state.turns]
    blocks = SequenceMatcher(None, truth, found, autojunk=False).get_matching_blocks()
    right = sum(block.size for block in blocks)
    totals = tuple(player.total for player in state.players)
    return VideoScore(len(truth), right, len(found) - right, totals == tuple(game.totals))


def format_scores(scores: Sequence[VideoScore]) -> str:
    """Return the result of several videos as one line."""
    turns, right, false = (sum(getattr(score, name) for score in scores) for name in ("turns", "right", "false"))
    totals = sum(score.has_right_totals for score in scores)
    return f"{right} of {turns} turns right, {false} false, {totals} of {len(scores)} totals right"


def main(argv: Sequence[str] | None = None) -> int:
    """Measure videos and print the result; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.system.replay_videos", description=str(__doc__).split("\n")[0]
    )
    parser.add_argument("--games", type=int, default=2, help="number of games (default 2)")
    parser.add_argument("--gcg", type=Path, help="folder with recorded games (default: the games of the demo)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="keep the videos there")
    parser.add_argument("--live", action="store_true", help="play the videos live, with table.auto")
    args = parser.parse_args(argv)
    reader, scores = BoardReader(), []
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.out or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for number, game in zip(range(args.games), load_games(args.gcg), strict=False):
            seed = args.seed + number
            scores.append(measure_video(game, folder / f"game-{seed}.mp4", seed, reader, is_live=args.live))
            print(f"game {seed}: {format_scores(scores[-1:])}", flush=True)
    print(format_scores(scores))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
