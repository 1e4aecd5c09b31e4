"""Measure what is recorded if a reading of a real game is disturbed.

    python -m tests.system.disturb_readings --games DIR --positions 300 --json FILE
    python -m tests.system.disturb_readings --rows new-letter-wrong-97,noise --answers none --no-words
    python -m tests.system.disturb_readings --rows clear-games

A row is a kind of disturbance (`tests.support.disturbed_readings.ROWS`). At each position, a random turn of a recorded
game with one good reading before it, the disturbed reading is inferred, decided and recorded as the session does it
with a camera that takes one picture; then come three turns with good readings. Players answer the questions with the
truth where it is offered (`--answers truth`) or not at all. A game is right if its board, all totals and the player to
move are; a blank that is not named yet agrees with any blank.

The row `clear-games` reads whole games without a disturbance and counts the turns at which a question is asked; the row
`lifelike-games` reads them with the doubts that photographs have (`make_lifelike_reading`).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from engine.board import Board
from tests.support.disturbed_readings import (
    ROWS,
)
from tests.support.local_data import GCG_DIR
from tests.support.recorded_positions import (
    FOLLOWING_TURNS,
    MIN_OTHER_BOARD_TILES,
    Position,
    RecordedGame,
    Row,
    Scenario,
    find_words,
    load_games,
)
from tests.system.clear_games import ClearGames, Topic, measure_clear_games
from tests.system.pressed_table import (
    Course,
    Outcome,
    follow_scenario,
)

CLEAR_GAMES = "clear-games"
LIFELIKE_GAMES = "lifelike-games"
MAX_ATTEMPTS = 200
"""Positions that are tried before a row that cannot disturb them is given one position less."""
MAX_EXAMPLES = 5
"""Silently wrong positions of a row that are named in the JSON file."""


# Rows


@dataclass
class RowResult:
    """The counts of one row.

    `wrong_after_next` and `wrong_at_end` count games that are wrong then, although no question is open;
    `open_after_next` and `open_at_end` count the wrong games with an open question. `seconds` is the time of the
    processor.
    """

    name: str
    positions: int = 0
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    pass_questions: int = 0
    silent_flagged: int = 0
    wrong_after_next: int = 0
    wrong_at_end: int = 0
    open_after_next: int = 0
    open_at_end: int = 0
    wrong_at_end_unspoken: int = 0
    examples: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, course: Course, name: str) -> None:
        """Count one position, which `name` describes."""
        self.positions += 1
        self.outcomes[course.outcome] += 1
        self.pass_questions += course.is_pass_question and not course.outcome.is_right
        self.silent_flagged += course.outcome is Outcome.SILENT and course.is_flagged
        self.open_after_next += not course.is_right_after_next and course.is_open_after_next
        self.wrong_after_next += not course.is_right_after_next and not course.is_open_after_next
        self.open_at_end += not course.is_right_at_end and course.is_open_at_end
        self.wrong_at_end += not course.is_right_at_end and not course.is_open_at_end
        self.wrong_at_end_unspoken += not course.is_right_at_end and not course.has_spoken
        if course.outcome is Outcome.SILENT and len(self.examples) < MAX_EXAMPLES:
            self.examples.append(f"{name}: {course.record}")

    def to_json(self) -> dict[str, Any]:
        """Return the counts as plain data."""
        return {
            "row": self.name,
            "positions": self.positions,
            "outcomes": {str(outcome): self.outcomes[outcome] for outcome in Outcome},
            "only_pass_or_exchange_asked": self.pass_questions,
            "silent_flagged_by_words": self.silent_flagged,
            "wrong_after_next": self.wrong_after_next,
            "wrong_for_good": self.wrong_at_end,
            "open_after_next": self.open_after_next,
            "open_at_end": self.open_at_end,
            "wrong_for_good_without_a_word": self.wrong_at_end_unspoken,
            "silently_wrong_examples": self.examples,
            "seconds": round(self.seconds, 1),
        }


class Sampler:
    """Chooses positions of recorded games; the same seed and row give the same positions."""

    def __init__(self, games: Sequence[RecordedGame], seed: int) -> None:
        self._games = games
        self._seed = seed
        self._turns: dict[tuple[int, int], list[int]] = {}

    def draw_scenarios(self, row: Row, count: int) -> Iterable[tuple[RecordedGame, Scenario]]:
        """Yield scenarios of a row, up to `count`; fewer if the games have no more that it can disturb."""
        chance = Random(f"{self._seed}/{row.name}")
        for _ in range(count):
            for _ in range(MAX_ATTEMPTS):
                position = self._draw_position(row, chance)
                scenario = row.build(position, chance) if position else None
                if position and scenario:
                    yield position.recorded, scenario
                    break

    def _draw_position(self, row: Row, chance: Random) -> Position | None:
        index = chance.randrange(len(self._games))
        recorded = self._games[index]
        turns = self._find_turns(index, row.turns)
        if row.is_first_word:
            turns = [at for at in turns if not recorded.states[at].board]
        return Position(recorded, chance.choice(turns), self._draw_board(index, chance)) if turns else None

    def _find_turns(self, index: int, count: int) -> list[int]:
        if (index, count) not in self._turns:
            self._turns[index, count] = self._games[index].find_turns(count)
        return self._turns[index, count]

    def _draw_board(self, index: int, chance: Random) -> Board | None:
        """Return a board of another game with the same tiles."""
        tiles = self._games[index].states[0].tiles
        for _ in range(MAX_ATTEMPTS):
            other = chance.randrange(len(self._games))
            state = chance.choice(self._games[other].states)
            enough = len(state.board.occupied_squares()) >= MIN_OTHER_BOARD_TILES
            if other != index and enough and state.tiles is tiles:
                return state.board
        return None


def measure_row(
    games: Sequence[RecordedGame], row: Row, positions: int, seed: int, use_words: bool, answers_truth: bool
) -> RowResult:
    """Measure one row."""
    result, began = RowResult(row.name), time.process_time()
    for recorded, scenario in Sampler(games, seed).draw_scenarios(row, positions):
        words = find_words(recorded) if use_words else None
        course = follow_scenario(scenario, words, answers_truth)
        result.add(course, f"{recorded.name}, turn {len(scenario.start.turns) + 1}")
    result.seconds = time.process_time() - began
    return result


# Reports

_COLUMNS = (
    "row", "n", *Outcome, "of these: list lacks a word", "only pass/exchange asked", "open after next",
    "wrong after next", "open at the end", "wrong for good", "of these: without a word", "CPU s",
)  # fmt: skip


def format_table(columns: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table; zeros are left blank."""
    lines = [columns, ["---", *["---:"] * (len(columns) - 1)], *rows]
    return "\n".join(f"| {' | '.join('' if cell == 0 else str(cell) for cell in line)} |" for line in lines)


