"""Diagnosis of the machine for `tilekeeper doctor`: checks, findings and the remedy for each fault.

`examine` runs all checks. A check is a function that takes a `System` and the table's `Settings`, and yields
`Finding`s. A finding is a sentence about one part of the machine. The finding of a fault also gives the command or
action that fixes the fault.
"""

from device.doctor.examination import Report, examine
from device.doctor.finding import Finding, Severity
from device.doctor.system import System

__all__ = ["Finding", "Report", "Severity", "System", "examine"]
