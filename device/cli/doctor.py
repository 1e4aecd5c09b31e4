"""Check this machine. Show what works, what is missing, and how to fix each fault.

Use sudo, because some checks need root. The exit status is 0 if no fault keeps the table from working; there may be
warnings and notes. Otherwise, it is 1. With --json, the command prints one JSON object with the findings (subject,
state: good | note | warning | fault, text, mend), the versions, and the numbers of faults and warnings.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from device.doctor import Report

_MARKS = {"good": "  ok", "note": "note", "warning": "WARN", "fault": "FAIL"}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    parser.add_argument(
        "--settings", type=Path, metavar="FILE", help="settings file to check (default: the one that the table uses)"
    )
    parser.add_argument(
        "--program", action="store_true", help="check only the libraries, neural networks, word list and settings"
    )
    parser.add_argument("--no-picture", action="store_true", help="take no picture with the camera, and speak nothing")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")


def run(args: argparse.Namespace) -> int:
    """Examine this machine and print the report."""
    from device.doctor import Severity, System, examine

    report = examine(System(), args.settings, program_only=args.program, picture=not args.no_picture)
    print(as_json(report) if args.json else as_text(report))
    return 1 if report.count(Severity.FAULT) else 0


def as_json(report: Report) -> str:
    """Return the report as JSON."""
    from device.doctor import Severity

    answer = {
        "findings": [
            {"subject": finding.subject, "state": finding.state, "text": finding.text, "mend": finding.remedy}
            for finding in report.findings
        ],
        "versions": report.versions,
        "faults": report.count(Severity.FAULT),
        "warnings": report.count(Severity.WARNING),
    }
    return json.dumps(answer, ensure_ascii=False)


def as_text(report: Report) -> str:
    """Return the report as text: a line for each finding, followed by the remedy if there is one."""
    from device.doctor import Severity

    lines = []
    for finding in report.findings:
        lines.append(f"{_MARKS[finding.state]}  {finding.subject}: {finding.text}")
        if finding.remedy:
            lines.append(f"      -> {finding.remedy}")
    lines.append("")
    lines.append(", ".join(f"{name} {version}" for name, version in report.versions.items()))
    faults, warnings = report.count(Severity.FAULT), report.count(Severity.WARNING)
    if faults:
        lines.append(f"{_format_count(faults, 'fault')} to fix, {_format_count(warnings, 'warning')}.")
    else:
        lines.append("No faults." + (f" {_format_count(warnings, 'warning')}." if warnings else ""))
    return "\n".join(lines)


def _format_count(number: int, noun: str) -> str:
    """Return a number with its noun: "1 fault", "2 faults"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
