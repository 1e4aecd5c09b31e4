"""Stored games: list, replay turn by turn, records, downloads; for paired phones also import and delete."""

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
from web.game_archive import GameArchive, GameInProgressError, GameLine, GameNotFoundError, ImportFileError
from web.i18n import texts
from web.security.csrf import is_document_request
from web.security.pairing import Pairing, current_client

T = TypeVar("T")
GAMES_PER_PAGE = 30
"""Games on one page of the list."""


def create_blueprint(library: GameArchive, pairing: Pairing) -> Blueprint:
    """Return the routes `/history`, `/history/NUMBER` (`?turn=N`), its files, import and delete, and `/records`."""
    routes = Blueprint("history", __name__)

    def show(template: str, **values: object) -> Response:
        t = texts()
        html = render_template(f"history/{template}.html", t=t, paired=current_client(pairing), **values)
        headers = {"Cache-Control": "no-store", "Content-Language": t.language, "Vary": "Accept-Language, Cookie"}
        return Response(html, headers=headers)

    @routes.errorhandler(GameNotFoundError)
    def no_game(error: GameNotFoundError) -> ResponseReturnValue:
        return _refuse(texts().said(error), 404)

    @routes.errorhandler(StoreError)
    def no_store(error: StoreError) -> ResponseReturnValue:
        return _refuse(texts().said(error), 503)

    @routes.get("/history")
    def games() -> ResponseReturnValue:
        player = request.args.get("player", "")[:60]
        since, until = _parse_date("since"), _parse_date("until")
        found = library.find_games(player, since, until)
        skip = max(0, request.args.get("skip", 0, type=int))
        lines = library.make_lines(found[skip : skip + GAMES_PER_PAGE])
        return show(
            "games",
            days=[(day, list(of_day)) for day, of_day in groupby(lines, _local_date)],
            players=[name for name, _ in library.list_players()],
            player=player,
            since=since,
            until=until,
            all=len(found),
            earlier=_make_page_query(skip + GAMES_PER_PAGE) if skip + GAMES_PER_PAGE < len(found) else "",
            later=_make_page_query(max(0, skip - GAMES_PER_PAGE)) if skip else "",
        )

    @routes.get("/history/<int:number>")
    def game(number: int) -> ResponseReturnValue:
        replay = library.load_replay(number)
        turn = min(max(0, request.args.get("turn", replay.turn_count, type=int)), replay.turn_count)
        state = replay.state_after(turn)
        return show(
            "game",
            frame="history/part.html" if request.headers.get("X-Part") is not None else "history/frame.html",
            line=replay.line,
            turn=turn,
            turns=replay.turn_count,
            state=state,
            board=replace(state, tile_set=""),  # its squares are no links
            end=replay.state_after(replay.turn_count),
            course=charts.build_score_chart(state),
            picture=replay.picture_name(turn),
        )

    @routes.get("/history/<int:number>/game.gcg")
    def gcg(number: int) -> ResponseReturnValue:
        text, name = library.export_gcg(number)
        return Response(text, mimetype="text/plain", headers=_make_attachment_headers(name))

    @routes.get("/history/<int:number>/game.zip")
    def whole(number: int) -> ResponseReturnValue:
        parts, name = library.export_zip(number)
        return Response(parts, mimetype="application/zip", headers=_make_attachment_headers(name))

    @routes.get("/history/<int:number>/<int:event>.jpg")
    def picture(number: int, event: int) -> ResponseReturnValue:
        jpeg = library.load_picture(number, event)
        if jpeg is None:
            abort(404)
        return Response(jpeg, mimetype="image/jpeg", headers={"Cache-Control": "private, max-age=86400"})

    @routes.get("/history/<int:number>/delete")
    def ask(number: int) -> ResponseReturnValue:
        line = library.make_line(library.find_game(number))
        return (
            show("delete", line=line, day=_local_date(line)) if current_client(pairing) else redirect("/pair", code=303)
        )

    @routes.post("/history/<int:number>/delete")
    def delete(number: int) -> ResponseReturnValue:
        try:
            library.delete_game(number)
        except GameInProgressError:
            return _refuse(texts()("history.at_table"), 409)
        return redirect("/history", code=303)

    @routes.post("/history/import")
    def bring() -> ResponseReturnValue:
        with closing(request.files.get("file", FileStorage())) as file:
            data = file.read()
        try:
            number = library.import_game(data)
        except ImportFileError as error:
            return _refuse(texts().said(error), 409)
        return redirect(f"/history/{number}", code=303)

    @routes.get("/records")
    def records() -> ResponseReturnValue:
        player = request.args.get("player", "")[:60]
        players, pairs = library.compute_records(library.find_games())
        own = next((one for one in players if one.name == player), None)
        met = [_put_player_first(player, pair) for pair in pairs if player in pair.names] if own else list(pairs)
        return show("records", players=players, own=own, pairs=met)

    return routes


def _refuse(why: str, status: int) -> ResponseReturnValue:
    if is_document_request():
        return Response(render_template("refused.html", t=texts(), why=why), status=status)
    return Response(f"{why}\n", status=status, mimetype="text/plain")


def _parse_date(field: str) -> date | None:
    """Return the date in a field of the query, or None if it is missing or invalid."""
    try:
        return date.fromisoformat(request.args.get(field, ""))
    except ValueError:
        return None


def _local_date(line: GameLine) -> date:
    return datetime.fromtimestamp(line.started).date()


def _make_page_query(skip: int) -> Mapping[str, str]:
    """Return the query of this page with another number of games to skip."""
    return {**request.args.to_dict(), "skip": str(skip)}


def _put_player_first(name: str, pair: HeadToHead) -> HeadToHead:
    """Return the pair with this player first."""
    if pair.names[0] == name:
        return pair
    return HeadToHead(_swap_pair(pair.names), pair.games, _swap_pair(pair.ahead), _swap_pair(pair.points))


def _swap_pair(pair: tuple[T, T]) -> tuple[T, T]:
    return pair[1], pair[0]


def _make_attachment_headers(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}
