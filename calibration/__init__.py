"""Adapt board readings to one table by examples of the table's own tiles.

A `TableProfile` stores tile crops from confirmed boards and uses these examples to refine later readings of the same
table. A `ProfiledReader` applies a profile to every reading. With a path, the profile is kept in that file:

>>> from pathlib import Path
>>> from tempfile import TemporaryDirectory
>>> with TemporaryDirectory() as folder:
...     profile = TableProfile(Path(folder) / "table.npz")
...     profile.save(Path.write_bytes)
...     TableProfile(Path(folder) / "table.npz").examples
()

`make_enrolment_rows` returns a layout with one tile of each letter, for enrolment of the tiles before the first game:

>>> "".join(make_enrolment_rows("QXZ")[7])
'..QXZ?.........'
"""

from calibration.enrolment import EnrolmentCheck, check_enrolment, make_enrolment_rows
from calibration.profile import ProfiledReader, ProfileError, TableProfile

__all__ = [
    "EnrolmentCheck",
    "ProfileError",
    "ProfiledReader",
    "TableProfile",
    "check_enrolment",
    "make_enrolment_rows",
]
