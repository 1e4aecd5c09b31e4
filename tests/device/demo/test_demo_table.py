"""The demo: whole recorded games on the simulated table come out with the totals of the record."""

from __future__ import annotations

import argparse
import threading
from collections.abc import Collection
from functools import cache, partial
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from device.cli import main
from device.cli.demo import describe_host, list_own_words
from device.demo.demo_table import (
    PRESS_TIME_S,
    SCORE_DISPLAY_TIME_S,
    Demo,
    DemoChangedError,
    add_finished_games,
    load_demo_games,
)
from device.session.commands.base import TableCommand
from device.session.commands.challenges import ChallengePlay
from device.session.commands.games import EndPause, Pause, StartGame, Undo
from device.session.commands.turns import EndTurn, PassTurn
from device.session.snapshot import Phase
from device.storage.archive import load_game
from device.storage.lexicons import open_lexicon
from device.storage.store import GameStore
from engine.board import Board
from engine.events import GameStarted
from engine.gcg import format_gcg, parse_gcg, replay
from engine.lexicon import Lexicon
from engine.plays import Play
from engine.reading import BOARD_SIZE, EMPTY, BoardReading
from engine.state import TurnKind
from engine.tiles import load_tile_set
from tests.support.self_play import PlayFinder, SelfPlay, as_record
from tests.support.waiting import PATIENCE_S, until
from vision.geometry import Image
from vision.recognition.reader import PhotoReading, ReadingTimes
from vision.rendering.simulated_table import SimulatedTable

SMALL = "at ta tea eat ate tee toe not ton one neon nine tin ten net rate tear star rats sea seat east ink"


@pytest.fixture(autouse=True)
def _small_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Render a tenth of the pixels, which no reader here looks at."""
    monkeypatch.setattr("device.demo.demo_table.SimulatedTable", partial(SimulatedTable, size=(400, 300)))


class SureReader:
    """Knows what lies on the demo's table: for tests of everything behind the reading."""

    def __init__(self) -> None:
        self.demo: Demo | None = None
        self.delay_s = 0.0

    def read(self, image: Image, tiles: Collection[str], **place: object) -> PhotoReading:
        assert self.demo is not None and image.ndim == 3 and place.get("corners") is None and "A" in tiles
        threading.Event().wait(self.delay_s)
        laid = self.demo._camera._table._placed
        rows = [[laid[r, c].letter if (r, c) in laid else EMPTY for c in range(BOARD_SIZE)] for r in range(BOARD_SIZE)]
        corners = np.array([[100.0, 100.0], [800.0, 100.0], [800.0, 800.0], [100.0, 800.0]])
        return PhotoReading(BoardReading.from_rows(rows), corners, (), ReadingTimes(1, 1, 2))


@pytest.mark.parametrize("name", load_demo_games())
def test_shipped_game_is_whole_and_right(name: str) -> None:
    record = load_demo_games()[name]
    game = replay(record)
    assert game.problems == () and game.mismatches == ()
    kinds = {entry.kind for entry in record.entries}
    assert {TurnKind.PLAY, TurnKind.EXCHANGE, TurnKind.WITHDRAWN, TurnKind.ENDRACK} <= kinds
    assert any(tile.is_blank for tile in game.board.squares if tile)
    assert len(list(game.board.faces())) > 90


@pytest.mark.slow
def test_demo_plays_a_whole_game_right() -> None:
    reader = SureReader()
    with GameStore(":memory:") as store, Demo(reader, store, seed=3, speed=10_000, stop=threading.Event()) as demo:
        reader.demo = demo
        lines = list(demo.play_game())
        assert lines[-1].startswith("right: ")
        assert demo.session.state.phase is Phase.ENDED
        assert any("not in the word list" in line for line in lines)


def test_demo_stops_when_it_is_closed() -> None:
    stop = threading.Event()
    stop.set()
    with GameStore(":memory:") as store, Demo(SureReader(), store, seed=3, speed=1, stop=stop) as demo:
        assert len(list(demo.play_game())) == 1


@pytest.mark.parametrize("reading_s", [0.0, 0.3], ids=["read", "being-read"])
def test_turn_that_a_viewer_ends_is_not_ended_again(reading_s: float) -> None:
    reader, stop = SureReader(), threading.Event()
    with GameStore(":memory:") as store, Demo(reader, store, seed=3, speed=10_000, stop=stop) as demo:
        reader.demo, reader.delay_s = demo, reading_s
        wait = demo._wait

        def press(seconds: float) -> None:
            if seconds == PRESS_TIME_S:
                pressed = demo.session.submit(EndTurn())
                until(lambda: pressed.done() or (reading_s and demo.session.state.phase is Phase.LOOKING))
            wait(seconds)

        demo._wait = press  # type: ignore[method-assign]
        game = demo.play_game()
        lines = [next(game) for _ in range(3)]
        stop.set()
        assert not any("Did" in line for line in [*lines, *game])
        assert {turn.kind for turn in demo.session.state.turns} == {TurnKind.PLAY}


