"""Power cuts in the middle of a game: the real session and store, killed again and again; nothing confirmed is lost.

    python -m tests.device.power_cut kill --runs 1000      SIGKILL at a random instant
    python -m tests.device.power_cut drop --cuts 2000      the disk forgets what was not synced (needs strace)
    python -m tests.device.power_cut whole --runs 20       SIGKILL of `tilekeeper run` itself

`kill`: each run is a process that goes on with the game it finds, without being asked anything, and plays it on with a
chess clock until it is killed. It says what it confirmed, that is what page and lights were told, through a pipe; the
next one must find all of it, with the totals of the record and the clock right to the second. Runs are forked from one
process that has imported everything; `whole` measures the start of the real program, with networks and page.

`drop`: a killed process loses nothing that it has written, a power cut does. So a game is played under strace, and for
cuts at every system call the files are put together as a disk may have them then: all that was synced, and of what
was written since a random part, in sectors of 512 bytes, none of it, or all. Each must open with every confirmed turn.
A file is taken to be on disk by its name once it or its folder was synced, which is what ext4 does.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from device.cameras import Frame
from device.demo import demo_games
from device.session import Refused, TableSession
from device.state import TableState
from device.store import GameStore
from engine.board import Board
from engine.events import GameStarted
from engine.gcg import replay
from engine.gcg.replay import Replayed
from engine.lexicon import open_lexicon
from engine.reading import BLANK, EMPTY, SIZE, BoardReading
from engine.rules import Rules
from engine.squares import SQUARES, square_name
from engine.turns import Kind
from vision.geometry import Floats, Image
from vision.reader import Milliseconds, PhotoReading

ROOT = Path(__file__).parents[2]
RECORD = demo_games()["three-of-us"]
SCRIPT: tuple[Replayed, ...] = tuple(replay(RECORD).events)
TURNS = [event for event in SCRIPT if event.entry.kind not in (Kind.ENDRACK, Kind.TIME)]
NAMES = tuple(player.name for player in RECORD.players)
LEFT = {e.entry.player: e.entry.text for e in SCRIPT if e.entry.kind is Kind.ENDRACK and e.entry.score < 0}
RULES = Rules(clock_seconds=25 * 60)
LONGEST_START_S = 1.0
LONGEST_PLAY_S = 0.7
WHILE_STARTING = 0.2
"""So many of the processes are killed while they start, the others while they play."""
CLOCK_S = 1.0
"""The clock may be wrong by so much after a restart."""


class GivenTable:
    """Camera and reader in one: sees the board that it was given without error, in a small grey picture."""

    live = False

    def __init__(self) -> None:
        self.board = Board()

    def still(self) -> Frame:
        return Frame(np.full((120, 160, 3), 128, np.uint8), time.monotonic())

    def preview(self) -> None: ...

    def close(self) -> None: ...

    def read(self, image: Image, tiles: Collection[str], corners: Floats | None = None) -> PhotoReading:  # noqa: ARG002
        faces = [EMPTY if (tile := self.board[square]) is None else tile.face for square in SQUARES]
        rows = ["".join(faces[at : at + SIZE]) for at in range(0, SIZE * SIZE, SIZE)]
        found = np.array([[20.0, 5.0], [140.0, 5.0], [140.0, 115.0], [20.0, 115.0]])
        return PhotoReading(BoardReading.certain(rows), found, (), Milliseconds(1, 1, 2))


# The process that is killed


def play_on(folder: Path, told: Callable[[dict[str, Any]], None], turns: int) -> None:
    """Go on with the game in `folder`, or begin one, for so many turns; `told` gets what page and lights are told."""
    words = open_lexicon(None, "en")
    assert words is not None
    table = GivenTable()
    with GameStore(folder / "games.db") as store, TableSession(table, table, store, words) as session:
        session.listen(lambda state: told(_said(state)))
        try:
            state = session.resume().result()
        except Refused:
            state = session.start_game(GameStarted(NAMES, rules=RULES, lexicon=words.name)).result()
        told(_said(state) | {"ready": True})
        for _ in range(turns):
            state = _next_turn(session, table)


def _said(state: TableState) -> dict[str, Any]:
    clock = state.clock
    return {
        "game": state.game,
        "events": state.events,
        "phase": str(state.phase),
        "turns": [(turn.kind, turn.player, turn.score) for turn in state.turns],
        "asked": bool(state.question),
        "trouble": [notice.text for notice in state.notices if notice.trouble != "none"],
        "used": clock.used if clock else (),
        "running": clock.running if clock else None,
        "since": clock.since if clock else 0.0,
    }


def _next_turn(session: TableSession, table: GivenTable) -> TableState:
    done = len(session.state.turns)
    if done >= len(TURNS):
        session.end_game().result()
        for player in session.state.racks_wanted:
            session.tell_rack(player, LEFT.get(player, "")).result()
        table.board = Board()
        return session.start_game(GameStarted(NAMES, rules=RULES, lexicon=session.state.lexicon)).result()
    if done and (play := TURNS[done - 1].play):
        shown = dict(session.state.turns[-1].tiles)
        for square, tile in play.tiles:
            if shown[square_name(square)] == BLANK:
                session.name_blank(square_name(square), tile.letter).result()
    event = TURNS[done]
    board = _board_before(done)
    match event.entry.kind:
        case Kind.PLAY:
            assert event.play is not None
            table.board = event.play.on(board)
            return session.end_turn().result()
        case Kind.WITHDRAWN:
            return session.challenge().result()
        case Kind.EXCHANGE:
            return session.exchange(len(event.entry.text)).result()
        case _:
            return session.pass_turn().result()


def _board_before(done: int) -> Board:
    """What lies on the board when so many turns of the record have been played."""
    board = Board()
    for event, after in zip(TURNS[:done], [*TURNS[1:done], None], strict=False):
        if event.play is not None and (after is None or after.entry.kind is not Kind.WITHDRAWN):
            board = event.play.on(board)
    if done and TURNS[done - 1].play is not None and done < len(TURNS) and TURNS[done].entry.kind is Kind.WITHDRAWN:
        return board  # the phony still lies there
    return board


# kill


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


# drop


@dataclass
class Disk:
    """A file as a disk may have it: what was synced, and what was written since, in order."""

    synced: bytearray = field(default_factory=bytearray)
    named: bool = False
    waiting: list[tuple[int, bytes | None]] = field(default_factory=list)
    """Where and what was written; None: cut off there."""

    def sync(self) -> None:
        for at, data in self.waiting:
            _put(self.synced, at, data)
        self.waiting.clear()
        self.named = True

    def after_cut(self, chance: random.Random, share: float) -> bytes | None:
        """The file after the power went; `share` of the sectors written since the last sync came through."""
        if not self.named and share < 1:
            return None
        content = bytearray(self.synced)
        for at, data in self.waiting:
            if data is None:
                if chance.random() < share:
                    _put(content, at, None)
                continue
            for start in range(0, len(data), 512):
                if chance.random() < share:
                    _put(content, at + start, data[start : start + 512])
        return bytes(content)


def _put(content: bytearray, at: int, data: bytes | None) -> None:
    if data is None:
        del content[at:]
        return
    if len(content) < at + len(data):
        content.extend(bytes(at + len(data) - len(content)))
    content[at : at + len(data)] = data


Call = tuple[str, str, int, bytes | None]
"""A system call: its name, the file's name, the offset, the data."""
_CALL = re.compile(
    r"(pwrite64|write|fsync|fdatasync|ftruncate|unlink|unlinkat|rename|openat)\((.*)\)\s+= (-?\d+)", re.DOTALL
)
_FD = re.compile(r"\d+<([^>]*)>")
_TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')


