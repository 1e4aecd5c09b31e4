"""The forms behind the buttons: a page each for browsers without script, the content of a `<dialog>` for those with."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

from flask import Blueprint, Response, render_template, request
from flask.typing import ResponseReturnValue

from device.session.commands.base import MAX_NAME_LETTERS, MAX_PLAYERS
from device.session.messages import CommandRefusedError
from device.session.new_game import MAX_CLOCK_MINUTES, list_choices
from device.session.snapshot import Phase, TableSnapshot
from device.session.table_session import TableSession
from device.storage.store import StoreError
from engine.board import Square, column_of, parse_square, row_of, square_name
from engine.errors import NotationError
from engine.reading import BOARD_SIZE
from engine.tiles import load_tile_set
from web.i18n import texts
from web.security.pairing import Pairing, current_client

MAX_OFFERED_NAMES = 40
MAX_WORD_LETTERS = 20


def create_blueprint(session: TableSession, pairing: Pairing, own_lexicon: Path | None) -> Blueprint:
    """`GET /dialogs/NAME`; who is not paired gets the form for that instead."""
    routes = Blueprint("dialogs", __name__, url_prefix="/dialogs")

    @routes.before_request
    def pair_first() -> ResponseReturnValue | None:
        return None if current_client(pairing) else render_dialog("pair")

    @routes.get("/exchange")
    def exchange() -> ResponseReturnValue:
        return render_dialog("exchange", state=session.state)

    @routes.get("/square")
    def square() -> ResponseReturnValue:
        state = session.state
        try:
            at = parse_square(request.args.get("square", "").strip().upper())
        except NotationError:
            return render_dialog("square", state=state, square=None)
        tile = state.board.tiles[at]
        letters = load_tile_set(state.tile_set).letters if state.tile_set else ()
        return render_dialog(
            "square",
            state=state,
            square=square_name(at),
            tile=tile,
            letters=letters,
            fitting=_find_blank_letters(session, at),
            neighbours=_list_neighbours(at),
        )

    @routes.get("/question")
    def question() -> ResponseReturnValue:
        return render_dialog("question", state=session.state, square=request.args.get("square", "")[:3])

    @routes.get("/turn")
    def turn() -> ResponseReturnValue:
        state = session.state
        number = request.args.get("number", -1, type=int)
        found = next((turn for turn in state.turns if turn.number == number), None)
        insert = "insert" in request.args and bool(state.players) and 1 <= number <= len(state.turns) + 1
        return render_dialog("turn", state=state, turn=found, number=number, insert=insert)

    @routes.get("/word")
    def word() -> ResponseReturnValue:
        state = session.state
        asked = "".join(request.args.get("word", "")[:MAX_WORD_LETTERS].split())
        asked = load_tile_set(state.tile_set or "en").upper(asked)
        listed, why = None, ""
        try:
            listed = session.look_up(asked) if asked else None
        except CommandRefusedError as refusal:
            why = texts().said(refusal)
        return render_dialog("word", state=state, word=asked, listed=listed, why=why, longest=MAX_WORD_LETTERS)

    @routes.get("/draw")
    def draw() -> ResponseReturnValue:
        state = session.state
        drawn = draw_tiles(state) if "deal" in request.args else {}
        letters = load_tile_set(state.tile_set).letters if state.tile_set else ()
        return render_dialog("draw", state=state, drawn=drawn, letters=letters)

    @routes.get("/more")
    def more() -> ResponseReturnValue:
        return render_dialog("more", state=session.state)

    @routes.get("/rack")
    def rack() -> ResponseReturnValue:
        state = session.state
        values = load_tile_set(state.tile_set).values if state.tile_set else {}
        return render_dialog("rack", state=state, values=values)

    @routes.get("/end-game")
    def end_game() -> ResponseReturnValue:
        return render_dialog("end", state=session.state)

    @routes.get("/new-game")
    def new_game() -> ResponseReturnValue:
        state = session.state
        try:
            known = session.list_players()[:MAX_OFFERED_NAMES]
        except StoreError:
            known = ()  # names are a help only: the game can begin without them
        return render_dialog(
            "new",
            state=state,
            running=state.phase not in (Phase.LOBBY, Phase.ENDED),
            known=known,
            offer=list_choices(own_lexicon),
            own=own_lexicon.stem if own_lexicon else "",
            most=MAX_PLAYERS,
            longest=MAX_NAME_LETTERS,
            most_minutes=MAX_CLOCK_MINUTES,
        )

    return routes


def draw_tiles(state: TableSnapshot, chance: random.Random | None = None) -> dict[int, str]:
    """A tile from a full bag for each player who draws now: for a table that would rather not shuffle for it."""
    chance = chance or random.SystemRandom()
    bag = list(Counter(load_tile_set(state.tile_set).counts).elements()) if state.tile_set else []
    return dict(zip(state.drawing, chance.sample(bag, min(len(bag), len(state.drawing))), strict=False))


def _find_blank_letters(session: TableSession, square: Square) -> tuple[str, ...]:
    """The letters that fit a blank there, where not every letter does."""
    tile = session.state.board.tiles[square]
    if tile is None or not tile.blank:
        return ()
    try:
        fitting = session.list_blank_letters(square_name(square))
    except CommandRefusedError:
        return ()  # a help only: nobody may look words up now
    everything = load_tile_set(session.state.tile_set).letters
    return fitting if len(fitting) < len(everything) else ()


def _list_neighbours(square: Square) -> list[tuple[str, str]]:
    """The squares beside one, for a thumb that missed: an arrow and a name each."""
    column, row = column_of(square), row_of(square)
    beside = (
        ("←", column > 0, -1),
        ("↑", row > 0, -BOARD_SIZE),
        ("↓", row < BOARD_SIZE - 1, BOARD_SIZE),
        ("→", column < BOARD_SIZE - 1, 1),
    )
    return [(sign, square_name(square + step)) for sign, inside, step in beside if inside]


def render_dialog(name: str, **values: object) -> Response:
    """A form: its content alone where our script asks for it, else a page of its own."""
    inside = request.headers.get("X-Dialog") is not None
    html = render_template(f"dialogs/{name}.html", t=texts(), frame="dialog.html" if inside else "form.html", **values)
    return Response(html, headers={"Cache-Control": "no-store", "Vary": "X-Dialog, Cookie"})
