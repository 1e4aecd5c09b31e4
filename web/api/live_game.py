"""Operations of the API on the game at the table: its state, and commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import msgspec
from flask import Response, request
from msgspec import Meta

from device.session.commands import COMMAND_TABLE
from device.session.commands.base import TableCommand, find_argument_type
from device.session.commands.games import StartGame
from device.session.messages import CommandRefusedError
from device.session.new_game import NewGameError, NewGameRequest, list_choices, make_game
from device.session.snapshot import BoardView, TableSnapshot
from device.session.table_session import TableSession
from engine.reading import BOARD_SIZE, EMPTY
from engine.tiles import load_tile_set
from web.api.operations import ApiError, Media, Operation, encode_json
from web.api.schemas import Board, Choices, Order, State, Turns, WordAnswer, extract_arguments, make_body_type
from web.event_streams import NoStreamError
from web.i18n import languages
from web.live import NO_STREAM_TEXT, LiveUpdates

COMMAND_TIMEOUT_S = 5.0
"""Time to wait for a command's result, in seconds; after that the response has the state without it."""
EVENT_STREAM = Media("text/event-stream", "Server-Sent Events, each with a State as data and an id to resume from.")
JPEG = Media("image/jpeg", "The rectified picture of the board.")


class WordQuery(msgspec.Struct, frozen=True):
    """The word to look up."""

    word: Annotated[str, Meta(min_length=1, max_length=60, description="Upper or lower case.")]


def build_operations(session: TableSession, page: LiveUpdates, own_lexicon: Path | None) -> list[Operation]:
    """Return the operations that show the game and those that change it."""
    return [*_build_query_operations(session, page, own_lexicon), *_build_command_operations(session, own_lexicon)]


def _build_query_operations(session: TableSession, page: LiveUpdates, own_lexicon: Path | None) -> list[Operation]:
    def state() -> State:
        """Return the state of the table.

        To follow the game, listen to `/events`.
        """
        return State.of(session.state)

    def turns() -> Turns:
        """Return the score sheet of the game at the table."""
        return Turns(str(session.state.moment), session.state.turns)

    def board() -> Board:
        """Return the board as read."""
        now = session.state
        return Board(str(now.moment), list_rows(now.board), now.board.premiums)

    def events() -> Response:
        """Stream each new state, beginning with the current one.

        The number of streams is limited. If all are taken (503), call `/state` every few seconds.
        """
        try:
            return page.open_state_stream(request.headers.get("Last-Event-ID", ""), _encode_state)
        except NoStreamError:
            reason = f"{NO_STREAM_TEXT}: ask /state instead."
            raise ApiError(503, reason, headers={"Retry-After": "30"}) from None

    def picture(name: str) -> Response:
        """Return the picture that `look` of a state names, or `GAME-EVENT` of an earlier turn."""
        jpeg = session.picture(name)
        if jpeg is None:
            raise ApiError(404, "There is no such picture.")
        return Response(jpeg, mimetype=JPEG.type, headers={"Cache-Control": "private, max-age=31536000, immutable"})

    def look_up(query: WordQuery) -> WordAnswer:
        """Look a word up in the word list.

        Refused (409) during a game in which only a challenge may look words up.
        """
        name = session.state.tile_set
        word = load_tile_set(name).upper(query.word) if name else query.word.upper()
        try:
            return WordAnswer(word, session.look_up(word))
        except CommandRefusedError as refusal:
            raise ApiError(409, str(refusal)) from None

    def choices() -> Choices:
        """List the values that `choices` of a new game may have."""
        offered = {field: tuple(str(value) for value in values) for field, values in _list_choices(own_lexicon).items()}
        return Choices(offered)

    return [
        Operation("GET", "/state", state, State),
        Operation("GET", "/turns", turns, Turns),
        Operation("GET", "/board", board, Board),
        Operation("GET", "/events", events, EVENT_STREAM, error_statuses=(503,)),
        Operation("GET", "/pictures/<name>", picture, JPEG),
        Operation("GET", "/words", look_up, WordAnswer, query=WordQuery, error_statuses=(409,)),
        Operation("GET", "/choices", choices, Choices),
    ]


def _build_command_operations(session: TableSession, own_lexicon: Path | None) -> list[Operation]:
    return [_build_command_operation(session, command, own_lexicon) for command in COMMAND_TABLE if command.name]


def _build_command_operation(session: TableSession, command: type[TableCommand], own_lexicon: Path | None) -> Operation:
    """Return the operation of an entry of the command table."""

    def carry_out(body: Order) -> State:
        request = _make_command(command, extract_arguments(body), own_lexicon)
        try:
            return State.of(session.submit(request, body.moment).result(COMMAND_TIMEOUT_S))
        except TimeoutError:
            return State.of(session.state)  # the board is being read: a later state has the result
        except CommandRefusedError as refusal:
            now = session.state.moment
            raise ApiError(409, str(refusal), moment=str(now) if now != body.moment else "") from None

    carry_out.__name__, carry_out.__doc__ = command.operation_id, command.__doc__
    arguments = NewGameRequest if command is StartGame else find_argument_type(command)
    return Operation(
        "POST",
        f"/commands/{command.name}",
        carry_out,
        State,
        body=make_body_type(command.schema_name, arguments),
        needs_pairing=True,
        error_statuses=(409,),
    )


def _make_command(command: type[TableCommand], arguments: dict[str, Any], own_lexicon: Path | None) -> TableCommand:
    """Return the command that a JSON body describes. Raises `ApiError`."""
    if command is not StartGame:
        return command(**arguments)
    try:
        return make_game(NewGameRequest(**arguments), own_lexicon)
    except NewGameError as wrong:
        raise ApiError(409, languages()["en"](wrong.key, **wrong.values)) from None


def list_rows(board: BoardView) -> tuple[tuple[str, ...], ...]:
    """Return the board as rows of symbols: letters, lower case for blanks, `.` for no tile."""
    symbols = tuple(
        EMPTY if tile is None else tile.letter.lower() if tile.blank else tile.letter for tile in board.tiles
    )
    return tuple(symbols[row * BOARD_SIZE : (row + 1) * BOARD_SIZE] for row in range(BOARD_SIZE))


def _encode_state(state: TableSnapshot) -> str:
    return encode_json(State.of(state)).decode()


def _list_choices(own_lexicon: Path | None) -> dict[str, list[str]]:
    """Return the values that the fields of a new game may have."""
    found = {}
    for field, values in list_choices(own_lexicon).items():
        found[field] = [value if isinstance(value, str) else value[0] for value in values]
    return found
