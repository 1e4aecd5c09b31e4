"""All commands in any order: no errors, the scores of a simple model, undo and redo, the same game in the store.

The model knows what counts of each entry from the start, so it has no undo and no late answers. It adds the points up
on paper: letters, premiums, words, turns. Answers are for the open question, or for an earlier one, which is refused.

`python -m tests.device.session.test_any_order 2000` tries so many sequences of up to 30 commands, and prints how often
each command was carried out or refused; a command that never succeeded is a failure. A second number is the seed.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from device.cameras.phone import PhoneCamera
from device.capture.motion import RestScene
from device.panel.buttons import HOLD_S, Button, Gesture, GestureKind
from device.panel.panel import Elapsed, choose_response
from device.session.commands import COMMAND_TABLE
from device.session.commands.answers import (
    AnswerDeferred,
    AnswerQuestion,
    ChooseNextAnswer,
    ConfirmExchange,
    DeferQuestion,
    ReadAgain,
    ReadAgainWithPicture,
    RecallQuestion,
)
from device.session.commands.base import QuestionCommand, TableCommand
from device.session.commands.challenges import ChallengePlay, DecideChallenge
from device.session.commands.corrections import CorrectSquare, NameBlank, RenamePlayer, RevealRack, SkipRacks
from device.session.commands.games import (
    DrawFirst,
    EndGame,
    EndPause,
    EnterPosition,
    Pause,
    PlayAgain,
    Redo,
    ResumeGame,
    StartClock,
    StartGame,
    Undo,
)
from device.session.commands.turn_corrections import CorrectTurn, FillTurns, InsertTurn
from device.session.commands.turns import EndFoundTurn, EndTurn, EndTurnWithPicture, EnterBoard, ExchangeTiles, PassTurn
from device.session.messages import CommandRefusedError, Question
from device.session.snapshot import Phase as TablePhase
from device.session.snapshot import TableSnapshot, TurnView
from device.session.table_session import TableSession
from device.session.turns.turn_capture import capture_in_advance
from device.storage.game_log import GameLog
from device.storage.store import GameStore
from engine.board import EMPTY_BOARD, SQUARES, Square, column_of, parse_square, row_of, square_name
from engine.events import GameStarted, PlayMade, PositionEntered
from engine.game import Game
from engine.ledger import Answered, Entry, Ledger, Note, Redone, Undone, derive
from engine.reading import BOARD_SIZE, BoardReading
from engine.rules import STANDARD_RULES, ChallengeRule
from engine.state import TurnKind
from engine.tiles import Tile
from tests.support.ledger_writer import find_item
from tests.support.play_at_random import noisy, random_game, random_play
from tests.support.text_table import TextTable
from tests.support.waiting import PATIENCE_S

FEW_EVENINGS, EVENINGS, STEPS = 4, 80, 30
SEEDS = st.integers(0, 2**32)
NUMBERS = st.integers(0, 5)
TURN_COMMANDS = (
    *(CorrectTurn(1, kind=kind, count=2) for kind in ("none", "pass", "exchange")),
    CorrectTurn(1, score=33),
    CorrectTurn(1, player=1),
    CorrectTurn(1, at="8F", word="HxRN"),
    InsertTurn(1, kind="pass", score=4),
    InsertTurn(1, kind="exchange", count=3, player=0),
    InsertTurn(1, at="8F", word="H?RN"),
    InsertTurn(1, kind="challenge", player=0),
    InsertTurn(1, kind="penalty", player=1, score=-5),
)
"""Commands about a turn; the number is that of any turn."""
QUESTION_COMMANDS = (
    *(Undo(), DeferQuestion(), ReadAgain(), RecallQuestion(), ChooseNextAnswer(), ConfirmExchange()),
    *(AnswerQuestion(number) for number in range(4)),
)
LATE_ANSWERS = tuple(AnswerDeferred(question, answer) for question in (1, 2) for answer in range(3))
PLAIN_COMMANDS = (
    *(PassTurn(), ExchangeTiles(3), ChallengePlay(), DecideChallenge(upheld=True), DecideChallenge(upheld=False)),
    DecideChallenge(upheld=True, player=2),
    *(Redo(), Pause(), EndPause(), EndGame(), SkipRacks(), RenamePlayer(1, "Zoë")),
)
STARTED = GameStarted(("Dora", "Emil"), STANDARD_RULES, lexicon="half")
GAME_COMMANDS = (
    *(StartGame(STARTED), StartGame(replace(STARTED, draw=True)), PlayAgain(STARTED), ResumeGame()),
    StartClock(STARTED.players),
)
"""Commands that leave the game."""
COMMANDS_WITH_RULES = (
    *(EndTurn, EndTurnWithPicture, EndFoundTurn, ReadAgainWithPicture, EnterBoard, EnterPosition),
    *(CorrectSquare, NameBlank, RevealRack, DrawFirst, FillTurns),
)
"""Commands that a rule of their own gives, because their arguments depend on the game."""


class Words:
    """A word list with about half of all words."""

    def __contains__(self, word: str, /) -> bool:
        return sum(map(ord, word)) % 2 == 0


def list_questions(state: TableSnapshot) -> set[Question]:
    """Return the question that is shown and those that the players answer later."""
    shown = {state.question} if state.question else set()
    return shown | {deferred.question for deferred in state.open_questions}


def list_known_entries(ledger: Ledger) -> Iterator[Entry]:
    """Yield the entries of a ledger as if it had been known at once what counts, without undo and answers."""
    undone, chosen = set[int](), dict[int, int]()
    for entry in ledger.entries:
        for note in entry.notes:
            if isinstance(note, Undone):
                undone.add(note.group)
            elif isinstance(note, Redone):
                undone.remove(note.group)
    kept = [entry for entry in ledger.entries if entry.group not in undone]
    for entry in kept:
        chosen |= {note.of: note.chosen for note in entry.notes if isinstance(note, Answered)}
    for entry in kept:
        facts = tuple(tuple(step for step in steps if not isinstance(step, Note)) for steps in entry.alternatives)
        yield replace(entry, alternatives=facts, chosen=chosen.get(entry.number, entry.chosen), doubt=None)


def add_up_play(turn: TurnView, board: Mapping[Square, str], state: TableSnapshot) -> int:
    """Return the points of a play on a board of symbols (small letter or `?`: a blank), counted word by word."""
    new = {parse_square(name): symbol for name, symbol in turn.tiles}
    after, words = {**board, **new}, set[tuple[Square, ...]]()
    for square in new:
        row, column = row_of(square), column_of(square)
        for line in (SQUARES[row * BOARD_SIZE : (row + 1) * BOARD_SIZE], SQUARES[column::BOARD_SIZE]):
            start = end = line.index(square)
            while start and line[start - 1] in after:
                start -= 1
            while end + 1 < BOARD_SIZE and line[end + 1] in after:
                end += 1
            words |= {tuple(line[start : end + 1])} if end > start else set()
    total = 50 if len(new) == 7 else 0
    for word in words:
        points, factor = 0, 1
        for square in word:
            premium = state.board.premiums[square] if square in new else ""
            points += state.tiles.values.get(after[square], 0) * {"2L": 2, "3L": 3}.get(premium, 1)
            factor *= {"2W": 2, "3W": 3}.get(premium, 1)
        total += points * factor
    return total


class AnyOrder(RuleBasedStateMachine):
    """A table at which players press, answer, correct, challenge and restart in any order."""

    given: ClassVar[Counter[tuple[str, str]]] = Counter()
    """How often commands of each class were carried out and refused, in all sequences."""
    sequences = 0

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.store = GameStore(":memory:", clock=lambda: 0.0)
        self.text = TextTable()
        self.now = 0.0
        self.has_phone = False
        self.session = self.open_session()
        self.board: dict[Square, Tile] = {}
        self.questions, self.resumed_at = [0], 0

    def open_session(self) -> TableSession:
        camera = PhoneCamera() if self.has_phone else self.text
        return TableSession(camera, self.text, self.store, Words(), clock=lambda: self.now)

    def teardown(self) -> None:
        AnyOrder.sequences += 1
        self.session.close()
        self.store.close()
        self.folder.cleanup()

    @property
    def game(self) -> Game:
        return self.session._controller.game

    def submit(self, command: TableCommand, seat: int | None = None) -> TableSnapshot | None:
        self.now += 10.0
        try:
            state = self.session.submit(command, None, seat).result(PATIENCE_S)
        except CommandRefusedError:
            self.given[type(command).__name__, "refused"] += 1
            return None
        self.given[type(command).__name__, "done"] += 1
        assert "failed" not in {notice.key for notice in state.notices}
        self.questions.append(state.question.id if state.question else 0)
        return state

    @initialize(
        players=st.integers(2, 3),
        challenge=st.sampled_from(ChallengeRule),
        minutes=st.integers(0, 1),
        has_phone=st.sampled_from([False, False, False, True]),
    )
    def start(self, players: int, challenge: ChallengeRule, minutes: int, has_phone: bool) -> None:
        self.session.close()
        self.has_phone = has_phone
        self.session = self.open_session()
        rules = replace(STANDARD_RULES, challenge=challenge, challenge_points=5, clock_seconds=60 * minutes)
        self.submit(StartGame(GameStarted(("Anna", "Ben", "Cem")[:players], rules, lexicon="half")))

    @rule(seed=SEEDS, is_clear=st.booleans(), seat=st.none() | st.integers(0, 2))
    def play(self, seed: int, is_clear: bool, seat: int | None) -> None:
        rng = random.Random(seed)
        found = random_play(self.game, rng, 5)
        self.board = {square: self.game.board.tile(square) for square in self.game.board.occupied_squares()}
        self.board |= dict(found.tiles) if found else {}
        self.press(rng, is_clear, seat)

    @rule(seed=SEEDS, count=st.sampled_from([0, 1, 3, 99]))
    def take_tiles(self, seed: int, count: int) -> None:
        for square in list(self.board)[-count:] if count else ():
            del self.board[square]
        self.press(random.Random(seed), True, None)

    @rule()
    def press_without_new_tiles(self) -> None:
        self.board = {square: self.game.board.tile(square) for square in self.game.board.occupied_squares()}
        self.press(random.Random(), True, None)

    @rule(button=st.sampled_from(Button), is_long=st.booleans())
    def use_panel(self, button: Button, is_long: bool) -> None:
        held = GestureKind.HOLD if is_long else GestureKind.TAP
        kind = held if button in HOLD_S else GestureKind.PRESS
        response = choose_response(Gesture(button, kind, self.now), self.session.state, Elapsed())
        if isinstance(response, TableCommand):
            self.submit(response, button.player)

    def press(self, rng: random.Random, is_clear: bool, seat: int | None) -> None:
        board = EMPTY_BOARD.with_tiles(self.board)
        symbols = "".join(board.symbols())
        rows = tuple(symbols[start : start + 15] for start in range(0, len(SQUARES), 15))
        self.text.board = BoardReading.from_rows(rows) if is_clear else noisy(board, rng)
        self.submit(EndTurnWithPicture(self.text.capture_still().image) if self.has_phone else EndTurn(), seat)

    @rule(is_answer=st.booleans())
    def send_picture(self, is_answer: bool) -> None:
        picture = self.text.capture_still().image
        self.submit(ReadAgainWithPicture(picture) if is_answer else EndTurnWithPicture(picture))

    @rule(seed=SEEDS)
    def find_turn(self, seed: int) -> None:
        if (found := random_play(self.game, random.Random(seed), 5)) is not None:
            self.text.board = BoardReading.from_symbols(found.apply_to(self.game.board).symbols())
            still, preview = self.text.capture_still(), self.text.capture_still().image
            reading = self.session._board_camera.read_in_advance(RestScene(still, preview, preview), ("A",))
            assert reading is not None
            self.submit(EndFoundTurn(capture_in_advance(reading, self.session._controller.turn_context)))

    @rule(seed=SEEDS)
    def enter_board(self, seed: int) -> None:
        if (found := random_play(self.game, random.Random(seed), 5)) is not None:
            self.submit(EnterBoard(found.apply_to(self.game.board).rows(self.game.tiles)))

    @rule(seed=SEEDS, player=st.none() | st.integers(0, 2))
    def enter_position(self, seed: int, player: int | None) -> None:
        if not self.game.turns:
            rows = random_game(random.Random(seed), 3).board.rows(self.game.tiles)
            self.submit(EnterPosition(rows, (20, 30, 40)[: len(self.game.players)], player))

    @rule(seed=SEEDS)
    def draw(self, seed: int) -> None:
        seats, rng = range(len(self.game.players)), random.Random(seed)
        drawing = self.game.drawing or seats
        self.submit(DrawFirst(tuple(rng.choice("ABE?") if seat in drawing else "" for seat in seats)))

    @precondition(lambda self: self.game.turns)
    @rule(command=st.sampled_from(GAME_COMMANDS))
    def leave_game(self, command: TableCommand) -> None:
        self.submit(command)

    @rule(command=st.sampled_from(PLAIN_COMMANDS))
    def give(self, command: TableCommand) -> None:
        self.submit(command)

    @rule()
    def pause_or_go_on(self) -> None:
        self.submit(EndPause() if self.session.state.phase is TablePhase.PAUSED else Pause())

    @rule(command=st.sampled_from((*QUESTION_COMMANDS, *LATE_ANSWERS)))
    def answer(self, command: TableCommand) -> None:
        self.submit(command)

    @precondition(lambda self: self.session.state.question is not None)
    @rule(number=NUMBERS)
    def answer_the_open_question(self, number: int) -> None:
        question = self.session.state.question
        assert question is not None
        self.submit(AnswerQuestion(number % len(question.answers), question_id=question.id))

    @precondition(lambda self: self.session.state.question is not None)
    @rule()
    def read_again(self) -> None:
        picture = self.text.capture_still().image
        self.submit(ReadAgainWithPicture(picture) if self.has_phone else ReadAgain())

    @precondition(lambda self: self.session.state.open_questions)
    @rule(number=NUMBERS, answer=NUMBERS)
    def answer_later(self, number: int, answer: int) -> None:
        deferred = self.session.state.open_questions
        chosen = deferred[number % len(deferred)]
        self.submit(AnswerDeferred(chosen.number, answer % len(chosen.question.answers)))

    @rule(command=st.sampled_from(QUESTION_COMMANDS), age=st.integers(0, 3))
    def answer_a_question_that_was_seen(self, command: QuestionCommand, age: int) -> None:
        seen, before = self.questions[-1 - age :][0], self.session.state
        is_open = seen == (before.question.id if before.question else 0)
        after = self.submit(msgspec.structs.replace(command, question_id=seen))
        assert is_open or (after is None and self.session.state == before)

    @rule(command=st.sampled_from(TURN_COMMANDS), number=NUMBERS, seat=st.none() | st.integers(0, 1))
    def enter_turn(self, command: CorrectTurn | InsertTurn, number: int, seat: int | None) -> None:
        number = max(1, len(self.game.turns) + 1 - number)
        fields = {name: getattr(command, name) for name in command.__struct_fields__}
        self.submit(type(command)(**fields | {"number": number}), seat)

    @rule(seed=SEEDS)
    def fill_turns(self, seed: int) -> None:
        game = random_game(random.Random(seed), 3, Game.start(self.game.players))
        self.submit(FillTurns(tuple((PlayMade(turn.player, turn.play), None) for turn in game.turns if turn.play)))

    @rule(seed=SEEDS, symbol=st.sampled_from([".", "E", "e", "?", "Z"]))
    def correct_square(self, seed: int, symbol: str) -> None:
        squares = self.game.board.occupied_squares() or SQUARES
        self.submit(CorrectSquare(square_name(random.Random(seed).choice(squares)), symbol))

    @rule(seed=SEEDS, letter=st.sampled_from("EZ"))
    def name_blank(self, seed: int, letter: str) -> None:
        blanks = [square for square in SQUARES if (tile := self.game.board[square]) and tile.is_blank]
        self.submit(NameBlank(square_name(random.Random(seed).choice(blanks or SQUARES)), letter))

    @rule(seed=SEEDS, player=st.integers(0, 2))
    def reveal_rack(self, seed: int, player: int) -> None:
        left = sorted(self.game.unseen.elements())
        self.submit(RevealRack(player, "".join(random.Random(seed).sample(left, min(7, len(left))))))

    @rule()
    def undo_and_redo(self) -> None:
        self.submit(AnswerQuestion(0))  # undo closes a question
        game, before = self.game, self.session.state
        if before.question is None and self.session._controller.log.can_undo and self.submit(Undo()) is not None:
            after = self.submit(Redo())
            assert after is not None and self.game == game and self.game.state == game.state
            assert (after.turns, after.open_questions, after.undo) == (before.turns, before.open_questions, before.undo)

    @precondition(lambda self: not self.game.is_over and len(self.questions) > self.resumed_at)
    @rule(is_power_cut=st.booleans())
    def restart(self, is_power_cut: bool) -> None:
        before = self.session.state
        copy = Path(self.folder.name) / f"{len(self.questions)}.db"
        if is_power_cut:
            self.store.copy_to(copy)
        self.session.close()
        if is_power_cut:
            self.store.close()
            self.store = GameStore(copy, clock=lambda: 0.0)
        self.session = self.open_session()
        self.check_resumed_state(before)
        self.resumed_at = len(self.questions)

    def check_resumed_state(self, before: TableSnapshot) -> None:
        after = self.submit(ResumeGame())
        assert after is not None
        assert (after.moment, after.players, after.board) == (before.moment, before.players, before.board)
        assert after.turns == before.turns
        assert list_questions(after) == list_questions(before)

    @invariant()
    def game_is_that_of_what_counts(self) -> None:
        ledger = self.session._controller.ledger
        known = derive(ledger.setup, list_known_entries(ledger))
        assert known.items == self.game.items and known.state == self.game.state
        assert tuple(player.name for player in self.session.state.players) == known.players

    @invariant()
    def totals_follow_from_the_turns(self) -> None:
        """Check the snapshot against the points and the board of a score sheet on paper."""
        state, board, withdrawn = self.session.state, dict[Square, str](), Counter[int]()
        boards, totals = [board], [0] * len(state.players)
        for number, turn in enumerate(state.turns, 1):
            item = find_item(self.game.items, self.game.turns[number - 1].ref)
            is_corrected = item is not None and bool(item.scores)
            board = dict(board)
            match turn.kind:
                case TurnKind.POSITION:
                    assert item is not None and isinstance(item.act, PositionEntered)
                    board = {square: state.tiles.text(tile) for square, tile in item.act.board}
                case TurnKind.PLAY:
                    assert is_corrected or turn.problems or turn.score == add_up_play(turn, board, state)
                    board |= {parse_square(name): symbol for name, symbol in turn.tiles}
                case TurnKind.WITHDRAWN:
                    assert turn.target is not None
                    target, before = state.turns[turn.target - 1], boards[turn.target - 1]
                    assert is_corrected or turn.score == -target.score
                    withdrawn[turn.target] += 1
                    for square in (parse_square(name) for name, _ in target.tiles):
                        board.pop(square, None)
                        board |= {square: before[square]} if square in before else {}
                case TurnKind.PASS | TurnKind.EXCHANGE:
                    assert is_corrected or turn.score == 0
            boards.append(board)
            totals[turn.player] += turn.score
            assert (turn.number, turn.total) == (number, totals[turn.player])
        assert withdrawn == {turn.number: 1 for turn in state.turns if not turn.stands}
        assert [player.total for player in state.players] == totals
        shown = {square: tile for square, tile in enumerate(state.board.tiles) if tile is not None}
        assert board == {square: tile.letter.lower() if tile.blank else tile.letter for square, tile in shown.items()}

    @invariant()
    def tiles_are_those_of_the_set(self) -> None:
        game = self.game
        if not any(turn.status for turn in game.turns):
            assert sum(game.state.rack_counts) + game.bag_count == game.unseen.total()
        racks = [turn.tiles for turn in game.turns if turn.kind is TurnKind.ENDRACK and turn.score <= 0]
        assert not Counter(tile for rack in racks for tile in rack) - game.unseen

    @invariant()
    def store_has_the_same_game(self) -> None:
        log = self.session._controller.log
        stored = GameLog.load(self.store, log.number)
        assert stored is not None and stored.ledger == log.ledger and stored.game.state == log.game.state


@pytest.mark.parametrize("evenings", [FEW_EVENINGS, pytest.param(EVENINGS, marks=pytest.mark.slow)])
def test_commands_in_any_order(evenings: int) -> None:
    chosen = settings(max_examples=evenings, stateful_step_count=STEPS, deadline=None, derandomize=True)
    run_state_machine_as_test(AnyOrder, settings=chosen)  # type: ignore[no-untyped-call]


def test_every_command_is_given() -> None:
    samples = (*PLAIN_COMMANDS, *QUESTION_COMMANDS, *LATE_ANSWERS, *TURN_COMMANDS, *GAME_COMMANDS)
    assert {*map(type, samples), *COMMANDS_WITH_RULES} == set(COMMAND_TABLE)


def main(count: int, first: int = 0) -> int:
    """Try `count` sequences from the seed `first`, print how often each command was given, and return the exit status.

    A sequence that fails is printed by Hypothesis.
    """
    phases, unhurried = (Phase.generate, Phase.shrink), list(HealthCheck)
    chosen = settings(
        max_examples=count,
        stateful_step_count=STEPS,
        deadline=None,
        database=None,
        phases=phases,
        suppress_health_check=unhurried,
    )
    try:
        run_state_machine_as_test(seed(first)(AnyOrder), settings=chosen)  # type: ignore[no-untyped-call]
    finally:
        print(f"{AnyOrder.sequences} sequences, {AnyOrder.given.total()} commands", flush=True)
        for command in COMMAND_TABLE:
            print(
                f"{command.__name__}:",
                *(f"{AnyOrder.given[command.__name__, how]} {how}" for how in ("done", "refused")),
            )
    return int(any(not AnyOrder.given[command.__name__, "done"] for command in COMMAND_TABLE))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
