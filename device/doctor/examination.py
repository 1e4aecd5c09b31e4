"""The list of all checks, the function that runs the checks, and the report of their findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from device.doctor import camera, machine, network, panel, program, service
from device.doctor.finding import Finding, Severity
from device.doctor.system import System
from device.settings import Settings

Check = Callable[[System, Settings], Iterable[Finding]]

PROGRAM_CHECKS: tuple[Check, ...] = (program.check_networks, program.check_word_list)
"""Checks that need no hardware; the installer runs these checks before it switches to a new version."""
MACHINE_CHECKS: tuple[Check, ...] = (
    machine.check_power,
    machine.check_disk,
    service.check_service,
    camera.check_camera,
    camera.check_picture,
    panel.check_panel,
    network.check_wifi,
    network.check_hotspot,
    network.check_host_name,
    network.check_ports,
    program.check_voice,
    program.check_speech,
    machine.check_clock,
    program.check_update,
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
    settings, about_settings = program.load_settings_or_defaults(system, settings_path)
    findings = [about_settings, *program.check_libraries(system, settings)]
    if about_settings is findings[-1]:  # the other checks need all libraries
        for check in PROGRAM_CHECKS if program_only else PROGRAM_CHECKS + MACHINE_CHECKS:
            if picture or check not in (camera.check_picture, program.check_speech):
                findings += check(system, settings)
    return Report(tuple(findings), program.collect_versions(system))
