"""Measure the speed of the engine on one core of this machine, with the games of the demo.

Processor time is measured, so that other programs have little influence.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.game import Game

REBUILT_TURNS = 25
"""Number of turns of the game for which rebuilding is measured."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    parser.add_argument(
        "--seconds", type=float, default=2.0, help="duration of each measurement in seconds (default 2)"
    )


def run(args: argparse.Namespace) -> int:
    """Measure and print the results."""
    speed = measure_engine(args.seconds)
    print(f"plays scored and validated: {speed.plays_a_second:,.0f} a second (aim 50,000)")
    print(f"a game of {REBUILT_TURNS} turns rebuilt from its events: {speed.rebuild_ms:.2f} ms (aim 5 ms)")
    print(f"a reading explained: {speed.explain_ms:.1f} ms")
    return 0


@dataclass(frozen=True, slots=True)
class EngineSpeed:
    """Speed of the engine on one core: plays per second, and milliseconds to rebuild a game and to explain a play."""

    plays_a_second: float
    rebuild_ms: float
    explain_ms: float


def measure_engine(seconds: float) -> EngineSpeed:
    """Measure each operation for a number of seconds of processor time, at least once."""
    from device.demo.demo_table import load_demo_games
    from engine.gcg import build_game

    games = [build_game(record) for record in load_demo_games().values()]
    longest = max(games, key=lambda game: len(game.turns))
    plays, score_all = _prepare_scoring(games)
    return EngineSpeed(
        plays_a_second=plays / _measure_seconds(score_all, seconds),
        rebuild_ms=1000 * _measure_seconds(_prepare_rebuild(longest), seconds),
        explain_ms=1000 * _measure_seconds(_prepare_explaining(longest), seconds),
    )


def _measure_seconds(work: Callable[[], None], seconds: float) -> float:
    began, times, took = time.process_time(), 0, 0.0
    while times == 0 or took < seconds:
        work()
        times, took = times + 1, time.process_time() - began
    return took / times


def _prepare_scoring(games: list[Game]) -> tuple[int, Callable[[], None]]:
    """Return the number of plays in the games, and a function that checks and scores all of them once."""
    from device.storage.lexicons import open_lexicon
    from engine.scoring import check_placement, score_play

    words = open_lexicon(None, "en")
    assert words is not None, "the English list is part of the program"
    plays = [(game.state.board_before(turn), turn.play, game) for game in games for turn in game.turns if turn.play]

    def score_all() -> None:
        for board, play, game in plays:
            check_placement(board, play, game.layout, game.rules)
            scored = score_play(board, play, game.layout, game.tiles, game.rules)
            all(word.word in words for word in scored.words)

    return len(plays), score_all


def _prepare_rebuild(game: Game) -> Callable[[], None]:
    """Return a function that builds the first `REBUILT_TURNS` turns of a game from their events."""
    start, events = type(game).begin(game.start_event), game.events[:REBUILT_TURNS]

    def rebuild() -> None:
        start.push(*events)

    return rebuild


def _prepare_explaining(game: Game) -> Callable[[], None]:
    """Return a function that infers a play from a clear reading: at each call, the next play of the game."""
    from engine.inference.explain import infer_play
    from engine.reading import EMPTY, BoardReading, SquareReading

    def readings() -> Iterator[tuple[Game, BoardReading]]:
        while True:
            for turn in game.turns:
                if turn.play:
                    faces = (EMPTY if tile is None else tile.face for tile in turn.board.squares)
                    yield games[turn.ref], BoardReading(tuple(SquareReading(((face, 1.0),)) for face in faces))

    games, before = {}, type(game).begin(game.start_event)
    for item in game.items:
        games[item.ref] = before
        before = before.push(item.act)
    coming = readings()

    def explain_next() -> None:
        infer_play(*next(coming))

    return explain_next
