"""Events as plain data: versioned, exact both ways, readable for ever."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import get_args

import pytest

from engine.errors import NotationError, RulesError
from engine.events import (
    BlankNamed,
    BlankTaken,
    Challenged,
    ClockRead,
    EndReason,
    Event,
    Exchanged,
    FirstDrawn,
    GameEnded,
    GameStarted,
    Passed,
    PlayMade,
    PlayWithdrawn,
    PositionEntered,
    QuestionClosed,
    QuestionDeferred,
    RackRevealed,
    Redone,
    ScoreCorrected,
    SquareCorrected,
    TileRecycled,
    TurnCorrected,
    TurnInserted,
    Undone,
    dumps,
    from_json,
    loads,
)
from engine.messages import make_message
from engine.plays import Play
from engine.rules import PRESETS, STANDARD_RULES, ChallengeRule, FinishLineLevel, Rules, UnplayedRule
from engine.tiles import Tile
from tests.support.engine_table import new_game, play

PLAY = Play.from_tiles({112: Tile("CH"), 113: Tile("O", is_blank=True), 114: Tile.unnamed()}, {111: Tile("İ")})

EVENTS: list[Event] = [
    GameStarted(
        ("Anna", "Ben"),
        replace(STANDARD_RULES, rack_size=9, finish_line=(FinishLineLevel.EXPERT,)),
        "es",
        "words",
        "exchanged",
        1,
    ),
    FirstDrawn(("A", "?")),
    PositionEntered(PLAY.tiles, (120, 98), 1, (("CH",), ())),
    PlayMade(1, PLAY),
    Exchanged(0, 2, ("CH", "?")),
    Passed(2),
    Challenged(1, True, ("HORN",)),
    PlayWithdrawn(0),
    TileRecycled(0, 5, Tile("A")),
    BlankTaken(0, 5),
    BlankNamed(5, "Ä"),
    SquareCorrected(5, None, turn=3),
    SquareCorrected(5, Tile("Q", is_blank=True), told=True),
    ScoreCorrected(3, -4),
    TurnCorrected(2, PlayMade(1, PLAY)),
    TurnCorrected(2, None),
    TurnInserted(0, Passed(1)),
    ClockRead(1, 12.5),
    RackRevealed(1, ("A", "?")),
    GameEnded(EndReason.PLAYED_OUT),
    QuestionDeferred(
        1,
        make_message("which-tile", "Which tile? {0}", "H8"),
        ("A", "B"),
        ((PlayMade(1, PLAY),), ()),
        1,
        1,
        (5,),
        ("A",),
    ),
    QuestionClosed(1),
    Undone(),
    Redone(),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.kind)
def test_written_event_is_read_back(event: Event) -> None:
    assert loads(dumps(event)) == event


# Lines as the first version wrote them. They must be read for ever: never change one, add new ones.
WRITTEN = [
    (
        '{"v":1,"kind":"started","players":["Anna","Ben"],"rules":{"rack_size":9},"tile_set":"de","lexicon":null,'
        '"layout":"standard","first":1}',
        GameStarted(("Anna", "Ben"), Rules(rack_size=9), "de", None, "standard", 1),
    ),
    (
        '{"v":1,"kind":"play","player":0,"play":{"tiles":[["H8","A"],["I8","?T"],["J8","?"]]}}',
        PlayMade(0, Play.from_tiles({112: Tile("A"), 113: Tile("T", is_blank=True), 114: Tile.unnamed()})),
    ),
    (
        '{"v":1,"kind":"position","board":[["H8","A"],["I8","?T"],["J8","?"]],"totals":[120,98],"to_move":1}',
        PositionEntered(((112, Tile("A")), (113, Tile("T", is_blank=True)), (114, Tile.unnamed())), (120, 98), 1),
    ),
    ('{"v":1,"kind":"exchange","player":1,"count":3,"tiles":[]}', Exchanged(1, 3)),
    ('{"v":1,"kind":"challenge","by":1,"upheld":false,"words":[]}', Challenged(1, False)),
    (
        '{"v":1,"kind":"square-corrected","square":"H8","tile":"B","turn":null,"told":true}',
        SquareCorrected(112, Tile("B"), told=True),
    ),
    ('{"v":1,"kind":"turn-corrected","turn":2,"event":{"v":1,"kind":"pass","player":0}}', TurnCorrected(2, Passed(0))),
    ('{"v":1,"kind":"ended","reason":"no-play-left"}', GameEnded(EndReason.NO_PLAY_LEFT)),
]


@pytest.mark.parametrize(("line", "event"), WRITTEN, ids=[event.kind for _, event in WRITTEN])
def test_old_lines_are_read_for_ever(line: str, event: Event) -> None:
    assert loads(line) == event


def test_a_field_that_was_added_later_has_a_default() -> None:
    assert loads('{"v":1,"kind":"square-corrected","square":"H8","tile":"B"}') == SquareCorrected(112, Tile("B"))


@pytest.mark.parametrize(
    "data",
    [
        {"v": 1, "kind": "pass", "player": 1, "mood": "sad"},
        {"v": 1, "kind": "turn-inserted", "turn": 0, "event": {"v": 1, "kind": "pass", "player": 1, "mood": "sad"}},
    ],
)
def test_from_json_refuses_unknown_field(data: dict[str, object]) -> None:
    with pytest.raises(NotationError, match="mood"):
        from_json(data)


def test_from_json_skips_fields_of_the_log() -> None:
    assert from_json({"v": 1, "kind": "undone", "press": 3, "way": "undo"}) == Undone()


# One line for each kind, with every field: what stores and archives hold. Never change a line, add new ones.
SAMPLES = (Path(__file__).parent / "data" / "events.jsonl").read_text(encoding="utf-8").splitlines()


def test_sample_events_are_written_back_identically() -> None:
    assert [dumps(loads(line)) for line in SAMPLES] == SAMPLES


def test_sample_events_have_every_kind() -> None:
    assert {json.loads(line)["kind"] for line in SAMPLES} == {kind.kind for kind in get_args(Event)}


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
        ("[]", "kind is not known"),
        ('{"v":1,"kind":"dance"}', "kind is not known"),
        ('{"v":1,"kind":["pass"]}', "kind is not known"),
        ('{"v":9,"kind":"pass","player":1}', "version 9"),
        ('{"v":1,"kind":"pass"}', "broken event 'pass'"),
        ('{"v":1,"kind":"blank-named","square":"Z9","letter":"A"}', "broken event 'blank-named'"),
        ('{"v":1,"kind":"play","player":0,"play":{}}', "broken event 'play'"),
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
