"""Mutated files and texts of every kind that the program reads: settings, GCG, pictures, ZIP, stores, profiles, phones.

    python -m tests.system.fuzz_files 3600 --seed 1

Mutates files for 3600 seconds, in turns, and prints the answers. A file is accepted or refused with the error
of its kind. Any other exception, and any answer that takes more than 5 s of processor time, is a failure; its file is
kept under the folder that is printed. Games in ZIP files and the bodies of requests are mutated as texts, too; requests
that fit the document of the API have their own program, `tests.system.fuzz`.
"""

from __future__ import annotations

import argparse
import copy
import io
import json
import random
import sys
import tempfile
import time
import traceback
import urllib.parse
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from PIL import Image

from calibration.profile import ProfileFileError, load_examples
from device.cli.options import prepare_game
from device.report.contents import ReportChoice, ReportSources, make_report
from device.report.replay import replay_report
from device.settings import SettingsError, parse_settings, read_default_text
from device.storage.archive import GAME_MEMBER, export_zip, import_gcg, import_zip, load_game
from device.storage.errors import ArchiveError, StoreError
from device.storage.lexicons import read_lexicon
from device.storage.recovery import open_store
from device.storage.statistics import SummaryCache
from device.storage.store import GameStore, StoredEvent
from engine.errors import RulesError, TilekeeperError
from engine.events import GameStarted, to_json
from engine.gcg import build_record, parse_gcg, replay
from engine.lexicon import LexiconError
from engine.rules import STANDARD_RULES
from engine.tiles import load_tile_set
from tests.support.api_table import Program, open_web_table
from tests.support.text_table import TextTable
from tests.system.flip_bits import GCG_FILES, make_store
from tests.web.conftest import pair, token
from vision.photo import PhotoError, load_photo
from web.security.pairing import FILE_NAME, Pairing

MAX_CPU_S = 5.0
TOKENS = (
    *(b"\0", b"\xff", b"\n", b"\r\n", b"\xef\xbb\xbf", b"9" * 400, b"-1", b"1e999", b"A" * 5000, b"[" * 3000),
    *(b"#player1 ", b">", b"#note ", b"(challenge) ", b"--", b'"', b"'''", b"=", b"[page]\n", b"null", b"NaN"),
    *(b"~nouser/x", b"\xed\xa0\x80", b"PK\5\6", b"PK\1\2", b"IHDR", b"\xff\xd8\xff\xe1"),
)
"""Pieces that are put into files at random."""

SETTINGS = b"""[game]
players = ["Anna", "Ben", "Cleo"]
tiles = "de"
rules = "tournament"
challenge = "points"
clock = 25
first = "Ben"
more_rules = ["exchange=seven"]
[page]
names = ["score.example.org"]
"""
PROFILE = Path(__file__).parents[1] / "calibration" / "data" / "table-version-2.npz"
API_REQUESTS: dict[str, dict[str, object]] = {
    "commands/new-game": {"players": ["Anna", "Ben"], "first": 0, "choices": {"tiles": "en", "minutes": "25"}},
    "commands/answer": {"answer": 0},
    "commands/board": {"rows": [["."] * 15] * 15},
    "commands/square": {"square": "H8", "symbol": "A"},
    "commands/blank": {"square": "H8", "letter": "A"},
    "commands/turn": {"number": 1, "kind": "play", "at": "8F", "word": "HORN", "score": 14},
    "commands/insert-turn": {"number": 1, "kind": "exchange", "count": 3},
    "commands/exchange": {"count": 3},
    "commands/rack": {"player": 0, "letters": "ABC"},
    "commands/rename": {"player": 0, "new_name": "Änne"},
    "pairing": {"code": "123456", "device": "phone"},
}
FORMS: dict[str, dict[str, object]] = {
    "actions/new-game": {"players": "Anna", "tiles": "en", "preset": "tournament", "minutes": 25},
    "actions/square": {"square": "H8", "letter": "A", "blank": 1},
    "actions/board": {"symbols": ". " * 225},
    "actions/insert-turn": {"number": 1, "kind": "play", "at": "8F", "word": "HORN"},
    "actions/rename": {"player": 0, "new_name": "Änne"},
    "pair": {"code": "123456"},
    "panel/press": {"button": "end_turn0"},
    "setup/corners": {"corners": "1,1 300,1 300,300 1,300"},
}

