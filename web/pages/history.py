"""The games that were played: a list, each game turn by turn, records, downloads; paired phones import and delete."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from datetime import date, datetime
from itertools import groupby
from typing import TypeVar

from flask import Blueprint, Response, abort, redirect, render_template, request
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import FileStorage

from device.storage.statistics import HeadToHead
from device.storage.store import StoreError
from web import charts
from web.game_archive import GameLine, Library, NoGame, PlayedNow, WrongFile
from web.i18n import texts
from web.security.csrf import is_document
from web.security.pairing import Pairing, visitor

T = TypeVar("T")
PAGE_GAMES = 30
"""Games on one page of the list."""


def blueprint(library: Library, pairing: Pairing) -> Blueprint:
    """`/history`, `/history/NUMBER` (`?turn=N`), its files, `/records`; `POST /history/import` and `.../delete`."""
    routes = Blueprint("history", __name__)

    def show(template: str, **values: object) -> Response:
        t = texts()
        html = render_template(f"history/{template}.html", t=t, paired=visitor(pairing), **values)
        headers = {"Cache-Control": "no-store", "Content-Language": t.language, "Vary": "Accept-Language, Cookie"}
        return Response(html, headers=headers)

    @routes.errorhandler(NoGame)
    def no_game(error: NoGame) -> ResponseReturnValue:
        return _refuse(texts().said(error), 404)

    @routes.errorhandler(StoreError)
    def no_store(error: StoreError) -> ResponseReturnValue:
        return _refuse(texts().said(error), 503)

    @routes.get("/history")
    def games() -> ResponseReturnValue:
        player = request.args.get("player", "")[:60]
        since, until = _day("since"), _day("until")
        found = library.games(player, since, until)
        skip = max(0, request.args.get("skip", 0, type=int))
        lines = library.lines(found[skip : skip + PAGE_GAMES])
        return show(
            "games",
            days=[(day, list(of_day)) for day, of_day in groupby(lines, _day_of)],
            players=[name for name, _ in library.players()],
            player=player,
            since=since,
            until=until,
            all=len(found),
            earlier=_further(skip + PAGE_GAMES) if skip + PAGE_GAMES < len(found) else "",
            later=_further(max(0, skip - PAGE_GAMES)) if skip else "",
        )

    @routes.get("/history/<int:number>")
    def game(number: int) -> ResponseReturnValue:
        replay = library.replay(number)
        turn = min(max(0, request.args.get("turn", replay.turns, type=int)), replay.turns)
        state = replay.state(turn)
        return show(
            "game",
            frame="history/part.html" if request.headers.get("X-Part") is not None else "history/frame.html",
            line=replay.line,
            turn=turn,
            turns=replay.turns,
            state=state,
            board=replace(state, tile_set=""),  # its squares are no links
            end=replay.state(replay.turns),
            course=charts.course(state),
            picture=replay.picture(turn),
        )

    @routes.get("/history/<int:number>/game.gcg")
    def gcg(number: int) -> ResponseReturnValue:
        text, name = library.gcg(number)
        return Response(text, mimetype="text/plain", headers=_as_file(name))

    @routes.get("/history/<int:number>/game.zip")
    def whole(number: int) -> ResponseReturnValue:
        parts, name = library.zip(number)
        return Response(parts, mimetype="application/zip", headers=_as_file(name))

    @routes.get("/history/<int:number>/<int:event>.jpg")
    def picture(number: int, event: int) -> ResponseReturnValue:
        jpeg = library.picture(number, event)
        if jpeg is None:
            abort(404)
        return Response(jpeg, mimetype="image/jpeg", headers={"Cache-Control": "private, max-age=86400"})

    @routes.get("/history/<int:number>/delete")
    def ask(number: int) -> ResponseReturnValue:
        line = library.line(library.find(number))
        return show("delete", line=line, day=_day_of(line)) if visitor(pairing) else redirect("/pair", code=303)

    @routes.post("/history/<int:number>/delete")
    def delete(number: int) -> ResponseReturnValue:
        try:
            library.delete(number)
        except PlayedNow:
            return _refuse(texts()("history.at_table"), 409)
        return redirect("/history", code=303)

    @routes.post("/history/import")
    def bring() -> ResponseReturnValue:
        with closing(request.files.get("file", FileStorage())) as file:
            data = file.read()
        try:
            number = library.bring(data)
        except WrongFile as error:
            return _refuse(texts().said(error), 409)
        return redirect(f"/history/{number}", code=303)

    @routes.get("/records")
    def records() -> ResponseReturnValue:
        player = request.args.get("player", "")[:60]
        players, pairs = library.records(library.games())
        own = next((one for one in players if one.name == player), None)
        met = [_as_seen_by(player, pair) for pair in pairs if player in pair.names] if own else list(pairs)
        return show("records", players=players, own=own, pairs=met)

    return routes


def _refuse(why: str, status: int) -> ResponseReturnValue:
    if is_document():
        return Response(render_template("refused.html", t=texts(), why=why), status=status)
    return Response(f"{why}\n", status=status, mimetype="text/plain")


def _day(field: str) -> date | None:
    """A day of the form; none for one that cannot be read."""
    try:
        return date.fromisoformat(request.args.get(field, ""))
    except ValueError:
        return None


def _day_of(line: GameLine) -> date:
    return datetime.fromtimestamp(line.started).date()


def _further(skip: int) -> Mapping[str, str]:
    """The question of this page, for games further on."""
    return {**request.args.to_dict(), "skip": str(skip)}


def _as_seen_by(name: str, pair: HeadToHead) -> HeadToHead:
    """A pair with this player first."""
    if pair.names[0] == name:
        return pair
    return HeadToHead(_turned(pair.names), pair.games, _turned(pair.ahead), _turned(pair.points))


def _turned(pair: tuple[T, T]) -> tuple[T, T]:
    return pair[1], pair[0]


def _as_file(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}
