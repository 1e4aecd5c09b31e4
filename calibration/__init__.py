"""Keep what belongs to one table: examples of its own tiles.

A `TableProfile` learns from confirmed boards and refines later readings of the same table; `ProfiledReader` applies it
to every reading. With a path, the profile is kept in that file:

>>> from pathlib import Path
>>> from tempfile import TemporaryDirectory
>>> with TemporaryDirectory() as folder:
...     profile = TableProfile(Path(folder) / "table.npz")
...     profile.save()
...     TableProfile(Path(folder) / "table.npz").summarise().examples
0

`enrolment_rows` lays out one tile of each letter, so that a table can learn its tiles before the first game:

>>> "".join(enrolment_rows("QXZ")[7])
'..QXZ?.........'
"""

from calibration.enrolment import EnrolmentCheck, check_enrolment, enrolment_rows
from calibration.profile import ProfileError, ProfileSummary, TableProfile
from calibration.profiled_reader import ProfiledReader

__all__ = [
    "EnrolmentCheck",
    "ProfileError",
    "ProfileSummary",
    "ProfiledReader",
    "TableProfile",
    "check_enrolment",
    "enrolment_rows",
]
