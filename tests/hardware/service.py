"""The installed service from outside: what systemd, the page and the journal say of it, and a phone that plays.

Of the standard library alone, for scripts that run where nothing but the service is installed.
"""

from __future__ import annotations

import http.client
import re
import subprocess
import time
import urllib.request
from collections.abc import Callable
from http.cookiejar import CookieJar
from urllib.parse import urlencode

UNIT = "tilekeeper.service"
PORT = 8080
SLOW = 400.0
"""Seconds; the machine is emulated, and starting Python with its libraries takes a minute of it."""

failures: list[str] = []


def say(text: str) -> None:
    """One line on the console."""
    print(text, flush=True)


def check(what: str, good: bool, more: str = "") -> bool:
    """Print whether `what` is so."""
    say(f"{'ok  ' if good else 'FAIL'} {what}{f': {more}' if more else ''}")
    if not good:
        failures.append(what)
    return good


def until(true: Callable[[], bool], seconds: float = SLOW) -> float | None:
    """Seconds until it was true; None if it never was."""
    began = time.monotonic()
    while time.monotonic() < began + seconds:
        if true():
            return time.monotonic() - began
        time.sleep(0.25)
    return None


def comes(what: str, true: Callable[[], bool], seconds: float = SLOW) -> bool:
    """Print whether and when `true` came true."""
    took = until(true, seconds)
    return check(what, took is not None, "never" if took is None else f"after {took:.1f} s")


def shown(name: str) -> str:
    """A property of the unit."""
    asked = ["systemctl", "show", "--value", "-p", name, UNIT]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()


def page() -> str:
    """The text of the page; empty while there is none."""
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=30)
    try:
        connection.request("GET", "/")
        return re.sub(r"<[^>]+>", " ", connection.getresponse().read().decode())
    except (OSError, http.client.HTTPException):
        return ""
    finally:
        connection.close()


class Phone:
    """A phone that is paired by the code on the console."""

    def __init__(self) -> None:
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        code = re.findall(r"code there: (\d+)", journal_text())[-1]
        self._post("/pair", self._get("/pair"), code=code)

    def press(self, button: str) -> None:
        """Tap a button of the page."""
        self._post(f"/actions/{button}", self._get("/"))

    def _get(self, path: str) -> str:
        with self._opener.open(f"http://127.0.0.1:{PORT}{path}", timeout=60) as answer:
            return str(answer.read().decode())

    def _post(self, path: str, html: str, **fields: str) -> None:
        fields |= dict(re.findall(r'name="(csrf|seen)" value="([^"]*)"', html))
        with self._opener.open(f"http://127.0.0.1:{PORT}{path}", urlencode(fields).encode(), timeout=60):
            pass


def journal_text(lines: int = 200) -> str:
    """What the service said last."""
    asked = ["journalctl", "-u", UNIT, "-o", "cat", "-n", str(lines), "--no-pager"]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout


def journal(lines: int = 40) -> None:
    """The same, on the console."""
    for line in journal_text(lines).splitlines():
        if not line.startswith(("█", "▀")):  # the code that phones scan
            say(f"       | {line}")
