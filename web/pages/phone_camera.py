"""Page and routes for a phone that serves as the table's camera, on a stand above the board.

The setting is `camera.source = "phone-stream"`; the phone must be paired.
"""

from __future__ import annotations

from dataclasses import dataclass

from flask import Blueprint, Flask, Response, jsonify, request
from flask.typing import ResponseReturnValue

from device.cameras.phone_stream import PhoneInUseError, PhoneStreamCamera, StreamEndedError
from web.host_info import HostInfo
from web.i18n import texts
from web.pages.secure import CAMERA_PATH, find_secure_link
from web.responses import refuse, render_page, require_pairing
from web.security.csrf import CAMERA_PREVIEW_PATH, CAMERA_STILL_PATH
from web.security.pairing import Pairing, find_current_client

REPLACED_STATUS = 410
"""HTTP status for a picture from a phone after another phone has become the camera."""


def register_phone_camera(app: Flask, camera: PhoneStreamCamera | None, pairing: Pairing, host: HostInfo) -> None:
    """Add the routes `/camera` and below, which require a paired phone. Do nothing if `camera` is None.

    `start` returns the id of a stream. The other requests contain it in their address: `preview` and `still` have a
    JPEG picture as their body, and `stop` ends the stream.
    """
    app.jinja_env.globals["has_phone_stream"] = camera is not None
    if camera is None:
        return
    routes = Blueprint("phone_camera", __name__, url_prefix=CAMERA_PATH)
    require_pairing(routes, pairing)
    routes.register_error_handler(StreamEndedError, _refuse_picture)
    pages = PhoneCameraPages(camera, pairing, host)
    routes.get("")(pages.show)
    routes.post("/start")(pages.start)
    routes.post(CAMERA_PREVIEW_PATH.removeprefix(CAMERA_PATH))(pages.receive_preview)
    routes.post(CAMERA_STILL_PATH.removeprefix(CAMERA_PATH))(pages.receive_still)
    routes.post("/stop")(pages.stop)
    app.register_blueprint(routes)


@dataclass(frozen=True)
class PhoneCameraPages:
    """The view functions for the phone that is the camera."""

    camera: PhoneStreamCamera
    pairing: Pairing
    host: HostInfo

    def show(self) -> Response:
        """Return the page whose script sends the pictures of the phone's camera."""
        return render_page("camera.html", link=find_secure_link(self.pairing, self.host, CAMERA_PATH))

    def start(self) -> ResponseReturnValue:
        """Make this phone the camera.

        If another phone is the camera, refuse the request unless the form has the field `takes_over`.
        """
        client = find_current_client(self.pairing)
        assert client is not None  # only paired phones reach this route
        try:
            stream = self.camera.start(client.id, client.device, takes_over=bool(request.form.get("takes_over")))
        except PhoneInUseError as error:
            return refuse(texts()("phone_camera.in_use", device=error.device))
        return jsonify({"stream": stream})

    def receive_preview(self) -> ResponseReturnValue:
        """Keep a small picture of the phone's camera.

        The response is JSON with the number of the full picture that the phone should send next, or null.
        """
        return jsonify({"still": self.camera.receive_preview(_read_stream(), request.get_data())})

    def receive_still(self) -> ResponseReturnValue:
        """Keep the full picture with the number in the query."""
        self.camera.receive_still(_read_stream(), request.args.get("number", 0, type=int), request.get_data())
        return Response(status=204)

    def stop(self) -> ResponseReturnValue:
        """End the stream, because the page of the phone was hidden or closed."""
        self.camera.stop(_read_stream())
        return Response(status=204)


def _read_stream() -> str:
    return request.args.get("stream", "")


def _refuse_picture(error: StreamEndedError) -> Response:
    """Return the refusal of a picture whose stream has ended.

    If another phone is the camera now, the refusal contains the name of that phone. Otherwise the status of the refusal
    (409) makes the page start a new stream.
    """
    if error.device:
        return refuse(texts()("phone_camera.replaced", device=error.device), REPLACED_STATUS)
    return refuse(texts()("phone_camera.lost"))
