"""A table that was installed and now starts with the plug: played at, upgraded, badly upgraded, uninstalled.

`booted_install.sh` starts it as root in a container with systemd. The folders of the versions lie in `/root`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.error import HTTPError

from tests.hardware.service import Phone, check, comes, failures, journal, journal_text, page, say, shown

LINK = Path("/opt/tilekeeper/venv")
UNIT_FILE = Path("/etc/systemd/system/tilekeeper.service")
HOTSPOT_FILE = Path("/etc/tilekeeper/hotspot.toml")
GAMES = Path("/var/lib/tilekeeper/games.db")


def install(version: str) -> str:
    """Run the install.sh of `/root/<version>`; return what it says, or nothing if it fails."""
    say(f"== install.sh of the {version} version")
    command = [f"/root/{version}/systemd/install.sh", "--yes"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    for line in (done.stdout + done.stderr).strip().splitlines()[-6:]:
        say(f"       | {line}")
    return done.stdout if done.returncode == 0 else ""


def pairs_phone(said: str) -> bool:
    """Return True if the digits that install.sh printed pair a phone with the running table."""
    digits = re.search(r"^digits: +(\d{6}) ", said, re.MULTILINE)
    try:
        return digits is not None and bool(Phone(digits[1]))
    except HTTPError:
        return False


def store_layout() -> int:
    """Return the version of the store from the head of its file, because the table has locked the store."""
    return int.from_bytes(GAMES.read_bytes()[60:64])


def watchdog_of_machine() -> str:
    """Return the time after which systemd restarts a machine that hangs; "0" if it never does."""
    asked = ["systemctl", "show", "--value", "-p", "RuntimeWatchdogUSec"]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()


def goes_on(version: str) -> None:
    """Check that the table runs `version`, with the game as it was."""
    check("the table runs", shown("ActiveState") == "active", f"process {shown('MainPID')}")
    check(f"it is version {version}", str(LINK.readlink()).startswith(f"versions/{version}-"), str(LINK.readlink()))
    comes("the play is on the page", lambda: "HORN" in page(), 30)


def main() -> int:
    """0 when everything was right."""
    comes("the table starts with the plug", lambda: shown("ActiveState") == "active", 120)
    comes("the page answers", lambda: "Anna" in page(), 30)
    check("a machine that hangs starts again after 15 s", watchdog_of_machine() == "15s", watchdog_of_machine())
    Phone().press("end-turn")
    comes("a turn ended on a phone is on the page", lambda: "HORN" in page(), 60)

    said = install("newer")
    check("an upgrade says that it went well", said != "")
    check("its digits pair a phone", pairs_phone(said))
    check(
        "without a network it names no numbers", re.search(r"^page: +http://\S+:8080$", said, re.MULTILINE) is not None
    )
    goes_on("99.0.1")

    process, unit = shown("MainPID"), UNIT_FILE.read_text()
    check("an upgrade whose files are cut off fails", not install("cut"))
    check("the table was never stopped", shown("MainPID") == process, f"process {process}")
    goes_on("99.0.1")

    layout = store_layout()
    check("an upgrade that changes the store and does not run fails", not install("dying"))
    check("the store is one for the version of before", store_layout() == layout, f"layout {layout}")
    goes_on("99.0.1")
    check("the unit is that of before", UNIT_FILE.read_text() == unit)
    left = sorted(folder.name for folder in LINK.parent.joinpath("versions").glob("99.0.[23]-*"))
    check("nothing is left of the bad versions", not left, ", ".join(left))
    journal(12)

    say("== uninstall.sh")
    subprocess.run(["/opt/tilekeeper/uninstall.sh", "--yes"], check=False, stdout=subprocess.DEVNULL)
    check("the unit is gone", shown("LoadState") == "not-found", shown("LoadState"))
    check("the page is gone", page() == "")
    check("the watchdog of the machine is as before", watchdog_of_machine() == "0", watchdog_of_machine())
    check("the games are kept", GAMES.stat().st_size > 0)

    former = os.uname().nodename
    said = install("first")
    name = os.uname().nodename
    check("an installation where systemd runs says that it went well", said != "")
    check("the machine that runs has its watchdog", watchdog_of_machine() == "15s", watchdog_of_machine())
    check("the machine has a new name", name == "tilekeeper" != former, f"{former}, then {name}")
    comes("the page answers under this name", lambda: "Anna" in page(f"{name}.local"), 30)
    check("its digits pair a phone", pairs_phone(said))
    wifi = tomllib.loads(HOTSPOT_FILE.read_text())["name"]
    check("the table knows its own Wi-Fi", f"join {wifi} with" in journal_text(), wifi)
    say(f"{len(failures)} failed: {'; '.join(failures)}" if failures else "all right")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