def traced_game(folder: Path, turns: int) -> list[Call]:
    """Play a game under strace; the calls that touch its files, in order."""
    trace = folder.with_name("trace.txt")
    files = [folder, *(folder / f"games.db{end}" for end in ("", "-wal", "-journal")), folder / "told"]
    paths = [word for file in files for word in ("-P", str(file))]
    calls = "trace=openat,pwrite64,write,fsync,fdatasync,ftruncate,unlink,unlinkat,rename"
    subprocess.run(
        ["strace", "-f", "-y", "-xx", "-s", "10000000", "-e", calls, *paths, "-o", str(trace),
         sys.executable, "-m", "tests.device.power_cut", "play", str(folder), "--turns", str(turns)],
        check=True, cwd=ROOT, timeout=600,
    )  # fmt: skip
    return list(_calls(trace))


def _calls(trace: Path) -> Iterator[Call]:
    """The calls that strace wrote down; one that another thread's interrupted counts where it ended."""
    begun: dict[str, str] = {}
    for line in trace.read_text().splitlines():
        process, text = line.split(maxsplit=1)
        if text.endswith("<unfinished ...>"):
            begun[process] = text.removesuffix("<unfinished ...>")
            continue
        if resumed := re.match(r"<\.\.\. \w+ resumed>(.*)", text):
            text = begun.pop(process) + resumed[1]
        call = _CALL.match(text)
        if call is None or int(call[3]) < 0:
            continue
        name, told = call[1], call[2]
        texts = [bytes.fromhex(found.replace("\\x", "")) for found in _TEXT.findall(told)]
        descriptor = _FD.match(told)
        path = Path(bytes.fromhex(descriptor[1].replace("\\x", "")).decode() if descriptor and "\\x" in descriptor[1]
                    else descriptor[1] if descriptor else texts[0].decode()).name  # fmt: skip
        if name == "pwrite64":
            yield "write", path, int(told.rsplit(",", 1)[1]), texts[-1]
        elif name == "write":
            yield "append", path, 0, texts[-1]
        elif name == "ftruncate":
            yield "write", path, int(told.rsplit(",", 1)[1]), None
        elif name in ("fsync", "fdatasync"):
            yield "sync", path, 0, None
        elif name.startswith("unlink"):
            yield "unlink", Path(texts[-1].decode()).name, 0, None


