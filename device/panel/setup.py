"""Puts the panel of a table together: on its pins where there are any, on the page alone where there are none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from device.panel.displays import Clock, Display, DisplayError, Displays, Inviting, open_display
from device.panel.gpio import NoGpio, gpio_hardware
from device.panel.panel import Orders, Panel, Table
from device.session.messages import sentence
from device.settings import PanelSettings
from engine.messages import said


@contextmanager
def open_panel(
    table: Table,
    orders: Orders,
    settings: PanelSettings,
    say: Callable[[str], None],
    clock: Clock | None = None,
    inviting: Inviting | None = None,
) -> Iterator[Panel]:
    """The panel for the time of a `with`; `say` is told, in one line each, what of it is missing here."""
    with ExitStack() as opened:
        panel = opened.enter_context(_panel(table, orders, settings, say))
        if displays := list(_displays(settings, say)):
            opened.enter_context(Displays(table, displays, clock, inviting))
        yield panel


def _panel(table: Table, orders: Orders, settings: PanelSettings, say: Callable[[str], None]) -> Panel:
    if settings.use:
        try:
            return Panel(table, orders, gpio_hardware(settings.pins))
        except NoGpio as error:
            say(sentence(said("panel-no-pins", "no panel on pins: {0}", error)))
    return Panel(table, orders)


def _displays(settings: PanelSettings, say: Callable[[str], None]) -> Iterator[Display]:
    for spec in settings.displays:
        try:
            yield open_display(spec)
        except DisplayError as error:
            say(sentence(said("panel-no-display", "without that display: {0}", error)))
