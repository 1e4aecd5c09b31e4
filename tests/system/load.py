"""The evening's load on the page, from other processes' side: many phones with a stream each, and requests beside them.

`python -m tests.system.load 100 20 60` opens 100 streams and sends 20 requests a second for 60 seconds while a turn
comes in each second, to a server of its own on this machine's loopback, and says what it measured.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import PIPE, Popen

HOST = "127.0.0.1"
REPOSITORY = Path(__file__).parents[2]


@dataclass
class Measured:
    """Measured load: seconds of each request and of each delivery, and memory of the server in MB."""

    streams: int
    requests: list[float] = field(default_factory=list)
    failed: int = 0
    deliveries: list[float] = field(default_factory=list)
    turns: int = 0
    lost: int = 0
    memory: tuple[float, float] = (0.0, 0.0)
    memory_by_minute: list[float] = field(default_factory=list)
    threads: int = 0
    cpu: float = 0.0
    """Seconds of one core that the server used while it was loaded for `seconds`."""
    seconds: float = 0.0

    def __str__(self) -> str:
        return (
            f"{self.streams} streams, {self.lost} lost; {self.turns} turns, {len(self.deliveries)} deliveries: "
            f"p50 {format_ms(self.deliveries, 0.5)}, p95 {format_ms(self.deliveries, 0.95)}, "
            f"most {format_ms(self.deliveries, 1)}\n"
            f"{len(self.requests)} requests, {self.failed} failed: p50 {format_ms(self.requests, 0.5)}, "
            f"p95 {format_ms(self.requests, 0.95)}\n"
            f"memory of the server {self.memory[0]:.1f} MB after the first turns, {self.memory[1]:.1f} MB at the end, "
            f"{self.threads} threads; {self.cpu:.1f} s of one core in {self.seconds:.0f} s\n"
            f"memory after each minute: {', '.join(f'{megabytes:.1f}' for megabytes in self.memory_by_minute)} MB"
        )


def share(values: list[float], part: float) -> float:
    """The value that so large a part of all does not exceed."""
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def format_ms(values: list[float], part: float) -> str:
    """Return such a value in milliseconds as text."""
    return f"{share(values, part) * 1000:.0f} ms" if values else "none"


def serve() -> None:
    """The server's process: a session over a table of text, with its page; ends when its input does."""
    from device.session.commands.games import StartGame
    from tests.support.api_table import STARTED, Program, open_web_table
    from web.security.server import PageServer

    with tempfile.TemporaryDirectory() as folder, open_web_table(Path(folder)) as table:
        table.session.submit(StartGame(STARTED)).result(5)
        program = Program(table.app)
        program.pair(table.code)
        with PageServer(table.app, 0, HOST) as server:
            print(json.dumps({"port": server.port, "token": program.token, "seen": table.seen}), flush=True)
            sys.stdin.read()


@contextmanager
def server() -> Iterator[tuple[Popen[str], dict[str, str]]]:
    """A server in a process of its own, and what it says of itself."""
    command = [sys.executable, "-c", "from tests.system.load import serve; serve()"]
    with Popen(command, stdin=PIPE, stdout=PIPE, text=True, cwd=REPOSITORY) as process:
        assert process.stdout and process.stdin
        try:
            yield process, json.loads(process.stdout.readline())
        finally:
            process.stdin.close()
            process.wait(20)


async def measure(pid: int, told: dict[str, str], streams: int, rate: float, seconds: float) -> Measured:
    """Load the server of this process and port; what it was like."""
    port = int(told["port"])
    found = Measured(streams)
    came: list[dict[str, float]] = [{} for _ in range(streams)]
    opened = asyncio.Semaphore(0)
    phones = [asyncio.create_task(_phone(port, came[i], opened, found)) for i in range(streams)]
    for _ in range(streams):
        await asyncio.wait_for(opened.acquire(), 60)
    began, used = time.monotonic(), read_cpu_s(pid)
    asked = asyncio.create_task(_ask(port, rate, seconds, found))
    sent = await _play(pid, port, told, seconds, found)
    await asked
    await asyncio.sleep(1)
    found.deliveries = [times[seen] - at for times in came for seen, at in sent.items() if seen in times]
    found.lost += sum(seen not in times for times in came for seen in list(sent)[-1:])
    found.cpu, found.seconds = read_cpu_s(pid) - used, time.monotonic() - began
    found.threads = int(read_status(pid, "Threads"))
    found.memory = found.memory[0], read_status(pid, "VmRSS") / 1024
    for phone in phones:
        phone.cancel()
    await asyncio.gather(*phones, return_exceptions=True)
    return found


