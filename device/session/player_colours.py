"""The colours of the players at this table, which are kept for later games."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace

from device.session.snapshot import PlayerView
from device.storage.store import GameStore, StoreError

_log = logging.getLogger(__name__)


class PlayerColours:
    """The colours of all players in the store, by name. A fault of the store is logged, and the game goes on."""

    def __init__(self, store: GameStore) -> None:
        self._store = store
        self._colours: dict[str, str] = {}

    def load(self) -> None:
        """Load the colours from the store."""
        try:
            self._colours = dict(self._store.players())
        except StoreError as error:
            _log.warning("the colours of the players are not known: %s", error)

    def save(self, colours: Iterable[tuple[str, str]]) -> None:
        """Save the colours of players, given as (name, colour), for this game and later games."""
        try:
            for name, colour in colours:
                self._colours[name] = colour
                self._store.save_colour(name, colour)
        except StoreError as error:
            _log.warning("the colours of the players are not kept: %s", error)

    def get(self, name: str) -> str:
        """Return the colour of a player, an empty string if the player has none."""
        return self._colours.get(name, "")

    def colour_player(self, player: PlayerView) -> PlayerView:
        """Return the view of a player with the player's colour."""
        return replace(player, colour=self.get(player.name))
