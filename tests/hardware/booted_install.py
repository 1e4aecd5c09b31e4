"""A table that was installed and now starts with the plug: played at, upgraded, badly upgraded, uninstalled.

`booted_install.sh` starts it as root in a container with systemd. The folders of the versions lie in `/root`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.hardware.service import Phone, check, comes, failures, journal, page, say, shown

LINK = Path("/opt/tilekeeper/venv")
UNIT_FILE = Path("/etc/systemd/system/tilekeeper.service")
GAMES = Path("/var/lib/tilekeeper/games.db")


def install(version: str) -> bool:
    """Run the install.sh of `/root/<version>`; whether it says that all went well."""
    say(f"== install.sh of the {version} version")
    command = [f"/root/{version}/systemd/install.sh", "--yes"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    for line in (done.stdout + done.stderr).strip().splitlines()[-6:]:
        say(f"       | {line}")
    return done.returncode == 0


def store_layout() -> int:
    """Which versions can read the store; asked of the file's head, since the table keeps the store locked."""
    return int.from_bytes(GAMES.read_bytes()[60:64])


def goes_on(version: str) -> None:
    """Whether the table is run by `version`, with the game as it was."""
    check("the table runs", shown("ActiveState") == "active", f"process {shown('MainPID')}")
    check(f"it is version {version}", str(LINK.readlink()).startswith(f"versions/{version}-"), str(LINK.readlink()))
    comes("the play is on the page", lambda: "HORN" in page(), 30)


def main() -> int:
    """0 when everything was right."""
    comes("the table starts with the plug", lambda: shown("ActiveState") == "active", 120)
    comes("the page answers", lambda: "Anna" in page(), 30)
    Phone().press("end-turn")
    comes("a turn ended on a phone is on the page", lambda: "HORN" in page(), 60)

    check("an upgrade says that it went well", install("newer"))
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
    check("the games are kept", GAMES.stat().st_size > 0)
    say(f"{len(failures)} failed: {'; '.join(failures)}" if failures else "all right")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
