"""Commands of paired phones: one route for each command of the table.

Each request carries the moment of the game that its page showed (`seen`). A tap that was meant for an earlier moment
changes nothing, and the answer says what happened in between.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec
from flask import Blueprint, Response, redirect, render_template, request
from flask.typing import ResponseReturnValue

from device.session.commands import COMMAND_TABLE
from device.session.commands.base import TableCommand
from device.session.commands.corrections import CorrectSquare, CorrectTurn, InsertTurn, NameBlank, RevealRack
from device.session.commands.games import DrawFirst, StartGame
from device.session.commands.turns import AnswerQuestion
from device.session.messages import CommandRefusedError
from device.session.new_game import CHOICE_FIELDS, VARIATIONS, NewGameError, NewGameRequest, make_game
from device.session.snapshot import Moment, TableSnapshot
from device.session.table_session import TableSession
from engine.board import parse_square
from engine.reading import BOARD_SIZE, EMPTY
from engine.tiles import Tile, load_tile_set
from web.i18n import texts
from web.security.csrf import is_document_request

REFUSAL_TIMEOUT_S = 0.25
"""Seconds to wait for a refusal; what takes longer is shown on the page."""
NO_MOMENT = Moment(-1, -1)
"""The moment of a request that names none; no game is ever at it."""
DRAW_FOR_FIRST = "draw"

FormParser = Callable[[TableSnapshot], TableCommand]
"""Makes a command from the form that was sent. Raises `ValueError` or `ValidationError` for a wrong field."""


def create_blueprint(session: TableSession, own_lexicon: Path | None) -> Blueprint:
    """Return `POST /actions/NAME`: 204 (303 to the page for a form without script), or 409 and a line with the reason.

    Every command of the table has a route. The fields of its form are the arguments of the command, unless
    `_FORM_PARSERS` has a parser for it.
    """
    routes = Blueprint("actions", __name__, url_prefix="/actions")

    def submit(command: TableCommand) -> ResponseReturnValue:
        try:
            session.submit(command, _parse_moment()).result(REFUSAL_TIMEOUT_S)
        except TimeoutError:
            pass  # the board is being read: the page shows it, and the result
        except CommandRefusedError as refusal:
            return refuse(_explain_refusal(refusal, session.state))
        return redirect("/", code=303) if is_document_request() else Response(status=204)

    def refuse(why: str) -> ResponseReturnValue:
        if is_document_request():
            return Response(render_template("refused.html", t=texts(), why=why), status=409)
        return Response(f"{why}\n", status=409, mimetype="text/plain", headers={"X-Seen": str(session.state.moment)})

    def make_view(parse: FormParser) -> Callable[[], ResponseReturnValue]:
        def carry_out() -> ResponseReturnValue:
            try:
                return submit(parse(session.state))
            except (ValueError, msgspec.ValidationError):
                return refuse(texts()("wrong.number"))

        return carry_out

    for command in COMMAND_TABLE:
        if command.name and command not in (AnswerQuestion, StartGame):
            routes.add_url_rule(
                f"/{command.name}", command.name, make_view(_find_form_parser(command)), methods=["POST"]
            )

    @routes.post("/answer/<int:number>")
    def answer(number: int) -> ResponseReturnValue:
        return submit(AnswerQuestion(number))

    @routes.post("/new-game")
    def new_game() -> ResponseReturnValue:
        try:
            return submit(make_game(_parse_new_game(), own_lexicon))
        except NewGameError as wrong:
            return refuse(texts()(wrong.key, **wrong.values))

    return routes


def _parse_moment() -> Moment:
    """The moment that the request was meant for."""
    return Moment.parse(request.form.get("seen", "")) or NO_MOMENT


def _read_letters(field: str, state: TableSnapshot) -> str:
    """Letters as somebody wrote them, in the capitals of the game's language: Turkish has two letters I."""
    written = "".join(request.form.get(field, "")[:60].split())
    return load_tile_set(state.tile_set).upper(written) if state.tile_set else written


def _parse_integer(field: str) -> int | None:
    """Return the number in a field of the form, None if the field is empty. Raises `ValueError`."""
    text = request.form.get(field, "").strip().replace("−", "-")
    return int(text[:9]) if text else None


def _parse_turn(_: TableSnapshot) -> TableCommand:
    """Return the correction of a turn, or the turn to insert; empty fields do not change."""
    kind = InsertTurn if request.form.get("insert") else CorrectTurn
    return kind(
        number=request.form.get("number", -1, type=int),
        player=_parse_integer("player"),
        kind=request.form.get("kind", "")[:20],
        at=request.form.get("at", "").strip().upper()[:4],
        word=request.form.get("word", "").strip()[:60],
        count=_parse_integer("count") or 0,
        score=_parse_integer("score"),
    )


def _parse_rack(state: TableSnapshot) -> TableCommand:
    return RevealRack(request.form.get("player", -1, type=int), _read_letters("letters", state))


def _parse_draw(state: TableSnapshot) -> TableCommand:
    return DrawFirst(tuple(_read_letters(f"drawn-{player}", state) for player in range(len(state.players))))


def _parse_square(state: TableSnapshot) -> TableCommand:
    """Return the correction of a square.

    If the form has the field `blank`, its letter is the one that a blank stands for.
    """
    square, letter = request.form.get("square", ""), request.form.get("letter", "")
    if not letter:
        return CorrectSquare(square, EMPTY)
    if request.form.get("blank") is None or not state.tile_set:
        return CorrectSquare(square, letter)
    try:
        at = parse_square(square)
    except ValueError:
        return CorrectSquare(square, letter)  # refused, with the reason
    tile = state.board.tiles[at] if 0 <= at < BOARD_SIZE * BOARD_SIZE else None
    if tile is not None and tile.blank:
        return NameBlank(square, letter)
    return CorrectSquare(square, load_tile_set(state.tile_set).text(Tile(letter, is_blank=True)))


def _parse_new_game() -> NewGameRequest:
    """Return the new game that the form describes. Raises `NewGameError`."""
    form, first = request.form, request.form.get("first") or "0"
    if first != DRAW_FOR_FIRST and not (first.isascii() and first.isdecimal()):
        raise NewGameError("new.wrong.choice", choice=first[:40])
    return NewGameRequest(
        players=tuple(form.getlist("player")),
        colours=tuple(form.getlist("colour")),
        first=None if first == DRAW_FOR_FIRST else int(first[:6]),
        choices={field: form[field] for field in CHOICE_FIELDS if field in form},
        variations=tuple(name for name in VARIATIONS if name in form),
    )


_FORM_PARSERS: Mapping[type[TableCommand], FormParser] = MappingProxyType(
    {
        CorrectTurn: _parse_turn,
        CorrectSquare: _parse_square,
        RevealRack: _parse_rack,
        DrawFirst: _parse_draw,
    }
)


def _find_form_parser(command: type[TableCommand]) -> FormParser:
    """Return what makes a command from its form."""

    def parse(_: TableSnapshot) -> TableCommand:
        fields = {name: request.form[name] for name in command.__struct_fields__ if name in request.form}
        return msgspec.convert(fields, command, strict=False)

    return _FORM_PARSERS.get(command, parse)


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
