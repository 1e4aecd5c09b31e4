"""The event of a hall: pairings, standings, results by hand, and the games of a round as files."""

from __future__ import annotations

import io
import time
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

from flask import Blueprint, Response, abort, request
from flask.typing import ResponseReturnValue

from device.hall.hall_state import HallState
from device.hall.inbox import is_player_name
from device.hall.received_games import ReceivedGames
from device.hall.results import Result
from device.hall.standings import Pairing as PairedPlayers
from device.hall.standings import PairingsError, compute_standings, format_csv, match_results
from device.storage.game_log import replay_log
from engine.events import from_json
from engine.gcg import build_record, format_gcg
from engine.lexicon import load_shipped_lexicon
from web.hall.feed import MAX_DELAY_S
from web.hall.view import HallView
from web.i18n import texts
from web.responses import accept, refuse, render_page, send_file
from web.security.pairing import Pairing, current_client

EVENT_PATH = "/event"
MAX_POINTS = 1999

Round = Sequence[tuple[PairedPlayers, Result | None]]


class Hall(Protocol):
    """What the pages need of the hall (`device.hall.receiver.HallReceiver`)."""

    state: HallState
    games: ReceivedGames
    delay_s: float

    def set_pairings(self, text: str) -> None:
        """Replace the pairings of the event."""

    def add_result(self, result: Result) -> None:
        """Add a result of a table without a camera."""

    def set_delay(self, seconds: float) -> None:
        """Let viewers see everything so many seconds late."""


def create_blueprint(live: HallView, delayed: HallView, hall: Hall, pairing: Pairing) -> Blueprint:
    """Return the routes `/event` and below; only paired devices may change something."""
    routes = Blueprint("event", __name__, url_prefix=EVENT_PATH)
    pages = EventPages(live, delayed, hall, pairing)
    routes.get("")(pages.event)
    routes.get("/round-<int:number>.csv")(pages.send_csv)
    routes.get("/round-<int:number>.zip")(pages.send_games)
    routes.post("/pairings")(pages.set_pairings)
    routes.post("/result")(pages.add_result)
    routes.post("/delay")(pages.set_delay)
    return routes


@dataclass(frozen=True)
class EventPages:
    """The view functions of the event."""

    live: HallView
    delayed: HallView
    hall: Hall
    pairing: Pairing

    @property
    def state(self) -> HallState:
        """The hall as this client may see it."""
        return (self.live if current_client(self.pairing) else self.delayed).state

    def event(self) -> Response:
        """Return standings and rounds, and for the director the forms."""
        state = self.state
        lines = [",".join((str(one.round), one.table, one.first, one.second)) for one in state.pairings]
        return render_page(
            "hall/event.html",
            standings=compute_standings(state.pairings, state.results),
            rounds=[(number, self._find_round(number)) for number in sorted({one.round for one in state.pairings})],
            pairings_text="\n".join(lines),
            director=current_client(self.pairing),
            delay_s=round(self.hall.delay_s),
            max_delay_s=round(MAX_DELAY_S),
        )

    def send_csv(self, number: int) -> Response:
        """Return the results of a round as CSV."""
        return send_file(format_csv(self._find_round(number)), "text/csv; charset=utf-8", f"round-{number}.csv")

    def send_games(self, number: int) -> Response:
        """Return the games of a round that have ended, each as a GCG file, in a ZIP file."""
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as members:
            for i, (_, result) in enumerate(self._find_round(number), 1):
                if result and result.game:
                    game = replay_log(from_json(event.body) for event in self.hall.games.read_events(result.game))
                    record = build_record(game, lexicon=load_shipped_lexicon(game.tiles.name))
                    members.writestr(f"round-{number}-{i}.gcg", format_gcg(record))
        return send_file(iter([file.getvalue()]), "application/zip", f"round-{number}.zip")

    def set_pairings(self) -> ResponseReturnValue:
        """Replace the pairings."""
        try:
            self.hall.set_pairings(request.form.get("pairings", ""))
        except PairingsError as error:
            return refuse(texts().translate(error))
        return accept(EVENT_PATH)

    def add_result(self) -> ResponseReturnValue:
        """Add a result of two players."""
        players = tuple(name.strip() for name in request.form.getlist("player"))
        points = request.form.getlist("points")
        is_sound = len(players) == 2 == len(points) and players[0].casefold() != players[1].casefold()
        if not (is_sound and all(map(is_player_name, players)) and all(map(_is_number, points))):
            return refuse(texts()("hall.wrong_result"))
        totals = tuple(map(int, points))
        winners = tuple(seat for seat, total in enumerate(totals) if total == max(totals))
        self.hall.add_result(Result("", players, totals, winners, time.time()))
        return accept(EVENT_PATH)

    def set_delay(self) -> ResponseReturnValue:
        """Set the delay of all viewers but the director."""
        seconds = request.form.get("seconds", "")
        if not (seconds.isascii() and seconds.isdecimal() and len(seconds) < 6 and int(seconds) <= MAX_DELAY_S):
            return refuse(texts()("hall.wrong_delay", most=round(MAX_DELAY_S)))
        self.hall.set_delay(float(seconds))
        return accept(EVENT_PATH)

    def _find_round(self, number: int) -> Round:
        state = self.state
        rounds = groupby(match_results(state.pairings, state.results), key=lambda line: line[0].round)
        return next((list(lines) for found, lines in rounds if found == number), None) or abort(404)


def _is_number(text: str) -> bool:
    return text.removeprefix("-").isascii() and text.removeprefix("-").isdecimal() and abs(int(text[:6])) <= MAX_POINTS
