"""Flip bits in stores, files of a hall and cached word lists, and see what the program makes of them.

    python -m tests.system.flip_bits stores --count 2000
    python -m tests.system.flip_bits halls --count 500
    python -m tests.system.flip_bits programs --count 50
    python -m tests.system.flip_bits lexicons --count 500

A store with 1 to 4 flipped bits has to open within 5 seconds, with a new game possible, and without a total that
changed silently. The same goes for the file of a hall, also for a torn one. A cached word list that is torn or has
flipped bits must not crash the program or answer wrongly.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from device.hall.messages import make_table_log
from device.hall.receiving.event import decide
from device.hall.receiving.pairings import import_pairings
from device.hall.receiving.receiver import HallReceiver
from device.settings import HallSettings
from device.storage.archive import make_ledger
from device.storage.game_log import UNREADABLE_GAME_ERRORS, GameLog, read_ledger, write_ledger
from device.storage.lexicons import read_lexicon
from device.storage.recovery import open_store
from device.storage.store import EventBody, GameStore, StoredEvent
from engine.events import GameStarted, to_json
from engine.gcg import build_game, parse_gcg
from engine.ledger_data import UNREADABLE
from tests.system.load import read_cpu_s

ROOT = Path(__file__).parents[2]
GCG_FILES = sorted((ROOT / "device" / "data" / "games").glob("*.gcg"))
MAX_OPEN_S = 5.0
"""Processor time, which does not depend on what else the machine does."""
WORDS = 3000
STARTED = to_json(GameStarted(("A", "B")))

Totals = dict[tuple[str, ...], tuple[int, tuple[int, ...]]]
"""By the players: number of events and totals of a game."""


def make_store(folder: Path) -> None:
    """Write a store of eight games, the newest unfinished; the running clock is in the write-ahead log only."""
    closed = folder / "closed"
    closed.mkdir()
    with GameStore(closed / "games.db") as store:
        for repeat in range(2):
            for path in GCG_FILES:
                game = build_game(parse_gcg(path.read_bytes()))
                bodies = write_ledger(make_ledger(game))
                bodies[0] = {**bodies[0], "players": [f"{name} {repeat} {path.stem}" for name in game.players]}
                store.add_game(
                    1e9, [StoredEvent(n, 1e9 + n, body) for n, body in enumerate(bodies)], (), imported=False
                )
    with GameStore(closed / "games.db") as store:
        log = GameLog.load_newest(store)
        assert log is not None
        for _ in range(3):
            log.append(log.ledger.undo())
    with GameStore(closed / "games.db") as store:
        with closing(sqlite3.connect(store.path, isolation_level=None)) as reader:
            reader.execute("BEGIN")  # the log is not emptied while another program reads
            reader.execute("SELECT * FROM note").fetchall()
            store.save_note(log.number, "clock", "12 minutes")
        for file in closed.glob("games.db*"):  # the program is killed now
            shutil.copy(file, folder)


def read_totals(store: GameStore) -> tuple[Totals, set[tuple[str, ...]]]:
    """Return the totals of all games, and which of them are reported as damaged."""
    totals: Totals = {}
    damaged = set()
    for stored in store.list_games():
        events = store.read_events(stored.id)
        if stored.damage:
            damaged.add(stored.players)
        try:
            totals[stored.players] = len(events), read_ledger(event.body for event in events).game.totals
        except UNREADABLE_GAME_ERRORS:
            totals[stored.players] = len(events), ()
    return totals, damaged


def choose_file(path: Path, chance: random.Random) -> Path:
    """Return the file of a store or, in one case of three, its write-ahead log if this is not empty."""
    log = path.with_name(f"{path.name}-wal")
    return chance.choice((path, path, log if log.exists() and log.stat().st_size else path))


def flip_bits(path: Path, chance: random.Random) -> None:
    """Flip 1 to 4 bits of a file."""
    data = bytearray(path.read_bytes())
    for _ in range(chance.randint(1, 4)):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def try_store(template: Path, expected: Totals, seed: int) -> str:
    """Flip bits in a copy of the store, open it and return the outcome; outcomes with `!` are failures."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in template.glob("games.db*"):
            shutil.copy(file, folder)
        flip_bits(choose_file(folder / "games.db", chance), chance)
        begun = time.process_time()
        try:
            store, problem = open_store(folder / "games.db")
        except Exception as error:
            return f"! does not open: {error!r:.60}"
        with store:
            totals, damaged = read_totals(store)
            if time.process_time() - begun > MAX_OPEN_S:
                return "! slow"
            changed = [who for who, total in totals.items() if expected.get(who) != total and who not in damaged]
            lost = expected.keys() - totals.keys()
            if (changed or lost) and not problem:
                return f"! silent: {len(changed)} changed, {len(lost)} lost"
            if changed:
                return f"! changed: {totals[changed[0]]}"
            number = store.begin_game(STARTED)
            store.append_events(number, [dict(UNREADABLE)])
            if len(store.read_events(number)) != 2:
                return "! no new game"
            if not problem:
                return "nothing lost"
            return "in memory" if store.path == ":memory:" else f"reported, {len(damaged)} damaged, {len(lost)} lost"


