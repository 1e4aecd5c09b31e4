"""Route that receives the picture of a turn from a paired phone (setting `camera.source = "phone"`)."""

from __future__ import annotations

import threading
from contextlib import closing
from dataclasses import dataclass, field

from flask import Blueprint, Response, request
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import FileStorage

from device.cameras import Image
from device.catalogue import get_text
from device.player_names import is_displayable
from device.session.commands.base import TableCommand
from device.session.commands.questions import ReadAgainWithPicture
from device.session.commands.turns import EndTurnWithPicture
from device.session.messages import CommandRefusedError, format_sentence
from device.session.snapshot import Moment
from device.session.table_session import TableSession
from vision.photo import PhotoError, decode_photo
from web.i18n import texts
from web.pages.actions import explain_refusal
from web.pages.pairing import find_seat
from web.responses import accept, refuse
from web.security.csrf import PICTURE_PATH
from web.security.pairing import Pairing

READ_TIMEOUT_S = 30.0
"""Longest wait for the decoding of a picture, and then for its reading, in seconds.

It is long, because pictures of other phones may be first."""
MAX_NAME_CHARS = 60
UNUSABLE_PICTURE_STATUS = 422
"""HTTP status for a picture that cannot be used. The notices of the snapshot give the reason."""


def create_blueprint(session: TableSession, pairing: Pairing) -> Blueprint:
    """Return the route `POST /actions/picture`, with the form fields `picture` (an image file) and `seen`.

    The picture ends the turn of the player to move. If the form has the field `again`, the picture answers the open
    question (`question_id`) instead. The response is 204 after the turn (303 for a form without script), or the reason
    of a refusal in one line.
    """
    routes = Blueprint("pictures", __name__)
    routes.post(PICTURE_PATH)(Pictures(session, pairing).end_turn)
    return routes


@dataclass(frozen=True)
class Pictures:
    """The view function that ends a turn with a picture.

    Pictures of several phones are decoded and read one after the other, because a small file may need much memory.
    """

    session: TableSession
    pairing: Pairing
    lock: threading.Lock = field(default_factory=threading.Lock)

    def end_turn(self) -> ResponseReturnValue:
        """End the turn with a picture, unless a picture of another phone has already ended this turn."""
        t = texts()
        seen = Moment.parse(request.form.get("seen", ""))
        with closing(request.files.get("picture", FileStorage())) as file:
            name, data = _clean_name(file.filename or ""), file.read()
        if seen is None or not data:
            return refuse(t("wrong.form"), 400)
        if not self.lock.acquire(timeout=READ_TIMEOUT_S):
            return refuse(t("setup.slow"))
        try:
            image = decode_photo(data, name).image
            seat = find_seat(self.pairing, self.session.state)
            state = self.session.submit(self._make_command(image), seen, seat).result(READ_TIMEOUT_S)
        except PhotoError as error:
            return refuse(t.translate(format_sentence(get_text("camera-picture", error))))
        except CommandRefusedError as refusal:
            return refuse(explain_refusal(refusal, seen, self.session.state))
        except TimeoutError:
            return accept()  # the board is still being read: the page shows this, and later the result
        finally:
            self.lock.release()
        if state.moment == seen and state.question is None:
            return self._explain_notices()
        return accept()

    def _make_command(self, image: Image) -> TableCommand:
        if not request.form.get("again"):
            return EndTurnWithPicture(image)
        return ReadAgainWithPicture(image, question_id=request.form.get("question_id", type=int))

    def _explain_notices(self) -> Response:
        t = texts()
        reason = " ".join(t.translate(notice) for notice in self.session.state.notices)
        return refuse(reason or t("wrong.form"), UNUSABLE_PICTURE_STATUS)


def _clean_name(name: str) -> str:
    """Return the displayable part of a file name from a phone, for messages."""
    return "".join(filter(is_displayable, name))[:MAX_NAME_CHARS] or "?"
