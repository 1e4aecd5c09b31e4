"""The panel: runs commands of the session when buttons are pressed, and sets the lights for each snapshot.

One thread, named `panel`, handles all events. It never waits for the session, so that the lights confirm a press even
while the board is being read. Edges of buttons and presses on the page may come from any thread.

`choose_response` says what a gesture does; `docs/panel.md` lists what players notice. A press right after a change
may have been meant for what was there before (`RecentChanges`).
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Literal

from device.catalogue import get_text
from device.panel.buttons import HOLD_S, Button, EdgeHandler, Gesture, GestureDetector, GestureKind
from device.panel.gpio import GpioHardware, GpioUnavailableError, make_gpio_hardware, may_have_pins
from device.panel.lights import (
    HELD_SIGNAL,
    PRESSED_SIGNAL,
    REFUSED_SIGNAL,
    PanelOutputs,
    PanelStatus,
    PanelView,
    Signal,
    find_signal,
    find_status,
)
from device.session.commands.answers import ChooseNextAnswer, ConfirmExchange, RecallQuestion
from device.session.commands.base import TableCommand
from device.session.commands.challenges import ChallengePlay
from device.session.commands.games import EndGame, EndPause, Pause, Undo
from device.session.commands.turns import EndTurn
from device.session.messages import CommandRefusedError, format_sentence
from device.session.snapshot import Moment, Phase, TableSnapshot
from device.session.table_session import TableSession
from device.settings import PanelSettings
from device.system.closeable import Closeable

if TYPE_CHECKING:
    from device.panel.displays import PairingDetailsSource, SecondsLeft


@dataclass(frozen=True, slots=True)
class Elapsed:
    """Seconds since the last event of the game, since a question was closed, and since a pause began or ended."""

    event: float = inf
    question: float = inf
    pause: float = inf


class RecentChanges:
    """The times of the last changes of the table, for presses right after them."""

    def __init__(self, state: TableSnapshot) -> None:
        """Begin with the snapshot `state`, which counts as old."""
        self._state = state
        self._event_time = self._question_time = self._pause_time = -inf

    def update(self, state: TableSnapshot, now: float) -> None:
        """Handle the next snapshot at time `now` (s)."""
        elapsed, self._state = self.measure(state, now), state
        self._event_time, self._question_time = now - elapsed.event, now - elapsed.question
        self._pause_time = now - elapsed.pause

    def measure(self, state: TableSnapshot, now: float) -> Elapsed:
        """Return the times from the last changes to `now`; 0 for a change in `state` that was not handled yet.

        `state` is the current snapshot. While the board is read, no question is shown. This does not count as the end
        of a question.
        """
        before = self._state
        is_closed = before.question is not None and state.question is None and state.phase is not Phase.LOOKING
        is_pause_changed = (before.phase is Phase.PAUSED) is not (state.phase is Phase.PAUSED)
        return Elapsed(
            0.0 if state.moment != before.moment else now - self._event_time,
            0.0 if is_closed else now - self._question_time,
            0.0 if is_pause_changed else now - self._pause_time,
        )


SHARED_BUTTON_LOCKOUT_S = 1.0
"""Time after a turn, in seconds, in which a second press of the same end-turn button does not end another turn."""
CHALLENGE_LOCKOUT_S = 2.0
"""Time after a question was closed, in seconds, in which the challenge button does not challenge the last play: the
press was for the question. A challenge that fails costs a turn."""
PAUSE_LOCKOUT_S = 1.0
"""Time after the beginning or the end of a pause, in seconds, in which the pause button does not do the opposite: two
players may have pressed for the same pause, one of them on a phone."""
OTHER_SIDE_DELAY_S = 0.3
"""Delay of a press by a player who is not to move, in seconds. If the player to move presses during this
delay, only the press of the player to move counts."""


@dataclass(frozen=True, slots=True)
class DelayedPress:
    """A press by a player who is not to move; its command is submitted at the time `due` (s).

    `seat` is the player who pressed, `seen` the version of the game at the time of the press (or that the page showed),
    and `done` the future for the result.
    """

    due: float
    command: TableCommand
    seat: int | None
    seen: Moment
    done: Future[TableSnapshot]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Response to a press that is not allowed now: the reason as text, and the player whose light blinks, if any."""

    text: str
    player: int | None = None

    @classmethod
    def from_key(cls, key: str, *values: str) -> Refusal:
        """Return the refusal with the message `key`; `values` replace its placeholders."""
        return cls(get_text(key, *values))


@dataclass(frozen=True, slots=True)
class OpenPairing:
    """Response to a tap of the power button: one device may pair without a code."""


