"""Games in files: every kind of event is read, and wrong values are refused."""

from __future__ import annotations

import copy
import io
import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from device.session.snapshot_builder import build_snapshot
from device.storage import archive
from device.storage.archive import export_gcg, import_zip, load_game, make_ledger
from device.storage.errors import ArchiveError
from device.storage.game_log import GameLog, write_ledger
from device.storage.store import EventBody, GameStore
from engine.board import EMPTY_BOARD, parse_square
from engine.events import Act, Edit, GameStarted, Passed, PlayMade, Ref, ScoreCorrected, from_json, read_start
from engine.ledger import AnswerText, Doubt, Due, Entry, Ledger, Seat, Sentence, Source
from engine.ledger_data import ENTRY_KIND, UNREADABLE, read_entry
from engine.plays import Play
from engine.tiles import load_tile_set
from tests.support.archives import GAME, POSITION, Members, export_to_memory, make_zip
from tests.support.examples import try_examples

EVENT_SAMPLES = Path(__file__).parents[2] / "engine" / "data" / "events.jsonl"


@pytest.mark.parametrize("digits", ["9" * 5000, "-" + "9" * 30, "1e999", "NaN"])
def test_number_of_too_many_digits_is_refused(other: GameStore, members: Members, digits: str) -> None:
    game = members["game.json"].replace(b'"group": 1', f'"group": {digits}'.encode(), 1)
    assert game != members["game.json"]
    with pytest.raises(ArchiveError, match=r"^[^\n]*$"):
        import_zip(other, make_zip({"game.json": game}))


STEP = ("events", 1, "event", "alternatives", 0, 0)
"""Path of the first step of the first entry in a `game.json`."""


def changed(members: Members, *path: Any, to: Any) -> io.BytesIO:
    whole = json.loads(members["game.json"])
    at = whole
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = to
    return make_zip({"game.json": json.dumps(whole).encode()})


@pytest.mark.parametrize(
    ("path", "to"),
    [
        (("form",), "other"),
        (("version",), 3),
        (("version",), 1),
        (("started",), "now"),
        (("started",), float("nan")),
        (("events",), []),
        (("events",), "abc"),
        (("events", 0, "event", "players"), [1, 2]),
        (("events", 0, "event", "players"), ["A" * 41, "B"]),
        (("events", 0, "event", "players"), ["A\ud800", "B"]),
        (("events", 0, "event", "players"), ["A\x1b[2J", "B", "C"]),
        (("events", 0, "event", "players"), ["A\nB", "B", "C"]),
        (("events", 0, "event", "lexicon"), "/list" * 1000),
        (("events", 0, "event", "rules"), {"rack_size": 10**9}),
        (("events", 0, "event", "rules"), {"clock_seconds": -1}),
        (STEP, {"kind": "exchange", "player": 0, "count": -5}),
        (STEP, {"kind": "exchange", "player": 0, "count": 10**9}),
        (STEP, {"kind": "rack", "player": 0, "tiles": ["A"] * 10_000}),
        (STEP, {"kind": "rack", "player": 0, "tiles": ["\x1b[2J"]}),
        (STEP, {"kind": "clock", "player": 0, "seconds": 1e300}),
        (STEP, {"kind": "score-corrected", "of": "1.0", "score": 10**400, "player": None}),
        (STEP, {"kind": "score-corrected", "of": "1.0", "score": -(10**400), "player": None}),
        (STEP, {"kind": "score-corrected", "of": 7, "score": 1, "player": None}),
        (STEP, {"kind": "turn-given", "of": "1.0", "player": 9}),
        (STEP, {"kind": "turn-inserted", "before": None, "event": {"v": 2, "kind": "pass", "player": True}}),
        (STEP, {"kind": "renamed", "player": 0, "name": "A" * 41}),
        (STEP, {"kind": "coup"}),
        ((*STEP, "player"), -1),
        ((*STEP, "player"), True),
        (("events", 0, "event", "rules"), {"rack_size": "7"}),
        (("events", 1, "event", "group"), "nine"),
        (("events", 1, "event", "source"), "left"),
        (("events", 1, "event", "seat"), 7),
        (("events", 1, "event", "clocks"), [1.0]),
        (("events", 1, "event", "chosen"), 1),
        (("events", 1, "event", "alternatives"), []),
        (("events", 1, "event", "doubt"), {"code": "x"}),
        (("events", 1, "event", "kind"), "started"),
        (("events", 1, "event", "v"), 99),
        (("events", 1, "time"), -5),
    ],
)
def test_game_with_a_wrong_value_is_refused(other: GameStore, members: Members, path: tuple[Any, ...], to: Any) -> None:
    with pytest.raises(ArchiveError, match=r"^[^\n]*$"):
        import_zip(other, changed(members, *path, to=to))
    assert other.list_games() == ()


HORN, HARN = (PlayMade(None, Play.from_gcg(EMPTY_BOARD, "8F", word, load_tile_set("en"))) for word in ("HORN", "HARN"))
QUESTION = Doubt(
    "asked-which-tile",
    ("G8", AnswerText(0), Sentence("answer-blank", ("A",)), Seat(0), Due(1)),
    answers=((1, Sentence("answer-blank", ("A",))),),
    squares=(parse_square("G8"),),
    seen=("O",),
    confidence=0.5,
)


def test_game_of_an_older_version_is_refused_with_its_remedy(other: GameStore, members: Members) -> None:
    with pytest.raises(ArchiveError, match="Export the game as GCG with that version"):
        import_zip(other, changed(members, "version", to=1))


