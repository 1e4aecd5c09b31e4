"""All checks, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from device.doctor import camera, machine, network, pins, program
from device.doctor.finding import Finding, State
from device.doctor.system import System
from device.settings import Settings

Check = Callable[[System, Settings], Iterable[Finding]]

PROGRAM: tuple[Check, ...] = (program.libraries, program.networks, program.word_list)
"""What must be right before anything is plugged in: the installer asks for these before it switches to a version."""
MACHINE: tuple[Check, ...] = (
    machine.kind,
    machine.power,
    machine.temperature,
    machine.card,
    program.games,
    machine.service,
    pins.groups,
    camera.camera,
    pins.pins,
    pins.displays,
    network.wifi,
    network.hotspot,
    network.name,
    network.port,
    program.voice,
    machine.clock,
)


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that was found, and the versions of what is installed."""

    findings: tuple[Finding, ...]
    versions: dict[str, str]

    def count(self, state: State) -> int:
        """How many findings are so bad."""
        return sum(finding.state is state for finding in self.findings)


def examine(system: System, named: Path | None = None, *, program_only: bool = False, picture: bool = True) -> Report:
    """Ask every check; `named` is the settings file, where it is not the machine's own.

    `program_only` leaves the machine out, `picture` says whether to look through the camera where there is one.
    """
    settings, about_settings = program.settings_of(system, named)
    findings = [about_settings]
    for check in PROGRAM if program_only else PROGRAM + MACHINE:
        found = tuple(check(system, settings))
        findings += found
        bad = any(finding.state is State.FAULT for finding in found)
        if check is program.libraries and bad:
            break  # the checks that follow need them
        if check is camera.camera and picture and not bad:
            findings += camera.picture(system, settings)
    return Report(tuple(findings), program.versions(system))