ButtonResponse = TableCommand | Literal[Button.NEW_GAME, Button.POWER] | OpenPairing | Refusal | None
"""Response of the panel to a gesture.

A command is sent to the session. `Button.NEW_GAME` and `Button.POWER` stand for the actions in `PanelActions`. None
means that the gesture has no effect.
"""


def choose_response(gesture: Gesture, state: TableSnapshot, elapsed: Elapsed) -> ButtonResponse:
    """Return the response to a gesture in the state `state` of the table, `elapsed` seconds after the last changes."""
    button = gesture.button
    match gesture.kind:
        case GestureKind.PRESS if button.ends_turn:
            return _respond_to_end_turn(button, state, elapsed.event)
        case GestureKind.PRESS if button is Button.CHALLENGE:
            return _respond_to_challenge(state, elapsed.question)
        case GestureKind.TAP if button is Button.PAUSE:
            return _respond_to_pause(state, elapsed.pause)
        case GestureKind.TAP if button is Button.POWER:
            return OpenPairing()
        case GestureKind.TAP:
            return Refusal.from_key(f"hold-{button}", f"{HOLD_S[button]:.0f}")
        case GestureKind.HOLD:
            return _respond_to_hold(button, state)
        case GestureKind.TOGETHER:
            return Refusal.from_key("two-buttons")
        case GestureKind.STUCK:
            return Refusal.from_key("stuck", name_button(button))
        case _:
            return None


def name_button(button: Button) -> str:
    """Return the name of a button for the players."""
    if button.player is not None:
        return get_text("button-end-turn-of", str(button.player + 1))
    return get_text(f"button-{button}")


def _respond_to_end_turn(button: Button, state: TableSnapshot, since_turn: float) -> ButtonResponse:
    if refusal := _find_refusal(state):
        return refusal
    if button.player is None:
        return EndTurn() if since_turn >= SHARED_BUTTON_LOCKOUT_S else Refusal.from_key("too-quick")
    if button.player == state.turn_of or since_turn >= SHARED_BUTTON_LOCKOUT_S:
        return EndTurn()  # if another player has the turn, the session asks whose turn it was
    assert state.turn_of is not None, "a player has the turn while a game is played"
    name = state.players[state.turn_of].name
    return Refusal(get_text("others-turn", name), state.turn_of)


def _respond_to_challenge(state: TableSnapshot, since_question: float) -> ButtonResponse:
    """Return the response to the challenge button, which depends on the state.

    - While a question is open, the button chooses the next answer. For the question "pass or exchange?", it confirms
      the exchange.
    - If the last play is provisional or cannot be challenged, the button opens the oldest deferred question again.
    - Otherwise the button challenges the last play, but not right after a question was closed.

    An open question can be answered in any phase, and a deferred question also during a pause.
    """
    recalls_in_pause = state.phase is Phase.PAUSED and bool(state.open_questions)
    if state.question is None and not recalls_in_pause and (refusal := _find_refusal(state)):
        return refusal
    if state.question is None:
        is_provisional = state.last_turn is not None and state.last_turn.provisional
        recalls = state.open_questions and (is_provisional or state.phase is not Phase.CHALLENGE)
        if recalls:
            return RecallQuestion(question_id=0)
        return ChallengePlay() if since_question >= CHALLENGE_LOCKOUT_S else Refusal.from_key("too-quick")
    answer = ConfirmExchange if state.question.offers_exchange else ChooseNextAnswer
    return answer(question_id=state.question.id)


def _respond_to_pause(state: TableSnapshot, since_pause: float) -> ButtonResponse:
    is_paused = state.phase is Phase.PAUSED
    if not is_paused and (refusal := _find_refusal(state)):
        return refusal
    if since_pause < PAUSE_LOCKOUT_S:
        return Refusal.from_key("too-quick")
    return EndPause() if is_paused else Pause()


def _respond_to_hold(button: Button, state: TableSnapshot) -> ButtonResponse:
    if button is Button.POWER:
        return button
    if state.phase is Phase.LOOKING:
        return _find_refusal(state)
    if button is Button.NEW_GAME:
        return EndGame() if state.end_due else button
    can_undo = state.phase in (Phase.ENDED, Phase.PAUSED, Phase.DRAWING)
    undo = Undo(question_id=state.question.id if state.question else 0)
    return undo if can_undo else _find_refusal(state) or undo


