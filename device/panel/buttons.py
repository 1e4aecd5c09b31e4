"""The buttons of the panel, their pins, and the detection of presses, holds, double presses and stuck buttons.

`GestureDetector` reads no clock: the caller passes all times. A press takes effect at its first edge; further edges
within the debounce time are ignored as bounces. A release is detected after the contact has been open for the debounce
time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from math import inf

from device.catalogue import get_text
from engine.errors import TilekeeperError
from engine.rules import MAX_PLAYERS

FIRST_PIN, LAST_PIN = 2, 27
"""First and last usable GPIO number of the 40-pin header; 0 and 1 are reserved for the ID EEPROM of add-on boards."""


class Button(StrEnum):
    """A button of the panel.

    Players end their turns with one shared button (`END_TURN`), or each player has a button (`END_TURN_1` to `_4`).
    """

    END_TURN = "end-turn"
    END_TURN_1 = "end-turn-1"
    END_TURN_2 = "end-turn-2"
    END_TURN_3 = "end-turn-3"
    END_TURN_4 = "end-turn-4"
    CHALLENGE = "challenge"
    PAUSE = "pause"
    NEW_GAME = "new-game"
    POWER = "power"

    @property
    def ends_turn(self) -> bool:
        """True for the shared end-turn button and for the end-turn button of each player."""
        return self.startswith("end-turn")

    @property
    def player(self) -> int | None:
        """Index of the player whose end-turn button this is; None for the shared and all other buttons."""
        return int(self[-1]) - 1 if self[-1].isdecimal() else None


EdgeHandler = Callable[[Button, bool], None]
"""A function that is called when a button goes down (True) or up (False). It may be called on any thread."""

END_TURN_BUTTONS = (Button.END_TURN_1, Button.END_TURN_2, Button.END_TURN_3, Button.END_TURN_4)


class PinsError(TilekeeperError, ValueError):
    """Error for an invalid pin assignment; `key` is the name of the setting with the error."""

    def __init__(self, key: str, text: str) -> None:
        super().__init__(f"{key} {text}")
        self.key = key
        self.text = text


@dataclass(frozen=True, slots=True)
class Pins:
    """GPIO numbers (BCM numbers, not header positions) of all buttons, lights and the buzzer of the panel.

    A part that is not wired is None or an empty tuple. Buttons connect their pin to ground. Lights get 3.3 V through a
    resistor; `common_anode` is for an RGB LED whose common leg is positive. One pin in `end_turn` is a button that all
    players share; two to four pins are one button for each player. `status_light` is red, green, blue. Raises
    `PinsError`.
    """

    end_turn: tuple[int, ...] = (5, 6, 13, 19)
    challenge: int | None = 17
    pause: int | None = 27
    new_game: int | None = 22
    power: int | None = 4
    player_lights: tuple[int, ...] = (12, 16, 20, 21)
    status_light: tuple[int, ...] = (18, 23, 24)
    common_anode: bool = False
    buzzer: int | None = 25

    def __post_init__(self) -> None:
        if len(self.end_turn) > MAX_PLAYERS:
            raise PinsError("end_turn", get_text("pins-many", len(self.end_turn), MAX_PLAYERS))
        if len(self.player_lights) > MAX_PLAYERS:
            raise PinsError("player_lights", get_text("pins-lights", len(self.player_lights), MAX_PLAYERS))
        if len(self.status_light) not in (0, 3):
            raise PinsError("status_light", get_text("pins-colours", len(self.status_light)))
        named = self.list_wired_pins()
        for key, pin in named:
            if not FIRST_PIN <= pin <= LAST_PIN:
                raise PinsError(key, get_text("pins-range", pin, FIRST_PIN, LAST_PIN))
        first_keys: dict[int, str] = {}
        for key, pin in named:
            if pin in first_keys:
                raise PinsError(key, get_text("pins-twice", pin, first_keys[pin]))
            first_keys[pin] = key

    @property
    def buttons(self) -> dict[Button, int]:
        """The wired buttons and their pins."""
        if len(self.end_turn) == 1:
            end_turn = {Button.END_TURN: self.end_turn[0]}
        else:
            end_turn = dict(zip(END_TURN_BUTTONS, self.end_turn, strict=False))
        others = (Button.CHALLENGE, Button.PAUSE, Button.NEW_GAME, Button.POWER)
        pins = {button: getattr(self, button.replace("-", "_")) for button in others}
        return end_turn | {button: pin for button, pin in pins.items() if pin is not None}

    def list_wired_pins(self) -> list[tuple[str, int]]:
        """Return the pairs (name of the setting, GPIO number) of all pins in use, in the order of the settings."""
        wired = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "common_anode"}
        lists = {key: pins if isinstance(pins, tuple) else (pins,) for key, pins in wired.items()}
        return [(key, pin) for key, pins in lists.items() for pin in pins if pin is not None]


DEBOUNCE_S = 0.03
"""Debounce time in seconds: push-button contacts bounce for about 10 ms, and no user presses twice within 30 ms."""
DOUBLE_PRESS_S = 0.7
"""Time after a press, in seconds, in which another press of the same button counts as accidental."""
STUCK_AFTER_S = 10.0
"""Time after which a button that is still pressed counts as stuck, in seconds."""
HOLD_S: Mapping[Button, float] = {Button.PAUSE: 1.0, Button.NEW_GAME: 2.0, Button.POWER: 3.0}
"""Time in seconds for which each button must be held to cause `GestureKind.HOLD`. Other buttons have no hold."""


class GestureKind(StrEnum):
    """Kinds of gestures on a button.

    - `PRESS`: the button went down. `PRESSED_AGAIN`: the same, for the second press of a double press.
    - For a button in `HOLD_S`, one of these follows: `TAP` (released early), `HOLD` (held long enough) or `TOGETHER`
      (another button was pressed as well). The second press of a double press has no `TAP`, but may become a hold.
    - `STUCK`: reported once for a stuck button. `FREED`: the stuck button was released.
    """

    PRESS = "press"
    PRESSED_AGAIN = "pressed again"
    TAP = "tap"
    HOLD = "hold"
    TOGETHER = "together"
    STUCK = "stuck"
    FREED = "freed"


@dataclass(frozen=True, slots=True)
class Gesture:
    """A gesture on a button. `time` is when it was recognised, in seconds of the caller's clock."""

    button: Button
    kind: GestureKind
    time: float


