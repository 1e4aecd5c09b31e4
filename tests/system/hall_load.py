"""Load of a hall with many tables: tables in a few processes, a real broker, viewers of the page.

    python -m tests.system.hall_load 200 20 300      # tables, viewers, seconds; needs Mosquitto

Prints the time from a table's event to the change on the page (median, 95th percentile, longest), and the processor
time and memory of `tilekeeper hall`. The last table is the whole program `tilekeeper run`; each of the others is the
real publisher on a game that is played from a script. Each has one turn a minute.
"""

from __future__ import annotations

import http.client
import json
import multiprocessing
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from device.demo.demo_hall import ScriptedTable, open_broker
from device.hall.publishing.publisher import HallPublisher
from device.settings import HallSettings
from device.storage.store import GameStore
from tests.support.ports import find_free_port
from tests.system.complete_table import CompleteTable
from tests.system.load import read_cpu_s

PROCESSES = 4
TURN_S = 60.0
WARM_UP_S = 15.0
_CARD_TABLE = re.compile(r"<h2>(T\d+)")
_PROGRAM = "import sys; from device.cli import main; sys.exit(main())"


@dataclass(frozen=True)
class Report:
    """Milliseconds from event to page over all viewers, and what the hall needed."""

    events: int
    delays_ms: list[float]
    complete_delays_ms: list[float]
    missing: int
    cores: float
    peak_mb: float
    load: float
    """Load average of the machine over the last minutes, all programs together."""

    def __str__(self) -> str:
        return (
            f"{self.events} events, {len(self.delays_ms)} deliveries, {self.missing} missing; from event to page "
            f"{format_delays(self.delays_ms)}; of the complete table {format_delays(self.complete_delays_ms)}; "
            f"hall: {100 * self.cores:.0f} % of a core, {self.peak_mb:.0f} MB; "
            f"load of the machine: {self.load:.1f} on {os.cpu_count()} cores"
        )


def format_delays(delays_ms: list[float]) -> str:
    """Return median, 95th percentile and longest of delays as text."""
    if not delays_ms:
        return "none"
    ordered = sorted(delays_ms)
    median, most = (ordered[min(len(ordered) - 1, int(share * len(ordered)))] for share in (0.5, 0.95))
    return f"{median:.0f} ms (median), {most:.0f} ms (95 %), {ordered[-1]:.0f} ms (longest)"


def run_tables(broker: HallSettings, numbers: range, seconds: float, turn_s: float, log: Path) -> None:
    """Play at some tables in this process, and write table and time of each event to `log`."""
    rng = random.Random(numbers.start)
    with ExitStack() as stack, log.open("w") as lines:
        tables = []
        for number in numbers:
            table = ScriptedTable(stack.enter_context(GameStore(":memory:")), number)
            table.begin_game(rng.randrange(10))
            settings = HallSettings(broker.host, broker.port, table=f"T{number}")
            stack.enter_context(HallPublisher(table, table.store, settings, print))
            tables.append([time.monotonic() + WARM_UP_S + rng.uniform(0, turn_s), number, table])
        end = time.monotonic() + WARM_UP_S + seconds
        while time.monotonic() < end:
            for entry in tables:
                due, number, table = entry
                if due <= time.monotonic():
                    lines.write(f"T{number} {time.time()}\n")
                    if not table.play_next():
                        table.begin_game()
                    entry[0] = due + turn_s
            time.sleep(0.01)
        time.sleep(2)


def watch(port: int, seen: dict[str, list[float]], ended: threading.Event) -> None:
    """Follow the page as one viewer, and note when the card of each table comes."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", "/live/stream")
    answer = connection.getresponse()
    while not ended.is_set():
        line = answer.readline()
        if line.startswith(b"data: {"):
            now = time.time()
            for name, html in json.loads(line[6:])["parts"].items():
                if name.startswith("table"):  # one card, or all of them after a new table
                    for table in _CARD_TABLE.findall(html):
                        seen[table].append(now)
    connection.close()


def measure(tables: int, viewers: int, seconds: float, turn_s: float = TURN_S) -> Report:
    """Run broker, hall, tables and viewers, and return what was measured."""
    with open_broker() as broker, tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        port = find_free_port()
        command = [sys.executable, "-c", _PROGRAM, "hall", "--broker", broker.host, "--broker-port", str(broker.port)]
        command += ["--data", folder, "--port", str(port), "--host", "127.0.0.1"]
        hall = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        stack.callback(hall.wait)
        stack.callback(hall.terminate)
        wait_until_open(port)  # before the tables take ports of their own
        complete = stack.enter_context(CompleteTable(broker, f"T{tables}", Path(folder) / "complete"))
        share = -(-(tables - 1) // PROCESSES)
        players = []
        for i in range(PROCESSES):
            numbers, log = range(1 + i * share, 1 + min(tables - 1, (i + 1) * share)), Path(folder) / f"{i}.log"
            arguments = (broker, numbers, seconds, turn_s, log)
            players.append(multiprocessing.get_context("spawn").Process(target=run_tables, args=arguments))
            players[-1].start()
        time.sleep(WARM_UP_S / 2)
        ended = threading.Event()
        seen = [defaultdict[str, list[float]](list) for _ in range(viewers)]
        threads = [threading.Thread(target=watch, args=(port, one, ended), daemon=True) for one in seen]
        for thread in threads:
            thread.start()
        time.sleep(WARM_UP_S / 2)
        before, begun, since = read_cpu_s(hall.pid), time.monotonic(), time.time()
        complete.play(seconds, turn_s)
        for player in players:
            player.join()
        cores = (read_cpu_s(hall.pid) - before) / (time.monotonic() - begun)
        peak = read_peak_mb(hall.pid)
        ended.set()
        texts = [(Path(folder) / f"{i}.log").read_text() for i in range(PROCESSES)]
        events = [(name, float(at)) for text in texts for name, at in map(str.split, text.splitlines())]
        events += [(complete.name, at) for at in complete.read_event_times() if at > since]
    return make_report(events, complete.name, seen, (cores, peak))


def make_report(
    events: list[tuple[str, float]],
    complete: str,
    seen: list[defaultdict[str, list[float]]],
    needed: tuple[float, float],
) -> Report:
    """Return the delay of the first card of its table after each event, for each viewer.

    `complete` is the name of the complete table, `needed` the cores and the memory in MB of the hall.
    """
    delays: dict[bool, list[float]] = {True: [], False: []}
    missing = 0
    for name, at in events:
        for viewer in seen:
            arrived = next((when for when in viewer[name] if when >= at), None)
            if arrived is None:
                missing += 1
            else:
                delays[name == complete].append(1000 * (arrived - at))
    both = delays[True] + delays[False]
    return Report(len(events), both, delays[True], missing, *needed, os.getloadavg()[1])


def wait_until_open(port: int) -> None:
    """Wait until the page is served."""
    for _ in range(600):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise TimeoutError("the hall does not start")


def read_peak_mb(pid: int) -> float:
    """Return the largest memory that a process has used, in MB."""
    match = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(match[1]) / 1000 if match else 0.0


if __name__ == "__main__":
    print(measure(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])))