ODD_VALUES: tuple[object, ...] = (
    *(None, True, False, -1, 0, 1, 7, 224, 225, 10**9, 10**30, -0.5, 1e308, float("nan"), [], {}, [[]], [0, 1]),
    *("", "A", "?", "a", "H8", "8H", "\0", "\ud800", "\u202e", "A" * 2000, "<b>", "1-4", "play", "undone", "started"),
    ["A"] * 600,
)

Try = Callable[[bytes, Path], str]
"""Gives a file, and an empty folder, to the program; returns what it answered. An exception is a failure."""


@dataclass
class Result:
    """Numbers of answers by kind of file, and the failures with the files that caused them."""

    answers: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    slowest_s: float = 0.0

    def __str__(self) -> str:
        lines = [f"{count:8} {answer}" for answer, count in sorted(self.answers.items())]
        return "\n".join(
            [*lines, f"slowest {self.slowest_s:.2f} s", f"{len(self.failures)} failures", *self.failures[:20]]
        )


def mutate(data: bytes, chance: random.Random) -> bytes:
    """Return the data with one to eight changes: bits, bytes, pieces that are cut, moved, repeated or put in."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 4, 8))):
        start = chance.randrange(len(changed) + 1)
        stop = min(len(changed), start + chance.choice((1, 4, 64, 4096)))
        match chance.randrange(12):
            case 0:
                del changed[start:]
            case 1:
                changed[start:stop] = chance.randbytes(stop - start)
            case 2:
                del changed[start:stop]
            case 3:
                changed[start:start] = changed[start:stop] * chance.choice((1, 2, 20))
            case 4:
                changed[start:start] = chance.choice(TOKENS)
            case _ if start < len(changed):
                changed[start] ^= 1 << chance.randrange(8)
    return bytes(changed)


def mutate_values(data: bytes, chance: random.Random) -> bytes:
    """Return the data with one to three other values in the JSON of its last line; other data is mutated as bytes."""
    head, newline, body = data.rpartition(b"\n")
    try:
        document = json.loads(body)
    except ValueError:
        return mutate(data, chance)
    for _ in range(chance.choice((1, 1, 2, 3))):
        container, key = chance.choice([*_find_values(document)] or [({}, "")])
        container[key] = copy.deepcopy(chance.choice(ODD_VALUES))
    return head + newline + json.dumps(document).encode()


def _find_values(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each value in a JSON document as its container and its key there."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield value, key
            yield from _find_values(inner)


def try_settings(data: bytes, _: Path) -> str:
    """Parse a settings file."""
    try:
        parse_settings(data.decode("utf-8", "replace"))
    except SettingsError:
        return "settings refused"
    return "settings taken"


def try_values_of_settings(data: bytes, _: Path) -> str:
    """Build the first game from a settings file."""
    try:
        prepare_game(replace(parse_settings(data.decode("utf-8", "replace")).game, lexicon="none"))
    except TilekeeperError:
        return "settings refused"
    return "settings with a game"


def try_gcg(data: bytes, folder: Path) -> str:
    """Score and import a GCG file."""
    replay(parse_gcg(data))
    with GameStore(folder / "games.db") as store:
        try:
            import_gcg(store, data)
        except ArchiveError:
            return "GCG refused"
    return "GCG imported"


def try_picture(data: bytes, folder: Path) -> str:
    """Load a picture."""
    path = folder / "picture"
    path.write_bytes(data)
    try:
        load_photo(path)
    except PhotoError as error:
        return "picture refused" if "\n" not in str(error) else "picture refused in several lines!"
    return "picture taken"


def try_zip(data: bytes, folder: Path) -> str:
    """Import a ZIP file."""
    with GameStore(folder / "games.db") as store:
        try:
            import_zip(store, io.BytesIO(data))
        except (ArchiveError, StoreError):
            return "ZIP refused"
    return "ZIP imported"


def try_game_in_zip(data: bytes, folder: Path) -> str:
    """Import a ZIP file with this text as its game, and show and export the game."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(GAME_MEMBER, data)
    with GameStore(folder / "games.db") as store:
        try:
            number = import_zip(store, file)
        except (ArchiveError, StoreError):
            return "game in a ZIP refused"
        SummaryCache(store).get_standing(store.list_games()[0])
        with suppress(RulesError):  # the game may have what GCG cannot describe
            build_record(load_game(store, number))
        b"".join(export_zip(store, number))
        (folder / "page").mkdir()
        with open_web_table(folder / "page") as table:
            table.store.add_game(1e9, store.read_events(number), ())
            for path in (
                "/history",
                "/history/1",
                "/records",
                "/api/v1/games/1",
                "/history/1/game.gcg",
                "/history/1/game.zip",
            ):
                status = table.app.test_client().get(path).status_code
                assert status < HTTPStatus.INTERNAL_SERVER_ERROR, f"{path}: {status}"
    return "game in a ZIP imported"


