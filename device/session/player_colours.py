"""The colours of the players, which are stored for later games."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from device.session.snapshot import PlayerView
from device.storage.errors import log_store_errors
from device.storage.store import GameStore


class PlayerColours:
    """The colours of all players in the store, by name; errors of the store are only logged."""

    def __init__(self, store: GameStore) -> None:
        self._store = store
        self._colours: dict[str, str] = {}

    def load(self) -> None:
        """Load the colours from the store."""
        with log_store_errors("the colours of the players are not known"):
            self._colours = dict(self._store.list_players())

    def save(self, colours: Iterable[tuple[str, str]]) -> None:
        """Save the colours of players, given as (name, colour), for this game and later games."""
        with log_store_errors("the colours of the players are not kept"):
            for name, colour in colours:
                self._colours[name] = colour
                self._store.save_colour(name, colour)

    def get(self, name: str) -> str:
        """Return the colour of a player, or an empty string if the player has no colour."""
        return self._colours.get(name, "")

    def colour_player(self, player: PlayerView) -> PlayerView:
        """Return the view of a player with the player's colour."""
        return replace(player, colour=self.get(player.name))
