"""The command table: for each command its name, its request, the phases that allow it, and its handler.

The session, the JSON API, the routes of the page and the panel are derived from it. To add a command, add its request
to `device.session.requests` and a handler and an entry here; a new event also needs `engine.events` and
`engine.transitions`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

from device.session import commands
from device.session.game_controller import GameController
from device.session.phases import Command
from device.session.requests import (
    AnswerQuestion,
    ChallengePlay,
    CommandRequest,
    ConfirmExchange,
    CorrectSquare,
    CorrectTurn,
    DrawFirst,
    EndGame,
    EndPause,
    EndTurn,
    ExchangeTiles,
    InsertTurn,
    NameBlank,
    PassTurn,
    Pause,
    PlayAgain,
    Redo,
    ResumeGame,
    RevealRack,
    StartGame,
    Undo,
)
from device.session.snapshot import Phase


@dataclass(frozen=True, slots=True)
class CommandContext:
    """What handlers act on: the controller of the game, and two procedures of the session that need the camera."""

    controller: GameController
    take_turn: Callable[[], None]
    """Reads the board and records the turn."""
    prepare_board: Callable[[], None]
    """Called after a game has begun: forgets pictures of the game before."""


Handler = Callable[[CommandContext, Any], None]
"""Carries out a request. The first line of its docstring describes the command in the API.

