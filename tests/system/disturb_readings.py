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
from enum import StrEnum
from functools import partial
from itertools import zip_longest
from pathlib import Path
from random import Random
from typing import Any

from device.session.messages import PASS_KEYS, OpenQuestion
from device.session.snapshot import WordList, is_listed
from device.session.turns.decision import Decision, TurnContext, decide
from engine.board import Board
from engine.errors import NotationError, RulesError
from engine.events import BlankNamed, Challenged, Exchanged, Passed, PlayMade, PlayWithdrawn
from engine.game import Game
from engine.inference.explain import infer_play, turn_text
from engine.inference.history import EMPTY_HISTORY, ReadingHistory
from engine.lexicon import load_shipped_lexicon
from engine.reading import BoardReading
from engine.validation import QuestionHistory
from engine.validation.deferred_questions import defer_question, find_open_questions, settle_questions
from tests.support.disturbed_readings import (
    FOLLOWING_TURNS,
    MIN_OTHER_BOARD_TILES,
    ROWS,
    Picture,
    Position,
    Press,
    RecordedGame,
    Row,
    Scenario,
    load_game,
    make_clear_reading,
    make_lifelike_reading,
)
from tests.support.local_data import GCG_DIR

CLEAR_GAMES = "clear-games"
LIFELIKE_GAMES = "lifelike-games"
MIN_GAME_TURNS = 8
"""Games with fewer turns are left out."""
MAX_ATTEMPTS = 200
"""Positions that are tried before a row that cannot disturb them is given one position less."""
MAX_EXAMPLES = 5
"""Silently wrong positions of a row that are named in the JSON file."""


class Outcome(StrEnum):
    """What a disturbed press came to, before a question is answered."""

    RIGHT = "right"
    RIGHT_NOTICE = "right, with a notice"
    RIGHT_ASKED = "right, but asked"
    OFFERED = "asked, truth offered"
    NOT_OFFERED = "asked, truth not offered"
    NOTICE = "wrong, notice only"
    SILENT = "silently wrong"

    @property
    def is_right(self) -> bool:
        """True if the right events were recorded."""
        return self in (Outcome.RIGHT, Outcome.RIGHT_NOTICE, Outcome.RIGHT_ASKED)


_ORDER = list(Outcome)


class PressModel:
    """What the session does at a press, without camera, store and clock (`GameController`, `TableSession._take_turn`).

    `words` is the word list in use, None if words are not checked.
    """

    def __init__(self, game: Game, words: WordList | None = None, history: ReadingHistory = EMPTY_HISTORY) -> None:
        self.game = game
        self.words = words
        self.history = history
        self.open_question: OpenQuestion | None = None
        self.has_notice = False
        self.question_history = QuestionHistory()
        self._before = game
        self._reading: BoardReading | None = None
        self._shown_warnings: set[str] = set()

    def press(self, picture: Picture) -> Decision:
        """End a turn with this picture: record the events of the decision, and keep its question.

        A question that was not answered is deferred, and the reading may settle deferred questions.
        """
        self._defer_question()
        open_before = find_open_questions(self.game)
        self.game = settle_questions(self.game, picture.reading, self.history)
        for question in {*open_before} - {*find_open_questions(self.game)}:
            self.question_history = self.question_history.without_squares(question.squares)
        self._before, self.open_question, self.has_notice = self.game, None, False
        self._reading = picture.reading
        reading = self.question_history.settle_reading(self.game, picture.reading)
        inference = infer_play(self.game, reading, self.history, self.question_history.open_squares)
        context = TurnContext(self.words, self.history, self.question_history)
        decision = decide(self.game, inference, reading, context)
        try:
            self.game = self.game.push(*decision.events)
        except (NotationError, RulesError):
            self.has_notice = True  # the session shows why the command failed, and has recorded nothing
            return decision
        self.open_question, self.history, self.question_history = (
            decision.open_question,
            inference.history,
            decision.question_history,
        )
        self.has_notice = bool(decision.notices)
        if decision.warning and (decision.warning not in self._shown_warnings or not decision.events):
            self._shown_warnings.add(decision.warning)
            self.has_notice = True
        return decision

    def _defer_question(self) -> None:
        asked = self.open_question
        if asked is not None and asked.is_deferrable:
            question = asked.make_deferred(self.game.events[len(self._before.events) :])
            self.game = self.game.push(*defer_question(self.game, question, self._reading))

    @property
    def has_open_question(self) -> bool:
        """True if a question is open, now or deferred. Questions about a pass do not count."""
        asked = self.open_question
        return bool(find_open_questions(self.game)) or (asked is not None and asked.question.key not in PASS_KEYS)

    def find_true_answer(self, truth: Game) -> int | None:
        """Return the answer of the open question that makes the game right; None if none does."""
        count = len(self.open_question.answers) if self.open_question else 0
        fitting = [number for number in range(count) if agrees(self._game_after(number), truth)]
        exact = (number for number in fitting if self._game_after(number).board == truth.board)
        return next(exact, next(iter(fitting), None))

    def answer_question(self, number: int) -> None:
        """Choose an answer of the open question."""
        if self.open_question:
            self.question_history = self.question_history.without_squares(self.open_question.question.squares)
        self.game, self.open_question = self._game_after(number), None

    def _game_after(self, number: int) -> Game:
        """Return the game after an answer; the first one leaves what is recorded."""
        asked = self.open_question
        assert asked is not None, "there is no question to answer"
        return self._before.push(*asked.answers[number]) if number else self.game