def try_request(data: bytes, folder: Path) -> str:
    """Send a request of several lines to the page: the path, the kind of the body, and the body."""
    path, kind, body = (*data.split(b"\n", 2), b"", b"")[:3]
    with open_web_table(folder) as table:
        table.play_three_turns()
        program = Program(table.app)
        program.pair(table.code)
        pair(program.client)
        with suppress(ValueError):  # an address that no client can send
            answer = program.client.post(
                "/" + path.decode("latin-1").lstrip("/"),
                data=body.replace(b"MOMENT", table.seen.encode()).replace(b"TOKEN", token(program.client).encode()),
                headers={"Authorization": f"Bearer {program.token}", "Content-Type": kind.decode("latin-1").strip()},
            )
            assert answer.status_code < HTTPStatus.INTERNAL_SERVER_ERROR, f"{path!r}: {answer.status_code}"
            shown = table.app.test_client().get("/")
            assert shown.status_code == HTTPStatus.OK, f"/ after {path!r}: {shown.status_code}"
            return f"request answered {answer.status_code // 100}xx"
    return "request not sent"


def try_profile(data: bytes, folder: Path) -> str:
    """Load the profile of a table."""
    path = folder / "table.npz"
    path.write_bytes(data)
    try:
        load_examples(path)
    except ProfileFileError:
        return "profile refused"
    return "profile taken"


def try_word_list(data: bytes, folder: Path) -> str:
    """Compile a word list."""
    path = folder / "words.txt"
    path.write_bytes(data)
    try:
        read_lexicon(path, load_tile_set("de"), folder)
    except LexiconError:
        return "word list refused"
    return "word list taken"


def try_report(data: bytes, _: Path) -> str:
    """Replay a problem report."""
    try:
        replay_report(io.BytesIO(data), TextTable())
    except ArchiveError:
        return "report refused"
    return "report replayed"


def try_store(data: bytes, folder: Path) -> str:
    """Open a store, list its games, and begin a game."""
    path = folder / "games.db"
    path.write_bytes(data)
    store, problem = open_store(path)
    with store:
        for game in store.list_games():
            try:
                store.read_events(game.id)
            except StoreError:
                problem = problem or "damaged game"
        store.add_game(1e9, [StoredEvent(0, 1e9, to_json(GameStarted(("Anna", "Ben"), STANDARD_RULES)))], ())
    return "store with a problem" if problem else "store without a word"


def try_pairing(data: bytes, folder: Path) -> str:
    """Load the list of paired phones, and pair another one."""
    (folder / FILE_NAME).write_bytes(data)
    messages: list[str] = []
    pairing = Pairing(messages.append, file=folder / FILE_NAME)
    pairing.pair(pairing.code, "192.168.0.7", "phone")
    return "phones lost" if messages else "phones kept"


