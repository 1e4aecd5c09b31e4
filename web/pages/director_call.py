"""Route to call the director, for the players of a table that belongs to a hall."""

from __future__ import annotations

from flask import Blueprint, request
from flask.typing import ResponseReturnValue

from web.host_info import DirectorCall
from web.responses import accept, require_pairing
from web.security.pairing import Pairing


def create_blueprint(hall: DirectorCall, pairing: Pairing) -> Blueprint:
    """Return the route `POST /hall/call`. If the form field `on` is empty, the call is cancelled."""
    routes = Blueprint("director_call", __name__, url_prefix="/hall")
    require_pairing(routes, pairing)

    @routes.post("/call")
    def call() -> ResponseReturnValue:
        if request.form.get("on"):
            hall.call_director()
        else:
            hall.cancel_call()
        return accept()

    return routes