def _list_cells(result: RowResult) -> list[object]:
    return [
        result.name,
        result.positions,
        *(result.outcomes[outcome] for outcome in Outcome),
        result.silent_flagged,
        result.pass_questions,
        result.open_after_next,
        result.wrong_after_next,
        result.open_at_end,
        result.wrong_at_end,
        result.wrong_at_end_unspoken,
        round(result.seconds),
    ]


def format_clear_games(found: Mapping[str, ClearGames]) -> str:
    """Return the table of questions at the turns of undisturbed games."""
    cells = [
        [name, one.games, one.turns, one.questions.total(), *(one.questions[t] for t in Topic), one.notices, one.wrong]
        for name, one in found.items()
    ]
    return format_table(["", "games", "turns", "questions", *Topic, "notices", "wrong"], cells)


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    names = (*ROWS, CLEAR_GAMES, LIFELIKE_GAMES)
    parser = argparse.ArgumentParser(
        prog="python -m tests.system.disturb_readings", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--games", type=Path, nargs="+", default=[GCG_DIR], help="folders of GCG files")
    parser.add_argument("--positions", type=int, default=300, help="positions of each row, and games at most")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rows", default=",".join(names), help="names, with commas between them")
    parser.add_argument("--answers", choices=("truth", "none"), default="truth")
    parser.add_argument("--no-words", action="store_true", help="play without a word list")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    options = parser.parse_args(arguments)
    options.rows = options.rows.split(",")
    if unknown := set(options.rows) - set(names):
        parser.error(f"unknown rows: {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the rows that the command line names, print a table, and write the figures."""
    options = parse_arguments(arguments)
    began = time.perf_counter()
    games, unusable = load_games(options.games, options.positions, options.seed)
    if not games:
        sys.exit(f"no recorded games in {', '.join(map(str, options.games))}; --games names a folder of GCG files")
    loading_s = time.perf_counter() - began
    print(f"{len(games)} games in {loading_s:.0f} s, {unusable} files left out (unreadable or short);", end=" ")
    print(f"seed {options.seed}, answers {options.answers}, {'no words' if options.no_words else 'with words'}.\n")
    results: list[RowResult] = []
    for row in (ROWS[name] for name in options.rows if name in ROWS):
        results.append(
            measure_row(games, row, options.positions, options.seed, not options.no_words, options.answers == "truth")
        )
        print(f"{row.name}: {results[-1].seconds:.0f} s", file=sys.stderr)
    if results:
        print(format_table(_COLUMNS, map(_list_cells, results)))
    whole_games = {
        row: measure_clear_games(games, not options.no_words, row == LIFELIKE_GAMES) if row in options.rows else {}
        for row in (CLEAR_GAMES, LIFELIKE_GAMES)
    }
    for name, found in whole_games.items():
        if found:
            print("", f"{name}:", "", format_clear_games(found), sep="\n")
    if options.json:
        settings = {"positions": options.positions, "seed": options.seed, "answers": options.answers}
        data = {
            "settings": {**settings, "words": not options.no_words, "following_turns": FOLLOWING_TURNS},
            "games": len(games),
            "rows": [result.to_json() for result in results],
            **{row: {name: one.to_json() for name, one in found.items()} for row, found in whole_games.items()},
        }
        options.json.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    print(f"\n{time.perf_counter() - began:.0f} s in all")
    return 0


if __name__ == "__main__":
    sys.exit(main())
