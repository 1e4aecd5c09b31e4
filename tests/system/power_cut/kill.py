"""`kill`: a process that plays on is killed at a random instant, and the next must find all that it confirmed."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.system.power_cut.played import TURNS, play_on

LONGEST_START_S = 1.0
LONGEST_PLAY_S = 0.7
WHILE_STARTING = 0.2
"""Share of the processes that are killed while they start; the others are killed while they play."""


@dataclass
class Kills:
    """Results of many kills."""

    runs: int = 0
    confirmed: int = 0
    unconfirmed_kept: int = 0
    games: int = 0
    ready_s: list[float] = field(default_factory=list)
    clock_s: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Run:
    """One life of the process: its messages, and when it began and was killed (seconds of `time.monotonic`)."""

    messages: list[dict[str, Any]]
    began: float
    killed: float
    status: int


def kill_often(folder: Path, runs: int, seed: int) -> Kills:
    """Continue the game and kill the program, `runs` times."""
    chance = random.Random(seed)
    found = Kills()
    before: Run | None = None
    for _ in range(runs):
        starting = chance.random() < WHILE_STARTING
        longest = LONGEST_START_S if starting else LONGEST_PLAY_S
        run = _one_life(folder, chance.uniform(0.0, longest), from_ready=not starting)
        found.runs += 1
        _compare(found, before, run)
        if any(message["game"] for message in run.messages) or before is None:
            before = run
        else:  # killed before it was ready: what the one before it confirmed is still to be found
            before = Run(before.messages, before.began, before.killed, run.status)
        if found.faults:
            break
    return found


def _one_life(folder: Path, seconds: float, *, from_ready: bool) -> Run:
    """Fork a process that plays on, kill it `seconds` after it began or was ready, and return its messages."""
    out, into = os.pipe()
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        os.close(out)

        def send_message(message: dict[str, Any]) -> None:
            os.write(into, json.dumps(message | {"at": time.monotonic()}).encode() + b"\n")

        try:
            play_on(folder, send_message, 10_000)
        except BaseException as error:  # a restart that needs a hand
            os.write(into, json.dumps({"fault": repr(error)}).encode() + b"\n")
        os._exit(1)
    os.close(into)
    received = b""
    while from_ready and b'"ready"' not in received and (more := os.read(out, 1 << 16)):
        received += more
    time.sleep(seconds)
    killed = time.monotonic()
    os.kill(child, signal.SIGKILL)
    with os.fdopen(out, "rb") as pipe:
        lines = (received + pipe.read()).split(b"\n")[:-1]  # a line that was cut off was not sent
    _, status = os.waitpid(child, 0)
    return Run([json.loads(line) for line in lines], began, killed, status)


def _compare(found: Kills, before: Run | None, run: Run) -> None:
    """Compare the game that this run found with the one that the run before had confirmed."""
    for message in run.messages:
        if "fault" in message:
            found.faults.append(f"a restart needs a hand: {message['fault']}")
            return
        if message["has_question"] or message["trouble"]:
            found.faults.append(f"a question or a fault: {message}")
        recorded = [(str(e.entry.kind), e.entry.player, e.entry.score) for e in TURNS][: len(message["turns"])]
        if [tuple(turn) for turn in message["turns"][: len(TURNS)]] != recorded:
            found.faults.append(f"not as recorded: {message['turns']}")
    ready = next((message for message in run.messages if message.get("ready")), None)
    if ready is None:
        return
    found.ready_s.append(ready["at"] - run.began)
    last = before.messages[-1] if before and before.messages else None
    found.confirmed += len(run.messages[-1]["turns"])
    found.games = max(found.games, ready["game"])
    if last is None or before is None or not last["game"]:
        return
    if (ready["game"], ready["events"]) < (last["game"], last["events"]):
        found.faults.append(
            f"lost: {last['game']}-{last['events']} was confirmed, {ready['game']}-{ready['events']} is there"
        )
    same = ready["game"] == last["game"]
    found.unconfirmed_kept += same and len(ready["turns"]) > len(last["turns"])
    if same and len(ready["turns"]) == len(last["turns"]) and last["running"] is not None:
        player = last["running"]
        then = last["used"][player] + before.killed - last["since"]
        found.clock_s.append(abs(ready["used"][player] - then))
