"""Pairing details on small displays: the page's address, the pairing code, and the hotspot's name and password.

An OLED also shows QR codes. Eight 7-segment digits show only the code and a numeric address.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import segno
from PIL import Image, ImageDraw, ImageFont

from device.system.hotspot import Hotspot
from vision.rendering.fonts import packaged_fonts, select_supporting_fonts

DIGIT_COUNT = 8
_QUIET_ZONE_MODULES = 2
"""Total width of the left and the right white border of a QR code, in modules (QR squares).

A display of 64 pixels has no room for the wider borders of the standard. Phones can also read codes with these borders.
"""
_MIN_MODULE_PX = 2
"""Smallest size of a module (QR square) in pixels; phones cannot read a smaller code from a display."""
_MIN_TEXT_HEIGHT_PX = 8
"""Smallest height of legible letters, in pixels."""


@dataclass(frozen=True, slots=True)
class PairingDetails:
    """Details for pairing a phone: address to type, link for the QR code, pairing code, and the hotspot.

    `wifi` is None while the hotspot is not active.
    """

    address: str
    link: str
    code: str
    wifi: Hotspot | None = None


def make_pairing_details(code: str, secret: str, addresses: Sequence[str], hotspot: Hotspot | None) -> PairingDetails:
    """Return the pairing details for the last of `addresses`, which is the best one for phones.

    The link contains the `secret` instead of the code. While the hotspot is active, its address is the host in the
    link.

    >>> make_pairing_details("123456", "Hq3", ["http://localhost:8080", "http://192.168.1.7:8080"], None).address
    '192.168.1.7:8080'
    """
    link = addresses[-1]
    wifi = hotspot if hotspot is not None and hotspot.is_active() else None
    if wifi:
        link = re.sub(r"//.*(?=:)", f"//{wifi.address}", link)
    return PairingDetails(link.partition("//")[2], f"{link}/pair/{secret}", code, wifi)


def draw_pairing_pages(pairing: PairingDetails, size: tuple[int, int]) -> tuple[Image.Image, ...]:
    """Draw the pages of the pairing details in white on black, mode `1`; `size` is (width, height) in pixels."""
    code = f"{pairing.code[:3]} {pairing.code[3:]}"
    pages = [_draw_qr_page(pairing.link, code.split(), size), _draw_text_page((pairing.address, code), size)]
    if pairing.wifi:
        name, password = pairing.wifi.name, pairing.wifi.password
        pages += [
            _draw_qr_page(pairing.wifi.qr_text, ["Wi-Fi"], size),
            _draw_text_page(("Wi-Fi", name, password), size),
        ]
    return tuple(page for page in pages if page)


def format_pairing_digits(pairing: PairingDetails) -> tuple[str, ...]:
    """Return the texts that an eight-digit display shows one after the other: the code, then address and port.

    >>> format_pairing_digits(PairingDetails("192.168.1.7:8080", "", "123456"))
    ('C 123456', '192.168.  ', '1.7      ', 'P   8080')
    """
    host, _, port = pairing.address.rpartition(":")
    pages = [f"C {pairing.code}"]
    if numbers := re.fullmatch(r"(\d+\.\d+\.)(\d+\.\d+)", host):
        pages += [*numbers.groups(), f"P{port:>{DIGIT_COUNT - 1}}"]
    return tuple(page.ljust(DIGIT_COUNT + page.count(".")) for page in pages)


def load_font(text: str, size: float) -> ImageFont.FreeTypeFont:
    """Return a font of `size` pixels that can draw every letter of `text`; if there is none, a font without some.

    Pillow's default font has only A to Z: it draws Ä, Ł, Ω and Ж as the same box.
    """
    fonts = packaged_fonts()
    return ImageFont.truetype(str((select_supporting_fonts(fonts, text) or fonts)[0]), size)


def fit_font(text: str, width: float, size: float) -> ImageFont.FreeTypeFont:
    """Return the largest font up to `size` (px) in which `text` fits into `width` pixels, or a legible one."""
    font = load_font(text, size)
    while font.getlength(text) > width and size > _MIN_TEXT_HEIGHT_PX:
        size = max(size - 1, _MIN_TEXT_HEIGHT_PX)
        font = load_font(text, size)
    return font


def _draw_qr_page(text: str, beside: Sequence[str], size: tuple[int, int]) -> Image.Image | None:
    """Draw the largest QR code of `text` that fits, with the lines `beside` next to it.

    Return None if its modules would be smaller than `_MIN_MODULE_PX`. `size` is (width, height) in pixels.
    """
    width, height = size
    modules = segno.make(text, micro=False, error="l").matrix
    module = height // (len(modules) + _QUIET_ZONE_MODULES)
    if module < _MIN_MODULE_PX or width - height < height // 2:
        return None
    image = Image.new("1", size)
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, height - 1, height - 1), fill=1)
    edge = (height - module * len(modules)) // 2
    for row, line in enumerate(modules):
        for column, dark in enumerate(line):
            if dark:
                x, y = edge + module * column, edge + module * row
                draw.rectangle((x, y, x + module - 1, y + module - 1), fill=0)
    _draw_lines(draw, beside, (height + 4, 0, width, height))
    return image


def _draw_text_page(lines: Sequence[str], size: tuple[int, int]) -> Image.Image:
    image = Image.new("1", size)
    _draw_lines(ImageDraw.Draw(image), lines, (2, 0, *size))
    return image


def _draw_lines(draw: ImageDraw.ImageDraw, lines: Sequence[str], box: tuple[int, int, int, int]) -> None:
    """Draw lines of text in `box` (left, top, right, bottom), each in the largest font that fits."""
    left, top, right, bottom = box
    room = (bottom - top) / len(lines)
    for number, line in enumerate(lines):
        font = fit_font(line, right - left, room * 0.8)
        draw.text((left, top + room * (number + 0.5)), line, fill=1, font=font, anchor="lm")
