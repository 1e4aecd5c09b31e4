"""The page of a hall's event (a tournament), its forms for the director, and its files with results and games."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from urllib.parse import urlencode

from flask import Blueprint, Response, abort, redirect, request
from flask.typing import ResponseReturnValue
from msgspec.structs import replace as replace_struct

from device.hall.director import SetTableName, is_sound_command
from device.hall.receiving.event import Event, Line, PairingsError, decide, fold_name, make_players_key
from device.hall.receiving.pairings import format_csv, format_pairings, format_tsh, import_pairings
from device.storage.archive import generate_zip
from device.storage.database import compute_checksum
from device.storage.game_log import read_ledger
from engine.errors import RulesError
from engine.game import Game
from engine.gcg import build_record, format_gcg
from engine.lexicon import load_shipped_lexicon
from web.hall.feed import MAX_DELAY_S, choose_view, hall
from web.hall.view import HallPage, render_event
from web.i18n import texts
from web.live import add_live_routes
from web.responses import accept, is_document_request, refuse, render_page, send_file
from web.security.pairing import find_current_client

EVENT_PATH = "/event"
MAX_POINTS = 1999
WOOGLES_ADDRESS = "https://woogles.io/scrabblecam/callback"
"""Page that accepts a GCG in its query (`boardwizard/callback_handler.tsx` in github.com/woogles-io/liwords)."""


routes = Blueprint("event", __name__, url_prefix=EVENT_PATH)
add_live_routes(routes, "", lambda: HallPage("event", choose_view(), render_event))


@routes.after_request
def show_change(response: Response) -> Response:
    """Show the change of a form at once.

    Otherwise the next page would still have the old texts in its form, and the director would save them again.
    """
    if request.method == "POST":
        hall.show_newest()
    return response


@routes.get("")
def show_event() -> Response:
    """Return the page with standings and rounds. The director's page also has the forms."""
    return _render()


def _refuse(problem: str, number: int = 0) -> Response:
    """Return the response to a form that is refused for the reason `problem`, with the status 409.

    For a browser, it is the event page at the round `number` (0: the usual one). Its forms have the refused entries
    again, for correction. For a script, it is only the reason.
    """
    if not is_document_request():
        return refuse(problem)
    page = _render(problem, number)
    page.status_code = 409
    return page


def _render(problem: str = "", number: int = 0) -> Response:
    view = choose_view()
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
        delay_s=request.form.get("seconds", round(hall.receiver.delay_s)),
        max_delay_s=round(MAX_DELAY_S),
        tables=list(state.tables.values()),
        state=state,
        fingerprint=hall.receiver.fingerprint,
    )


@routes.get("/round-<int:number>.csv")
def send_csv(number: int) -> Response:
    """Return the results of a round as CSV, in which each table has its title instead of its name."""
    lines, state = _find_round(number), choose_view().state
    titles = (state.find_title(state.find_name(line.pairing.table)) for line in lines)
    named = [
        replace(line, pairing=replace_struct(line.pairing, table=title))
        for line, title in zip(lines, titles, strict=True)
    ]
    return send_file(format_csv(named, texts()("hall.csv_delimiter")), "text/csv", f"round-{number}.csv")


@routes.get("/round-<int:number>.tsh")
def send_tsh(number: int) -> Response:
    """Return the results of a round as lines for tsh: `number points number points`."""
    text = format_tsh(_find_round(number), choose_view().state.event.numbered_players)
    return send_file(text, "text/plain", f"round-{number}-tsh.txt")


@routes.get("/round-<int:number>.zip")
def send_zip(number: int) -> Response:
    """Return a ZIP file with the games of a round as GCG files, named by round, table and players.

    The games are as they were played, even if the director has entered another result. For a game that GCG cannot
    describe, there is a text that says so.
    """
    members: list[tuple[str, bytes]] = []
    for line in _find_round(number):
        found = line.game or next(iter(line.games[::-1]), None)
        if found and found.ended:
            suffix, text = export_game(_load_game(found.game))
            words = [f"round-{number}", f"table-{line.pairing.table or 0}", line.pairing.first, line.pairing.second]
            name = re.sub(r"[^\w.]+", "-", "-".join(words))
            members.append((f"{name}{suffix}", text.encode()))
    return send_file(generate_zip(members, time.time()), "application/zip", f"round-{number}.zip")


@routes.get("/games/<int:game>/woogles")
def open_in_woogles(game: int) -> ResponseReturnValue:
    """Redirect to Woogles, which asks a user who has logged in whether to add the game to the annotated ones."""
    if not any(line.game and line.game.game == game for lines in choose_view().state.rounds.values() for line in lines):
        abort(404)
    suffix, text = export_game(_load_game(game))
    return redirect(f"{WOOGLES_ADDRESS}?{urlencode({'gcg': text})}", 303) if suffix == ".gcg" else refuse(text)


def _load_game(game: int) -> Game:
    return read_ledger(event.body for event in hall.receiver.games.read_events(game)).game


