"""Keep the score of a game at a real table.

The camera is a phone that takes a picture after each turn (phone), a phone on a stand (phone-stream), a USB camera
(usb:0), a Raspberry Pi's camera module (pi), or a folder to which a picture is added after each turn (folder:DIR).
Phones on the same network can open the page, which shows the score and has the buttons for the game.
If you leave out an option, its value comes from the settings file. `python -m device.settings` prints all defaults.
"""

from __future__ import annotations

import argparse
import gc
import http.client
import os
import signal
import subprocess
import webbrowser
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from msgspec.structs import replace

from device.cli import UserError
from device.cli.options import (
    PROFILE_FILE_NAME,
    add_data_options,
    add_game_options,
    add_rule_options,
    ensure_data_folder,
    load_user_settings,
    make_profiled_reader,
    merge_game_settings,
)
from device.cli.page import find_page_addresses
from device.settings import Settings, SettingsError, find_settings_file, find_user_settings_file, load_settings
from device.settings_editor import SettingPath, SettingsFile
from device.storage.files import keep_private, may_exist, write_file
from device.system.process import limit_heap, restart_program
from device.system.start_record import StartRecord

if TYPE_CHECKING:
    from calibration.profile import ProfiledReader, TableProfile

_GAME_OPTIONS = ("players", "tiles", "lexicon", "layout", "rules", "challenge", "clock", "first")
OVERRIDABLE_SETTINGS: Mapping[str, SettingPath] = {
    **{name: ("game", name) for name in _GAME_OPTIONS},
    "rule": ("game", "more_rules"),
    "camera": ("camera", "source"),
    "port": ("page", "port"),
    "host": ("page", "host"),
    "data": ("data", "folder"),
}
"""The settings that command-line options replace, by name of the option."""

PAGE_TIMEOUT_S = 3.0


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    parser.add_argument(
        "--camera",
        metavar="CAMERA",
        help="camera to use: phone, phone-stream, usb:0, http://..., rtsp://..., folder:DIR or pi (default: pi if a "
        "camera module is connected, otherwise phone); `tilekeeper cameras` lists the cameras of this machine",
    )
    add_game_options(parser, players_needed=False)
    add_rule_options(parser)
    parser.add_argument("--new", action="store_true", help="start a new game even if the last one is not over")
    parser.add_argument("--port", type=int, help="port for the web page (default 8080)")
    parser.add_argument(
        "--host", metavar="ADDRESS", help="serve the page on this address only (default: all addresses)"
    )
    parser.add_argument(
        "--browser",
        action="store_true",
        help="open the page in the browser of this computer; if it is already up, only that",
    )
    add_data_options(parser)


@keep_private()
def run(args: argparse.Namespace) -> int:
    """Run the table until Ctrl-C or SIGTERM, or until a player switches the machine off with the panel."""
    file = make_settings_file(args)
    if args.browser and open_page_of_running_table(resolve_settings(args, load_usable_settings(file.path))):
        return 0
    limit_heap()
    gc.disable()  # nearly all that the start makes is needed until the end; `Appliance.serve` collects again
    from device.cli.appliance import Appliance  # loads OpenCV and the page, which `tilekeeper --help` does not need

    starts = make_start_record()
    settings = resolve_settings(args, load_usable_settings(file.path, starts, must_exist=args.settings is not None))
    folder = build_data_folder(settings, starts)
    reader, profile = build_reader(folder, starts)
    appliance = Appliance(
        settings,
        reader,
        profile,
        starts=starts,
        settings_file=file,
        data_folder=folder,
        open_link=webbrowser.open if args.browser else lambda _: None,
    )

    def end(*_: object) -> None:
        appliance.should_restart.clear()  # a program that is stopped while it restarts must not come back
        appliance.ended.set()

    signals = (signal.SIGINT, signal.SIGTERM)
    previous = {number: signal.signal(number, end) for number in signals}
    try:
        appliance.serve(new=args.new, has_options=has_game_options(args))
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
        gc.enable()
    if appliance.should_restart.is_set():
        restart_program(list_restart_words(args, appliance.overrides))
    if appliance.should_power_off.is_set():
        switch_off_machine()
    return 0


def open_page_of_running_table(settings: Settings) -> bool:
    """Open the page in the browser if it is already up, as after a second double click; return False if it is not."""
    page = settings.page
    is_up = is_page_up(page.host, page.port)
    if is_up:
        webbrowser.open(find_page_addresses(page.host, page.port)[0])
    return is_up


