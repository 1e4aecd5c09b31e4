"""The buttons of the panel, and the pins of buttons, lights and buzzer."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from engine.errors import TilekeeperError

MAX_PLAYERS = 4
"""Number of players that buttons and lights are designed for."""
FIRST_PIN, LAST_PIN = 2, 27
"""GPIO numbers that are free on the 40-pin header; 0 and 1 are reserved for the ID EEPROM of add-on boards."""


class Button(StrEnum):
    """A button of the panel. A turn is ended with one shared button, or each player has a button."""

    END_TURN = "end-turn"
    END_TURN_1 = "end-turn-1"
    END_TURN_2 = "end-turn-2"
    END_TURN_3 = "end-turn-3"
    END_TURN_4 = "end-turn-4"
    CHALLENGE = "challenge"
    PAUSE = "pause"
    NEW_GAME = "new-game"
    POWER = "power"

    @property
    def ends_turn(self) -> bool:
        """True for the shared end-turn button and for each player's own."""
        return self.startswith("end-turn")

    @property
    def player(self) -> int | None:
        """Index of the player to whom this end-turn button belongs; None for all other buttons."""
        return int(self[-1]) - 1 if self[-1].isdecimal() else None


END_TURN_BUTTONS = (Button.END_TURN_1, Button.END_TURN_2, Button.END_TURN_3, Button.END_TURN_4)


class PinsError(TilekeeperError, ValueError):
    """An unusable assignment of pins; `key` is the setting with the error."""

    def __init__(self, key: str, text: str) -> None:
        super().__init__(f"{key} {text}")
        self.key = key
        self.text = text


@dataclass(frozen=True, slots=True)
class Pins:
    """GPIO numbers (BCM numbers, not header positions) of everything on the panel; None or empty if not wired.

    Buttons connect their pin to ground. Lights get 3.3 V through a resistor; `common_anode` is for an RGB LED whose
    common leg is positive. One pin in `end_turn` is a shared button, two to four are one for each player.
    `status_light` is red, green, blue. Raises `PinsError`.
    """

    end_turn: tuple[int, ...] = (5, 6, 13, 19)
    challenge: int | None = 17
    pause: int | None = 27
    new_game: int | None = 22
    power: int | None = 4
    player_lights: tuple[int, ...] = (12, 16, 20, 21)
    status_light: tuple[int, ...] = (18, 23, 24)
    common_anode: bool = False
    buzzer: int | None = 25

    def __post_init__(self) -> None:
        if len(self.end_turn) > MAX_PLAYERS:
            raise PinsError(
                "end_turn", f"names {len(self.end_turn)} pins: one for a shared button, or up to {MAX_PLAYERS}"
            )
        if len(self.player_lights) > MAX_PLAYERS:
            raise PinsError("player_lights", f"names {len(self.player_lights)} pins: up to {MAX_PLAYERS}, one a player")
        if len(self.status_light) not in (0, 3):
            raise PinsError("status_light", f"names {len(self.status_light)} pins: red, green and blue, or none: []")
        named = self.list_wired_pins()
        for key, pin in named:
            if not FIRST_PIN <= pin <= LAST_PIN:
                raise PinsError(key, f"is GPIO {pin}, which cannot be used: choose {FIRST_PIN} to {LAST_PIN}")
        times = Counter(pin for _, pin in named)
        for index, (key, pin) in enumerate(named):
            if times[pin] > 1 and pin in {earlier for _, earlier in named[:index]}:
                first = next(name for name, used in named if used == pin)
                raise PinsError(key, f"is GPIO {pin}, which {first} has already: choose another")

    @property
    def buttons(self) -> dict[Button, int]:
        """The wired buttons and their pins."""
        own = zip(END_TURN_BUTTONS, self.end_turn, strict=False)
        ends = {Button.END_TURN: self.end_turn[0]} if len(self.end_turn) == 1 else dict(own)
        others = {
            Button.CHALLENGE: self.challenge,
            Button.PAUSE: self.pause,
            Button.NEW_GAME: self.new_game,
            Button.POWER: self.power,
        }
        return ends | {button: pin for button, pin in others.items() if pin is not None}

    def list_wired_pins(self) -> list[tuple[str, int]]:
        """Return (setting, pin) for every pin in use, in the order of the settings."""
        lists = {
            "end_turn": self.end_turn,
            "challenge": (self.challenge,),
            "pause": (self.pause,),
            "new_game": (self.new_game,),
            "power": (self.power,),
            "player_lights": self.player_lights,
            "status_light": self.status_light,
            "buzzer": (self.buzzer,),
        }
        return [(key, pin) for key, pins in lists.items() for pin in pins if pin is not None]
