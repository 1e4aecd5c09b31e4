"""Record what a version of Tilekeeper answers, and compare two recordings.

    python -m tests.system.golden record OUT --program OLD/.venv/bin/tilekeeper --photos DIR --gcg DIR
    python -m tests.system.golden compare OLD_OUT NEW_OUT

A recording uses only what other programs rely on (the command line, the JSON interface, the files of the store), so one
script records any version. `compare` ignores sentences for people, times and random numbers; confidences may differ
by 1e-6. Its exit status is 1 if anything else differs.
"""

from __future__ import annotations

import argparse
import io
import json
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.support.api_client import ApiClient, read_pairing_code
from tests.support.ports import find_free_port

TOLERANCE = 1e-6
"""Largest difference between two numbers that are called equal."""
TEXTS = frozenset({"text", "answers", "error", "problems", "notes", "description", "summary", "title"})
"""Keys whose values are sentences for people; only how many there are is compared."""
VOLATILE = frozenset(
    {"ms", "at", "seconds", "code", "token", "id", "started", "ended", "paired", "date", "day", "time", "played"}
)
"""Keys whose values are times or random; only their presence is compared."""

Record = dict[str, Any]


# Recording


def record(out: Path, program: str, photos: Path, gcg: Path, only: Sequence[str] = ()) -> None:
    """Write the recordings of a program into the folder `out`: all, or those named in `only`."""
    out.mkdir(parents=True, exist_ok=True)
    jobs: Mapping[str, Callable[[], Any]] = {
        "readings": lambda: read_photos(program, photos, corners=False),
        "readings-corners": lambda: read_photos(program, photos, corners=True),
        "replays": lambda: replay_games(program, photos),
        "scores": lambda: score_games(program, gcg),
        "store": lambda: import_games(program, gcg),
        "api": lambda: call_api(program, photos),
    }
    with ThreadPoolExecutor(2) as pool:
        for name, done in [(name, pool.submit(job)) for name, job in jobs.items() if not only or name in only]:
            (out / f"{name}.json").write_text(json.dumps(done.result(), ensure_ascii=False, indent=0), encoding="utf-8")
            print(name, flush=True)


def manifests(photos: Path) -> Iterator[tuple[Path, list[Record]]]:
    """Yield each folder of photographs with the records of its manifest."""
    for manifest in sorted(photos.glob("*/manifest.json")):
        yield manifest.parent, json.loads(manifest.read_text(encoding="utf-8"))


def run_program(words: Sequence[object]) -> str:
    """Return what a command prints; its exit status may be anything."""
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False).stdout


def read_photos(program: str, photos: Path, *, corners: bool) -> Record:
    """Read every photograph; with `corners`, those of the manifest are given."""
    answers: Record = {}
    for folder, records in manifests(photos):
        for one in records:
            words = [program, "read", "--json", "--tiles", one["language"], folder / one["photo"]]
            if corners:
                words += ["--corners", " ".join(",".join(map(str, corner)) for corner in one["corners"])]
            answers[f"{folder.name}/{one['id']}"] = _without_paths(json.loads(run_program(words)))
    if not corners:
        for photo in sorted((photos / "none").glob("*.jpg")):
            answers[f"none/{photo.name}"] = _without_paths(json.loads(run_program([program, "read", "--json", photo])))
    return answers


def replay_games(program: str, photos: Path) -> Record:
    """Replay every game that the manifests show turn by turn."""
    answers: Record = {}
    for folder, records in manifests(photos):
        shown = [one for one in records if one["game"] and one["index"] is not None]
        for name in sorted({str(one["game"]) for one in shown if one["turn"]}):
            game = sorted((one for one in shown if str(one["game"]) == name), key=lambda one: one["index"])
            words = [
                program,
                "replay",
                "--json",
                "--players",
                "A,B",
                "--tiles",
                game[0]["language"],
                "--lexicon",
                "none",
            ]
            answers[f"{folder.name}-{name}"] = _without_paths(
                json.loads(run_program([*words, *(folder / one["photo"] for one in game)]))
            )
    return answers


