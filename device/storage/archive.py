"""Export and import of games: as GCG for other programs, or as ZIP with all events and pictures.

Imported files are not trusted. ZIP files are never unpacked to disk; only members with expected names are read, each up
to a limit of bytes. A game is imported only if all events have the right types and can be replayed.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import BinaryIO

from device.catalogue import get_text
from device.player_names import MAX_PLAYER_NAME_LENGTH, is_displayable, remove_invisible
from device.storage.errors import ArchiveError, GameNotFoundError
from device.storage.game_file import (
    GAME_MEMBER,
    PICTURE_MEMBER,
    decode_game,
    encode_game,
    generate_zip,
    name_picture,
    open_zip,
    parse_ledger,
)
from device.storage.game_log import UNREADABLE_GAME_ERRORS, read_ledger, write_ledger
from device.storage.statistics import SummaryCache
from device.storage.store import MAX_PICTURE_BYTES, GameStore, StoredEvent, StoredGame, StoredPicture
from engine.errors import NotationError, RulesError
from engine.events import Act, Challenged, Edit, PlayWithdrawn, Ref, ScoreCorrected
from engine.game import Game
from engine.gcg import build_game, build_record, format_gcg, parse_gcg, replay
from engine.ledger import Entry, Ledger, Source
from engine.lexicon import load_shipped_lexicon
from engine.limits import MAX_ARCHIVE_GAME_BYTES, MAX_GCG_BYTES
from engine.rules import UnplayedRule

_GCG_MEMBER = "game.gcg"
_import_lock = threading.Lock()
"""Held while a file is compared with the stored games and added: a page may send it twice at the same time."""


def load_game(store: GameStore, number: int) -> Game:
    """Return the game that follows from the entries in the store. Raises `GameNotFoundError`, `StoreError`."""
    return load_ledger(store, number).game


def load_ledger(store: GameStore, number: int) -> Ledger:
    """Load the ledger of a game from the store. Raises `GameNotFoundError`, `StoreError`."""
    events = store.list_events_to_export(number)
    if not events:
        raise GameNotFoundError(get_text("game-gone", number))
    try:
        ledger = read_ledger(event.body for event in events)
        _ = ledger.game  # raises for impossible acts
    except UNREADABLE_GAME_ERRORS as error:
        raise GameNotFoundError(get_text("game-unreadable", number, error)) from error
    return ledger


def export_gcg(store: GameStore, number: int, unplayed: UnplayedRule | None = None) -> str:
    """Return a game of the store as GCG text, as it was played, or with the unplayed letters counted by `unplayed`.

    Some programs only read games whose unplayed letters count twice for the player who went out. Raises `ArchiveError`,
    `StoreError`.
    """
    game = load_game(store, number)
    try:
        return format_gcg(build_record(game, load_shipped_lexicon(game.tiles.name), unplayed))
    except RulesError as error:
        raise GameNotFoundError(str(error)) from error


def export_zip(store: GameStore, number: int) -> Iterator[bytes]:
    """Return an iterator over the data of a ZIP file with a whole game: events with their times, GCG, pictures.

    Not more than one picture is in memory at a time. `ArchiveError` and `StoreError` are raised by the call itself, not
    during the iteration.
    """
    stored = find_stored_game(store, number)
    try:
        gcg = export_gcg(store, number)
    except ArchiveError:
        gcg = ""  # GCG cannot describe this game, or only a later version can replay it; its events are complete
    return generate_zip(_list_members(store, stored, gcg), stored.started)


def import_zip(store: GameStore, file: BinaryIO) -> int:
    """Import a ZIP file that `export_zip` wrote, and return the game's number in this store.

    Raises `ArchiveError`, `StoreError`.
    """
    with open_zip(file, _is_member) as members:
        started, events = decode_game(members.read(GAME_MEMBER, MAX_ARCHIVE_GAME_BYTES))
        pictures = members.list_pictures()
        for number, kind in pictures:
            if number >= len(events):
                name = name_picture(number, kind)
                raise ArchiveError(get_text("zip-no-event", name))
            members.read_picture(number, kind, MAX_PICTURE_BYTES)
        stored_pictures = (  # read again one after the other, so that only one is in memory
            StoredPicture(number, kind, members.read_picture(number, kind, MAX_PICTURE_BYTES))
            for number, kind in pictures
        )
        with _import_lock:
            _refuse_duplicate(store, read_ledger(event.body for event in events).game)
            return store.add_game(started, events, stored_pictures)


def _is_member(name: str) -> bool:
    return name in (GAME_MEMBER, _GCG_MEMBER) or PICTURE_MEMBER.fullmatch(name) is not None


def import_gcg(store: GameStore, data: bytes) -> int:
    """Import a GCG file from any program and return the game's number in this store.

    Raises `ArchiveError`, `StoreError`.
    """
    if len(data) > MAX_GCG_BYTES:
        raise ArchiveError(get_text("gcg-large", MAX_GCG_BYTES // 1000, -(-len(data) // 1000)))  # rounded up
    record = parse_gcg(data)
    if not record.entries:
        lines = [get_text("gcg-line", problem.line, problem.reason) for problem in record.problems]
        raise ArchiveError(next(iter(lines), get_text("gcg-no-events")))
    try:
        ledger = parse_ledger(write_ledger(make_ledger(build_game(record))))
    except (NotationError, RulesError) as error:
        raise ArchiveError(get_text("gcg-impossible", error)) from error
    now = time.time()
    events = tuple(StoredEvent(number, now, body) for number, body in enumerate(write_ledger(ledger)))
    with _import_lock:
        _refuse_duplicate(store, ledger.game)
        return store.add_game(now, events, ())


def list_gcg_problems(data: bytes) -> tuple[str, ...]:
    """Return the problems in a GCG file, one sentence each, in the order of the lines."""
    problems = replay(parse_gcg(data)).problems
    return tuple(get_text("gcg-line", problem.line, problem.reason) for problem in problems)


def make_ledger(game: Game) -> Ledger:
    """Return the ledger of a recorded game: an entry for each act, with the edits that follow it, such as its score."""
    refs: dict[Ref, Ref] = {}
    entries: list[tuple[Act | Edit, ...]] = []
    for event in game.events:
        if isinstance(event, Challenged | PlayWithdrawn | ScoreCorrected) and event.of is not None:
            event = replace(event, of=refs[event.of])
        if isinstance(event, Edit):
            entries[-1] = (*entries[-1], event)
        else:
            refs[game.items[len(refs)].ref] = Ref(len(entries) + 1, 0)
            entries.append((event,))
    started = replace(game.start_event, players=_clean_names(game.start_event.players))
    return Ledger(
        started, tuple(Entry(number, number, (steps,), source=Source.IMPORT) for number, steps in enumerate(entries, 1))
    )


def _clean_names(players: Iterable[str]) -> tuple[str, ...]:
    """Return corrected names of the players of a game.

    Names from other programs may be too long, may be empty, or may contain characters that cannot be displayed. Names
    that are equal after the correction get the number of the player.
    """
    cleaned = (_clean_player_name(name) for name in players)
    names = [name or f"Player {seat}" for seat, name in enumerate(cleaned, 1)]
    numbered = (f"{name[: MAX_PLAYER_NAME_LENGTH - 2].strip()} {seat}" for seat, name in enumerate(names, 1))
    unique = (name if names.count(name) == 1 else other for name, other in zip(names, numbered, strict=True))
    return tuple(unique)


def _clean_player_name(name: str) -> str:
    return remove_invisible("".join(filter(is_displayable, name))).strip()[:MAX_PLAYER_NAME_LENGTH].strip()


def make_file_name(stored: StoredGame, names: Iterable[str], suffix: str) -> str:
    """Return a file name of ASCII letters with the date, number and players of a game, followed by `suffix`."""
    ascii_names = [re.sub(r"[^A-Za-z0-9]", "", name) or "player" for name in names]
    date = time.strftime("%Y-%m-%d", time.localtime(stored.started))
    return f"{date}-game-{stored.id}-{'-'.join(ascii_names)[:80]}{suffix}"


def find_stored_game(store: GameStore, number: int) -> StoredGame:
    """Return the game with this number. Raises `GameNotFoundError`, `StoreError`."""
    stored = next((game for game in store.list_games() if game.id == number), None)
    if stored is None:
        raise GameNotFoundError(get_text("game-gone", number))
    return stored


def _list_members(store: GameStore, stored: StoredGame, gcg: str) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of each member of the ZIP file of a game."""
    events = store.list_events_to_export(stored.id)
    yield GAME_MEMBER, encode_game(stored, events)
    if gcg:
        yield _GCG_MEMBER, gcg.encode()
    for number, kind in store.list_pictures(stored.id):
        # A turn that is recorded during the export has pictures without an event in the file.
        if number < len(events) and (jpeg := store.read_picture(stored.id, number, kind)):
            yield name_picture(number, kind), jpeg


def _refuse_duplicate(store: GameStore, game: Game) -> None:
    """Raise `ArchiveError` if the store has a game with these players and turns, recorded at a table or in a ZIP file.

    Otherwise the records would count the game twice.
    """
    standings, turns = SummaryCache(store), _list_turns(game)
    for stored in store.list_games() if turns else ():
        standing = standings.get_standing(stored)  # a stored standing saves the replay of most games
        if standing is None or standing.totals != game.totals:
            continue
        if standing.players != game.players:
            continue
        if _list_turns(load_game(store, stored.id)) == turns:
            raise _make_duplicate_error(stored, standing.players)
    standings.save()  # the import of the next of many files replays only the game of this one


def _make_duplicate_error(stored: StoredGame, players: Iterable[str]) -> ArchiveError:
    """Return the error for a game that is stored as `stored`; the list on the page has its day and players."""
    day = time.strftime("%Y-%m-%d", time.localtime(stored.started))
    return ArchiveError(get_text("game-here", f"{stored.id} ({day}, {', '.join(players)})"))


def _list_turns(game: Game) -> list[tuple[object, ...]]:
    return [(turn.player, turn.kind, turn.score, turn.at, turn.word) for turn in game.turns]
