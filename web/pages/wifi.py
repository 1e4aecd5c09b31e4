"""Page on which the admin chooses the Wi-Fi that the table joins."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass

from flask import Blueprint, Response, request
from flask.typing import ResponseReturnValue

from device.session.messages import format_sentence
from device.settings import MAX_WIFI_NAME_BYTES, MAX_WIFI_PASSWORD_BYTES
from device.system.wifi import NetworkManager, WifiError
from web.i18n import texts
from web.responses import refuse, render_page, require_admin
from web.security.pairing import Pairing

MIN_WIFI_PASSWORD_BYTES = 8
"""Smallest length of a Wi-Fi password (IEEE 802.11, J.4.1)."""

_log = logging.getLogger(__name__)


def create_blueprint(manager: NetworkManager, pairing: Pairing, notify: Callable[[str], None]) -> Blueprint:
    """Return the route `/wifi`, which only the admin may use. `notify` shows a sentence on the page."""
    routes = Blueprint("wifi", __name__, url_prefix="/wifi")
    routes.before_request(lambda: require_admin(pairing))
    pages = WifiPages(manager, notify)
    routes.get("")(pages.show)
    routes.post("")(pages.join)
    return routes


@dataclass(frozen=True)
class WifiPages:
    """The view functions for the Wi-Fi."""

    manager: NetworkManager
    notify: Callable[[str], None]

    def show(self) -> Response:
        """Return the form with the networks in range; other names can be typed."""
        try:
            networks, problem = self.manager.find_networks(), ""
        except WifiError as error:
            networks, problem = (), texts().translate(error)
        return render_page("wifi.html", networks=networks, problem=problem, joins="")

    def join(self) -> ResponseReturnValue:
        """Join a network after the response was sent, because joining may disconnect the phone."""
        name = request.form.get("typed", "").strip() or request.form.get("name", "")
        password = request.form.get("password", "")
        if not 0 < len(name.encode()) <= MAX_WIFI_NAME_BYTES:
            return refuse(texts()("wifi.no_name"))
        if password and not MIN_WIFI_PASSWORD_BYTES <= len(password.encode()) <= MAX_WIFI_PASSWORD_BYTES:
            return refuse(texts()("wifi.wrong_password"))
        threading.Thread(target=self._join_network, args=(name, password), name="wifi", daemon=True).start()
        return render_page("wifi.html", networks=(), problem="", joins=name)

    def _join_network(self, name: str, password: str) -> None:
        try:
            self.manager.join(name, password)
        except WifiError as error:
            _log.warning("%s", error)
            self.notify(format_sentence(str(error)))