def score_games(program: str, gcg: Path) -> Record:
    """Score every recorded game."""
    answers: Record = {}
    games = sorted(gcg.rglob("*.gcg"))
    for at in range(0, len(games), 100):
        for line in run_program([program, "score", "--json", *games[at : at + 100]]).splitlines():
            answer = json.loads(line)
            answers[str(Path(answer.pop("file")).relative_to(gcg))] = answer
    return answers


def import_games(program: str, gcg: Path) -> Record:
    """Import every recorded game; return the events and pictures of the store and two of the archives."""
    with tempfile.TemporaryDirectory() as made:
        data = Path(made)
        games = sorted(gcg.rglob("*.gcg"))
        run_program([program, "import", "--data", data, *games])
        archives: Record = {}
        for number in (1, 5, 50):
            for form in ("gcg", "zip"):
                target = data / f"{number}.{form}"
                run_program([program, "export", "--data", data, number, target])
                archives[target.name] = read_archive(target)
        return {"store": read_store(data / "games.db"), "archives": archives}


def read_archive(path: Path) -> object:
    """Return the text of an exported file, or of each file in an archive (the length of those that are no text)."""
    if not path.is_file():
        return None
    if path.suffix == ".gcg":
        return path.read_text(encoding="utf-8").splitlines()
    with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive:
        return {name: _readable(name, archive.read(name)) for name in archive.namelist()}


def _readable(name: str, data: bytes) -> object:
    if name.endswith((".json", ".jsonl")):
        return [json.loads(line) for line in data.decode().splitlines()] if name.endswith("l") else json.loads(data)
    return data.decode().splitlines() if name.endswith((".gcg", ".txt")) else len(data)


