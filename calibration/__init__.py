"""Keep what belongs to one table: examples of its own tiles.

A `TableProfile` learns from confirmed boards and refines later readings of the same table; `ProfiledReader` applies it
to every reading. With a path, the profile is kept in that file:

>>> from pathlib import Path
>>> from tempfile import TemporaryDirectory
>>> with TemporaryDirectory() as folder:
...     profile = TableProfile(Path(folder) / "table.npz")
...     profile.save()
...     TableProfile(Path(folder) / "table.npz").examples
()

`enrolment_rows` lays out one tile of each letter, so that a table can learn its tiles before the first game:

>>> "".join(enrolment_rows("QXZ")[7])
'..QXZ?.........'
"""

from calibration.enrolment import EnrolmentCheck, check_enrolment, enrolment_rows
from calibration.profile import ProfiledReader, ProfileError, TableProfile

__all__ = [
    "EnrolmentCheck",
    "ProfileError",
    "ProfiledReader",
    "TableProfile",
    "check_enrolment",
    "enrolment_rows",
]
