"""Checks of the program: libraries, neural networks, word list, speech output, settings."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from device.doctor.finding import Finding, Subject
from device.doctor.system import System, UserAccount, can_read, can_write
from device.settings import (
    SYSTEM_SETTINGS_FILE,
    GameSettings,
    Settings,
    SettingsError,
    find_user_settings_file,
    load_settings,
)
from device.storage.lexicons import find_cache_folder
from device.system.new_version import find_installed_version, find_newer_version

REQUIRED_MODULES = {
    "numpy": "numpy",
    "cv2": "opencv-python-headless",
    "onnxruntime": "onnxruntime",
    "PIL": "pillow",
    "cryptography": "cryptography",
    "flask": "flask",
    "uvicorn": "uvicorn",
    "a2wsgi": "a2wsgi",
    "marisa_trie": "marisa-trie",
    "msgspec": "msgspec",
    "tomlkit": "tomlkit",
    "segno": "segno",
    "jeepney": "jeepney",
}
"""Modules that the program requires, each with the distribution (PyPI name) that contains it."""
SERVICE_USER = "tilekeeper"
PACKAGE_UNIT = "/usr/lib/systemd/system/tilekeeper.service"
"""Path of the systemd unit that the Debian package installs, which the card image has, too."""
SERVICE_UNITS = ("/etc/systemd/system/tilekeeper.service", PACKAGE_UNIT)
"""Paths of the systemd unit as installed by `install.sh` and by the Debian package."""
PRIVATE_FOLDERS = ("/home", "/root", "/run/user")
"""Folders that the service does not see (`ProtectHome=` in the unit)."""


def load_settings_or_defaults(system: System, named: Path | None) -> tuple[Settings, Finding]:
    """Return the settings and a finding about the settings file.

    If the file is missing or invalid, the default settings are returned. `named` is a file named by the user, or None.
    """
    subject = Subject("settings")
    path = named or system.path(SYSTEM_SETTINGS_FILE)
    if named is None and path == SYSTEM_SETTINGS_FILE and not path.exists() and find_user_settings_file().exists():
        path = find_user_settings_file()  # run from a checkout, without an installed service
    if named is None and not path.exists():
        return Settings(), subject.note(f"there is no {SYSTEM_SETTINGS_FILE}: the defaults are used")
    try:
        return load_settings(path), subject.good(f"{path} has no mistakes")
    except SettingsError as error:
        return Settings(), subject.fault(str(error), f"sudo nano {path}")


def check_libraries(system: System, _settings: Settings) -> Iterator[Finding]:
    """Check that all required libraries can be imported: an installed library may fail to load."""
    subject = Subject("libraries")
    faults = [*_find_broken_libraries(subject, find_reinstall_remedy(system))]
    yield from faults or [subject.good("all are installed")]


def _find_broken_libraries(subject: Subject, remedy: str) -> Iterator[Finding]:
    for module, distribution in REQUIRED_MODULES.items():
        try:
            importlib.import_module(module)
        except (ImportError, OSError) as error:
            yield subject.fault(f"{distribution} cannot be loaded: {' '.join(str(error).split())}", remedy)


def check_networks(system: System, settings: Settings) -> Iterator[Finding]:
    """Check that the neural networks can be loaded and can read all letters of the tile set."""
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
        yield subject.fault(str(error), find_reinstall_remedy(system))
        return
    if unknown:
        yield subject.warning(
            f"these letters of the tile set {settings.game.tiles} cannot be read: {' '.join(unknown)}",
            "enter them on the page when it asks",
        )
    else:
        yield subject.good(f"can read the tile set {settings.game.tiles}")


def check_word_list(system: System, settings: Settings) -> Iterator[Finding]:
    """Check that a word list is available for the tile set in the settings."""
    from device.storage.lexicons import NO_LEXICON, open_lexicon
    from engine.lexicon import LexiconError

    subject = Subject("word list")
    game: GameSettings = settings.game
    if game.lexicon and game.lexicon != NO_LEXICON and (problem := find_read_problem(system, Path(game.lexicon))):
        yield subject.fault(
            f"{game.lexicon} {problem}",
            f"sudo install -m 644 {game.lexicon} /etc/tilekeeper/, and enter the copy as game.lexicon in the settings "
            "file",
        )
        return
    try:
        lexicon = open_lexicon(game.lexicon, game.tiles, find_cache_folder())
    except LexiconError as error:
        yield subject.fault(str(error), "name another file as game.lexicon in the settings file")
        return
    if lexicon is not None and lexicon.is_authoritative:
        yield subject.good(f"{lexicon.name}: {len(lexicon):,} words")
    elif lexicon is not None:
        yield subject.note(f"{lexicon.name}: {len(lexicon):,} words, from the system; it only gives advice")
    elif game.lexicon == NO_LEXICON:
        yield subject.note("none is chosen: words are not checked")
    else:
        yield subject.note(
            f"none for {game.tiles}: words are not checked", "name a file as game.lexicon in the settings file"
        )


def check_update(system: System, settings: Settings) -> Iterator[Finding]:
    """Report a newer version: a Debian package that apt knows, and a release on PyPI if the settings allow this."""
    answer = system.run("apt-cache", "policy", "tilekeeper")
    versions = dict(re.findall(r"(?m)^  (Installed|Candidate): (\S+)", answer.out if answer else ""))
    installed, newest = versions.get("Installed", "(none)"), versions.get("Candidate", "(none)")
    if "(none)" not in (installed, newest) and installed != newest:
        yield Subject("version").note(f"{installed} is installed, and {newest} is available", "sudo apt upgrade")
    if settings.page.new_versions and (newer := find_newer_version(find_cache_folder())):
        yield Subject("version").note(f"version {newer} was released", "get it as you got this one (docs/pi.md)")


def is_service_installed(system: System) -> bool:
    """Return True if the unit of the service is installed."""
    return any(system.path(unit).exists() for unit in SERVICE_UNITS)


def is_package_installed(system: System) -> bool:
    """Return True if the program was installed by the Debian package, beside which `install.sh` refuses to install."""
    return system.path(PACKAGE_UNIT).exists()


def find_reinstall_remedy(system: System) -> str:
    """Return the action that installs the program again, in the way in which it was installed."""
    if is_package_installed(system):
        return "sudo apt install --reinstall ./tilekeeper_*.deb in the folder of the newest Debian package"
    return "sudo ./systemd/install.sh in the folder of Tilekeeper"


def find_service_account(system: System) -> UserAccount | None:
    """Return the account of the service's user, or None if the user or the service does not exist on this machine."""
    return system.find_account(SERVICE_USER) if is_service_installed(system) else None


