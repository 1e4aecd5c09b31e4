"""Pairing a phone, and the list of those that are."""

from __future__ import annotations

from flask import Blueprint, Response, redirect, render_template, request
from flask.typing import ResponseReturnValue

from web.i18n import texts
from web.pages.dialogs import show
from web.security.csrf import PAIR, is_document
from web.security.pairing import Locked, Pairing, WrongCode, greet, visitor

DEVICE_LETTERS = 40


def blueprint(pairing: Pairing) -> Blueprint:
    """`/pair`, `/phones`, `/phones/unpair`."""
    routes = Blueprint("phones", __name__)

    @routes.get(PAIR)
    def pair_form() -> ResponseReturnValue:
        code = request.args.get("code", "")  # of a QR code at the table
        return show("pair", code=code if code.isascii() and code.isdecimal() and len(code) == 6 else "")

    @routes.post(PAIR)
    def pair() -> ResponseReturnValue:
        t = texts()
        try:
            phone = pairing.pair(request.form.get("code", "")[:20], request.remote_addr or "", _device())
        except WrongCode as wrong:
            return _refuse(t("pair.wrong", left=wrong.left), 409)
        except Locked as locked:
            return _refuse(t("pair.locked", minutes=locked.minutes), 429)
        greet(phone)
        return redirect("/", code=303) if is_document() else Response(status=205)

    @routes.get("/phones")
    def phones() -> ResponseReturnValue:
        me = visitor(pairing)
        return show("phones", me=me, phones=pairing.phones) if me else show("pair")

    @routes.post("/phones/unpair")
    def unpair() -> ResponseReturnValue:
        me = visitor(pairing)
        wanted = request.form.get("phone", "")
        if me is None or not (me.admin or me.id == wanted):
            return _refuse(texts()("phones.only_admin"), 403)
        if not pairing.unpair(wanted):
            return _refuse(texts()("phones.gone"), 409)
        return redirect("/", code=303) if is_document() else Response(status=205)

    return routes


def _refuse(why: str, status: int) -> ResponseReturnValue:
    if is_document():
        return Response(render_template("refused.html", t=texts(), why=why), status=status)
    return Response(f"{why}\n", status=status, mimetype="text/plain")


def _device() -> str:
    """What the browser says of its device, for people to tell phones apart: `iPhone`, `Android 14; Pixel 8`."""
    agent = request.headers.get("User-Agent", "")
    inside = agent.partition("(")[2].partition(")")[0]
    return (inside or agent or "?")[:DEVICE_LETTERS]
