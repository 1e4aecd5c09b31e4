"""Operations of the API on the game at the table: its state, and commands."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
from flask import Response, request
from msgspec import Meta

from device.session.commands.base import TableCommand
from device.session.messages import CommandRefusedError
from device.session.new_game import list_choices
from device.session.rule_choices import NewGameError
from device.session.snapshot import BoardView, TableSnapshot
from device.session.table_session import TableSession
from engine.reading import BOARD_SIZE, EMPTY
from engine.tiles import load_tile_set
from web.api.operations import ApiError, Media, Operation, encode_json, make_operation
from web.api.schemas import Board, Choices, State, Turns, WordAnswer
from web.command_requests import WEB_COMMANDS, Order, make_command, make_order_type
from web.event_streams import NoStreamError
from web.i18n import languages
from web.live import NO_STREAM_TEXT, LiveUpdates
from web.responses import FOR_EVER, send_picture

COMMAND_TIMEOUT_S = 5.0
"""Time to wait for a command's result, in seconds; after that the response has the state without it."""
EVENT_STREAM = Media("text/event-stream", "Server-Sent Events, each with a State as data and an id to resume from.")
JPEG = Media("image/jpeg", "The rectified picture of the board.")


class WordQuery(msgspec.Struct, frozen=True):
    """The word to look up."""

    word: Annotated[str, Meta(min_length=1, max_length=60, description="Upper or lower case.")]


@dataclass(frozen=True)
class LiveGameOperations:
    """The operations that show the game and those that change it."""

    session: TableSession
    page: LiveUpdates
    own_lexicon: Path | None

    def list_operations(self) -> list[Operation]:
        """Return the operations in the order of the document, one for each command of the table."""
        return [
            make_operation("GET", "/state", self.state),
            make_operation("GET", "/turns", self.turns),
            make_operation("GET", "/board", self.board),
            make_operation("GET", "/events", self.events, error_statuses=(503,)),
            make_operation("GET", "/pictures/<name>", self.picture),
            make_operation("GET", "/words", self.look_up, error_statuses=(409,)),
            make_operation("GET", "/choices", self.choices),
            *map(self._make_command_operation, WEB_COMMANDS),
        ]

    def state(self) -> State:
        """Return the state of the table.

        To follow the game, listen to `/events`.
        """
        return State.of(self.session.state)

    def turns(self) -> Turns:
        """Return the score sheet of the game at the table."""
        now = self.session.state
        return Turns(str(now.moment), now.turns)

    def board(self) -> Board:
        """Return the board as read."""
        now = self.session.state
        return Board(str(now.moment), list_rows(now.board), now.board.premiums)

    def events(self) -> Annotated[Response, EVENT_STREAM]:
        """Stream each new state, beginning with the current one.

        The number of streams is limited. If all are taken (503), call `/state` every few seconds.
        """
        try:
            return self.page.open_state_stream(request.headers.get("Last-Event-ID", ""), _encode_state)
        except NoStreamError:
            reason = f"{NO_STREAM_TEXT}: ask /state instead."
            raise ApiError(503, reason, headers={"Retry-After": "30"}) from None

    def picture(self, name: str) -> Annotated[Response, JPEG]:
        """Return the picture that `look` of a state names, or `GAME-EVENT` of an earlier turn."""
        return send_picture(self.session.picture(name), FOR_EVER)

    def look_up(self, query: WordQuery) -> WordAnswer:
        """Look a word up in the word list.

        Refused (409) during a game in which only a challenge may look words up.
        """
        word = load_tile_set(self.session.state.tile_set or "en").upper(query.word)
        try:
            return WordAnswer(word, self.session.look_up(word))
        except CommandRefusedError as refusal:
            raise ApiError(409, str(refusal)) from None

    def choices(self) -> Choices:
        """List the values that `choices` of a new game may have."""
        offered = dict(list_choices(self.own_lexicon))
        offered["tiles"] = [name for name, _ in offered["tiles"]]
        return Choices({field: tuple(values) for field, values in offered.items()})

    def carry_out(self, command: type[TableCommand], body: Order) -> State:
        """Carry out a command for the moment that the body names, and return the state after it."""
        try:
            request = make_command(command, body, self.own_lexicon)
            return State.of(self.session.submit(request, body.moment).result(COMMAND_TIMEOUT_S))
        except TimeoutError:
            return State.of(self.session.state)  # the board is being read: a later state has the result
        except NewGameError as wrong:
            raise ApiError(409, languages()["en"](wrong.key, **wrong.values)) from None
        except CommandRefusedError as refusal:
            now = self.session.state.moment
            raise ApiError(409, str(refusal), moment=str(now) if now != body.moment else "") from None

    def _make_command_operation(self, command: type[TableCommand]) -> Operation:
        return Operation(
            method="POST",
            rule=f"/commands/{command.name}",
            view=partial(self.carry_out, command),
            name=command.operation_id,
            text=inspect.getdoc(command) or "",
            response=State,
            body=make_order_type(command),
            needs_pairing=True,
            error_statuses=(409,),
        )


def list_rows(board: BoardView) -> tuple[tuple[str, ...], ...]:
    """Return the board as rows of symbols: letters, lower case for blanks, `.` for no tile."""
    symbols = tuple(
        EMPTY if tile is None else tile.letter.lower() if tile.blank else tile.letter for tile in board.tiles
    )
    return tuple(symbols[row * BOARD_SIZE : (row + 1) * BOARD_SIZE] for row in range(BOARD_SIZE))


def _encode_state(state: TableSnapshot) -> str:
    return encode_json(State.of(state)).decode()
