"""The base class of all commands, the context in which commands run, and the types of their arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from device.cameras.phone import PhoneCamera
from device.cameras.phone_stream import PhoneStreamCamera
from device.session.game_controller import GameController
from device.session.messages import Question, convert_engine_errors, make_refusal
from device.session.phases import Transition
from device.session.snapshot import Phase
from device.session.turn_recorder import TurnRecorder
from engine.board import Square
from engine.game import Game
from engine.reading import BOARD_SIZE, EMPTY
from engine.rules import MAX_PLAYERS
from engine.tiles import Tile, TileSet

SmallNumber = Annotated[int, Meta(ge=0, le=1000)]
PlayerNumber = Annotated[int, Meta(ge=0, lt=MAX_PLAYERS)]
SquareName = Annotated[str, Meta(max_length=3, description="`H8` or `8H`.")]
Symbol = Annotated[
    str,
    Meta(max_length=8, description="A letter as the tile set writes it; small (or with `*`): a blank, `.`: no tile."),
]

RackLetters = Annotated[str, Meta(max_length=60, description="The letters on a rack, `?` for a blank.")]
BoardRow = Annotated[tuple[Symbol, ...], Meta(min_length=BOARD_SIZE, max_length=BOARD_SIZE)]
BoardRows = Annotated[tuple[BoardRow, ...], Meta(min_length=BOARD_SIZE, max_length=BOARD_SIZE)]


@dataclass(frozen=True, slots=True)
class CommandContext:
    """Context in which a command runs: the controller of the game, the recorder of turns, and the phones' camera."""

    controller: GameController
    turn_recorder: TurnRecorder
    phone_camera: PhoneCamera | PhoneStreamCamera | None = None
    """The camera for pictures taken with phones; None for a table with a camera of its own."""


class QuestionEffect(Enum):
    """What a command does to the open question before it runs.

    - `KEEP`: the question remains open; the command is about it, or does not end its turn. `GameController.seat`
      remains that of the turn in question, and a capture of a turn that is not ready goes on.
    - `DEFER`: the players answer the question later, and its turn counts provisionally. Two kinds of questions cannot
      be deferred. If no answer is recorded, the question is closed with a notice. A question about a pass is closed
      without one: the pass counts, and only a play that directly follows it leads to a notice or question about it.
    - `REPLACE`: like `DEFER`, but a question whose turn is not recorded is closed without a notice. The command takes
      the place of the answer: it records this turn.
    - `CLOSE`: the question is closed without a notice, because the command answers it.

    With each effect but `KEEP`, the seat becomes that of the player who gave the command, and a capture is stopped.
    """

    KEEP = auto()
    DEFER = auto()
    REPLACE = auto()
    CLOSE = auto()


class TableCommand(msgspec.Struct, frozen=True):
    """Base class of all commands. The docstring of a command is its description in the OpenAPI document.

    - `name`: name in routes; empty if the command has no route. `operation_id` and `schema_name`: names of the command
      and of its JSON body in the OpenAPI document. These three names never change.
    - `transition`: determines the phases in which the command is allowed.
    - `question_effect`: what the command does to the open question. It has no default: a class without it overrides
      `find_question_effect`.
    - `unrecorded_effect`: what it does to an open question of which no answer is recorded yet. None if this is the
      same. Such a question cannot be deferred: its turn or challenge would be lost.
    - `needs_recorded_play`: the command is refused while a play is not recorded because its question is open, unless it
      answers this question (`QuestionEffect.CLOSE`).
    - `needs_certain_pass`: the command is refused while the players are asked whether the turn before was a pass: it
      may be their answer, or the next player's turn. A play on the board, or the next player's own button, shows which.
    - `interim_phase`: phase of the session while the command runs.
    """

    name: ClassVar[str] = ""
    transition: ClassVar[Transition]
    operation_id: ClassVar[str] = ""
    schema_name: ClassVar[str] = "Order"
    question_effect: ClassVar[QuestionEffect]
    unrecorded_effect: ClassVar[QuestionEffect | None] = None
    needs_recorded_play: ClassVar[bool] = False
    needs_certain_pass: ClassVar[bool] = False
    interim_phase: ClassVar[Phase | None] = None

    def find_question_effect(self, context: CommandContext) -> QuestionEffect:
        """Return what the command does to the open question, which may depend on the question and the arguments."""
        if self.unrecorded_effect is not None and is_answer_unrecorded(context):
            return self.unrecorded_effect
        return self.question_effect

    @property
    def answered_question(self) -> int:
        """The number of the deferred question that the command answers, otherwise 0. It is not closed to make room."""
        return 0

    def run(self, context: CommandContext) -> None:
        """Execute the command. Raises `CommandRefusedError`, `CameraError`, `StoreError`."""
        raise NotImplementedError


