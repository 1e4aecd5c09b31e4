"""The session's state machine: each transition of the table happens at a real table, and none that is not in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from device.session.messages import TEXTS
from device.session.phases import TRANSITIONS, Cue, objection
from device.session.snapshot import Phase, TableState, TurnChange
from device.session.table_session import Refused, TableSession
from device.storage.store import GameStore
from engine.events import GameStarted
from engine.rules import STANDARD, Challenge
from tests.support.text_table import FARM, HORN, TextTable

PLAIN = GameStarted(("Anna", "Ben"), lexicon="test", rules=replace(STANDARD, challenge=Challenge.SINGLE))
Act = Callable[["Table"], "Future[TableState]"]


class Table:
    """A session at a table of text."""

    def __init__(self, store: GameStore) -> None:
        self.text = TextTable()
        self.session = TableSession(self.text, self.text, store, None)
        self.seen: list[tuple[Phase, Phase]] = []

    def lay(self, *words: tuple[str, int, int, bool]) -> Future[TableState]:
        self.text.lay(*words)
        return self.session.end_turn()

    def challenge(self) -> Future[TableState]:
        return self.session.challenge()


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    with GameStore(tmp_path / "games.db") as store:
        table = Table(store)
        with table.session:
            yield table


def start(table: Table) -> Future[TableState]:
    return table.session.start_game(PLAIN)


def start_with_draw(table: Table) -> Future[TableState]:
    return table.session.start_game(replace(PLAIN, draw=True))


ACTS: dict[str, tuple[Cue, Act]] = {
    "start": (Cue.START, start),
    "start with a draw": (Cue.START, start_with_draw),
    "resume": (Cue.RESUME, lambda table: table.session.resume()),
    "draw": (Cue.DRAW, lambda table: table.session.draw_first(("A", "B"))),
    "draw alike": (Cue.DRAW, lambda table: table.session.draw_first(("A", "A"))),
    "play": (Cue.END_TURN, lambda table: table.lay(HORN)),
    "play on": (Cue.END_TURN, lambda table: table.lay(HORN, FARM)),
    "lay nothing": (Cue.END_TURN, lambda table: table.session.end_turn()),
    "answer the first": (Cue.ANSWER, lambda table: table.session.answer(0)),
    "answer the second": (Cue.ANSWER, lambda table: table.session.answer(1)),
    "answer the third": (Cue.ANSWER, lambda table: table.session.answer(2)),
    "pass": (Cue.PASS, lambda table: table.session.pass_turn()),
    "exchange": (Cue.EXCHANGE, lambda table: table.session.exchange(2)),
    "challenge": (Cue.CHALLENGED, Table.challenge),
    "undo": (Cue.UNDO, lambda table: table.session.undo()),
    "redo": (Cue.REDO, lambda table: table.session.redo()),
    "put right": (Cue.PUT_RIGHT, lambda table: table.session.correct_turn(1, TurnChange(score=30))),
    "enter": (Cue.PUT_RIGHT, lambda table: table.session.insert_turn(1, TurnChange(kind="pass"))),
    "rack": (Cue.RACK, lambda table: table.session.tell_rack(0, "Q")),
    "pause": (Cue.PAUSE, lambda table: table.session.pause()),
    "go on": (Cue.GO_ON, lambda table: table.session.go_on()),
    "end": (Cue.END, lambda table: table.session.end_game()),
}

WAYS: dict[Phase, tuple[tuple[str, ...], ...]] = {
    Phase.LOBBY: ((),),
    Phase.DRAWING: (("start with a draw",),),
    Phase.TURN: (("start",), ("start", "pass"), ("start", "play", "undo"), ("start with a draw", "draw")),
    Phase.QUESTION: (("start", "lay nothing"), ("start", "play", "challenge"), ("start", "play", "lay nothing")),
    Phase.CHALLENGE: (("start", "play"), ("start", "pass", "undo", "play", "play on")),
    Phase.PAUSED: (("start", "pause"), ("start", "lay nothing", "pause"), ("start", "play", "pause", "undo")),
    Phase.ENDED: (("start", "end"), ("start", "play", "end"), ("start", "end", "undo", "pause", "end")),
}
"""Ways to each phase in which a person can do something."""


def go(table: Table, acts: tuple[str, ...]) -> TableState:
    for act in acts:
        ACTS[act][1](table).result(5)
    return table.session.state


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("phase", WAYS)
def test_every_command_leads_where_the_table_says_or_is_refused_with_a_reason(
    tmp_path: Path, phase: Phase, act: str
) -> None:
    cue, do = ACTS[act]
    for number, way in enumerate(WAYS[phase]):
        with GameStore(tmp_path / f"{number}.db") as store:
            table = Table(store)
            with table.session:
                before = go(table, way)
                assert before.phase is phase
                if reason := objection(phase, cue):
                    with pytest.raises(Refused) as refused:
                        do(table).result(5)
                    assert refused.value.key == reason and table.session.state.phase is phase
                    continue
                try:
                    after = do(table).result(5).phase
                except Refused:
                    assert replace(table.session.state, revision=0) == replace(before, revision=0, clock=None)
                    continue
                expected = TRANSITIONS[phase][cue]
                if cue is Cue.END_TURN:
                    expected = TRANSITIONS[Phase.LOOKING][Cue.LOOKED]
                assert after in expected or (cue is Cue.ANSWER and after is phase)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(sorted(ACTS)), max_size=14))
def test_no_evening_leaves_the_table_of_transitions(acts: list[str]) -> None:
    with GameStore(":memory:") as store:
        table = Table(store)
        with table.session:
            start(table).result(5)
            for act in acts:
                cue, do = ACTS[act]
                before = table.session.state.phase
                try:
                    after = do(table).result(5).phase
                except Refused as refused:
                    assert str(refused)
                    continue
                allowed = TRANSITIONS[before][cue]
                if cue is Cue.END_TURN:
                    allowed = TRANSITIONS[Phase.LOOKING][Cue.LOOKED]
                assert after in allowed or after is before


def test_page_sees_the_table_look_between_press_and_turn(table: Table) -> None:
    go(table, ("start",))
    phases: list[Phase] = []
    table.session.listen(lambda state: phases.append(state.phase))
    go(table, ("play",))
    assert phases == [Phase.LOOKING, Phase.CHALLENGE]


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase is not Phase.LOBBY])
def test_every_phase_can_be_reached_and_left(phase: Phase) -> None:
    reached = {other for cues in TRANSITIONS.values() for others in cues.values() for other in others}
    assert phase in reached
    assert any(other is not phase for others in TRANSITIONS[phase].values() for other in others)


def test_every_objection_is_a_sentence() -> None:
    keys = {objection(phase, cue) for phase in Phase for cue in Cue} - {""}
    assert keys <= TEXTS.keys()
