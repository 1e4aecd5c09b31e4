"""The page of a hall's event (a tournament), its forms for the director, and its files with results and games."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from flask import Blueprint, Response, abort, redirect, request
from flask.typing import ResponseReturnValue
from msgspec.structs import replace as replace_struct

from device.hall.director import SetTableName, is_sound_command
from device.hall.receiving.event import Event, Line, PairingsError, decide, fold_name, make_players_key
from device.hall.receiving.hall_state import HallState
from device.hall.receiving.pairings import format_csv, format_pairings, format_tsh, import_pairings
from device.hall.receiving.receiver import HallReceiver
from device.storage.damage import compute_checksum
from device.storage.game_file import generate_zip
from device.storage.game_log import read_ledger
from engine.errors import RulesError
from engine.game import Game
from engine.gcg import build_record, format_gcg
from engine.lexicon import load_shipped_lexicon
from web.hall.feed import MAX_DELAY_S
from web.hall.view import HallPage, HallView, render_event
from web.i18n import texts
from web.responses import accept, is_document_request, refuse, render_page, send_file
from web.security.pairing import find_current_client

EVENT_PATH = "/event"
MAX_POINTS = 1999
WOOGLES_ADDRESS = "https://woogles.io/scrabblecam/callback"
"""Page that accepts a GCG in its query (`boardwizard/callback_handler.tsx` in github.com/woogles-io/liwords)."""


def create_blueprint(
    live: HallView, delayed: HallView, hall: HallReceiver, show_newest: Callable[[], None]
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

    pages = EventPages(live, delayed, hall)
    routes.get("")(pages.event)
    routes.get("/live/stream")(pages.stream)
    routes.get("/live/state")(pages.newest)
    for suffix in ("csv", "tsh", "zip"):
        routes.get(f"/round-<int:number>.{suffix}", endpoint=suffix)(getattr(pages, f"send_{suffix}"))
    routes.get("/games/<int:game>/woogles")(pages.open_in_woogles)
    routes.post("/round-<int:number>/pairings")(pages.set_pairings)
    routes.post("/round-<int:number>/result")(pages.add_result)
    routes.post("/round-<int:number>/send")(pages.send_pairings)
    routes.post("/round-<int:number>/start")(pages.start_round)
    routes.post("/undo")(pages.undo)
    routes.post("/new")(pages.begin_event)
    routes.post("/count")(pages.count_game)
    routes.post("/delay")(pages.set_delay)
    routes.post("/name")(pages.name_table)
    routes.post("/forget")(pages.forget_table)
    return routes


@dataclass(frozen=True)
class EventPages:
    """The view functions for the page of the hall's event (a tournament), its forms and its files."""

    live: HallView
    delayed: HallView
    hall: HallReceiver

    @property
    def state(self) -> HallState:
        """The state of the hall for the client of the request: delayed, unless the client is paired."""
        return self._choose_view().state

    def _choose_view(self) -> HallView:
        return self.live if find_current_client() else self.delayed

    def _make_page(self) -> HallPage:
        return HallPage("event", self._choose_view(), render_event)

    def stream(self) -> ResponseReturnValue:
        """Return the response with a stream of the changes of the event."""
        return self._make_page().send_stream()

    def newest(self) -> ResponseReturnValue:
        """Return the changes of the event since the state that the client shows."""
        return self._make_page().send_newest()

    def event(self) -> Response:
        """Return the page with standings and rounds. The director's page also has the forms."""
        return self._render()

    def _refuse(self, problem: str, number: int = 0) -> Response:
        """Return the page with `problem`, the reason why a form was refused; for a script, return only the reason.

        The forms of the page have the refused entries again, for correction.
        """
        if not is_document_request():
            return refuse(problem)
        page = self._render(problem, number)
        page.status_code = 409
        return page

    def _render(self, problem: str = "", number: int = 0) -> Response:
        view = self._choose_view()
        live_id, state = view.newest_id, view.state
        rounds = state.rounds
        current = state.current_round
        shown = number or request.args.get("round", current or 1, type=int)
        pairings = state.event.rounds.get(shown, ())
        new_players, missing_players = state.event.compare_players(shown) if shown >= current else ((), ())
        director = find_current_client() if "print" not in request.args else None
        return render_page(
            "hall/event.html",
            live_id=live_id,
            parts=render_event(view, texts()),
            rounds=rounds,
            current=current,
            shown=shown,
            lines=rounds.get(shown, ()),
            problem=problem,
            new_players=new_players,
            missing_players=missing_players,
            entries=request.form,
            pairings_text=request.form.get("pairings", format_pairings(pairings)),
            pairings_version=request.form.get("before") or compute_checksum(*pairings),
            director=director,
            delay_s=request.form.get("seconds", round(self.hall.delay_s)),
            max_delay_s=round(MAX_DELAY_S),
            tables=list(state.tables.values()),
            state=state,
            fingerprint=self.hall.fingerprint,
        )

    def send_csv(self, number: int) -> Response:
        """Return the results of a round as CSV, with the titles of the tables."""
        lines = self._find_round(number)
        titles = (self.state.find_title(self.state.find_name(line.pairing.table)) for line in lines)
        named = [
            replace(line, pairing=replace_struct(line.pairing, table=title))
            for line, title in zip(lines, titles, strict=True)
        ]
        return send_file(format_csv(named, texts()("hall.csv_delimiter")), "text/csv", f"round-{number}.csv")

    def send_tsh(self, number: int) -> Response:
        """Return the results of a round as lines for tsh: `number points number points`."""
        text = format_tsh(self._find_round(number), self.state.event.numbered_players)
        return send_file(text, "text/plain", f"round-{number}-tsh.txt")

    def send_zip(self, number: int) -> Response:
        """Return a ZIP file with the games of a round as GCG files, named by round, table and players.

        The games are as they were played, even if the director has entered another result. For a game that GCG cannot
        describe, there is a text that says so.
        """
        members: list[tuple[str, bytes]] = []
        for line in self._find_round(number):
            found = line.game or next(iter(line.games[::-1]), None)
            if found and found.ended:
                suffix, text = export_game(self._load_game(found.game))
                words = [f"round-{number}", f"table-{line.pairing.table or 0}", line.pairing.first, line.pairing.second]
                name = re.sub(r"[^\w.]+", "-", "-".join(words))
                members.append((f"{name}{suffix}", text.encode()))
        return send_file(generate_zip(members, time.time()), "application/zip", f"round-{number}.zip")

    def open_in_woogles(self, game: int) -> ResponseReturnValue:
        """Redirect to Woogles, which asks a user who has logged in whether to add the game to the annotated ones."""
        if not any(line.game and line.game.game == game for lines in self.state.rounds.values() for line in lines):
            abort(404)
        suffix, text = export_game(self._load_game(game))
        return redirect(f"{WOOGLES_ADDRESS}?{urlencode({'gcg': text})}", 303) if suffix == ".gcg" else refuse(text)

    def _load_game(self, game: int) -> Game:
        return read_ledger(event.body for event in self.hall.games.read_events(game)).game

    def set_pairings(self, number: int) -> ResponseReturnValue:
        """Replace the pairings of a round by those in the form, unless they have changed since the page was opened.

        A form that is sent twice is accepted twice.
        """
        text = request.form.get("pairings", "")

        def save(event: Event) -> Event:
            changed = import_pairings(event, text, number)
            is_old = request.form.get("before") not in (None, compute_checksum(*event.rounds.get(number, ())))
            if is_old and changed != event:
                raise PairingsError(texts()("hall.pairings_changed"))
            return changed

        try:
            self.hall.edit_event(save)
        except PairingsError as error:
            return self._refuse(texts().translate(error), number)
        return _accept(number)

    def begin_event(self) -> ResponseReturnValue:
        """Begin a new event."""
        self.hall.begin_event()
        return accept(EVENT_PATH)

    def undo(self) -> ResponseReturnValue:
        """Undo the last change of the event."""
        self.hall.undo_edit()
        return accept(EVENT_PATH)

    def add_result(self, number: int) -> ResponseReturnValue:
        """Enter the result of the pairing of the player in the form; without points, the hall chooses a game again."""
        first, points = request.form.get("player", ""), request.form.getlist("points")
        if fold_name(first) not in [fold_name(line.pairing.first) for line in self._find_round(number)]:
            return self._refuse(texts()("hall.pairings_changed"), number)
        if not any(points):
            self.hall.edit_event(lambda event: decide(event, number, first))
            return _accept(number)
        if len(points) != 2 or not all(map(_is_number, points)):
            return self._refuse(texts()("hall.wrong_result"), number)
        entered = int(points[0]), int(points[1])
        self.hall.edit_event(lambda event: decide(event, number, first, points=entered))
        return _accept(number)

    def count_game(self) -> ResponseReturnValue:
        """Count the game that is chosen in the form for its players' pairing of a round, as `round-game`."""
        match = re.fullmatch(r"(\d{1,3})-(\d{1,18})", request.form.get("choice", ""), re.ASCII)
        number, game = map(int, match.groups()) if match else (0, 0)
        result = self.state.find_game_result(game)
        key = make_players_key(result.players) if result else frozenset()
        for line in self._find_round(number):
            if line.pairing.key == key:
                first = line.pairing.first
                self.hall.edit_event(lambda event: decide(event, number, first, game=game))  # noqa: B023
        return _accept(number)

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
        if not self.hall.name_table(table, command.name):
            return self._refuse(texts()("hall.none_sent"))
        return accept(EVENT_PATH)

    def forget_table(self) -> ResponseReturnValue:
        """Remove a table that does not come back, for example because it has a new name."""
        self.hall.forget_table(request.form.get("table", ""))
        return accept(EVENT_PATH)

    def send_pairings(self, number: int) -> ResponseReturnValue:
        """Send each pairing of a round to its table, as the players of the next game; their games wait for the start.

        A table that is not connected gets its pairing when it connects.
        """
        self._find_round(number)
        self.hall.edit_event(
            lambda event: replace_struct(event, sent=number, is_started=event.is_started and event.sent == number)
        )
        return _accept(number)

    def start_round(self, number: int) -> ResponseReturnValue:
        """Start a round: the games of its pairings that wait begin, and later ones begin at once.

        A game that players have paused stays paused.
        """
        self._find_round(number)
        self.hall.edit_event(lambda event: replace_struct(event, sent=number, is_started=True))
        return _accept(number)

    def _find_round(self, number: int) -> list[Line]:
        return list(self.state.rounds.get(number, ())) or abort(404)


def _accept(number: int) -> ResponseReturnValue:
    return accept(f"{EVENT_PATH}?round={number}")


def export_game(game: Game) -> tuple[str, str]:
    """Return the suffix and the text of a file with a game; the text says if GCG cannot describe the game."""
    try:
        return ".gcg", format_gcg(build_record(game, lexicon=load_shipped_lexicon(game.tiles.name)))
    except RulesError as error:
        return ".txt", f"{' - '.join(game.players)}: {texts().translate(error)}\n"


def _is_number(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdecimal() and len(digits) <= len(str(MAX_POINTS)) and int(digits) <= MAX_POINTS
