"""The colours of an edition can be read from, whatever the light."""

from __future__ import annotations

import re

from web.colours import contrast, editions_css


def test_what_is_written_on_a_premium_square_is_read_well() -> None:
    grounds = re.findall(r"--p:(#\w{6});--on:(#\w{6})", editions_css())
    assert len(grounds) > 30
    assert all(contrast(ground, ink) >= 4.5 for ground, ink in grounds)
