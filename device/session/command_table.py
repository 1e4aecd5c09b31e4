"""The command table: each class is one command of the table, with its arguments, its phases and what it does.

The session, the JSON API, the routes of the page and the panel are derived from these classes:

    session.submit(ExchangeTiles(count=3)).result()

To add a command, add a class here and to `COMMAND_TABLE`. The limits in the annotations hold for commands that come
from outside; msgspec checks them when it decodes JSON.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import EllipsisType
from typing import TYPE_CHECKING, Annotated, ClassVar

import msgspec
from msgspec import Meta

from device.session import commands
from device.session.phases import Command
from device.session.snapshot import Phase, TurnChange
from device.session.snapshot_builder import WordList
from engine.events import GameStarted

if TYPE_CHECKING:
    from device.session.game_controller import GameController

MAX_PLAYERS = 4

SmallNumber = Annotated[int, Meta(ge=0, le=1000)]
PlayerNumber = Annotated[int, Meta(ge=0, lt=MAX_PLAYERS)]
SquareName = Annotated[str, Meta(max_length=3, description="`H8` or `8H`.")]
Symbol = Annotated[
    str, Meta(max_length=8, description="A letter as the tile set writes it; small: a blank, `.`: no tile.")
]


@dataclass(frozen=True, slots=True)
class CommandContext:
    """What commands act on: the controller of the game, and two procedures of the session that need the camera."""

    controller: GameController
    take_turn: Callable[[], None]
    """Reads the board and records the turn."""
    prepare_board: Callable[[], None]
    """Called after a game has begun: forgets the pictures of the game before."""


class TableCommand(msgspec.Struct, frozen=True):
    """Base class of all commands. The docstring of a command is its description in the API.

    `name` is its name in routes (empty: it has none), `operation_id` its name in the OpenAPI document, and
    `schema_name` the name of its JSON body there; all three are frozen. `transition` decides in which phases the
    command is allowed. `keeps_question` is True if an open question stays open, `interim_phase` is the phase while it
    runs.
    """

    name: ClassVar[str] = ""
    transition: ClassVar[Command]
    operation_id: ClassVar[str] = ""
    schema_name: ClassVar[str] = "Order"
    keeps_question: ClassVar[bool] = False
    interim_phase: ClassVar[Phase | None] = None

    def run(self, context: CommandContext) -> None:
        """Carry out the command. Raises `CommandRefusedError`, `CameraError`, `StoreError`."""
        raise NotImplementedError


class EndTurn(TableCommand, frozen=True):
    """End the turn of the player to move: read the board and record the play, pass or exchange.

    If reading takes long, the answer has the phase `looking`; a later state shows what was read.
    """

    name = "end-turn"
    transition = Command.END_TURN
    operation_id = "end_turn"
    interim_phase = Phase.LOOKING

    def run(self, context: CommandContext) -> None:
        context.take_turn()


class PassTurn(TableCommand, frozen=True):
    """Record a pass of the player to move, without reading the board."""

    name = "pass"
    transition = Command.PASS
    operation_id = "pass_turn"

    def run(self, context: CommandContext) -> None:
        context.controller.commit_command(commands.pass_turn)


class ExchangeTiles(TableCommand, frozen=True):
    """Record an exchange of tiles by the player to move."""

    name = "exchange"
    transition = Command.EXCHANGE
    operation_id = "exchange"
    schema_name = "ExchangeOrder"

    count: Annotated[int, Meta(ge=1, le=20)]

    def run(self, context: CommandContext) -> None:
        context.controller.commit_command(partial(commands.exchange_tiles, count=self.count))


class ChallengePlay(TableCommand, frozen=True):
    """Challenge the last play: the word list decides, otherwise the players are asked.

    If the challenge fails and the challenger is not known, the players are asked who it was.
    """

    name = "challenge"
    transition = Command.CHALLENGE
    operation_id = "challenge"

    def run(self, context: CommandContext) -> None:
        context.controller.challenge_play()


class AnswerQuestion(TableCommand, frozen=True):
    """Answer the open question."""

    name = "answer"
    transition = Command.ANSWER
    operation_id = "answer"
    schema_name = "AnswerOrder"
    keeps_question = True

    answer: Annotated[int, Meta(ge=0, le=1000, description="The number of the chosen answer, from 0.")]

    def run(self, context: CommandContext) -> None:
        context.controller.answer_question(self.answer)


class ConfirmExchange(TableCommand, frozen=True):
    """Answer the question \"pass or exchange?\": tiles were exchanged, an unknown number."""

    transition = Command.ANSWER
    keeps_question = True

    def run(self, context: CommandContext) -> None:
        question = context.controller.open_question
        context.controller.answer_question(len(question.answers) - 1 if question else 0)


