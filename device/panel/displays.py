"""Small displays driven by luma: a player's name, total, clock and last play.

An OLED shows all four values; a row of eight 7-segment digits shows the total and the clock. Between games and in
pauses the displays alternate with pairing details (address, code, Wi-Fi). Writing to a display takes tens of
milliseconds, so a thread named `displays` writes. Eight digits show only the code and a numeric address of the
pairing details, without QR codes.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import segno
from PIL import Image, ImageDraw, ImageFont

from device.catalogue import get_text
from device.session.clock import format_clock
from device.session.messages import format_sentence
from device.session.snapshot import Phase, TableSnapshot, TurnView
from device.session.table_session import TableSession
from device.system.closeable import Closeable
from device.system.voice import format_turn_kind
from device.system.wifi import Hotspot
from engine.errors import TilekeeperError
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


_log = logging.getLogger(__name__)
CLOCK_REFRESH_S = 1.0
"""Interval at which a running clock is updated on a display, in seconds."""
RETRY_INTERVAL_S = 2.0
"""Interval at which a display that did not answer is tried again, in seconds."""
PAGE_DURATION_S = 4.0
"""Time for which each page of the pairing details is shown, in seconds."""
IDLE_PHASES = (Phase.LOBBY, Phase.DRAWING, Phase.PAUSED, Phase.ENDED)
"""Phases in which pairing details are shown. They are also shown before the first turn of a game."""
PairingDetailsSource = Callable[[], PairingDetails]
"""A function that returns the current pairing details."""
SecondsLeft = Callable[[int], float | None]
"""A function that returns the seconds left on a player's clock (negative in overtime), or None if no clock runs."""


class DisplayError(TilekeeperError):
    """Error for a display that cannot be used; the message gives the reason and the remedy on one line."""


@dataclass(frozen=True, slots=True)
class ScorePage:
    """Content of one display that shows one player's score.

    `clock` is formatted text, empty in a game without a clock. `to_move` is True for the player whose turn it is.
    """

    name: str = ""
    total: int = 0
    clock: str = ""
    last_play: str = ""
    to_move: bool = False


BLANK_SCORE_PAGE = ScorePage()


@dataclass(frozen=True, slots=True)
class PairingPage:
    """A page of the pairing details (address, code, Wi-Fi) for a display.

    `number` increases without limit; a display with n pages shows page `number` modulo n.
    """

    pairing: PairingDetails
    number: int


class Display(Protocol):
    """Interface of a display that shows a score page or a page of the pairing details."""

    def show(self, page: ScorePage | PairingPage) -> None:
        """Show a page; block until the page has been sent over the bus."""

    def close(self) -> None:
        """Switch the display off."""


class PixelDisplay:
    """A display with pixels: a luma device such as an OLED or luma's `dummy`."""

    def __init__(self, device: Any) -> None:
        self._device = device

    def show(self, page: ScorePage | PairingPage) -> None:
        """Draw the page and send the image to the device."""
        if isinstance(page, ScorePage):
            image = draw_score_page(page, self._device.size)
        else:
            images = draw_pairing_pages(page.pairing, self._device.size)
            image = images[page.number % len(images)]
        self._device.display(image.convert(self._device.mode))

    def close(self) -> None:
        """Switch the display off and release its bus."""
        self._device.cleanup()


class DigitDisplay:
    """A display of eight 7-segment digits (`luma.core.virtual.sevensegment`): total at the left, clock at the right."""

    def __init__(self, segments: Any) -> None:
        self._segments = segments

    def show(self, page: ScorePage | PairingPage) -> None:
        """Format the page as digits and send the digits to the device."""
        if isinstance(page, ScorePage):
            self._segments.text = format_digits(page)
        else:
            texts = format_pairing_digits(page.pairing)
            self._segments.text = texts[page.number % len(texts)]

    def close(self) -> None:
        """Switch the display off and release its bus."""
        self._segments.device.cleanup()


def open_displays(specs: Sequence[str], report: Callable[[str], None]) -> list[Display]:
    """Open the displays that `specs` name; `report` is called with a sentence for each that cannot be used."""
    displays = []
    for spec in specs:
        try:
            displays.append(open_display(spec))
        except DisplayError as error:
            report(format_sentence(get_text("panel-no-display", error)))
    return displays


