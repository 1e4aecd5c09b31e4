"""A client of a running table's JSON interface, and what a test needs to start such a program."""

from __future__ import annotations

import json
import re
import subprocess
import time
import urllib.error
import urllib.request
from typing import Any

from tests.support.waiting import PATIENCE_S


def read_pairing_code(table: subprocess.Popen[str]) -> str:
    """Return the pairing code that a starting table shows on its console."""
    assert table.stdout is not None
    for line in table.stdout:
        if found := re.search(r"code there: (\d{6})", line):
            return found[1]
    raise SystemExit("the table has shown no pairing code")


class ApiClient:
    """A paired client of the JSON interface that keeps every answer."""

    def __init__(self, port: int, code: str) -> None:
        self.answers: list[dict[str, Any]] = []
        self._address = f"http://127.0.0.1:{port}/api/v1"
        self._token = ""
        paired = self.call("POST", "/pairing", {"code": code, "device": "golden"})
        self._token = paired["token"]

    def call(self, method: str, path: str, body: object = None) -> Any:
        """Send a request; keep and return the answer (bytes that are no JSON as their number)."""
        headers = {"Content-Type": "application/json"} | (
            {"Authorization": f"Bearer {self._token}"} if self._token else {}
        )
        data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(self._address + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
                status, got = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            status, got = error.code, error.read()
        try:
            value = json.loads(got)
        except ValueError:
            value = f"{len(got)} bytes"
        self.answers.append({"call": f"{method} {path}", "status": status, "body": value})
        return value

    def command(self, name: str, **body: object) -> Any:
        """Send a command to the table, by default for its present moment (`seen`)."""
        seen = self.call("GET", "/state")["moment"]
        self.answers.pop()
        return self.call("POST", f"/commands/{name}", {"seen": seen, **body})

    def end_turn(self) -> None:
        """End the turn and wait until the picture has been read."""
        self.command("end-turn")
        self.answers.pop()  # whether the table still reads is a matter of time
        end = time.monotonic() + PATIENCE_S
        while self.call("GET", "/state")["phase"] == "looking" and time.monotonic() < end:
            self.answers.pop()
            time.sleep(0.05)
