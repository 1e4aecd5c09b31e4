"""Pages of a table that belongs to a hall: call the director, and allow a hall to direct this table."""

from __future__ import annotations

from flask import Blueprint, Response, request
from flask.typing import ResponseReturnValue

from device.hall.director import format_fingerprint
from device.hall.publishing.directed_table import DirectedTable
from device.hall.publishing.publisher import HallPublisher
from device.storage.store import StoreError
from web.i18n import texts
from web.responses import accept, refuse, render_page, require_admin, require_pairing
from web.security.pairing import Pairing

HALL_KEY_PATH = "/hall/director"


def create_blueprint(directed: DirectedTable, pairing: Pairing) -> Blueprint:
    """Return the routes `/hall/director` and below, which only the admin may use."""
    routes = Blueprint("hall_key", __name__, url_prefix=HALL_KEY_PATH)
    routes.before_request(lambda: require_admin(pairing))
    routes.register_error_handler(StoreError, lambda error: refuse(texts().translate(error), 500))

    @routes.get("")
    def show() -> Response:
        return render_page("hall_key.html", directed=directed, fingerprint=format_fingerprint)

    @routes.post("/accept")
    def accept_key() -> ResponseReturnValue:
        """Accept the hall's key if it is still the one that the page has shown."""
        try:
            key = bytes.fromhex(request.form.get("key", ""))
        except ValueError:
            key = b""
        if not directed.accept(key):
            return refuse(texts()("director.changed"))
        return accept(HALL_KEY_PATH)

    @routes.post("/withdraw")
    def withdraw() -> ResponseReturnValue:
        directed.withdraw()
        return accept(HALL_KEY_PATH)

    return routes


def create_call_blueprint(hall: HallPublisher, pairing: Pairing) -> Blueprint:
    """Return the route `POST /hall/call`. If the form field `on` is empty, the call is cancelled."""
    routes = Blueprint("director_call", __name__, url_prefix="/hall")
    require_pairing(routes, pairing)

    @routes.post("/call")
    def call() -> ResponseReturnValue:
        hall.call_director(is_on=bool(request.form.get("on")))
        return accept()

    return routes
