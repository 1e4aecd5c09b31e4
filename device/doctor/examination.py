"""The list of all checks, the function that runs the checks, and the report of their findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from device.doctor import camera, games, hall, machine, network, pins, program
from device.doctor.finding import Finding, Severity
from device.doctor.system import System
from device.settings import Settings

Check = Callable[[System, Settings], Iterable[Finding]]

PROGRAM_CHECKS: tuple[Check, ...] = (program.check_libraries, program.check_networks, program.check_word_list)
"""Checks that need no hardware; the installer runs these checks before it switches to a new version."""
MACHINE_CHECKS: tuple[Check, ...] = (
    machine.check_architecture,
    machine.check_power,
    machine.check_temperature,
    machine.check_card,
    games.check_games,
    machine.check_service,
    pins.check_groups,
    camera.check_camera,
    camera.check_auto_turns,
    pins.check_pins,
    pins.check_displays,
    network.check_wifi,
    network.check_hotspot,
    network.check_host_name,
    network.check_port,
    network.check_secure_port,
    hall.check_hall,
    program.check_voice,
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
    If `picture` is True and the camera works, a picture is taken and checked.
    """
    settings, about_settings = program.load_settings_or_defaults(system, settings_path)
    findings = [about_settings]
    for check in PROGRAM_CHECKS if program_only else PROGRAM_CHECKS + MACHINE_CHECKS:
        results = tuple(check(system, settings))
        findings += results
        has_fault = any(finding.state is Severity.FAULT for finding in results)
        if check is program.check_libraries and has_fault:
            break  # the other checks need these libraries
        if check is camera.check_camera and picture and not has_fault:
            findings += camera.check_picture(system, settings)
    return Report(tuple(findings), program.collect_versions(system))
