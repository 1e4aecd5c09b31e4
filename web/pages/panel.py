"""Web page with the buttons and lights of the GPIO panel (`device.panel.panel`)."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass
from types import MappingProxyType

from flask import Blueprint, Response, request
from flask.typing import ResponseReturnValue

from device.panel.buttons import END_TURN_BUTTONS, HOLD_S, Button
from device.panel.lights import LIGHT_OFF, Colour, Light, Signal
from device.session.messages import CommandRefusedError
from device.session.snapshot import Moment
from device.session.table_session import TableSession
from engine.rules import MAX_PLAYERS
from web.host_info import HostInfo
from web.i18n import texts
from web.pages.actions import REFUSAL_TIMEOUT_S
from web.responses import accept, refuse, render_page, require_pairing
from web.security.pairing import Pairing

TEST_SIGNAL_S = 2.0
"""Duration of the test signal for a light, in seconds."""

TEST_SIGNALS: Mapping[str, Signal] = MappingProxyType(
    {
        "red": Signal(TEST_SIGNAL_S, Light(Colour.RED)),
        "green": Signal(TEST_SIGNAL_S, Light(Colour.GREEN)),
        "blue": Signal(TEST_SIGNAL_S, Light(Colour.BLUE)),
        **{f"player-{seat + 1}": Signal(TEST_SIGNAL_S, LIGHT_OFF, player=seat) for seat in range(MAX_PLAYERS)},
        "buzzer": Signal(TEST_SIGNAL_S, LIGHT_OFF, beeps=(0.4,)),
    }
)
"""Test signals by name, for each light and the buzzer."""


def create_blueprint(session: TableSession, pairing: Pairing, host: HostInfo) -> Blueprint:
    """Return the routes `/panel` and below, which require a paired phone."""
    routes = Blueprint("panel", __name__, url_prefix="/panel")
    require_pairing(routes, pairing)
    pages = PanelPages(session, host)
    routes.get("")(pages.panel)
    routes.get("/lights")(pages.lights)
    routes.post("/press")(pages.press)
    routes.post("/rehearse")(pages.rehearse)
    routes.post("/light")(pages.light)
    return routes


@dataclass(frozen=True)
class PanelPages:
    """The view functions for the page of the panel."""

    session: TableSession
    host: HostInfo

    def panel(self) -> Response:
        """Return the page of the panel."""
        return self._render("panel.html")

    def lights(self) -> Response:
        """Return the current lights and pressed buttons as HTML."""
        return self._render("parts/lights.html")

    def press(self) -> ResponseReturnValue:
        """Simulate a press or a long press of a button."""
        held = request.form.get("held", "")
        button = held or request.form.get("button", "")
        if self.host.panel is None or button not in set(Button):
            return refuse(texts()("panel.none"))
        try:
            seen = Moment.parse(request.form.get("seen", ""))
            self.host.panel.press(Button(button), held=bool(held), seen=seen).result(REFUSAL_TIMEOUT_S)
        except TimeoutError:
            pass  # the board is being read
        except CancelledError:
            return refuse(texts()("panel.none"))
        except CommandRefusedError as refusal:
            return refuse(texts().translate(refusal))
        return accept("/panel")

    def rehearse(self) -> ResponseReturnValue:
        """Start or end the button test, in which a press has no effect except a confirmation."""
        if self.host.panel is None:
            return refuse(texts()("panel.none"))
        if request.form.get("on") == "1":
            self.host.panel.begin_rehearsal()
        else:
            self.host.panel.end_rehearsal()
        return accept("/panel")

    def light(self) -> ResponseReturnValue:
        """Test a light or the buzzer by a short signal."""
        signal = TEST_SIGNALS.get(request.form.get("light", ""))
        if self.host.panel is None or signal is None:
            return refuse(texts()("panel.none"))
        self.host.panel.show_signal(signal)
        return accept("/panel")

    def _render(self, template: str) -> Response:
        return render_page(template, state=self.session.state, **build_panel_context(self.session, self.host))


def build_panel_context(session: TableSession, host: HostInfo) -> dict[str, object]:
    """Return the values for the template of the panel: its lights, and its buttons including one for each player."""
    return {
        "panel": host.panel.view if host.panel else None,
        "ends": END_TURN_BUTTONS[: len(session.state.players) or MAX_PLAYERS],
        "others": (Button.CHALLENGE, Button.PAUSE, Button.NEW_GAME, Button.POWER),
        "holds": HOLD_S,
        "wired": host.wired_buttons,
        "lights": TEST_SIGNALS,
    }