@dataclass
class Drops:
    """What came of many cuts that forget."""

    calls: int = 0
    cuts: int = 0
    confirmed: int = 0
    kept_more: int = 0
    faults: list[str] = field(default_factory=list)


def drop_often(calls: list[Call], place: Path, cuts: int, seed: int) -> Drops:
    """Cut the power after calls spread over the whole game, and open what the disk then has."""
    chance = random.Random(seed)
    touching = [at for at, (_, name, _, _) in enumerate(calls) if name.startswith("games.db")]
    chosen = {at: [0.0, 1.0, 0.5, chance.random()] for at in touching}
    while sum(map(len, chosen.values())) > cuts:
        at = chance.choice(sorted(chosen))
        chosen[at].pop(chance.randrange(len(chosen[at])))
        if not chosen[at]:
            del chosen[at]
    found = Drops(calls=len(calls))
    disks: dict[str, Disk] = {}
    told = b""
    for at, (what, name, offset, data) in enumerate(calls):
        disk = disks.setdefault(name, Disk())
        if what == "append":
            told += data or b""
        elif what == "write":
            disk.waiting.append((offset, data))
        elif what == "unlink":
            del disks[name]
        elif name in disks and (disk.synced or disk.waiting):
            disk.sync()
        for share in chosen.get(at, ()):
            _cut(found, disks, told, place, chance, share)
    return found


