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
"""So many of the processes are killed while they start, the others while they play."""


@dataclass
class Kills:
    """What came of many kills."""

    runs: int = 0
    confirmed: int = 0
    unconfirmed_kept: int = 0
    games: int = 0
    ready_s: list[float] = field(default_factory=list)
    clock_s: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Run:
    """One life of the process: what it told, and when it began and was killed (seconds of `time.monotonic`)."""

    told: list[dict[str, Any]]
    began: float
    killed: float
    status: int


def kill_often(folder: Path, runs: int, seed: int) -> Kills:
    """Play on and be killed, so many times."""
    chance = random.Random(seed)
    found = Kills()
    before: Run | None = None
    for _ in range(runs):
        starting = chance.random() < WHILE_STARTING
        longest = LONGEST_START_S if starting else LONGEST_PLAY_S
        run = _one_life(folder, chance.uniform(0.0, longest), from_ready=not starting)
        found.runs += 1
        _compare(found, before, run)
        if any(told["game"] for told in run.told) or before is None:
            before = run
        else:  # killed before it was ready: what the one before it confirmed is still to be found
            before = Run(before.told, before.began, before.killed, run.status)
        if found.faults:
            break
    return found


def _one_life(folder: Path, seconds: float, *, from_ready: bool) -> Run:
    """Fork a process that plays on, kill it `seconds` after it began or was ready, and give what it told until then."""
    out, into = os.pipe()
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        os.close(out)

        def told(said: dict[str, Any]) -> None:
            os.write(into, json.dumps(said | {"at": time.monotonic()}).encode() + b"\n")

        try:
            play_on(folder, told, 10_000)
        except BaseException as error:  # a restart that needs a hand
            os.write(into, json.dumps({"fault": repr(error)}).encode() + b"\n")
        os._exit(1)
    os.close(into)
    heard = b""
    while from_ready and b'"ready"' not in heard and (more := os.read(out, 1 << 16)):
        heard += more
    time.sleep(seconds)
    killed = time.monotonic()
    os.kill(child, signal.SIGKILL)
    with os.fdopen(out, "rb") as pipe:
        lines = (heard + pipe.read()).split(b"\n")[:-1]  # a line that was cut off was not told
    _, status = os.waitpid(child, 0)
    return Run([json.loads(line) for line in lines], began, killed, status)


def _compare(found: Kills, before: Run | None, run: Run) -> None:
    """What this run found against what the one before it had confirmed."""
    for told in run.told:
        if "fault" in told:
            found.faults.append(f"a restart needs a hand: {told['fault']}")
            return
        if told["asked"] or told["trouble"]:
            found.faults.append(f"asked or in trouble: {told}")
        recorded = [(str(e.entry.kind), e.entry.player, e.entry.score) for e in TURNS][: len(told["turns"])]
        if [tuple(turn) for turn in told["turns"][: len(TURNS)]] != recorded:
            found.faults.append(f"not as recorded: {told['turns']}")
    ready = next((told for told in run.told if told.get("ready")), None)
    if ready is None:
        return
    found.ready_s.append(ready["at"] - run.began)
    last = before.told[-1] if before and before.told else None
    found.confirmed += len(run.told[-1]["turns"])
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
