"""Settings of all tests."""

from __future__ import annotations

import os

from hypothesis import settings

# No deadlines: a busy machine is no bug. On CI the examples are the same each time, so that a red run can be run again;
# at the desk they are new each time, and what they find is kept beside the tests.
settings.register_profile("desk", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "desk")
