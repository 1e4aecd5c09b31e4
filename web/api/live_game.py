"""API operations on the current game: state, score sheet, board, pictures, and commands."""

from __future__ import annotations

import inspect
from functools import partial
from typing import Annotated

import msgspec
from flask import Response, request
from msgspec import Meta

from device.session.commands.base import TableCommand
from device.session.messages import CommandRefusedError
from device.session.new_game import list_choices, list_own_lexicons
from device.session.rule_choices import NewGameError
from device.session.snapshot import TableSnapshot
from web.api.operations import ApiError, Media, Operation, encode_json, make_operation
from web.api.schemas import Board, Choices, Question, State, Turns, WordAnswer
from web.command_requests import WEB_COMMANDS, Order, make_command, make_order_type
from web.filters import list_rows
from web.i18n import languages
from web.responses import send_picture
from web.served_table import table
from web.streams import NO_STREAM_TEXT, NoStreamError

COMMAND_TIMEOUT_S = 5.0
"""Longest wait for the result of a command, in seconds; after it, the response has the state without the result."""
EVENT_STREAM = Media("text/event-stream", "Server-Sent Events, each with a State as data and an id to resume from.")
JPEG = Media("image/jpeg", "The rectified picture of the board.")


class WordQuery(msgspec.Struct, frozen=True):
    """The word to look up."""

    word: Annotated[str, Meta(min_length=1, max_length=60, description="Upper or lower case.")]


def state() -> State:
    """Return the state of the table.

    To follow the game, listen to `/events`.
    """
    return State.of(table.session.state)


def turns() -> Turns:
    """Return the score sheet of the game at the table."""
    now = table.session.state
    return Turns(str(now.moment), now.turns)


def board() -> Board:
    """Return the tiles on the board and the premium squares."""
    now = table.session.state
    return Board(str(now.moment), list_rows(now), now.board.premiums)


def events() -> Annotated[Response, EVENT_STREAM]:
    """Stream the current state and then each new state as Server-Sent Events.

    The number of streams is limited. If all streams are in use (503), request `/state` every few seconds.
    """
    try:
        return table.live.open_state_stream(request.headers.get("Last-Event-ID", ""), _encode_state)
    except NoStreamError:
        reason = f"{NO_STREAM_TEXT}: ask /state instead."
        raise ApiError(503, reason, headers={"Retry-After": "30"}) from None


def picture(name: str) -> Annotated[Response, JPEG]:
    """Return a picture by its name.

    The names are in the fields `look` and `question` of a state. The name of the picture of an earlier turn
    consists of the numbers of the game and of the event: `GAME-EVENT`.
    """
    return send_picture(table.session.find_picture(name))


def look_up(query: WordQuery) -> WordAnswer:
    """Look a word up in the word list.

    The table refuses the request (409) while the rules of the current game allow look-ups only in a challenge.
    """
    word = table.session.state.tiles.upper(query.word)
    try:
        return WordAnswer(word, table.session.look_up(word))
    except CommandRefusedError as refusal:
        raise ApiError(409, str(refusal)) from None


def choices() -> Choices:
    """List the allowed values of each field of `choices` in the command `new-game`."""
    offered = dict(list_choices(list_own_lexicons(table.find_own).values()))
    offered["tiles"] = [name for name, _ in offered["tiles"]]
    return Choices({field: tuple(values) for field, values in offered.items()})


def carry_out(command: type[TableCommand], body: Order) -> State:
    """Send a command to the table, and return the state after it."""
    try:
        table_command = make_command(command, body, table.find_own)
        return State.of(table.session.submit(table_command, body.moment).result(COMMAND_TIMEOUT_S))
    except TimeoutError:
        return State.of(table.session.state)  # the board is still being read: a later state has the result
    except NewGameError as wrong:
        raise ApiError(409, languages()["en"](wrong.key, **wrong.values)) from None
    except CommandRefusedError as refusal:
        now, question = table.session.state, None
        if refusal.key == "other-question" and now.question:
            question = Question.of(now.question)
        moment = str(now.moment) if now.moment != body.moment else ""
        raise ApiError(409, str(refusal), moment=moment, question=question) from None


def _make_command_operation(command: type[TableCommand]) -> Operation:
    return Operation(
        method="POST",
        rule=f"/commands/{command.name}",
        view=partial(carry_out, command),
        name=command.operation_id,
        text=inspect.getdoc(command) or "",
        response=State,
        body=make_order_type(command),
        needs_pairing=True,
        error_statuses=(409,),
    )


def _encode_state(state: TableSnapshot) -> str:
    return encode_json(State.of(state)).decode()


OPERATIONS = (
    make_operation("GET", "/state", state),
    make_operation("GET", "/turns", turns),
    make_operation("GET", "/board", board),
    make_operation("GET", "/events", events, error_statuses=(503,)),
    make_operation("GET", "/pictures/<name>", picture),
    make_operation("GET", "/words", look_up, error_statuses=(409,)),
    make_operation("GET", "/choices", choices),
    *map(_make_command_operation, WEB_COMMANDS),
)
"""The operations in the order of the OpenAPI document, including an operation for each command."""
