"""Pages for pairing a phone, for the list of paired phones, and for the change to https, which keeps the pairing."""

from __future__ import annotations

from collections.abc import Callable

from flask import Blueprint, Response, current_app, redirect, request
from flask.typing import ResponseReturnValue

from device.session.snapshot import PlayerView, TableSnapshot
from engine.limits import MAX_PAIRED_CLIENTS
from web.i18n import texts
from web.responses import accept, refuse, render_dialog, render_page, require_admin
from web.security.csrf import PAIR_PATH
from web.security.hosts import make_secure_address
from web.security.pairing import (
    Pairing,
    PairingCodeError,
    PairingFullError,
    PairingLockedError,
    current_pairing,
    find_current_client,
    is_opened_by_user,
    make_form_secret,
    remember_client,
)
from web.served_table import table

ENTER_PATH = "/enter"
"""Path of the link, with a one-time token, that pairs the browser of the user who started the program."""
MAX_DEVICE_NAME_LETTERS = 40
MAX_CODE_CHARS = 40
_DEVICE_NAMES = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Macintosh", "Mac"),
    ("Windows", "Windows"),
    ("CrOS", "Chromebook"),
    ("Linux", "Linux"),
)
"""Pairs of a text in the User-Agent header and the name of the device. The first matching pair is used."""
_HIDDEN_MODELS = ("", "K", "Mobile", "Tablet")
"""Texts that browsers send in place of the model of an Android device: Chrome `K`, Firefox `Mobile` or `Tablet`."""
RELOAD = 205
"""HTTP status Reset Content, after which the script of the page reloads the page."""


routes = Blueprint("phones", __name__)
secure_routes = Blueprint("secure", __name__, url_prefix="/secure")


@routes.app_context_processor
def _list_template_values() -> dict[str, object]:
    is_open = current_pairing.is_open_for(request.remote_addr or "")
    return {"pairing_is_open": is_open, "form_secret": make_form_secret}


@routes.get(PAIR_PATH)
def show_pairing_form() -> Response:
    """Return the form for the pairing code. A code in the query is filled in."""
    code = request.args.get("code", "")
    return render_dialog("pair", code=code if code.isascii() and code.isdecimal() and len(code) == 6 else "")


@routes.get(f"{PAIR_PATH}/<secret>")
def show_scanned_form(secret: str) -> Response:
    """Return the pairing form for a phone that scanned the QR code with the secret."""
    return render_dialog("pair", secret=secret)


@routes.post(PAIR_PATH)
def pair() -> ResponseReturnValue:
    """Pair the phone if the form contains the correct code or secret.

    A phone that is paired already is not paired again: as a new device, it would lose its player and its rights.
    """
    t, code = texts(), request.form.get("code", "")[:MAX_CODE_CHARS]
    if find_current_client():
        return accept(status=RELOAD)
    try:
        form = request.form.get("form", "")
        remember_client(current_pairing.pair(code, request.remote_addr or "", _read_device_name(), form))
    except PairingCodeError as wrong:
        return refuse(t("pair.wrong", left=wrong.tries_left))
    except PairingLockedError as locked:
        return refuse(t("pair.locked", minutes=locked.minutes), 429)
    except PairingFullError:
        return refuse(t("pair.full", limit=MAX_PAIRED_CLIENTS))
    return accept(status=RELOAD)


@routes.get(f"{ENTER_PATH}/<token>")
def make_user_owner(token: str) -> ResponseReturnValue:
    """Make the browser that opens the link with the one-time token an owner.

    If a browser only prefetches the link, this has no effect.
    """
    known = find_current_client()  # a paired browser stays the same device
    try:
        client = current_pairing.redeem(token, _read_device_name(), known) if is_opened_by_user() else None
    except PairingFullError:
        return refuse(texts()("pair.full", limit=MAX_PAIRED_CLIENTS))
    if client is None and not (known and known.admin):
        return refuse(texts()("pair.used"), 404)
    if client is not None:
        remember_client(client)
    return redirect("/", code=303)


@routes.get("/phones")
def show_phones() -> Response:
    """Return the list of paired phones."""
    me = find_current_client()
    if me is None:
        return render_dialog("pair")
    return render_dialog("phones", me=me, phones=current_pairing.clients, players=_list_players())


@routes.post("/phones/unpair")
def unpair() -> ResponseReturnValue:
    """Unpair a phone. Each paired phone may unpair itself; only an owner may unpair others."""
    me, wanted = find_current_client(), request.form.get("phone", "")
    if me is None or not (me.admin or me.id == wanted):
        return refuse(texts()("phones.only_admin"), 403)
    if not current_pairing.unpair(wanted):
        return refuse(texts()("phones.gone"))
    return accept(status=RELOAD)


