"""Set-up of the panel and displays of a table. Without GPIO pins, the panel is only on the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from device.catalogue import get_text
from device.panel.displays import (
    Display,
    DisplayController,
    DisplayError,
    PairingDetailsSource,
    SecondsLeft,
    open_display,
)
from device.panel.gpio import GpioUnavailableError, make_gpio_hardware, may_have_pins
from device.panel.panel import Panel, PanelActions
from device.session.messages import format_sentence
from device.session.table_session import TableSession
from device.settings import PanelSettings


@contextmanager
def open_panel(
    session: TableSession,
    actions: PanelActions,
    settings: PanelSettings,
    report: Callable[[str], None],
    seconds_left: SecondsLeft | None = None,
    pairing_details: PairingDetailsSource | None = None,
) -> Iterator[Panel]:
    """Open the panel and the displays; close both when the `with` block ends.

    If a display or the pins of a Raspberry Pi are not available, `report` is called with a message of one line. Two
    functions are for the displays: `seconds_left` returns the time on a player's clock, and `pairing_details` the
    details for pairing.
    """
    with ExitStack() as opened:
        panel = opened.enter_context(_make_panel(session, actions, settings, report))
        if displays := list(_open_displays(settings, report)):
            opened.enter_context(DisplayController(session, displays, seconds_left, pairing_details))
        yield panel


def _make_panel(
    table: TableSession, orders: PanelActions, settings: PanelSettings, say: Callable[[str], None]
) -> Panel:
    if settings.use and may_have_pins():
        try:
            return Panel(table, orders, make_gpio_hardware(settings.pins))
        except GpioUnavailableError as error:
            say(format_sentence(get_text("panel-no-pins", error)))
    return Panel(table, orders)


def _open_displays(settings: PanelSettings, say: Callable[[str], None]) -> Iterator[Display]:
    for spec in settings.displays:
        try:
            yield open_display(spec)
        except DisplayError as error:
            say(format_sentence(get_text("panel-no-display", error)))
