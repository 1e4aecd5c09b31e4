"""The outputs of the panel: lights, buzzer, and the view of the panel on the page."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf

from device.panel.buttons import Button, GestureDetector
from device.panel.lights import (
    HOLDING_SIGNAL,
    OUTPUTS_OFF,
    STATUS_LIGHTS,
    Lights,
    OutputLevels,
    PanelStatus,
    Signal,
    compute_levels,
    find_lights,
    find_next_change,
    find_status,
)
from device.session.snapshot import TableSnapshot
from device.session.threads import Listeners

_log = logging.getLogger(__name__)

MESSAGE_DURATION_S = 6.0
"""Time for which the page shows why a press was refused, in seconds."""
RETRY_INTERVAL_S = 1.0
"""Longest time until pins that could not be set are set again, in seconds: the buzzer may be sounding."""


@dataclass(frozen=True, slots=True)
class PanelView:
    """State of the panel for the page: status, lights, the text of the last refusal, and stuck buttons.

    `felt` are the buttons pressed in the current rehearsal (a test of the buttons), or None without a rehearsal.
    """

    status: PanelStatus
    lights: Lights
    message: str = ""
    stuck: tuple[Button, ...] = ()
    felt: tuple[Button, ...] | None = None


class PanelOutputs:
    """Lights, buzzer and view of a panel. The panel's thread sets them; any thread may read `view`."""

    def __init__(
        self, state: TableSnapshot, show_levels: Callable[[OutputLevels], None] | None, clock: Callable[[], float]
    ) -> None:
        """Start with the lights for `state`.

        `show_levels` sets the pins; it is None if only the page has lights. `clock` returns seconds.
        """
        self.view = PanelView(find_status(state), find_lights(state))
        """The current state of the panel, for the page."""
        self.listeners = Listeners[PanelView]()
        """Listeners that are called with each new view."""
        self._show_levels = show_levels
        self._clock = clock
        self._levels: OutputLevels | None = OUTPUTS_OFF
        """The levels of the pins; None if they could not be set."""
        self._retry_time = inf
        self._signal: Signal | None = None
        self._signal_time = self._message_time = self._lights_time = clock()
        self._is_switching_off = False

    def start_signal(self, signal: Signal) -> None:
        """Begin a signal of the lights and the buzzer."""
        self._signal, self._signal_time = signal, self._clock()

    def show_message(self, text: str) -> None:
        """Show a text on the page for `MESSAGE_DURATION_S` seconds."""
        self._message_time = self._clock()
        self._publish(replace(self.view, message=text))

    def show_switching_off(self) -> None:
        """Show from now on that the machine is being switched off."""
        self._is_switching_off = True

    def update(self, state: TableSnapshot, gestures: GestureDetector, felt: tuple[Button, ...] | None) -> None:
        """Set the view, the lights and the buzzer to their values at the current time.

        `felt` are the buttons pressed in the current rehearsal, or None without a rehearsal.
        """
        now = self._clock()
        if self._signal and now - self._signal_time >= self._signal.seconds:
            self._signal = None
        status = PanelStatus.OFF if self._is_switching_off else find_status(state)
        lights = Lights(STATUS_LIGHTS[status]) if self._is_switching_off else find_lights(state)
        signal = self._signal or (HOLDING_SIGNAL if gestures.is_holding else None)
        lights = signal.overlay_on(lights) if signal else lights
        if lights != self.view.lights:
            self._lights_time = now
        message = self.view.message if now - self._message_time < MESSAGE_DURATION_S else ""
        self._publish(PanelView(status, lights, message, gestures.stuck_buttons, felt))
        if self._show_levels:
            is_sounding = self._signal is not None and self._signal.is_sounding(now - self._signal_time)
            levels = compute_levels(lights, now - self._lights_time, buzzer=is_sounding)
            if levels != self._levels:
                self._set_levels(self._show_levels, levels)

    @property
    def next_change(self) -> float:
        """Time of the next change without an event, in seconds of the clock, or infinity."""
        ends = [self._retry_time]
        if self.view.message:
            ends.append(self._message_time + MESSAGE_DURATION_S)
        if self._signal:
            ends.append(self._signal_time + self._signal.find_next_change(self._clock() - self._signal_time))
        if self._show_levels:
            ends.append(self._lights_time + find_next_change(self.view.lights, self._clock() - self._lights_time))
        return min(ends)

    def _set_levels(self, show_levels: Callable[[OutputLevels], None], levels: OutputLevels) -> None:
        """Set the pins. An error is only logged, because the buttons still work; `update` tries again."""
        try:
            show_levels(levels)
        except Exception:  # gpiozero and lgpio have errors of their own
            if self._levels is not None:  # not again for each attempt
                _log.exception("the lights of the panel cannot be set")
            self._levels, self._retry_time = None, self._clock() + RETRY_INTERVAL_S
        else:
            self._levels, self._retry_time = levels, inf

    def _publish(self, view: PanelView) -> None:
        if view != self.view:
            self.view = view
            self.listeners.notify(view)
