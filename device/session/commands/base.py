"""The base class of all commands, the context in which commands run, and the types of their arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from device.cameras.phone import PhoneCamera, PhoneStreamCamera
from device.session.game_controller import GameController
from device.session.messages import Question, convert_engine_errors, make_refusal
from device.session.phases import Transition
from device.session.questions import find_plays
from device.session.snapshot import Phase
from device.session.turn_recorder import TurnRecorder
from engine.board import Square
from engine.game import Game
from engine.reading import BOARD_SIZE, EMPTY
from engine.rules import MAX_PLAYERS
from engine.state import Turn
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


class TableCommand(msgspec.Struct, frozen=True):
    """Base class of all commands. The docstring of a command is its description in the OpenAPI document.

    - `name`: name in routes; empty if the command has no route. `operation_id` and `schema_name`: names of the command
      and of its JSON body in the OpenAPI document. These three names never change.
    - `transition`: determines the phases in which the command is allowed.
    - `keeps_turn`: True if the command ends no turn, for example because it is about the turn that was ended last. Then
      a reading of that turn which is not ready goes on, and the player whose button has ended it is kept.
    - `needs_recorded_play`: True if the command is refused while a play is not recorded, because the players have not
      answered the question about it.
    - `interim_phase`: phase of the session while the command runs.
    """

    name: ClassVar[str] = ""
    transition: ClassVar[Transition]
    operation_id: ClassVar[str] = ""
    schema_name: ClassVar[str] = "Order"
    keeps_turn: ClassVar[bool] = False
    needs_recorded_play: ClassVar[bool] = False
    interim_phase: ClassVar[Phase | None] = None

    def run(self, context: CommandContext) -> None:
        """Execute the command. Raises `CommandRefusedError`, `CameraError`, `StoreError`."""
        raise NotImplementedError


def is_play_unrecorded(context: CommandContext) -> bool:
    """Return True while a play is not recorded, because the players have not answered the question about it."""
    controller = context.controller
    entry = controller.shown_entry
    return entry is not None and controller.waits_for_answer and bool(find_plays(entry.alternatives))


class QuestionCommand(TableCommand, frozen=True, kw_only=True):
    """A command about the open question; `question_id` is the `id` of the question that the user saw.

    The command is refused if another question is open. `question_id` is 0 if the user saw no question. Without a
    `question_id`, the command is about any open question.
    """

    schema_name = "QuestionOrder"
    keeps_turn = True

    question_id: Annotated[int, Meta(ge=0, lt=2**32)] | None = None

    def is_about(self, question: Question | None) -> bool:
        """Return True if the user gave the command for `question`, the open question; None if no question is open.

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


def check_challenger(game: Game, player: int | None, play: Turn) -> None:
    """Raise `CommandRefusedError` if `player` is no player of the game, or has made the play. None is accepted."""
    if player is not None:
        check_player(game, player)
    if player == play.player:
        raise make_refusal("own-play", game.players[play.player])


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