async def _phone(port: int, came: dict[str, float], opened: asyncio.Semaphore, found: Measured) -> None:
    """One phone: it notes when each moment of the game came."""
    reader, writer = await asyncio.open_connection(HOST, port, limit=2**20)
    try:
        writer.write(b"GET /live/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        is_open = False
        while line := await reader.readline():
            if line.startswith(b"data: {"):
                if seen := re.search(rb'"seen":"([0-9-]+)"', line):
                    came.setdefault(seen[1].decode(), time.monotonic())
                if not is_open:
                    is_open = True
                    opened.release()
        found.lost += 1  # the server ended it
    finally:
        writer.close()


async def _play(pid: int, port: int, told: dict[str, str], seconds: float, found: Measured) -> dict[str, float]:
    """A turn each second: passes, each taken back, so that the game never ends. When each moment was asked for."""
    sent: dict[str, float] = {}
    seen, end = told["seen"], time.monotonic() + seconds
    while (began := time.monotonic()) < end:
        command = "pass" if found.turns % 2 == 0 else "undo"
        _, seen = await send_command(port, told["token"], command, seen)
        sent[seen] = began
        found.turns += 1
        if found.turns == 5:
            found.memory = read_status(pid, "VmRSS") / 1024, 0.0
        if found.turns % 60 == 0:
            found.memory_by_minute.append(read_status(pid, "VmRSS") / 1024)
        await asyncio.sleep(max(0.0, began + 1 - time.monotonic()))
    return sent


async def send_command(port: int, token: str, command: str, seen: str) -> tuple[int, str]:
    """Send a command meant for the moment `seen`; return the status and the moment after the command."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    status, body = await send_request(port, "POST", f"/api/v1/commands/{command}", headers, json.dumps({"seen": seen}))
    return status, json.loads(body)["moment"]


async def _ask(port: int, rate: float, seconds: float, found: Measured) -> None:
    """So many requests a second, sent when they are due, whether or not those before have been answered."""
    paths = ("/", "/live/state", "/api/v1/state", "/big", "/static/page.css")
    began, tasks = time.monotonic(), []
    for number in range(int(rate * seconds)):
        await asyncio.sleep(max(0.0, began + number / rate - time.monotonic()))
        tasks.append(asyncio.create_task(_timed(port, paths[number % len(paths)], found)))
    await asyncio.gather(*tasks)


async def _timed(port: int, path: str, found: Measured) -> None:
    began = time.monotonic()
    status = 0
    with suppress(OSError, asyncio.IncompleteReadError, ValueError):
        status, _ = await asyncio.wait_for(send_request(port, "GET", path, {}, ""), 30)
    found.requests.append(time.monotonic() - began)
    found.failed += status != 200


async def send_request(
    port: int, method: str, path: str, headers: dict[str, str], body: str, device: str = HOST
) -> tuple[int, bytes]:
    """Send a request from the address `device`; return the status and the body of the response."""
    reader, writer = await asyncio.open_connection(HOST, port, local_addr=(device, 0))
    try:
        lines = [f"{method} {path} HTTP/1.1", f"Host: {HOST}", "Connection: close", f"Content-Length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join([*lines, "", body]).encode())
        head, _, answer = (await reader.read()).partition(b"\r\n\r\n")
        return int(head.split(b" ")[1]), answer
    finally:
        writer.close()


def read_status(pid: int, name: str) -> float:
    found = re.search(rf"^{name}:\s+(\d+)", Path(f"/proc/{pid}/status").read_text(), re.M)
    return float(found[1]) if found else 0.0


def read_cpu_s(pid: int) -> float:
    """Seconds of processor time, of all threads (proc(5): utime and stime)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def load(streams: int, rate: float, seconds: float) -> Measured:
    """Start a server, load it, end it."""
    with server() as (process, told):
        return asyncio.run(measure(process.pid, told, streams, rate, seconds))


if __name__ == "__main__":
    print(load(int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])))
