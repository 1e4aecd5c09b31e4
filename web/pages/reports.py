"""Problem reports: prepared, first shown and then saved with the same contents; only the admin may open the pages."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from flask import Blueprint, Response, redirect, request
from flask.typing import ResponseReturnValue

from device.report.contents import LOG_MEMBER, Report, ReportChoice, ReportSources, make_report
from device.session.snapshot import TurnView
from device.storage.errors import GameNotFoundError
from engine.limits import MAX_REPORT_TURNS
from web.game_archive import GameArchive, GameLine
from web.host_info import HostInfo
from web.i18n import texts
from web.responses import refuse, render_page, require_admin, send_file, send_picture
from web.security.pairing import Pairing

MAX_PREPARED = 4
"""Largest number of prepared reports. Only their texts and events are in memory, not their pictures."""


class ProblemReports:
    """Prepared problem reports about stored games. The newest reports are kept, each with a random id."""

    def __init__(self, archive: GameArchive, pairing: Pairing, host: HostInfo) -> None:
        self._archive = archive
        self._lock = threading.Lock()
        self._prepared: dict[str, Report] = {}
        self._sources = ReportSources(
            host.examine, host.read_log, host.find_version, lambda: _list_secrets(pairing, host)
        )

    def prepare(self, choice: ReportChoice) -> tuple[str, Report]:
        """Collect the contents of a report; return its id and the report. Raises `GameNotFoundError`, `StoreError`."""
        report = make_report(self._archive.store, choice, self._sources, time.time())
        number = secrets.token_hex(8)
        with self._lock:
            self._prepared = dict([*self._prepared.items(), (number, report)][-MAX_PREPARED:])
        return number, report

    def find(self, number: str) -> Report | None:
        """Return the prepared report with the id `number`, or None if it is no longer kept."""
        with self._lock:
            return self._prepared.get(number)

    def write(self, report: Report) -> Iterator[bytes]:
        """Return the chunks of the ZIP file of a report. Raises `StoreError`."""
        return report.write(self._archive.store)


def _list_secrets(pairing: Pairing, host: HostInfo) -> Iterable[str]:
    """Return all texts that give access to the Wi-Fi or the table, such as passwords and pairing codes."""
    passwords = (host.wifi[1] if host.wifi else "", host.hotspot.password if host.hotspot else "")
    return (*pairing.secrets, *passwords)


CHOSEN_TURNS = 3
"""Number of the newest turns that are selected when the form for a report opens."""
MAX_OFFERED_GAMES = 20


def create_blueprint(reports: ProblemReports, archive: GameArchive, pairing: Pairing) -> Blueprint:
    """Return the routes `/report` and below."""
    routes = Blueprint("report", __name__, url_prefix="/report")
    routes.before_request(lambda: require_admin(pairing))
    routes.register_error_handler(GameNotFoundError, lambda error: refuse(texts().translate(error), 404))
    pages = ReportPages(reports, archive)
    routes.get("")(pages.choose)
    routes.get("/preview")(pages.preview)
    routes.get("/<report>/report.zip")(pages.save)
    routes.get("/photos/<int:number>/<int:event>.jpg")(pages.photo)
    return routes


@dataclass(frozen=True)
class ReportPages:
    """The view functions for problem reports."""

    reports: ProblemReports
    archive: GameArchive

    def choose(self) -> Response:
        """Return the form to choose a game, its turns, and what is left out."""
        games = self.archive.make_lines(self.archive.find_games()[:MAX_OFFERED_GAMES])
        number = request.args.get("game", games[0].number if games else 0, type=int)
        line = next((line for line in games if line.number == number), None)
        turns, names = self._list_turns(line) if line else ([], ())
        return render_page(
            "data/report.html",
            games=games,
            line=line,
            names=names,
            turns=turns[:MAX_REPORT_TURNS],
            chosen=CHOSEN_TURNS,
        )

    def preview(self) -> ResponseReturnValue:
        """Prepare the report for the choices in the query, and return the page with its contents."""
        events = request.args.getlist("event", type=int)[:MAX_REPORT_TURNS]
        choice = ReportChoice(
            request.args.get("game", 0, type=int),
            tuple(sorted(set(events))),
            has_names="names" in request.args,
            has_photos="photos" in request.args,
        )
        report_id, report = self.reports.prepare(choice)
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

    def save(self, report: str) -> ResponseReturnValue:
        """Return the ZIP file of a prepared report. If the report is no longer kept, redirect to the form."""
        found = self.reports.find(report)
        return redirect("/report", code=303) if found is None else send_report(self.reports, found)

    def photo(self, number: int, event: int) -> Response:
        """Return the whole photograph of an event."""
        return send_picture(self.archive.store.read_picture(number, event, "photo"), "no-store")

    def _list_turns(self, line: GameLine) -> tuple[list[tuple[TurnView, int]], tuple[str, ...]]:
        """Return the turns with a picture (newest first) as (turn, event), and the players' names."""
        try:
            replay = self.archive.load_replay(line.number)
        except GameNotFoundError:
            return [], line.players  # a damaged game can be reported too, without pictures
        state = replay.build_state_after(replay.turn_count)
        pairs = zip(state.turns, replay.picture_events, strict=True)
        found = [(turn, event) for turn, event in pairs if event is not None]
        return found[::-1], tuple(player.name for player in state.players)


def send_report(reports: ProblemReports, report: Report) -> Response:
    """Return the response with the ZIP file of a report."""
    answer = send_file(reports.write(report), "application/zip", report.file_name)
    answer.headers["Cache-Control"] = "no-store"
    return answer
