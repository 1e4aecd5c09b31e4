"""What a check of the doctor found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How bad it is."""

    GOOD = "good"
    NOTE = "note"
    """Worth knowing; nothing needs to be done."""
    WARNING = "warning"
    """The table plays on, but something of it is missing or will not last."""
    FAULT = "fault"
    """The table does not work so."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: its subject (`camera`), how it is in plain words, and what mends it."""

    subject: str
    state: Severity
    text: str
    mend: str = ""


@dataclass(frozen=True, slots=True)
class Subject:
    """Makes the findings of one subject."""

    name: str

    def good(self, text: str) -> Finding:
        """All is well."""
        return Finding(self.name, Severity.GOOD, text)

    def note(self, text: str, mend: str = "") -> Finding:
        """Worth knowing."""
        return Finding(self.name, Severity.NOTE, text, mend)

    def warning(self, text: str, mend: str) -> Finding:
        """Something is missing, or will not last."""
        return Finding(self.name, Severity.WARNING, text, mend)

    def fault(self, text: str, mend: str) -> Finding:
        """The table does not work so."""
        return Finding(self.name, Severity.FAULT, text, mend)
