"""Record of the parts of the program, such as the camera or the settings, that failed at start-up.

A part that raises an exception is built without what has failed, at once: one unreadable file never keeps the page
from coming up, where the owner sees what is wrong. A part that ended several consecutive starts by a crash is skipped
in the next one, and so is a part that crashed in the first minute of the service: the crash report of `faulthandler`
names it. If there is no report, all `HARDWARE_PARTS` are skipped.
"""

from __future__ import annotations

import faulthandler
import logging
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeVar

import msgspec

from device.catalogue import get_text
from device.storage.files import find_unusable_file, may_exist, write_file
from engine.errors import TilekeeperError

_log = logging.getLogger(__name__)

Built = TypeVar("Built")

MAX_FAILURES = 3
"""Number of consecutive crashes at a part after which the program starts without it."""
STABLE_S = 60.0
"""Time in seconds that the service must run for its start to count as successful."""
HARDWARE_PARTS = ("camera", "panel", "voice")
_PART_BY_MODULE = {
    "device/cameras": "camera", "device/capture": "camera", "vision": "camera", "device/panel": "panel",
    "device/system/voice": "voice", "calibration": "profile", "engine/lexicon": "word list",
    "device/storage/lexicons": "word list", "device/storage": "store",
}  # fmt: skip
_MODULE = re.compile(r'File ".*?((?:calibration|device|engine|vision)/[\w/]+)\.py"')
_SERVICE, _BOOT, _CRASH = "service", "boot", "crash at "
"""Keys in the file. `_SERVICE`: the service is running but not stable yet. `_BOOT`: the boot number of the machine.
`_CRASH`: prefix of the name of a part that has crashed."""
_BOOT_ID_FILE = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class FailedPart:
    """A part without which the program has started: the reason, and a file that the owner may set aside, if any."""

    part: str
    reason: str
    file: Path | None = None