def is_page_up(host: str, port: int) -> bool:
    """Return True if a table of this computer serves its page at this address."""
    connection = http.client.HTTPConnection(host or "127.0.0.1", port, timeout=PAGE_TIMEOUT_S)
    try:
        connection.request("GET", "/live/state")
        return '"phase":' in connection.getresponse().read().decode("utf-8", "replace")
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def has_game_options(args: argparse.Namespace) -> bool:
    """Return True if the command line has options for a new game."""
    return args.new or any(getattr(args, name) is not None for name in (*_GAME_OPTIONS, "rule"))


def make_settings_file(args: argparse.Namespace) -> SettingsFile:
    """Return the settings file that the page may change, with a list of the settings that options replace."""
    given = {path: f"--{name}" for name, path in OVERRIDABLE_SETTINGS.items() if getattr(args, name, None) is not None}
    return SettingsFile(args.settings or find_settings_file() or find_user_settings_file(), given)


def list_restart_words(args: argparse.Namespace, overrides: Collection[SettingPath]) -> list[str]:
    """Return the arguments with which the program restarts: those that it has, except settings changed on the page.

    `overrides` are the settings that were not changed. `--new` and `--browser` are left out, because the game continues
    and the page comes back by itself.
    """
    words = ["run"] if args.settings is None else ["run", f"--settings={args.settings}"]
    for name, path in OVERRIDABLE_SETTINGS.items():
        given = getattr(args, name) if path in overrides else None
        words += [f"--{name}={value}" for value in (given if isinstance(given, list) else [given]) if given is not None]
    return words


def load_usable_settings(path: Path, starts: StartRecord | None = None, *, must_exist: bool = False) -> Settings:
    """Return the settings in the file `path`; if they are wrong, those of the last start at which they were right.

    The right settings are kept beside the file, in `*.last`. Without such a copy, the defaults are returned. A missing
    file is wrong only if it `must_exist`.
    """
    last = path.with_name(f"{path.name}.last")

    def load() -> Settings:
        settings = load_settings(path if must_exist or may_exist(path) else None)
        _keep_settings(path, last)
        return settings

    def load_last() -> Settings:
        with suppress(SettingsError):
            return load_settings(last)
        return Settings()

    return (starts or StartRecord(None)).build("settings", load, load_last)


def _keep_settings(path: Path, last: Path) -> None:
    """Copy the settings file `path` to `last`, unless they are the same, or the folder cannot be written."""
    with suppress(OSError):
        text = path.read_bytes()
        if not last.is_file() or last.read_bytes() != text:
            write_file(last, text, mode=0o600)


def build_data_folder(settings: Settings, starts: StartRecord) -> Path:
    """Return the data folder; if it cannot be used, return a new folder for the games of this start only."""
    return starts.build(
        "data",
        lambda: ensure_data_folder(settings.data.folder),
        lambda: Path(mkdtemp(prefix="tilekeeper-")),
    )


def build_reader(folder: Path, starts: StartRecord) -> tuple[ProfiledReader, TableProfile]:
    """Return the reader with the profile in `folder`, and the profile; without it if it cannot be loaded."""
    reader, profile = starts.build("profile", lambda: make_profiled_reader(folder), make_profiled_reader)
    if profile.problem:
        file = folder / PROFILE_FILE_NAME
        starts.add_failure("profile", profile.problem, file if may_exist(file) else None)
    return reader, profile


def make_start_record() -> StartRecord:
    """Return the record of failed starts, in the state folder that systemd provides for a service.

    If the program was not started as a service, failed starts are not counted.
    """
    folder = os.environ.get("STATE_DIRECTORY")
    return StartRecord(Path(folder) / "starts.json" if folder else None)


def resolve_settings(args: argparse.Namespace, settings: Settings | None = None) -> Settings:
    """Return `settings` with the values from the command line. Raises `UserError`.

    If `settings` is None, the settings file is loaded.
    """
    settings = settings or load_user_settings(args)
    settings = replace(settings, game=merge_game_settings(args, settings.game))
    for name in ("camera", "port", "host", "data"):
        section, key = OVERRIDABLE_SETTINGS[name]
        if (value := getattr(args, name)) is not None:
            settings = replace(settings, **{section: replace(getattr(settings, section), **{key: value})})
    return settings


def switch_off_machine() -> None:
    """Switch the machine off. Raises `UserError` if this is not possible."""
    try:
        done = subprocess.run(["systemctl", "poweroff"], check=False).returncode == 0
    except OSError:
        done = False
    if not done:
        raise UserError("The games are saved, but this machine cannot be switched off from here. Enter sudo poweroff.")