def play_with_viewer(command: TableCommand | None, wait_s: float, turns: int = 2) -> list[str]:
    """Play a demo in which a viewer gives a command in the wait of `wait_s` after `turns` turns; return four turns."""
    reader, stop = SureReader(), threading.Event()
    with GameStore(":memory:") as store, Demo(reader, store, seed=3, speed=10_000, stop=stop) as demo:
        reader.demo = demo
        wait, given = demo._wait, []

        def give(seconds: float) -> None:
            if command and not given and seconds == wait_s and len(demo.session.state.turns) == turns:
                given.append(command)
                demo.session.submit(command).result(PATIENCE_S)
            wait(seconds)

        demo._wait = give  # type: ignore[method-assign]
        turns_shown = (line for line in demo.play_game() if line.lstrip()[:1].isdigit())  # a busy machine also asks
        lines = list(islice(turns_shown, 4))
        stop.set()
        return lines


@cache
def play_alone() -> list[str]:
    return play_with_viewer(None, 0.0)


@pytest.mark.parametrize("wait_s", [SCORE_DISPLAY_TIME_S, PRESS_TIME_S])
def test_turn_that_a_viewer_undoes_is_ended_again(wait_s: float) -> None:
    assert play_with_viewer(Undo(), wait_s) == play_alone()


@pytest.mark.parametrize("command", [ChallengePlay(), PassTurn(), StartGame(GameStarted(("Anna", "Ben")))])
def test_game_that_a_viewer_has_changed_is_left(command: TableCommand) -> None:
    with pytest.raises(DemoChangedError):
        play_with_viewer(command, SCORE_DISPLAY_TIME_S)


def test_demo_waits_until_a_viewer_ends_a_pause() -> None:
    reader, stop = SureReader(), threading.Event()
    with GameStore(":memory:") as store, Demo(reader, store, seed=3, speed=10_000, stop=stop) as demo:
        reader.demo = demo
        game = demo.play_game()
        lines = [next(game) for _ in range(2)]
        demo.session.submit(Pause()).result(PATIENCE_S)
        end = threading.Timer(0.2, lambda: demo.session.submit(EndPause()))
        end.start()
        assert "not" not in (line := next(game)) and line not in lines and len(demo.session.state.turns) == 2
        stop.set()


def test_demo_waits_for_a_reading_that_takes_long() -> None:
    reader, stop = SureReader(), threading.Event()
    with GameStore(":memory:") as store, Demo(reader, store, seed=3, speed=10_000, stop=stop) as demo:
        reader.demo, reader.delay_s = demo, 0.3
        demo.session._turn_worker.max_s = 0.1
        lines = []
        for line in demo.play_game():
            lines.append(line)
            if len(demo.session.state.turns) == 2:
                stop.set()
        assert not any("by hand" in line for line in lines)
        assert [turn.kind for turn in demo.session.state.turns] == [TurnKind.PLAY] * 2


def test_history_of_the_demo_starts_with_three_finished_games(tmp_path: Path) -> None:
    for _ in range(2):
        with GameStore(tmp_path / "games.db") as store:
            add_finished_games(store)
            assert len(store.list_games()) == 3
            assert all(load_game(store, game.id).is_over for game in store.list_games())


def test_play_finder_finds_what_can_be_laid() -> None:
    finder = PlayFinder(Lexicon.from_words("test", ["AT", "TA", "CAT", "CATS", "TASK"]), "ACKST")
    tiles = load_tile_set("en")
    first = {play.to_gcg(Board(), tiles) for play in finder.plays(Board(), {"A": 1, "T": 1})}
    assert {"8G AT", "8H AT", "8G TA", "H7 AT"} <= first and len(first) == 8
    board = Play.from_gcg(Board(), "8G", "CAT", SelfPlay(("A", "B"), _english(), 1).game.tiles).apply_to(Board())
    hooks = {play.to_gcg(board, tiles) for play in finder.plays(board, {"S": 1, "K": 1, "A": 1})}
    assert "8G ...S" in hooks and "I8 .ASK" in hooks
    assert all(word.split()[1] not in ("S", "K") for word in hooks)
    blanks = {play.to_gcg(board, tiles) for play in finder.plays(board, {"?": 1})}
    assert "8G ...s" in blanks


def test_game_that_plays_itself_is_legal_and_survives_its_notation() -> None:
    play = SelfPlay(("Ada", "Ben"), Lexicon.from_words("small", SMALL.split()), 5)
    game = play.run()
    assert game.is_over and all(not turn.status for turn in game.turns)
    again = replay(parse_gcg(format_gcg(as_record(play, "test"))))
    assert again.problems == () and again.totals == game.totals


def _english() -> Lexicon:
    lexicon = open_lexicon(None, "en")
    assert lexicon is not None
    return lexicon


def test_a_seed_below_zero_is_refused_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--seed", "-1"]) == 2
    assert "Enter 0 or a larger number" in capsys.readouterr().err


@pytest.mark.parametrize(("host", "words"), [("127.0.0.1", []), ("0.0.0.0", ["--host=0.0.0.0"])])
def test_own_table_has_the_port_of_the_demo_and_is_open_to_phones(host: str, words: list[str]) -> None:
    assert list_own_words(argparse.Namespace(host=host, port=8081)) == ["run", "--port=8081", *words]


def test_pages_of_the_demo_name_the_folder_of_its_games(tmp_path: Path) -> None:
    args = argparse.Namespace(host="127.0.0.1", port=8080)
    with GameStore(tmp_path / "games.db") as store:
        host = describe_host(args, store, lambda: None)
    assert host.data_folder == str(tmp_path)
    assert host.addresses() == ["http://localhost:8080"] and host.find_phone_addresses() == ()