def _find_refusal(state: TableSnapshot) -> Refusal | None:
    """Return the refusal of a press in a phase in which no player is to move; None in other phases."""
    match state.phase:
        case Phase.LOOKING:
            return Refusal.from_key("busy")
        case Phase.LOBBY:
            return Refusal.from_key("hold-for-first")
        case Phase.ENDED:
            return Refusal.from_key("hold-for-next")
        case Phase.PAUSED:
            return Refusal.from_key("press-pause")
        case Phase.DRAWING:
            return Refusal.from_key("draw-on-page")
        case _:
            return None


_log = logging.getLogger(__name__)

REHEARSAL_TIMEOUT_S = 600.0
"""Time after which a rehearsal (a test of the buttons without effect on the game) ends automatically, in seconds."""


@dataclass(frozen=True, slots=True)
class PanelActions:
    """Actions of the new-game button and the power button.

    Holding the new-game button submits the command that `new_game` returns; without it, the panel refuses. Holding the
    power button calls `power_off`, which starts the shutdown of the machine and must return at once. A tap of the power
    button calls `open_pairing`, which allows one device to pair without a code.
    """

    new_game: Callable[[], TableCommand] | None = None
    power_off: Callable[[], None] = lambda: None
    open_pairing: Callable[[], None] = lambda: None


