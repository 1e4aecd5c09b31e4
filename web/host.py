"""What the page knows of the machine that it runs on: what is needed to set a table up, and no more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Protocol

from device.panel.buttons import Button
from device.panel.lights import Signal
from device.panel.panel import PanelView
from device.session.snapshot import Moment, TableSnapshot
from device.system.hotspot import Hotspot


class PanelControl(Protocol):
    """The panel of the table (`device.panel.panel.Panel`), as the page presses and shows it."""

    @property
    def view(self) -> PanelView:
        """What it shows now."""

    def press(self, button: Button, *, held: bool = False, seen: Moment | None = None) -> Future[TableSnapshot]:
        """A tap or a hold, by the same way as one on the pins."""

    def rehearse(self, on: bool) -> None:
        """Buttons do nothing but show that they were felt, until it is ended."""

    def give(self, signal: Signal) -> None:
        """Show a signal."""


@dataclass(frozen=True, slots=True)
class HostInfo:
    """Where the page stands.

    `panel` is the table's (None: it has none, as in the demo), `buttons` those that are wired, `remarks` say in
    sentences what is missing or set wrongly here, `addresses` where phones find the page, the best one last, and
    `hotspot` is the Wi-Fi that the table opens where it knows none, `wifi` the one that phones join otherwise: its name
    and password.
    """

    panel: PanelControl | None = None
    wired_buttons: tuple[Button, ...] = ()
    setup_problems: tuple[str, ...] = ()
    addresses: Callable[[], Sequence[str]] = tuple
    hotspot: Hotspot | None = None
    wifi: tuple[str, str] | None = None
