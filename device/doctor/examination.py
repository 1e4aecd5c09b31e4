"""All checks, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from device.doctor import camera, machine, network, pins, program
from device.doctor.finding import Finding, Severity
from device.doctor.system import System
from device.settings import Settings

Check = Callable[[System, Settings], Iterable[Finding]]

PROGRAM_CHECKS: tuple[Check, ...] = (program.check_libraries, program.check_networks, program.check_word_list)
"""What must be right before anything is plugged in: the installer asks for these before it switches to a version."""
MACHINE_CHECKS: tuple[Check, ...] = (
    machine.check_architecture,
    machine.check_power,
    machine.check_temperature,
    machine.check_card,
    program.check_games,
    machine.check_service,
    pins.check_groups,
    camera.check_camera,
    pins.check_pins,
    pins.check_displays,
    network.check_wifi,
    network.check_hotspot,
    network.check_host_name,
    network.check_port,
    program.check_voice,
    machine.check_clock,
)


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that was found, and the versions of what is installed."""

    findings: tuple[Finding, ...]
    versions: dict[str, str]

    def count(self, state: Severity) -> int:
        """How many findings are so bad."""
        return sum(finding.state is state for finding in self.findings)


def examine(
    system: System, settings_path: Path | None = None, *, program_only: bool = False, picture: bool = True
) -> Report:
    """Ask every check; `named` is the settings file, where it is not the machine's own.

    `program_only` leaves the machine out, `picture` says whether to look through the camera where there is one.
    """
    settings, about_settings = program.load_settings_or_defaults(system, settings_path)
    findings = [about_settings]
    for check in PROGRAM_CHECKS if program_only else PROGRAM_CHECKS + MACHINE_CHECKS:
        found = tuple(check(system, settings))
        findings += found
        bad = any(finding.state is Severity.FAULT for finding in found)
        if check is program.check_libraries and bad:
            break  # the checks that follow need them
        if check is camera.check_camera and picture and not bad:
            findings += camera.check_picture(system, settings)
    return Report(tuple(findings), program.collect_versions(system))
