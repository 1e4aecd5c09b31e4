"""The panel: presses become the session's commands, and what the session tells becomes lights.

One thread, named `panel`, does it all and never waits for anything but the next event: a button shows that it was felt
while the board is still being read. Edges may come from any thread; so may taps from the page, which take the same way.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from functools import partial
from math import inf
from types import MappingProxyType
from typing import Protocol

from device.panel.button_commands import Command, Refusal, answer
from device.panel.buttons import Button
from device.panel.gestures import HOLD_S, Gesture, Gestures, Kind
from device.panel.lights import (
    DARKNESS,
    HELD,
    HOLDING,
    PRESSED,
    REFUSED,
    STATUS_LIGHTS,
    Levels,
    Lights,
    Signal,
    Status,
    levels_at,
    lights_of,
    news,
    next_change,
    status_of,
)
from device.session.snapshot import Listener, Moment, TableState
from device.session.table_session import Refused

_log = logging.getLogger(__name__)

MESSAGE_S = 6.0
"""So long a refusal can be read on the page."""
REHEARSAL_S = 600.0
"""A rehearsal that nobody ends is over after so long."""

_NOT_OFFERED: Mapping[Command, str] = MappingProxyType(
    {
        Command.PAUSE: "no-pause-but-undo",
        Command.GO_ON: "no-pause",
        Command.EXCHANGE: "exchange-on-page",
        Command.NEW_GAME: "new-game-on-page",
        Command.POWER_OFF: "no-power-off",
    }
)
"""What is said where `Orders` has nobody for a command."""


class Table(Protocol):
    """What the panel needs of the session to follow it."""

    @property
    def state(self) -> TableState:
        """The table now."""

    def listen(self, listener: Listener) -> None:
        """Tell `listener` each new state from now on."""

    def forget(self, listener: Listener) -> None:
        """Tell it no more."""


class Hardware(Protocol):
    """Buttons and lights that one can touch: `device.panel.gpio.GpioHardware`."""

    @property
    def held(self) -> frozenset[Button]:
        """The buttons that are down now."""

    def show(self, levels: Levels) -> None:
        """Set lights and buzzer."""

    def close(self) -> None:
        """Give the pins back, everything dark."""


Edge = Callable[[Button, bool], None]
"""Told that a button went down (True) or up (False), from any thread."""
Order = Callable[[Moment], Future[TableState]]
"""A command to the session, with the moment (`TableState.moment`) that it was meant for."""


@dataclass(frozen=True, slots=True)
class Orders:
    """Where commands go, by the names of `Command`. One that is None is not offered, and says so when it is pressed.

    `power_off` must return at once: it sets off what switches the machine off.
    """

    end_turn: Order
    end_game: Order
    challenge: Order
    undo: Order
    pause: Order | None = None
    go_on: Order | None = None
    exchange: Order | None = None
    new_game: Order | None = None
    power_off: Callable[[], None] | None = None


@dataclass(frozen=True, slots=True)
class PanelView:
    """What the panel shows now, for the page: the status and lights, the last refusal in words, stuck buttons.

    `felt` are the buttons that were pressed in a rehearsal, None while there is none.
    """

    status: Status
    lights: Lights
    message: str = ""
    stuck: tuple[Button, ...] = ()
    felt: tuple[Button, ...] | None = None


class Panel:
    """Buttons and lights of one table, on pins, on the page, or both. Use it in `with`, or `close` it."""

    def __init__(
        self,
        table: Table,
        orders: Orders,
        hardware: Callable[[Edge], Hardware] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`hardware` makes the pins' side, given where its edges go; without it there is the page alone."""
        self._table = table
        self._orders = orders
        self._clock = clock
        self._events: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._listeners: tuple[Callable[[PanelView], None], ...] = ()
        self._hardware = hardware(self.edge) if hardware else None
        self._shown = DARKNESS
        self._waiting: set[Future[TableState]] = set()
        self._closed = False
        # What follows belongs to the thread.
        now = clock()
        self._gestures = Gestures(self._hardware.held if self._hardware else (), now)
        self._state = table.state
        self._last_turn = now - MESSAGE_S
        self._signal: Signal | None = None
        self._signalled = now
        self._said = now
        self._lit = now
        self._off = False
        self._felt: tuple[Button, ...] | None = None
        self._rehearsed = now
        self._view = PanelView(status_of(self._state), lights_of(self._state))
        table.listen(self._hear)
        self._thread = threading.Thread(target=self._run, name="panel", daemon=True)
        self._thread.start()

    def __repr__(self) -> str:
        where = "on pins" if self._hardware else "on the page"
        return f"<Panel {where}: {self._view.status.value}>"

    def __enter__(self) -> Panel:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the thread, put the lights out, give the pins back."""
        if self._closed:
            return
        self._closed = True
        self._table.forget(self._hear)
        self._events.put(None)
        self._thread.join()
        for done in tuple(self._waiting):
            done.cancel()
        if self._hardware:
            self._hardware.close()

    @property
    def view(self) -> PanelView:
        """What is shown now."""
        return self._view

    def listen(self, listener: Callable[[PanelView], None]) -> None:
        """Tell `listener` each new view, from the panel's thread: it must be quick and must not raise."""
        self._listeners = (*self._listeners, listener)

    def edge(self, button: Button, down: bool) -> None:
        """A button went down or up. Returns at once, from any thread."""
        now = self._clock()
        self._events.put(lambda: self._answer_all(self._gestures.edge(button, down, now)))

    def press(self, button: Button, *, held: bool = False, seen: Moment | None = None) -> Future[TableState]:
        """A tap or a hold on the page, by the same way as one on the pins.

        `seen` is the moment that the page showed. The future holds the state after it, or `Refused`; it is
        cancelled where the panel is closed before.
        """
        done: Future[TableState] = Future()
        self._waiting.add(done)
        done.add_done_callback(self._waiting.discard)
        self._events.put(lambda: self._answer_page(button, held, seen, done))
        return done

    def rehearse(self, on: bool) -> None:
        """From now on buttons do nothing but show that they were felt (`PanelView.felt`), until it is ended."""
        self._events.put(lambda: self._rehearse(on))

    def give(self, signal: Signal) -> None:
        """Show a signal, to see whether its light or its sound works."""
        self._events.put(lambda: self._give(signal))

    # The thread

    def _run(self) -> None:
        self._events.put(lambda: None)  # the first thing done is to show how things stand
        while True:
            try:
                event = self._events.get(timeout=self._patience())
            except queue.Empty:
                event = self._let_time_pass
            if event is None:
                return
            try:
                event()
                self._show()
            except Exception:
                _log.exception("the panel failed; it goes on")

    def _let_time_pass(self) -> None:
        self._answer_all(self._gestures.pass_time(self._clock()))

    def _patience(self) -> float | None:
        """How long nothing will happen by itself; None: for ever."""
        now = self._clock()
        ends = [self._gestures.deadline]
        if self._view.message:
            ends.append(self._said + MESSAGE_S)
        if self._felt is not None:
            ends.append(self._rehearsed + REHEARSAL_S)
        if self._signal:
            ends.append(self._signalled + self._signal.next_change(now - self._signalled))
        if self._hardware:
            ends.append(self._lit + next_change(self._view.lights, now - self._lit))
        return max(0.0, min(ends) - now) if min(ends) < inf else None

    def _hear(self, state: TableState) -> None:
        """The session's news, in its thread."""
        self._events.put(lambda: self._follow(state))

    def _follow(self, state: TableState) -> None:
        before, self._state = self._state, state
        if state.moment != before.moment:
            self._last_turn = self._clock()
        status = status_of(state)
        told = news(status) if status_of(before) is Status.LOOKING else None
        if told:
            self._give(told)

    # Answers

    def _answer_all(self, gestures: tuple[Gesture, ...]) -> None:
        for gesture in gestures:
            self._answer(gesture, None, Future())

    def _answer_page(self, button: Button, held: bool, seen: Moment | None, done: Future[TableState]) -> None:
        now = self._clock()
        held = held and button in HOLD_S
        gestures = self._gestures.hold(button, now) if held else self._gestures.tap(button, now)
        *others, last = gestures
        self._answer_all(tuple(others))
        self._answer(last, seen, done)

    def _answer(self, gesture: Gesture, seen: Moment | None, done: Future[TableState]) -> None:
        """Show that the gesture was felt, then do what it asks; `done` is told what came of it."""
        if gesture.kind in (Kind.PRESS, Kind.HOLD):
            self._give(PRESSED if gesture.kind is Kind.PRESS else HELD)
            self._show()
        if self._felt is not None:
            self._felt = tuple(dict.fromkeys((*self._felt, gesture.button)))
            return done.set_result(self._table.state)
        since_turn = gesture.time - self._last_turn if seen is None else inf  # with `seen` the session knows better
        said = answer(gesture, self._table.state, since_turn)
        if isinstance(said, Refusal):
            self._refuse(said, done)
        elif said is None:
            done.set_result(self._table.state)
        elif said is Command.POWER_OFF:
            self._power_off(done)
        else:
            self._order(said, seen, done)
        return None

    def _rehearse(self, on: bool) -> None:
        self._felt, self._rehearsed = () if on else None, self._clock()

    def _order(self, command: Command, seen: Moment | None, done: Future[TableState]) -> None:
        order: Order | None = getattr(self._orders, command.name.lower())
        if order is None:
            return self._refuse(Refusal.of(_NOT_OFFERED[command]), done)
        answered = order(self._table.state.moment if seen is None else seen)
        answered.add_done_callback(lambda future: self._events.put(partial(self._conclude, future, done)))
        return None

    def _power_off(self, done: Future[TableState]) -> None:
        if self._orders.power_off is None:
            return self._refuse(Refusal.of(_NOT_OFFERED[Command.POWER_OFF]), done)
        self._off = True
        self._orders.power_off()
        done.set_result(self._table.state)
        return None

    def _conclude(self, answered: Future[TableState], done: Future[TableState]) -> None:
        """Pass on what the session answered."""
        try:
            done.set_result(answered.result(0))
        except Refused as refused:
            self._refuse(Refusal(str(refused)), done)
        except CancelledError:
            self._refuse(Refusal.of("closing"), done)
        except Exception as error:
            done.set_exception(error)
            raise

    def _refuse(self, refusal: Refusal, done: Future[TableState]) -> None:
        self._give(Signal(REFUSED.seconds, REFUSED.status, REFUSED.beeps, refusal.player))
        self._say(refusal.text)
        done.set_exception(Refused(refusal.text))

    # Lights

    def _give(self, signal: Signal) -> None:
        self._signal, self._signalled = signal, self._clock()

    def _say(self, text: str) -> None:
        self._said = self._clock()
        self._publish(PanelView(self._view.status, self._view.lights, text, self._gestures.stuck, self._felt))

    def _show(self) -> None:
        """Bring view, lights and buzzer up to the moment."""
        now = self._clock()
        if self._signal and now - self._signalled >= self._signal.seconds:
            self._signal = None
        status = Status.OFF if self._off else status_of(self._state)
        lights = Lights(STATUS_LIGHTS[status]) if self._off else lights_of(self._state)
        signal = self._signal or (HOLDING if self._gestures.holding else None)
        lights = signal.over(lights) if signal else lights
        if lights != self._view.lights:
            self._lit = now
        message = self._view.message if now - self._said < MESSAGE_S else ""
        if self._felt is not None and now - self._rehearsed >= REHEARSAL_S:
            self._felt = None
        self._publish(PanelView(status, lights, message, self._gestures.stuck, self._felt))
        if self._hardware:
            sounds = self._signal is not None and self._signal.sounds(now - self._signalled)
            levels = levels_at(lights, now - self._lit, buzzer=sounds)
            if levels != self._shown:
                self._hardware.show(levels)
                self._shown = levels

    def _publish(self, view: PanelView) -> None:
        if view == self._view:
            return
        self._view = view
        for listener in self._listeners:
            listener(view)
