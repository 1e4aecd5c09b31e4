"""Pages for pairing a phone and for the list of paired phones."""

from __future__ import annotations

from flask import Blueprint, Response, redirect, render_template, request
from flask.typing import ResponseReturnValue

from web.i18n import texts
from web.pages.dialogs import render_dialog
from web.security.csrf import PAIR_PATH, is_document_request
from web.security.pairing import Pairing, PairingCodeError, PairingLockedError, current_client, remember_client

MAX_DEVICE_NAME_LETTERS = 40


def create_blueprint(pairing: Pairing) -> Blueprint:
    """Return the routes `/pair`, `/phones` and `/phones/unpair`."""
    routes = Blueprint("phones", __name__)

    @routes.get(PAIR_PATH)
    def pair_form() -> ResponseReturnValue:
        code = request.args.get("code", "")  # of a QR code at the table
        return render_dialog("pair", code=code if code.isascii() and code.isdecimal() and len(code) == 6 else "")

    @routes.post(PAIR_PATH)
    def pair() -> ResponseReturnValue:
        t = texts()
        try:
            phone = pairing.pair(request.form.get("code", "")[:20], request.remote_addr or "", _read_device_name())
        except PairingCodeError as wrong:
            return _refuse(t("pair.wrong", left=wrong.tries_left), 409)
        except PairingLockedError as locked:
            return _refuse(t("pair.locked", minutes=locked.minutes), 429)
        remember_client(phone)
        return redirect("/", code=303) if is_document_request() else Response(status=205)

    @routes.get("/phones")
    def phones() -> ResponseReturnValue:
        me = current_client(pairing)
        return render_dialog("phones", me=me, phones=pairing.clients) if me else render_dialog("pair")

    @routes.post("/phones/unpair")
    def unpair() -> ResponseReturnValue:
        me = current_client(pairing)
        wanted = request.form.get("phone", "")
        if me is None or not (me.admin or me.id == wanted):
            return _refuse(texts()("phones.only_admin"), 403)
        if not pairing.unpair(wanted):
            return _refuse(texts()("phones.gone"), 409)
        return redirect("/", code=303) if is_document_request() else Response(status=205)

    return routes


def _refuse(why: str, status: int) -> ResponseReturnValue:
    if is_document_request():
        return Response(render_template("refused.html", t=texts(), why=why), status=status)
    return Response(f"{why}\n", status=status, mimetype="text/plain")


def _read_device_name() -> str:
    """Return the device from the User-Agent header, for the list of phones: `iPhone`, `Android 14; Pixel 8`."""
    agent = request.headers.get("User-Agent", "")
    inside = agent.partition("(")[2].partition(")")[0]
    return (inside or agent or "?")[:MAX_DEVICE_NAME_LETTERS]
