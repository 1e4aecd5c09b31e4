"""Check once a day whether a newer version of the program was released, if the settings allow it."""

from __future__ import annotations

import http.client
import importlib.metadata
import logging
import re
import time
import urllib.request
from pathlib import Path

import msgspec

from device.storage.files import read_small_file, write_file

NEWEST_VERSION_PATH = "/releases/latest/download/version.txt"
"""Path below the address of the project where the newest release has a file with its version, as on GitHub
(https://docs.github.com/repositories/releasing-projects-on-github/linking-to-releases)."""
CHECK_INTERVAL_S = 24 * 3600.0
TIMEOUT_S = 3.0
"""Longest time for each step of the request, in seconds. It is short: the settings page waits for the answer."""
MAX_ANSWER_BYTES = 100
CACHE_FILE_NAME = "new-version.json"
MAX_CACHE_BYTES = 10_000

_log = logging.getLogger(__name__)
_VERSION = re.compile(r"\d{1,6}(\.\d{1,6}){0,3}")


class _Check(msgspec.Struct, frozen=True):
    """Result of the last request, and its time (seconds since 1970); `newest` is empty if the request failed."""

    time: float
    newest: str


def find_newer_version(cache_folder: Path, installed: str | None = None, now: float | None = None) -> str:
    """Return the newest version if it is newer than `installed`, or an empty string.

    If `installed` is None, the version of this program is used; a checkout that is not installed makes no request. The
    result is kept in `cache_folder` for a day, even if the request failed. `now` is in seconds since 1970.
    """
    installed = find_installed_version("tilekeeper") if installed is None else installed
    if not installed:
        return ""
    now = time.time() if now is None else now
    path = cache_folder / CACHE_FILE_NAME
    check = _read_check(path)
    if check is None or not 0 <= now - check.time < CHECK_INTERVAL_S:
        check = _Check(now, _fetch_newest_version(find_project_address() + NEWEST_VERSION_PATH))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, msgspec.json.encode(check))
        except OSError as error:
            _log.warning("the newest version cannot be noted: %s", error)
    return check.newest if _make_key(check.newest) > _make_key(installed) else ""


def find_installed_version(distribution: str) -> str:
    """Return the version of an installed distribution (its name on PyPI), or an empty string."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return ""


def find_program_version() -> str:
    """Return the version of this program; if it is not installed, a text that says so."""
    return find_installed_version("tilekeeper") or "not installed (run from a checkout)"


def find_project_address() -> str:
    """Return the address of the project, which pyproject.toml states, without a slash at its end.

    Raises `PackageNotFoundError` if the program is not installed.
    """
    (address,) = importlib.metadata.metadata("tilekeeper").get_all("Project-URL", [])
    return str(address).removeprefix("Homepage, ").rstrip("/")


def _read_check(path: Path) -> _Check | None:
    try:
        return msgspec.json.decode(read_small_file(path, MAX_CACHE_BYTES), type=_Check)
    except (OSError, msgspec.MsgspecError):
        return None


def _fetch_newest_version(url: str) -> str:
    """Return the newest version, or an empty string if the server does not answer as expected."""
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:
            version = str(answer.read(MAX_ANSWER_BYTES), "ascii", "replace").strip()
    except (OSError, http.client.HTTPException) as error:
        _log.info("no answer about new versions: %s", error)
        return ""
    return version if _VERSION.fullmatch(version) else ""


def _make_key(version: str) -> tuple[int, ...]:
    """Return a key to compare versions. Only the numbers count, so `1.2rc1` equals `1.2`.

    >>> _make_key("0.10.1") > _make_key("0.9"), _make_key("")
    (True, ())
    """
    found = _VERSION.match(version)
    return tuple(map(int, found[0].split("."))) if found else ()