def is_challenge_open(context: CommandContext) -> bool:
    """Return True while the players decide a challenge. A correction of the challenged play does not decide it."""
    open_question = context.controller.open_question
    return open_question is not None and open_question.is_challenge


def is_answer_unrecorded(context: CommandContext) -> bool:
    """Return True while a question is open of which no answer is recorded yet, also a question about a challenge."""
    open_question = context.controller.open_question
    return open_question is not None and not open_question.is_answer_recorded


def is_play_unrecorded(context: CommandContext) -> bool:
    """Return True while a play is not recorded because its question is open."""
    open_question = context.controller.open_question
    return open_question is not None and open_question.is_play_unrecorded


def is_pass_uncertain(context: CommandContext, seat: int | None) -> bool:
    """Return True while the players are asked about a recorded pass, and nothing shows that it was one.

    `seat` is the player who gives a command, None if it is not known. The next player's own button shows it, and so
    does a play on the board after the pass.
    """
    open_question, game = context.controller.open_question, context.controller.game
    if open_question is None or not (open_question.is_answer_recorded and open_question.question.is_about_pass):
        return False
    if open_question.question.chosen:
        return False  # another answer was chosen at the panel
    return seat != game.to_move and not context.turn_recorder.shows_unended_play(seat)


class QuestionCommand(TableCommand, frozen=True, kw_only=True):
    """A command about the open question; `question_id` is the `id` of the question that the user saw.

    The command is refused if another question is open. `question_id` is 0 if the user saw no question. Without a
    `question_id`, the command is about any open question.
    """

    schema_name = "QuestionOrder"

    question_id: Annotated[int, Meta(ge=0, lt=2**32)] | None = None

    def is_about(self, question: Question | None) -> bool:
        """Return True if the command is about the question `question`, which is the open question or None.

        Without a `question_id`, it is not known which question the user saw, and the result is True.
        """
        return self.question_id in (None, question.id if question else 0)


def find_argument_type(command: type[TableCommand]) -> type[TableCommand]:
    """Return the class that declares the arguments of a command: the class of the command or one of its base classes.

    >>> from device.session.commands.turn_corrections import InsertTurn
    >>> find_argument_type(InsertTurn).__name__
    'TurnCommand'
    """
    bases = (base for base in reversed(command.__mro__) if issubclass(base, TableCommand))
    return next(base for base in bases if base.__struct_fields__ == command.__struct_fields__)


def check_player(game: Game, player: int) -> None:
    """Raise `CommandRefusedError` if `player` is not the index of a player of the game."""
    if not 0 <= player < len(game.players):
        raise make_refusal("no-player", str(player + 1))


def parse_board(rows: Sequence[Sequence[str]], tiles: TileSet) -> dict[Square, Tile]:
    """Return the tiles on the board by square, parsed from 15 rows of 15 symbols. Raises `CommandRefusedError`."""
    symbols = [symbol for row in rows for symbol in row]
    with convert_engine_errors():
        return {square: tiles.parse_tile(symbol) for square, symbol in enumerate(symbols) if symbol != EMPTY}


def parse_rack(letters: str, tiles: TileSet) -> tuple[str, ...]:
    """Return the tiles on a rack, parsed from their letters (`?` for a blank). Raises `CommandRefusedError`.

    Spaces separate tiles: in Spanish, `L L` is two tiles and `LL` is one.
    """
    with convert_engine_errors():
        return tuple(tile.face for part in tiles.upper(letters).split() for tile in tiles.parse(part))
