"""Small displays driven by luma: a player's name, total, clock and last play.

An OLED shows all four values; a row of eight 7-segment digits shows the total and the clock. Between games and in
pauses the displays alternate with pairing details (address, code, Wi-Fi). Writing to a display takes tens of
milliseconds, so a thread named `displays` writes.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from PIL import Image, ImageDraw

from device.catalogue import get_text
from device.panel.pairing_display import (
    DIGIT_COUNT,
    PairingDetails,
    draw_pairing_pages,
    fit_font,
    format_pairing_digits,
    load_font,
)
from device.session.clock import format_clock
from device.session.messages import format_sentence
from device.session.snapshot import Phase, TableSnapshot, TurnView
from device.session.table_session import TableSession
from device.system.closeable import Closeable
from device.system.voice import format_turn_kind
from engine.errors import TilekeeperError

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
    return f"{turn.word or format_turn_kind(turn.kind, tiles)} {turn.score:+}{mark}"
