"""Encoding and decoding of `game.json`, the file of an archive with the start of a game, its entries, and their times.

Files are not trusted: a game is accepted only if all entries have the right types and the game follows from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from functools import cache
from itertools import accumulate, chain
from typing import Annotated, Any, get_type_hints

import msgspec
from msgspec import Meta

from device.catalogue import get_text
from device.player_names import MAX_PLAYER_NAME_LENGTH, is_displayable
from device.storage.errors import ArchiveError
from device.storage.game_log import UNREADABLE_GAME_ERRORS, read_ledger, write_ledger
from device.storage.store import EventBody, StoredEvent, StoredGame
from engine.events import Act, Edit, Event, GameStarted, PlayerRenamed, PlayMade, TurnCorrected, TurnInserted
from engine.ledger import Ledger, Note, Step
from engine.limits import MAX_GCG_LINE_CHARS

GAME_MEMBER = "game.json"
FORMAT_NAME = "tilekeeper-game"
FORMAT_VERSION = 2
MAX_EVENTS = 2_000
MAX_STEPS = 10_000
"""Maximum number of steps (acts, edits and notes) in the entries of an imported game, all alternatives included."""
MAX_REPLAY_STEPS = 40_000
"""Maximum work that edits and plays which do not count may cause in an imported game (`_count_replay_steps`).

A game with thirty corrections has about 5,000 steps.
"""
MAX_NUMBER = 100_000_000
MAX_ITEMS = 500
"""Largest length of a list in an event, such as the tiles of a rack or the words of a challenge."""
MAX_TEXT_LENGTH = 1_000
MAX_REASON_LENGTH = 120
"""Largest length of the reason in a message about an invalid game."""
MAX_RECORD_LINES = 10_000
"""Largest number of lines of a GCG file in an event `RecordImported`; annotated games have long notes."""

_Time = Annotated[float, Meta(ge=0, lt=1e11)]
"""A time in seconds since 1970."""


class _Header(msgspec.Struct):
    form: str
    version: int


class _Row(msgspec.Struct):
    time: _Time
    event: dict[str, Any]


class _GameFile(msgspec.Struct):
    """Contents of `game.json`, the member of a ZIP archive with the events of a game."""

    started: _Time
    events: Annotated[list[_Row], Meta(min_length=1, max_length=MAX_EVENTS)]


def encode_game(stored: StoredGame, events: Iterable[StoredEvent]) -> bytes:
    """Return the contents of `game.json` for a stored game."""
    entries = [{"time": event.time, "event": event.body} for event in events]
    whole = {"form": FORMAT_NAME, "version": FORMAT_VERSION, "started": stored.started, "events": entries}
    return msgspec.json.format(msgspec.json.encode(whole), indent=1)


def decode_game(data: bytes) -> tuple[float, tuple[StoredEvent, ...]]:
    """Return the start time and the events of the game in a `game.json`.

    Raises `ArchiveError` if the events are invalid or cannot be replayed.
    """
    try:
        header = msgspec.json.decode(data, type=_Header)
        if header.form == FORMAT_NAME and header.version > FORMAT_VERSION:
            raise ArchiveError(get_text("zip-newer", GAME_MEMBER))
        if header.form == FORMAT_NAME and 0 < header.version < FORMAT_VERSION:
            raise ArchiveError(get_text("zip-older", GAME_MEMBER))
        if header.form != FORMAT_NAME or header.version != FORMAT_VERSION:
            raise ArchiveError(get_text("zip-form", GAME_MEMBER, repr(header.form), repr(header.version)))
        whole = msgspec.json.decode(data, type=_GameFile)
        ledger = parse_ledger([row.event for row in whole.events])
    except UNREADABLE_GAME_ERRORS as error:
        reason = "".join(letter if letter.isprintable() else "?" for letter in str(error)[:MAX_REASON_LENGTH])
        raise ArchiveError(get_text("zip-no-game", GAME_MEMBER, type(error).__name__, reason)) from error
    bodies = write_ledger(ledger)  # only the fields that this program knows
    return whole.started, tuple(
        StoredEvent(number, row.time, body) for number, (row, body) in enumerate(zip(whole.events, bodies, strict=True))
    )


def parse_ledger(bodies: Iterable[EventBody]) -> Ledger:
    """Return the ledger of a game from data that is not trusted, after a check of types, sizes and work.

    Raises `ArchiveError`, or any of `UNREADABLE_GAME_ERRORS`.
    """
    bodies = tuple(bodies)
    for body in bodies:
        try:
            _check_sizes(body)
        except ValueError as error:
            raise ArchiveError(get_text("zip-values", repr(body.get("kind")))) from error
    ledger = read_ledger(bodies)
    _check_ledger(ledger)
    _ = ledger.game  # raises for impossible acts
    return ledger


def _check_ledger(ledger: Ledger) -> None:
    """Raise `ArchiveError` if the entries have wrong types, or too many steps, or name players who do not play."""
    steps = tuple(step for entry in ledger.entries for steps in entry.alternatives for step in steps)
    if len(steps) > MAX_STEPS or _count_replay_steps(steps) > MAX_REPLAY_STEPS:
        raise ArchiveError(get_text("zip-corrections"))
    for event in (ledger.setup, *steps):
        try:
            _check_types(event)
        except ValueError as error:
            raise ArchiveError(get_text("zip-values", repr(event.kind))) from error
    seats = range(len(ledger.setup.players))
    named = chain.from_iterable(map(_find_named_players, (ledger.setup, *steps)))
    entered = (entry.seat for entry in ledger.entries if entry.seat is not None)
    if any(player not in seats for player in chain(named, entered)):
        raise ArchiveError(get_text("zip-player"))
    if any(len(entry.clocks or seats) != len(seats) for entry in ledger.entries):
        raise ArchiveError(get_text("zip-player"))
    names = [step.name for step in steps if isinstance(step, PlayerRenamed)]
    if not all(0 < len(name) <= MAX_PLAYER_NAME_LENGTH for name in (*ledger.setup.players, *names)):
        raise ArchiveError(get_text("zip-name", MAX_PLAYER_NAME_LENGTH))


@cache
def _list_types(kind: type) -> Mapping[str, Any]:
    """Return the declared types of an event's fields. The result is cached, because evaluating annotations is slow."""
    return get_type_hints(kind)


