"""The page of a hall's event (a tournament), its forms for the director, and its files with results and games."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from flask import Blueprint, Response, abort, request
from flask.typing import ResponseReturnValue

from device.hall.director import DirectorCommand, OfferPairing, SetTableName, StartClock, is_sound_command
from device.hall.receiving.hall_state import HallState
from device.hall.receiving.pairings import (
    PairingsError,
    Result,
    format_csv,
    format_pairings,
    make_pair_key,
    make_players_key,
    parse_pairings,
)
from device.hall.receiving.received_games import ReceivedGames
from device.hall.receiving.standings import match_games
from device.player_names import is_player_name, normalize_name
from device.session.snapshot import Phase
from device.storage.checksums import compute_checksum
from device.storage.game_log import read_ledger
from device.storage.zip_files import generate_zip
from engine.errors import RulesError
from engine.game import Game
from engine.gcg import build_record, format_gcg
from engine.lexicon import load_shipped_lexicon
from web.hall.feed import MAX_DELAY_S
from web.hall.view import EventView, HallView, Round, match_rounds
from web.i18n import texts
from web.live import send_message, send_stream
from web.responses import accept, is_document_request, refuse, render_page, send_file
from web.security.pairing import Pairing, find_current_client

EVENT_PATH = "/event"
MAX_POINTS = 1999


class Hall(Protocol):
    """The methods of a hall that its pages use; `device.hall.receiving.receiver.HallReceiver` implements them."""

    state: HallState
    games: ReceivedGames
    delay_s: float

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the hall's key, for comparison at the tables."""

    def set_pairings(self, text: str) -> None:
        """Replace the pairings of the event."""

    def begin_event(self) -> None:
        """Begin a new event without pairings and results."""

    def add_result(self, result: Result) -> None:
        """Add a result of a table without a camera."""

    def remove_result(self, result: Result) -> None:
        """Remove a result that the director entered."""

    def count_game(self, game: int) -> None:
        """Count a game that ended before the event began by the clock of its table."""

    def forget_table(self, name: str) -> None:
        """Remove a table that is not online, until it connects again."""

    def set_delay(self, seconds: float) -> None:
        """Set the delay, in seconds, with which viewers see the hall."""

    def send_orders(self, commands: Iterable[tuple[str, DirectorCommand]]) -> int:
        """Send each command to the table whose name is given with the command; return how many were sent."""


def create_blueprint(
    live: HallView, delayed: HallView, hall: Hall, pairing: Pairing, show_newest: Callable[[], None]
) -> Blueprint:
    """Return the routes `/event` and below; only paired devices may send forms.

    `live` is the view for paired devices, and `delayed` the view for all other devices. `show_newest` updates `live`
    after a form, because the page that follows must show the change: its texts are saved with the next form.
    """
    routes = Blueprint("event", __name__, url_prefix=EVENT_PATH)

    @routes.after_request
    def show_change(response: Response) -> Response:
        if request.method == "POST":
            show_newest()
        return response

    pages = EventPages(live, delayed, hall, pairing)
    routes.get("")(pages.event)
    routes.get("/live/stream")(pages.stream)
    routes.get("/live/state")(pages.newest)
    routes.get("/round-<int:number>.csv")(pages.send_csv)
    routes.get("/round-<int:number>.zip")(pages.send_games)
    routes.post("/pairings")(pages.set_pairings)
    routes.post("/new")(pages.begin_event)
    routes.post("/result")(pages.add_result)
    routes.post("/result/remove")(pages.remove_result)
    routes.post("/count")(pages.count_game)
    routes.post("/delay")(pages.set_delay)
    routes.post("/name")(pages.name_table)
    routes.post("/forget")(pages.forget_table)
    routes.post("/round-<int:number>/send")(pages.send_pairings)
    routes.post("/start-clocks")(pages.start_clocks)
    return routes


