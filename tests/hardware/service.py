"""The installed service from outside: what systemd, the page and the journal say of it, and a phone that plays.

Of the standard library alone, for scripts that run where nothing but the service is installed.
"""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import time
import urllib.request
from collections.abc import Callable
from http.cookiejar import CookieJar
from typing import Any
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


def page(host: str = "127.0.0.1") -> str:
    """The text of the page as a browser gets it that asks for `host`; empty while there is none."""
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=30)
    try:
        connection.request("GET", "/", headers={"Host": f"{host}:{PORT}"})
        return re.sub(r"<[^>]+>", " ", connection.getresponse().read().decode())
    except (OSError, http.client.HTTPException):
        return ""
    finally:
        connection.close()


class Phone:
    """A phone that is paired by the code on the console: the one in the journal, if none is given."""

    def __init__(self, code: str = "") -> None:
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        self._post("/pair", self._get("/pair"), code=code or re.findall(r"code there: (\d+)", journal_text())[-1])
        self._get("/")  # leads to the set-up of a new table, once

    def press(self, button: str) -> None:
        """Tap a button of the page."""
        self._post(f"/actions/{button}", self._get("/"))

    def take_picture(self, jpeg: bytes) -> None:
        """End the turn with a picture."""
        self._send("/actions/picture", *make_multipart(find_fields(self._get("/")), jpeg))

    def read(self, path: str) -> Any:
        """Return what the JSON API answers."""
        return json.loads(self._get(f"/api/v1{path}"))

    def look_through_camera(self) -> Any:
        """Return what the set-up page says of a picture that it takes."""
        return json.loads(self._get("/setup/look"))

    def _get(self, path: str) -> str:
        with self._opener.open(f"http://127.0.0.1:{PORT}{path}", timeout=60) as answer:
            return str(answer.read().decode())

    def _post(self, path: str, html: str, **fields: str) -> None:
        body = urlencode(find_fields(html) | fields).encode()
        self._send(path, body, "application/x-www-form-urlencoded")

    def _send(self, path: str, body: bytes, kind: str) -> None:
        asked = urllib.request.Request(f"http://127.0.0.1:{PORT}{path}", body, {"Content-Type": kind})
        with self._opener.open(asked, timeout=60):
            pass


def find_fields(html: str) -> dict[str, str]:
    """The hidden fields that every form of a page has."""
    return dict(re.findall(r'name="(csrf|seen)" value="([^"]*)"', html))


def make_multipart(fields: dict[str, str], picture: bytes) -> tuple[bytes, str]:
    """A form with a picture as the body of a request, and the type of the body."""
    mark = "form"
    parts = [
        f'--{mark}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    ]
    head = f'--{mark}\r\nContent-Disposition: form-data; name="picture"; filename="photo.jpg"\r\n\r\n'
    return "".join(
        [*parts, head]
    ).encode() + picture + f"\r\n--{mark}--\r\n".encode(), f"multipart/form-data; boundary={mark}"


def journal_text(lines: int = 200) -> str:
    """Return the last lines of the service's journal."""
    asked = ["journalctl", "-u", UNIT, "-o", "cat", "-n", str(lines), "--no-pager"]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout


def journal(lines: int = 40) -> None:
    """The same, on the console."""
    for line in journal_text(lines).splitlines():
        if not line.startswith(("█", "▀")):  # the code that phones scan
            say(f"       | {line}")
