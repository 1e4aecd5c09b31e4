"""What paired phones do at the table.

Each request carries the moment of the game that its page showed (`seen`): a tap that was meant for an earlier moment
changes nothing, and the loser is told what happened meanwhile.
"""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path

from flask import Blueprint, Response, redirect, render_template, request
from flask.typing import ResponseReturnValue

from device.session.snapshot import Moment, TableState, TurnChange
from device.session.table_session import Refused
from engine.reading import EMPTY, SIZE
from engine.squares import parse_square
from engine.tiles import Tile, tile_set
from web.i18n import texts
from web.pages import new_game_form
from web.security.csrf import is_document
from web.table import Table

ANSWER_S = 0.25
"""How long a tap waits for a refusal; what takes longer shows on the page."""
NEVER = Moment(-1, -1)
"""The moment of a request that does not say one: it never was."""


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
        return Response(f"{why}\n", status=409, mimetype="text/plain", headers={"X-Seen": str(state.moment)})

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

    @routes.post("/turn")
    def turn() -> ResponseReturnValue:
        number = request.form.get("number", -1, type=int)
        try:
            change = _change()
        except ValueError:
            return refuse(texts()("wrong.number"), table.state)
        if request.form.get("insert"):
            return answer(table.insert_turn(number, change, _seen()))
        return answer(table.correct_turn(number, change, _seen()))

    @routes.post("/rack")
    def rack() -> ResponseReturnValue:
        player = request.form.get("player", -1, type=int)
        return answer(table.tell_rack(player, _letters("letters", table.state), _seen()))

    @routes.post("/draw")
    def draw() -> ResponseReturnValue:
        state = table.state
        drawn = tuple(_letters(f"drawn-{player}", state) for player in range(len(state.players)))
        return answer(table.draw_first(drawn, _seen()))

    @routes.post("/new-game")
    def new_game() -> ResponseReturnValue:
        try:
            names, colours = request.form.getlist("player"), request.form.getlist("colour")
            chosen = new_game_form.read(request.form, names, colours, own_lexicon)
        except new_game_form.WrongForm as wrong:
            return refuse(texts()(wrong.key, **wrong.values), table.state)
        return answer(table.start_game(chosen.started, _seen(), words=chosen.words, colours=chosen.colours))

    @routes.post("/end-game")
    def end_game() -> ResponseReturnValue:
        return answer(table.end_game(_seen()))

    @routes.post("/undo")
    def undo() -> ResponseReturnValue:
        return answer(table.undo(_seen()))

    @routes.post("/redo")
    def redo() -> ResponseReturnValue:
        return answer(table.redo(_seen()))

    @routes.post("/pause")
    def pause() -> ResponseReturnValue:
        return answer(table.pause(_seen()))

    @routes.post("/go-on")
    def go_on() -> ResponseReturnValue:
        return answer(table.go_on(_seen()))

    return routes


def _seen() -> Moment:
    """The moment that the request was meant for."""
    return Moment.parse(request.form.get("seen", "")) or NEVER


def _letters(field: str, state: TableState) -> str:
    """Letters as somebody wrote them, in the capitals of the game's language: Turkish has two letters I."""
    written = "".join(request.form.get(field, "")[:60].split())
    return tile_set(state.tile_set).upper(written) if state.tile_set else written


def _change() -> TurnChange:
    """What the form says that a turn was; what it leaves empty stays as it was. Raises `ValueError`."""

    def number(field: str) -> int | None:
        text = request.form.get(field, "").strip().replace("−", "-")
        return int(text[:9]) if text else None

    return TurnChange(
        player=number("player"),
        kind=request.form.get("kind", "")[:20],
        at=request.form.get("at", "").strip().upper()[:4],
        word=request.form.get("word", "").strip()[:60],
        count=number("count") or 0,
        score=number("score"),
    )


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
    t = texts()
    seen, last = _seen(), state.last_turn
    if seen in (NEVER, state.moment):
        return t.said(refusal)
    if last is None or seen.game != state.game:
        return t("wrong.quicker", what=t("wrong.nothing_new"))
    what = " ".join(filter(None, (state.players[last.player].name, t(f"deed.{last.kind}"), last.word, last.at)))
    return t("wrong.quicker", what=f"{what} ({last.score:+}).")