@dataclass(frozen=True)
class EventPages:
    """The view functions for the page of the hall's event (a tournament), its forms and its files."""

    live: HallView
    delayed: HallView
    hall: Hall
    pairing: Pairing

    @property
    def state(self) -> HallState:
        """The state of the hall for the client of the request: delayed, unless the client is paired."""
        return self._choose_view().state

    def _choose_view(self) -> EventView:
        return EventView(self.live if find_current_client(self.pairing) else self.delayed)

    def stream(self) -> ResponseReturnValue:
        """Return the response with a stream of the changes of the event."""
        return send_stream(self._choose_view().open_stream)

    def newest(self) -> ResponseReturnValue:
        """Return the changes of the event since the state that the client shows."""
        event = self._choose_view()
        return send_message(event.view.newest_id, lambda since: event.build_message(texts(), since))

    def event(self) -> Response:
        """Return the page with standings and rounds. The director's page also has the forms."""
        return self._render()

    def _refuse(self, problem: str) -> Response:
        """Return the page with `problem`, the reason why a form was refused; for a script, return only the reason.

        The forms of the page have the refused entries again, for correction.
        """
        if not is_document_request():
            return refuse(problem)
        page = self._render(problem)
        page.status_code = 409
        return page

    def _render(self, problem: str = "") -> Response:
        event = self._choose_view()
        live_id, state = event.view.newest_id, event.state
        rounds = match_rounds(state)
        open_rounds = (number for number, games in rounds.items() if not all(result for _, result in games))
        return render_page(
            "hall/event.html",
            live_id=live_id,
            parts=event.render_parts(texts()),
            rounds=list(rounds),
            open_round=request.form.get("round", next(open_rounds, 0), int),
            names=sorted({name for one in state.pairings for name in (one.first, one.second) if name}),
            problem=problem,
            entries=request.form,
            pairings_text=request.form.get("pairings", format_pairings(state.pairings)),
            pairings_version=request.form.get("before") or _make_version(state),
            director=find_current_client(self.pairing),
            delay_s=request.form.get("seconds", round(self.hall.delay_s)),
            max_delay_s=round(MAX_DELAY_S),
            tables=list(state.tables.values()),
            entered=[result for result in state.results if not result.game],
            late=state.late_results[::-1],
            find_title=state.find_title,
            fingerprint=self.hall.fingerprint,
            sent=request.args.get("sent", type=int),
        )

    def send_csv(self, number: int) -> Response:
        """Return the results of a round as CSV, with the titles of the tables."""
        find_title = self.state.find_title
        games = [(replace(pairing, table=find_title(pairing.table)), one) for pairing, one in self._find_round(number)]
        return send_file(format_csv(games, texts()("hall.csv_delimiter")), "text/csv", f"round-{number}.csv")

    def send_games(self, number: int) -> Response:
        """Return a ZIP file with the finished games of a round, each as a GCG file.

        The games are as they were played, even if the director has entered another result. For a game that GCG cannot
        describe, there is a text that says so.
        """
        state = self.state
        matched = match_games(state.resolve_pairings(), state.results)
        games = [game_id for pairing, game_id in matched if pairing.round == number]
        if not games:
            abort(404)
        members: list[tuple[str, bytes]] = []
        for i, game_id in enumerate(games, 1):
            if game_id:
                game = read_ledger(event.body for event in self.hall.games.read_events(game_id)).game
                suffix, text = _export_game(game)
                members.append((f"round-{number}-{i}{suffix}", text.encode()))
        return send_file(generate_zip(members, time.time()), "application/zip", f"round-{number}.zip")

    def set_pairings(self) -> ResponseReturnValue:
        """Replace the pairings by those in the form, unless they have changed since the page was opened.

        A form that is sent twice is accepted twice.
        """
        text = request.form.get("pairings", "")
        is_old = request.form.get("before") not in (None, _make_version(self.hall.state))
        try:
            if is_old and parse_pairings(text) != self.hall.state.pairings:
                return self._refuse(texts()("hall.pairings_changed"))
            self.hall.set_pairings(text)
        except PairingsError as error:
            return self._refuse(texts().translate(error))
        return accept(EVENT_PATH)

    def begin_event(self) -> ResponseReturnValue:
        """Begin a new event."""
        self.hall.begin_event()
        return accept(EVENT_PATH)

    def add_result(self) -> ResponseReturnValue:
        """Add the result of two players from the form."""
        players = tuple(map(normalize_name, request.form.getlist("player")))
        points = request.form.getlist("points")
        are_two = len(players) == 2 and len(points) == 2 and players[0].casefold() != players[1].casefold()
        if not are_two or not all(map(is_player_name, players)) or not all(map(_is_number, points)):
            return self._refuse(texts()("hall.wrong_result"))
        number = request.form.get("round", 0, int)
        pair_keys = [make_pair_key(one) for one in self.hall.state.pairings if one.round == number]
        if number and make_players_key(players) not in pair_keys:
            return self._refuse(texts()("hall.no_pairing", number=number))
        totals = tuple(map(int, points))
        winners = tuple(seat for seat, total in enumerate(totals) if total == max(totals))
        self.hall.add_result(Result("", players, totals, winners, time.time(), round=number))
        return accept(EVENT_PATH)

    def remove_result(self) -> ResponseReturnValue:
        """Remove a result that was entered by hand; the form identifies it by the time of its entry."""
        for result in self.hall.state.results:
            if not result.game and str(result.ended) == request.form.get("ended"):
                self.hall.remove_result(result)
        return accept(EVENT_PATH)

    def count_game(self) -> ResponseReturnValue:
        """Count the late game that is chosen in the form."""
        game = request.form.get("game", 0, int)
        if any(result.game == game for result in self.hall.state.late_results):
            self.hall.count_game(game)
        return accept(EVENT_PATH)

    def set_delay(self) -> ResponseReturnValue:
        """Set the delay for all viewers except the director."""
        seconds = request.form.get("seconds", "")
        if not (seconds.isascii() and seconds.isdecimal() and len(seconds) < 6 and int(seconds) <= MAX_DELAY_S):
            return self._refuse(texts()("hall.wrong_delay", most=round(MAX_DELAY_S)))
        self.hall.set_delay(float(seconds))
        return accept(EVENT_PATH)

    def name_table(self) -> ResponseReturnValue:
        """Send the order to set a table's name."""
        command = SetTableName(request.form.get("name", "").strip())
        if not is_sound_command(command):
            return self._refuse(texts()("hall.wrong_name"))
        table = request.form.get("table", "")
        others = [other for other in self.state.tables.values() if other.name != table]
        taken_names = {name.casefold() for other in others for name in (other.name, other.title)}
        if command.name.casefold() in taken_names:
            return self._refuse(texts()("hall.name_taken"))
        return self._send([(table, command)])

    def forget_table(self) -> ResponseReturnValue:
        """Remove a table that does not come back, for example because it has a new name."""
        self.hall.forget_table(request.form.get("table", ""))
        return accept(EVENT_PATH)

    def send_pairings(self, number: int) -> ResponseReturnValue:
        """Send each pairing of a round to its table, as the players of the next game."""
        pairings = [pairing for pairing, _ in self._find_round(number) if pairing.table and pairing.second]
        return self._send([(one.table, OfferPairing((one.first, one.second))) for one in pairings])

    def start_clocks(self) -> ResponseReturnValue:
        """Order all tables to start the clock."""
        paused = [name for name, table in self.state.tables.items() if table.phase is Phase.PAUSED]
        if not paused:
            return self._refuse(texts()("hall.none_paused"))
        return self._send([(name, StartClock()) for name in paused])

    def _send(self, commands: Sequence[tuple[str, DirectorCommand]]) -> ResponseReturnValue:
        sent = self.hall.send_orders(commands)
        return accept(f"{EVENT_PATH}?sent={sent}") if sent else self._refuse(texts()("hall.none_sent"))

    def _find_round(self, number: int) -> Round:
        return match_rounds(self.state).get(number) or abort(404)


def _export_game(game: Game) -> tuple[str, str]:
    """Return the suffix and the text of a file with a game; the text says if GCG cannot describe the game."""
    try:
        return ".gcg", format_gcg(build_record(game, lexicon=load_shipped_lexicon(game.tiles.name)))
    except RulesError as error:
        return ".txt", f"{' - '.join(game.players)}: {texts().translate(error)}\n"


def _make_version(state: HallState) -> str:
    """Return a text that identifies the pairings of an event."""
    return compute_checksum(*state.pairings)


def _is_number(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdecimal() and len(digits) <= len(str(MAX_POINTS)) and int(digits) <= MAX_POINTS
