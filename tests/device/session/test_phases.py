"""The session's state machine: each transition of the table happens at a real table, and none that is not in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
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
from device.session.phases import ALLOWED_PHASES, TURN_PHASES, Transition, find_refusal_key
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

LOBBY, DRAWING, TURN, QUESTION = Phase.LOBBY, Phase.DRAWING, Phase.TURN, Phase.QUESTION
CHALLENGE, PAUSED, ENDED = Phase.CHALLENGE, Phase.PAUSED, Phase.ENDED
RESUMABLE_PHASES = (DRAWING, *TURN_PHASES, PAUSED, ENDED)
OPENING_PHASES = (DRAWING, TURN)
NEW_GAME_PHASES = (*OPENING_PHASES, PAUSED)  # paused: it waits for the director of a hall
TURN_OR_CHALLENGE = (TURN, CHALLENGE)


TURN_TRANSITIONS: Mapping[Transition, tuple[Phase, ...]] = {
    Transition.START: NEW_GAME_PHASES,
    Transition.RESUME: RESUMABLE_PHASES,
    Transition.DRAW: OPENING_PHASES,
    Transition.END_TURN: TURN_PHASES,
    Transition.PASS: (TURN,),
    Transition.EXCHANGE: (TURN,),
    Transition.UNDO: RESUMABLE_PHASES,  # the undo of a game's start leads to the game before
    Transition.REDO: (DRAWING, *TURN_OR_CHALLENGE, ENDED),
    Transition.CORRECT: TURN_PHASES,  # a turn that is entered by hand may lead to a question
    Transition.REVEAL_RACK: TURN_PHASES,  # an open question may stay open
    Transition.PAUSE: (PAUSED,),
    Transition.END_GAME: (ENDED,),
}
"""The transitions of all phases in which a player has the turn."""


LEADS_TO: Mapping[Phase, Mapping[Transition, tuple[Phase, ...]]] = {
    # The session remains in the lobby if a game cannot be saved, or if no game can be loaded.
    LOBBY: {Transition.START: (LOBBY, *NEW_GAME_PHASES), Transition.RESUME: (LOBBY, *RESUMABLE_PHASES)},
    DRAWING: {
        Transition.START: NEW_GAME_PHASES,
        Transition.RESUME: RESUMABLE_PHASES,
        Transition.DRAW: OPENING_PHASES,  # players who drew equal letters draw again
        Transition.UNDO: RESUMABLE_PHASES,
        Transition.REDO: (DRAWING, *TURN_OR_CHALLENGE, ENDED),
        Transition.CORRECT: (DRAWING, *TURN_PHASES),
        Transition.ANSWER: (DRAWING, *TURN_PHASES),  # about a first turn that was entered by hand
        Transition.PAUSE: (PAUSED,),
        Transition.END_GAME: (ENDED,),
    },
    TURN: TURN_TRANSITIONS,
    QUESTION: {
        **TURN_TRANSITIONS,
        Transition.PASS: (TURN, QUESTION),  # while it is asked whether the turn before was a pass
        Transition.EXCHANGE: (TURN, QUESTION),
        Transition.ANSWER: (*TURN_PHASES, ENDED),
        Transition.CHALLENGE: (TURN, QUESTION),
    },
    CHALLENGE: {**TURN_TRANSITIONS, Transition.CHALLENGE: (TURN, QUESTION)},
    PAUSED: {
        Transition.START: NEW_GAME_PHASES,
        Transition.RESUME: RESUMABLE_PHASES,
        Transition.END_PAUSE: (DRAWING, *TURN_PHASES),
        Transition.ANSWER: (PAUSED, ENDED),
        Transition.UNDO: RESUMABLE_PHASES,
        Transition.REDO: (PAUSED, ENDED),
        Transition.CORRECT: (PAUSED,),
        Transition.REVEAL_RACK: (PAUSED,),
        Transition.END_GAME: (ENDED,),
    },
    ENDED: {
        Transition.START: NEW_GAME_PHASES,
        Transition.RESUME: RESUMABLE_PHASES,
        Transition.UNDO: (
            *OPENING_PHASES,
            CHALLENGE,
            PAUSED,
            ENDED,
        ),  # the game is still ended after the undo of a rack that was entered after the end
        Transition.REDO: (ENDED,),
        Transition.ANSWER: (*TURN_PHASES, PAUSED, ENDED),  # the panel may choose the answer after the game's end
        Transition.CORRECT: (ENDED,),
        Transition.REVEAL_RACK: (ENDED,),
    },
}
"""The phases to which each transition may lead, by the phase before it."""


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
                if phase not in ALLOWED_PHASES[transition]:
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
                assert after in LEADS_TO[phase][transition] or (transition is Transition.ANSWER and after is phase)


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
                assert after in LEADS_TO[before][transition] or after is before


def test_page_sees_the_table_look_between_press_and_turn(table: Table) -> None:
    go(table, ("start",))
    phases: list[Phase] = []
    table.session.add_listener(lambda state: phases.append(state.phase))
    go(table, ("play",))
    assert phases == [Phase.LOOKING, Phase.CHALLENGE]


def test_table_of_the_phases_is_that_of_the_tests() -> None:
    assert {
        phase: {transition for transition in Transition if phase in ALLOWED_PHASES[transition]} for phase in LEADS_TO
    } == {phase: set(transitions) for phase, transitions in LEADS_TO.items()}


def test_every_objection_is_a_sentence() -> None:
    refused = ((phase, one) for one, allowed in ALLOWED_PHASES.items() for phase in set(Phase) - set(allowed))
    keys = {find_refusal_key(phase, transition) for phase, transition in refused}
    assert all(load_catalogue("en").find_text(f"message.{key}") for key in keys)  # a missing text is an error here
