"""Diagnosis of the machine for `tilekeeper doctor`: checks, findings and the remedy for each fault.

`examine` runs all checks. A check is a function that takes a `System` and the table's `Settings`, and yields
`Finding`s. A finding is a sentence about one part of the machine. The finding of a fault also gives the command or
action that fixes the fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from device.doctor import checks
from device.doctor.system import Finding, Severity, System, check_service
from device.settings import Settings

__all__ = ["Finding", "Report", "Severity", "System", "examine"]


Check = Callable[[System, Settings], Iterable[Finding]]

PROGRAM_CHECKS: tuple[Check, ...] = (checks.check_networks, checks.check_word_list)
"""Checks that need no hardware; the installer runs these checks before it switches to a new version."""
MACHINE_CHECKS: tuple[Check, ...] = (
    checks.check_power,
    checks.check_disk,
    check_service,
    checks.check_camera,
    checks.check_picture,
    checks.check_panel,
    checks.check_wifi,
    checks.check_hotspot,
    checks.check_host_name,
    checks.check_ports,
    checks.check_voice,
    checks.check_speech,
    checks.check_clock,
    checks.check_update,
)


@dataclass(frozen=True, slots=True)
class Report:
    """Report of one run of the checks: all findings, and the versions of the installed software."""

    findings: tuple[Finding, ...]
    versions: dict[str, str]

    def count(self, state: Severity) -> int:
        """Return the number of findings of one severity."""
        return sum(finding.state is state for finding in self.findings)


def examine(
    system: System, settings_path: Path | None = None, *, program_only: bool = False, picture: bool = True
) -> Report:
    """Run the checks and return a report of their findings.

    `settings_path` replaces the machine's own settings file. If `program_only` is True, `MACHINE_CHECKS` are skipped.
    If `picture` is False, no picture is taken, and nothing is spoken.
    """
    settings, about_settings = checks.load_settings_or_defaults(system, settings_path)
    library_faults = tuple(checks.check_libraries(system, settings))
    findings = [about_settings, *library_faults]
    if not library_faults:  # the other checks need all libraries
        for check in PROGRAM_CHECKS if program_only else PROGRAM_CHECKS + MACHINE_CHECKS:
            if picture or check not in (checks.check_picture, checks.check_speech):
                findings += check(system, settings)
    return Report(tuple(findings), checks.collect_versions(system))
