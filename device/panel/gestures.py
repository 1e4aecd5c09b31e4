"""From edges to gestures: bounce, double presses, holds, two buttons at once, stuck buttons. Pure: time comes in.

A press counts at its first edge, so that nothing is waited for; what follows within the bounce time belongs to it. A
release counts when the button has stayed up for the bounce time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import inf

from device.panel.buttons import Button

DEBOUNCE_S = 0.03
"""Contacts of push buttons come to rest within 10 ms or so; people do not press twice within 30."""
DOUBLE_PRESS_S = 0.7
"""A button pressed again so soon is the same press."""
STUCK_AFTER_S = 10.0
"""A button down for so long is stuck, or something lies on it."""
HOLD_S: Mapping[Button, float] = {Button.PAUSE: 1.0, Button.NEW_GAME: 2.0, Button.POWER: 3.0}
"""Buttons that mean something when held, and how long."""


class GestureKind(StrEnum):
    """What was done with a button.

    A PRESS counts as it goes down; PRESSED_AGAIN is the second half of a double press. Buttons with a hold end in one
    of TAP, HOLD, or TOGETHER: another was pressed meanwhile. STUCK is told once, FREED when it comes up at last.
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
    """A button, what was done with it, and when that was sure (seconds of the caller's clock)."""

    button: Button
    kind: GestureKind
    time: float


@dataclass(slots=True)
class _Contact:
    """One button as its pin shows it (`closed`, since when) and as it counts (`down`, since when)."""

    closed: bool = False
    changed_at: float = -inf
    down: bool = False
    down_since: float = -inf
    counted_at: float = -inf
    is_hold_possible: bool = False
    stuck: bool = False


class GestureDetector:
    """Follows all buttons of a panel. Feed it edges and the passing of time, in order of time."""

    def __init__(self, pressed: Iterable[Button] = (), now: float = 0.0) -> None:
        """Buttons that are `held` from the beginning mean nothing until they come up."""
        self._contacts = {button: _Contact() for button in Button}
        for button in pressed:
            self._contacts[button] = _Contact(closed=True, changed_at=now, down=True, down_since=now)

    def handle_edge(self, button: Button, down: bool, now: float) -> tuple[Gesture, ...]:
        """The contact of a button closed (`down`) or opened."""
        before = self.advance_time(now)
        contact = self._contacts[button]
        if contact.closed == down:
            return before
        contact.closed, contact.changed_at = down, now
        if not down:
            return before
        if contact.down:  # it bounced: while it was open another may have gone down
            return (*before, *self._cancel_holds(now))
        contact.down, contact.down_since = True, now
        contact.is_hold_possible = button in HOLD_S
        return (*before, self._count_press(button, now), *self._cancel_holds(now))

    def tap(self, button: Button, now: float) -> tuple[Gesture, ...]:
        """A tap on a button of the page, which has no contact and knows for itself what was tapped twice."""
        taps = (Gesture(button, GestureKind.TAP, now),) if button in HOLD_S else ()
        return (*self.advance_time(now), Gesture(button, GestureKind.PRESS, now), *taps)

    def hold(self, button: Button, now: float) -> tuple[Gesture, ...]:
        """A button of the page that was held, or that was asked about and confirmed."""
        return (*self.advance_time(now), Gesture(button, GestureKind.HOLD, now))

    def advance_time(self, now: float) -> tuple[Gesture, ...]:
        """What has become of the buttons by `now`."""
        return tuple(gesture for button in self._contacts for gesture in self._update_button(button, now))

    @property
    def deadline(self) -> float:
        """When `pass_time` will next have something to say; infinity while nothing is pressed."""
        return min(self._button_deadline(button) for button in self._contacts)

    @property
    def is_holding(self) -> bool:
        """True while a button is on its way to a hold."""
        return any(contact.down and contact.closed and contact.is_hold_possible for contact in self._contacts.values())

    @property
    def stuck_buttons(self) -> tuple[Button, ...]:
        """The buttons that are stuck now."""
        return tuple(button for button, contact in self._contacts.items() if contact.stuck)

    def _count_press(self, button: Button, now: float) -> Gesture:
        contact = self._contacts[button]
        if now < contact.counted_at + DOUBLE_PRESS_S:
            return Gesture(button, GestureKind.PRESSED_AGAIN, now)
        contact.counted_at = now
        return Gesture(button, GestureKind.PRESS, now)

    def _cancel_holds(self, now: float) -> tuple[Gesture, ...]:
        """Holds that end because two buttons are down. A stuck button does not count, or no hold would work again."""
        down = [button for button, contact in self._contacts.items() if contact.closed and not contact.stuck]
        spoiled = [button for button in down if self._contacts[button].is_hold_possible] if len(down) > 1 else []
        for button in spoiled:
            self._contacts[button].is_hold_possible = False
        return tuple(Gesture(button, GestureKind.TOGETHER, now) for button in spoiled)

    def _update_button(self, button: Button, now: float) -> list[Gesture]:
        contact = self._contacts[button]
        if not contact.down:
            return []
        if not contact.closed:
            return self._release_button(button) if now >= contact.changed_at + DEBOUNCE_S else []
        found = []
        if contact.is_hold_possible and now >= contact.down_since + HOLD_S[button]:
            contact.is_hold_possible = False
            found.append(Gesture(button, GestureKind.HOLD, contact.down_since + HOLD_S[button]))
        if not contact.stuck and now >= contact.down_since + STUCK_AFTER_S:
            contact.stuck = True
            found.append(Gesture(button, GestureKind.STUCK, contact.down_since + STUCK_AFTER_S))
        return found

    def _release_button(self, button: Button) -> list[Gesture]:
        contact = self._contacts[button]
        kind = GestureKind.FREED if contact.stuck else GestureKind.TAP if contact.is_hold_possible else None
        contact.down = contact.is_hold_possible = contact.stuck = False
        return [Gesture(button, kind, contact.changed_at + DEBOUNCE_S)] if kind else []

    def _button_deadline(self, button: Button) -> float:
        contact = self._contacts[button]
        if not contact.down:
            return inf
        if not contact.closed:
            return contact.changed_at + DEBOUNCE_S
        hold = contact.down_since + HOLD_S[button] if contact.is_hold_possible else inf
        return min(hold, inf if contact.stuck else contact.down_since + STUCK_AFTER_S)
