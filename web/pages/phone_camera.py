"""Page and routes of a paired phone on a stand that is the camera (setting `camera.source = "phone-stream"`)."""

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
from web.security.pairing import Pairing, current_client

REPLACED_STATUS = 410
"""Status of the response to a picture of a phone from which another one has taken over."""


def register_phone_camera(app: Flask, camera: PhoneStreamCamera | None, pairing: Pairing, host: HostInfo) -> None:
    """Add the routes `/camera` and below, which require a paired phone, if the camera is a phone on a stand.

    `start` returns the id of a stream, which is in the address of the following requests: `preview` and `still` have a
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
    """The view functions of a phone that is the camera."""

    camera: PhoneStreamCamera
    pairing: Pairing
    host: HostInfo

    def show(self) -> Response:
        """Return the page whose script sends pictures of the phone's camera."""
        return render_page("camera.html", link=find_secure_link(self.pairing, self.host, CAMERA_PATH))

    def start(self) -> ResponseReturnValue:
        """Make this phone the camera; if another phone is the camera, the form must say that this one takes over."""
        client = current_client(self.pairing)
        assert client is not None  # of a paired phone
        try:
            stream = self.camera.start(client.id, client.device, takes_over=bool(request.form.get("takes_over")))
        except PhoneInUseError as error:
            return refuse(texts()("phone_camera.in_use", device=error.device))
        return jsonify({"stream": stream})

    def receive_preview(self) -> ResponseReturnValue:
        """Receive a small picture, and return the number of the full picture that is wanted, or null."""
        return jsonify({"still": self.camera.receive_preview(_read_stream(), request.get_data())})

    def receive_still(self) -> ResponseReturnValue:
        """Receive the full picture with a number."""
        self.camera.receive_still(_read_stream(), request.args.get("number", 0, type=int), request.get_data())
        return Response(status=204)

    def stop(self) -> ResponseReturnValue:
        """Note that the page of the phone was hidden or closed."""
        self.camera.stop(_read_stream())
        return Response(status=204)


def _read_stream() -> str:
    return request.args.get("stream", "")


def _refuse_picture(error: StreamEndedError) -> Response:
    """Tell a phone that another one is the camera, or (with 409) that it has to start again after a restart."""
    if error.device:
        return refuse(texts()("phone_camera.replaced", device=error.device), REPLACED_STATUS)
    return refuse(texts()("phone_camera.lost"))
