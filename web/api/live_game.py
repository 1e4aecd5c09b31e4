"""The table for programs: what it shows now, and the commands that it takes."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Annotated

import msgspec
from flask import Response, request
from msgspec import Meta

from device.session.snapshot import BoardView, TableSnapshot
from device.session.table_session import CommandRefusedError
from engine.reading import BOARD_SIZE, EMPTY
from engine.tiles import load_tile_set
from web.api.operations import ApiError, Media, Operation, encode_json
from web.api.schemas import (
    AnswerOrder,
    BlankOrder,
    Board,
    Choices,
    DrawOrder,
    ExchangeOrder,
    GameOrder,
    Order,
    RackOrder,
    SquareOrder,
    State,
    TurnOrder,
    Turns,
    WordAnswer,
)
from web.i18n import languages
from web.live import LiveUpdates
from web.pages import new_game_form
from web.table import Table

COMMAND_TIMEOUT_S = 5.0
"""So long a command is waited for; the state says what comes of one that takes longer."""
EVENT_STREAM = Media("text/event-stream", "Server-Sent Events, each with a State as data and an id to go on from.")
JPEG = Media("image/jpeg", "The rectified board as the camera saw it.")

CommandView = Callable[..., State]


class WordQuery(msgspec.Struct, frozen=True):
    """The word to look up."""

    word: Annotated[str, Meta(min_length=1, max_length=60, description="In any case of letters.")]


def build_operations(table: Table, page: LiveUpdates, own_lexicon: Path | None) -> list[Operation]:
    """What programs can see of the table, and do at it."""
    return [*_build_query_operations(table, page, own_lexicon), *_build_command_operations(table, own_lexicon)]


def _build_query_operations(table: Table, page: LiveUpdates, own_lexicon: Path | None) -> list[Operation]:
    def state() -> State:
        """The table now.

        To follow the game, listen to `/events`.
        """
        return State.of(table.state)

    def turns() -> Turns:
        """The score sheet of the game at the table."""
        return Turns(str(table.state.moment), table.state.turns)

    def board() -> Board:
        """The board as understood."""
        now = table.state
        return Board(str(now.moment), list_rows(now.board), now.board.premiums)

    def events() -> Response:
        """Each state as it comes, the present one first.

        At most so many streams are open at a time as the table can bear: 503 asks to call `/state` every few seconds.
        """
        gone = request.environ.get("waitress.client_disconnected", lambda: False)
        stream = page.stream_states(request.headers.get("Last-Event-ID", ""), gone, _encode_state)
        if stream is None:
            raise ApiError(503, "All streams are taken: ask /state instead.", headers={"Retry-After": "30"})
        return Response(
            stream, mimetype=EVENT_STREAM.type, headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        )

    def picture(name: str) -> Response:
        """The picture that a state names in `look`, or `GAME-EVENT` of an earlier turn."""
        jpeg = table.picture(name)
        if jpeg is None:
            raise ApiError(404, "There is no such picture.")
        return Response(jpeg, mimetype=JPEG.type, headers={"Cache-Control": "private, max-age=31536000, immutable"})

    def look_up(query: WordQuery) -> WordAnswer:
        """Whether the word list has a word.

        Refused while a game runs in which only a challenge looks words up.
        """
        name = table.state.tile_set
        word = load_tile_set(name).upper(query.word) if name else query.word.upper()
        try:
            return WordAnswer(word, table.look_up(word))
        except CommandRefusedError as refusal:
            raise ApiError(409, str(refusal)) from None

    def choices() -> Choices:
        """What a new game may name as `choices`."""
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


def _build_command_operations(table: Table, own_lexicon: Path | None) -> list[Operation]:
    def carry(order: Order, done: Future[TableSnapshot]) -> State:
        try:
            return State.of(done.result(COMMAND_TIMEOUT_S))
        except TimeoutError:
            return State.of(table.state)  # the board is being read: the next state says what comes of it
        except CommandRefusedError as refusal:
            now = table.state.moment
            raise ApiError(409, str(refusal), moment=str(now) if now != order.moment else "") from None

    def end_turn(body: Order) -> State:
        """The player whose turn it is has played: the board is read.

        While it takes long, the answer's phase is `looking`; the next state says what was read.
        """
        return carry(body, table.end_turn(body.moment))

    def pass_turn(body: Order) -> State:
        """The player whose turn it is passes."""
        return carry(body, table.pass_turn(body.moment))

    def exchange(body: ExchangeOrder) -> State:
        """The player whose turn it is exchanges tiles."""
        return carry(body, table.exchange_tiles(body.count, body.moment))

    def challenge(body: Order) -> State:
        """The last play is challenged."""
        return carry(body, table.challenge_play(body.moment))

    def answer(body: AnswerOrder) -> State:
        """The open question is answered."""
        return carry(body, table.answer_question(body.answer, body.moment))

    def correct_square(body: SquareOrder) -> State:
        """A square was read wrong: this lies there."""
        return carry(body, table.correct_square(body.square, body.symbol, body.moment))

    def name_blank(body: BlankOrder) -> State:
        """Somebody says what a blank stands for."""
        return carry(body, table.name_blank(body.square, body.letter, body.moment))

    def correct_turn(body: TurnOrder) -> State:
        """A turn was something else than the score sheet says."""
        return carry(body, table.correct_turn(body.number, body.change, body.moment))

    def insert_turn(body: TurnOrder) -> State:
        """A turn was forgotten: it becomes the one with this number."""
        return carry(body, table.insert_turn(body.number, body.change, body.moment))

    def tell_rack(body: RackOrder) -> State:
        """The letters that a player did not play."""
        return carry(body, table.reveal_rack(body.player, body.letters, body.moment))

    def draw_first(body: DrawOrder) -> State:
        """The players drew for first play."""
        return carry(body, table.draw_first(body.letters, body.moment))

    def pause(body: Order) -> State:
        """The clocks stand still until the game goes on."""
        return carry(body, table.pause(body.moment))

    def go_on(body: Order) -> State:
        """A paused game goes on."""
        return carry(body, table.end_pause(body.moment))

    def undo(body: Order) -> State:
        """What was pressed last never happened."""
        return carry(body, table.undo(body.moment))

    def redo(body: Order) -> State:
        """What was taken back last happened after all."""
        return carry(body, table.redo(body.moment))

    def end_game(body: Order) -> State:
        """The players end the game."""
        return carry(body, table.end_game(body.moment))

    def new_game(body: GameOrder) -> State:
        """A game begins; one that runs is left as it is."""
        first = new_game_form.DRAW_FOR_FIRST if body.first is None else str(body.first)
        form = {**body.choices, **dict.fromkeys(body.variations, "1"), "first": first}
        try:
            chosen = new_game_form.parse_form(form, body.players, body.colours, own_lexicon)
        except new_game_form.FormError as wrong:
            raise ApiError(409, languages()["en"](wrong.key, **wrong.values)) from None
        done = table.start_game(chosen.started, body.moment, words=chosen.lexicon, colours=chosen.colours)
        return carry(body, done)

    orders: list[tuple[str, CommandView, type[Order]]] = [
        ("end-turn", end_turn, Order),
        ("pass", pass_turn, Order),
        ("exchange", exchange, ExchangeOrder),
        ("challenge", challenge, Order),
        ("answer", answer, AnswerOrder),
        ("square", correct_square, SquareOrder),
        ("blank", name_blank, BlankOrder),
        ("turn", correct_turn, TurnOrder),
        ("insert-turn", insert_turn, TurnOrder),
        ("rack", tell_rack, RackOrder),
        ("draw", draw_first, DrawOrder),
        ("pause", pause, Order),
        ("go-on", go_on, Order),
        ("undo", undo, Order),
        ("redo", redo, Order),
        ("end-game", end_game, Order),
        ("new-game", new_game, GameOrder),
    ]
    return [
        Operation("POST", f"/commands/{name}", view, State, body=body, needs_pairing=True, error_statuses=(409,))
        for name, view, body in orders
    ]


def list_rows(board: BoardView) -> tuple[tuple[str, ...], ...]:
    """The board as rows of symbols: letters, small ones for blanks, `.` where no tile lies."""
    symbols = tuple(
        EMPTY if tile is None else tile.letter.lower() if tile.blank else tile.letter for tile in board.tiles
    )
    return tuple(symbols[row * BOARD_SIZE : (row + 1) * BOARD_SIZE] for row in range(BOARD_SIZE))


def _encode_state(state: TableSnapshot) -> str:
    return encode_json(State.of(state)).decode()


def _list_choices(own_lexicon: Path | None) -> dict[str, list[str]]:
    """The values that the fields of a new game may have."""
    found = {}
    for field, values in new_game_form.list_choices(own_lexicon).items():
        found[field] = [value if isinstance(value, str) else value[0] for value in values]
    return found