def agrees(game: Game, truth: Game) -> bool:
    """Return True if board, totals and the player to move are those of the truth."""
    return game.totals == truth.totals and game.to_move == truth.to_move and _boards_agree(game.board, truth.board)


def _boards_agree(board: Board, truth: Board) -> bool:
    return all(
        tile == other or (tile and other and tile.is_blank and other.is_blank and tile.is_unnamed)
        for tile, other in zip(board.squares, truth.squares, strict=True)
    )


# One position


@dataclass(frozen=True, slots=True)
class Course:
    """What became of one position.

    `record` is the score sheet's last line after the disturbed press. `is_pass_question` is True if its question was
    only "pass or exchange", `is_flagged` if the word list lacks a word of a play that is wrong on record. `has_spoken`
    is True if there was a question or a notice at any press.
    """

    outcome: Outcome
    record: str
    is_pass_question: bool
    is_flagged: bool
    is_right_after_next: bool
    is_right_at_end: bool
    is_open_after_next: bool
    is_open_at_end: bool
    has_spoken: bool


def follow_scenario(scenario: Scenario, words: WordList | None, answers_truth: bool) -> Course:
    """Play a scenario: one good reading of the board at the start, the disturbed presses, the good ones.

    The outcome is that of the first disturbed press that is wrong; the most troublesome one if none is.
    """
    session = PressModel(scenario.start, words, make_history(scenario.start))
    outcome, record, is_pass_question, is_flagged, has_spoken = Outcome.RIGHT, "", False, False, False
    for press in scenario.disturbed:
        session.press(press.picture)
        if outcome.is_right:
            outcome = max(outcome, classify_press(session, press.truth), key=_ORDER.index)
            record = turn_text(session.game, session.game.turns[-1]) if session.game.turns else ""
            asked = session.open_question
            is_pass_question = asked is not None and asked.question.key in PASS_KEYS
            is_flagged = not outcome.is_right and has_unlisted_word(session.game, press.truth, words)
        has_spoken |= _finish_press(session, press, answers_truth)
    rights, opens = [], []
    for press in scenario.following:
        session.press(press.picture)
        has_spoken |= _finish_press(session, press, answers_truth)
        rights.append(agrees(session.game, press.truth))
        opens.append(session.has_open_question)
    return Course(outcome, record, is_pass_question, is_flagged, rights[0], rights[-1], opens[0], opens[-1], has_spoken)


def _finish_press(session: PressModel, press: Press, answers_truth: bool) -> bool:
    """Answer the question if the truth is offered; return True if there was a question or a notice."""
    has_spoken = session.has_notice or session.open_question is not None
    answer = session.find_true_answer(press.truth) if answers_truth else None
    if answer is not None:
        session.answer_question(answer)
    return has_spoken


def make_history(game: Game) -> ReadingHistory:
    """Return what the session remembers after one good reading of the board as it is."""
    return infer_play(game, make_clear_reading(game.board)).history if game.board else EMPTY_HISTORY


def classify_press(session: PressModel, truth: Game) -> Outcome:
    """Return what the last press came to."""
    if agrees(session.game, truth):
        if session.open_question:
            return Outcome.RIGHT_ASKED
        return Outcome.RIGHT_NOTICE if session.has_notice else Outcome.RIGHT
    if session.open_question:
        return Outcome.NOT_OFFERED if session.find_true_answer(truth) is None else Outcome.OFFERED
    return Outcome.NOTICE if session.has_notice else Outcome.SILENT