class Panel(Closeable):
    """Buttons and lights of one table, on pins, on the page, or both.

    Use the panel in a `with` statement, or call `close`.
    """

    def __init__(
        self,
        session: TableSession,
        actions: PanelActions,
        hardware: Callable[[EdgeHandler], GpioHardware] | None = None,
        clock: Callable[[], float] = time.monotonic,
        events: queue.SimpleQueue[Callable[[], None] | None] | None = None,
    ) -> None:
        """Start the thread of the panel.

        `hardware` is a function that opens the pins; its argument is a handler for the edges. If `hardware` is None,
        only the page has buttons. `clock` returns seconds, and `events` is the queue of the thread; tests replace
        both, so that they do not have to wait.
        """
        self._session = session
        self._actions = actions
        self._clock = clock
        self._events = events or queue.SimpleQueue()
        self._hardware = hardware(self.handle_edge) if hardware else None
        self._pending_presses: set[Future[TableSnapshot]] = set()
        self._closed = False
        # The panel's thread alone uses the attributes below.
        now = clock()
        self._gestures = GestureDetector(self._hardware.pressed_buttons if self._hardware else (), now)
        self._state = session.state
        self._changes = RecentChanges(self._state)
        self._outputs = PanelOutputs(self._state, self._hardware.show if self._hardware else None, clock)
        self._felt_buttons: tuple[Button, ...] | None = None
        self._press_moments: dict[Button, Moment] = {}
        self._delayed_press: DelayedPress | None = None
        self._rehearsal_time = now
        session.add_listener(self._on_state)
        self._thread = threading.Thread(target=self._run, name="panel", daemon=True)
        self._thread.start()

    @property
    def has_pins(self) -> bool:
        """True if the panel is wired to GPIO pins; False if it is only on the page."""
        return self._hardware is not None

    def __repr__(self) -> str:
        where = "on pins" if self.has_pins else "on the page"
        return f"<Panel {where}: {self.view.status.value}>"

    def close(self) -> None:
        """Stop the thread, switch the lights off and release the pins."""
        if self._closed:
            return
        self._closed = True
        self._session.remove_listener(self._on_state)
        self._events.put(None)
        self._thread.join()
        for done in tuple(self._pending_presses):
            done.cancel()
        if self._hardware:
            self._hardware.close()

    @property
    def view(self) -> PanelView:
        """The current state of the panel, for the page."""
        return self._outputs.view

    def add_listener(self, listener: Callable[[PanelView], None]) -> None:
        """Call `listener` with each new view, on the panel's thread; a listener must be quick and must not raise."""
        self._outputs.listeners.add(listener)

    def handle_edge(self, button: Button, down: bool) -> None:
        """Queue an edge of a button (down or up) for the panel's thread; may be called from any thread."""
        now = self._clock()
        self._events.put(lambda: self._handle_gestures(self._gestures.handle_edge(button, down, now)))

    def press(self, button: Button, *, held: bool = False, seen: Moment | None = None) -> Future[TableSnapshot]:
        """Process a press of a button on the page like a press on the wired button; if `held` is True, like a hold.

        `seen` is the version of the game that the page showed. The returned future holds the snapshot after the
        command, or `CommandRefusedError`; it is cancelled if the panel is closed first.
        """
        done: Future[TableSnapshot] = Future()
        self._pending_presses.add(done)
        done.add_done_callback(self._pending_presses.discard)
        self._events.put(lambda: self._handle_page_press(button, held, seen, done))
        return done

    def begin_rehearsal(self) -> None:
        """Begin a rehearsal: a test in which pressed buttons are only added to `PanelView.felt`."""
        self._events.put(lambda: self._set_felt_buttons(()))

    def end_rehearsal(self) -> None:
        """End the rehearsal: from now on, pressed buttons have their effect again."""
        self._events.put(lambda: self._set_felt_buttons(None))

    def show_signal(self, signal: Signal) -> None:
        """Show a signal of the lights and the buzzer, to test them."""
        self._events.put(lambda: self._outputs.start_signal(signal))

    # The panel's thread

    def _run(self) -> None:
        self._events.put(lambda: None)  # show the current state first
        while True:
            try:
                event = self._events.get(timeout=self._next_timeout())
            except queue.Empty:
                event = self._advance_time
            if event is None:
                return
            try:
                event()
                self._update_outputs()
            except Exception:
                _log.exception("the panel failed; it goes on")

    def _advance_time(self) -> None:
        self._handle_gestures(self._gestures.advance_time(self._clock()))
        if (press := self._delayed_press) and self._clock() >= press.due:
            self._delayed_press = None
            self._run_command(press.command, press.seat, press.seen, press.done)

    def _next_timeout(self) -> float | None:
        """Return the seconds until the next timed change (gesture, message, light), or None if there is none."""
        now = self._clock()
        ends = [self._gestures.deadline, self._outputs.next_change]
        if self._delayed_press:
            ends.append(self._delayed_press.due)
        if self._felt_buttons is not None:
            ends.append(self._rehearsal_time + REHEARSAL_TIMEOUT_S)
        return max(0.0, min(ends) - now) if min(ends) < inf else None

    def _update_outputs(self) -> None:
        if self._felt_buttons is not None and self._clock() - self._rehearsal_time >= REHEARSAL_TIMEOUT_S:
            self._felt_buttons = None
        self._outputs.update(self._state, self._gestures, self._felt_buttons)

    def _on_state(self, state: TableSnapshot) -> None:
        """Queue a new snapshot for the panel's thread; called on the session's thread."""
        self._events.put(lambda: self._update_state(state))

    def _update_state(self, state: TableSnapshot) -> None:
        before, self._state = self._state, state
        self._changes.update(state, self._clock())
        status = find_status(state)
        signal = find_signal(status) if find_status(before) is PanelStatus.LOOKING else None
        if signal:
            self._outputs.start_signal(signal)

    # Gestures

    def _handle_gestures(self, gestures: tuple[Gesture, ...]) -> None:
        for gesture in gestures:
            self._handle_gesture(gesture, None, Future())

    def _handle_page_press(self, button: Button, held: bool, seen: Moment | None, done: Future[TableSnapshot]) -> None:
        """Handle a button that was pressed on the page of the panel. `done` gets the result."""
        now = self._clock()
        held = held and button in HOLD_S
        gestures = self._gestures.hold(button, now) if held else self._gestures.tap(button, now)
        *others, last = gestures
        self._press_moments.pop(button, None)  # of the wired button
        self._handle_gestures(tuple(others))
        self._handle_gesture(last, seen, done)

    def _handle_gesture(self, gesture: Gesture, seen: Moment | None, done: Future[TableSnapshot]) -> None:
        """Show the signal for a gesture and run its command; the future `done` gets the result.

        `seen` is the version of the game that the page showed; None for a button on the pins.
        """
        if gesture.kind in (GestureKind.PRESS, GestureKind.HOLD):
            self._outputs.start_signal(PRESSED_SIGNAL if gesture.kind is GestureKind.PRESS else HELD_SIGNAL)
            self._update_outputs()
        state = self._session.state
        if gesture.kind in (GestureKind.PRESS, GestureKind.PRESSED_AGAIN):
            self._press_moments[gesture.button] = state.moment
        if self._felt_buttons is not None:
            self._felt_buttons = tuple(dict.fromkeys((*self._felt_buttons, gesture.button)))
            done.set_result(state)
            return
        elapsed = self._changes.measure(state, gesture.time)
        response = choose_response(gesture, state, elapsed if seen is None else replace(elapsed, event=inf))
        # A press that came too late is refused by the session, and so is a delay or hold in which the game has changed.
        if seen is None:
            pressed = self._press_moments.get(gesture.button, state.moment)
            seen = pressed if gesture.kind is GestureKind.HOLD else state.moment
        if gesture.kind is GestureKind.PRESS and gesture.button.ends_turn:
            self._refuse_delayed_press()
        seat = gesture.button.player
        if isinstance(response, EndTurn) and seat not in (None, state.turn_of):
            self._delayed_press = DelayedPress(self._clock() + OTHER_SIDE_DELAY_S, response, seat, seen, done)
        else:
            self._respond(response, seat, seen, done)

    def _respond(self, response: ButtonResponse, seat: int | None, seen: Moment, done: Future[TableSnapshot]) -> None:
        """Do what a gesture on a button means (`choose_response`); the future `done` gets the result.

        `seat` is the seat of the player whose button it was, or None. `seen` is the version of the game that the player
        saw. If the gesture means nothing, the result is the state as it is.
        """
        match response:
            case None:
                done.set_result(self._session.state)
            case Refusal():
                self._refuse(response, done)
            case OpenPairing():
                self._open_pairing(done)
            case Button.POWER:
                self._power_off(done)
            case Button.NEW_GAME:
                self._start_new_game(seat, seen, done)
            case _:
                self._run_command(response, seat, seen, done)

    def _refuse_delayed_press(self) -> None:
        """Refuse the delayed press of a player who is not to move, because the player to move has pressed, too."""
        press, self._delayed_press = self._delayed_press, None
        state = self._session.state
        if press and state.turn_of is not None:
            name = state.players[state.turn_of].name
            self._refuse(Refusal(get_text("others-turn", name), state.turn_of), press.done)

    def _set_felt_buttons(self, felt: tuple[Button, ...] | None) -> None:
        self._felt_buttons, self._rehearsal_time = felt, self._clock()

    def _run_command(self, command: TableCommand, seat: int | None, seen: Moment, done: Future[TableSnapshot]) -> None:
        result = self._session.submit(command, seen, seat)
        result.add_done_callback(lambda future: self._events.put(partial(self._pass_on_result, future, done)))

    def _start_new_game(self, seat: int | None, seen: Moment, done: Future[TableSnapshot]) -> None:
        if self._actions.new_game is None:
            self._refuse(Refusal.from_key("new-game-on-page"), done)
        else:
            self._run_command(self._actions.new_game(), seat, seen, done)

    def _open_pairing(self, done: Future[TableSnapshot]) -> None:
        self._actions.open_pairing()
        self._outputs.start_signal(HELD_SIGNAL)
        self._outputs.show_message(get_text("pairing-open", f"{HOLD_S[Button.POWER]:.0f}"))
        done.set_result(self._session.state)

    def _power_off(self, done: Future[TableSnapshot]) -> None:
        self._outputs.show_switching_off()
        self._actions.power_off()
        done.set_result(self._session.state)

    def _pass_on_result(self, result: Future[TableSnapshot], done: Future[TableSnapshot]) -> None:
        """Copy the result of a session command from the future `result` to the future `done`."""
        try:
            done.set_result(result.result(0))
        except CommandRefusedError as error:
            self._refuse(Refusal(str(error)), done)
        except CancelledError:
            self._refuse(Refusal.from_key("closing"), done)
        except Exception as error:
            done.set_exception(error)
            raise

    def _refuse(self, refusal: Refusal, done: Future[TableSnapshot]) -> None:
        self._outputs.start_signal(replace(REFUSED_SIGNAL, player=refusal.player))
        self._outputs.show_message(refusal.text)
        done.set_exception(CommandRefusedError(refusal.text))


