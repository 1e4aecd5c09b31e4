"""All games in one file: a copy of the store without its pictures, and the games of such a file that a store lacks."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from device.storage.errors import to_store_error
from device.storage.store import GameStore, StoredGame

_PART_BYTES = 64 * 1024


def copy_games_to_file(store: GameStore) -> Iterator[bytes]:
    """Return the parts of a file with all games, without pictures. Raises `StoreError`."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "games.db"
            store.copy_to(path, pictures=False)
            copy = path.open("rb")  # the folder is deleted now, the content when the file is closed
    except OSError as error:
        raise to_store_error(error, tempfile.gettempdir()) from error
    return _read_parts(copy)


def _read_parts(copy: IO[bytes]) -> Iterator[bytes]:
    with copy:
        while part := copy.read(_PART_BYTES):
            yield part


def add_missing_games(store: GameStore, data: bytes) -> int:
    """Add the games of a file that the store does not have, oldest first, as imported games; return their number.

    A game is missing if there is none with the same start time and players. Raises `StoreError` for a file that is no
    store of this version; games that were added before an error of the disk stay.
    """
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "games.db"
            path.write_bytes(data)
            with GameStore(path, is_owner=False) as source:
                return _add_games(source, store)
    except OSError as error:
        raise to_store_error(error, tempfile.gettempdir()) from error


def _add_games(source: GameStore, store: GameStore) -> int:
    known = set(map(_identify, store.list_games()))
    missing = [game for game in reversed(source.list_games()) if _identify(game) not in known and game.length]
    for game in missing:
        store.add_game(game.started, source.read_events(game.id), (), source.read_game_notes(game.id))
    for name, colour in source.list_players():
        if colour and name not in dict(store.list_players()):
            store.save_colour(name, colour)
    return len(missing)


def _identify(game: StoredGame) -> tuple[float, tuple[str, ...]]:
    return game.started, game.players
