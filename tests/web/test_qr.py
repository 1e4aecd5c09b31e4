"""QR codes, read as a phone reads them."""

from __future__ import annotations

import re

import cv2
import numpy as np
import pytest

from device.system.wifi import format_wifi_text
from web.invitation import render_qr_blocks, render_qr_svg

ADDRESS = "http://192.168.0.2:8080/pair?code=123456"


def read(modules: np.ndarray) -> str:
    """Return the text of a code. OpenCV does not decode each code at each size and rotation, so several are tried."""
    detector = cv2.QRCodeDetector()
    for size in (8, 5, 11, 4):
        picture = np.kron(np.where(modules, 0, 255).astype(np.uint8), np.ones((size, size), np.uint8))
        for turned in (picture, cv2.rotate(picture, cv2.ROTATE_90_CLOCKWISE)):
            if text := str(detector.detectAndDecode(turned)[0]):
                return text
    return ""


def drawn(svg: str) -> np.ndarray:
    """The dark modules of a drawing: its path goes right by `h`, on by `m`."""
    side = int(re.search(r'viewBox="0 0 (\d+) ', svg)[1])  # type: ignore[index]
    path = re.search(r'stroke="#000" d="([^"]+)"', svg)[1]  # type: ignore[index]
    modules = np.zeros((side, side), bool)
    x = y = 0.0
    for step, numbers in re.findall(r"([Mmh])([-\d. ]+)", path):
        values = [float(number) for number in re.findall(r"-?[\d.]+", numbers)]
        if step == "h":
            modules[int(y), int(x) : int(x + values[0])] = True
            x += values[0]
        else:
            x, y = (values[0], values[1]) if step == "M" else (x + values[0], y + values[1])
    return modules


def test_drawing_holds_the_address() -> None:
    assert read(drawn(render_qr_svg(ADDRESS, "address"))) == ADDRESS


def test_console_shows_the_address() -> None:
    lines = render_qr_blocks(ADDRESS).splitlines()
    lit = {"█": (1, 1), "▀": (1, 0), "▄": (0, 1), " ": (0, 0)}
    rows = [[lit[sign][half] for sign in line] for line in lines for half in (0, 1)]
    assert read(~np.array(rows, bool)) == ADDRESS


def test_label_is_text_only() -> None:
    assert 'aria-label="&lt;b&gt; &#34;"' in render_qr_svg("x", '<b> "')


def test_text_that_no_code_holds_is_refused() -> None:
    with pytest.raises(ValueError):
        render_qr_svg("x" * 9000, "")


def test_wifi_is_written_as_phones_read_it() -> None:
    assert format_wifi_text("My; net", "p:w") == r"WIFI:T:WPA;S:My\; net;P:p\:w;;"
    assert format_wifi_text("Open", "") == "WIFI:S:Open;;"
