"""The panel on gpiozero's real LGPIOFactory, over the kernel's `gpio-sim`: bounce, holds, lights.

`vm.sh` runs it in a virtual machine. It needs root, the module and configfs:

    modprobe gpio-sim; mount -t configfs none /sys/kernel/config
    PYTHONPATH=. python tests/hardware/gpio_sim.py

Two simulated chips are made, the second with the label of a Raspberry Pi's header: it has to be found by that label.
Contacts are closed through sysfs. gpiozero asks which Raspberry Pi it runs on; here it is told.
"""

from __future__ import annotations

import random
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import lgpio
from gpiozero.pins.lgpio import LGPIOFactory

from device.panel.buttons import DOUBLE_PRESS_S, Button, GestureDetector, GestureKind, Pins
from device.panel.gpio import GLITCH_FILTER_S, GpioHardware, find_header_chip, read_chip_labels
from device.panel.panel import Panel, PanelActions
from device.session.commands.games import StartGame, Undo
from device.session.table_session import TableSession
from device.storage.store import GameStore
from engine.events import GameStarted
from tests.support.text_table import HORN, TextTable

CONFIG = Path("/sys/kernel/config/gpio-sim")
PINS = Pins()
HEADER_LINES = 28
STORM = 100
"""Number of presses, each with its bounces."""


class Pi5Factory(LGPIOFactory):  # type: ignore[misc]
    """The factory for lgpio on a pretended Raspberry Pi 5."""

    def _get_revision(self) -> int:
        return 0xD04170


class Lines:
    """The simulated header from outside: contacts to close, lights to look at."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def contact(self, button: Button, closed: bool) -> None:
        """Press (to ground) or release a button."""
        pull = "pull-down" if closed else "pull-up"
        (self._folder / f"sim_gpio{PINS.buttons[button]}" / "pull").write_text(pull)

    def lit(self, pin: int | None) -> bool:
        """Return True if a light or the buzzer is on."""
        return (self._folder / f"sim_gpio{pin}" / "value").read_text().strip() == "1"


@contextmanager
def simulated_chip(name: str, label: str, lines: int) -> Iterator[Path]:
    """A chip for the time of a `with`; gives the sysfs folder of its lines."""
    device, bank = CONFIG / name, CONFIG / name / "bank0"
    bank.mkdir(parents=True)
    try:
        (bank / "num_lines").write_text(str(lines))
        (bank / "label").write_text(label)
        (device / "live").write_text("1")
        platform = (device / "dev_name").read_text().strip()
        yield Path("/sys/devices/platform") / platform / (bank / "chip_name").read_text().strip()
    finally:
        (device / "live").write_text("0")
        bank.rmdir()
        device.rmdir()


@contextmanager
def simulated_header() -> Iterator[Lines]:
    """Another chip first, then the header's: its number is not 0, as on a Raspberry Pi 5."""
    with ExitStack() as made:
        made.enter_context(simulated_chip("other", "raspberrypi-exp-gpio", 8))
        yield Lines(made.enter_context(simulated_chip("header", "pinctrl-rp1", HEADER_LINES)))


