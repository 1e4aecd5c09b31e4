"""The panel on the page: the same buttons and lights as on the pins, handled by the same `device.panel.panel`."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import CancelledError
from types import MappingProxyType

from flask import Blueprint, Response, redirect, render_template, request
from flask.typing import ResponseReturnValue

from device.panel.buttons import END_TURN_BUTTONS, HOLD_S, MAX_PLAYERS, Button
from device.panel.lights import LIGHT_OFF, Colour, Light, Signal
from device.session.messages import CommandRefusedError
from device.session.snapshot import Moment
from device.session.table_session import TableSession
from web.host import HostInfo
from web.i18n import texts
from web.pages.dialogs import render_dialog
from web.security.csrf import is_document_request
from web.security.pairing import Pairing, current_client

REFUSAL_TIMEOUT_S = 0.25
TEST_SIGNAL_S = 2.0
"""Seconds for which a light is lit to test it."""

TEST_SIGNALS: Mapping[str, Signal] = MappingProxyType(
    {
        "red": Signal(TEST_SIGNAL_S, Light(Colour.RED)),
        "green": Signal(TEST_SIGNAL_S, Light(Colour.GREEN)),
        "blue": Signal(TEST_SIGNAL_S, Light(Colour.BLUE)),
        **{f"player-{seat + 1}": Signal(TEST_SIGNAL_S, LIGHT_OFF, player=seat) for seat in range(MAX_PLAYERS)},
        "buzzer": Signal(TEST_SIGNAL_S, LIGHT_OFF, beeps=(0.4,)),
    }
)
"""Signals that test each light and the buzzer."""


def create_blueprint(session: TableSession, pairing: Pairing, place: HostInfo) -> Blueprint:
    """Return the routes `/panel` and below; for paired phones only."""
    routes = Blueprint("desk", __name__, url_prefix="/panel")

    @routes.before_request
    def pair_first() -> ResponseReturnValue | None:
        return None if current_client(pairing) else render_dialog("pair")

    @routes.get("")
    def panel() -> ResponseReturnValue:
        return Response(
            render_template("panel.html", t=texts(), state=session.state, **build_panel_context(session, place)),
            headers={"Cache-Control": "no-store"},
        )

    @routes.get("/lights")
    def lights() -> ResponseReturnValue:
        html = render_template(
            "parts/lights.html", t=texts(), state=session.state, **build_panel_context(session, place)
        )
        return Response(html, headers={"Cache-Control": "no-store"})

    @routes.post("/press")
    def press() -> ResponseReturnValue:
        held = request.form.get("held", "")
        wanted = held or request.form.get("button", "")
        if place.panel is None or wanted not in set(Button):
            return _refuse(texts()("panel.none"))
        try:
            seen = Moment.parse(request.form.get("seen", ""))
            place.panel.press(Button(wanted), held=bool(held), seen=seen).result(REFUSAL_TIMEOUT_S)
        except TimeoutError:
            pass  # the board is being read
        except (CommandRefusedError, CancelledError) as refusal:
            return _refuse(texts().said(refusal) if isinstance(refusal, CommandRefusedError) else texts()("panel.none"))
        return _accept()

    @routes.post("/rehearse")
    def rehearse() -> ResponseReturnValue:
        if place.panel is None:
            return _refuse(texts()("panel.none"))
        place.panel.rehearse(request.form.get("on") == "1")
        return _accept()

    @routes.post("/light")
    def light() -> ResponseReturnValue:
        signal = TEST_SIGNALS.get(request.form.get("light", ""))
        if place.panel is None or signal is None:
            return _refuse(texts()("panel.none"))
        place.panel.give(signal)
        return _accept()

    return routes


def build_panel_context(session: TableSession, place: HostInfo) -> dict[str, object]:
    """Return the context of the panel's templates: its view, and the buttons for this number of players."""
    players = len(session.state.players) or MAX_PLAYERS
    ends = END_TURN_BUTTONS[:players]
    others = (Button.CHALLENGE, Button.PAUSE, Button.NEW_GAME, Button.POWER)
    view = place.panel.view if place.panel else None
    return {
        "panel": view,
        "ends": ends,
        "others": others,
        "holds": HOLD_S,
        "wired": place.wired_buttons,
        "lights": TEST_SIGNALS,
    }


def _accept() -> ResponseReturnValue:
    return redirect("/panel", code=303) if is_document_request() else Response(status=204)


def _refuse(why: str) -> ResponseReturnValue:
    if is_document_request():
        return Response(render_template("refused.html", t=texts(), why=why), status=409)
    return Response(f"{why}\n", status=409, mimetype="text/plain")
