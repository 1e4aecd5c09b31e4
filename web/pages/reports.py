"""Problem reports: prepared, first shown and then saved with the same contents; only the admin may open the pages."""

from __future__ import annotations

from flask import Blueprint, Response, redirect, request
from flask.typing import ResponseReturnValue

from device.report.contents import LOG_MEMBER, Report, ReportChoice
from device.session.snapshot import TurnView
from device.storage.errors import GameNotFoundError
from engine.limits import MAX_REPORT_TURNS
from web.game_archive import GameLine
from web.responses import render_page, require_admin, send_file, send_picture
from web.served_table import table

CHOSEN_TURNS = 3
"""Number of the newest turns that are selected when the form for a report opens."""
MAX_OFFERED_GAMES = 20


routes = Blueprint("report", __name__, url_prefix="/report")
routes.before_request(require_admin)


@routes.get("")
def show_choices() -> Response:
    """Return the form to choose a game, its turns, and what is left out."""
    games = table.archive.make_lines(table.archive.find_games()[:MAX_OFFERED_GAMES])
    number = request.args.get("game", games[0].number if games else 0, type=int)
    line = next((line for line in games if line.number == number), None)
    turns, names = _list_turns(line) if line else ([], ())
    return render_page(
        "data/report.html",
        games=games,
        line=line,
        names=names,
        turns=turns[:MAX_REPORT_TURNS],
        chosen=CHOSEN_TURNS,
    )


@routes.get("/preview")
def preview() -> ResponseReturnValue:
    """Prepare the report for the choices in the query, and return the page with its contents."""
    events = request.args.getlist("event", type=int)[:MAX_REPORT_TURNS]
    choice = ReportChoice(
        request.args.get("game", 0, type=int),
        tuple(sorted(set(events))),
        has_names="names" in request.args,
        has_photos="photos" in request.args,
    )
    report_id, report = table.reports.prepare(choice)
    members = report.list_members()
    return render_page(
        "data/preview.html",
        id=report_id,
        report=report,
        texts=report.texts.items(),
        members=members,
        size=sum(size for _, size in members),
        has_log=bool(report.texts[LOG_MEMBER].strip()),
    )


@routes.get("/<report>/report.zip")
def save(report: str) -> ResponseReturnValue:
    """Return the ZIP file of a prepared report. If the report is no longer kept, redirect to the form."""
    found = table.reports.find(report)
    return redirect("/report", code=303) if found is None else send_report(found)


@routes.get("/photos/<int:number>/<int:event>.jpg")
def send_photo(number: int, event: int) -> Response:
    """Return the whole photograph of an event."""
    return send_picture(table.archive.store.read_picture(number, event, "photo"), "no-store")


def _list_turns(line: GameLine) -> tuple[list[tuple[TurnView, int]], tuple[str, ...]]:
    """Return the turns with a picture (newest first) as (turn, event), and the players' names."""
    try:
        replay = table.archive.load_replay(line.number)
    except GameNotFoundError:
        return [], line.players  # a damaged game can be reported too, without pictures
    state = replay.build_state_after(replay.turn_count)
    pairs = zip(state.turns, replay.picture_events, strict=True)
    found = [(turn, event) for turn, event in pairs if event is not None]
    return found[::-1], tuple(player.name for player in state.players)


def send_report(report: Report) -> Response:
    """Return the response with the ZIP file of a report."""
    answer = send_file(report.write(table.archive.store), "application/zip", report.file_name)
    answer.headers["Cache-Control"] = "no-store"
    return answer
