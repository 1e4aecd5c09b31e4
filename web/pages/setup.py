"""Web pages for the set-up of a table: where the board is, its own tiles, the panel, and parts that are missing.

In the enrolment, the players place each tile of the set on the board once, and the table learns what they look like.
`demo_routes` ends the demo and starts the table.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError, Future
from types import MappingProxyType
from typing import TypeVar

from flask import Blueprint, Response, jsonify, redirect, request
from flask import session as cookie
from flask.typing import ResponseReturnValue

from calibration.enrolment import make_enrolment_rows
from device.catalogue import get_text
from device.panel.buttons import END_TURN_BUTTONS, HOLD_S, Button
from device.panel.lights import LIGHT_OFF, Colour, Light, Signal
from device.session.setup import SetupView
from device.session.snapshot import Moment
from device.settings_editor import SettingsForm
from engine.reading import EMPTY
from engine.rules import MAX_PLAYERS
from web.i18n import texts
from web.invitation import make_invitation
from web.pages.actions import REFUSAL_TIMEOUT_S
from web.pages.settings import describe_sheet, find_other_problem, get_access, refuse_write, save_sheet
from web.responses import accept, refuse, render_page, require_admin, require_pairing, send_picture
from web.security.csrf import SHEET_PATH
from web.security.pairing import is_current_owner
from web.served_table import table

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


panel_routes = Blueprint("panel", __name__, url_prefix="/panel")
panel_routes.before_request(require_pairing)


@panel_routes.get("")
def show_panel() -> Response:
    """Return the page of the panel."""
    return _render_panel("panel.html")


@panel_routes.get("/lights")
def show_lights() -> Response:
    """Return the current lights and pressed buttons as HTML."""
    return _render_panel("parts/lights.html")


@panel_routes.post("/press")
def press() -> ResponseReturnValue:
    """Simulate a press or a long press of a button."""
    held = request.form.get("held", "")
    button = held or request.form.get("button", "")
    if table.host.panel is None or button not in set(Button):
        return refuse(texts()("panel.none"))
    try:
        seen = Moment.parse(request.form.get("seen", ""))
        table.host.panel.press(Button(button), held=bool(held), seen=seen).result(REFUSAL_TIMEOUT_S)
    except TimeoutError:
        pass  # the board is being read
    except CancelledError:
        return refuse(texts()("panel.none"))
    return accept("/panel")


@panel_routes.post("/rehearse")
def rehearse() -> ResponseReturnValue:
    """Start or end the button test, in which a press has no effect except a confirmation."""
    if table.host.panel is None:
        return refuse(texts()("panel.none"))
    if request.form.get("on") == "1":
        table.host.panel.begin_rehearsal()
    else:
        table.host.panel.end_rehearsal()
    return accept("/panel")


@panel_routes.post("/light")
def test_light() -> ResponseReturnValue:
    """Test a light or the buzzer by a short signal."""
    signal = TEST_SIGNALS.get(request.form.get("light", ""))
    if table.host.panel is None or signal is None:
        return refuse(texts()("panel.none"))
    table.host.panel.show_signal(signal)
    return accept("/panel")


def _render_panel(template: str) -> Response:
    return render_page(template, state=table.session.state, **_list_panel_values())


def _list_panel_values() -> dict[str, object]:
    """Return the values for the template of the panel: its lights, and its buttons including one for each player."""
    return {
        "panel": table.host.panel.view if table.host.panel else None,
        "ends": END_TURN_BUTTONS[: len(table.session.state.players) or MAX_PLAYERS],
        "others": (Button.CHALLENGE, Button.PAUSE, Button.NEW_GAME, Button.POWER),
        "holds": HOLD_S,
        "wired": table.host.wired_buttons,
        "lights": TEST_SIGNALS,
    }


SETUP_PATH = "/setup"
SEEN_KEY = "setup"
"""Key in the cookie of a browser that has shown the set-up page at the first start."""
LOOK_TIMEOUT_S = 20.0
"""Longest time to wait until a full picture is processed, in seconds; after it, the request is refused."""
MAX_CORNERS_CHARS = 200
"""Longest text of four corners in a form; four points in full precision are shorter."""
Value = TypeVar("Value")


routes = Blueprint("setup", __name__, url_prefix=SETUP_PATH)
routes.before_request(require_pairing)
sheet_routes = Blueprint("sheet", __name__)
sheet_routes.before_request(require_admin)
sheet_routes.register_error_handler(OSError, refuse_write)


@routes.get("")
def show_setup() -> Response:
    """Return the page with the set-up steps.

    Its form for the table's settings, the sheet, is only for an admin, and only if the page may change settings.
    """
    if table.host.is_new_table():
        cookie[SEEN_KEY] = True  # the scoreboard of a new table leads an admin here, but only once
    if table.host.settings is None or not is_current_owner():
        return _render({}, "")
    return _render_sheet(get_access().editor.read())


@sheet_routes.post(SHEET_PATH)
def save_table() -> ResponseReturnValue:
    """Save the form for the table's settings, and restart the program if a changed setting needs a restart.

    After a restart, the browser loads the page again by itself.
    """
    form = save_sheet()
    if form.errors or form.problem:
        response = _render_sheet(form)
        response.status_code = 422
        return response
    if not get_access().editor.list_pending():
        return redirect(f"{SETUP_PATH}?saved", code=303)
    get_access().restart()
    return render_page("restart.html", goes_to=f"{SETUP_PATH}?saved")


def _render_sheet(form: SettingsForm) -> Response:
    return _render(describe_sheet(form), find_other_problem(form))


def _render(sheet: Mapping[str, object], problem: str) -> Response:
    return render_page(
        "setup.html",
        state=table.session.state,
        sheet=sheet,
        problem=problem,
        saved="saved" in request.args,
        has_camera=not table.session.uses_phone_camera,
        enrolment_rows=_list_enrolment_rows(),
        empty=EMPTY,
        remarks=table.host.find_problems(),
        join=make_invitation(table.host),
        **_list_panel_values(),
    )


@routes.get("/look")
def look() -> ResponseReturnValue:
    """Take a picture and detect the board in the picture."""
    return _describe_view(table.session.capture_setup_view())


@routes.post("/corners")
def place_corners() -> ResponseReturnValue:
    """Use the corners of the board in the form, or detect the board again if the form has none."""
    try:
        placed = parse_corners(request.form.get("corners", ""))
    except ValueError:
        return refuse(texts().translate(get_text("corners-wrong")))
    return _describe_view(table.session.place_corners(placed))


@routes.post("/teach")
def teach() -> ResponseReturnValue:
    """Enrol the tiles that are laid out on the board."""
    t = texts()
    wrong = _wait_for(table.session.enrol_tiles(_list_enrolment_rows()))
    message = t("setup.enrolment_wrong", squares=", ".join(wrong)) if wrong else t("setup.enrolment_done")
    return jsonify({"ok": not wrong, "said": message, "squares": wrong})


@routes.get("/pictures/<int:number>.jpg")
def send_setup_picture(number: int) -> Response:
    """Return a stored camera picture by its number."""
    return send_picture(dict(table.setup_pictures).get(number), "no-store")


def _list_enrolment_rows() -> Sequence[Sequence[str]]:
    return make_enrolment_rows(table.session.state.tiles.letters)


def _describe_view(captured: Future[SetupView]) -> ResponseReturnValue:
    t, view = texts(), _wait_for(captured)
    key = "not_found" if view.corners is None else "placed" if view.placed else "found"
    number = time.monotonic_ns()
    table.setup_pictures.append((number, view.jpeg))
    return jsonify(
        {
            "picture": f"/setup/pictures/{number}.jpg",
            "size": view.size,
            "corners": view.corners,
            "placed": view.placed,
            "said": t(f"setup.{key}"),
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


demo_routes = Blueprint("demo", __name__, url_prefix="/demo")
demo_routes.before_request(require_admin)


@demo_routes.post("/own")
def start_own_game() -> Response:
    """End the demo and start the table."""
    assert table.host.start_own_game is not None  # otherwise this route is not registered
    table.host.start_own_game()
    return render_page("restart.html", goes_to=SETUP_PATH)
