"""Encoding and decoding of `game.json`, the file of an archive with the events of a game and their times.

Files are not trusted: a game is accepted only if all events have the right types and can be replayed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from functools import cache
from typing import Annotated, Any, Literal, get_type_hints

import msgspec
from msgspec import Meta

from device.catalogue import get_text
from device.player_names import MAX_PLAYER_NAME_LENGTH, is_displayable
from device.storage.errors import ArchiveError
from device.storage.game_log import UNREADABLE_GAME_ERRORS, EventHistory
from device.storage.store import StoredEvent, StoredGame
from engine.corrections import Ledger
from engine.events import Correction, Event, GameStarted, PlayMade, QuestionDeferred, Redone, from_json, to_json
from engine.game import Game
from engine.limits import MAX_GCG_LINE_CHARS
from engine.messages import Message

GAME_MEMBER = "game.json"
FORMAT_NAME = "tilekeeper-game"
FORMAT_VERSION = 1
MAX_EVENTS = 2_000
MAX_REPLAY_STEPS = 40_000
"""Maximum number of replay steps that the corrections of an imported game cause; a game with more steps is refused.

Each correction replays the game. Each turn and each tile is a step of a replay; the replay of a whole game has hundreds
of steps.
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


class _Entry(msgspec.Struct):
    time: _Time
    event: dict[str, Any]


class _GameFile(msgspec.Struct):
    """Contents of `game.json`, the member of a ZIP archive with the events of a game."""

    started: _Time
    events: Annotated[list[_Entry], Meta(min_length=1, max_length=MAX_EVENTS)]


class _PressMarks(msgspec.Struct):
    """Fields that `GameLog` adds to an event: the number of its press, and `way` if the press was an undo or a redo.

    A press is one command of a player; all its events are undone together.
    """

    press: Annotated[int, Meta(ge=0, le=MAX_EVENTS)] | msgspec.UnsetType = msgspec.UNSET
    way: Literal["undo", "redo"] | msgspec.UnsetType = msgspec.UNSET


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
        if header.form != FORMAT_NAME or header.version != FORMAT_VERSION:
            raise ArchiveError(get_text("zip-form", GAME_MEMBER, repr(header.form), repr(header.version)))
        whole = msgspec.json.decode(data, type=_GameFile)
        events = [parse_event(entry.event) for entry in whole.events]
        replay_checked(events)
        # The stored bodies contain only the fields of the engine's events and the fields that `GameLog` adds.
        marks = [msgspec.to_builtins(msgspec.convert(entry.event, _PressMarks)) for entry in whole.events]
    except UNREADABLE_GAME_ERRORS as error:
        reason = "".join(letter if letter.isprintable() else "?" for letter in str(error)[:MAX_REASON_LENGTH])
        raise ArchiveError(get_text("zip-no-game", GAME_MEMBER, type(error).__name__, reason)) from error
    return whole.started, tuple(
        StoredEvent(number, entry.time, to_json(event) | mark)
        for number, (entry, event, mark) in enumerate(zip(whole.events, events, marks, strict=True))
    )


def parse_event(body: Mapping[str, Any]) -> Event:
    """Return the event for a JSON object, after a check of the types and sizes of its values.

    Raises `ArchiveError`, or any of `UNREADABLE_GAME_ERRORS`.
    """
    event = from_json(body)
    try:
        _check_sizes(body)
        _check_types(event)
    except ValueError as error:
        raise ArchiveError(get_text("zip-values", repr(event.kind))) from error
    return event


@cache
def _list_types(kind: type) -> Mapping[str, Any]:
    """Return the declared types of an event's fields. The result is cached, because evaluating annotations is slow."""
    return get_type_hints(kind)


def _check_types(event: Event) -> None:
    """Raise `ValueError` if a field of an event has another type than declared; the engine does not check types."""
    event_type: type = type(event)
    kinds = _list_types(event_type)
    for field in fields(event):
        if field.name not in _INNER_EVENT_FIELDS:  # msgspec does not support unions of dataclasses
            plain = msgspec.to_builtins(getattr(event, field.name), enc_hook=_encode_message)
            msgspec.convert(plain, kinds[field.name])
    for inner in _list_inner_events(event):
        _check_types(inner)