class CorrectSquare(TableCommand, frozen=True):
    """Correct a misread square."""

    name = "square"
    transition = Command.CORRECT
    operation_id = "correct_square"
    schema_name = "SquareOrder"

    square: SquareName
    symbol: Symbol

    def run(self, context: CommandContext) -> None:
        correct = partial(commands.correct_square, square=self.square, symbol=self.symbol)
        context.controller.commit_command(correct)


class NameBlank(TableCommand, frozen=True):
    """Name the letter that the blank on a square stands for."""

    name = "blank"
    transition = Command.CORRECT
    operation_id = "name_blank"
    schema_name = "BlankOrder"

    square: SquareName
    letter: Annotated[str, Meta(max_length=8)]

    def run(self, context: CommandContext) -> None:
        name_blank = partial(commands.name_blank, square=self.square, letter=self.letter)
        context.controller.commit_command(name_blank)


class TurnCommand(TableCommand, frozen=True):
    """A turn as it really was; what is left out does not change.

    `kind` is `play`, `pass`, `exchange`, or `none` to remove the turn. A play is written as in GCG: `at` (`8F` across,
    `F8` down) and `word` (lower-case letters for blanks, dots or letters for tiles that were on the board already).
    """

    transition = Command.CORRECT
    schema_name = "TurnOrder"

    number: SmallNumber
    player: PlayerNumber | None = None
    kind: Annotated[str, Meta(pattern="^(|play|pass|exchange|none)$")] = ""
    at: Annotated[str, Meta(max_length=3)] = ""
    word: Annotated[str, Meta(max_length=60)] = ""
    count: Annotated[int, Meta(ge=0, le=20)] = 0
    score: Annotated[int, Meta(ge=-2000, le=4000)] | None = None

    @property
    def change(self) -> TurnChange:
        """The change of the turn with this number."""
        return TurnChange(self.player, self.kind, self.at, self.word, self.count, self.score)


class CorrectTurn(TurnCommand, frozen=True):
    """Correct a recorded turn, or remove it; `number` is its `TurnView.number`."""

    name = "turn"
    operation_id = "correct_turn"

    def run(self, context: CommandContext) -> None:
        controller = context.controller
        controller.commit_events(commands.correct_turn(controller.game, self.number, self.change))


class InsertTurn(TurnCommand, frozen=True):
    """Insert a missing turn, which gets this number; the number after the last turn enters a turn by hand."""

    name = "insert-turn"
    operation_id = "insert_turn"

    def run(self, context: CommandContext) -> None:
        controller = context.controller
        controller.commit_events(commands.insert_turn(controller.game, self.number, self.change))


class RevealRack(TableCommand, frozen=True):
    """Enter the unplayed letters of a player, `?` for a blank; they are counted once the game has ended."""

    name = "rack"
    transition = Command.REVEAL_RACK
    operation_id = "tell_rack"
    schema_name = "RackOrder"

    player: PlayerNumber
    letters: Annotated[str, Meta(max_length=60)]

    def run(self, context: CommandContext) -> None:
        context.controller.reveal_rack(self.player, self.letters)


