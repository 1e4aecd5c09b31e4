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
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from device.session.snapshot_builder import build_snapshot
from device.storage import game_file
from device.storage.archive import export_gcg, find_stored_game, import_zip, load_game
from device.storage.errors import ArchiveError
from device.storage.game_file import GAME_MEMBER, encode_game
from device.storage.store import GameStore
from engine.board import EMPTY_BOARD, parse_square
from engine.events import Event, Exchanged, GameStarted, Passed, PlayMade, QuestionDeferred, ScoreCorrected, to_json
from engine.messages import make_message
from engine.plays import Play
from engine.tiles import load_tile_set
from tests.support.archives import GAME, POSITION, Members, export_to_memory, make_zip

EVENT_SAMPLES = Path(__file__).parents[2] / "engine" / "data" / "events.jsonl"


@pytest.mark.parametrize("digits", ["9" * 5000, "-" + "9" * 30, "1e999", "NaN"])
def test_number_of_too_many_digits_is_refused(other: GameStore, members: Members, digits: str) -> None:
    game = members["game.json"].replace(b'"press": 1', f'"press": {digits}'.encode(), 1)
    assert game != members["game.json"]
    with pytest.raises(ArchiveError, match=r"^[^\n]*$"):
        import_zip(other, make_zip({"game.json": game}))


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
        (("version",), 2),
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
        (("events", 1, "event"), {"v": 1, "kind": "exchange", "player": 0, "count": -5}),
        (("events", 1, "event"), {"v": 1, "kind": "exchange", "player": 0, "count": 10**9}),
        (("events", 1, "event"), {"v": 1, "kind": "rack", "player": 0, "tiles": ["A"] * 10_000}),
        (("events", 1, "event"), {"v": 1, "kind": "rack", "player": 0, "tiles": ["\x1b[2J"]}),
        (("events", 1, "event"), {"v": 1, "kind": "clock", "player": 0, "seconds": 1e300}),
        (("events", 2, "event"), {"v": 1, "kind": "score-corrected", "turn": 0, "score": 10**400}),
        (("events", 2, "event"), {"v": 1, "kind": "score-corrected", "turn": 0, "score": -(10**400)}),
        (("events", 0, "event", "rules"), {"rack_size": "7"}),
        (("events", 1, "event", "player"), -1),
        (("events", 1, "event", "player"), True),
        (("events", 1, "event", "press"), "9"),
        (("events", 1, "event", "way"), "left"),
        (("events", 1, "event", "kind"), "coup"),
        (("events", 1, "event", "v"), 99),
        (("events", 1, "time"), -5),
    ],
)
def test_game_with_a_wrong_value_is_refused(other: GameStore, members: Members, path: tuple[Any, ...], to: Any) -> None:
    with pytest.raises(ArchiveError, match=r"^[^\n]*$"):
        import_zip(other, changed(members, *path, to=to))
    assert other.list_games() == ()


HORN, HARN = (PlayMade(0, Play.from_gcg(EMPTY_BOARD, "8F", word, load_tile_set("en"))) for word in ("HORN", "HARN"))
QUESTION = QuestionDeferred(
    1,
    make_message("which-tile", "Which tile is on {0}: {1} or {2}?", "G8", "O", "A"),
    ("HORN", make_message("played", "{0} played {1} at {2} for {3}", "Anna", "HARN", "8F", 14)),
    ((HORN,), (HARN,)),
    1,
    squares=(parse_square("G8"),),
)


def store_question(store: GameStore, question: QuestionDeferred = QUESTION) -> int:
    """Store a game with HORN, and a question about it that the players have deferred."""
    number = store.begin_game(to_json(GameStarted(("Anna", "Ben"))))
    store.append_events(number, [to_json(HORN), to_json(question)])
    return number


def test_game_with_a_deferred_question_is_imported(store: GameStore, other: GameStore) -> None:
    number = store_question(store)
    brought = import_zip(other, export_to_memory(store, number))
    assert other.read_events(brought) == store.read_events(number)


@pytest.mark.parametrize("line", EVENT_SAMPLES.read_text(encoding="utf-8").splitlines())
def test_event_of_any_kind_is_accepted_in_a_file(line: str) -> None:
    body = json.loads(line)
    assert to_json(game_file.parse_event(body))["kind"] == body["kind"]


@pytest.mark.parametrize(
    "change",
    [
        {"answers": ((HORN,), (replace(HORN, player=2),))},
        {"answers": ((HORN,), (Exchanged(1, True),))},
        {"answers": (), "texts": ()},
        {"texts": ("HORN",)},
        {"chosen": 2},
        {"count": 2},
    ],
    ids=str,
)
def test_impossible_deferred_question_is_refused(store: GameStore, other: GameStore, change: dict[str, Any]) -> None:
    number = store_question(store, replace(QUESTION, **change))
    members = {GAME_MEMBER: encode_game(find_stored_game(store, number), store.read_events(number))}
    with pytest.raises(ArchiveError):
        import_zip(other, make_zip(members))


def test_names_are_joined_letters_and_pictures_too(other: GameStore, members: Members) -> None:
    names = ["\N{MAN}\N{ZERO WIDTH JOINER}\N{PERSONAL COMPUTER}", "Zoë Ñandú", "C"]
    number = import_zip(other, changed(members, "events", 0, "event", "players", to=names))
    assert list(load_game(other, number).players) == names


def test_game_of_too_many_corrections_is_refused_before_it_takes_minutes(other: GameStore) -> None:
    """Each correction plays the whole game again."""
    turns: list[Event] = [Passed(at % 2) for at in range(1000)]
    events = [GameStarted(("Anna", "Ben")), *turns, *(ScoreCorrected(0, at) for at in range(900))]
    bodies = [{"time": 0, "event": to_json(event)} for event in events]
    whole = {"form": game_file.FORMAT_NAME, "version": game_file.FORMAT_VERSION, "started": 0, "events": bodies}
    with pytest.raises(ArchiveError, match="more corrections"):
        import_zip(other, make_zip({"game.json": json.dumps(whole).encode()}))


EVENTS = [to_json(event) for event in GAME.events]
POSITION_EVENTS = [to_json(event) for event in (GAME.events[0], POSITION, Passed(1), ScoreCorrected(0, 110))]
ODD = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.lists(st.integers(), max_size=3),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
    st.sampled_from(["H8", "?A", "play", "pass", "undone", "redone", "challenge", "ended", "en", "de", 0, 1, -1]),
)  # fmt: skip


@given(st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_game_with_an_odd_value_is_refused_or_can_be_shown(data: st.DataObject) -> None:
    """One value anywhere in a game is replaced by an odd one: it is refused in words, or else it is a game."""
    events: Any = copy.deepcopy(data.draw(st.sampled_from([EVENTS, POSITION_EVENTS])))
    at: Any = events
    while True:
        step = data.draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))
        if not isinstance(at[step], (dict, list)) or not at[step] or data.draw(st.booleans()):
            break
        at = at[step]
    at[step] = data.draw(ODD)
    whole = {"form": "tilekeeper-game", "version": 1, "started": 0, "events": [{"time": 0, "event": e} for e in events]}
    with GameStore(":memory:") as store:
        try:
            brought = import_zip(store, make_zip({"game.json": json.dumps(whole).encode()}))
        except ArchiveError as error:
            assert "\n" not in str(error)
        else:
            build_snapshot(load_game(store, brought), frozenset())
            with suppress(ArchiveError):  # GCG cannot describe a position
                export_gcg(store, brought)
