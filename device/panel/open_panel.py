"""Set-up of the panel and displays of a table. Without GPIO pins, the panel is only on the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from device.catalogue import get_text
from device.panel.gpio import GpioUnavailableError, make_gpio_hardware, may_have_pins
from device.panel.panel import Panel, PanelActions
from device.session.messages import format_sentence
from device.session.table_session import TableSession
from device.settings import PanelSettings

if TYPE_CHECKING:
    from device.panel.displays import PairingDetailsSource, SecondsLeft


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
        if settings.displays:
            from device.panel.displays import DisplayController, open_displays  # loads segno and Pillow's fonts

            if displays := open_displays(settings.displays, report):
                opened.enter_context(DisplayController(session, displays, seconds_left, pairing_details))
        yield panel


def _make_panel(
    session: TableSession, actions: PanelActions, settings: PanelSettings, report: Callable[[str], None]
) -> Panel:
    if settings.use and may_have_pins():
        try:
            return Panel(session, actions, make_gpio_hardware(settings.pins))
        except GpioUnavailableError as error:
            report(format_sentence(get_text("panel-no-pins", error)))
    return Panel(session, actions)
