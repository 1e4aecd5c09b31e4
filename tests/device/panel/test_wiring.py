"""The wiring diagram in the documentation shows the default pins."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from itertools import pairwise
from pathlib import Path

from device.panel.buttons import Pins

DIAGRAM = Path(__file__).parents[3] / "docs" / "wiring.svg"
PART = ("button", "light", "buzzer")


def test_wiring_diagram_shows_a_part_at_every_default_pin_and_at_no_other() -> None:
    texts = ["".join(text.itertext()) for text in ElementTree.parse(DIAGRAM).iter("{http://www.w3.org/2000/svg}text")]
    wired = {
        int(pin.split()[1]) for pin, part in pairwise(texts) if pin.startswith("GPIO") and any(map(part.count, PART))
    }
    assert wired == {pin for _, pin in Pins().list_wired_pins()}