def _cut(found: Drops, disks: dict[str, Disk], told: bytes, place: Path, chance: random.Random, share: float) -> None:
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    for name, disk in disks.items():
        if name.startswith("games.db") and (content := disk.after_cut(chance, share)) is not None:
            (place / name).write_bytes(content)
    confirmed = [json.loads(line) for line in told.split(b"\n")[:-1]]
    last = max(((one["game"], one["events"]) for one in confirmed), default=(0, 0))
    found.cuts += 1
    found.confirmed += last[1]
    try:
        with GameStore(place / "games.db") as store:
            there = {game.id: store.events(game.id) for game in store.games()}
    except Exception as error:  # whatever it is, a person would be needed
        found.faults.append(f"after {len(confirmed)} messages the store does not open: {error!r}")
        return
    if last[0] and len(there.get(last[0], ())) < last[1]:
        found.faults.append(f"{last[0]}-{last[1]} was confirmed, {len(there.get(last[0], ()))} events are there")
    found.kept_more += bool(last[0]) and len(there.get(last[0], ())) > last[1]
    for events in there.values():
        if [event.number for event in events] != list(range(len(events))):
            found.faults.append("a log with a gap")


# whole


def whole_program(folder: Path, runs: int, seed: int) -> list[float]:
    """Start `tilekeeper run`, kill it, start it again; the seconds from each start until its page is up."""
    chance = random.Random(seed)
    pictures = folder / "pictures"
    pictures.mkdir()
    seconds = []
    command = [sys.executable, "-c", "from device.cli import main; raise SystemExit(main())", "run"]
    command += ["--camera", f"folder:{pictures}", "--port", "0", "--host", "127.0.0.1", "--data", str(folder)]
    for _ in range(runs):
        began = time.monotonic()
        program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT)
        assert program.stdout is not None
        said = []
        for line in program.stdout:
            said.append(line)
            if line.startswith("The page is up"):
                seconds.append(time.monotonic() - began)
                break
        else:
            raise SystemExit(f"it did not start: {''.join(said)}")
        time.sleep(chance.uniform(0, 0.5))
        program.kill()
        program.wait()
        program.stdout.close()
    return seconds


def _report(name: str, figures: dict[str, object], faults: list[str]) -> int:
    print(f"{name}: " + ", ".join(f"{what} {value}" for what, value in figures.items()))
    for fault in faults[:10]:
        print(f"  FAULT {fault}")
    return 1 if faults else 0


def _spread(values: list[float]) -> str:
    return f"median {statistics.median(values):.3f} s, longest {max(values):.3f} s" if values else "none"


def main(words: list[str]) -> int:
    """Run one of the three, print what came of it; 1 where anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["kill", "drop", "whole", "play"])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--cuts", type=int, default=2000)
    parser.add_argument("--turns", type=int, default=len(TURNS) + 8)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(words)
    if args.what == "play":
        with (args.folder / "told").open("ab", buffering=0) as file:
            play_on(args.folder, lambda said: file.write(json.dumps(said).encode() + b"\n"), args.turns)
        return 0
    with tempfile.TemporaryDirectory(dir=args.folder) as made:
        folder = Path(made)
        if args.what == "kill":
            kills = kill_often(folder, args.runs, args.seed)
            figures = {"runs": kills.runs, "turns confirmed": kills.confirmed, "games": kills.games,
                       "turns kept that nobody had been told of": kills.unconfirmed_kept,
                       "restart to ready": _spread(kills.ready_s), "clock off by": _spread(kills.clock_s)}  # fmt: skip
            late = [f"{len([s for s in kills.clock_s if s > CLOCK_S])} clocks were wrong by more than a second"]
            late = late if any(s > CLOCK_S for s in kills.clock_s) else []
            return _report("kill", figures, kills.faults + late)
        if args.what == "whole":
            ready = whole_program(folder, args.runs, args.seed)
            return _report("whole", {"starts": len(ready), "ready": _spread(ready)}, [])
        (folder / "data").mkdir()
        calls = traced_game(folder / "data", args.turns)
        drops = drop_often(calls, folder / "cut", args.cuts, args.seed)
        return _report("drop", {"system calls": drops.calls, "cuts": drops.cuts,
                                "with more than was confirmed": drops.kept_more}, drops.faults)  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