def check_access(system: System, subject: Subject, devices: Iterable[str], group: str) -> Iterator[Finding]:
    """Check that the service's user may open all device files that match the patterns `devices`."""
    account = find_service_account(system)
    paths = [path for pattern in devices for path in system.glob(pattern)]
    closed = [path for path in paths if account is not None and not can_write(path, account)]
    if closed:
        yield subject.fault(
            f"the user {SERVICE_USER} may not use /{closed[0].relative_to(system.root)}",
            f"sudo usermod -aG {group} {SERVICE_USER} && sudo udevadm trigger && sudo systemctl restart tilekeeper",
        )


def find_read_problem(system: System, path: Path) -> str:
    """Return why the service cannot read a file or folder, or an empty string if there is no problem.

    The reason is the end of a sentence, such as `cannot be read by the user ...`. A missing file counts as no problem.
    The permissions of the service's user are checked, because the doctor itself runs as root, which can read
    everything.
    """
    account = find_service_account(system)
    if account is None:
        return ""
    path = expand_home(path)
    if any(path.is_relative_to(folder) for folder in PRIVATE_FOLDERS):
        return "is in a home folder, which the service cannot see"
    if system.path(path).exists() and not can_read(system.path(path), account, system.root):
        return f"cannot be read by the user {SERVICE_USER}"
    return ""


def expand_home(path: Path) -> Path:
    """Return a path with the user's home folder in place of a leading `~`, as cameras and word lists are opened."""
    return path.expanduser() if path.parts[:1] == ("~",) else path


def check_voice(system: System, settings: Settings) -> Iterator[Finding]:
    """Check that espeak-ng and a loudspeaker are available, if speech output is enabled."""
    subject = Subject("voice")
    if not settings.voice.use:
        yield subject.good("not in use")
    elif not system.has_command("espeak-ng"):
        yield subject.warning("espeak-ng is not installed: nothing is spoken", "sudo apt install espeak-ng")
    elif not (loudspeakers := system.glob("/dev/snd/pcm*p")):
        yield subject.warning("there is no loudspeaker", "plug in a USB loudspeaker, or set voice.use = false")
    elif (account := find_service_account(system)) and not any(can_write(path, account) for path in loudspeakers):
        yield subject.warning(
            f"the user {SERVICE_USER} may not use the loudspeaker",
            f"sudo usermod -aG audio {SERVICE_USER} && sudo systemctl restart tilekeeper",
        )
    else:
        yield subject.good("espeak-ng and a loudspeaker were found")


def collect_versions(system: System) -> dict[str, str]:
    """Return the versions of the installed software by name, for bug reports."""
    import platform

    release = dict(
        line.split("=", 1) for line in (system.read_text("/etc/os-release") or "").splitlines() if "=" in line
    )
    versions = {
        "tilekeeper": find_installed_version("tilekeeper") or "not installed (run from a checkout)",
        "machine": system.read_text("/proc/device-tree/model") or platform.machine(),
        "system": release.get("PRETTY_NAME", "not known").strip('"'),
        "kernel": system.read_text("/proc/sys/kernel/osrelease") or "not known",
        "python": f"{platform.python_version()} ({platform.machine()})",
    }
    for name in (*REQUIRED_MODULES.values(), "picamera2", "gpiozero", "lgpio", "luma.oled"):
        versions[name] = (
            find_installed_version(name)
            or find_installed_version(name.removesuffix("-headless"))
            or ("not installed" if name in REQUIRED_MODULES.values() else "")
        )
    return {name: version for name, version in versions.items() if version}