def read_store(path: Path) -> Record:
    """Return the tables of a store row by row: JSON decoded, the length of pictures."""
    with sqlite3.connect(path) as store:
        names = [name for (name,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        tables = {name: store.execute(f"SELECT * FROM {name} ORDER BY 1, 2") for name in names}
        return {
            name: [
                dict(zip([column[0] for column in rows.description], map(_decoded, row), strict=True)) for row in rows
            ]
            for name, rows in tables.items()
        }


def _decoded(value: object) -> object:
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    try:
        return json.loads(value) if isinstance(value, str) and value[:1] in "{[" else value
    except ValueError:
        return value


def call_api(program: str, photos: Path) -> Record:
    """Play a photographed game through a running table by its JSON interface; return every answer."""
    records = next(records for folder, records in manifests(photos) if folder.name == "scrabscrap")
    game = sorted((one for one in records if one["game"] == "game04" and one["index"]), key=lambda one: one["index"])
    port = find_free_port()
    with tempfile.TemporaryDirectory() as made:
        camera, data = Path(made) / "camera", Path(made) / "data"
        camera.mkdir()
        words: list[object] = [program, "run", "--camera", f"folder:{camera}", "--players", "Anna,Ben", "--tiles", "de"]
        words += ["--lexicon", "none", "--data", data, "--port", port, "--host", "127.0.0.1"]
        table = subprocess.Popen(list(map(str, words)), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            client = ApiClient(port, read_pairing_code(table))
            for number, one in enumerate(game):
                photo = photos / "scrabscrap" / one["photo"]
                shutil.copy(photo, camera / f"{number:03}{photo.suffix}")
                client.end_turn()
                _disturb(client, number)
            _ask_archive(client)
        finally:
            table.terminate()
            table.wait(30)
        return {"answers": client.answers, "store": read_store(data / "games.db"), "table.npz": _npz(data)}


def _npz(data: Path) -> object:
    import numpy as np

    path = data / "table.npz"
    if not path.is_file():
        return None
    with np.load(path, allow_pickle=False) as arrays:
        return {name: [str(arrays[name].dtype), list(arrays[name].shape)] for name in sorted(arrays.files)}


def _disturb(client: ApiClient, number: int) -> None:
    """Send the commands that a table sees besides presses of *End turn*, and some that it must refuse."""
    client.call("GET", "/turns")
    client.call("GET", "/board")
    match number:
        case 1:
            client.command("undo")
            client.command("redo")
            client.command("redo")
        case 2:
            client.command("pause")
            client.command("end-turn")
            client.command("go-on")
        case 3:
            client.command("square", square="H8", symbol=".")
            client.command("undo")
            client.command("square", square="Z99", symbol="A")
        case 4:
            client.command("turn", number=1, change={"kind": "score", "score": 99})
            client.command("undo")
            client.command("turn", number=1, change={"kind": "nonsense"})
        case 5:
            client.command("challenge")
            client.command("answer", answer=0)
            client.command("answer", answer=7)
            client.command("undo")
        case 6:
            client.command("exchange", count=3)
            client.command("undo")
            client.command("exchange", count=99)
        case 7:
            client.command("pass")
            client.command("undo")
            client.command("blank", square="H8", letter="Q")
        case 8:
            client.call("POST", "/commands/end-turn", b"{")
            client.command("end-turn", unknown=1)
            client.command("end-turn", seen="1-1")
        case 9:
            client.call("GET", "/words?word=horn")
            client.call("GET", "/choices")
            client.call("GET", "/nowhere")


def _ask_archive(client: ApiClient) -> None:
    client.command("end-game")
    client.command("rack", player=0, letters="")
    client.command("rack", player=1, letters="EN")
    client.command("new-game", players=["Zoe", "Max"], choices={"tiles": "en", "lexicon": "none"}, variations=[])
    client.command("new-game", players=["Zoe"])
    client.command("draw", letters=["A", "B"])
    for path in ("/games", "/games/1", "/games/99", "/games/1/gcg", "/games/1/zip", "/players", "/records", "/devices"):
        client.call("GET", path)
    client.call("GET", "/games?player=Anna")
    client.call("GET", "/openapi.json")
    client.call("DELETE", "/games/1")
    client.call("DELETE", "/games/1")


def _without_paths(answer: Any) -> Any:
    """Keep only the names of photographs."""
    if isinstance(answer, dict):
        return {key: Path(value).name if key == "photo" else _without_paths(value) for key, value in answer.items()}
    return [_without_paths(value) for value in answer] if isinstance(answer, list) else answer


# Comparing


def differences(old: Any, new: Any, where: str = "") -> Iterator[str]:
    """Yield a line for each place where two recordings differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            if key not in old or key not in new:
                yield f"{where}/{key}: only in the {'old' if key in old else 'new'} recording"
            elif key in TEXTS:
                if _count(old[key]) != _count(new[key]):
                    yield f"{where}/{key}: {old[key]!r} != {new[key]!r}"
            elif key not in VOLATILE:
                yield from differences(old[key], new[key], f"{where}/{key}")
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield f"{where}: {len(old)} != {len(new)} items"
        for at, (one, other) in enumerate(zip(old, new, strict=False)):
            yield from differences(one, other, f"{where}/{at}")
    elif isinstance(old, float | int) and isinstance(new, float | int):
        if abs(old - new) > TOLERANCE:
            yield f"{where}: {old} != {new}"
    elif old != new:
        yield f"{where}: {str(old)[:100]} != {str(new)[:100]}"


def _count(value: Any) -> int:
    return len(value) if isinstance(value, list | dict) else int(bool(value))


def compare(old: Path, new: Path) -> int:
    """Print what differs between two recordings; return how many differences there are."""
    total = 0
    for path in sorted(path for path in old.glob("*.json") if (new / path.name).is_file()):
        recordings = [json.loads((folder / path.name).read_text(encoding="utf-8")) for folder in (old, new)]
        found = list(differences(*recordings))
        total += len(found)
        print(f"{path.stem}: {len(found) or 'no'} differences")
        print("".join(f"    {line}\n" for line in found[:20]), end="")
    return total


def main(words: Sequence[str]) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    recorder = commands.add_parser("record")
    recorder.add_argument("out", type=Path)
    recorder.add_argument("--program", default="tilekeeper")
    recorder.add_argument("--photos", type=Path, required=True)
    recorder.add_argument("--gcg", type=Path, required=True)
    recorder.add_argument("--only", nargs="*", default=(), help="readings readings-corners replays scores store api")
    comparer = commands.add_parser("compare")
    comparer.add_argument("old", type=Path)
    comparer.add_argument("new", type=Path)
    args = parser.parse_args(words)
    if args.command == "record":
        record(args.out, args.program, args.photos, args.gcg, args.only)
        return 0
    return 1 if compare(args.old, args.new) else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
