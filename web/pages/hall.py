"""Pages of a table that belongs to a hall: call the director, and allow a hall to direct this table."""

from __future__ import annotations

from flask import Blueprint, Response, request
from flask.typing import ResponseReturnValue

from device.hall.director import format_fingerprint
from device.hall.publishing.directed_table import DirectedTable
from web.i18n import texts
from web.responses import accept, refuse, render_page, require_admin, require_pairing
from web.served_table import table

HALL_KEY_PATH = "/hall/director"

routes = Blueprint("hall_key", __name__, url_prefix=HALL_KEY_PATH)
routes.before_request(require_admin)
call_routes = Blueprint("director_call", __name__, url_prefix="/hall")
call_routes.before_request(require_pairing)


def _get_directed_table() -> DirectedTable:
    assert table.host.directed is not None  # otherwise these pages are not registered
    return table.host.directed


@routes.get("")
def show_key() -> Response:
    """Return the page with the key that a hall offers, and the accepted key."""
    return render_page("hall_key.html", directed=_get_directed_table(), fingerprint=format_fingerprint)


@routes.post("/accept")
def accept_key() -> ResponseReturnValue:
    """Accept the hall's key if it is still the one that the page has shown."""
    try:
        key = bytes.fromhex(request.form.get("key", ""))
    except ValueError:
        key = b""
    if not _get_directed_table().accept(key):
        return refuse(texts()("director.changed"))
    return accept(HALL_KEY_PATH)


@routes.post("/withdraw")
def withdraw_key() -> ResponseReturnValue:
    """Let no hall direct this table any more."""
    _get_directed_table().withdraw()
    return accept(HALL_KEY_PATH)


@call_routes.post("/call")
def call_director() -> ResponseReturnValue:
    """Call the director. If the form field `on` is empty, the call is cancelled."""
    assert table.host.hall is not None  # otherwise this route is not registered
    table.host.hall.call_director(is_on=bool(request.form.get("on")))
    return accept()
