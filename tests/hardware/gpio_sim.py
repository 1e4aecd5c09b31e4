"""Runs the panel on real lgpio over the kernel's `gpio-sim`: bounce, holds, lights. Needs root and that module.

    modprobe gpio-sim; mount -t configfs none /sys/kernel/config
    PYTHONPATH=. python tests/hardware/gpio_sim.py

A simulated chip with the label of a Raspberry Pi's header is made, found by that label, and its contacts are closed
through sysfs. gpiozero asks which Raspberry Pi it runs on; here it is told.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import lgpio
from gpiozero.pins.lgpio import LGPIOFactory

from device.panel.buttons import Button, Pins
from device.panel.gpio import GpioHardware, chip_labels, header_chip
from device.panel.panel import Orders, Panel
from device.session import TableSession
from device.store import GameStore
from engine.events import GameStarted
from tests.device.tables import HORN, TextTable

CONFIG = Path("/sys/kernel/config/gpio-sim/tilekeeper")
PINS = Pins()


class Pi5Factory(LGPIOFactory):  # type: ignore[misc]
    """lgpio, on what it is told is a Raspberry Pi 5."""

    def _get_revision(self) -> int:
        return 0xD04170


@contextmanager
def simulated_header() -> Iterator[Path]:
    """A chip of 28 lines labelled as the header; gives the sysfs folder of its lines."""
    bank = CONFIG / "header"
    bank.mkdir(parents=True)
    try:
        (bank / "num_lines").write_text("28")
        (bank / "label").write_text("pinctrl-rp1")
        (CONFIG / "live").write_text("1")
        device = (CONFIG / "dev_name").read_text().strip()
        chip = (bank / "chip_name").read_text().strip()
        yield Path("/sys/devices/platform") / device / chip
    finally:
        (CONFIG / "live").write_text("0")
        bank.rmdir()
        CONFIG.rmdir()


def check(what: str, true: Callable[[], bool], seconds: float = 3.0) -> bool:
    """Print whether `what` comes true in time."""
    end = time.monotonic() + seconds
    while not (good := true()) and time.monotonic() < end:
        time.sleep(0.002)
    print(f"{'ok  ' if good else 'FAIL'} {what}")
    return good


def main() -> int:
    """0 when the panel did what it should."""
    with simulated_header() as lines, GameStore(":memory:") as store:
        table = TextTable()
        with TableSession(table, table, store) as session:
            session.start_game(GameStarted(("Anna", "Ben"))).result(5)
            factory = Pi5Factory(chip=header_chip(chip_labels(lgpio)))
            orders = Orders(session.end_turn, session.end_game, session.challenge, session.undo)
            with Panel(session, orders, partial(GpioHardware, PINS, factory)) as panel:
                good = all(tried(session, table, panel, lines))
    return 0 if good else 1


def tried(session: TableSession, table: TextTable, panel: Panel, lines: Path) -> Iterator[bool]:
    """Each thing that is tried, and whether it was right."""

    def contact(button: Button, closed: bool) -> None:
        (lines / f"sim_gpio{PINS.buttons[button]}" / "pull").write_text("pull-down" if closed else "pull-up")

    def lit(pin: int) -> bool:
        return (lines / f"sim_gpio{pin}" / "value").read_text().strip() == "1"

    for button in PINS.buttons:
        contact(button, False)
    time.sleep(0.1)
    yield check("the light of player 1 burns", lambda: lit(PINS.player_lights[0]))
    table.lay(HORN)
    for gap in (0.0, 0.003, 0.004, 0.008, 0.001, 0.012):  # bounces longer than the kernel leaves out, and shorter
        contact(Button.END_TURN_1, True)
        time.sleep(gap)
        contact(Button.END_TURN_1, False)
        time.sleep(gap)
    yield check("a bouncing press ends one turn", lambda: len(session.state.turns) == 1)
    time.sleep(0.3)
    yield check("and one only", lambda: table.pictures == 1)
    yield check("the light of player 2 burns", lambda: lit(PINS.player_lights[1]) and not lit(PINS.player_lights[0]))
    contact(Button.CHALLENGE, True)
    time.sleep(0.0005)
    contact(Button.CHALLENGE, False)
    time.sleep(0.1)
    yield check("half a millisecond of interference is nothing", lambda: panel.view.message == "")
    contact(Button.PAUSE, True)
    yield check("a held pause button takes the turn back", lambda: session.state.turns == ())
    contact(Button.PAUSE, False)
    pressed = time.monotonic()
    contact(Button.END_TURN_2, True)
    assert PINS.buzzer is not None
    yield check("another player's button is felt", lambda: lit(PINS.buzzer))
    print(f"     after {(time.monotonic() - pressed) * 1000:.1f} ms")
    contact(Button.END_TURN_2, False)
    yield check("and refused", lambda: "Anna" in panel.view.message)


if __name__ == "__main__":
    sys.exit(main())
