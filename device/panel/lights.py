"""Compute the lights and the buzzer from snapshots of the table.

`find_lights` returns the `Lights` (colours and rhythms) for a snapshot; `compute_levels` returns the levels of the pins
(`OutputLevels`) for these lights at a moment. All functions are pure. Red and green lights also differ in rhythm, for
players who cannot distinguish the two colours.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum, StrEnum
from math import floor, inf

from device.session.messages import Trouble
from device.session.snapshot import Phase, Sight, TableSnapshot
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