def open_display(spec: str) -> Display:
    """Open the display that `spec` names: `oled:0x3C` (SSD1306, I2C bus 1) or `digits:0` (MAX7219, SPI).

    Raises `DisplayError`.
    """
    kind, _, where = spec.partition(":")
    try:
        return _OPENERS[kind](int(where, 0))
    except (KeyError, ValueError):
        raise DisplayError(get_text("display-unknown", spec)) from None
    except ImportError as error:
        raise DisplayError(get_text("display-not-installed", error.name)) from error
    except Exception as error:
        raise DisplayError(get_text("display-silent", spec, error)) from error


def _open_oled(address: int) -> Display:
    from luma.core.interface.serial import i2c
    from luma.oled.device import ssd1306

    return PixelDisplay(ssd1306(i2c(port=1, address=address)))


def _open_digits(device: int) -> Display:
    # Imported only if a digit display is wired, because luma starts four threads on import.
    from luma.core.interface.serial import noop, spi
    from luma.core.virtual import sevensegment
    from luma.led_matrix.device import max7219

    return DigitDisplay(sevensegment(max7219(spi(port=0, device=device, gpio=noop()))))


_OPENERS: dict[str, Callable[[int], Display]] = {"oled": _open_oled, "digits": _open_digits}


class DisplayController(Closeable):
    """Controller of the displays, which shows the scores of a session in its own thread.

    Use the controller in a `with` statement, or call `close`.
    """

    def __init__(
        self,
        session: TableSession,
        displays: Sequence[Display],
        seconds_left: SecondsLeft | None = None,
        pairing_details: PairingDetailsSource | None = None,
    ) -> None:
        self._session = session
        self._displays = tuple(displays)
        self._seconds_left = seconds_left
        self._pairing_details = pairing_details
        self._silent_displays: set[int] = set()
        """Indices of the displays that did not answer; they show an old page and are tried again."""
        self._wake_up = threading.Event()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="displays", daemon=True)
        session.add_listener(self._on_state)
        self._thread.start()

    def close(self) -> None:
        """End the thread and switch the displays off."""
        self._session.remove_listener(self._on_state)
        self._closing = True
        self._wake_up.set()
        self._thread.join()

    def _on_state(self, _: TableSnapshot) -> None:
        self._wake_up.set()

    def _run(self) -> None:
        shown: list[ScorePage | PairingPage | None] = [None] * len(self._displays)
        start = time.monotonic()
        changes_with_time = self._seconds_left is not None or self._pairing_details is not None
        while not self._closing:
            self._wake_up.clear()
            try:
                pages = self._choose_pages(int((time.monotonic() - start) / PAGE_DURATION_S))
            except OSError as error:  # the pairing details include the machine's network addresses
                _log.warning("the displays stay as they are: %s", error)
                pages = ()
            for index, page in enumerate(pages):
                if page != shown[index]:
                    shown[index] = page if self._show_on(index, page) else None
            waits = [min(CLOCK_REFRESH_S, PAGE_DURATION_S)] if changes_with_time else []
            waits += [RETRY_INTERVAL_S] if self._silent_displays else []
            self._wake_up.wait(min(waits, default=None))
        for index, display in enumerate(self._displays):
            try:
                display.close()
            except Exception as error:  # as in `_show_on`; the other displays must still be switched off
                _log.warning("display %d cannot be switched off: %s", index + 1, error)

    def _choose_pages(self, period: int) -> tuple[ScorePage | PairingPage, ...]:
        """Return one page for each display; `period` is the number of `PAGE_DURATION_S` periods since the start.

        If pairing details and scores are shown, they alternate.
        """
        state, count = self._session.state, len(self._displays)
        is_idle = not state.turns or state.phase in IDLE_PHASES
        is_score_due = bool(state.players) and period % 2 == 0
        if self._pairing_details is None or not is_idle or is_score_due:
            return choose_score_pages(state, count, self._seconds_left)
        number = period // 2 if state.players else period
        return (PairingPage(self._pairing_details(), number),) * count

    def _show_on(self, index: int, page: ScorePage | PairingPage) -> bool:
        """Show a page on the display with this index; return False if the display does not answer."""
        try:
            self._displays[index].show(page)
        except Exception as error:  # luma raises errors of many classes; a loose wire must not end the thread
            if index not in self._silent_displays:
                _log.warning("display %d does not answer: %s", index + 1, error)
            self._silent_displays.add(index)
            return False
        self._silent_displays.discard(index)
        return True