class StartRecord:
    """File with the number of consecutive failed starts of each part of the program.

    The count of a part is increased before the part is built and reset afterwards, so a crash in between counts as a
    failure. Crashes after all parts have been built have counts of their own. The file is not synced to disk: it is for
    crashes of the program, not for power cuts. After the machine was started again, counts of the parts that were being
    built begin again, because a power cut may have ended the starts before.
    """

    def __init__(self, path: Path | None) -> None:
        """Read the number of failed starts of each part from `path`.

        If `path` is None, failures are not counted and no part is skipped.
        """
        self.unread_files: list[Path] = []
        """The files that could not be read, but without which every part of the program works."""
        if path and any(file.exists() and not file.is_file() for file in (path, path.with_suffix(".crash"))):
            _log.warning("%s is no file: failed starts are not counted", path)  # a FIFO would wait for its reader
            self.unread_files.append(path)
            path = None
        self._path = path
        self._failures: dict[str, int] = {}
        self._left_out: list[str] = []
        self._crash_report: IO[str] | None = None
        self.failed_parts: list[FailedPart] = []
        """The parts without which the program has started, in the order of the start."""
        if path and may_exist(path):
            try:
                self._failures = msgspec.json.decode(path.read_bytes(), type=dict[str, int])
            except (OSError, ValueError):
                self.unread_files.append(path)
        # After the machine was started again, only counts of crashes are kept: a power cut may have ended other starts.
        boot = _read_boot_number()
        is_same_boot = self._failures.get(_BOOT, 0) == boot
        if not is_same_boot:
            kept = {key: count for key, count in self._failures.items() if key == _SERVICE or key.startswith(_CRASH)}
            self._failures = {**kept, _BOOT: boot}
        if path and self._failures.get(_SERVICE):
            self._count_crash(path.with_suffix(".crash"), is_same_boot=is_same_boot)

    def build(
        self,
        part: str,
        build: Callable[[], Built],
        build_without: Callable[[], Built],
        file: Path | None = None,
        *,
        raises: tuple[type[Exception], ...] = (),
    ) -> Built:
        """Return `build()`, or `build_without()` if the part raises an exception or has crashed the last starts.

        `file` is the file that the part reads. `raises` are exceptions that are not caught, so that they end the start.
        A part that was left out because it has crashed is tried again after a complete start without it.
        """
        failures = max(self._failures.get(part, 0), self._failures.get(_CRASH + part, 0))
        if self._path and failures >= MAX_FAILURES:
            self._left_out.append(part)
            self.add_failure(part, get_text("start-without", part, MAX_FAILURES))
            return build_without()
        self._save(part, failures + 1)
        try:
            built = build()
        except raises:
            raise
        except Exception as error:
            self._add_exception(part, error, file)
            built = build_without()
        self._save(part, 0)
        return built

    def add_failure(self, part: str, reason: str, file: Path | None = None) -> None:
        """Record that the program has started without a part; `file` is the file that its owner may set aside."""
        self.failed_parts.append(FailedPart(part, reason, file))

    def _add_exception(self, part: str, error: Exception, file: Path | None) -> None:
        is_expected = isinstance(error, TilekeeperError | OSError)
        _log.warning("the program starts without %s: %s", part, error, exc_info=not is_expected)
        self.add_failure(part, describe_error(error), find_unusable_file(file))

    def complete(self) -> None:
        """Record that the program has started completely, so that the next start may try the skipped parts again."""
        for part in self._left_out:
            self._save(part, MAX_FAILURES - 1 if self._failures.get(part) else 0)
        if self._path:
            self._save(_SERVICE, 1)
            with suppress(OSError):
                self._crash_report = self._path.with_suffix(".crash").open("w", encoding="utf-8")
                faulthandler.enable(self._crash_report)

    def confirm(self) -> None:
        """Record that the service is stable: it has run for `STABLE_S`, or it has ended without a crash."""
        for key in [key for key in self._failures if key.startswith(_CRASH)]:
            self._save(key, MAX_FAILURES - 1 if key.removeprefix(_CRASH) in self._left_out else 0)
        self._save(_SERVICE, 0)

    def close(self) -> None:
        """Record that the service has ended without a crash."""
        self.confirm()
        if self._crash_report:
            faulthandler.disable()
            self._crash_report.close()

    def _count_crash(self, report: Path, *, is_same_boot: bool) -> None:
        """Count a crash of the last run of the service, unless the run ended with a power cut.

        `report` is the crash report. If the machine was started again after the run (`is_same_boot` is False), a power
        cut is assumed.
        """
        text = ""
        with suppress(OSError):
            text = report.read_text(encoding="utf-8", errors="replace")
        self._save(_SERVICE, 0)
        if is_same_boot:
            _log.error("the program crashed in its first minute\n%s", text)
            part = find_crashed_part(text)
            for name in [part] if part else HARDWARE_PARTS:
                self._save(_CRASH + name, self._failures.get(_CRASH + name, 0) + 1)

    def _save(self, part: str, failures: int) -> None:
        """Save the number of failed starts of a part, if it has changed."""
        if self._path is None or self._failures.get(part, 0) == failures:
            return
        self._failures = {**self._failures, part: failures}
        try:
            failures_by_part = {key: n for key, n in self._failures.items() if n}
            write_file(self._path, msgspec.json.encode(failures_by_part), sync=False)
        except OSError as error:
            _log.warning("failed starts are not counted: %s", error)


def describe_error(error: Exception) -> str:
    """Return the message of an exception, with the name of the file if it is an error of the system."""
    if isinstance(error, TilekeeperError):
        return str(error)
    if not isinstance(error, OSError):
        return f"{type(error).__name__}: {error}"
    named = error.filename2 or error.filename
    return f"{named}: {error.strerror or error}" if named else str(error.strerror or error)


def find_crashed_part(report: str) -> str:
    """Return the part of the program that crashed, or an empty string if `report` does not show one.

    `report` is a crash report of `faulthandler`, which lists the modules of each thread, innermost first. In the
    crashed thread, the first module that belongs to a part of the program determines the part.

    >>> find_crashed_part('Current thread 0x1:\\n  File "/opt/device/cameras/usb.py", line 9 in still')
    'camera'
    """
    _, _, crashed_thread = report.partition("Current thread")
    for module in _MODULE.findall(crashed_thread.partition("\n\n")[0]):
        for prefix, part in _PART_BY_MODULE.items():
            if f"{module}/".startswith(f"{prefix}/"):
                return part
    return ""


def _read_boot_number() -> int:
    """Return a number that changes with each boot of the machine; 0 if it is not available."""
    try:
        return int(_BOOT_ID_FILE.read_text().strip().replace("-", "")[:8], 16)
    except (OSError, ValueError):
        return 0
