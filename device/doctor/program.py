"""Checks of the program: settings, libraries, neural networks, word list, speech output, version."""

from __future__ import annotations

import importlib
import platform
import re
from collections.abc import Iterator
from pathlib import Path

from device.doctor.system import Finding, Subject, System, check_access, find_reinstall_remedy, is_closed_to_service
from device.settings import SYSTEM_SETTINGS_FILE, Settings, SettingsError, find_user_settings_file, load_settings
from device.storage.lexicons import find_cache_folder
from device.system.new_version import find_installed_version, find_newer_version
from device.system.voice import list_device_options

_LIBRARIES = (
    "numpy", "opencv-python-headless", "opencv-python", "onnxruntime", "flask", "uvicorn", "picamera2", "lgpio",
)  # fmt: skip
"""Distributions (names on PyPI) whose versions matter in a report of a fault."""


def load_settings_or_defaults(system: System, named: Path | None) -> tuple[Settings, Finding]:
    """Return the settings and a finding about the settings file.

    If the file is missing or invalid, the default settings are returned. `named` is a file named by the user, or None.
    """
    subject = Subject("settings")
    path = named or system.path(SYSTEM_SETTINGS_FILE)
    if named is None and path == SYSTEM_SETTINGS_FILE and not path.exists():
        path = find_user_settings_file()  # run from a checkout, without an installed service
    if named is None and not path.exists():
        return Settings(), subject.note(f"there is no {SYSTEM_SETTINGS_FILE}: the defaults are used")
    try:
        return load_settings(path), subject.good(f"{path} has no mistakes")
    except SettingsError as error:
        return Settings(), subject.fault(str(error), f"sudo nano {path}")


def check_libraries(system: System, _settings: Settings) -> Iterator[Finding]:
    """Check that the program can be imported with all its libraries: an installed library may fail to load."""
    try:
        importlib.import_module("device.cli.appliance")  # by name, because it imports the doctor
    except (ImportError, OSError) as error:
        text = " ".join(f"the program cannot be loaded: {error}".split())
        yield Subject("libraries").fault(text, find_reinstall_remedy(system))


def check_networks(system: System, _settings: Settings) -> Iterator[Finding]:
    """Check that the neural networks can be loaded."""
    from vision.net import ModelError
    from vision.recognition.reader import BoardReader

    try:
        BoardReader()
    except ModelError as error:
        yield Subject("networks").fault(str(error), find_reinstall_remedy(system))


def check_word_list(system: System, settings: Settings) -> Iterator[Finding]:
    """Check that a word list is available for the tile set in the settings."""
    from device.storage.lexicons import NO_LEXICON, open_lexicon
    from engine.lexicon import LexiconError, describe_list

    subject, name, tiles = Subject("word list"), settings.game.lexicon, settings.game.tiles
    if name and name != NO_LEXICON and is_closed_to_service(system, Path(name), "r"):
        remedy = f"sudo install -m 644 {name} /etc/tilekeeper/, and enter the copy as game.lexicon in the settings file"
        yield subject.fault(f"the table may not read {name}", remedy)
        return
    try:
        lexicon = open_lexicon(name, tiles, find_cache_folder())
    except LexiconError as error:
        yield subject.fault(str(error), "name another file as game.lexicon in the settings file")
        return
    if lexicon is None:
        yield _describe_missing_list(settings)
    elif lexicon.is_authoritative:
        yield subject.good(" ".join(describe_list(lexicon)))
    elif lexicon.has_missing_forms or lexicon.has_misread_lines:
        yield subject.warning(
            " ".join(describe_list(lexicon)), "name another file as game.lexicon in the settings file"
        )
    else:
        yield subject.good(f"{' '.join(describe_list(lexicon))} It is from the system, so it only gives advice.")


def _describe_missing_list(settings: Settings) -> Finding:
    """Return a note that words are not checked, which matters most in a game without challenges."""
    from device.session.rule_choices import RuleChoice, make_rules
    from engine.rules import ChallengeRule

    is_void = make_rules(RuleChoice.parse(settings.game.rule_options)).challenge is ChallengeRule.VOID
    unchecked = "words are not checked" + (", and without challenges every play counts" if is_void else "")
    if settings.game.lexicon is not None:
        return Subject("word list").note(f"none is chosen: {unchecked}")
    remedy = "name a file as game.lexicon in the settings file"
    return Subject("word list").note(f"none for {settings.game.tiles}: {unchecked}", remedy)


def check_voice(system: System, settings: Settings) -> Iterator[Finding]:
    """Check that espeak-ng and a loudspeaker are available, if speech output is enabled."""
    subject = Subject("voice")
    if not settings.voice.use:
        return
    if system.run("espeak-ng", "--version") is None:
        yield subject.warning("espeak-ng is not installed: nothing is spoken", "sudo apt install espeak-ng")
    elif not system.glob("/dev/snd/pcm*p"):
        yield subject.warning("there is no loudspeaker", "plug in a USB loudspeaker, or set voice.use = false")
    else:
        yield from check_access(system, subject, "/dev/snd/pcm*p", "audio")


def check_speech(system: System, settings: Settings) -> Iterator[Finding]:
    """Let espeak-ng speak on the loudspeaker of the table, and name it."""
    subject, options = Subject("voice"), list_device_options(settings.voice.device)
    if not settings.voice.use or (spoken := system.run("espeak-ng", *options, "Tilekeeper")) is None:
        return
    device = options[-1] if options else "the card that ALSA chooses"
    if spoken.returncode:
        yield subject.warning(
            f"{device} does not play: {spoken.stderr.strip()}", "set voice.device: aplay -L lists all"
        )
    else:
        yield subject.good(f"a word was spoken on {device}")


def check_update(system: System, settings: Settings) -> Iterator[Finding]:
    """Report a newer version: a Debian package that apt knows, and a release if the settings allow asking."""
    policy = system.ask("apt-cache", "policy", "tilekeeper")
    versions = dict(re.findall(r"(?m)^  (Installed|Candidate): (\d\S*)", policy))
    if len(versions) == 2 and versions["Installed"] != versions["Candidate"]:
        text = f"{versions['Installed']} is installed, and {versions['Candidate']} is available"
        yield Subject("version").note(text, "sudo apt upgrade")
    if settings.page.new_versions and (newer := find_newer_version(find_cache_folder())):
        yield Subject("version").note(f"version {newer} was released", "get it as you got this one (docs/pi.md)")


def collect_versions(system: System) -> dict[str, str]:
    """Return the versions of the machine and the installed software by name, for bug reports."""
    release = re.search(r'PRETTY_NAME="?([^"\n]+)', system.read_text("/etc/os-release"))
    versions = {
        "tilekeeper": find_installed_version("tilekeeper") or "not installed (run from a checkout)",
        "machine": system.read_text("/proc/device-tree/model") or platform.machine(),
        "system": release[1] if release else "",
        "kernel": system.read_text("/proc/sys/kernel/osrelease"),
        "python": f"{platform.python_version()} ({platform.machine()})",
        **{name: find_installed_version(name) for name in _LIBRARIES},
    }
    return {name: version for name, version in versions.items() if version}
