"""The forms behind the buttons: a page each for browsers without script, the content of a `<dialog>` for those with."""

from __future__ import annotations

from pathlib import Path

from flask import Blueprint, Response, render_template, request
from flask.typing import ResponseReturnValue

from device.state import Phase
from device.store import StoreError
from engine.errors import NotationError
from engine.reading import SIZE
from engine.squares import Square, column_of, parse_square, row_of, square_name
from engine.tiles import tile_set
from web import newgame
from web.languages import texts
from web.pairing import Pairing, visitor
from web.table import Table

NAMES_OFFERED = 40


def blueprint(table: Table, pairing: Pairing, own_lexicon: Path | None) -> Blueprint:
    """`GET /dialogs/NAME`; who is not paired gets the form for that instead."""
    routes = Blueprint("dialogs", __name__, url_prefix="/dialogs")

    @routes.before_request
    def pair_first() -> ResponseReturnValue | None:
        return None if visitor(pairing) else show("pair")

    @routes.get("/exchange")
    def exchange() -> ResponseReturnValue:
        return show("exchange", state=table.state)

    @routes.get("/square")
    def square() -> ResponseReturnValue:
        state = table.state
        letters = tile_set(state.tile_set).letters if state.tile_set else ()
        try:
            at = parse_square(request.args.get("square", "").strip().upper())
        except NotationError:
            return show("square", state=state, square=None)
        tile = state.board.tiles[at]
        return show(
            "square", state=state, square=square_name(at), tile=tile, letters=letters, neighbours=_neighbours(at)
        )

    @routes.get("/more")
    def more() -> ResponseReturnValue:
        return show("more", state=table.state)

    @routes.get("/rack")
    def rack() -> ResponseReturnValue:
        return show("rack", state=table.state)

    @routes.get("/end-game")
    def end_game() -> ResponseReturnValue:
        return show("end", state=table.state)

    @routes.get("/new-game")
    def new_game() -> ResponseReturnValue:
        state = table.state
        try:
            known = table.known_names()[:NAMES_OFFERED]
        except StoreError:
            known = ()  # names are a help only: the game can begin without them
        return show(
            "new",
            state=state,
            running=state.phase in (Phase.TURN, Phase.LOOKING),
            names=known,
            offer=newgame.choices(own_lexicon),
            own=own_lexicon.stem if own_lexicon else "",
            most=newgame.MOST_PLAYERS,
            longest=newgame.NAME_LETTERS,
        )

    return routes


def _neighbours(square: Square) -> list[tuple[str, str]]:
    """The squares beside one, for a thumb that missed: an arrow and a name each."""
    column, row = column_of(square), row_of(square)
    beside = (("←", column > 0, -1), ("↑", row > 0, -SIZE), ("↓", row < SIZE - 1, SIZE), ("→", column < SIZE - 1, 1))
    return [(sign, square_name(square + step)) for sign, inside, step in beside if inside]


def show(name: str, **values: object) -> Response:
    """A form: its content alone where our script asks for it, else a page of its own."""
    inside = request.headers.get("X-Dialog") is not None
    html = render_template(f"dialogs/{name}.html", t=texts(), frame="dialog.html" if inside else "form.html", **values)
    return Response(html, headers={"Cache-Control": "no-store", "Vary": "X-Dialog, Cookie"})
