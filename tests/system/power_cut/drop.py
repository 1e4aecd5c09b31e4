"""`drop`: the disk forgets what was not synced; what it then has must open with every confirmed turn."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from device.storage.store import GameStore
from engine.ledger_data import UNREADABLE
from tests.system.power_cut import ROOT
from tests.system.power_cut.played import MESSAGES_FILE


@dataclass
class Disk:
    """A file as a disk may have it: what was synced, and what was written since, in order."""

    synced: bytearray = field(default_factory=bytearray)
    named: bool = False
    waiting: list[tuple[int, bytes | None]] = field(default_factory=list)
    """Offset and data of a write; None: the file was cut off there."""

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
    files = [folder, *(folder / f"games.db{end}" for end in ("", "-wal", "-journal")), folder / MESSAGES_FILE]
    paths = [word for file in files for word in ("-P", str(file))]
    calls = "trace=openat,pwrite64,write,fsync,fdatasync,ftruncate,unlink,unlinkat,rename"
    subprocess.run(
        ["strace", "-f", "-y", "-xx", "-s", "10000000", "-e", calls, *paths, "-o", str(trace),
         sys.executable, "-m", "tests.system.power_cut", "play", str(folder), "--turns", str(turns)],
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
        name, arguments = call[1], call[2]
        texts = [bytes.fromhex(found.replace("\\x", "")) for found in _TEXT.findall(arguments)]
        descriptor = _FD.match(arguments)
        path = Path(bytes.fromhex(descriptor[1].replace("\\x", "")).decode() if descriptor and "\\x" in descriptor[1]
                    else descriptor[1] if descriptor else texts[0].decode()).name  # fmt: skip
        if name == "pwrite64":
            yield "write", path, int(arguments.rsplit(",", 1)[1]), texts[-1]
        elif name == "write":
            yield "append", path, 0, texts[-1]
        elif name == "ftruncate":
            yield "write", path, int(arguments.rsplit(",", 1)[1]), None
        elif name in ("fsync", "fdatasync"):
            yield "sync", path, 0, None
        elif name.startswith("unlink"):
            yield "unlink", Path(texts[-1].decode()).name, 0, None


@dataclass
class Drops:
    """Results of many power cuts that lose unsynced writes."""

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
    messages = b""
    for at, (what, name, offset, data) in enumerate(calls):
        disk = disks.setdefault(name, Disk())
        if what == "append":
            messages += data or b""
        elif what == "write":
            disk.waiting.append((offset, data))
        elif what == "unlink":
            del disks[name]
        elif name in disks and (disk.synced or disk.waiting):
            disk.sync()
        for share in chosen.get(at, ()):
            _cut(found, disks, messages, place, chance, share)
    return found


def _cut(
    found: Drops, disks: dict[str, Disk], messages: bytes, place: Path, chance: random.Random, share: float
) -> None:
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    for name, disk in disks.items():
        if name.startswith("games.db") and (content := disk.after_cut(chance, share)) is not None:
            (place / name).write_bytes(content)
    confirmed = [json.loads(line) for line in messages.split(b"\n")[:-1]]
    last = max(((one["game"], one["events"]) for one in confirmed), default=(0, 0))
    found.cuts += 1
    found.confirmed += last[1]
    try:
        with GameStore(place / "games.db") as store:
            there = {game.id: store.read_events(game.id) for game in store.list_games()}
    except Exception as error:  # whatever it is, a person would be needed
        found.faults.append(f"after {len(confirmed)} messages the store does not open: {error!r}")
        return
    if last[0] and len(there.get(last[0], ())) < last[1]:
        found.faults.append(f"{last[0]}-{last[1]} was confirmed, {len(there.get(last[0], ()))} events are there")
    found.kept_more += bool(last[0]) and len(there.get(last[0], ())) > last[1]
    for events in there.values():
        if any(event.body == UNREADABLE for event in events):
            found.faults.append("a log with a gap")