Raises `CommandRefusedError`, `CameraError` or `StoreError`.
"""


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """One command of the table.

    `name` is its name in routes (empty: it has no route), `operation_id` its name in the OpenAPI document, and
    `schema_name` the name of its JSON body there; both are frozen. `keeps_question` is True if an open question stays
    open, `interim_phase` is the phase while the handler runs.
    """

    name: str
    command: Command
    request: type[CommandRequest]
    handler: Handler
    operation_id: str = ""
    schema_name: str = "Order"
    keeps_question: bool = False
    interim_phase: Phase | None = None


def _start_game(context: CommandContext, request: StartGame) -> None:
    """Start a new game. A running game is kept in the archive, unfinished."""
    context.controller.start_game(request.started, request.words, request.colours)
    context.prepare_board()


def _play_again(context: CommandContext, request: PlayAgain) -> None:
    """Start a game like the last one."""
    context.controller.start_next_game(request.default, request.words_for)
    context.prepare_board()


def _resume_game(context: CommandContext, request: ResumeGame) -> None:
    """Resume the newest game."""
    context.controller.resume_game(request.words_for)
    context.prepare_board()


def _draw_first(context: CommandContext, request: DrawFirst) -> None:
    """Record the tiles drawn for first play."""
    context.controller.draw_first(request.letters)


def _end_turn(context: CommandContext, _: EndTurn) -> None:
    """End the turn of the player to move: read the board and record the play, pass or exchange.

    If reading takes long, the answer has the phase `looking`; a later state shows what was read.
    """
    context.take_turn()


def _pass_turn(context: CommandContext, _: PassTurn) -> None:
    """Record a pass of the player to move, without reading the board."""
    context.controller.commit_command(commands.pass_turn)


def _exchange_tiles(context: CommandContext, request: ExchangeTiles) -> None:
    """Record an exchange of tiles by the player to move."""
    context.controller.commit_command(partial(commands.exchange_tiles, count=request.count))


def _challenge_play(context: CommandContext, _: ChallengePlay) -> None:
    """Challenge the last play: the word list decides, otherwise the players are asked.

    If the challenge fails and the challenger is not known, the players are asked who it was.
    """
    context.controller.challenge_play()


def _answer_question(context: CommandContext, request: AnswerQuestion) -> None:
    """Answer the open question."""
    context.controller.answer_question(request.answer)


def _confirm_exchange(context: CommandContext, _: ConfirmExchange) -> None:
    """Answer that tiles were exchanged, an unknown number."""
    question = context.controller.open_question
    context.controller.answer_question(len(question.answers) - 1 if question else 0)


def _correct_square(context: CommandContext, request: CorrectSquare) -> None:
    """Correct a misread square."""
    context.controller.commit_command(partial(commands.correct_square, square=request.square, symbol=request.symbol))


def _name_blank(context: CommandContext, request: NameBlank) -> None:
    """Name the letter that a blank stands for."""
    context.controller.commit_command(partial(commands.name_blank, square=request.square, letter=request.letter))


def _correct_turn(context: CommandContext, request: CorrectTurn) -> None:
    """Correct a recorded turn, or remove it."""
    controller = context.controller
    controller.commit_events(commands.correct_turn(controller.game, request.number, request.change))


def _insert_turn(context: CommandContext, request: InsertTurn) -> None:
    """Insert a missing turn, which gets this number."""
    controller = context.controller
    controller.commit_events(commands.insert_turn(controller.game, request.number, request.change))


def _reveal_rack(context: CommandContext, request: RevealRack) -> None:
    """Enter the unplayed letters of a player; they are counted once the game has ended."""
    context.controller.reveal_rack(request.player, request.letters)


def _undo(context: CommandContext, _: Undo) -> None:
    """Undo the last press with all its events, including the end of a game."""
    context.controller.move_in_history(context.controller.log.undo)


def _redo(context: CommandContext, _: Redo) -> None:
    """Redo the press that was undone last."""
    context.controller.move_in_history(context.controller.log.redo)


def _pause(context: CommandContext, _: Pause) -> None:
    """Pause the game and stop the clocks."""
    context.controller.set_paused(True)


def _end_pause(context: CommandContext, _: EndPause) -> None:
    """Continue a paused game."""
    context.controller.set_paused(False)


def _end_game(context: CommandContext, _: EndGame) -> None:
    """End the game and count unplayed letters."""
    context.controller.end_game()


_LOOKING, _ANSWER, _CORRECT = Phase.LOOKING, Command.ANSWER, Command.CORRECT
COMMAND_TABLE: tuple[CommandSpec, ...] = (
    CommandSpec("end-turn", Command.END_TURN, EndTurn, _end_turn, "end_turn", interim_phase=_LOOKING),
    CommandSpec("pass", Command.PASS, PassTurn, _pass_turn, "pass_turn"),
    CommandSpec("exchange", Command.EXCHANGE, ExchangeTiles, _exchange_tiles, "exchange", "ExchangeOrder"),
    CommandSpec("challenge", Command.CHALLENGE, ChallengePlay, _challenge_play, "challenge"),
    CommandSpec("answer", _ANSWER, AnswerQuestion, _answer_question, "answer", "AnswerOrder", keeps_question=True),
    CommandSpec("square", _CORRECT, CorrectSquare, _correct_square, "correct_square", "SquareOrder"),
    CommandSpec("blank", _CORRECT, NameBlank, _name_blank, "name_blank", "BlankOrder"),
    CommandSpec("turn", _CORRECT, CorrectTurn, _correct_turn, "correct_turn", "TurnOrder"),
    CommandSpec("insert-turn", _CORRECT, InsertTurn, _insert_turn, "insert_turn", "TurnOrder"),
    CommandSpec("rack", Command.REVEAL_RACK, RevealRack, _reveal_rack, "tell_rack", "RackOrder"),
    CommandSpec("draw", Command.DRAW, DrawFirst, _draw_first, "draw_first", "DrawOrder"),
    CommandSpec("pause", Command.PAUSE, Pause, _pause, "pause", keeps_question=True),
    CommandSpec("go-on", Command.END_PAUSE, EndPause, _end_pause, "go_on", keeps_question=True),
    CommandSpec("undo", Command.UNDO, Undo, _undo, "undo"),
    CommandSpec("redo", Command.REDO, Redo, _redo, "redo"),
    CommandSpec("end-game", Command.END_GAME, EndGame, _end_game, "end_game"),
    CommandSpec("new-game", Command.START, StartGame, _start_game, "new_game", "GameOrder"),
    CommandSpec("", Command.START, PlayAgain, _play_again),
    CommandSpec("", Command.RESUME, ResumeGame, _resume_game),
    CommandSpec("", _ANSWER, ConfirmExchange, _confirm_exchange, keeps_question=True),
)
"""All commands, in the order of the OpenAPI document."""

_SPEC_BY_REQUEST = MappingProxyType({spec.request: spec for spec in COMMAND_TABLE})


def find_command(request: CommandRequest) -> CommandSpec:
    """Return the entry of the command that a request asks for.

    >>> find_command(Undo()).name
    'undo'
    """
    return _SPEC_BY_REQUEST[type(request)]
