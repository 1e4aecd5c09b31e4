"""Page on which the admin chooses the Wi-Fi that the table joins."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from flask import Blueprint, Response, request
from flask.typing import ResponseReturnValue

from device.session.messages import Notice, format_sentence
from device.settings import MAX_WIFI_NAME_BYTES, MAX_WIFI_PASSWORD_BYTES
from device.system.wifi import NetworkManager, WifiError
from web.i18n import texts
from web.responses import refuse, render_page, require_admin
from web.served_table import table

MIN_WIFI_PASSWORD_BYTES = 8
"""Smallest length of a Wi-Fi password (IEEE 802.11, J.4.1)."""

_log = logging.getLogger(__name__)


routes = Blueprint("wifi", __name__, url_prefix="/wifi")
routes.before_request(require_admin)


@routes.get("")
def show_networks() -> Response:
    """Return the form with the networks in range; other names can be typed."""
    try:
        networks, problem = _get_manager().find_networks(), ""
    except WifiError as error:
        networks, problem = (), texts().translate(error)
    return render_page("wifi.html", networks=networks, problem=problem, joins="")


@routes.post("")
def join_network() -> ResponseReturnValue:
    """Join a network after the response was sent, because joining may disconnect the phone."""
    name = request.form.get("typed", "").strip() or request.form.get("name", "")
    password = request.form.get("password", "")
    if not 0 < len(name.encode()) <= MAX_WIFI_NAME_BYTES:
        return refuse(texts()("wifi.no_name"))
    if password and not MIN_WIFI_PASSWORD_BYTES <= len(password.encode()) <= MAX_WIFI_PASSWORD_BYTES:
        return refuse(texts()("wifi.wrong_password"))
    threading.Thread(
        target=_join, args=(_get_manager(), name, password, table.session.notify), name="wifi", daemon=True
    ).start()
    return render_page("wifi.html", networks=(), problem="", joins=name)


def _get_manager() -> NetworkManager:
    assert table.host.wifi_manager is not None  # otherwise these pages are not registered
    return table.host.wifi_manager


def _join(manager: NetworkManager, name: str, password: str, notify: Callable[[Notice], object]) -> None:
    try:
        manager.join(name, password)
    except WifiError as error:
        _log.warning("%s", error)
        notify(Notice(format_sentence(str(error))))