def _check_types(event: GameStarted | Step) -> None:
    """Raise `ValueError` if a field of an event has another type than declared; the engine does not check types."""
    event_type: type = type(event)
    kinds = _list_types(event_type)
    for field in fields(event):
        if field.name != "event":  # msgspec does not support unions of dataclasses
            msgspec.convert(msgspec.to_builtins(getattr(event, field.name)), kinds[field.name])
    if (inner := _find_inner_event(event)) is not None:
        _check_types(inner)


def _find_inner_event(event: object) -> Act | None:
    """Return the act inside an edit: that of a corrected or an inserted turn."""
    return event.event if isinstance(event, TurnCorrected | TurnInserted) else None


def _check_sizes(value: object, name: str = "") -> None:
    """Raise `ValueError` if a number, text or list in an event is too large for a real game."""
    is_valid = True
    if isinstance(value, dict):
        for key, inner in value.items():
            _check_sizes(inner, key)
    elif isinstance(value, list | tuple):
        is_valid = len(value) <= (MAX_RECORD_LINES if name == "lines" else MAX_ITEMS)
        for inner in value:
            _check_sizes(inner, name)
    elif isinstance(value, str):
        longest = MAX_GCG_LINE_CHARS if name == "lines" else MAX_TEXT_LENGTH
        is_valid = len(value) <= longest and all(map(is_displayable, value))
    elif isinstance(value, int | float):
        smallest = -MAX_NUMBER if name in ("score", "points") else 0
        is_valid = smallest <= value <= (MAX_ITEMS if name in ("count", "rack_size") else MAX_NUMBER)
    if not is_valid:
        raise ValueError(f"{name} is {value!r:.60}")


def _count_replay_steps(steps: Iterable[Step]) -> int:
    """Return the work of computing the game, besides that of its acts, in acts and tiles.

    Each edit looks for its act among those before it. For a play that does not count, all other plays are examined.
    """
    acts = [step for step in steps if not isinstance(step, Note)]
    sizes = list(map(_measure_act, acts))
    edits = sum(before for step, before in zip(acts, accumulate(sizes), strict=True) if isinstance(step, Edit))
    return edits + sum(bool(getattr(step, "unlisted", ())) for step in acts) * sum(sizes)


def _measure_act(event: Event) -> int:
    """Return the size of an act or edit: 1, and 1 for each tile."""
    act = _find_inner_event(event) or event
    return 1 + (len(act.play.tiles) + len(act.play.rearranged) if isinstance(act, PlayMade) else 0)


def _find_named_players(event: object) -> Iterator[int]:
    """Yield the player numbers in an event and in the event that it contains."""
    for name in ("player", "by", "first"):
        if isinstance(player := getattr(event, name, None), int):
            yield player
    if (inner := _find_inner_event(event)) is not None:
        yield from _find_named_players(inner)