def try_stores(count: int, seed: int) -> Counter[str]:
    """Return the outcomes of `count` damaged stores."""
    with tempfile.TemporaryDirectory() as name:
        template = Path(name)
        make_store(template)
        copy = template / "copy"
        copy.mkdir()
        for file in template.glob("games.db*"):
            shutil.copy(file, copy)
        with GameStore(copy / "games.db") as store:
            expected, damaged = read_totals(store)
            assert not damaged
        return Counter(try_store(template, expected, seed * 1_000_000 + n) for n in range(count))


def try_programs(count: int, seed: int) -> Counter[str]:
    """Return the outcomes of `count` starts of the whole program with damaged stores."""
    with tempfile.TemporaryDirectory() as name:
        template = Path(name)
        make_store(template)
        return Counter(_try_program(template, random.Random(seed * 1_000_000 + n)) for n in range(count))


def _try_program(template: Path, chance: random.Random) -> str:
    """Start `tilekeeper run` with a damaged store and fetch pages; outcomes with `!` are failures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "pictures").mkdir()
        for file in template.glob("games.db*"):
            shutil.copy(file, folder)
        flip_bits(choose_file(folder / "games.db", chance), chance)
        command = [sys.executable, "-c", "from device.cli import main; raise SystemExit(main())", "run", "--data", name]
        command += ["--camera", f"folder:{folder / 'pictures'}", "--port", "0", "--host", "127.0.0.1"]
        out, error = subprocess.PIPE, subprocess.STDOUT
        with subprocess.Popen(command, stdout=out, stderr=error, text=True, cwd=ROOT) as program:
            assert program.stdout is not None
            lines = []
            for line in program.stdout:
                lines.append(line)
                if found := re.match(r"The page is up: (\S+)", line):
                    break
            else:
                return f"! does not start: {''.join(lines)[-300:]}"
            seconds = read_cpu_s(program.pid)
            try:
                for path in ("/", "/history", "/records", "/api/v1/games"):
                    with urllib.request.urlopen(found[1] + path, timeout=10) as response:
                        response.read()
            except OSError as failure:
                return f"! {path}: {failure}"
            finally:
                program.kill()
        return "page up" if seconds <= MAX_OPEN_S else f"! page up after {seconds:.0f} s of processor time"


def try_lexicons(count: int, seed: int) -> Counter[str]:
    """Return the outcomes of `count` damaged word lists in the cache."""
    chance = random.Random(seed)
    words = sorted({"".join(chance.choices("ABCDEINORST", k=chance.randint(2, 9))) for _ in range(WORDS)})
    others = [word[::-1] + "Q" for word in words[:200]]
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        path, cache = Path(name) / "own.txt", Path(name) / "cache"
        path.write_text("\n".join(words))
        read_lexicon(path, cache_dir=cache)
        (compiled,) = cache.iterdir()
        whole = compiled.read_bytes()
        for _ in range(count):
            data = bytearray(whole)
            how = chance.choice(("tail zeroed", "cut short", "bits flipped"))
            at = chance.randrange(len(data))
            if how == "tail zeroed":
                data[at:] = bytes(len(data) - at)
            elif how == "cut short":
                del data[at:]
            compiled.write_bytes(data)
            if how == "bits flipped":
                flip_bits(compiled, chance)
            lexicon = read_lexicon(path, cache_dir=cache)
            is_right = all(word in lexicon for word in words) and not any(word in lexicon for word in others)
            outcomes[f"{how}, {'right' if is_right and compiled.read_bytes() == whole else '! wrong'}"] += 1
    return outcomes


def make_hall(folder: Path) -> None:
    """Write the file of a hall with games of three tables and results."""
    closed = folder / "closed"
    closed.mkdir()
    bodies = [write_ledger(make_ledger(build_game(parse_gcg(path.read_bytes())))) for path in GCG_FILES]
    with _open_hall(closed) as hall:
        for number, table in enumerate(("A", "B", "C") * len(bodies)):
            _receive_game(hall, table, number + 1, bodies[number // 3])
        lines = "\n".join(f"{number},A,P{number},Q" for number in range(1, 7))
        hall.edit_event(lambda event: import_pairings(event, lines))
    with _open_hall(closed) as hall:
        _receive_game(hall, "A", 50, bodies[0])
        hall.edit_event(lambda event: decide(event, 6, "P6", points=(300, 200)))
        deadline = time.monotonic() + 30
        while (closed / "hall.db-wal").stat().st_size:  # a thread empties it after the answer
            assert time.monotonic() < deadline
            time.sleep(0.01)
        for file in closed.glob("hall.db*"):  # the program is killed now
            shutil.copy(file, folder)


def _open_hall(folder: Path) -> HallReceiver:
    return HallReceiver(folder / "hall.db", HallSettings("127.0.0.1", 1), report=lambda _: None)


def _receive_game(hall: HallReceiver, table: str, number: int, bodies: Sequence[EventBody]) -> None:
    events = [StoredEvent(at, 1e9 + 1000 * number + at, body) for at, body in enumerate(bodies)]
    log = make_table_log(table, "store", number, events).publication
    hall.receive(log.topic, log.payload, is_retained=True)


def read_hall(hall: HallReceiver) -> dict[tuple[object, ...], object]:
    """Return what a hall knows: the totals at each table, results, the event and the events of all games."""
    known: dict[tuple[object, ...], object] = {("event",): hall.state.event}
    for result in hall.state.results:
        known["result", result.table, result.players, result.ended] = result.totals
    for name, table in hall.state.tables.items():
        known["table", name] = [player.total for player in table.snapshot.players]
    for game in hall.games.list_games():
        known["game", game.table, game.number] = [event.body for event in hall.games.read_events(game.id)]
    return known


def try_hall(template: Path, expected: dict[tuple[object, ...], object], seed: int) -> str:
    """Flip bits in a copy of a hall's file, or tear it; open it and return the outcome. `!` marks failures."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in template.glob("hall.db*"):
            shutil.copy(file, folder)
        path = choose_file(folder / "hall.db", chance)
        if chance.random() < 0.7:
            flip_bits(path, chance)
        else:
            data = path.read_bytes()
            at = chance.randrange(len(data))
            path.write_bytes(data[:at] + chance.choice((b"", bytes(len(data) - at))))
        try:
            with _open_hall(folder) as hall:
                known, problems = read_hall(hall), hall.state.problems
                _receive_game(hall, "D", 1, [STARTED])
                if "D" not in hall.state.tables:
                    return "! no new game"
        except Exception as error:
            return f"! does not open: {error!r:.60}"
    changed = [key for key, value in known.items() if expected.get(key) != value and key[0] in ("result", "game")]
    if changed:
        return f"! changed: {changed[0]}"
    if known != expected and not problems:
        return f"! silent: {sorted(str(key) for key in expected if known.get(key) != expected[key])[0]}"
    return "reported" if problems else "nothing lost"


def try_halls(count: int, seed: int) -> Counter[str]:
    """Return the outcomes of `count` damaged files of a hall."""
    with tempfile.TemporaryDirectory() as name:
        template = Path(name)
        make_hall(template)
        copy = template / "copy"
        copy.mkdir()
        for file in template.glob("hall.db*"):
            shutil.copy(file, copy)
        with _open_hall(copy) as hall:
            expected = read_hall(hall)
            assert not hall.state.problems and len(hall.state.tables) == 3
        return Counter(try_hall(template, expected, seed * 1_000_000 + n) for n in range(count))


TRIALS = {"stores": try_stores, "halls": try_halls, "programs": try_programs, "lexicons": try_lexicons}


def main(words: Sequence[str]) -> int:
    """Print the outcomes as JSON; return 1 if there are failures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=tuple(TRIALS))
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(words)
    logging.disable()
    outcomes = TRIALS[args.what](args.count, args.seed)
    print(json.dumps(dict(outcomes.most_common()), indent=1))
    return 1 if any("!" in outcome for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
