"""The measurement of disturbed readings on the games of the demo: what it counts, and that it counts the same twice."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from device.session.evidence import TableEvidence
from device.session.messages import OLD_TILE_KEYS
from device.session.turns.decision import Decision
from engine.events import Passed
from engine.game import Game
from engine.reading import EMPTY
from tests.support.disturbed_readings import ROWS
from tests.support.disturbed_squares import make_square
from tests.support.local_data import ROOT
from tests.support.recorded_positions import RecordedGame, find_words, load_games
from tests.system.clear_games import Topic, measure_clear_games
from tests.system.disturb_readings import CLEAR_GAMES, RowResult, Sampler, main, measure_row
from tests.system.pressed_table import Outcome, PressedTable, follow_scenario, make_history, make_ledger

DEMO_GAMES = ROOT / "device" / "data" / "games"


@pytest.fixture(scope="module")
def games() -> list[RecordedGame]:
    found, _ = load_games([DEMO_GAMES], 10, seed=1)
    return found


def measure(games: list[RecordedGame], name: str, positions: int = 2, answers_truth: bool = True) -> RowResult:
    return measure_row(games, ROWS[name], positions, 1, use_words=True, answers_truth=answers_truth)


def decide_pass(game: Game, *_: object) -> Decision:
    """A session that takes every turn for a pass, and asks nothing."""
    return Decision((Passed(game.to_move),))


def test_clear_row_is_all_right(games: list[RecordedGame]) -> None:
    result = measure(games, "clear", 4)
    assert result.outcomes.keys() <= {Outcome.RIGHT, Outcome.RIGHT_ASKED} and result.outcomes[Outcome.RIGHT] > 2
    assert (result.wrong_after_next, result.wrong_at_end) == (0, 0)


def test_rows_are_equal_for_the_same_seed(games: list[RecordedGame]) -> None:
    once, again = (measure(games, "new-letter-wrong-97").to_json() | {"seconds": 0} for _ in range(2))
    assert once == again


def test_scenarios_differ_for_another_seed(games: list[RecordedGame]) -> None:
    one, other = (list(Sampler(games, seed).draw_scenarios(ROWS["noise"], 2)) for seed in (1, 2))
    assert one != other


def test_wrong_decision_without_a_question_is_silently_wrong(
    games: list[RecordedGame], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("device.session.turns.turn_validation.decide", decide_pass)
    result = measure(games, "clear")
    assert result.outcomes == {Outcome.SILENT: 2}
    assert result.wrong_at_end == result.wrong_at_end_unspoken == 2


def test_wrong_decision_with_a_warning_is_a_notice(games: list[RecordedGame], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "device.session.turns.turn_validation.decide",
        lambda game, *_: Decision((Passed(game.to_move),), warning="what?"),
    )
    result = measure(games, "clear")
    assert result.outcomes == {Outcome.NOTICE: 2}
    assert (result.wrong_at_end, result.wrong_at_end_unspoken) == (2, 0)


def test_unanswered_question_stays_open_until_readings_settle_it(games: list[RecordedGame]) -> None:
    for name in ("new-letter-wrong-60", "two-turns"):
        answered, unanswered = measure(games, name), measure(games, name, answers_truth=False)
        assert answered.outcomes == unanswered.outcomes and answered.outcomes[Outcome.OFFERED]
        assert answered.open_after_next <= unanswered.open_after_next
        assert unanswered.wrong_at_end == 0


@pytest.mark.parametrize(
    "name",
    [
        "board-cleared",
        "other-game",
        "noise",
        "new-game-half-full",
        "last-play-lifted",
        "old-letter-wrong-5-times",
        "old-tile-unseen-5-times",
        "old-tile-swapped",
        "new-letter-as-blank-97",
        "blank-marked",
    ],
)
def test_row_is_never_recorded_wrong_without_a_question(games: list[RecordedGame], name: str) -> None:
    assert measure(games, name, answers_truth=False).outcomes[Outcome.SILENT] == 0


def test_lost_tile_is_told_once(games: list[RecordedGame]) -> None:
    for _, scenario in Sampler(games, 1).draw_scenarios(ROWS["old-tile-unseen-5-times"], 4):
        table = PressedTable(make_ledger(scenario.start), None, TableEvidence(make_history(scenario.start)))
        told = 0
        for press in scenario.disturbed:
            table = table.press(press.picture.reading)
            doubt = table.shown_entry.doubt if table.shown_entry else None
            told += table.has_notice or (doubt is not None and doubt.code in OLD_TILE_KEYS)
            table = table.answer_truly(press.truth)
        assert told <= 1


@pytest.mark.parametrize("name", ROWS)
def test_row_finds_a_position_in_the_games_of_the_demo(games: list[RecordedGame], name: str) -> None:
    recorded, scenario = next(iter(Sampler(games, 1).draw_scenarios(ROWS[name], 1)))
    assert scenario.disturbed and len(scenario.following) == 3
    assert follow_scenario(scenario, find_words(recorded), True).outcome in Outcome


def test_clear_games_count_questions_by_topic(games: list[RecordedGame]) -> None:
    found = measure_clear_games(games[:1], use_words=True)["all games"]
    assert found.turns > 20 and found.wrong == 0
    assert found.questions.keys() == {Topic.PASS, Topic.BLANK}


def test_lifelike_games_are_recorded_right_with_few_questions(games: list[RecordedGame]) -> None:
    found = measure_clear_games(games[:1], use_words=True, is_lifelike=True)["all games"]
    assert found.wrong == 0 and found.questions[Topic.OTHER] <= 2


@pytest.mark.parametrize(
    ("symbol", "truth", "expected"), [("F", "E", 0.02), ("F", EMPTY, 0.027), (EMPTY, "E", 0.027), ("?", "E", 0.02)]
)
def test_misread_square_keeps_some_probability_for_the_truth(symbol: str, truth: str, expected: float) -> None:
    square = make_square(symbol, 0.97, truth, tuple("ABCDEFGH"), Random(1))
    assert square.symbol == symbol and square.confidence == 0.97
    assert square.probability(truth) == pytest.approx(expected)
    assert sum(p for _, p in square.candidates) == pytest.approx(1)


def test_command_prints_a_table_and_writes_the_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "figures.json"
    rows = f"clear,stale-frame,{CLEAR_GAMES}"
    assert main(["--games", str(DEMO_GAMES), "--positions", "2", "--rows", rows, "--json", str(file)]) == 0
    figures = json.loads(file.read_text(encoding="utf-8"))
    assert [row["row"] for row in figures["rows"]] == ["clear", "stale-frame"]
    assert figures["clear-games"]["all games"]["games"] == 2
    assert "| clear | 2 | 2 |" in capsys.readouterr().out