@dataclass(slots=True)
class _Contact:
    """State of one button's contact: as measured (`closed`, `changed_at`) and debounced (`down`, `down_since`).

    `counted_at` is the time of the last reported PRESS. `is_hold_possible` is True while the press may become a hold,
    and `is_repeated` for the second press of a double press.
    """

    closed: bool = False
    changed_at: float = -inf
    down: bool = False
    down_since: float = -inf
    counted_at: float = -inf
    is_hold_possible: bool = False
    is_repeated: bool = False
    stuck: bool = False


class GestureDetector:
    """Detector of gestures on all buttons of a panel; edges and times must be passed in chronological order."""

    def __init__(self, pressed: Iterable[Button] = (), now: float = 0.0) -> None:
        """Start at time `now`; buttons already `pressed` cause no gestures until they are released."""
        self._contacts = {button: _Contact() for button in Button}
        for button in pressed:
            self._contacts[button] = _Contact(closed=True, changed_at=now, down=True, down_since=now)

    def handle_edge(self, button: Button, down: bool, now: float) -> tuple[Gesture, ...]:
        """Process an edge of a button, and return the gestures that are complete at the time `now` (s).

        `down` is True if the contact has closed, and False if it has opened.
        """
        before = self.advance_time(now)
        contact = self._contacts[button]
        if contact.closed == down:
            return before
        contact.closed, contact.changed_at = down, now
        if not down:
            return before
        if contact.down:  # a bounce; another button may have gone down meanwhile
            return (*before, *self._cancel_holds(now))
        contact.down, contact.down_since = True, now
        contact.is_hold_possible = button in HOLD_S
        return (*before, self._count_press(button, now), *self._cancel_holds(now))

    def tap(self, button: Button, now: float) -> tuple[Gesture, ...]:
        """Return the gestures of a tap on a button of the page. The page detects double taps itself."""
        taps = (Gesture(button, GestureKind.TAP, now),) if button in HOLD_S else ()
        return (*self.advance_time(now), Gesture(button, GestureKind.PRESS, now), *taps)

    def hold(self, button: Button, now: float) -> tuple[Gesture, ...]:
        """Return the gestures of a hold on a button of the page.

        If the user confirms the button's action in a dialog, this counts as a hold, too.
        """
        return (*self.advance_time(now), Gesture(button, GestureKind.HOLD, now))

    def advance_time(self, now: float) -> tuple[Gesture, ...]:
        """Return the gestures that are complete at the time `now` (s): holds, releases and stuck buttons."""
        return tuple(gesture for button in self._contacts for gesture in self._update_button(button, now))

    @property
    def deadline(self) -> float:
        """Time at which the next gesture, such as a hold, is complete without a further edge, or infinity."""
        return min(self._find_button_deadline(button) for button in self._contacts)

    @property
    def is_holding(self) -> bool:
        """True while a button is down and its press may still become a hold."""
        return any(contact.down and contact.closed and contact.is_hold_possible for contact in self._contacts.values())

    @property
    def stuck_buttons(self) -> tuple[Button, ...]:
        """The buttons that are stuck now."""
        return tuple(button for button, contact in self._contacts.items() if contact.stuck)

    def _count_press(self, button: Button, now: float) -> Gesture:
        contact = self._contacts[button]
        contact.is_repeated = now < contact.counted_at + DOUBLE_PRESS_S
        if contact.is_repeated:
            return Gesture(button, GestureKind.PRESSED_AGAIN, now)
        contact.counted_at = now
        return Gesture(button, GestureKind.PRESS, now)

    def _cancel_holds(self, now: float) -> tuple[Gesture, ...]:
        """If two or more buttons are down, cancel their holds and return the TOGETHER gestures.

        Stuck buttons do not count as down: one stuck button would prevent all holds.
        """
        down = [button for button, contact in self._contacts.items() if contact.closed and not contact.stuck]
        cancelled = [button for button in down if self._contacts[button].is_hold_possible] if len(down) > 1 else []
        for button in cancelled:
            self._contacts[button].is_hold_possible = False
        return tuple(Gesture(button, GestureKind.TOGETHER, now) for button in cancelled)

    def _update_button(self, button: Button, now: float) -> list[Gesture]:
        """Return the gestures of a button that are complete at the time `now`: held long enough, stuck, or released."""
        contact = self._contacts[button]
        if not contact.down:
            return []
        if not contact.closed:
            return self._release_button(button) if now >= contact.changed_at + DEBOUNCE_S else []
        gestures = []
        if contact.is_hold_possible and now >= contact.down_since + HOLD_S[button]:
            contact.is_hold_possible = False
            gestures.append(Gesture(button, GestureKind.HOLD, contact.down_since + HOLD_S[button]))
        if not contact.stuck and now >= contact.down_since + STUCK_AFTER_S:
            contact.stuck = True
            gestures.append(Gesture(button, GestureKind.STUCK, contact.down_since + STUCK_AFTER_S))
        return gestures

    def _release_button(self, button: Button) -> list[Gesture]:
        """Return the gesture of a button that was released: a tap, unless it was a hold, or the end of being stuck."""
        contact = self._contacts[button]
        time = contact.changed_at + DEBOUNCE_S
        gestures = []
        if contact.stuck:
            gestures.append(Gesture(button, GestureKind.FREED, time))
        elif contact.is_hold_possible and not contact.is_repeated:
            gestures.append(Gesture(button, GestureKind.TAP, time))
        contact.down = contact.is_hold_possible = contact.stuck = False
        return gestures

    def _find_button_deadline(self, button: Button) -> float:
        """Return the next time at which a gesture of the button may be complete without a change of its contact."""
        contact = self._contacts[button]
        if not contact.down:
            return inf
        if not contact.closed:
            return contact.changed_at + DEBOUNCE_S
        hold = contact.down_since + HOLD_S[button] if contact.is_hold_possible else inf
        return min(hold, inf if contact.stuck else contact.down_since + STUCK_AFTER_S)
