"""The program itself: its libraries, its networks, its word list, its settings, its games."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import sqlite3
import struct
from collections.abc import Iterator
from pathlib import Path

from device.doctor.finding import Finding, Subject
from device.doctor.system import System, can_write
from device.settings import (
    SERVICE_DATA_FOLDER,
    SYSTEM_SETTINGS_FILE,
    GameSettings,
    Settings,
    SettingsError,
    load_settings,
    user_settings_file,
)

REINSTALL = "sudo ./systemd/install.sh in the folder of Tilekeeper"
REQUIRED_MODULES = {
    "numpy": "numpy",
    "cv2": "opencv-python-headless",
    "onnxruntime": "onnxruntime",
    "PIL": "pillow",
    "flask": "flask",
    "waitress": "waitress",
    "marisa_trie": "marisa-trie",
}
"""What the table cannot run without: module -> distribution."""
MIN_FREE_BYTES, LOW_FREE_BYTES = 200_000_000, 1_000_000_000
"""Bytes on the card: a game with its pictures takes about ten million."""
SERVICE_USER = "tilekeeper"
SERVICE_UNIT = "/etc/systemd/system/tilekeeper.service"

_SQLITE_MAGIC = b"SQLite format 3\0"


def load_settings_or_defaults(system: System, named: Path | None) -> tuple[Settings, Finding]:
    """The settings of the table, and how the file is; the defaults where it cannot be used."""
    subject = Subject("settings")
    path = named or system.path(SYSTEM_SETTINGS_FILE)
    if named is None and path == SYSTEM_SETTINGS_FILE and not path.exists() and user_settings_file().is_file():
        path = user_settings_file()  # a table that nobody installed
    if named is None and not path.exists():
        return Settings(), subject.note(f"{SYSTEM_SETTINGS_FILE} is not there: everything is as by default")
    try:
        return load_settings(path), subject.good(f"{path} is in order")
    except SettingsError as error:
        return Settings(), subject.fault(str(error), f"sudo nano {path}")


def check_libraries(_system: System, _settings: Settings) -> Iterator[Finding]:
    """Whether what the table needs can be loaded: a file being there says little."""
    subject = Subject("libraries")
    broken = False
    for module, distribution in REQUIRED_MODULES.items():
        try:
            importlib.import_module(module)
        except (ImportError, OSError) as error:
            broken = True
            yield subject.fault(f"{distribution} cannot be loaded: {' '.join(str(error).split())}", REINSTALL)
    if not broken:
        yield subject.good("all are there")


def check_networks(_system: System, settings: Settings) -> Iterator[Finding]:
    """Whether the networks that read boards can be loaded, and know the letters of the tile set."""
    from engine.tiles import load_tile_set
    from vision.detection.locator import BoardLocator
    from vision.net import ModelError
    from vision.recognition.letters import LetterNet
    from vision.recognition.squares import SquareNet

    subject = Subject("networks")
    try:
        BoardLocator()
        SquareNet()
        unknown = LetterNet().unsupported_tiles(load_tile_set(settings.game.tiles).letters)
    except ModelError as error:
        yield subject.fault(str(error), REINSTALL)
        return
    if unknown:
        yield subject.warning(
            f"these letters of the tile set {settings.game.tiles} cannot be read: {' '.join(unknown)}",
            "type them in on the page when it asks",
        )
    else:
        yield subject.good(f"can read the tile set {settings.game.tiles}")


def check_word_list(_system: System, settings: Settings) -> Iterator[Finding]:
    """Whether words can be checked."""
    from device.storage.lexicons import NO_LEXICON, default_cache_dir, open_lexicon
    from engine.lexicon import LexiconError

    subject = Subject("word list")
    game: GameSettings = settings.game
    try:
        lexicon = open_lexicon(game.lexicon, game.tiles, default_cache_dir())
    except LexiconError as error:
        yield subject.fault(str(error), f"name another file as game.lexicon in {SYSTEM_SETTINGS_FILE}")
        return
    if lexicon is not None and lexicon.is_authoritative:
        yield subject.good(f"{lexicon.name}: {len(lexicon):,} words")
    elif lexicon is not None:
        yield subject.note(f"{lexicon.name}: {len(lexicon):,} words of the system; it advises and decides nothing")
    elif game.lexicon == NO_LEXICON:
        yield subject.note("none is wanted: words are not checked")
    else:
        yield subject.note(
            f"none for {game.tiles}: words are not checked", f"name a file as game.lexicon in {SYSTEM_SETTINGS_FILE}"
        )


def check_voice(system: System, settings: Settings) -> Iterator[Finding]:
    """Whether the score can be spoken, where that is wanted."""
    subject = Subject("voice")
    if not settings.voice.use:
        yield subject.good("not in use")
    elif not system.has_command("espeak-ng"):
        yield subject.warning("espeak-ng is not installed: nothing is spoken", "sudo apt install espeak-ng")
    elif not system.glob("/dev/snd/pcm*p"):
        yield subject.warning("there is no loudspeaker", "plug in a USB loudspeaker, or set voice.use = false")
    else:
        yield subject.good("espeak-ng and a loudspeaker are there")


def check_games(system: System, settings: Settings) -> Iterator[Finding]:
    """Whether games can be kept: the folder, its owner, the space, the file."""
    subject = Subject("games")
    folder = find_data_folder(system, settings)
    shown = folder
    place = system.path(folder)
    if not place.is_dir():
        if system.path(SERVICE_UNIT).exists():
            yield subject.fault(f"{shown} is not there", "sudo systemctl restart tilekeeper")
        else:
            yield subject.note(f"{shown} is not there yet: the first game makes it")
        return
    account = system.find_account(SERVICE_USER)
    if account is not None and system.path(SERVICE_UNIT).exists() and not can_write(place, account):
        yield subject.fault(
            f"{shown} cannot be written by the table",
            f"sudo chown -R {SERVICE_USER}: {shown} && sudo systemctl restart tilekeeper",
        )
    if (kind := _find_file_system(system, folder)) == "overlay":
        yield subject.fault(
            f"{shown} is on an overlay: every game is lost when the power goes",
            "sudo raspi-config nonint do_overlayfs 1 && sudo reboot, or mount a partition of its own there",
        )
    elif kind == "tmpfs":
        yield subject.fault(
            f"{shown} is in memory only: every game is lost when the power goes", "mount a partition there"
        )
    free = system.free_bytes(folder)
    if free is not None and free < MIN_FREE_BYTES:
        yield subject.fault(
            f"only {free // 1_000_000} MB are free: soon no turn can be kept",
            "sudo apt-get clean && sudo journalctl --vacuum-size=20M, or delete games on the page",
        )
    elif free is not None and free < LOW_FREE_BYTES:
        yield subject.warning(f"{free // 1_000_000} MB are free", "sudo apt-get clean, or delete games on the page")
    elif free is not None:
        yield subject.good(f"{free // 1_000_000:,} MB are free in {shown}")
    yield from _check_store(subject, place / "games.db", shown / "games.db")


def find_data_folder(system: System, settings: Settings) -> Path:
    """Where the games of this table are, as the machine calls it."""
    if settings.data.folder is not None:
        return settings.data.folder
    return (
        SERVICE_DATA_FOLDER if system.path(SERVICE_UNIT).exists() else Path.home() / ".local" / "share" / "tilekeeper"
    )


def _check_store(subject: Subject, path: Path, shown: Path) -> Iterator[Finding]:
    """The file of the games. It is only read, and no lock is taken: a running table holds it."""
    from device.storage.schema import SCHEMA_VERSION

    aside = f"sudo systemctl stop tilekeeper; sudo mv {shown} {shown}.damaged; sudo systemctl start tilekeeper"
    try:
        with path.open("rb") as file:
            head = file.read(100)
    except FileNotFoundError:
        return
    except PermissionError:
        yield subject.note(f"{shown} cannot be looked at", "sudo tilekeeper doctor")
        return
    except OSError as error:
        yield subject.fault(f"{shown} cannot be read ({error.strerror}): the card may be failing", aside)
        return
    if not head:
        return  # the table is just making it
    if len(head) < 100 or not head.startswith(_SQLITE_MAGIC):
        yield subject.fault(f"{shown} is damaged or no store of games", aside)
        return
    (version,) = struct.unpack(">I", head[60:64])  # https://www.sqlite.org/fileformat2.html#the_database_header
    if version > SCHEMA_VERSION:
        yield subject.fault(f"{shown} was written by a newer Tilekeeper", REINSTALL)
    elif path.with_name(path.name + "-wal").exists():
        yield subject.good(f"{shown} is in use, or was not closed (the next start sees to that)")
    else:
        yield from _check_integrity(subject, path, shown, aside)


def _check_integrity(subject: Subject, path: Path, shown: Path, aside: str) -> Iterator[Finding]:
    """Reads the store of a table that does not run from end to end; `immutable`: without making files beside it."""
    try:
        store = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
        try:
            (said,) = store.execute("PRAGMA quick_check(1)").fetchone()
            (count,) = store.execute("SELECT count(*) FROM game").fetchone()
        finally:
            store.close()
    except sqlite3.Error as error:
        said, count = str(error), 0
    if said == "ok":
        yield subject.good(f"{shown} is whole: {count} game{'' if count == 1 else 's'}")
    else:
        yield subject.fault(f"{shown} is damaged ({said})", aside)


def _find_file_system(system: System, folder: Path) -> str:
    """The kind of file system that a folder is on (empty: not known)."""
    kind, longest = "", -1
    for line in (system.read_text("/proc/mounts") or "").splitlines():
        fields = line.split()
        if len(fields) > 2 and folder.is_relative_to(fields[1]) and len(fields[1]) >= longest:
            kind, longest = fields[2], len(fields[1])
    return kind


def collect_versions(system: System) -> dict[str, str]:
    """What is installed, by name: for a report of a fault."""
    import platform

    release = dict(
        line.split("=", 1) for line in (system.read_text("/etc/os-release") or "").splitlines() if "=" in line
    )
    found = {
        "tilekeeper": _installed_version("tilekeeper") or "not installed (run from a checkout)",
        "machine": system.read_text("/proc/device-tree/model") or platform.machine(),
        "system": release.get("PRETTY_NAME", "not known").strip('"'),
        "kernel": system.read_text("/proc/sys/kernel/osrelease") or "not known",
        "python": f"{platform.python_version()} ({platform.machine()})",
    }
    for name in (*REQUIRED_MODULES.values(), "picamera2", "gpiozero", "lgpio", "luma.oled"):
        found[name] = (
            _installed_version(name)
            or _installed_version(name.removesuffix("-headless"))
            or ("not installed" if name in REQUIRED_MODULES.values() else "")
        )
    return {name: version for name, version in found.items() if version}


def _installed_version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return ""
