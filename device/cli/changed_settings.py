"""Find out whether the settings of `[game]` were changed after the newest game was started."""

from __future__ import annotations

import msgspec

from device.settings import GameSettings
from device.storage.errors import log_store_errors
from device.storage.notes import load_note
from device.storage.store import TABLE_NOTES, GameStore

NOTE_NAME = "game-settings"


class _SettingsNote(msgspec.Struct, frozen=True):
    """The `[game]` settings of the last start, and the number of the newest game when they were changed."""

    settings: GameSettings = GameSettings()
    newest_game: int = 0


def find_outdated_game(store: GameStore, settings: GameSettings) -> int:
    """Return the number of the newest game if it was started before `[game]` was changed to `settings`, otherwise 0.

    Changed settings are noted in the store. If there is no note yet, all games are assumed to have been started with
    the default settings. Imported games do not count.
    """
    with log_store_errors("changes of the settings of [game] are not noticed"):
        newest = next((game.id for game in store.list_games() if not game.imported), 0)
        warning = "the settings of the last start are not known"
        note = load_note(store, TABLE_NOTES, NOTE_NAME, _SettingsNote, warning) or _SettingsNote()
        if note.settings != settings:
            note = _SettingsNote(settings, newest)
            store.save_note(TABLE_NOTES, NOTE_NAME, msgspec.json.encode(note).decode())
        return newest if newest <= note.newest_game else 0
    return 0
