"""The result of one check of `tilekeeper doctor`: a finding with its severity."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """Severity of a finding, from `GOOD` to `FAULT`."""

    GOOD = "good"
    NOTE = "note"
    """Information only; nothing needs to be done."""
    WARNING = "warning"
    """The table works, but a part of it is missing or about to fail."""
    FAULT = "fault"
    """The table does not work until the fault is fixed."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One result of a check of the machine.

    `subject` is a short heading (`camera`), `state` the severity, `text` a sentence for the user, and `remedy` the
    command or action that fixes the fault (empty if nothing needs to be done).
    """

    subject: str
    state: Severity
    text: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Subject:
    """Factory for findings with the same subject (heading)."""

    name: str

    def good(self, text: str) -> Finding:
        """Return a finding for a part that works."""
        return Finding(self.name, Severity.GOOD, text)

    def note(self, text: str, remedy: str = "") -> Finding:
        """Return a finding for information only."""
        return Finding(self.name, Severity.NOTE, text, remedy)

    def warning(self, text: str, remedy: str) -> Finding:
        """Return a finding for a part that is missing or about to fail."""
        return Finding(self.name, Severity.WARNING, text, remedy)

    def fault(self, text: str, remedy: str) -> Finding:
        """Return a finding for a fault that keeps the table from working."""
        return Finding(self.name, Severity.FAULT, text, remedy)
