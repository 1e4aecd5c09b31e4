"""The buttons of the table, on the page: end turn, challenge, end game, undo.

Each carries the length of the game's log that its page showed (`events`): a tap that was meant for an earlier moment
changes nothing, and the loser is told.
"""

from __future__ import annotations

from concurrent.futures import Future

from flask import Blueprint, Response, redirect, request
from flask.typing import ResponseReturnValue

from device.session import Refused
from device.state import TableState
from web.table import Table

ANSWER_S = 0.25
"""How long a tap waits for a refusal; what takes longer shows on the page."""


def blueprint(table: Table) -> Blueprint:
    """`POST /actions/end-turn`, `challenge`, `answer/NUMBER`, `end-game`, `undo`."""
    routes = Blueprint("actions", __name__, url_prefix="/actions")

    @routes.post("/end-turn")
    def end_turn() -> ResponseReturnValue:
        return _answer(table.end_turn(_seen()))

    @routes.post("/challenge")
    def challenge() -> ResponseReturnValue:
        return _answer(table.challenge(_seen()))

    @routes.post("/end-game")
    def end_game() -> ResponseReturnValue:
        return _answer(table.end_game(_seen()))

    @routes.post("/answer/<int:number>")
    def answer(number: int) -> ResponseReturnValue:
        return _answer(table.answer(number, _seen()))

    @routes.post("/undo")
    def undo() -> ResponseReturnValue:
        return _answer(table.undo(_seen()))

    return routes


def _seen() -> int | None:
    return request.form.get("events", type=int)


def _answer(done: Future[TableState]) -> ResponseReturnValue:
    """204 (303 to the page for a form without script), or 409 with the reason as one line of text."""
    try:
        done.result(ANSWER_S)
    except TimeoutError:
        pass  # the board is being read: the page shows it, and what comes of it
    except Refused as refusal:
        return Response(f"{refusal}\n", status=409, mimetype="text/plain")
    if request.headers.get("Sec-Fetch-Dest") == "document":
        return redirect("/", code=303)
    return Response(status=204)