@routes.post("/round-<int:number>/pairings")
def set_pairings(number: int) -> ResponseReturnValue:
    """Replace the pairings of a round by those in the form, unless they have changed since the page was opened.

    If the same form is sent twice, the second one changes nothing and is accepted, too.
    """
    text = request.form.get("pairings", "")

    def save(event: Event) -> Event:
        changed = import_pairings(event, text, number)
        # `before` is the checksum of the pairings that the form has shown.
        is_old = request.form.get("before") not in (None, compute_checksum(*event.rounds.get(number, ())))
        if is_old and changed != event:
            raise PairingsError(texts()("hall.pairings_changed"))
        return changed

    try:
        hall.receiver.edit_event(save)
    except PairingsError as error:
        return _refuse(texts().translate(error), number)
    return _accept(number)


@routes.post("/new")
def begin_event() -> ResponseReturnValue:
    """Begin a new event."""
    hall.receiver.begin_event()
    return accept(EVENT_PATH)


@routes.post("/undo")
def undo() -> ResponseReturnValue:
    """Undo the last change of the event."""
    hall.receiver.undo_edit()
    return accept(EVENT_PATH)


@routes.post("/round-<int:number>/result")
def add_result(number: int) -> ResponseReturnValue:
    """Enter the result of a pairing, which is named in the form by its first player.

    Without points, the entered result is removed, and the result is again that of a game which the hall chooses.
    """
    first, points = request.form.get("player", ""), request.form.getlist("points", type=int)
    if fold_name(first) not in [fold_name(line.pairing.first) for line in _find_round(number)]:
        return _refuse(texts()("hall.pairings_changed"), number)
    if not any(request.form.getlist("points")):
        hall.receiver.edit_event(lambda event: decide(event, number, first))
        return _accept(number)
    if len(points) != 2 or max(map(abs, points)) > MAX_POINTS:
        return _refuse(texts()("hall.wrong_result"), number)
    entered = points[0], points[1]
    hall.receiver.edit_event(lambda event: decide(event, number, first, points=entered))
    return _accept(number)


@routes.post("/count")
def count_game() -> ResponseReturnValue:
    """Count a game as the result of its players in a round. The form field has both numbers, as `round-game`."""
    match = re.fullmatch(r"(\d{1,3})-(\d{1,18})", request.form.get("choice", ""), re.ASCII)
    number, game = map(int, match.groups()) if match else (0, 0)
    result = choose_view().state.find_game_result(game)
    key = make_players_key(result.players) if result else frozenset()
    for line in _find_round(number):
        if line.pairing.key == key:
            first = line.pairing.first
            hall.receiver.edit_event(lambda event: decide(event, number, first, game=game))  # noqa: B023
    return _accept(number)


@routes.post("/delay")
def set_delay() -> ResponseReturnValue:
    """Set the delay for all viewers except the director."""
    seconds = request.form.get("seconds", -1, type=int)
    if not 0 <= seconds <= MAX_DELAY_S:
        return _refuse(texts()("hall.wrong_delay", most=round(MAX_DELAY_S)))
    hall.receiver.set_delay(float(seconds))
    return accept(EVENT_PATH)


@routes.post("/name")
def name_table() -> ResponseReturnValue:
    """Send the order to set a table's name."""
    command = SetTableName(request.form.get("name", "").strip())
    if not is_sound_command(command):
        return _refuse(texts()("hall.wrong_name"))
    table = request.form.get("table", "")
    others = [other for other in choose_view().state.tables.values() if other.name != table]
    taken_names = {name.casefold() for other in others for name in (other.name, other.title)}
    if command.name.casefold() in taken_names:
        return _refuse(texts()("hall.name_taken"))
    if not hall.receiver.name_table(table, command.name):
        return _refuse(texts()("hall.none_sent"))
    return accept(EVENT_PATH)


@routes.post("/forget")
def forget_table() -> ResponseReturnValue:
    """Remove a table that does not come back, for example because it has a new name."""
    hall.receiver.forget_table(request.form.get("table", ""))
    return accept(EVENT_PATH)


@routes.post("/round-<int:number>/send")
def send_pairings(number: int) -> ResponseReturnValue:
    """Send each pairing of a round to its table, as the players of the next game; their games wait for the start.

    A table that is not connected gets its pairing when it connects.
    """
    _find_round(number)
    hall.receiver.edit_event(
        lambda event: replace_struct(event, sent=number, is_started=event.is_started and event.sent == number)
    )
    return _accept(number)


@routes.post("/round-<int:number>/start")
def start_round(number: int) -> ResponseReturnValue:
    """Start a round: the clocks of games that wait for it are started, and games that begin later do not wait.

    A game that players have paused stays paused.
    """
    _find_round(number)
    hall.receiver.edit_event(lambda event: replace_struct(event, sent=number, is_started=True))
    return _accept(number)


def _find_round(number: int) -> list[Line]:
    return list(choose_view().state.rounds.get(number, ())) or abort(404)


def _accept(number: int) -> ResponseReturnValue:
    return accept(f"{EVENT_PATH}?round={number}")


def export_game(game: Game) -> tuple[str, str]:
    """Return the suffix and the text of a file with a game; the text says if GCG cannot describe the game."""
    try:
        return ".gcg", format_gcg(build_record(game, lexicon=load_shipped_lexicon(game.tiles.name)))
    except RulesError as error:
        return ".txt", f"{' - '.join(game.players)}: {texts().translate(error)}\n"
