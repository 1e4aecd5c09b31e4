"""The machine as the page sees it: panel, addresses, Wi-Fi, set-up problems."""

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
    """The panel of the table (`device.panel.panel.Panel`), as the page uses it."""

    @property
    def view(self) -> PanelView:
        """Current view of the panel."""

    def press(self, button: Button, *, held: bool = False, seen: Moment | None = None) -> Future[TableSnapshot]:
        """Press or hold a button, with the same effect as on the pins."""

    def rehearse(self, on: bool) -> None:
        """Start or end a test in which buttons only confirm that they were pressed."""

    def give(self, signal: Signal) -> None:
        """Show a signal."""


@dataclass(frozen=True, slots=True)
class HostInfo:
    """The machine that serves the page.

    `panel` is None at a table without one, as in the demo. `setup_problems` are sentences about what is missing or
    configured wrongly. `addresses` returns the page's URLs, with the best one for phones last. `hotspot` is the Wi-Fi
    that the table opens where it knows none, `wifi` the name and password of the one that phones join otherwise.
    `names` are host names of the page besides the machine's own (`web.security.hosts`).
    """

    panel: PanelControl | None = None
    wired_buttons: tuple[Button, ...] = ()
    setup_problems: tuple[str, ...] = ()
    addresses: Callable[[], Sequence[str]] = tuple
    hotspot: Hotspot | None = None
    wifi: tuple[str, str] | None = None
    names: tuple[str, ...] = ()
