"""What paired phones do at the table.

Each request carries the moment of the game that its page showed (`seen`): a tap that was meant for an earlier moment
changes nothing, and the loser is told what happened meanwhile.
"""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path

from flask import Blueprint, Response, redirect, render_template, request
from flask.typing import ResponseReturnValue

from device.session.snapshot import Moment, TableSnapshot, TurnChange
from device.session.table_session import CommandRefusedError
from engine.reading import BOARD_SIZE, EMPTY
from engine.squares import parse_square
from engine.tiles import Tile, load_tile_set
from web.i18n import texts
from web.pages import new_game_form
from web.security.csrf import is_document_request
from web.table import Table

REFUSAL_TIMEOUT_S = 0.25
"""How long a tap waits for a refusal; what takes longer shows on the page."""
NO_MOMENT = Moment(-1, -1)
"""The moment of a request that does not say one: it never was."""


def create_blueprint(table: Table, own_lexicon: Path | None) -> Blueprint:
    """`POST /actions/...`: 204 (303 to the page for a form without script), or 409 and one line that says why."""
    routes = Blueprint("actions", __name__, url_prefix="/actions")

    def answer(done: Future[TableSnapshot]) -> ResponseReturnValue:
        try:
            done.result(REFUSAL_TIMEOUT_S)
        except TimeoutError:
            pass  # the board is being read: the page shows it, and what comes of it
        except CommandRefusedError as refusal:
            return refuse(_explain_refusal(refusal, table.state), table.state)
        return redirect("/", code=303) if is_document_request() else Response(status=204)

    def refuse(why: str, state: TableSnapshot) -> ResponseReturnValue:
        if is_document_request():
            return Response(render_template("refused.html", t=texts(), why=why), status=409)
        return Response(f"{why}\n", status=409, mimetype="text/plain", headers={"X-Seen": str(state.moment)})

    @routes.post("/end-turn")
    def end_turn() -> ResponseReturnValue:
        return answer(table.end_turn(_parse_moment()))

    @routes.post("/pass")
    def pass_turn() -> ResponseReturnValue:
        return answer(table.pass_turn(_parse_moment()))

    @routes.post("/exchange")
    def exchange() -> ResponseReturnValue:
        count = request.form.get("count", type=int)
        return (
            refuse(texts()("wrong.number"), table.state)
            if count is None
            else answer(table.exchange_tiles(count, _parse_moment()))
        )

    @routes.post("/challenge")
    def challenge() -> ResponseReturnValue:
        return answer(table.challenge_play(_parse_moment()))

    @routes.post("/answer/<int:number>")
    def choose(number: int) -> ResponseReturnValue:
        return answer(table.answer_question(number, _parse_moment()))

    @routes.post("/square")
    def square() -> ResponseReturnValue:
        return answer(_correct_square(table, request.form.get("square", ""), request.form.get("letter", "")))

    @routes.post("/turn")
    def turn() -> ResponseReturnValue:
        number = request.form.get("number", -1, type=int)
        try:
            change = _read_turn_change()
        except ValueError:
            return refuse(texts()("wrong.number"), table.state)
        if request.form.get("insert"):
            return answer(table.insert_turn(number, change, _parse_moment()))
        return answer(table.correct_turn(number, change, _parse_moment()))

    @routes.post("/rack")
    def rack() -> ResponseReturnValue:
        player = request.form.get("player", -1, type=int)
        return answer(table.reveal_rack(player, _read_letters("letters", table.state), _parse_moment()))

    @routes.post("/draw")
    def draw() -> ResponseReturnValue:
        state = table.state
        drawn = tuple(_read_letters(f"drawn-{player}", state) for player in range(len(state.players)))
        return answer(table.draw_first(drawn, _parse_moment()))

    @routes.post("/new-game")
    def new_game() -> ResponseReturnValue:
        try:
            names, colours = request.form.getlist("player"), request.form.getlist("colour")
            chosen = new_game_form.parse_form(request.form, names, colours, own_lexicon)
        except new_game_form.FormError as wrong:
            return refuse(texts()(wrong.key, **wrong.values), table.state)
        return answer(table.start_game(chosen.started, _parse_moment(), words=chosen.lexicon, colours=chosen.colours))

    @routes.post("/end-game")
    def end_game() -> ResponseReturnValue:
        return answer(table.end_game(_parse_moment()))

    @routes.post("/undo")
    def undo() -> ResponseReturnValue:
        return answer(table.undo(_parse_moment()))

    @routes.post("/redo")
    def redo() -> ResponseReturnValue:
        return answer(table.redo(_parse_moment()))

    @routes.post("/pause")
    def pause() -> ResponseReturnValue:
        return answer(table.pause(_parse_moment()))

    @routes.post("/go-on")
    def go_on() -> ResponseReturnValue:
        return answer(table.end_pause(_parse_moment()))

    return routes


def _parse_moment() -> Moment:
    """The moment that the request was meant for."""
    return Moment.parse(request.form.get("seen", "")) or NO_MOMENT


def _read_letters(field: str, state: TableSnapshot) -> str:
    """Letters as somebody wrote them, in the capitals of the game's language: Turkish has two letters I."""
    written = "".join(request.form.get(field, "")[:60].split())
    return load_tile_set(state.tile_set).upper(written) if state.tile_set else written


def _read_turn_change() -> TurnChange:
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


def _correct_square(table: Table, square: str, letter: str) -> Future[TableSnapshot]:
    """A letter on a square, of which `blank` says whether it is what a blank stands for."""
    state = table.state
    if not letter:
        return table.correct_square(square, EMPTY, _parse_moment())
    if request.form.get("blank") is None or not state.tile_set:
        return table.correct_square(square, letter, _parse_moment())
    try:
        at = parse_square(square)
    except ValueError:
        return table.correct_square(square, letter, _parse_moment())  # which says what is wrong with it
    there = state.board.tiles[at] if 0 <= at < BOARD_SIZE * BOARD_SIZE else None
    if there is not None and there.blank:
        return table.name_blank(square, letter, _parse_moment())
    return table.correct_square(
        square, load_tile_set(state.tile_set).text(Tile(letter, is_blank=True)), _parse_moment()
    )


def _explain_refusal(refusal: CommandRefusedError, state: TableSnapshot) -> str:
    """Why a tap was refused; who was too slow is told what happened meanwhile."""
    t = texts()
    seen, last = _parse_moment(), state.last_turn
    if seen in (NO_MOMENT, state.moment):
        return t.said(refusal)
    if last is None or seen.game != state.game:
        return t("wrong.quicker", what=t("wrong.nothing_new"))
    what = " ".join(filter(None, (state.players[last.player].name, t(f"deed.{last.kind}"), last.word, last.at)))
    return t("wrong.quicker", what=f"{what} ({last.score:+}).")
