"""The drawing of the wiring: whole, made from the pins in use, and the one in the documents up to date."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from device.panel.buttons import Button, Pins, PinsError
from device.panel.wiring import GPIO, GROUND, POWER, draw, main, parts
from device.settings import default_text

DRAWING = Path(__file__).parents[3] / "docs" / "wiring.svg"


def texts(svg: str) -> str:
    return " ".join("".join(element.itertext()) for element in ElementTree.fromstring(svg))


def test_drawing_in_the_documents_is_that_of_the_default_pins() -> None:
    assert DRAWING.read_text(encoding="utf-8") == draw(Pins()), "python -m device.panel.wiring > docs/wiring.svg"


def test_header_has_forty_places_and_each_gpio_once() -> None:
    assert sorted([*GPIO, *POWER, *GROUND]) == list(range(1, 41))
    assert sorted(GPIO.values()) == list(range(28))


def test_header_is_gpiozeros() -> None:
    from gpiozero.pins.mock import MockFactory

    header = MockFactory().board_info.headers["J8"].pins
    assert {place: header[place].name for place in GPIO} == {place: f"GPIO{number}" for place, number in GPIO.items()}
    assert all(header[place].name == "GND" for place in GROUND)


def test_every_wired_part_is_drawn_beside_its_pin() -> None:
    pins = Pins()
    drawn = texts(draw(pins))
    assert len(parts(pins)) == 8 + 4 + 3 + 1
    for part in parts(pins).values():
        assert part.name in drawn


def test_shared_button_and_common_anode() -> None:
    drawn = texts(draw(Pins(end_turn=(26,), player_lights=(), buzzer=None, common_anode=True)))
    assert "end-turn button" in drawn and "end-turn 1" not in drawn and "buzzer" not in drawn.replace("the buzzer", "")
    assert "common leg to 3.3 V" in drawn


def test_drawing_of_a_tables_own_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = tmp_path / "settings.toml"
    own.write_text(default_text().replace("challenge = 17", "challenge = 26"))
    assert main([str(own)]) == 0 and capsys.readouterr().out == draw(Pins(challenge=26))
    own.write_text("[panel]\nchallenge = 99")
    assert main([str(own)]) == 2 and "line 2" in capsys.readouterr().err


def test_pins_know_their_buttons() -> None:
    assert Pins(end_turn=(5, 6)).buttons.keys() >= {Button.END_TURN_1, Button.END_TURN_2}
    assert Button.END_TURN_1.player == 0 and Button.END_TURN.player is None and not Button.PAUSE.ends_turn
    with pytest.raises(PinsError, match="status_light is GPIO 5, which end_turn has already"):
        Pins(status_light=(1 + 1, 3, 5))