def test_game_of_a_later_version_is_refused_in_one_sentence(other: GameStore) -> None:
    later = {"form": archive.FORMAT_NAME, "version": archive.FORMAT_VERSION + 1, "moves": []}
    with pytest.raises(ArchiveError, match="written by a newer Tilekeeper"):
        import_zip(other, make_zip({"game.json": json.dumps(later).encode()}))


def test_game_with_an_open_question_is_imported(store: GameStore, other: GameStore) -> None:
    log, _ = GameLog.begin_game(store, GameStarted(("Anna", "Ben")))
    log.append(log.ledger.record([((HORN,), (HARN,))], doubt=QUESTION, seat=0, source=Source.PRESS, clocks=(1.5, 0.0)))
    log.append(log.ledger.record([((Passed(None),),)]).answer(1, 1))
    brought = import_zip(other, export_to_memory(store, log.number))
    assert other.read_events(brought) == store.read_events(log.number)


def test_unreadable_entry_stays_one_in_a_file(store: GameStore, other: GameStore) -> None:
    log, _ = GameLog.begin_game(store, GameStarted(("Anna", "Ben")))
    store.append_events(log.number, [dict(UNREADABLE)])
    brought = import_zip(other, export_to_memory(store, log.number))
    assert other.read_events(brought)[1].body == UNREADABLE and other.list_games()[0].damage


@pytest.mark.parametrize("line", EVENT_SAMPLES.read_text(encoding="utf-8").splitlines())
def test_event_of_any_kind_has_the_declared_types_and_sizes(line: str) -> None:
    body = json.loads(line)
    archive._check_sizes(body)
    if body["kind"] == ENTRY_KIND:
        events = [step for steps in read_entry(1, body).alternatives for step in steps]
    else:
        events = [read_start(body) if body["kind"] == GameStarted.kind else from_json(body)]
    for event in events:
        archive._check_types(event)


def test_names_are_joined_letters_and_pictures_too(other: GameStore, members: Members) -> None:
    names = ["\N{MAN}\N{ZERO WIDTH JOINER}\N{PERSONAL COMPUTER}", "Zoë Ñandú", "C"]
    number = import_zip(other, changed(members, "events", 0, "event", "players", to=names))
    assert list(load_game(other, number).players) == names


@pytest.mark.parametrize(
    "steps",
    [
        [*[Passed(None)] * 1000, *(ScoreCorrected(Ref(1, 0), at) for at in range(900))],
        [replace(HORN, unlisted=("HORN",))] * 900,
    ],
    ids=["corrections", "plays that do not count"],
)
def test_game_of_too_much_work_is_refused_before_it_takes_minutes(other: GameStore, steps: list[Act | Edit]) -> None:
    ledger = Ledger(
        GameStarted(("Anna", "Ben")),
        tuple(Entry(number, number, ((step,),)) for number, step in enumerate(steps, 1)),
    )
    with pytest.raises(ArchiveError, match="more corrections"):
        import_zip(other, make_zip({"game.json": write_file(write_ledger(ledger))}))


def test_game_of_too_many_alternatives_is_refused(other: GameStore) -> None:
    start, entry = write_ledger(Ledger(GameStarted(("Anna", "Ben"))).record([((Passed(None),) * 30,) * 400]))
    with pytest.raises(ArchiveError, match="more corrections"):
        import_zip(other, make_zip({"game.json": write_file([start, entry])}))


def write_file(bodies: list[EventBody]) -> bytes:
    """Return the `game.json` of a game."""
    events = [{"time": 0, "event": body} for body in bodies]
    whole = {"form": archive.FORMAT_NAME, "version": archive.FORMAT_VERSION, "started": 0, "events": events}
    return json.dumps(whole).encode()


EVENTS = write_ledger(make_ledger(GAME))
_POSITION = Ledger(GAME.start_event).record([((POSITION,),), ((Passed(None),),)])
POSITION_EVENTS = write_ledger(_POSITION.record([((ScoreCorrected(Ref(1, 0), 110, 0),),)]))
_QUESTION = Ledger(GAME.start_event).record([((HORN,), (HARN,))], doubt=QUESTION, seat=0)
QUESTION_EVENTS = write_ledger(_QUESTION.record([((Passed(None),),)]).answer(1, 1).undo())
ODD = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.lists(st.integers(), max_size=3),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
    st.sampled_from(["H8", "?A", "play", "pass", "undone", "redone", "answered", "1.0", "ended", "en", "de", 0, 1, -1]),
)  # fmt: skip


@given(st.data())
@try_examples(150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_game_with_an_odd_value_is_refused_or_can_be_shown(data: st.DataObject) -> None:
    """One value anywhere in a game is replaced by an odd one: it is refused in words, or else it is a game."""
    events: Any = copy.deepcopy(data.draw(st.sampled_from([EVENTS, POSITION_EVENTS, QUESTION_EVENTS])))
    at: Any = events
    while True:
        step = data.draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))
        if not isinstance(at[step], (dict, list)) or not at[step] or data.draw(st.booleans()):
            break
        at = at[step]
    at[step] = data.draw(ODD)
    with GameStore(":memory:") as store:
        try:
            brought = import_zip(store, make_zip({"game.json": write_file(events)}))
        except ArchiveError as error:
            assert "\n" not in str(error)
        else:
            build_snapshot(load_game(store, brought), frozenset())
            with suppress(ArchiveError):  # GCG cannot describe a position
                export_gcg(store, brought)
