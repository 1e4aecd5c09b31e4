"""Record of the parts of the program, such as the camera or the settings, that failed at start-up.

A part that raises an exception is built without what has failed, at once: one unreadable file never keeps the page
from coming up, where the owner sees what is wrong. A part that ended several consecutive starts by a crash is skipped
in the next one.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from device.catalogue import get_text
from device.storage.files import find_unusable_file, may_exist, write_file
from engine.errors import TilekeeperError

_log = logging.getLogger(__name__)

Built = TypeVar("Built")

MAX_FAILURES = 3
"""Number of consecutive crashes at a part after which the program starts without it."""
_BOOT = "boot"
"""Key in the file of the boot number of the machine, beside the names of the parts."""
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
    failure. The file is not synced to disk: it is for crashes of the program, not for power cuts. After the machine was
    started again, the counts begin again, because a power cut may have ended the starts before.
    """

    def __init__(self, path: Path | None) -> None:
        """Read the number of failed starts of each part from `path`.

        If `path` is None, failures are not counted and no part is skipped.
        """
        self.unread_files: list[Path] = []
        """The files that could not be read, but without which every part of the program works."""
        if path and path.exists() and not path.is_file():
            _log.warning("%s is no file: failed starts are not counted", path)  # a FIFO would wait for its reader
            self.unread_files.append(path)
            path = None
        self._path = path
        self._failures: dict[str, int] = {}
        self._left_out: list[str] = []
        self.failed_parts: list[FailedPart] = []
        """The parts without which the program has started, in the order of the start."""
        if path and may_exist(path):
            try:
                self._failures = msgspec.json.decode(path.read_bytes(), type=dict[str, int])
            except (OSError, ValueError):
                self.unread_files.append(path)
        # After the machine was started again, counting begins anew: a power cut may have ended the starts before.
        boot = _read_boot_number()
        if self._failures.get(_BOOT, 0) != boot:
            self._failures = {_BOOT: boot}

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
        failures = self._failures.get(part, 0)
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
            self._save(part, MAX_FAILURES - 1)

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


def _read_boot_number() -> int:
    """Return a number that changes with each boot of the machine; 0 if it is not available."""
    try:
        return int(_BOOT_ID_FILE.read_text().strip().replace("-", "")[:8], 16)
    except (OSError, ValueError):
        return 0