def has_unlisted_word(game: Game, truth: Game, words: WordList | None) -> bool:
    """Return True if a play on record that was not made has a word that the list lacks."""
    pairs = zip_longest(game.turns, truth.turns[: len(game.turns)])
    wrong = [turn for turn, true in pairs if turn and turn.stands and (true is None or turn.play != true.play)]
    return any(is_listed(word.word, words) is False for turn in wrong for word in turn.words)


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


def find_words(recorded: RecordedGame) -> WordList | None:
    """Return the packaged word list of the game's language, None if there is none."""
    name = recorded.states[0].tiles.name
    if name not in _words:
        _words[name] = load_shipped_lexicon(name)
    return _words[name]


_words: dict[str, WordList | None] = {}


def load_games(folders: Iterable[Path], count: int, seed: int) -> tuple[list[RecordedGame], int]:
    """Return up to `count` games of all GCG files in the folders, chosen by the seed, and how many cannot be used."""
    files = sorted({file for folder in folders for file in folder.rglob("*.gcg")})
    Random(f"{seed}/games").shuffle(files)
    games: list[RecordedGame] = []
    unusable = 0
    for file in files:
        if len(games) == count:
            break
        try:
            recorded = load_game(file)
        except (NotationError, RulesError):
            recorded = None
        if recorded and recorded.find_turns(MIN_GAME_TURNS):
            games.append(recorded)
        else:
            unusable += 1
    return games, unusable


# Clear games: how often players are asked without need


class Topic(StrEnum):
    """What a question is about."""

    BLANK = "blank's letter"
    PASS = "pass or exchange"
    CHALLENGE = "challenge"
    OTHER = "other"


@dataclass
class ClearGames:
    """Questions at the turns of undisturbed games."""

    games: int = 0
    turns: int = 0
    wrong: int = 0
    notices: int = 0
    questions: Counter[Topic] = field(default_factory=Counter)

    def add(self, other: ClearGames) -> None:
        """Add the counts of other games."""
        self.games += other.games
        self.turns += other.turns
        self.wrong += other.wrong
        self.notices += other.notices
        self.questions += other.questions

    def to_json(self) -> dict[str, Any]:
        """Return the counts as plain data."""
        questions = {str(topic): self.questions[topic] for topic in Topic}
        return {
            "games": self.games,
            "turns": self.turns,
            "questions": questions,
            "notices": self.notices,
            "wrong": self.wrong,
        }


def measure_clear_games(
    games: Sequence[RecordedGame], use_words: bool, is_lifelike: bool = False
) -> dict[str, ClearGames]:
    """Count the questions over all games, and over those of which the list has every word.

    `wrong` counts the turns that are not right after the true answer, if it is offered.
    """
    found = {"all games": ClearGames(), "games with all words listed": ClearGames()}
    for recorded in games:
        words = find_words(recorded) if use_words else None
        counts = _read_clear_game(recorded, words, is_lifelike)
        found["all games"].add(counts)
        if words is not None and _has_listed_words_only(recorded, words):
            found["games with all words listed"].add(counts)
    return found


def _read_clear_game(recorded: RecordedGame, words: WordList | None, is_lifelike: bool) -> ClearGames:
    """Press after each play, exchange and pass; what the record does otherwise (challenges) is done by command."""
    counts = ClearGames(1)
    session = PressModel(recorded.states[0], words)
    for event, truth in zip(recorded.events, recorded.states[1:], strict=True):
        if isinstance(event, PlayMade | Exchanged | Passed):
            letters = truth.tiles.letters
            read = (
                partial(make_lifelike_reading, letters=letters, seed=recorded.name)
                if is_lifelike
                else make_clear_reading
            )
            session.press(Picture(read(truth.board)))
            counts.turns += 1
            counts.notices += session.has_notice
            if session.open_question:
                counts.questions[find_topic(session.open_question)] += 1
            answer = session.find_true_answer(truth)
            if answer is not None:
                session.answer_question(answer)
            counts.wrong += not agrees(session.game, truth)
        session.game = truth  # blanks are named, and what was wrong is corrected by hand
    return counts


def find_topic(asked: OpenQuestion) -> Topic:
    """Return what a question is about, by what its answers record."""
    if asked.question.key in PASS_KEYS:
        return Topic.PASS
    events = [event for answer in asked.answers for event in answer]
    if any(isinstance(event, BlankNamed) for event in events):
        return Topic.BLANK
    return Topic.CHALLENGE if any(isinstance(event, Challenged | PlayWithdrawn) for event in events) else Topic.OTHER


def _has_listed_words_only(recorded: RecordedGame, words: WordList) -> bool:
    return all(is_listed(word.word, words) for turn in recorded.states[-1].turns for word in turn.words)


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