def choose_score_pages(
    state: TableSnapshot, count: int, seconds_left: SecondsLeft | None = None
) -> tuple[ScorePage, ...]:
    """Return the score pages for `count` displays.

    If there are enough displays, each player has one. Otherwise the first one shows the player whose turn it is, and
    the second one the player who played last. `seconds_left` returns the time on a player's clock.
    """
    if len(state.players) <= count:
        shown: list[int | None] = list(range(len(state.players)))
    else:
        last = state.last_turn
        shown = [state.turn_of, last.player if last else None][:count]
    found = [BLANK_SCORE_PAGE if player is None else _make_score_page(state, player, seconds_left) for player in shown]
    return tuple(found) + (BLANK_SCORE_PAGE,) * (count - len(found))


def draw_score_page(page: ScorePage, size: tuple[int, int]) -> Image.Image:
    """Draw a score page in white on black, mode `1`; `size` is (width, height) in pixels."""
    width, height = size
    image = Image.new("1", size)
    draw = ImageDraw.Draw(image)
    large, small = load_font(str(page.total), height * 0.45), load_font(page.clock, height * 0.22)
    room = width - 4
    if page.to_move:
        draw.rectangle((0, 0, width - 1, round(height * 0.27)), fill=1)
    # Place the baselines, because the fonts have different heights above the letters.
    name_font = fit_font(page.name, room, height * 0.22)
    draw.text((2, round(height * 0.2)), page.name, fill=not page.to_move, font=name_font, anchor="ls")
    if page.name:
        draw.text((2, round(height * 0.67)), str(page.total), fill=1, font=large, anchor="ls")
    draw.text((width - 2, round(height * 0.57)), page.clock, fill=1, font=small, anchor="rs")
    font = fit_font(page.last_play, room, height * 0.22)  # otherwise the last digit of a score could be cut off
    draw.text((2, round(height * 0.94)), page.last_play, fill=1, font=font, anchor="ls")
    return image


def format_digits(page: ScorePage) -> str:
    """Return a score page as text for eight 7-segment digits: the total at the left, the clock at the right.

    A decimal point takes no digit of its own. If there is no room for both, the clock shows minutes only.
    """
    if not page.name:
        return " " * DIGIT_COUNT
    clock = page.clock.replace(":", ".")
    if not clock:
        return str(page.total).rjust(DIGIT_COUNT)
    if len(clock.replace(".", "")) + len(str(page.total)) > DIGIT_COUNT:
        clock = clock.partition(".")[0]
    return str(page.total).ljust(DIGIT_COUNT - len(clock.replace(".", ""))) + clock


def _make_score_page(state: TableSnapshot, player: int, seconds_left: SecondsLeft | None) -> ScorePage:
    view, is_to_move = state.players[player], player == state.turn_of
    left = seconds_left(player) if seconds_left else None
    clock_text = "" if left is None else format_clock(left)
    if state.question is not None and is_to_move:
        last_play = f"? {state.question.answers[state.question.chosen]}"
    else:
        last_turn = next((turn for turn in reversed(state.turns) if turn.player == player), None)
        last_play = _abbreviate_turn(last_turn, state.tile_set)
    return ScorePage(view.name, view.total, clock_text, last_play, is_to_move)


def _abbreviate_turn(turn: TurnView | None, tiles: str) -> str:
    """Return a short text for a turn, with the word and the score, such as `HOUSE +22`; empty for None.

    A turn without a word (pass, exchange) is named in the language of the tile set `tiles`. A provisional turn ends
    with `?`.
    """
    if turn is None:
        return ""
    mark = " ?" if turn.provisional else ""
    return f"{turn.shown_word or format_turn_kind(turn.kind, tiles)} {turn.score:+}{mark}"
