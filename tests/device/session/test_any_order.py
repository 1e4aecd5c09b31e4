"""Commands in any order: no errors, totals that follow from the turns, undo and redo, the same game in the store.

Answers are for the open question, or for an earlier one, which is refused.
"""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from device.session.commands.base import QuestionCommand, TableCommand
from device.session.commands.corrections import CorrectSquare, RenamePlayer, RevealRack
from device.session.commands.games import EndGame, EndPause, Pause, Redo, ResumeGame, StartGame, Undo
from device.session.commands.questions import (
    AnswerDeferred,
    AnswerQuestion,
    ChooseNextAnswer,
    DeferQuestion,
    ReadAgain,
    RecallQuestion,
)
from device.session.commands.turn_corrections import CorrectTurn, InsertTurn
from device.session.commands.turns import ChallengePlay, DecideChallenge, EndTurn, ExchangeTiles, PassTurn
from device.session.messages import CommandRefusedError, Question
from device.session.snapshot import TableSnapshot
from device.session.table_session import TableSession
from device.storage.game_log import GameLog
from device.storage.store import GameStore
from engine.board import EMPTY_BOARD, SQUARES, Square, square_name
from engine.events import GameStarted
from engine.game import Game
from engine.items import find_item
from engine.reading import BoardReading
from engine.rules import STANDARD_RULES, ChallengeRule
from engine.scoring import score_play
from engine.state import TurnKind
from engine.tiles import Tile
from tests.support.play_at_random import noisy, random_play
from tests.support.text_table import TextTable
from tests.support.waiting import PATIENCE_S

EVENINGS, STEPS = 15, 40
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
)
"""Commands about a turn; the number is that of any turn."""
QUESTION_COMMANDS = (
    *(Undo(), DeferQuestion(), ReadAgain(), RecallQuestion(), ChooseNextAnswer()),
    *(AnswerQuestion(number) for number in range(4)),
)
PLAIN_COMMANDS = (
    *(PassTurn(), ExchangeTiles(3), ChallengePlay(), DecideChallenge(upheld=True), DecideChallenge(upheld=False)),
    *(Redo(), Pause(), EndPause(), EndGame(), RenamePlayer(1, "Zoë")),
    *QUESTION_COMMANDS,
    *(AnswerDeferred(question, answer) for question in (1, 2) for answer in range(3)),
)


class Words:
    """A word list with about half of all words."""

    def __contains__(self, word: str, /) -> bool:
        return sum(map(ord, word)) % 2 == 0


def list_questions(state: TableSnapshot) -> set[Question]:
    """Return the question that is shown and those that the players answer later."""
    shown = {state.question} if state.question else set()
    return shown | {deferred.question for deferred in state.open_questions}


class AnyOrder(RuleBasedStateMachine):
    """A table at which players press, answer, correct, challenge and restart in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.store = GameStore(":memory:", clock=lambda: 0.0)
        self.text = TextTable()
        self.now = 0.0
        self.session = self.open_session()
        self.board: dict[Square, Tile] = {}
        self.questions = [0]

    def open_session(self) -> TableSession:
        return TableSession(self.text, self.text, self.store, Words(), clock=lambda: self.now)

    def teardown(self) -> None:
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
            return None
        assert "failed" not in {notice.key for notice in state.notices}
        self.questions.append(state.question.id if state.question else 0)
        return state

    @initialize(players=st.integers(2, 3), challenge=st.sampled_from(ChallengeRule), minutes=st.integers(0, 1))
    def start(self, players: int, challenge: ChallengeRule, minutes: int) -> None:
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

    def press(self, rng: random.Random, is_clear: bool, seat: int | None) -> None:
        board = EMPTY_BOARD.with_tiles(self.board)
        symbols = "".join(board.symbols())
        rows = tuple(symbols[start : start + 15] for start in range(0, len(SQUARES), 15))
        self.text.board = BoardReading.from_rows(rows) if is_clear else noisy(board, rng)
        self.submit(EndTurn(), seat)

    @rule(command=st.sampled_from(PLAIN_COMMANDS))
    def give(self, command: TableCommand) -> None:
        self.submit(command)

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

    @rule(seed=SEEDS, symbol=st.sampled_from([".", "E", "e", "?", "Z"]))
    def correct_square(self, seed: int, symbol: str) -> None:
        squares = self.game.board.occupied_squares() or SQUARES
        self.submit(CorrectSquare(square_name(random.Random(seed).choice(squares)), symbol))

    @rule(seed=SEEDS, player=st.integers(0, 2))
    def reveal_rack(self, seed: int, player: int) -> None:
        left = sorted(self.game.unseen.elements())
        self.submit(RevealRack(player, "".join(random.Random(seed).sample(left, min(7, len(left))))))

    @rule()
    def undo_and_redo(self) -> None:
        self.submit(AnswerQuestion(0))  # undo closes a question
        game, before = self.game, self.session.state
        if before.question is None and self.submit(Undo()) is not None:
            after = self.submit(Redo())
            assert after is not None and self.game == game and self.game.state == game.state
            assert (after.turns, after.open_questions, after.undo) == (before.turns, before.open_questions, before.undo)

    @precondition(lambda self: not self.game.is_over)
    @rule()
    def restart(self) -> None:
        before = self.session.state
        self.session.close()
        self.session = self.open_session()
        self.check_resumed_state(before)

    @precondition(lambda self: not self.game.is_over)
    @rule()
    def cut_power(self) -> None:
        before = self.session.state
        path = Path(self.folder.name) / f"{len(self.questions)}.db"
        self.store.copy_to(path)
        self.session.close()
        self.store.close()
        self.store = GameStore(path, clock=lambda: 0.0)
        self.session = self.open_session()
        self.check_resumed_state(before)

    def check_resumed_state(self, before: TableSnapshot) -> None:
        after = self.submit(ResumeGame())
        assert after is not None
        assert (after.moment, after.players, after.board) == (before.moment, before.players, before.board)
        assert after.turns == before.turns
        assert list_questions(after) == list_questions(before)

    @invariant()
    def totals_follow_from_the_turns(self) -> None:
        game, board, withdrawn = self.game, EMPTY_BOARD, Counter[int]()
        for turn in game.turns:
            item = find_item(game.items, turn.ref)
            is_corrected = item is not None and bool(item.scores)
            if turn.play is not None:
                score = score_play(board, turn.play, game.layout, game.tiles, game.rules)
                assert turn.score == score.total or is_corrected
                board = turn.play.apply_to(board)
            elif turn.kind is TurnKind.WITHDRAWN and turn.target is not None:
                withdrawn[turn.target] += 1
                assert turn.score == -game.turns[turn.target].score or is_corrected
                board = turn.board
            assert turn.board == board
        assert withdrawn == {turn.number: 1 for turn in game.turns if not turn.stands}
        for player, total in enumerate(game.totals):
            assert total == sum(turn.score for turn in game.turns if turn.player == player)

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


AnyOrder.TestCase.settings = settings(max_examples=EVENINGS, stateful_step_count=STEPS, deadline=None, derandomize=True)
TestCommandsInAnyOrder = AnyOrder.TestCase
