"""The panel on mock pins: pressing its buttons and reading its lights and buzzer."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable
from math import inf
from typing import Any

from gpiozero.pins.mock import MockFactory

from device.panel.buttons import DEBOUNCE_S, Button, Pins
from device.panel.gpio import GpioHardware
from device.panel.panel import PanelActions
from device.session.commands.games import StartGame
from tests.support.text_table import STARTED
from tests.support.waiting import PATIENCE_S

PINS = Pins()
MIN_TIMEOUT_S = 1e-6
"""Shortest wait of the panel's thread: with rounded times it could wait for no time for ever."""


class PanelTime(queue.SimpleQueue[Any]):
    """A clock that stands still, and the queue of a panel's thread, whose timeouts follow this clock."""

    def __init__(self) -> None:
        self._now = 100.0
        self._changed = threading.Condition()
        self._events: deque[Any] = deque()
        self._due: float | None = None

    def clock(self) -> float:
        """Return the seconds of this clock."""
        return self._now

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:  # noqa: ARG002
        with self._changed:
            self._events.append(item)
            self._changed.notify_all()

    def get(self, block: bool = True, timeout: float | None = None) -> Any:  # noqa: ARG002
        with self._changed:
            due = self._due = inf if timeout is None else self._now + timeout + MIN_TIMEOUT_S
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._events or self._now >= due)
            self._due = None
            if self._events:
                return self._events.popleft()
        raise queue.Empty

    def pass_time(self, seconds: float) -> None:
        """Move the clock, and wait until the panel has done what was due."""
        end = self._now + seconds + 2 * MIN_TIMEOUT_S
        while True:
            with self._changed:
                assert self._changed.wait_for(self._is_idle, PATIENCE_S), "the panel is stuck"
                if self._now >= end:
                    return
                self._now = min(end, self._due or end)
                self._changed.notify_all()

    def _is_idle(self) -> bool:
        return self._due is not None and self._due > self._now and not self._events


class Wires:
    """The player's side of the pins: presses buttons, and reads lights and buzzer."""

    def __init__(self, factory: MockFactory, pins: Pins, time: PanelTime) -> None:
        self.factory, self.pins, self._time = factory, pins, time

    def down(self, button: Button) -> None:
        self.factory.pin(self.pins.buttons[button]).drive_low()

    def up(self, button: Button) -> None:
        self.factory.pin(self.pins.buttons[button]).drive_high()

    def press(self, button: Button, seconds: float = 2 * DEBOUNCE_S) -> None:
        """Press a button for some seconds of the panel's clock, and let the panel notice that it is up again."""
        self.down(button)
        self._time.pass_time(seconds)
        self.up(button)
        self._time.pass_time(2 * DEBOUNCE_S)

    @property
    def status(self) -> tuple[float, ...]:
        return tuple(self.factory.pin(pin).state for pin in self.pins.status_light)

    @property
    def players(self) -> list[bool]:
        return [bool(self.factory.pin(pin).state) for pin in self.pins.player_lights]

    @property
    def buzzer(self) -> bool:
        return bool(self.factory.pin(self.pins.buzzer).state)

    @property
    def beeps(self) -> int:
        return sum(bool(state.state) for state in self.factory.pin(self.pins.buzzer).states)


def orders(off: Callable[[], None] = lambda: None) -> PanelActions:
    """Return the actions of a panel that starts a game of Anna and Ben."""
    return PanelActions(lambda: StartGame(STARTED), off)


def hardware(factory: MockFactory, pins: Pins = PINS) -> Callable[..., GpioHardware]:
    return lambda edge: GpioHardware(pins, factory, edge)
