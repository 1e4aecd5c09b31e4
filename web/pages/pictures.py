"""Pictures from paired phones.

With `camera.source = "phone"`, a phone takes the picture of each turn. With `phone-stream`, a phone on a stand above
the board is the camera.
"""

from __future__ import annotations

from contextlib import closing

from flask import Blueprint, Response, jsonify, request
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import FileStorage

from device.cameras.base import Image
from device.cameras.phone import PhoneInUseError, PhoneStreamCamera, StreamEndedError
from device.catalogue import get_text
from device.player_names import is_displayable
from device.session.commands.answers import ReadAgainWithPicture
from device.session.commands.base import TableCommand
from device.session.commands.turns import EndTurnWithPicture
from device.session.messages import CommandRefusedError, format_sentence
from device.session.snapshot import Moment
from vision.photo import PhotoError, decode_photo
from web.i18n import texts
from web.pages.actions import explain_refusal
from web.pages.pairing import CAMERA_PATH, find_seat, find_secure_link
from web.responses import accept, refuse, render_page, require_pairing
from web.security.csrf import CAMERA_PREVIEW_PATH, CAMERA_STILL_PATH, PICTURE_PATH
from web.security.pairing import find_current_client
from web.served_table import table

READ_TIMEOUT_S = 30.0
"""Longest wait for the decoding of a picture, and then for its reading, in seconds.

It is long, because pictures of other phones may be first."""
MAX_NAME_CHARS = 60
UNUSABLE_PICTURE_STATUS = 422
"""HTTP status for a picture that cannot be used. The notices of the snapshot give the reason."""


routes = Blueprint("pictures", __name__)
camera_routes = Blueprint("phone_camera", __name__, url_prefix=CAMERA_PATH)
camera_routes.before_request(require_pairing)


@routes.post(PICTURE_PATH)
def end_turn() -> ResponseReturnValue:
    """End the turn with a picture, unless a picture of another phone has already ended this turn.

    The form has the fields `picture` (an image file) and `seen`. With the field `again`, the picture answers the open
    question (`question_id`) instead. The response is 204 after the turn (303 for a form without script), or the reason
    of a refusal in one line.
    """
    t = texts()
    seen = Moment.parse(request.form.get("seen", ""))
    with closing(request.files.get("picture", FileStorage())) as file:
        name, data = _clean_name(file.filename or ""), file.read()
    if seen is None or not data:
        return refuse(t("wrong.form"), 400)
    if not table.photo_lock.acquire(timeout=READ_TIMEOUT_S):
        return refuse(t("setup.slow"))
    try:
        image = decode_photo(data, name).image
        seat = find_seat(table.session.state)
        state = table.session.submit(_make_command(image), seen, seat).result(READ_TIMEOUT_S)
    except PhotoError as error:
        return refuse(t.translate(format_sentence(get_text("camera-picture", error))))
    except CommandRefusedError as refusal:
        return refuse(explain_refusal(refusal, seen, table.session.state))
    except TimeoutError:
        return accept()  # the board is still being read: the page shows this, and later the result
    finally:
        table.photo_lock.release()
    if state.moment == seen and state.question is None:
        return _explain_notices()
    return accept()


def _make_command(image: Image) -> TableCommand:
    if not request.form.get("again"):
        return EndTurnWithPicture(image)
    return ReadAgainWithPicture(image, question_id=request.form.get("question_id", type=int))


def _explain_notices() -> Response:
    t = texts()
    reason = " ".join(t.translate(notice) for notice in table.session.state.notices)
    return refuse(reason or t("wrong.form"), UNUSABLE_PICTURE_STATUS)


def _clean_name(name: str) -> str:
    """Return the displayable part of a file name from a phone, for messages."""
    return "".join(filter(is_displayable, name))[:MAX_NAME_CHARS] or "?"


REPLACED_STATUS = 410
"""HTTP status for a picture from a phone after another phone has become the camera."""


@camera_routes.get("")
def show_camera() -> Response:
    """Return the page whose script sends the pictures of the phone's camera."""
    return render_page("camera.html", link=find_secure_link(CAMERA_PATH))


@camera_routes.post("/start")
def start() -> ResponseReturnValue:
    """Make this phone the camera, and return the id of its stream, which the other requests contain.

    If another phone is the camera, refuse the request unless the form has the field `takes_over`.
    """
    client = find_current_client()
    assert client is not None  # only paired phones reach this route
    try:
        stream = _get_camera().start(client.id, client.device, takes_over=bool(request.form.get("takes_over")))
    except PhoneInUseError as error:
        return refuse(texts()("phone_camera.in_use", device=error.device))
    return jsonify({"stream": stream})


@camera_routes.post(CAMERA_PREVIEW_PATH.removeprefix(CAMERA_PATH))
def receive_preview() -> ResponseReturnValue:
    """Keep a small picture of the phone's camera.

    The response is JSON with the number of the full picture that the phone should send next, or null.
    """
    return jsonify({"still": _get_camera().receive_preview(_read_stream(), request.get_data())})


@camera_routes.post(CAMERA_STILL_PATH.removeprefix(CAMERA_PATH))
def receive_still() -> ResponseReturnValue:
    """Keep the full picture with the number in the query."""
    _get_camera().receive_still(_read_stream(), request.args.get("number", 0, type=int), request.get_data())
    return Response(status=204)


@camera_routes.post("/stop")
def stop() -> ResponseReturnValue:
    """End the stream, because the page of the phone was hidden or closed."""
    _get_camera().stop(_read_stream())
    return Response(status=204)


def _get_camera() -> PhoneStreamCamera:
    assert table.session.phone_stream is not None  # otherwise these routes are not registered
    return table.session.phone_stream


def _read_stream() -> str:
    return request.args.get("stream", "")


@camera_routes.errorhandler(StreamEndedError)
def _refuse_picture(error: StreamEndedError) -> Response:
    """Return the refusal of a picture whose stream has ended.

    If another phone is the camera now, the refusal contains the name of that phone. Otherwise the status of the refusal
    (409) makes the page start a new stream.
    """
    if error.device:
        return refuse(texts()("phone_camera.replaced", device=error.device), REPLACED_STATUS)
    return refuse(texts()("phone_camera.lost"))
