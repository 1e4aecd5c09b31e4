"""The session's state machine: each transition of the table happens at a real table, and none that is not in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from device.catalogue import load_catalogue
from device.session.commands.answers import AnswerQuestion
from device.session.commands.challenges import ChallengePlay
from device.session.commands.corrections import RenamePlayer, RevealRack
from device.session.commands.games import DrawFirst, EndGame, EndPause, Pause, Redo, ResumeGame, StartGame, Undo
from device.session.commands.turn_corrections import CorrectTurn, InsertTurn
from device.session.commands.turns import EndTurn, ExchangeTiles, PassTurn
from device.session.messages import CommandRefusedError
from device.session.phases import TRANSITIONS, Transition, find_refusal_key
from device.session.snapshot import Phase, TableSnapshot
from device.session.table_session import TableSession
from device.storage.store import GameStore
from engine.events import GameStarted
from engine.rules import STANDARD_RULES, ChallengeRule
from tests.support.examples import try_examples
from tests.support.text_table import FARM, HORN, TextTable
from tests.support.waiting import PATIENCE_S

PLAIN = GameStarted(("Anna", "Ben"), lexicon="test", rules=replace(STANDARD_RULES, challenge=ChallengeRule.SINGLE))
Act = Callable[["Table"], "Future[TableSnapshot]"]


class Table:
    """A session at a table of text."""

    def __init__(self, store: GameStore) -> None:
        self.text = TextTable()
        self.session = TableSession(self.text, self.text, store, None)
        self.seen: list[tuple[Phase, Phase]] = []

    def lay(self, *words: tuple[str, int, int, bool]) -> Future[TableSnapshot]:
        self.text.lay(*words)
        return self.session.submit(EndTurn())

    def challenge(self) -> Future[TableSnapshot]:
        return self.session.submit(ChallengePlay())


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    with GameStore(tmp_path / "games.db") as store:
        table = Table(store)
        with table.session:
            yield table


def start(table: Table) -> Future[TableSnapshot]:
    return table.session.submit(StartGame(PLAIN))


def start_with_draw(table: Table) -> Future[TableSnapshot]:
    return table.session.submit(StartGame(replace(PLAIN, draw=True)))


ACTS: dict[str, tuple[Transition, Act]] = {
    "start": (Transition.START, start),
    "start with a draw": (Transition.START, start_with_draw),
    "resume": (Transition.RESUME, lambda table: table.session.submit(ResumeGame())),
    "draw": (Transition.DRAW, lambda table: table.session.submit(DrawFirst(("A", "B")))),
    "draw alike": (Transition.DRAW, lambda table: table.session.submit(DrawFirst(("A", "A")))),
    "play": (Transition.END_TURN, lambda table: table.lay(HORN)),
    "play on": (Transition.END_TURN, lambda table: table.lay(HORN, FARM)),
    "lay nothing": (Transition.END_TURN, lambda table: table.session.submit(EndTurn())),
    "answer the first": (Transition.ANSWER, lambda table: table.session.submit(AnswerQuestion(0))),
    "answer the second": (Transition.ANSWER, lambda table: table.session.submit(AnswerQuestion(1))),
    "answer the third": (Transition.ANSWER, lambda table: table.session.submit(AnswerQuestion(2))),
    "pass": (Transition.PASS, lambda table: table.session.submit(PassTurn())),
    "exchange": (Transition.EXCHANGE, lambda table: table.session.submit(ExchangeTiles(2))),
    "challenge": (Transition.CHALLENGE, Table.challenge),
    "undo": (Transition.UNDO, lambda table: table.session.submit(Undo())),
    "redo": (Transition.REDO, lambda table: table.session.submit(Redo())),
    "put right": (Transition.CORRECT, lambda table: table.session.submit(CorrectTurn(1, score=30))),
    "enter": (Transition.CORRECT, lambda table: table.session.submit(InsertTurn(1, kind="pass"))),
    "rename": (Transition.CORRECT, lambda table: table.session.submit(RenamePlayer(1, "Cem"))),
    "rack": (Transition.REVEAL_RACK, lambda table: table.session.submit(RevealRack(0, "Q"))),
    "pause": (Transition.PAUSE, lambda table: table.session.submit(Pause())),
    "go on": (Transition.END_PAUSE, lambda table: table.session.submit(EndPause())),
    "end": (Transition.END_GAME, lambda table: table.session.submit(EndGame())),
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


def go(table: Table, acts: tuple[str, ...]) -> TableSnapshot:
    for act in acts:
        ACTS[act][1](table).result(PATIENCE_S)
    return table.session.state


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("phase", WAYS)
def test_every_command_leads_where_the_table_says_or_is_refused_with_a_reason(phase: Phase, act: str) -> None:
    transition, do = ACTS[act]
    for way in WAYS[phase]:
        with GameStore(":memory:") as store:
            table = Table(store)
            with table.session:
                before = go(table, way)
                assert before.phase is phase
                if transition not in TRANSITIONS[phase]:
                    reason = find_refusal_key(phase, transition)
                    with pytest.raises(CommandRefusedError) as refused:
                        do(table).result(PATIENCE_S)
                    assert refused.value.key == reason and table.session.state.phase is phase
                    continue
                try:
                    after = do(table).result(PATIENCE_S).phase
                except CommandRefusedError:
                    assert replace(table.session.state, revision=0) == replace(before, revision=0, clock=None)
                    continue
                expected = TRANSITIONS[phase][transition]
                if transition is Transition.END_TURN:
                    expected = TRANSITIONS[Phase.LOOKING][Transition.CAPTURE_DONE]
                assert after in expected or (transition is Transition.ANSWER and after is phase)


@try_examples(25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(sorted(ACTS)), max_size=14))
def test_no_evening_leaves_the_table_of_transitions(acts: list[str]) -> None:
    with GameStore(":memory:") as store:
        table = Table(store)
        with table.session:
            start(table).result(PATIENCE_S)
            for act in acts:
                transition, do = ACTS[act]
                before = table.session.state.phase
                try:
                    after = do(table).result(PATIENCE_S).phase
                except CommandRefusedError as refused:
                    assert str(refused)
                    continue
                allowed = TRANSITIONS[before][transition]
                if transition is Transition.END_TURN:
                    allowed = TRANSITIONS[Phase.LOOKING][Transition.CAPTURE_DONE]
                assert after in allowed or after is before


def test_page_sees_the_table_look_between_press_and_turn(table: Table) -> None:
    go(table, ("start",))
    phases: list[Phase] = []
    table.session.add_listener(lambda state: phases.append(state.phase))
    go(table, ("play",))
    assert phases == [Phase.LOOKING, Phase.CHALLENGE]


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase is not Phase.LOBBY])
def test_every_phase_can_be_reached_and_left(phase: Phase) -> None:
    reached = {other for cues in TRANSITIONS.values() for others in cues.values() for other in others}
    assert phase in reached
    assert any(other is not phase for others in TRANSITIONS[phase].values() for other in others)


def test_every_objection_is_a_sentence() -> None:
    possible = set(Transition) - {Transition.CAPTURE_DONE}
    keys = {find_refusal_key(phase, refused) for phase in Phase for refused in possible - TRANSITIONS[phase].keys()}
    assert all(load_catalogue("en").find_text(f"message.{key}") for key in keys)  # a missing text is an error here