def make_corpus(folder: Path) -> dict[Try, list[bytes]]:
    """Return valid files by what tries them."""
    games = [path.read_bytes() for path in GCG_FILES]
    pictures = []
    for kind, mode in (("JPEG", "RGB"), ("PNG", "P"), ("TIFF", "I;16"), ("WEBP", "RGBA"), ("GIF", "P"), ("BMP", "1")):
        file = io.BytesIO()
        Image.effect_noise((60, 40), 90).convert(mode if mode != "I;16" else "I").save(file, kind)
        pictures.append(file.getvalue())
    with GameStore(folder / "games.db") as store:
        archives = [b"".join(export_zip(store, import_gcg(store, game))) for game in games[:2]]
        report = make_report(store, ReportChoice(1), ReportSources(), 1e9)
        reports = [b"".join(report.write(store))]
    (folder / "store").mkdir()
    make_store(folder / "store")
    with zipfile.ZipFile(io.BytesIO(archives[0])) as archive:
        games_in_zip = [archive.read(GAME_MEMBER)]
    phones = Pairing(file=folder / FILE_NAME)
    phones.pair(phones.code, "192.168.0.7", "phone")
    return {
        try_settings: [read_default_text().encode()],
        try_values_of_settings: [SETTINGS],
        try_game_in_zip: games_in_zip,
        try_request: _write_requests(),
        try_profile: [PROFILE.read_bytes()],
        try_word_list: ["# Wörter\nHORN ein Horn\nmäuse\n".encode(), "Haus\r\nMaus\r\n".encode("utf-16")],
        try_gcg: games,
        try_picture: pictures,
        try_zip: archives,
        try_report: reports,
        try_store: [(folder / "store" / "games.db").read_bytes()],
        try_pairing: [(folder / FILE_NAME).read_bytes()],
    }


def _write_requests() -> list[bytes]:
    """Return valid requests in the format of `try_request`."""
    bodies = {f"api/v1/{path}": {**values, "seen": "MOMENT"} for path, values in API_REQUESTS.items()}
    forms = {
        path: urllib.parse.urlencode({**values, "seen": "MOMENT", "csrf": "TOKEN"}) for path, values in FORMS.items()
    }
    return [
        *(f"{path}\napplication/json\n{json.dumps(body)}".encode() for path, body in bodies.items()),
        *(f"{path}\napplication/x-www-form-urlencoded\n{form}".encode() for path, form in forms.items()),
    ]


def fuzz_files(seconds: float, seed: int, failures_folder: Path) -> Result:
    """Try mutated files for some seconds; the same seed gives the same files in the same order."""
    chance, result = random.Random(seed), Result()
    with tempfile.TemporaryDirectory() as made:
        corpus = make_corpus(Path(made))
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for attempt, files in corpus.items():
                change = chance.choice((mutate, mutate_values))
                data = change(chance.choice(files), chance)
                with tempfile.TemporaryDirectory() as folder:
                    _try_one(attempt, data, Path(folder), failures_folder, result)
    return result


def _try_one(attempt: Try, data: bytes, folder: Path, failures_folder: Path, result: Result) -> None:
    began = time.process_time()
    try:
        result.answers[attempt(data, folder)] += 1
        problem = ""
    except Exception:
        problem = traceback.format_exc().strip().rpartition("\n")[2]
    spent = time.process_time() - began
    result.slowest_s = max(result.slowest_s, spent)
    if problem or spent > MAX_CPU_S:
        path = failures_folder / f"{len(result.failures)}-{attempt.__name__}"
        path.write_bytes(data)
        result.failures.append(f"{path}: {problem or f'{spent:.1f} s'}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seconds", type=float)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    found = fuzz_files(arguments.seconds, arguments.seed, Path(tempfile.mkdtemp()))
    print(found)
    sys.exit(bool(found.failures))
