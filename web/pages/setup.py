"""Set-up of a table: the board in the camera's picture, enrolment of tiles, the panel, missing parts."""

from __future__ import annotations

import math
from collections import deque
from concurrent.futures import Future

from flask import Blueprint, Response, abort, jsonify, render_template, request
from flask.typing import ResponseReturnValue

from calibration.enrolment import enrolment_rows
from device.cameras import CameraError
from device.session.messages import CommandRefusedError, get_text
from device.session.snapshot import SetupView
from device.session.table_session import TableSession
from engine.reading import EMPTY
from engine.tiles import load_tile_set
from web.host import HostInfo
from web.i18n import texts
from web.pages.dialogs import render_dialog
from web.pages.panel import build_panel_context
from web.qr import render_qr_svg
from web.security.pairing import Pairing, current_client

LOOK_TIMEOUT_S = 20.0
"""Seconds; a small machine needs that long to find and read a board in a full picture."""
MAX_KEPT_IMAGES = 4
"""Number of pictures kept, so that one is still there when a client fetches it."""


class SetupImages:
    """The last pictures of the camera, by number."""

    def __init__(self) -> None:
        self._images: deque[tuple[int, bytes]] = deque(maxlen=MAX_KEPT_IMAGES)
        self._count = 0

    def add_image(self, jpeg: bytes) -> int:
        """Keep a picture and return its number."""
        self._count += 1
        self._images.append((self._count, jpeg))
        return self._count

    def find_image(self, number: int) -> bytes | None:
        """Return the picture with this number, or None if it is no longer kept."""
        return dict(self._images).get(number)


def create_blueprint(session: TableSession, pairing: Pairing, place: HostInfo) -> Blueprint:
    """Return the routes `/setup` and below; for paired phones only."""
    routes = Blueprint("setup", __name__, url_prefix="/setup")
    sights = SetupImages()

    @routes.before_request
    def pair_first() -> ResponseReturnValue | None:
        return None if current_client(pairing) else render_dialog("pair")

    @routes.get("")
    def setup() -> ResponseReturnValue:
        t, state = texts(), session.state
        tiles = load_tile_set(state.tile_set or "en")
        addresses = tuple(place.addresses())
        html = render_template(
            "setup.html",
            t=t,
            state=state,
            lesson=enrolment_rows(tiles.letters),
            empty=EMPTY,
            remarks=place.setup_problems,
            addresses=addresses,
            address_qr=render_qr_svg(addresses[-1], t("setup.address")) if addresses else "",
            wifi=place.hotspot,
            wifi_qr=render_qr_svg(place.hotspot.qr_text, t("setup.wifi")) if place.hotspot else "",
            **build_panel_context(session, place),
        )
        return Response(html, headers={"Cache-Control": "no-store"})

    @routes.get("/look")
    def look() -> ResponseReturnValue:
        return seen(session.capture_setup_view())

    @routes.post("/corners")
    def corners() -> ResponseReturnValue:
        try:
            placed = parse_corners(request.form.get("corners", ""))
        except ValueError:
            return f"{texts().said(get_text('corners-wrong'))}\n", 409, {"Content-Type": "text/plain; charset=utf-8"}
        return seen(session.place_corners(placed))

    @routes.post("/teach")
    def teach() -> ResponseReturnValue:
        t = texts()
        tiles = load_tile_set(session.state.tile_set or "en")
        try:
            wrong = session.enrol_tiles(enrolment_rows(tiles.letters)).result(LOOK_TIMEOUT_S)
        except (CommandRefusedError, CameraError, TimeoutError) as error:
            return _refuse(error)
        said = t("setup.lesson_wrong", squares=", ".join(wrong)) if wrong else t("setup.lesson_learnt")
        return jsonify({"ok": not wrong, "said": said, "squares": wrong})

    @routes.get("/pictures/<int:number>.jpg")
    def picture(number: int) -> ResponseReturnValue:
        jpeg = sights.find_image(number)
        if jpeg is None:
            abort(404)
        return Response(jpeg, mimetype="image/jpeg", headers={"Cache-Control": "no-store"})

    def seen(looked: Future[SetupView]) -> ResponseReturnValue:
        t = texts()
        try:
            view = looked.result(LOOK_TIMEOUT_S)
        except (CommandRefusedError, CameraError, TimeoutError) as error:
            return _refuse(error)
        found = view.corners is not None
        said = t("setup.placed" if view.placed else "setup.found") if found else t("setup.not_found")
        return jsonify(
            {
                "picture": f"/setup/pictures/{sights.add_image(view.jpeg)}.jpg",
                "size": view.size,
                "corners": view.corners,
                "placed": view.placed,
                "said": said,
                "problems": [t.said(problem) for problem in view.problems],
            }
        )

    return routes


def parse_corners(text: str) -> tuple[tuple[float, float], ...] | None:
    """Parse four corners written as `x,y x,y x,y x,y`; None for an empty text. Raises `ValueError`."""
    if not text.strip():
        return None
    points = tuple(tuple(float(part) for part in point.split(",")) for point in text[:200].split())
    if len(points) != 4 or any(len(point) != 2 or not all(map(math.isfinite, point)) for point in points):
        raise ValueError("four corners, two numbers each")
    return tuple((x, y) for x, y in points)


def _refuse(error: Exception) -> ResponseReturnValue:
    t = texts()
    why = t("setup.slow") if isinstance(error, TimeoutError) else t.said(error)
    return f"{why}\n", 409, {"Content-Type": "text/plain; charset=utf-8"}
