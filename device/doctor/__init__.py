"""What is there, what is missing, and what mends it: `tilekeeper doctor`.

`examine` asks every check in turn; each is a function that looks at a `System` and the table's settings and gives
`Finding`s. A check says what it saw in plain words, and with each fault the one thing to do about it.
"""

from device.doctor.examination import Report, examine
from device.doctor.finding import Finding, Severity
from device.doctor.system import System

__all__ = ["Finding", "Report", "Severity", "System", "examine"]
