"""Entries of a ledger as plain data, ready for JSON. Stores, archives and the hall contain this data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, get_args

from engine.board import parse_square, square_name
from engine.errors import NotationError
from engine.events import EVENT_VERSION, from_json, read_kind, to_json
from engine.ledger import (
    Answered,
    AnswerText,
    Doubt,
    Due,
    Entry,
    Judge,
    Note,
    Redone,
    Seat,
    Sentence,
    Shown,
    Source,
    Step,
    Undone,
    Value,
    make_unreadable,
)

_NOTE_KINDS: Mapping[str, type[Any]] = MappingProxyType({note.kind: note for note in get_args(Note)})
_FIELDS = frozenset({"v", "kind", "group", "alternatives", "chosen", "seat", "source", "clocks", "doubt"})
ENTRY_KIND = "entry"
UNREADABLE: Mapping[str, Any] = MappingProxyType({"v": EVENT_VERSION, "kind": "unreadable"})
"""The data in place of an entry that is lost."""


def write_entry(entry: Entry) -> dict[str, Any]:
    """Return an entry as plain data, without its number. Fields with their usual values are left out.

    >>> from engine.events import Passed
    >>> write_entry(Entry(1, 1, ((Passed(None),),)))
    {'v': 2, 'kind': 'entry', 'group': 1, 'alternatives': [[{'kind': 'pass', 'player': None}]], 'source': 'hand'}
    """
    if not entry.is_readable:
        return dict(UNREADABLE)
    data: dict[str, Any] = {
        "v": EVENT_VERSION,
        "kind": ENTRY_KIND,
        "group": entry.group,
        "alternatives": [[_write_step(step) for step in steps] for steps in entry.alternatives],
        "source": str(entry.source),
    }
    if entry.chosen:
        data["chosen"] = entry.chosen
    if entry.seat is not None:
        data["seat"] = entry.seat
    if entry.clocks is not None:
        data["clocks"] = list(entry.clocks)
    if entry.doubt is not None:
        data["doubt"] = _write_doubt(entry.doubt)
    return data


def read_entry(number: int, data: Mapping[str, Any]) -> Entry:
    """Return entry number `number` from plain data. Raises `NotationError` for data that `write_entry` never writes."""
    if data == UNREADABLE:
        return make_unreadable(number)
    if (kind := read_kind(data)) != ENTRY_KIND:
        raise NotationError(f"an entry of the unknown kind {kind!r}")
    if data.get("v") != EVENT_VERSION:
        raise NotationError(f"an entry of version {data.get('v')!r}; this program reads version {EVENT_VERSION}")
    if unknown := data.keys() - _FIELDS:
        raise NotationError(f"an entry has unknown fields: {', '.join(sorted(map(str, unknown)))}")
    try:
        alternatives = tuple(tuple(map(_read_step, steps)) for steps in data["alternatives"])
        clocks, doubt = data.get("clocks"), data.get("doubt")
        entry = Entry(
            number,
            int(data["group"]),
            alternatives,
            int(data.get("chosen", 0)),
            None if data.get("seat") is None else int(data["seat"]),
            Source(data["source"]),
            None if clocks is None else tuple(map(float, clocks)),
            None if doubt is None else _read_doubt(doubt),
        )
    except (TypeError, ValueError, KeyError, AttributeError, IndexError) as error:
        raise NotationError(f"broken entry: {error}") from error
    if not 0 <= entry.chosen < len(alternatives):
        raise NotationError("broken entry: none of its alternatives is chosen")
    return entry


def _write_step(step: Step) -> dict[str, Any]:
    """Convert a step of an entry, which is an act, an edit or a note, to plain data."""
    if not isinstance(step, Note):
        data = to_json(step)
        del data["v"]
        return data
    match step:
        case Answered(of, chosen, by, is_final):
            return {"kind": step.kind, "of": of, "chosen": chosen, "by": str(by), "final": is_final}
        case Shown(of, is_now):
            return {"kind": step.kind, "of": of, "now": is_now}
        case Undone(group) | Redone(group):
            return {"kind": step.kind, "group": group}


def _read_step(data: Mapping[str, Any]) -> Step:
    """Return the step in plain data from `_write_step`."""
    kind = _NOTE_KINDS.get(str(data.get("kind")))
    if kind is None:
        return from_json({"v": EVENT_VERSION, **data})
    if kind is Answered:
        return Answered(int(data["of"]), int(data["chosen"]), Judge(data["by"]), data["final"] is True)
    if kind is Shown:
        return Shown(int(data["of"]), data["now"] is True)
    note: Note = kind(int(data["group"]))
    return note


def _write_doubt(doubt: Doubt) -> dict[str, Any]:
    return {
        "code": doubt.code,
        "values": list(map(_write_value, doubt.values)),
        "answers": [[number, _write_value(text)] for number, text in doubt.answers],
        "squares": list(map(square_name, doubt.squares)),
        "seen": list(doubt.seen),
        "confidence": doubt.confidence,
        "waits": doubt.waits,
        "offers_picture": doubt.offers_picture,
    }


def _read_doubt(data: Mapping[str, Any]) -> Doubt:
    return Doubt(
        str(data["code"]),
        _read_values(data["values"]),
        tuple((int(number), _read_sentence(text)) for number, text in data["answers"]),
        tuple(map(parse_square, data["squares"])),
        tuple(map(str, data["seen"])),
        float(data["confidence"]),
        data["waits"] is True,
        data["offers_picture"] is True,
    )


def _write_value(value: Value) -> Any:
    """Convert a value of a question's text to plain data. Players and answers are stored by number, as texts change."""
    match value:
        case Seat(player):
            return {"seat": player}
        case Due(later):
            return {"due": later}
        case AnswerText(number):
            return {"answer": number}
        case Sentence(code, values):
            return {"code": code, "values": list(map(_write_value, values))}
        case _:
            return value


def _read_values(data: Iterable[Any]) -> tuple[Value, ...]:
    return tuple(map(_read_value, data))


def _read_value(data: Any) -> Value:
    """Return the value in plain data from `_write_value`."""
    if not isinstance(data, Mapping):
        return str(data)
    if "seat" in data:
        return Seat(int(data["seat"]))
    if "due" in data:
        return Due(int(data["due"]))
    return AnswerText(int(data["answer"])) if "answer" in data else _read_sentence(data)


def _read_sentence(data: Mapping[str, Any]) -> Sentence:
    return Sentence(str(data["code"]), _read_values(data["values"]))
