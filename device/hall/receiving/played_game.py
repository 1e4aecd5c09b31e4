"""A game that the hall has received, as it stands after the replay of its events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from device.hall.receiving.received_games import ReceivedGame
from device.session.snapshot import TableSnapshot
from device.session.snapshot_builder import build_snapshot
from device.storage.errors import ArchiveError
from device.storage.game_file import parse_event, replay_checked
from device.storage.game_log import UNREADABLE_GAME_ERRORS
from device.storage.stored_game import StoredEvent
from engine.game import Game


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """The newest game of a table. `game` is None if this version of the program cannot read its events."""

    received: ReceivedGame
    event_count: int
    game: Game | None
    snapshot: TableSnapshot


def replay_game(received: ReceivedGame, events: Sequence[StoredEvent]) -> PlayedGame:
    """Replay the events of a game after the same checks as for an imported game, because tables are not trusted."""
    try:
        game = replay_checked([parse_event(event.body) for event in events])
        snapshot = replace(
            build_snapshot(game, None), game=received.id, events=len(events), lexicon=game.start_event.lexicon
        )
    except (ArchiveError, *UNREADABLE_GAME_ERRORS):
        return PlayedGame(received, len(events), None, TableSnapshot(game=received.id, events=len(events)))
    return PlayedGame(received, len(events), game, snapshot)
