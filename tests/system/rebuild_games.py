"""Rebuild recorded games from their final boards and scores, and measure how often the true order is found.

The blanks of the board are unnamed, and plays that were taken back have no score. Then one mistake is made in each of
`--count` games of a kind: a wrong score, a missing turn, a tile read with another value, a tile that is not read, or a
tile read as another of the same value, which only the word list can show.
Times are seconds of the processor.

python -m tests.system.rebuild_games --gcg ../shared/gcg
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from random import Random

from device.rebuilt_game import find_unlisted_words
from engine.board import Board, Layout
from engine.errors import NotationError, RulesError
from engine.events import PlayMade
from engine.game import Game
from engine.gcg import Replay, TurnKind, parse_gcg, replay
from engine.lexicon import load_shipped_lexicon
from engine.play_orders import PlayFinder, Squares, TooManyOrdersError, find_orders, pack_squares, unpack_squares
from engine.plays import Play
from engine.rules import STANDARD_RULES
from engine.sheet_errors import Mistake, SheetError, find_sheet_errors, group_by_place
from engine.tiles import Tile, TileSet

MIN_PLAYS = 10
SCORE_SLIPS = (-50, -20, -10, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 10, 20, 50)


@dataclass(frozen=True, slots=True)
class PaperGame:
    """What is left of a game: the final board and the scores of its plays; and the true plays."""

    name: str
    board: Board
    layout: Layout
    tiles: TileSet
    points: tuple[int, ...]
    plays: tuple[Squares, ...]
    is_consistent: bool = True

    def make_finder(self) -> PlayFinder:
        """Return the finder for the final board."""
        return PlayFinder.build(self.board, self.layout, self.tiles, STANDARD_RULES)


@dataclass(frozen=True, slots=True)
class MadeMistake:
    """A game with one mistake, and a check whether a found error is this mistake."""

    game: PaperGame
    is_found: Callable[[SheetError], bool]


def load_paper_game(file: Path) -> PaperGame | None:
    """Return the game of a GCG file; None if it has too few plays, or a line that cannot be read."""
    try:
        record = parse_gcg(file.read_bytes())
        played = replay(record)
    except (NotationError, RulesError):
        return None
    plays = None if record.unread_lines else _collect_plays(played)
    if plays is None or len(plays) < MIN_PLAYS:
        return None
    tiles = {square: Tile.unnamed() if tile.is_blank else tile for play, *_ in plays for square, tile in play.tiles}
    return PaperGame(
        str(file),
        Board().with_tiles(tiles),
        played.layout,
        played.tiles,
        tuple(recorded for _, recorded, _ in plays),
        tuple(pack_squares(play.squares) for play, *_ in plays),
        all(recorded == computed for _, recorded, computed in plays),
    )


def _collect_plays(played: Replay) -> list[tuple[Play, int, int]] | None:
    """Return the plays that were not taken back, each with its recorded and its computed score."""
    plays: list[tuple[Play, int, int]] = []
    for event in played.events:
        if event.entry.kind is TurnKind.PLAY:
            if event.play is None or not event.play.tiles or event.play.rearranged or event.score is None:
                return None
            plays.append((event.play, event.entry.score, event.score))
        elif event.entry.kind is TurnKind.WITHDRAWN and plays:
            plays.pop()
    return plays


def load_paper_games(folder: Path) -> list[PaperGame]:
    """Return the different games of all GCG files in a folder, in the order of the files."""
    games = {
        (game.plays, game.points): game
        for file in sorted(folder.rglob("*.gcg"))
        if "malformed" not in file.parts and (game := load_paper_game(file))
    }
    return list(games.values())


def measure_orders(games: Sequence[PaperGame]) -> Iterator[str]:
    """Yield lines about the orders that were found, and print the games in which the true one was not."""
    fitting = [game for game in games if game.is_consistent]
    counts, questions, times = Counter[str](), Counter[int](), list[float]()
    for game in fitting:
        start = time.process_time()
        try:
            orders = find_orders(game.make_finder(), game.points)
        except TooManyOrdersError:
            yield f"  stopped: {game.name}"
            continue
        times.append(time.process_time() - start)
        counts["unique"] += orders.count == 1
        counts["at most two"] += orders.count <= 2
        asked = 0
        while (turn := orders.find_open_turn()) is not None:
            orders, asked = orders.choose_play(turn, game.plays[turn]), asked + 1
        questions[asked] += 1
        counts["found"] += list(orders) == [game.plays]
    yield f"{len(games)} games, {len(games) - len(fitting)} with a recorded score that does not fit the board"
    yield from (f"  {name}: {count} of {len(fitting)} ({count / len(fitting):.1%})" for name, count in counts.items())
    yield "  questions: " + ", ".join(f"{number}: {count} games" for number, count in sorted(questions.items()))
    yield f"  {describe_times(times)}, under 0.5 s: {sum(t < 0.5 for t in times) / len(times):.1%}"


def describe_times(times: Sequence[float]) -> str:
    """Return median, 95th percentile and maximum of times in seconds."""
    ordered = sorted(times)
    return (
        f"median {ordered[len(times) // 2]:.3f}, 95 % {ordered[len(times) * 95 // 100]:.3f}, most {ordered[-1]:.2f} s"
    )


def slip_score(game: PaperGame, rng: Random) -> MadeMistake:
    """Return the game with a wrong score."""
    turn = rng.randrange(len(game.points))
    wrong = rng.choice([score for slip in SCORE_SLIPS if (score := game.points[turn] + slip) > 0])
    points = (*game.points[:turn], wrong, *game.points[turn + 1 :])
    return MadeMistake(
        replace(game, points=points), lambda error: error.mistake is Mistake.SCORE and error.turn == turn
    )


def leave_out_turn(game: PaperGame, rng: Random) -> MadeMistake:
    """Return the game without the score of a turn."""
    turn = rng.randrange(len(game.points))
    points = game.points[:turn] + game.points[turn + 1 :]
    return MadeMistake(
        replace(game, points=points),
        lambda error: error.mistake is Mistake.TURN_MISSING and error.play == game.plays[turn],
    )


def misread_tile(game: PaperGame, rng: Random) -> MadeMistake:
    """Return the game with a tile of another value."""
    square = rng.choice(game.board.occupied_squares())
    values = game.tiles.values
    face = rng.choice([face for face in values if values[face] != values[game.board.tile(square).face]])
    tile = Tile.unnamed() if face == "?" else Tile(face)
    return MadeMistake(replace(game, board=game.board.with_tiles({square: tile})), lambda error: error.square == square)


def lose_tile(game: PaperGame, rng: Random) -> MadeMistake:
    """Return the game with a tile that was not read."""
    square = rng.choice(game.board.occupied_squares())
    return MadeMistake(replace(game, board=game.board.without_tiles([square])), lambda error: error.square == square)


MISTAKES = {
    "one wrong score": slip_score, "one missing turn": leave_out_turn,
    "one misread tile of another value": misread_tile, "one lost tile": lose_tile,
}  # fmt: skip


def measure_mistakes(games: Sequence[PaperGame], count: int, seed: int) -> Iterator[str]:
    """Yield a line about each kind of mistake."""
    for name, make_mistake in MISTAKES.items():
        rng = Random(f"{seed}/{name}")
        chosen = rng.sample(games, min(count, len(games)))
        results, times = Counter[str](), list[float]()
        for game in chosen:
            mistake = make_mistake(game, rng)
            results.update(_look_for(mistake, times))
        shares = ", ".join(f"{what} {results[what]}" for what in ("noticed", "named", "named at once", "stopped"))
        yield f"{name} in {len(chosen)} games: {shares}; {describe_times(times)}"


def measure_equal_values(games: Sequence[PaperGame], count: int, seed: int) -> Iterator[str]:
    """Yield a line about tiles that are read as others of the same value: all scores fit, so only words show them."""
    rng, results, words = Random(seed), Counter[str](), load_shipped_lexicon("en")
    assert words is not None
    chosen = rng.sample(english := [game for game in games if game.tiles.name == "en"], min(count, len(english)))
    for game in chosen:
        values = game.tiles.values
        faces = {square: game.board.tile(square).face for square in game.board.occupied_squares()}
        square, other = rng.choice(
            [(s, one) for s in faces for one in values if one != faces[s] and values[one] == values[faces[s]]]
        )
        before = find_unlisted_words(_play_again(game, game.board), words)
        after = find_unlisted_words(_play_again(game, game.board.with_tiles({square: Tile(other)})), words)
        results.update(named=len(after) > len(before), others=len(before))
    yield (
        f"one misread tile of equal value in {len(chosen)} games: {results['named']} make another word unlisted; "
        f"{results['others'] / len(chosen):.1f} words of a game are not in the word list anyway"
    )


def _play_again(game: PaperGame, board: Board) -> Game:
    """Return the game with the tiles of a final board."""
    played = Game.start(("1", "2"), tile_set=game.tiles.name, layout=game.layout.name)
    plays = (Play.from_tiles({square: board.tile(square) for square in unpack_squares(play)}) for play in game.plays)
    return played.push(*(PlayMade(None, play) for play in plays))


def _look_for(mistake: MadeMistake, times: list[float]) -> Iterator[str]:
    start = time.process_time()
    finder = mistake.game.make_finder()
    try:
        if find_orders(finder, mistake.game.points).count:
            return
        yield "noticed"
        places = group_by_place(find_sheet_errors(finder, mistake.game.tiles, mistake.game.points), finder.full)
    except TooManyOrdersError:
        yield "stopped"
        return
    times.append(time.process_time() - start)
    if any(mistake.is_found(error) for place in places[:3] for error in place):
        yield "named"
    if any(map(mistake.is_found, places[0] if places else ())):
        yield "named at once"


def main(argv: Sequence[str] | None = None) -> int:
    """Print the measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gcg", type=Path, required=True, metavar="DIR", help="folder with recorded games")
    parser.add_argument("--count", type=int, default=300, help="games for each kind of mistake (default 300)")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(argv)
    games = load_paper_games(args.gcg)
    for line in measure_orders(games):
        print(line, flush=True)
    fitting = [game for game in games if game.is_consistent]
    lines = measure_mistakes(fitting, args.count, args.seed), measure_equal_values(fitting, args.count, args.seed)
    for line in chain.from_iterable(lines):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