def check(what: str, true: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Print whether `what` comes true in time."""
    end = time.monotonic() + seconds
    while not (good := true()) and time.monotonic() < end:
        time.sleep(0.002)
    print(f"{'ok  ' if good else 'FAIL'} {what}", flush=True)
    return good


def bounce(lines: Lines, button: Button, closed: bool, chance: random.Random) -> None:
    """Close or open a contact as a worn button does: some ten changes within some ten ms, then it stays."""
    for _ in range(chance.randrange(2, 8)):
        lines.contact(button, closed)
        spin(chance.uniform(0.0001, 0.003))
        lines.contact(button, not closed)
        spin(chance.uniform(0.0001, 0.002))
    lines.contact(button, closed)


def spin(seconds: float) -> None:
    """Wait without giving the processor away: on an emulated one that would last too long."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def interfere(lines: Lines, button: Button) -> float:
    """Close a contact for half a millisecond; return how long that took, in seconds."""
    began = time.perf_counter()
    lines.contact(button, True)
    spin(0.0005)
    lines.contact(button, False)
    return time.perf_counter() - began


def storm(lines: Lines, factory: LGPIOFactory) -> bool:
    """Many bouncing presses; each counts once. Not those that the emulation stretched beyond one press of a person."""
    chance, lock = random.Random(7), threading.Lock()
    gestures, told, edges = GestureDetector(), list[GestureKind](), list[float]()

    def edge(button: Button, down: bool) -> None:
        with lock:
            edges.append(time.monotonic())
            told.extend(gesture.kind for gesture in gestures.handle_edge(button, down, edges[-1]))

    hardware = GpioHardware(PINS, factory, edge)
    buttons = [button for button in PINS.buttons if button.ends_turn]
    right, stretched, all_edges, longest = 0, 0, 0, 0.0
    for number in range(STORM):
        button = buttons[number % len(buttons)]
        with lock:
            told.clear()
            edges.clear()
        bounce(lines, button, True, chance)
        spin(0.08)
        bounce(lines, button, False, chance)
        time.sleep(DOUBLE_PRESS_S + 0.1)
        while edges and time.monotonic() < edges[-1] + DOUBLE_PRESS_S + 0.1:
            time.sleep(0.1)  # late ones
        lasted = edges[-1] - edges[0] if edges else 0.0
        if lasted >= DOUBLE_PRESS_S:
            stretched += 1
            continue
        right += told.count(GestureKind.PRESS) == 1
        all_edges, longest = all_edges + len(edges), max(longest, lasted)
    hardware.close()
    fair = STORM - stretched
    print(
        f"     {fair} bouncing presses: {all_edges} edges reached the program, the longest press took {longest:.2f} s"
    )
    print(f"     {stretched} more took over {DOUBLE_PRESS_S} s on this busy machine, and are not counted")
    return check(f"each bouncing press counts once ({right} of {fair})", lambda: right == fair > STORM // 2)


def the_panel(lines: Lines, factory: LGPIOFactory) -> bool:
    """A whole panel with a session behind it."""
    with GameStore(":memory:") as store:
        table = TextTable()
        with TableSession(table, table, store) as session:
            session.submit(StartGame(GameStarted(("Anna", "Ben")))).result(20)
            with Panel(session, PanelActions(), partial(GpioHardware, PINS, factory)) as panel:
                return all(list(tried(session, table, panel, lines)))


def tried(session: TableSession, table: TextTable, panel: Panel, lines: Lines) -> Iterator[bool]:
    """Each thing that is tried, and whether it was right."""
    chance = random.Random(3)
    for button in PINS.buttons:
        lines.contact(button, False)
    time.sleep(0.1)
    yield check("the light of player 1 burns", lambda: lines.lit(PINS.player_lights[0]))
    table.lay(HORN)
    bounce(lines, Button.END_TURN_1, True, chance)
    spin(0.08)
    bounce(lines, Button.END_TURN_1, False, chance)
    yield check("a bouncing press ends one turn", lambda: len(session.state.turns) == 1)
    time.sleep(1.0)
    yield check("and one only", lambda: len(session.state.turns) == 1 and table.pictures == 1)
    first, second = PINS.player_lights[:2]
    yield check("the light of player 2 burns instead", lambda: lines.lit(second) and not lines.lit(first))
    lasted = interfere(lines, Button.CHALLENGE)
    time.sleep(0.3)
    if lasted < GLITCH_FILTER_S:
        yield check("half a millisecond of interference is nothing", lambda: session.state.question is None)
    else:
        print(f"     the interference took {1000 * lasted:.1f} ms on this busy machine, and is not judged")
        if question := session.state.question:  # it was a press, and the table asks whether the play is valid
            session.submit(Undo(question_id=question.id)).result(20)
    lines.contact(Button.PAUSE, True)
    yield check("a held pause button takes the turn back", lambda: session.state.turns == ())
    lines.contact(Button.PAUSE, False)
    time.sleep(0.1)
    pressed = time.monotonic()
    lines.contact(Button.END_TURN_2, True)
    yield check("another player's button is felt", lambda: lines.lit(PINS.buzzer))
    print(f"     after {(time.monotonic() - pressed) * 1000:.1f} ms")
    lines.contact(Button.END_TURN_2, False)
    yield check("and asked about", lambda: session.state.question is not None or "Anna" in panel.view.message)


def main() -> int:
    """0 when the panel did what it should."""
    with simulated_header() as lines:
        labels = read_chip_labels(lgpio)
        print(f"     chips: {labels}")
        chip = find_header_chip(labels)
        good = check("the header's chip is found by its label, and is not number 0", lambda: chip > 0)
        good &= storm(lines, Pi5Factory(chip=chip))
        good &= the_panel(lines, Pi5Factory(chip=chip))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