@routes.post("/phones/owner")
def make_owner() -> ResponseReturnValue:
    """Make another phone an owner, which only an owner may do."""
    if refusal := require_admin():
        return refusal
    if not current_pairing.make_owner(request.form.get("phone", "")):
        return refuse(texts()("phones.gone"))
    return accept(status=RELOAD)


@routes.post("/phones/player")
def assign_player() -> ResponseReturnValue:
    """Assign this phone to a player of the game, or to no player."""
    me, player = find_current_client(), request.form.get("player", "")
    if me is None or (player and player not in [one.name for one in _list_players()]):
        return refuse(texts()("phones.no_player"))
    current_pairing.assign_player(me.id, player)
    return accept(status=RELOAD)


def _list_players() -> tuple[PlayerView, ...]:
    """Return the players of the game at the table; a hall has none."""
    return table.session.state.players if "table" in current_app.extensions else ()


def list_names(state: TableSnapshot) -> tuple[str, ...]:
    """Return the names of the players in the order of their seats."""
    return tuple(player.name for player in state.players)


def find_seat(state: TableSnapshot) -> int | None:
    """Return the seat of the phone that sent the request, or None if it belongs to no player of the game."""
    client = find_current_client()
    return client.find_seat(list_names(state)) if client else None


def make_rename_listener(pairing: Pairing, first: TableSnapshot) -> Callable[[TableSnapshot], None]:
    """Return a listener for the session that assigns the phones of a renamed player to the new name.

    The listener compares each snapshot with the previous one, and the first snapshot with `first`.
    """
    last = first

    def compare_names(state: TableSnapshot) -> None:
        nonlocal last
        if state.game == last.game:
            for before, after in zip(list_names(last), list_names(state), strict=False):
                if before != after:
                    pairing.rename_player(before, after)
        last = state

    return compare_names


def _read_device_name() -> str:
    """Return the everyday name of the device in the User-Agent header, for example `iPhone` or `Pixel 8`."""
    return name_device(request.headers.get("User-Agent", ""))


def name_device(agent: str) -> str:
    """Return the name of the device in a User-Agent header.

    >>> name_device("Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15")
    'iPhone'
    >>> name_device("Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 Chrome/120.0.0.0")
    'Pixel 8'
    """
    inside = agent.partition("(")[2].partition(")")[0]
    if "Android" in inside:
        model = inside.partition("Android")[2].partition(";")[2].partition(" Build/")[0].partition(";")[0].strip()
        return "Android" if model in _HIDDEN_MODELS else model[:MAX_DEVICE_NAME_LETTERS]
    known = next((name for mark, name in _DEVICE_NAMES if mark in inside), inside or agent or "?")
    return known[:MAX_DEVICE_NAME_LETTERS]


CAMERA_PATH = "/camera"
"""Path of the page for a phone on a stand (`web.pages.pictures`), which the https link may open."""


@secure_routes.get("")
def explain_https() -> Response:
    """Return the page that shows how to accept the table's own certificate."""
    return render_page("secure.html", link=find_secure_link(), goes_to="")


@secure_routes.get("/enter/<token>")
def identify_device(token: str) -> ResponseReturnValue:
    """Identify a device that comes from http by the token, so that it remains paired over https.

    If a browser only prefetches the link, this has no effect. The response is a page whose script opens the next
    page, and not a redirect. Browsers treat http and https as different sites, so after a redirect they would not
    send the new cookie, which is `SameSite=Strict`.
    """
    client = current_pairing.redeem_handover(token) if request.is_secure and is_opened_by_user() else None
    if client is not None:
        remember_client(client)
    elif find_current_client() is None:
        return refuse(texts()("pair.used"), 404)
    return render_page("secure.html", link="", goes_to=CAMERA_PATH if "camera" in request.args else "/")


def find_secure_link(path: str = "/") -> str:
    """Return the https address of the page at `path` (`/` or `CAMERA_PATH`), or an empty string.

    For a paired device, the address contains a token, so that the device remains paired. The string is empty if the
    table has no https, or if the request already came over https.
    """
    port, client = table.host.find_secure_port(), find_current_client()
    if port is None or request.is_secure:
        return ""
    address = make_secure_address(request.host_url.rstrip("/"), port)
    if client is None:
        return f"{address}{path}"
    query = "?camera" if path == CAMERA_PATH else ""
    return f"{address}/secure/enter/{current_pairing.make_handover_token(client.id)}{query}"
