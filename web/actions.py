"""What paired phones do at the table.

Each request carries the length of the game's log that its page showed (`seen`): a tap that was meant for an earlier
moment changes nothing, and the loser is told what happened meanwhile.
"""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path

from flask import Blueprint, Response, redirect, render_template, request
from flask.typing import ResponseReturnValue

from device.session import Refused
from device.state import TableState
from engine.reading import EMPTY, SIZE
from engine.squares import parse_square
from engine.tiles import Tile, tile_set
from web import newgame
from web.languages import texts
from web.security import is_document
from web.table import Table

ANSWER_S = 0.25
"""How long a tap waits for a refusal; what takes longer shows on the page."""


def blueprint(table: Table, own_lexicon: Path | None) -> Blueprint:
    """`POST /actions/...`: 204 (303 to the page for a form without script), or 409 and one line that says why."""
    routes = Blueprint("actions", __name__, url_prefix="/actions")

    def answer(done: Future[TableState]) -> ResponseReturnValue:
        try:
            done.result(ANSWER_S)
        except TimeoutError:
            pass  # the board is being read: the page shows it, and what comes of it
        except Refused as refusal:
            return refuse(_why(refusal, table.state), table.state)
        return redirect("/", code=303) if is_document() else Response(status=204)

    def refuse(why: str, state: TableState) -> ResponseReturnValue:
        if is_document():
            return Response(render_template("refused.html", t=texts(), why=why), status=409)
        return Response(f"{why}\n", status=409, mimetype="text/plain", headers={"X-Seen": str(state.events)})

    @routes.post("/end-turn")
    def end_turn() -> ResponseReturnValue:
        return answer(table.end_turn(_seen()))

    @routes.post("/pass")
    def pass_turn() -> ResponseReturnValue:
        return answer(table.pass_turn(_seen()))

    @routes.post("/exchange")
    def exchange() -> ResponseReturnValue:
        count = request.form.get("count", type=int)
        return refuse(texts()("wrong.number"), table.state) if count is None else answer(table.exchange(count, _seen()))

    @routes.post("/challenge")
    def challenge() -> ResponseReturnValue:
        return answer(table.challenge(_seen()))

    @routes.post("/answer/<int:number>")
    def choose(number: int) -> ResponseReturnValue:
        return answer(table.answer(number, _seen()))

    @routes.post("/square")
    def square() -> ResponseReturnValue:
        return answer(_put_right(table, request.form.get("square", ""), request.form.get("letter", "")))

    @routes.post("/rack")
    def rack() -> ResponseReturnValue:
        letters = "".join(request.form.get("letters", "").split())
        if name := table.state.tile_set:
            letters = tile_set(name).upper(letters)  # Turkish has two letters I
        return answer(table.tell_rack(request.form.get("player", -1, type=int), letters, _seen()))

    @routes.post("/new-game")
    def new_game() -> ResponseReturnValue:
        try:
            chosen = newgame.read(request.form, request.form.getlist("player"), own_lexicon)
        except newgame.WrongForm as wrong:
            return refuse(texts()(wrong.key, **wrong.values), table.state)
        return answer(table.start_game(chosen.started, _seen(), words=chosen.words))

    @routes.post("/end-game")
    def end_game() -> ResponseReturnValue:
        return answer(table.end_game(_seen()))

    @routes.post("/undo")
    def undo() -> ResponseReturnValue:
        return answer(table.undo(_seen()))

    return routes


def _seen() -> int:
    """The moment that the request was meant for; one that never was where it does not say so."""
    return request.form.get("seen", -1, type=int)


def _put_right(table: Table, square: str, letter: str) -> Future[TableState]:
    """A letter on a square, of which `blank` says whether it is what a blank stands for."""
    state = table.state
    if not letter:
        return table.correct(square, EMPTY, _seen())
    if request.form.get("blank") is None or not state.tile_set:
        return table.correct(square, letter, _seen())
    try:
        at = parse_square(square)
    except ValueError:
        return table.correct(square, letter, _seen())  # which says what is wrong with it
    there = state.board.tiles[at] if 0 <= at < SIZE * SIZE else None
    if there is not None and there.blank:
        return table.name_blank(square, letter, _seen())
    return table.correct(square, tile_set(state.tile_set).text(Tile(letter, is_blank=True)), _seen())


def _why(refusal: Refused, state: TableState) -> str:
    """Why a tap was refused; who was too slow is told what happened meanwhile."""
    seen, last = _seen(), state.last_turn
    if seen < 0 or seen == state.events:
        return str(refusal)
    t = texts()
    if last is None:
        return t("wrong.quicker", what=t("wrong.nothing_new"))
    what = " ".join(filter(None, (state.players[last.player].name, t(f"deed.{last.kind}"), last.word, last.at)))
    return t("wrong.quicker", what=f"{what} ({last.score:+}).")
