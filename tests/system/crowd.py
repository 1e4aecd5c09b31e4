"""A crowd on the page: many clients of many devices ask for streams, beside connections that say nothing.

`python -m tests.system.crowd 60` opens 600 idle connections and 300 clients from 60 addresses of this machine's
loopback for 60 seconds. Clients that get no stream poll, as the page's script does. Meanwhile a paired program plays.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from subprocess import PIPE, Popen

from tests.system.load import (
    HOST,
    REPOSITORY,
    format_ms,
    read_cpu_s,
    read_status,
    send_command,
    send_request,
    server,
    share,
)

DEVICES = [f"127.0.1.{number}" for number in range(1, 61)]
CLIENTS_PER_DEVICE = 5
IDLE_PER_DEVICE = 10
POLL_INTERVAL_S = 2.0
COMMANDS_PER_S = 2.0
SETTLING_S = 4.0
"""Seconds in which the crowd opens its connections."""


@dataclass
class Crowd:
    """Result: how many clients had a stream, how many answers they had, and how long commands and polls took."""

    streams: int = 0
    pollers: int = 0
    refused: int = 0
    """Clients that were refused a connection."""
    idle: int = 0
    commands: list[float] = field(default_factory=list)
    polls: list[float] = field(default_factory=list)
    failed: int = 0
    memory: float = 0.0
    cpu: float = 0.0
    """Seconds of one core that the server used for each second."""

    def __str__(self) -> str:
        return (
            f"{self.streams} clients with a stream, {self.pollers} that poll, {self.refused} refused, "
            f"{self.idle} idle connections opened\n"
            f"{len(self.commands)} commands, {self.failed} failed: p50 {format_ms(self.commands, 0.5)}, "
            f"p95 {format_ms(self.commands, 0.95)}, most {format_ms(self.commands, 1)}\n"
            f"{len(self.polls)} polls: p95 {format_ms(self.polls, 0.95)}; memory of the server {self.memory:.1f} MB, "
            f"{self.cpu:.2f} cores"
        )

    @property
    def command_p95_s(self) -> float:
        """The time that 95 % of the commands did not exceed, in seconds."""
        return share(self.commands, 0.95)


def gather_crowd(port: int) -> None:
    """Open all connections until the input ends, then print the result. A process of its own, to measure apart."""
    print(json.dumps(asdict(asyncio.run(_gather_until_input_ends(port)))), flush=True)


async def _gather_until_input_ends(port: int) -> Crowd:
    crowd, chance = Crowd(), random.Random(1)
    idle = [_keep_idle(port, device, crowd) for device in DEVICES for _ in range(IDLE_PER_DEVICE)]
    clients = [
        _follow(port, device, crowd, chance.uniform(0, POLL_INTERVAL_S))
        for device in DEVICES
        for _ in range(CLIENTS_PER_DEVICE)
    ]
    tasks = [asyncio.create_task(task) for task in (*idle, *clients)]
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return crowd


def load_by_crowd(seconds: float) -> Crowd:
    """Start a server, let a crowd use it while a program plays, and return the result."""
    with server() as (process, answer):
        code = f"from tests.system.crowd import gather_crowd; gather_crowd({answer['port']})"
        with Popen([sys.executable, "-c", code], stdin=PIPE, stdout=PIPE, text=True, cwd=REPOSITORY) as others:
            assert others.stdin and others.stdout
            time.sleep(SETTLING_S)
            used = read_cpu_s(process.pid)
            commands, failed = asyncio.run(_play(int(answer["port"]), answer, seconds))
            cpu, memory = read_cpu_s(process.pid) - used, read_status(process.pid, "VmRSS") / 1024
            others.stdin.close()
            crowd = Crowd(**json.loads(others.stdout.readline()))
    return replace(crowd, commands=commands, failed=crowd.failed + failed, cpu=cpu / seconds, memory=memory)


async def _keep_idle(port: int, device: str, crowd: Crowd) -> None:
    """Keep a connection open that sends nothing; open another one when the server closes it."""
    while True:
        with suppress(OSError):
            reader, writer = await asyncio.open_connection(HOST, port, local_addr=(device, 0))
            crowd.idle += 1
            try:
                await reader.read()
            finally:
                writer.close()
        await asyncio.sleep(0.2)


async def _follow(port: int, device: str, crowd: Crowd, delay: float) -> None:
    """Follow the game by a stream, or by polling if there is none."""
    await asyncio.sleep(delay)
    try:
        reader, writer = await asyncio.open_connection(HOST, port, local_addr=(device, 0), limit=2**20)
        writer.write(f"GET /live/stream HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
        try:
            if b" 200 " in await reader.readline():
                crowd.streams += 1
                while await reader.readline():
                    pass
        finally:
            writer.close()
    except OSError:
        crowd.refused += 1
    crowd.pollers += 1
    since = ""
    while True:
        began = time.monotonic()
        with suppress(OSError, ValueError, IndexError):
            status, body = await send_request(port, "GET", f"/live/state?since={since}", {}, "", device)
            crowd.polls.append(time.monotonic() - began)
            crowd.failed += status not in (200, 204)
            since = json.loads(body)["id"] if status == 200 else since
        await asyncio.sleep(POLL_INTERVAL_S)


async def _play(port: int, answer: dict[str, str], seconds: float) -> tuple[list[float], int]:
    """Pass and undo by turns; return the seconds that each command took, and the number of those that failed."""
    seen, end = answer["seen"], time.monotonic() + seconds
    times: list[float] = []
    failed = 0
    while (began := time.monotonic()) < end:
        status, seen = await send_command(port, answer["token"], "undo" if len(times) % 2 else "pass", seen)
        times.append(time.monotonic() - began)
        failed += status != 200
        await asyncio.sleep(max(0.0, began + 1 / COMMANDS_PER_S - time.monotonic()))
    return times, failed


if __name__ == "__main__":
    print(load_by_crowd(float(sys.argv[1])))