def _encode_message(value: object) -> str:
    """Return the text of a `Message`, which msgspec does not support. Raises NotImplementedError for other types."""
    if not isinstance(value, Message):
        raise NotImplementedError
    return str.__str__(value)  # `str(value)` would be the message itself


_INNER_EVENT_FIELDS = frozenset({"event", "answers"})


def _list_inner_events(event: object) -> Iterator[Event]:
    """Yield the events inside an event: the event of a corrected turn, or the events of each answer to a question."""
    if (inner := getattr(event, "event", None)) is not None:
        yield inner
    for answer in getattr(event, "answers", ()):
        yield from answer


def _check_sizes(value: object, name: str = "") -> None:
    """Raise `ValueError` if a number, text or list in an event is too large for a real game."""
    is_valid = True
    if isinstance(value, dict):
        for key, inner in value.items():
            _check_sizes(inner, key)
    elif isinstance(value, list):
        is_valid = len(value) <= (MAX_RECORD_LINES if name == "lines" else MAX_ITEMS)
        for inner in value:
            _check_sizes(inner, name)
    elif isinstance(value, str):
        longest = MAX_GCG_LINE_CHARS if name == "lines" else MAX_TEXT_LENGTH
        is_valid = len(value) <= longest and all(map(is_displayable, value))
    elif isinstance(value, int | float):
        smallest = -MAX_NUMBER if name == "score" else 0
        is_valid = smallest <= value <= (MAX_ITEMS if name in ("count", "rack_size") else MAX_NUMBER)
    if not is_valid:
        raise ValueError(f"{name} is {value!r:.60}")


def replay_checked(events: list[Event]) -> Game:
    """Replay events from an imported file and return the game.

    Raises `ArchiveError`, or any of `UNREADABLE_GAME_ERRORS`.
    """
    first = events[0]
    seats = range(len(first.players) if isinstance(first, GameStarted) else 0)
    if any(player not in seats for event in events for player in _find_named_players(event)):
        raise ArchiveError(get_text("zip-player"))
    history, replayed = EventHistory(first), 0
    _check_player_names(history.game)
    for event in events[1:]:
        replayed += _count_replay_steps(history.game.ledger) if isinstance(event, Correction | Redone) else 0
        if replayed > MAX_REPLAY_STEPS:
            raise ArchiveError(get_text("zip-corrections"))
        if isinstance(event, QuestionDeferred):
            _check_question(event, history.game)
        history.apply_event(event)
        _check_player_names(history.game)
    return history.game


def _check_question(question: QuestionDeferred, game: Game) -> None:
    """Raise `ArchiveError` for an inconsistent deferred question.

    There must be a text for each answer, and an answer with the index `chosen`. The `count` provisional events must be
    in `game`, after its first event.
    """
    has_answer = question.chosen < len(question.answers) == len(question.texts)
    if not has_answer or question.count >= len(game.events):
        raise ArchiveError(get_text("zip-values", repr(question.kind)))


def _check_player_names(game: Game) -> None:
    if not all(0 < len(name) <= MAX_PLAYER_NAME_LENGTH for name in game.players):
        raise ArchiveError(get_text("zip-name", MAX_PLAYER_NAME_LENGTH))


def _count_replay_steps(ledger: Ledger) -> int:
    """Return the number of steps (turns and tiles) of one replay of the game. Each correction causes a replay."""
    plays = (entry.event.play for entry in ledger if isinstance(entry.event, PlayMade))
    return len(ledger) + sum(len(play.tiles) + len(play.rearranged) for play in plays)


def _find_named_players(event: object) -> Iterator[int]:
    """Yield the player numbers in an event and in the events that it contains."""
    for name in ("player", "by", "first"):
        if isinstance(player := getattr(event, name, None), int):
            yield player
    for inner in _list_inner_events(event):
        yield from _find_named_players(inner)
