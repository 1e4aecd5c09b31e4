"""Compute the lights and the buzzer from snapshots of the table.

`find_lights` returns the `Lights` (colours and rhythms) for a snapshot; `compute_levels` returns the levels of the pins
(`OutputLevels`) for these lights at a moment. These functions are pure; `PanelOutputs` keeps what was shown. Red and
green lights also differ in rhythm, for players who cannot distinguish the two colours.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum, StrEnum
from math import floor, inf

from device.panel.buttons import Button, GestureDetector
from device.session.messages import Trouble
from device.session.snapshot import Phase, Sight, TableSnapshot
from device.session.threads import Listeners
from engine.rules import MAX_PLAYERS

RGB = tuple[float, float, float]
"""Brightness of red, green and blue, each from 0 to 1."""


class Colour(Enum):
    """Colours that players can distinguish on an RGB LED."""

    OFF = (0.0, 0.0, 0.0)
    WHITE = (1.0, 1.0, 1.0)
    BLUE = (0.0, 0.0, 1.0)
    GREEN = (0.0, 1.0, 0.0)
    RED = (1.0, 0.0, 0.0)
    YELLOW = (1.0, 0.5, 0.0)
    MAGENTA = (1.0, 0.0, 1.0)


class Rhythm(Enum):
    """Blinking pattern of a light: seconds on and seconds off."""

    STEADY = (1.0, 0.0)
    SLOW = (0.6, 0.6)
    FAST = (0.1, 0.1)
    WINK = (1.4, 0.1)


@dataclass(frozen=True, slots=True)
class Light:
    """Colour and rhythm of one light."""

    colour: Colour = Colour.OFF
    rhythm: Rhythm = Rhythm.STEADY

    def find_brightness(self, elapsed: float) -> RGB:
        """Return the brightness `elapsed` seconds after the light was switched on."""
        lit, _ = self._find_blink_phase(elapsed)
        return self.colour.value if lit else Colour.OFF.value

    def find_next_change(self, elapsed: float) -> float:
        """Return the time of the light's next change, in seconds since it was switched on.

        If the light is steady or off, return infinity.
        """
        _, change = self._find_blink_phase(elapsed)
        return inf if self.colour is Colour.OFF or self.rhythm is Rhythm.STEADY else change

    def _find_blink_phase(self, elapsed: float) -> tuple[bool, float]:
        on, off = self.rhythm.value
        began = floor(elapsed / (on + off)) * (on + off)
        lit = elapsed < began + on
        return lit, began + on if lit else began + on + off


LIGHT_OFF = Light()


class PanelStatus(StrEnum):
    """States of the table that the status light distinguishes."""

    LOBBY = "no game"
    READY = "ready"
    LOOKING = "looking"
    SCORED = "scored"
    INVALID = "invalid word"
    QUESTION = "question on the page"
    CAMERA = "camera trouble"
    STORE = "not saved"
    ENDED = "game over"
    OFF = "switching off"


STATUS_LIGHTS = {
    PanelStatus.LOBBY: Light(Colour.WHITE, Rhythm.SLOW),
    PanelStatus.READY: Light(Colour.WHITE),
    PanelStatus.LOOKING: Light(Colour.BLUE, Rhythm.FAST),
    PanelStatus.SCORED: Light(Colour.GREEN),
    PanelStatus.INVALID: Light(Colour.RED, Rhythm.SLOW),
    PanelStatus.QUESTION: Light(Colour.YELLOW, Rhythm.SLOW),
    PanelStatus.CAMERA: Light(Colour.MAGENTA, Rhythm.FAST),
    PanelStatus.STORE: Light(Colour.MAGENTA, Rhythm.SLOW),
    PanelStatus.ENDED: Light(Colour.GREEN, Rhythm.WINK),
    PanelStatus.OFF: Light(Colour.WHITE, Rhythm.WINK),
}


@dataclass(frozen=True, slots=True)
class Lights:
    """All lights of the panel: the status light, and one for each player."""

    status: Light = LIGHT_OFF
    players: tuple[Light, ...] = (LIGHT_OFF,) * MAX_PLAYERS


@dataclass(frozen=True, slots=True)
class OutputLevels:
    """Levels of all output pins (LEDs and buzzer) at one moment."""

    status: RGB = Colour.OFF.value
    players: tuple[bool, ...] = (False,) * MAX_PLAYERS
    buzzer: bool = False


OUTPUTS_OFF = OutputLevels()


@dataclass(frozen=True, slots=True)
class Signal:
    """A short signal that replaces the usual lights for `seconds` seconds.

    `status` is the status light during the signal, and `player` the index of a player whose light blinks. `beeps` are
    durations in seconds: sound, silence, sound and so on.
    """

    seconds: float
    status: Light
    beeps: tuple[float, ...] = ()
    player: int | None = None

    def overlay_on(self, lights: Lights) -> Lights:
        """Return the lights to show during the signal, in place of the usual `lights`."""
        players = list(lights.players)
        if self.player is not None:
            players[self.player] = Light(Colour.WHITE, Rhythm.FAST)
        return replace(lights, status=self.status, players=tuple(players))

    def is_sounding(self, elapsed: float) -> bool:
        """Return True if the buzzer sounds `elapsed` seconds after the start of the signal."""
        end = 0.0
        for index, seconds in enumerate(self.beeps):
            end += seconds
            if elapsed < end:
                return index % 2 == 0
        return False

    def find_next_change(self, elapsed: float) -> float:
        """Return the time of the buzzer's next change or of the signal's end, in seconds since the signal began."""
        ends = [sum(self.beeps[: n + 1]) for n in range(len(self.beeps))]
        return min((end for end in (*ends, self.seconds) if end > elapsed), default=inf)


PRESSED_SIGNAL = Signal(0.15, Light(Colour.WHITE), beeps=(0.03,))
"""Signal for a press of a button; it starts before the press is processed."""
HOLDING_SIGNAL = Signal(inf, Light(Colour.WHITE, Rhythm.FAST))
"""Signal while a button is down and its press may become a hold."""
HELD_SIGNAL = Signal(0.5, Light(Colour.WHITE), beeps=(0.2,))
"""Signal that a button was held long enough and may be released."""
REFUSED_SIGNAL = Signal(0.8, Light(Colour.RED, Rhythm.FAST), beeps=(0.08, 0.08, 0.08))
"""Signal that a press was refused."""
STATUS_BEEPS_S: dict[PanelStatus, tuple[float, ...]] = {
    PanelStatus.SCORED: (0.1,),
    PanelStatus.INVALID: (0.3, 0.1, 0.1),
    PanelStatus.QUESTION: (0.1, 0.1, 0.1),
    PanelStatus.CAMERA: (0.1, 0.1, 0.1, 0.1, 0.1),
    PanelStatus.STORE: (0.1, 0.1, 0.1, 0.1, 0.1),
}


def find_signal(status: PanelStatus) -> Signal | None:
    """Return the signal (light and beeps) for `status` after a reading of the board; None if `status` has no signal."""
    beeps = STATUS_BEEPS_S.get(status)
    return Signal(0.6, STATUS_LIGHTS[status], beeps) if beeps else None


def find_status(state: TableSnapshot) -> PanelStatus:
    """Return the status to show on the status light for a snapshot."""
    if state.phase is Phase.LOOKING:
        return PanelStatus.LOOKING
    troubles = {notice.trouble for notice in state.notices}
    for trouble, status in (
        (Trouble.CAMERA, PanelStatus.CAMERA),
        (Trouble.STORE, PanelStatus.STORE),
        (Trouble.BOARD, PanelStatus.QUESTION),
    ):
        if trouble in troubles:
            return status
    if state.phase is Phase.LOBBY:
        return PanelStatus.LOBBY
    if state.phase is Phase.ENDED:  # even while the panel may choose the next answer to a question
        return PanelStatus.ENDED
    if state.question is not None:
        return PanelStatus.QUESTION
    last = state.last_turn
    if last is not None and last.stands and last.invalid_words:
        return PanelStatus.INVALID
    if state.end_due:  # the players decide: challenge the last play, or end the game
        return PanelStatus.QUESTION
    return PanelStatus.READY if last is None else PanelStatus.SCORED


def find_lights(state: TableSnapshot) -> Lights:
    """Return the lights for a snapshot. If the turn may be over, the light of the player to move blinks."""
    return Lights(
        STATUS_LIGHTS[find_status(state)], tuple(_find_player_light(state, player) for player in range(MAX_PLAYERS))
    )


def compute_levels(lights: Lights, elapsed: float, *, buzzer: bool = False) -> OutputLevels:
    """Return the levels of the output pins `elapsed` seconds after these lights were switched on."""
    players = tuple(any(light.find_brightness(elapsed)) for light in lights.players)
    return OutputLevels(lights.status.find_brightness(elapsed), players, buzzer)


def find_next_change(lights: Lights, elapsed: float) -> float:
    """Return the time of the next change of any light, in seconds since the lights were switched on.

    If no light blinks, return infinity.
    """
    return min(light.find_next_change(elapsed) for light in (lights.status, *lights.players))


def _find_player_light(state: TableSnapshot, player: int) -> Light:
    if player in state.winners:
        return Light(Colour.WHITE, Rhythm.SLOW)
    if player != state.turn_of:
        return LIGHT_OFF
    return Light(Colour.WHITE, Rhythm.SLOW if state.sight is Sight.TURN_OVER else Rhythm.STEADY)


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
        """The time (s) at which the pins are set again after an error; infinity if there was none."""
        self._signal: Signal | None = None
        now = clock()
        self._signal_time = now
        """The start time (s) of the last signal."""
        self._message_time = now
        """The time (s) since which the message on the page has been shown."""
        self._lights_time = now
        """The time (s) of the last change of the lights, from which their blinking is counted."""
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
