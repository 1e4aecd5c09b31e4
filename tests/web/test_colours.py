"""The colours of an edition can be read from, whatever the light."""

from __future__ import annotations

import re

from web.colours import build_editions_css, contrast_ratio


def test_what_is_written_on_a_premium_square_is_read_well() -> None:
    grounds = re.findall(r"--p:(#\w{6});--on:(#\w{6})", build_editions_css())
    assert len(grounds) > 30
    assert all(contrast_ratio(ground, ink) >= 4.5 for ground, ink in grounds)
