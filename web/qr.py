"""Texts as QR codes: the address of the page, the name of the Wi-Fi, the code of the table."""

from __future__ import annotations

import io

import segno
from markupsafe import Markup, escape

_QUIET_ZONE_MODULES = 4
"""Modules of white around a code (ISO/IEC 18004, 5.3.8)."""


def render_qr_svg(text: str, label: str) -> Markup:
    """`text` as an SVG to be put into a page, dark on light whatever the page's colours are; `label` says what
    it is.

    It has no size of its own: the page's style sheet gives it one (`svg.qr`). Raises `ValueError` for a text that no
    QR code can hold (more than about two thousand letters).
    """
    try:
        code = segno.make(text, micro=False, error="m")
    except segno.DataOverflowError as error:
        raise ValueError(f"a text of {len(text)} letters does not fit into a QR code") from error
    drawing = code.svg_inline(
        border=_QUIET_ZONE_MODULES, dark="#000", light="#fff", svgclass="qr", lineclass=None, omitsize=True
    )
    return Markup(drawing.replace("<svg ", f'<svg role="img" aria-label="{escape(label)}" ', 1))


def render_qr_blocks(text: str) -> str:
    """`text` as a QR code of block letters, for a dark or light terminal."""
    drawn = io.StringIO()
    segno.make(text, micro=False, error="l").terminal(out=drawn, border=2, compact=True)
    return drawn.getvalue()


def format_wifi_text(name: str, password: str) -> str:
    """What a phone reads from a code to join a network: `WIFI:T:WPA;S:...;P:...;;`, `T:nopass` without a password."""
    from segno.helpers import make_wifi_data

    return str(make_wifi_data(ssid=name, password=password or None, security="WPA" if password else None))
