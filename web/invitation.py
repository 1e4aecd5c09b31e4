"""QR codes with which phones come to the page, are paired, and join the Wi-Fi."""

from __future__ import annotations

import io

from flask import request
from markupsafe import Markup, escape

from device.system.wifi import format_wifi_text
from web.host_info import HostInfo, is_local_address
from web.i18n import texts
from web.security.csrf import PAIR_PATH
from web.security.pairing import current_pairing, find_current_client

_QUIET_ZONE_MODULES = 4
"""Width of the white margin around a QR code, in modules (ISO/IEC 18004, 5.3.8)."""


def render_qr_svg(text: str, label: str) -> Markup:
    """Return a QR code as inline SVG, dark on light; `label` is the description for screen readers.

    The style sheet sets the size of the image (`svg.qr`). Raises `ValueError` if the text is too long for a QR code
    (more than about two thousand letters).
    """
    import segno  # only a page with a QR code needs it

    drawing = segno.make(text, micro=False, error="m").svg_inline(
        border=_QUIET_ZONE_MODULES, dark="#000", light="#fff", svgclass="qr", lineclass=None, omitsize=True
    )
    return Markup(drawing.replace("<svg ", f'<svg role="img" aria-label="{escape(label)}" ', 1))


def render_qr_blocks(text: str) -> str:
    """Return a QR code as Unicode block characters for a terminal."""
    import segno

    drawn = io.StringIO()
    segno.make(text, micro=False, error="l").terminal(out=drawn, border=2, compact=True)
    return drawn.getvalue()


def find_shown_code() -> str:
    """Return the pairing code for a paired client, or an empty string for other clients.

    A local address does not authenticate a client, because a proxy on this machine may have forwarded the request.
    """
    return current_pairing.code if find_current_client() else ""


def find_address(host: HostInfo) -> str:
    """Return the address of the page for phones, or an empty string if only this machine can open the page."""
    if addresses := host.find_phone_addresses():
        return addresses[-1]
    shown = request.host_url.rstrip("/")  # perhaps that of a proxy
    return "" if host.addresses() and is_local_address(shown) else shown


def make_invitation(host: HostInfo) -> list[tuple[Markup, str, str]]:
    """Return the QR codes for joining as (image, purpose, text).

    Passwords and secrets are included only for a paired client. There are no codes if only this machine can open the
    page.
    """
    address, code = find_address(host), find_shown_code()
    if not address:
        return []
    if not code:
        return [make_qr(address, "join.page", address)]
    link = f"{address}{PAIR_PATH}/{current_pairing.secret}"
    pair_qr = make_qr(link, "join.pair", f"{code[:3]} {code[3:]}")
    wifi, hotspot = host.wifi, host.hotspot
    if wifi is None and hotspot is not None and hotspot.is_active():
        wifi = hotspot.name, hotspot.password
    if wifi is None:
        return [pair_qr]
    return [make_qr(format_wifi_text(*wifi), "join.wifi", " · ".join(filter(None, wifi))), pair_qr]


def make_qr(content: str, purpose_key: str, text: str) -> tuple[Markup, str, str]:
    """Return a QR code as (image, purpose, text); the purpose is the text of the page with the key `purpose_key`."""
    purpose = texts()(purpose_key)
    return render_qr_svg(content, purpose), purpose, text
