"""Diagnosis of the machine for `tilekeeper doctor`: checks, findings and how to fix each fault.

`examine` runs every check. A check is a function of a `System` and the table's `Settings` that yields `Finding`s: a
sentence about the state, and for a fault the one command or action that fixes it.
"""

from device.doctor.examination import Report, examine
from device.doctor.finding import Finding, Severity
from device.doctor.system import System

__all__ = ["Finding", "Report", "Severity", "System", "examine"]
