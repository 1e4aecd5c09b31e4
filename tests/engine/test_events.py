"""Events and entries as plain data: versioned, and exact both ways."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest

from engine.errors import NotationError, RulesError
from engine.events import (
    BlankTaken,
    Challenged,
    EndReason,
    Event,
    GameEnded,
    GameStarted,
    PlayMade,
    PositionEntered,
    RackRevealed,
    Ref,
    SquareCorrected,
    TileRecycled,
    TurnInserted,
    dumps,
    from_json,
    loads,
    read_start,
    to_json,
)
from engine.ledger import Doubt, Entry, Note, Source
from engine.ledger_data import read_entry, write_entry
from engine.plays import Play
from engine.rules import PRESETS, ChallengeRule, FinishLineLevel, Rules, UnplayedRule
from engine.tiles import Tile
from tests.support.engine_table import new_game, play

WRITTEN = [
    (
        '{"v":2,"kind":"play","player":0,"play":{"tiles":[["H8","A"],["I8","?T"],["J8","?"]]},"unlisted":["AT"]}',
        PlayMade(0, Play.from_tiles({112: Tile("A"), 113: Tile("T", is_blank=True), 114: Tile.unnamed()}), ("AT",)),
    ),
    (
        '{"v":2,"kind":"position","board":[["H8","A"],["I8","?T"],["J8","?"]],"totals":[120,98],"to_move":1}',
        PositionEntered(((112, Tile("A")), (113, Tile("T", is_blank=True)), (114, Tile.unnamed())), (120, 98), 1),
    ),
    (
        '{"v":2,"kind":"challenge","by":null,"upheld":false,"words":["HORN"],"of":"7.1"}',
        Challenged(None, False, ("HORN",), Ref(7, 1)),
    ),
    (
        '{"v":2,"kind":"turn-inserted","before":"2.0","event":{"v":2,"kind":"ended","reason":"no-play-left"}}',
        TurnInserted(Ref(2, 0), GameEnded(EndReason.NO_PLAY_LEFT)),
    ),
]


@pytest.mark.parametrize(("line", "event"), WRITTEN, ids=[event.kind for _, event in WRITTEN])
def test_line_is_read_as_event(line: str, event: Event) -> None:
    assert loads(line) == event == loads(dumps(event))


@pytest.mark.parametrize(
    "data",
    [
        {"v": 2, "kind": "pass", "player": 1, "mood": "sad"},
        {
            "v": 2,
            "kind": "turn-inserted",
            "before": None,
            "event": {"v": 2, "kind": "pass", "player": 1, "mood": "sad"},
        },
    ],
)
def test_from_json_refuses_unknown_field(data: dict[str, object]) -> None:
    with pytest.raises(NotationError, match="mood"):
        from_json(data)


def test_field_with_a_default_may_be_missing() -> None:
    assert loads('{"v":2,"kind":"square-corrected","square":"H8","tile":"B"}') == SquareCorrected(112, Tile("B"))


# What stores and archives hold: one line for each act, edit, note and value of an entry, with every field.
SAMPLES = (Path(__file__).parent / "data" / "events.jsonl").read_text(encoding="utf-8").splitlines()


def read_and_write(data: dict[str, object]) -> dict[str, object]:
    """Return what is written for the entry, event or start of a game that is read from `data`."""
    match data["kind"]:
        case "entry":
            return write_entry(read_entry(7, data))
        case "started":
            return to_json(read_start(data))
    return to_json(from_json(data))


@pytest.mark.parametrize("line", SAMPLES, ids=lambda line: json.loads(line)["kind"])
def test_sample_is_written_back_identically(line: str) -> None:
    assert json.dumps(read_and_write(json.loads(line)), ensure_ascii=False, separators=(",", ":")) == line


def test_samples_have_every_kind() -> None:
    samples = [json.loads(line) for line in SAMPLES]
    steps = [step for sample in samples for steps in sample.get("alternatives", ()) for step in steps]
    kinds = {kind.kind for kind in (GameStarted, *get_args(Event), *get_args(Note))}
    assert {sample["kind"] for sample in (*samples, *steps)} == kinds | {"entry"}


def test_sample_entries_have_every_field() -> None:
    entries = [sample for sample in map(json.loads, SAMPLES) if sample["kind"] == "entry"]
    names = {"v", "kind", *(field.name for field in fields(Entry))} - {"number", "is_readable"}
    assert {name for entry in entries for name in entry} == names
    assert {entry["source"] for entry in entries} == set(Source)
    assert {name for entry in entries for name in entry.get("doubt", ())} == {field.name for field in fields(Doubt)}


def test_sample_events_have_every_reason_to_end() -> None:
    ends = [json.loads(line) for line in SAMPLES if '"kind":"ended"' in line]
    assert {end["reason"] for end in ends} == set(EndReason)


def test_sample_events_have_every_rule() -> None:
    starts = [json.loads(line) for line in SAMPLES if '"kind":"started"' in line]
    assert {name for start in starts for name in start["rules"]} == {field.name for field in fields(Rules)}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("no json", "is no event"),
        ("[]", "unknown kind"),
        ('{"v":2,"kind":"dance"}', "unknown kind"),
        ('{"v":2,"kind":["pass"]}', "unknown kind"),
        ('{"v":1,"kind":"pass","player":1}', "version 1"),
        ('{"v":9,"kind":"pass","player":1}', "version 9"),
        ('{"v":2,"kind":"pass"}', "broken event 'pass'"),
        ('{"v":2,"kind":"turn-given","of":"1","player":0}', "broken event 'turn-given'"),
        ('{"v":2,"kind":"started","players":["Anna","Ben"]}', "starts only once"),
        ('{"v":2,"kind":"blank-named","square":"Z9","letter":"A"}', "broken event 'blank-named'"),
        ('{"v":2,"kind":"play","player":0,"play":{}}', "broken event 'play'"),
    ],
)
def test_a_broken_event_says_what_is_wrong(line: str, reason: str) -> None:
    with pytest.raises(NotationError, match=reason):
        loads(line)


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (PlayMade(1, Play(())), "No tile was played"),
        (PlayMade(1, Play.from_tiles({116: Tile("Ж")})), "The tile set 'en' has no tile Ж"),
        (TileRecycled(1, 112, Tile("Ж")), "The tile set 'en' has no tile Ж"),
        (TileRecycled(1, 0, Tile("A")), "no tile on A1"),
        (RackRevealed(1, ("Ж",)), "The tile set 'en' has no tile Ж"),
        (BlankTaken(1, 0), "no tile on A1"),
    ],
)
def test_an_event_that_no_game_has_is_refused(event: Event, reason: str) -> None:
    with pytest.raises((NotationError, RulesError), match=reason):
        play(new_game(), "8F HORN").push(event)


@pytest.mark.parametrize("name", PRESETS)
def test_rules_are_written_and_read_back(name: str) -> None:
    assert Rules.from_json(PRESETS[name].to_json()) == PRESETS[name]


def test_rules_with_every_switch() -> None:
    rules = Rules(
        challenge=ChallengeRule.POINTS,
        challenge_points=10,
        unplayed=UnplayedRule.TWICE,
        finish_line=(FinishLineLevel.BEGINNER, FinishLineLevel.EXPERT),
        clock_seconds=60,
    )
    assert Rules.from_json(rules.to_json()) == rules


@pytest.mark.parametrize("data", [{"unheard_of": 1}, {"challenge": "maybe"}, {"finish_line": ["genius"]}])
def test_unknown_rules_are_refused(data: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"unheard_of|maybe|genius"):
        Rules.from_json(data)
