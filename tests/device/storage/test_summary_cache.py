"""Sums of games are kept beside their logs and never older than these."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from pathlib import Path
from threading import Event as Signal
from typing import Any

import msgspec
import pytest

from device.storage.game_log import GameLog
from device.storage.recovery import copy_games, open_damaged
from device.storage.statistics import NOTE_NAME, SUMMARY_VERSION, GameStanding, SummaryCache, summarise_game
from device.storage.store import GameStore, StoredEvent
from engine.events import Act, GameEnded, GameStarted, Passed, PlayerRenamed, PlayMade, RackRevealed
from engine.game import Game
from engine.gcg import build_game, parse_gcg
from engine.ledger import Entry
from engine.ledger_data import write_entry
from engine.plays import Play
from tests.support.damaged_store import protect_from_writes
from tests.support.waiting import PATIENCE_S

GAMES = Path(__file__).parents[3] / "device" / "data" / "games"
RECORDED_SUMMARIES = Path(__file__).parent / "data" / "summaries.json"
STARTED = GameStarted(("Anna", "Ben"))
BEFORE = Game.begin(STARTED)
HORN = PlayMade(0, Play.from_gcg(BEFORE.board, "8F", "HORN", BEFORE.tiles))


def begin(store: GameStore, *acts: Act) -> int:
    log, _ = GameLog.begin_game(store, STARTED)
    log.append(log.ledger.record([((act,),) for act in acts]))
    return log.number


def worked_out(store: GameStore, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The games that are played through from now on."""
    found: list[int] = []
    events = store.read_events

    def told(number: int) -> tuple[StoredEvent, ...]:
        found.append(number)
        return events(number)

    monkeypatch.setattr(store, "read_events", told)
    return found


def test_kept_sums_are_those_that_were_worked_out(store: GameStore, monkeypatch: pytest.MonkeyPatch) -> None:
    begin(store, HORN, Passed(1), GameEnded(), RackRevealed(0, ()), RackRevealed(1, ()))
    begin(store, HORN)
    store.append_events(begin(store), [{"kind": "other"}])  # nobody can read this one
    sums = SummaryCache(store)
    first = [sums.get_standing(game) for game in store.list_games()]
    assert first[0] is None and first[1] == GameStanding(("Anna", "Ben"), (14, 0)) and first[2] is not None
    assert first[2].summary is not None and first[2].summary.seats[0].best is not None and first[2].winners == (0,)
    sums.save()
    again, played = SummaryCache(store), worked_out(store, monkeypatch)
    assert [again.get_standing(game) for game in store.list_games()] == first and played == []


def test_only_games_with_renamed_players_are_replayed_for_the_names(
    store: GameStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(store, HORN, Passed(1), GameEnded())
    renamed = begin(store, HORN, PlayerRenamed(1, "Bea"))
    later = begin(store, HORN)
    sums, played = SummaryCache(store), worked_out(store, monkeypatch)
    names = [sums.list_players(game) for game in store.list_games()]
    assert names == [("Anna", "Ben"), ("Anna", "Bea"), ("Anna", "Ben")] and played == [renamed]
    store.append_events(later, [write_entry(Entry(2, 2, ((PlayerRenamed(0, "Zoe"),),)))])
    assert sums.list_players(store.list_games()[0]) == ("Zoe", "Ben") and played == [renamed, later]


def test_requests_at_once_replay_a_game_only_once(store: GameStore, monkeypatch: pytest.MonkeyPatch) -> None:
    begin(store, HORN)
    (game,) = store.list_games()
    sums, played, has_begun, may_go_on = SummaryCache(store), worked_out(store, monkeypatch), Signal(), Signal()
    read_events = store.read_events

    def read_slowly(number: int) -> tuple[StoredEvent, ...]:
        has_begun.set()
        assert may_go_on.wait(PATIENCE_S)
        return read_events(number)

    monkeypatch.setattr(store, "read_events", read_slowly)
    with ThreadPoolExecutor(2) as requests:
        first = requests.submit(sums.get_standing, game)
        assert has_begun.wait(PATIENCE_S)
        second = requests.submit(sums.get_standing, game)
        wait([second], timeout=0.2)
        may_go_on.set()
        assert first.result() == second.result() == GameStanding(("Anna", "Ben"), (14, 0))
    assert played == [game.id]


def test_game_that_went_on_is_summed_up_anew(store: GameStore) -> None:
    number = begin(store, HORN)
    sums = SummaryCache(store)
    assert sums.get_standing(store.list_games()[0]) == GameStanding(("Anna", "Ben"), (14, 0))
    sums.save()
    log = GameLog.load(store, number)
    assert log is not None
    log.append(log.ledger.undo())
    for knowing in (sums, SummaryCache(store)):
        assert knowing.get_standing(store.list_games()[0]) == GameStanding(("Anna", "Ben"), (0, 0))


@pytest.mark.parametrize("text", ["", "{", "[]", '{"maker":0,"length":2,"standing":null}', '{"maker":null}'])
def test_note_of_another_program_counts_for_nothing(store: GameStore, text: str) -> None:
    number = begin(store, HORN)
    store.save_note(number, NOTE_NAME, text)
    assert SummaryCache(store).get_standing(store.list_games()[0]) == GameStanding(("Anna", "Ben"), (14, 0))


def test_sums_that_cannot_be_kept_are_worked_out_again(store: GameStore) -> None:
    begin(store, HORN)
    sums = SummaryCache(store)
    sums.get_standing(store.list_games()[0])
    protect_from_writes(store, True)
    sums.save()
    assert SummaryCache(store).get_standing(store.list_games()[0]) == GameStanding(("Anna", "Ben"), (14, 0))


def test_summary_version_is_raised_with_every_change_of_summaries() -> None:
    """`python -m tests.device.storage.test_summary_cache` records the summaries of the demo's games."""
    recorded = json.loads(RECORDED_SUMMARIES.read_text(encoding="utf-8"))
    assert recorded == record_summaries(), "raise SUMMARY_VERSION and record the summaries again"


def record_summaries() -> dict[str, Any]:
    summaries = {}
    for path in sorted(GAMES.glob("*.gcg")):
        game = build_game(parse_gcg(path.read_bytes()))
        summary = summarise_game(1, 0.0, game)
        assert summary is not None
        summaries[path.stem] = json.loads(msgspec.json.encode(summary))
    return {"version": SUMMARY_VERSION, "games": summaries}


def test_summary_of_a_game_that_was_recovered_under_another_number_has_this_number(tmp_path: Path) -> None:
    with GameStore(tmp_path / "before.db") as before:
        deleted, kept = begin(before), begin(before, HORN, Passed(1), GameEnded())
        sums = SummaryCache(before)
        assert sums.get_standing(before.list_games()[0])
        sums.save()
        before.delete_game(deleted)
    with GameStore(tmp_path / "after.db") as after, closing(open_damaged(tmp_path / "before.db")) as damaged:
        copy_games(damaged, after)
        standing = SummaryCache(after).get_standing(after.list_games()[0])
        assert standing and standing.summary and (kept, standing.summary.number) == (2, 1)


if __name__ == "__main__":
    RECORDED_SUMMARIES.write_text(json.dumps(record_summaries(), indent=1) + "\n", encoding="utf-8")
