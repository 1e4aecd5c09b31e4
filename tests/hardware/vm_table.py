"""The installed service under real systemd: unprivileged, with camera, pins, store and page; its watchdog; power off.

`vm.sh` starts it as root inside of the virtual machine, `container.sh` inside of a container (with the argument
`page`: it has no pins, and the turn is ended on a phone). What people would do at the table is done here from outside:
contacts are closed through `gpio-sim`, the page is read over HTTP, the processor is taken away from the program.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from device.panel.buttons import Button
from tests.hardware.gpio_sim import PINS, Lines, simulated_header
from tests.hardware.service import UNIT, Phone, check, comes, failures, journal, page, say, shown, until

POWER_HELD_S = 8.0


def rights(pid: str) -> None:
    """Check the user and the rights of the program."""
    status = dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    user = subprocess.run(["id", "-un", status["Uid"].split()[0]], capture_output=True, text=True, check=False)
    check("it runs as the user tilekeeper", user.stdout.strip() == "tilekeeper", status["Uid"].split()[0])
    check("without any capability", int(status["CapEff"], 16) == int(status["CapBnd"], 16) == 0, status["CapBnd"])
    check(
        "with filtered system calls, and no way to more rights",
        status["Seccomp"] == "2" and status["NoNewPrivs"] == "1",
    )
    opened = {str(entry.readlink()) for entry in Path(f"/proc/{pid}/fd").iterdir() if entry.is_symlink()}
    say(f"       devices open: {', '.join(sorted(name for name in opened if name.startswith('/dev/'))) or 'none'}")
    say(f"       memory: {int(shown('MemoryCurrent')) / 2**20:.0f} MB, tasks: {shown('TasksCurrent')}")


def a_turn(lines: Lines) -> None:
    """A press on the first player's button: camera, reader, engine, store, page and lights."""
    check("the light of player 1 burns", until(lambda: lines.lit(PINS.player_lights[0]), 30) is not None)
    pressed = time.monotonic()
    lines.contact(Button.END_TURN_1, True)
    time.sleep(0.3)
    lines.contact(Button.END_TURN_1, False)
    comes("the play is on the page, read from the camera's picture", lambda: "HORN" in page())
    say(f"       {time.monotonic() - pressed:.1f} s after the press, on this emulated machine")
    check("the light of player 2 burns", until(lambda: lines.lit(PINS.player_lights[1]), 30) is not None)


def a_turn_on_the_page() -> None:
    """The same, ended on a phone."""
    phone = Phone()
    pressed = time.monotonic()
    phone.press("end-turn")
    comes("the play is on the page, read from the camera's picture", lambda: "HORN" in page())
    say(f"       {time.monotonic() - pressed:.1f} s after the press")


def the_watchdog() -> None:
    """Stop the program as a fault would that lets nothing in it go on."""
    pid, starts = shown("MainPID"), shown("NRestarts")
    check("a table that works was left alone by the watchdog", starts == "0", f"WatchdogSec={shown('WatchdogUSec')}")
    os.kill(int(pid), signal.SIGSTOP)
    stopped = time.monotonic()
    comes("a program that hangs is ended by the watchdog", lambda: shown("MainPID") != pid)
    comes("systemd starts it again", lambda: shown("ActiveState") == "active" and shown("MainPID") not in ("0", pid))
    comes("the page is back, with the play that was stored", lambda: "HORN" in page())
    check("it is counted as a restart", int(shown("NRestarts")) == int(starts) + 1)
    say(f"       {time.monotonic() - stopped:.1f} s from the hang to the page")


def power_off(lines: Lines) -> None:
    """Hold the power button; this machine then goes down, and this program with it."""
    gone: list[float] = []
    signal.signal(signal.SIGTERM, lambda *_: gone.append(time.monotonic()))
    lines.contact(Button.POWER, True)
    time.sleep(POWER_HELD_S)
    lines.contact(Button.POWER, False)
    done = until(lambda: bool(gone), 120) is not None
    if not check("the held power button switches the machine off, by the polkit rule", done):
        journal()


def the_service() -> bool:
    """Start it; whether it is ready."""
    began = time.monotonic()
    subprocess.run(["systemctl", "start", UNIT], check=False)
    ready = check("the service is ready", shown("ActiveState") == "active", f"after {time.monotonic() - began:.1f} s")
    if not ready:
        journal(80)
        return False
    say(f"       status: {shown('StatusText')}")
    comes("the page answers", lambda: "Anna" in page())
    rights(shown("MainPID"))
    return True


def exposure() -> None:
    """Check the exposure level of the unit."""
    asked = ["systemd-analyze", "security", UNIT, "--no-pager"]
    said = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
    found = re.search(r"Overall exposure level for \S+: ([\d.]+)", said)
    check("its exposure is under 1.8", found is not None and float(found[1]) < 1.8, found[1] if found else said)


def may_power_off() -> None:
    """Check that logind lets the service's user, and no other user, switch the machine off."""
    manager = ["org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager", "CanPowerOff"]
    for user, answer in (("tilekeeper", 's "yes"'), ("nobody", 's "challenge"')):
        asked = ["runuser", "-u", user, "--", "busctl", "call", *manager]
        said = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
        check(f"may {user} switch the machine off? {answer}", said == answer, said)


def main(how: str) -> int:
    """0 when everything was right; `how` is "page" where there are no pins."""
    if how == "page":
        if the_service():
            a_turn_on_the_page()
            the_watchdog()
            exposure()
            may_power_off()
            journal()
        say(f"{len(failures)} failed: {'; '.join(failures)}" if failures else "all right")
        return 1 if failures else 0
    with simulated_header() as lines:
        if not the_service():
            return 1
        a_turn(lines)
        the_watchdog()
        exposure()
        may_power_off()
        journal()
        say(f"{len(failures)} failed: {'; '.join(failures)}" if failures else "all right so far; now the power button")
        power_off(lines)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "pins"))
