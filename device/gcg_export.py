"""Export of a stored game as GCG, with a choice of how the unplayed letters count at its end."""

from __future__ import annotations

from device.storage.archive import load_game
from device.storage.errors import ArchiveError
from device.storage.store import GameStore
from engine.errors import RulesError
from engine.gcg import build_record, format_gcg
from engine.lexicon import load_shipped_lexicon
from engine.rules import UnplayedRule


def export_gcg(store: GameStore, number: int, unplayed: UnplayedRule | None = None) -> str:
    """Return a game of the store as GCG text, as it was played, or with the unplayed letters counted by `unplayed`.

    Some programs only read games whose unplayed letters count twice for the player who went out. Raises `ArchiveError`,
    `StoreError`.
    """
    game = load_game(store, number)
    try:
        return format_gcg(build_record(game, load_shipped_lexicon(game.tiles.name), unplayed))
    except RulesError as error:
        raise ArchiveError(str(error)) from error
