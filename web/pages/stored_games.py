"""Pages for stored games: list, replay, records, downloads, stored data; for paired phones also import and deletion."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from datetime import date
from itertools import groupby
from operator import attrgetter
from urllib.parse import urlencode

from flask import Blueprint, Response, redirect, request
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import FileStorage

from device.player_names import MAX_PLAYER_NAME_LENGTH, clean_name
from device.session.commands.corrections import RenamePlayer
from device.storage.backups import add_missing_games, copy_games_to_file
from device.storage.errors import ArchiveError
from device.storage.statistics import HeadToHead
from engine.rules import UnplayedRule
from web.filters import build_score_charts
from web.game_archive import (
    MAX_COMMENT_CHARS,
    CommentChangedError,
    to_local_date,
)
from web.i18n import texts
from web.pages.actions import read_racks
from web.responses import refuse, render_page, require_admin, require_pairing, send_file, send_picture
from web.security.pairing import current_pairing, find_current_client, is_current_owner
from web.served_table import table

GAMES_PER_PAGE = 30
"""Number of games on one page of the list."""
RENAME_TIMEOUT_S = 10.0
"""Longest wait until the session has renamed a player of the game at the table, in seconds."""


routes = Blueprint("history", __name__)
_GAME = "/history/<int:number>"


@routes.get("/history")
def show_games() -> Response:
    """Return the page with the list of games. The query may contain a player and a range of days."""
    player = request.args.get("player", "")[:60]
    since, until = _parse_date("since"), _parse_date("until")
    found = table.archive.find_games(player, since, until)
    skip = max(0, request.args.get("skip", 0, type=int))
    lines = table.archive.make_lines(found[skip : skip + GAMES_PER_PAGE])
    return _render(
        "games",
        days=[(day, list(of_day)) for day, of_day in groupby(lines, attrgetter("day"))],
        players=table.archive.list_players_with_games(),
        player=player,
        since=since,
        until=until,
        all=len(found),
        earlier=_make_page_query(skip + GAMES_PER_PAGE) if skip + GAMES_PER_PAGE < len(found) else "",
        later=_make_page_query(max(0, skip - GAMES_PER_PAGE)) if skip else "",
    )


@routes.get(_GAME)
def show_game(number: int) -> Response:
    """Return the page of a game, with the position after the turn in the query (by default the last turn).

    A script gets only the part of the page that changes.
    """
    return _render_game(number)


def _render_game(number: int, draft: str | None = None) -> Response:
    """Return the page of a game. `draft` is a comment that was refused; the form for the comment shows it again."""
    replay = table.archive.load_replay(number)
    turn = min(max(0, request.args.get("turn", replay.turn_count, type=int)), replay.turn_count)
    state = replace(replay.build_state_after(turn), board_colours=table.session.state.board_colours)
    return _render(
        "game",
        frame="history/part.html" if request.headers.get("X-Part") is not None else "history/frame.html",
        line=replay.line,
        day=replay.line.day,
        share_name=f"{replay.line.day}-game-{number}.png",
        turn=turn,
        turns=replay.turn_count,
        state=state,
        board=replace(state, tile_set=""),  # without a tile set the squares are not rendered as links
        end=replay.build_state_after(replay.turn_count),
        charts=build_score_charts(state),
        picture=replay.find_picture_name(turn),
        has_racks=replay.has_racks,
        notices=replay.notices,
        comment=table.archive.read_comment(number),
        draft=draft,
        longest=MAX_COMMENT_CHARS,
    )


@routes.get(f"{_GAME}/game.gcg")
def send_gcg(number: int) -> Response:
    """Return the download of a game in GCG format; `unplayed` in the query is a rule for the unplayed letters."""
    text, name = table.archive.export_gcg(number, request.args.get("unplayed", type=UnplayedRule))
    return send_file(text, "text/plain", name)


@routes.get(f"{_GAME}/game.zip")
def send_zip(number: int) -> Response:
    """Return the download of a game with its pictures as a ZIP file."""
    parts, name = table.archive.export_zip(number)
    return send_file(parts, "application/zip", name)


@routes.get(f"{_GAME}/<int:event>.jpg")
def send_board_picture(number: int, event: int) -> Response:
    """Return the picture of a turn."""
    return send_picture(table.archive.store.read_picture(number, event, "board"))


@routes.post(f"{_GAME}/comment")
def save_comment(number: int) -> ResponseReturnValue:
    """Save the players' comment on a game and redirect to the page of the game.

    If another client has changed the comment, the page has both texts.
    """
    before, text = request.form.get("before", ""), request.form.get("comment", "")
    try:
        table.archive.save_comment(number, text, before)
    except CommentChangedError:
        page = _render_game(number, text)
        page.status_code = 409
        return page
    return redirect(f"/history/{number}", code=303)


@routes.post(f"{_GAME}/racks")
def enter_racks(number: int) -> ResponseReturnValue:
    """Enter unplayed letters that were not known when a game ended, and redirect to the page of the game.

    This is for games that are no longer at the table. The form has the fields `player` (the seat) and `letters` once
    for each missing rack. If there are several racks, those without letters are skipped.
    """
    table.archive.enter_racks(number, read_racks())
    return redirect(f"/history/{number}", code=303)


@routes.get(f"{_GAME}/delete")
def confirm_delete(number: int) -> ResponseReturnValue:
    """Return the form to confirm the deletion of a game."""
    line = table.archive.make_line(table.archive.find_game(number))
    if not find_current_client():
        return redirect("/pair", code=303)
    return _render("delete", line=line, day=line.day)


@routes.post(f"{_GAME}/delete")
def delete(number: int) -> ResponseReturnValue:
    """Delete a game and redirect to the list of games."""
    table.archive.delete_game(number)
    return redirect("/history", code=303)


@routes.post("/history/import")
def import_files() -> ResponseReturnValue:
    """Import games from uploaded files, and redirect to the page of the game, or to the list of several games.

    Files that cannot be imported are named; the others are imported.
    """
    files = request.files.getlist("file") or [FileStorage()]
    numbers, refused = [], []
    for file in files:
        with closing(file):
            try:
                numbers.append(table.archive.import_game(file.read()))
            except ArchiveError as error:
                refused.append(error if len(files) == 1 else f"{file.filename}: {texts().translate(error)}")
    if refused:
        t = texts()
        rest = t("history.imported_rest", count=len(numbers)) if numbers else ""
        return refuse(" ".join(filter(None, (*map(t.translate, refused), rest))))
    return redirect("/history" if len(files) > 1 else f"/history/{numbers[0]}", code=303)


@routes.get("/records")
def show_records() -> Response:
    """Return the page with the records of all players or of one player."""
    player = request.args.get("player", "")[:60]
    players, pairs = table.archive.compute_records(table.archive.find_games())
    own = next((record for record in players if record.name == player), None)
    if own is not None:
        pairs = tuple(_put_player_first(player, pair) for pair in pairs if player in pair.names)
    return _render("records", players=players, own=own, pairs=pairs, longest=MAX_PLAYER_NAME_LENGTH)


@routes.post("/records/rename")
def rename_player() -> ResponseReturnValue:
    """Rename a player in all games and redirect to the player's records.

    The name of another player is allowed only if the form has the field `merge`. In the game at the table, the
    player is renamed by a command to the session; if the table refuses it, nothing is renamed.
    """
    before, after = request.form.get("player", ""), clean_name(request.form.get("new_name", ""))
    names = [name for name, _ in table.archive.store.list_players()]
    seats = [seat for seat, player in enumerate(table.session.state.players) if player.name == before]
    if (before not in names and not seats) or not after or len(after) > MAX_PLAYER_NAME_LENGTH:
        return refuse(texts()("wrong.form"), 400)
    if after in names and after != before and "merge" not in request.form:
        return refuse(texts()("records.merge_first", name=after))
    if after != before:
        table.archive.check_never_met(before, after)
        for seat in seats:
            command = RenamePlayer(seat, after)
            table.session.submit(command, table.session.state.moment).result(RENAME_TIMEOUT_S)
        table.archive.rename_player(before, after)
        current_pairing.rename_player(before, after)  # phones of the player, who may not be in the game at the table
    return redirect(f"/records?{urlencode({'player': after})}", code=303)


def _render(template: str, **values: object) -> Response:
    return render_page(f"history/{template}.html", paired=find_current_client(), **values)


def _parse_date(field: str) -> date | None:
    """Return the date in a field of the query, or None if it is missing or invalid."""
    try:
        return date.fromisoformat(request.args.get(field, ""))
    except ValueError:
        return None


def _make_page_query(skip: int) -> Mapping[str, str]:
    """Return the query of the current page, with `skip` as the number of games to skip."""
    return {**request.args.to_dict(), "skip": str(skip)}


def _put_player_first(name: str, pair: HeadToHead) -> HeadToHead:
    """Return the statistics of a pair of players with the player `name` first."""
    if pair.names[0] == name:
        return pair
    return HeadToHead(pair.names[::-1], pair.games, pair.ahead[::-1], pair.points[::-1])


BYTES_PER_MB = 2**20


data_routes = Blueprint("data", __name__, url_prefix="/data")
data_routes.before_request(require_pairing)
data_admin_routes = Blueprint("data_of_admin", __name__, url_prefix="/data")
data_admin_routes.before_request(require_admin)


@data_routes.get("")
def show_data() -> Response:
    """Return the page that lists what is stored, for how long, and how to delete it."""
    pictures, limits = table.archive.store.summarise_pictures(), table.archive.store.picture_limits
    return render_page(
        "data/stored.html",
        games=len(table.archive.find_games()),
        players=len(table.archive.store.list_players()),
        pictures=pictures,
        oldest=to_local_date(pictures.oldest),
        limit_mb=limits.max_bytes // BYTES_PER_MB,
        limit_days=limits.max_age_days,
        phones=len(current_pairing.clients),
        folder=table.host.data_folder,
        restored=request.args.get("restored", type=int),
        admin=is_current_owner(),
    )


@data_admin_routes.get("/pictures/delete")
def confirm_delete_pictures() -> Response:
    """Return the form to confirm the deletion of all pictures."""
    return render_page("data/delete_pictures.html", pictures=table.archive.store.summarise_pictures())


@data_admin_routes.post("/pictures/delete")
def delete_pictures() -> ResponseReturnValue:
    """Delete all pictures and redirect to the page of stored data."""
    table.archive.store.delete_pictures()
    return redirect("/data", code=303)


@data_admin_routes.get("/games.db")
def download_games() -> Response:
    """Return a file with all games, without pictures."""
    name = f"tilekeeper-games-{date.today()}.db"
    return send_file(copy_games_to_file(table.archive.store), "application/vnd.sqlite3", name)


@data_admin_routes.post("/games")
def restore_games() -> ResponseReturnValue:
    """Add the games of a file from `download_games` that this table lacks, and redirect to the page of stored data."""
    with closing(request.files.get("file", FileStorage())) as file:
        count = add_missing_games(table.archive.store, file.read())
    return redirect(f"/data?restored={count}", code=303)
