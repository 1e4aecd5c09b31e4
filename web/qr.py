"""QR codes for the page's address, the Wi-Fi and the pairing code."""

from __future__ import annotations

import io

from markupsafe import Markup, escape

_QUIET_ZONE_MODULES = 4
"""Width of the white margin around a QR code, in modules (ISO/IEC 18004, 5.3.8)."""


def render_qr_svg(text: str, label: str) -> Markup:
    """Return a QR code as inline SVG, dark on light; `label` is the description for screen readers.

    The style sheet sets the size of the image (`svg.qr`). Raises `ValueError` if the text is too long for a QR code
    (more than about two thousand letters).
    """
    import segno  # only a page with a QR code needs it

    try:
        code = segno.make(text, micro=False, error="m")
    except segno.DataOverflowError as error:
        raise ValueError(f"a text of {len(text)} letters does not fit into a QR code") from error
    drawing = code.svg_inline(
        border=_QUIET_ZONE_MODULES, dark="#000", light="#fff", svgclass="qr", lineclass=None, omitsize=True
    )
    return Markup(drawing.replace("<svg ", f'<svg role="img" aria-label="{escape(label)}" ', 1))


def render_qr_blocks(text: str) -> str:
    """Return a QR code as Unicode block characters for a terminal."""
    import segno

    drawn = io.StringIO()
    segno.make(text, micro=False, error="l").terminal(out=drawn, border=2, compact=True)
    return drawn.getvalue()


def format_wifi_text(name: str, password: str) -> str:
    """Return the QR code text for joining a Wi-Fi: `WIFI:T:WPA;S:...;P:...;;`, or `T:nopass` without a password."""
    from segno.helpers import make_wifi_data

    return str(make_wifi_data(ssid=name, password=password or None, security="WPA" if password else None))
