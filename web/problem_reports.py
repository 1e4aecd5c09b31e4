"""Problem reports prepared for clients. A report is first shown, then saved with the same contents."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterable, Iterator

from device.report.contents import Report, ReportChoice, ReportSources
from web.game_archive import GameArchive
from web.host_info import HostInfo
from web.security.pairing import Pairing

MAX_PREPARED = 4
"""Largest number of prepared reports. Only their texts and events are in memory, not their pictures."""


class ProblemReports:
    """Prepared problem reports about stored games. The newest reports are kept, each with a random id."""

    def __init__(self, archive: GameArchive, pairing: Pairing, host: HostInfo) -> None:
        self._archive = archive
        self._lock = threading.Lock()
        self._prepared: dict[str, Report] = {}
        self._sources = ReportSources(
            host.examine, host.read_log, host.find_version, lambda: _list_secrets(pairing, host)
        )

    def prepare(self, choice: ReportChoice) -> tuple[str, Report]:
        """Collect the contents of a report; return its id and the report. Raises `GameNotFoundError`, `StoreError`."""
        report, number = self._archive.make_report(choice, self._sources), secrets.token_hex(8)
        with self._lock:
            self._prepared = dict([*self._prepared.items(), (number, report)][-MAX_PREPARED:])
        return number, report

    def find(self, number: str) -> Report | None:
        """Return the prepared report with the id `number`, or None if it is no longer kept."""
        with self._lock:
            return self._prepared.get(number)

    def write(self, report: Report) -> Iterator[bytes]:
        """Return the chunks of the ZIP file of a report. Raises `StoreError`."""
        return report.write(self._archive.store)


def _list_secrets(pairing: Pairing, host: HostInfo) -> Iterable[str]:
    """Return all texts that give access to the Wi-Fi or the table, such as passwords and pairing codes."""
    passwords = (host.wifi[1] if host.wifi else "", host.hotspot.password if host.hotspot else "")
    return (*pairing.secrets, *passwords)
