"""Web pages for the set-up of a table: board detection, enrolment, panel, missing parts; the way out of the demo."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from itertools import count
from types import MappingProxyType
from typing import TypeVar

from flask import Blueprint, Response, jsonify, redirect, request
from flask import session as cookie
from flask.typing import ResponseReturnValue

from calibration.enrolment import make_enrolment_rows
from device.cameras import CameraError
from device.catalogue import get_text
from device.panel.buttons import END_TURN_BUTTONS, HOLD_S, Button
from device.panel.lights import LIGHT_OFF, Colour, Light, Signal
from device.session.messages import CommandRefusedError
from device.session.setup import SetupView
from device.session.snapshot import Moment
from device.session.table_session import TableSession
from device.settings import SettingsError
from device.settings_editor import SettingsChangedError
from engine.reading import EMPTY
from engine.rules import MAX_PLAYERS
from web.host_info import HostInfo
from web.i18n import texts
from web.invitation import make_invitation
from web.pages.actions import REFUSAL_TIMEOUT_S
from web.pages.settings import TableSheet, refuse_write
from web.responses import accept, refuse, render_page, require_admin, require_pairing, send_picture
from web.security.csrf import SHEET_PATH
from web.security.pairing import Pairing, find_current_client

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


def create_panel_blueprint(session: TableSession, pairing: Pairing, host: HostInfo) -> Blueprint:
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


SETUP_PATH = "/setup"
SEEN_KEY = "setup"
"""Key in the cookie of a browser that has shown the set-up page at the first start."""
LOOK_TIMEOUT_S = 20.0
"""Longest time to wait until a full picture is processed, in seconds; after it, the request is refused."""
MAX_CORNERS_CHARS = 200
"""Longest text of four corners in a form; four points in full precision are shorter."""
MAX_KEPT_IMAGES = 4
"""Largest number of stored pictures. It is small, because a client requests a picture right after the response that
names it."""
Value = TypeVar("Value")


def create_blueprint(session: TableSession, pairing: Pairing, host: HostInfo) -> Blueprint:
    """Return the routes `/setup` and below, which require a paired phone."""
    routes = Blueprint("setup", __name__, url_prefix=SETUP_PATH)
    require_pairing(routes, pairing)
    pages = SetupPages(session, pairing, host)
    routes.register_error_handler(CommandRefusedError, _refuse_text)
    routes.register_error_handler(CameraError, _refuse_text)
    routes.register_error_handler(TimeoutError, lambda _: refuse(texts()("setup.slow")))
    routes.get("")(pages.setup)
    if host.settings is not None:
        add_sheet_routes(routes, pages, TableSheet(host.settings))
    routes.get("/look")(pages.look)
    routes.post("/corners")(pages.corners)
    routes.post("/teach")(pages.teach)
    routes.get("/pictures/<int:number>.jpg")(pages.picture)
    return routes


def add_sheet_routes(routes: Blueprint, pages: SetupPages, sheet: TableSheet) -> None:
    """Add the route that saves the sheet of the table, which only the admin may use."""

    def save_sheet() -> ResponseReturnValue:
        return require_admin(pages.pairing) or pages.save_sheet(sheet)

    routes.post(SHEET_PATH.removeprefix(SETUP_PATH))(save_sheet)
    routes.register_error_handler(SettingsChangedError, lambda _: refuse(texts()("settings.open_again")))
    routes.register_error_handler(SettingsError, _refuse_text)
    routes.register_error_handler(OSError, refuse_write)


@dataclass(frozen=True)
class SetupPages:
    """The view functions for setting up a table. Responses to the page's script are JSON."""

    session: TableSession
    pairing: Pairing
    host: HostInfo
    images: deque[tuple[int, bytes]] = field(default_factory=lambda: deque(maxlen=MAX_KEPT_IMAGES))
    """The latest camera pictures, by number."""
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def setup(self) -> Response:
        """Return the page with the set-up steps. The sheet of the table is only for the admin."""
        if self.host.is_new_table():
            cookie[SEEN_KEY] = True
        client, access = find_current_client(self.pairing), self.host.settings
        if access is None or client is None or not client.admin:
            return self._render({}, "")
        sheet = TableSheet(access)
        form = sheet.read()
        return self._render(sheet.describe(form), sheet.find_other_problem(form))

    def save_sheet(self, sheet: TableSheet) -> ResponseReturnValue:
        """Save the sheet, and restart the program if a changed setting needs it; the page comes back by itself."""
        form = sheet.save()
        if form.errors or form.problem:
            response = self._render(sheet.describe(form), sheet.find_other_problem(form))
            response.status_code = 422
            return response
        if not sheet.access.editor.list_pending():
            return redirect(f"{SETUP_PATH}?saved", code=303)
        sheet.access.restart()
        return render_page("restart.html", goes_to=f"{SETUP_PATH}?saved")

    def _render(self, sheet: Mapping[str, object], problem: str) -> Response:
        return render_page(
            "setup.html",
            state=self.session.state,
            sheet=sheet,
            problem=problem,
            saved="saved" in request.args,
            has_camera=not self.session.uses_phone_camera,
            enrolment_rows=self._list_enrolment_rows(),
            empty=EMPTY,
            remarks=self.host.find_problems(),
            join=make_invitation(self.pairing, self.host),
            **build_panel_context(self.session, self.host),
        )

    def look(self) -> ResponseReturnValue:
        """Take a picture and detect the board in the picture."""
        return self._describe_view(self.session.capture_setup_view())

    def corners(self) -> ResponseReturnValue:
        """Use the corners of the board in the form, or detect the board again if the form has none."""
        try:
            placed = parse_corners(request.form.get("corners", ""))
        except ValueError:
            return refuse(texts().translate(get_text("corners-wrong")))
        return self._describe_view(self.session.place_corners(placed))

    def teach(self) -> ResponseReturnValue:
        """Enrol the tiles that are laid out on the board."""
        t = texts()
        wrong = _wait_for(self.session.enrol_tiles(self._list_enrolment_rows()))
        message = t("setup.enrolment_wrong", squares=", ".join(wrong)) if wrong else t("setup.enrolment_done")
        return jsonify({"ok": not wrong, "said": message, "squares": wrong})

    def picture(self, number: int) -> Response:
        """Return a stored camera picture by its number."""
        return send_picture(dict(self.images).get(number), "no-store")

    def _list_enrolment_rows(self) -> Sequence[Sequence[str]]:
        return make_enrolment_rows(self.session.state.tiles.letters)

    def _describe_view(self, captured: Future[SetupView]) -> ResponseReturnValue:
        t, view = texts(), _wait_for(captured)
        if view.corners is None:
            message = t("setup.not_found")
        else:
            message = t("setup.placed") if view.placed else t("setup.found")
        number = next(self.numbers)
        self.images.append((number, view.jpeg))
        return jsonify(
            {
                "picture": f"/setup/pictures/{number}.jpg",
                "size": view.size,
                "corners": view.corners,
                "placed": view.placed,
                "said": message,
                "problems": [t.translate(problem) for problem in view.problems],
            }
        )


