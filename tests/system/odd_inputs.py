"""Odd but legal files, and hostile ones: each is answered in one line, in little time and memory.

`python -m tests.system.odd_inputs` gives each file to the program in a process of its own, and prints the seconds of
processor time and the peak memory that it took, and what the program said.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from device.storage.lexicons import read_lexicon
from engine.lexicon import LexiconError
from engine.limits import MAX_LEXICON_BYTES, MAX_LEXICON_LINES
from engine.tiles import load_tile_set

REPOSITORY = Path(__file__).parents[2]
SIDE_PX = 5650
"""Side of a square picture that is just within `engine.limits.MAX_PICTURE_PIXELS`."""
PLAYERS = "#player1 a A\n#player2 b B\n"

_CHILD = """
import sys, time
from device.cli import main
status = main(sys.argv[1:])
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(f"\\n{status} {time.process_time()} {int(peak.split()[1]) / 1024}")
"""
_COMPILE_CHILD = _CHILD.replace(
    "from device.cli import main", "from tests.system.odd_inputs import compile_list as main"
)


@dataclass(frozen=True)
class Outcome:
    """The result of the program for a file. `status` is its exit status, -1 after a crash."""

    name: str
    status: int
    cpu_s: float
    memory_mb: float
    output: str

    def __str__(self) -> str:
        text = " ".join(self.output.split())[:90]
        return f"{self.name:24} status {self.status}  {self.cpu_s:5.1f} s  {self.memory_mb:4.0f} MB  {text}"


def run_program(name: str, *arguments: str, child: str = _CHILD) -> Outcome:
    """Run the program, or another one, in a process of its own."""
    done = subprocess.run([sys.executable, "-c", child, *arguments], capture_output=True, text=True, cwd=REPOSITORY)
    output, _, measured = done.stdout.rstrip().rpartition("\n")
    try:
        status, cpu_s, memory_mb = measured.split()
        return Outcome(name, int(status), float(cpu_s), float(memory_mb), output + done.stderr)
    except ValueError:
        return Outcome(name, -1, 0, 0, done.stdout + done.stderr)


def make_pictures(folder: Path) -> Iterator[Path]:
    """Write pictures of all modes and formats, as large as may be, and some that are refused."""
    modes = {"png": ("1", "L", "LA", "P", "RGB", "RGBA", "I;16"), "tif": ("CMYK", "LAB", "I", "F"), "bmp": ("RGB",)}
    for kind, names in modes.items():
        for mode in names:
            options = {"compression": "tiff_deflate"} if kind == "tif" else {}
            yield _save(folder / f"{mode.replace(';', '')}.{kind}", mode, (SIDE_PX, SIDE_PX), **options)
    yield _save(folder / "palette.gif", "P", (SIDE_PX, SIDE_PX))
    yield _save(folder / "large.webp", "RGB", (4000, 3000))
    yield _save_noise(folder / "noise.webp", (4000, 3000), lossless=True)
    yield _save_noise(folder / "noise-progressive.jpg", (SIDE_PX, SIDE_PX), progressive=True)
    yield _save_noise(folder / "noise.png", (SIDE_PX, SIDE_PX), compress_level=1)
    yield _save(folder / "alpha.webp", "RGBA", (4000, 3000))
    yield _save(folder / "cmyk.jpg", "CMYK", (SIDE_PX, SIDE_PX), progressive=True)
    yield _save(folder / "too-large.webp", "RGB", (5000, 5000))
    yield _save(folder / "too-large.png", "1", (13_300, 13_300))
    yield _save(folder / "large.jpg", "RGB", (13_300, 13_300))
    yield _save(folder / "too-large-progressive.jpg", "RGB", (13_300, 13_300), progressive=True)
    yield _save(folder / "one-pixel.png", "RGB", (1, 1))
    yield _save(folder / "thin.png", "RGB", (60_000, 2))


def _save(path: Path, mode: str, size: tuple[int, int], **options: object) -> Path:
    Image.new(mode, size).save(path, **options)
    return path


def _save_noise(path: Path, size: tuple[int, int], **options: object) -> Path:
    """Save a picture that no encoder can compress well."""
    noise = Image.effect_noise((1000, 1000), 100).convert("RGB")
    whole = Image.new("RGB", size)
    for x in range(0, size[0], 1000):
        for y in range(0, size[1], 1000):
            whole.paste(noise, (x, y))
    whole.save(path, **options)
    return path


def make_gcg_files(folder: Path) -> Iterator[Path]:
    """Write GCG files that took minutes to read, and some within the limits."""
    texts = {
        "players": "\n".join(f"#player{number} p{number} P{number}" for number in range(39_999)),
        "same-play": PLAYERS + ">a: ABCDEFG 8H CAB +10 10\n" * 900,
        "too-many-plays": PLAYERS + ">a: ABCDEFG 8H CAB +10 10\n" * 40_000,
        "challenges": PLAYERS + ">a: ABCDEFG 8H CAB +10 10\n>b: ABC -- -10 0\n" * 450,
        "long-word": PLAYERS + f">a: ABCDEFG 8H {'A' * 900_000} +10 10\n",
        "fairly-long-word": PLAYERS + f">a: ABCDEFG 8H {'A' * 19_000} +10 10\n",
        "notes": PLAYERS + ">a: ABC - +0 0\n" + "#note x\n" * 190,
        "pragmas": "".join(f"#x{number} y\n" for number in range(70_000)),
        "digits": PLAYERS + f">a: ABC 8H CAB +{'9' * 19_000} 10\n",
        "empty-lines": "\n" * 900_000,
    }
    for name, text in texts.items():
        path = folder / f"{name}.gcg"
        path.write_text(text)
        yield path


def make_zip_files(folder: Path) -> Iterator[Path]:
    """Write ZIP files that no table exported."""
    yield _write_zip(folder / "many.zip", lambda archive: [archive.writestr(f"{n}/", b"") for n in range(60_000)])
    yield _write_zip(folder / "nested.zip", lambda archive: archive.writestr("game.json", b"[" * 4_000_000))
    yield _write_zip(folder / "lists.zip", lambda archive: archive.writestr("game.json", b"[[]" + b",[]" * 2_600_000))
    yield _write_zip(folder / "bomb.zip", lambda archive: archive.writestr("game.json", bytes(60_000_000)))
    digits = json.dumps({"events": "x"}).replace('"x"', "9" * 5000)
    yield _write_zip(folder / "digits.zip", lambda archive: archive.writestr("game.json", digits))
    later = io.BytesIO()
    with zipfile.ZipFile(later, "w") as archive:
        archive.writestr("game.json", b"{}")
    data = bytearray(later.getvalue())
    data[data.rfind(b"PK\1\2") + 6] = 134  # the version of the format that is needed to read it
    (folder / "later-version.zip").write_bytes(data)
    yield folder / "later-version.zip"


def make_word_lists(folder: Path) -> Iterator[Path]:
    """Write word lists within the limits, and some that are refused."""
    letters = str.maketrans("0123456789", "ąbćdęfghij")
    texts = {
        "many-words": ("".join(f"{number * 7919 % 10**10:010}\n" for number in range(1_000_000))).translate(letters),
        "most-words": "\n".join(f"{number * 70_368_787 % 10**11:011}" for number in range(MAX_LEXICON_LINES)).translate(
            str.maketrans("0123456789", "aebcdfghij")
        ),
        "short-words": "ab\nac\n" * (MAX_LEXICON_BYTES // 6),
        "long-lines": f"abc {'x' * 9_000}\n" * (MAX_LEXICON_BYTES // 9_100),
        "no-words": "#\n" * (MAX_LEXICON_BYTES // 2),
        "one-line": "a" * MAX_LEXICON_BYTES,
        "too-large": "word\n" * (MAX_LEXICON_BYTES // 5 + 1),
    }
    for name, text in texts.items():
        path = folder / f"{name}.txt"
        path.write_text(text, encoding="utf-8")
        yield path


def compile_list(arguments: Sequence[str]) -> int:
    """Compile a word list as the program does when a game starts; return 1 if the list is refused."""
    try:
        print(len(read_lexicon(Path(arguments[0]), load_tile_set("pl"))), "words")
    except LexiconError as error:
        print(error)
        return 1
    return 0


def _write_zip(path: Path, fill: Callable[[zipfile.ZipFile], object]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        fill(archive)
    return path


def try_all(folder: Path) -> Iterator[Outcome]:
    """Give each file to the program."""
    for path in make_pictures(folder):
        yield run_program(path.name, "read", "--json", str(path))
    for path in make_gcg_files(folder):
        yield run_program(path.name, "score", "--json", str(path))
        yield run_program(f"import {path.name}", "import", "--data", str(folder / "data"), str(path))
    for path in make_zip_files(folder):
        yield run_program(path.name, "import", "--data", str(folder / "data"), str(path))
    for path in make_word_lists(folder):
        yield run_program(f"words {path.name}", str(path), child=_COMPILE_CHILD)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        for outcome in try_all(Path(made)):
            print(outcome, flush=True)