class DrawFirst(TableCommand, frozen=True):
    """Record the tiles drawn for first play, in seat order.

    `?` is a blank; the text of a player who does not draw now is empty.
    """

    name = "draw"
    transition = Command.DRAW
    operation_id = "draw_first"
    schema_name = "DrawOrder"

    letters: Annotated[tuple[Symbol, ...], Meta(max_length=MAX_PLAYERS)]

    def run(self, context: CommandContext) -> None:
        context.controller.draw_first(self.letters)


class Pause(TableCommand, frozen=True):
    """Pause the game and stop the clocks."""

    name = "pause"
    transition = Command.PAUSE
    operation_id = "pause"
    keeps_question = True

    def run(self, context: CommandContext) -> None:
        context.controller.set_paused(True)


class EndPause(TableCommand, frozen=True):
    """Continue a paused game."""

    name = "go-on"
    transition = Command.END_PAUSE
    operation_id = "go_on"
    keeps_question = True

    def run(self, context: CommandContext) -> None:
        context.controller.set_paused(False)


class Undo(TableCommand, frozen=True):
    """Undo the last press with all its events, including the end of a game."""

    name = "undo"
    transition = Command.UNDO
    operation_id = "undo"

    def run(self, context: CommandContext) -> None:
        context.controller.move_in_history(context.controller.log.undo)


class Redo(TableCommand, frozen=True):
    """Redo the press that was undone last."""

    name = "redo"
    transition = Command.REDO
    operation_id = "redo"

    def run(self, context: CommandContext) -> None:
        context.controller.move_in_history(context.controller.log.redo)


class EndGame(TableCommand, frozen=True):
    """End the game and count unplayed letters."""

    name = "end-game"
    transition = Command.END_GAME
    operation_id = "end_game"

    def run(self, context: CommandContext) -> None:
        context.controller.end_game()


class StartGame(TableCommand, frozen=True):
    """Start a new game. A running game is kept in the archive, unfinished.

    `words` is the word list (None: words are not checked; `...`: the current list), `colours` are the colours of the
    players from now on.
    """

    name = "new-game"
    transition = Command.START
    operation_id = "new_game"
    schema_name = "GameOrder"

    started: GameStarted
    words: WordList | EllipsisType | None = ...
    colours: tuple[str, ...] = ()

    def run(self, context: CommandContext) -> None:
        context.controller.start_game(self.started, self.words, self.colours)
        context.prepare_board()


class PlayAgain(TableCommand, frozen=True):
    """Start a game with the settings of the last one and the next player first; `default` if there was none.

    After a restart the last game is the newest one in the store; `words_for` finds its word list.
    """

    transition = Command.START

    default: GameStarted
    words_for: Callable[[GameStarted], WordList | None] | None = None

    def run(self, context: CommandContext) -> None:
        context.controller.start_next_game(self.default, self.words_for)
        context.prepare_board()


class ResumeGame(TableCommand, frozen=True):
    """Resume the newest game of the store if it has not ended.

    `words_for` finds the word list that the game was started with; without it the current list is kept.
    """

    transition = Command.RESUME

    words_for: Callable[[GameStarted], WordList | None] | None = None

    def run(self, context: CommandContext) -> None:
        context.controller.resume_game(self.words_for)
        context.prepare_board()


COMMAND_TABLE: tuple[type[TableCommand], ...] = (
    EndTurn, PassTurn, ExchangeTiles, ChallengePlay, AnswerQuestion, CorrectSquare, NameBlank, CorrectTurn, InsertTurn,
    RevealRack, DrawFirst, Pause, EndPause, Undo, Redo, EndGame, StartGame, PlayAgain, ResumeGame, ConfirmExchange,
)  # fmt: skip
"""All commands, in the order of the OpenAPI document."""


def find_argument_type(command: type[TableCommand]) -> type[TableCommand]:
    """Return the class that declares the arguments of a command: the same one for commands that share it.

    >>> find_argument_type(InsertTurn).__name__, find_argument_type(Undo).__name__
    ('TurnCommand', 'TableCommand')
    """
    bases = (base for base in reversed(command.__mro__) if issubclass(base, TableCommand))
    return next(base for base in bases if base.__struct_fields__ == command.__struct_fields__)