def _wait_for(captured: Future[Value]) -> Value:
    """Return the result of a picture. Raises `TimeoutError` after `LOOK_TIMEOUT_S`.

    If the camera has not begun with the picture by then, it is not taken: waiting requests would delay the next turn.
    """
    try:
        return captured.result(LOOK_TIMEOUT_S)
    except TimeoutError:
        captured.cancel()
        raise


def _refuse_text(error: Exception) -> Response:
    return refuse(texts().translate(error))


def parse_corners(text: str) -> tuple[tuple[float, float], ...] | None:
    """Parse four corners in the form `x,y x,y x,y x,y`. Return None for an empty text. Raises `ValueError`."""
    if not text.strip():
        return None
    points = tuple(_parse_point(point) for point in text[:MAX_CORNERS_CHARS].split())
    if len(points) != 4:
        raise ValueError("four corners are needed")
    return points


def _parse_point(text: str) -> tuple[float, float]:
    """Parse two finite numbers, separated by a comma. Raises `ValueError`."""
    x, y = map(float, text.split(","))
    if not (math.isfinite(x) and math.isfinite(y)):
        raise ValueError("the coordinates of a corner must be finite")
    return x, y


def create_demo_blueprint(start_own_game: Callable[[], None], pairing: Pairing) -> Blueprint:
    """Return the route `POST /demo/own`, with which the admin ends the demo and starts the table."""
    routes = Blueprint("demo", __name__, url_prefix="/demo")
    routes.before_request(lambda: require_admin(pairing))

    def start() -> Response:
        start_own_game()
        return render_page("restart.html", goes_to=SETUP_PATH)

    routes.post("/own")(start)
    return routes