@contextmanager
def open_panel(
    session: TableSession,
    actions: PanelActions,
    settings: PanelSettings,
    report: Callable[[str], None],
    seconds_left: SecondsLeft | None = None,
    pairing_details: PairingDetailsSource | None = None,
) -> Iterator[Panel]:
    """Open the panel and the displays; close both when the `with` block ends.

    If a display or the pins of a Raspberry Pi are not available, `report` is called with a message of one line. Two
    functions are for the displays: `seconds_left` returns the time on a player's clock, and `pairing_details` the
    details for pairing.
    """
    with ExitStack() as opened:
        panel = opened.enter_context(_make_panel(session, actions, settings, report))
        if settings.displays:
            from device.panel.displays import DisplayController, open_displays  # loads segno and Pillow's fonts

            if displays := open_displays(settings.displays, report):
                opened.enter_context(DisplayController(session, displays, seconds_left, pairing_details))
        yield panel


def _make_panel(
    session: TableSession, actions: PanelActions, settings: PanelSettings, report: Callable[[str], None]
) -> Panel:
    if settings.use and may_have_pins():
        try:
            return Panel(session, actions, make_gpio_hardware(settings.pins))
        except GpioUnavailableError as error:
            report(format_sentence(get_text("panel-no-pins", error)))
    return Panel(session, actions)
