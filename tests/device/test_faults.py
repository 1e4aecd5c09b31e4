"""The list of faults: in each one the table says what is wrong, play goes on, and nothing earlier is harmed.

Elsewhere: how cameras themselves fail (`test_cameras`, `test_camera_pi`, `test_watch`), pins (`test_panel`), each wrong
line of a settings file (`test_settings`), damaged stores page by page (`test_rescue`), power cuts (`test_power_cut`).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from device.cli import main
from device.panel.gpio import GpioUnavailableError
from device.panel.panel import PanelActions, open_panel
from device.session.commands.games import ResumeGame, StartGame
from device.session.commands.turns import EndTurn, PassTurn
from device.session.messages import Trouble
from device.session.snapshot import Phase, TableSnapshot
from device.session.table_session import TableSession
from device.settings import PanelSettings
from device.storage.recovery import open_store
from device.storage.store import GameStore
from engine.events import GameStarted
from engine.rules import Rules
from tests.support.damaged_store import PAGE_SIZE, find_root_page
from tests.support.stepped_tables import SteppedTable
from tests.support.stepped_tables import stepped as stepped
from tests.support.text_table import FARM, HORN, STARTED, WORDS, TextTable, play
from tests.support.waiting import PATIENCE_S

ROOT = Path(__file__).parents[2]
NOTICED_S = 2.0


def troubled(state: TableSnapshot, trouble: Trouble) -> bool:
    return any(notice.trouble is trouble for notice in state.notices)


def test_camera_unplugged_in_a_game_is_said_play_goes_on_by_hand_and_the_camera_comes_back(
    stepped: SteppedTable,
) -> None:
    session, table = stepped.session, stepped.table
    stepped.lay(HORN)
    stepped.submit(EndTurn())
    table.trouble = "the camera sends no pictures. Check its cable"
    assert stepped.until(lambda: troubled(session.state, Trouble.CAMERA)) < NOTICED_S
    stepped.submit(PassTurn())
    state = stepped.submit(EndTurn())
    assert troubled(state, Trouble.CAMERA) and [turn.kind for turn in state.turns] == ["play", "pass"]
    table.trouble = ""
    stepped.until(lambda: not troubled(session.state, Trouble.CAMERA))
    stepped.lay(HORN, FARM)
    assert [turn.score for turn in stepped.submit(EndTurn()).turns] == [14, 0, 9]


def test_five_seconds_of_black_frames_are_said_and_change_nothing(stepped: SteppedTable) -> None:
    session, table = stepped.session, stepped.table
    stepped.lay(HORN)
    stepped.submit(EndTurn())
    table.black = True
    assert stepped.until(lambda: troubled(session.state, Trouble.CAMERA)) < NOTICED_S
    for _ in range(50):
        state = stepped.rest(0.1)
        assert troubled(state, Trouble.CAMERA) and len(state.turns) == 1
    table.black = False
    stepped.until(lambda: not troubled(session.state, Trouble.CAMERA))
    stepped.lay(HORN, FARM)
    assert [turn.score for turn in stepped.submit(EndTurn()).turns] == [14, 9]


def test_missing_gpio_leaves_the_panel_on_the_page(session: TableSession, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_: object) -> None:
        raise GpioUnavailableError("This machine has no GPIO pins. Use the buttons on the page.")

    monkeypatch.setattr("device.panel.panel.may_have_pins", lambda: True)
    monkeypatch.setattr("device.panel.panel.make_gpio_hardware", none)
    told: list[str] = []
    with open_panel(session, PanelActions(), PanelSettings(), told.append) as panel:
        assert told == ["The table runs without the panel. This machine has no GPIO pins. Use the buttons on the page."]
        assert "on the page" in repr(panel)


ON_A_SMALL_DISK = """
import json, os, sys
from pathlib import Path
from device.session.commands.games import StartGame
from device.session.commands.turns import PassTurn
from device.session.table_session import TableSession
from device.storage.store import GameStore
from engine.events import GameStarted
from tests.support.text_table import FARM, HORN, TextTable, play
from tests.support.waiting import PATIENCE_S, until
folder = Path(sys.argv[1])
table, said = TextTable(), {}
with GameStore(folder / "games.db") as store, TableSession(table, table, store, frozenset()) as session:
    session.submit(StartGame(GameStarted(("Anna", "Ben")))).result(PATIENCE_S)
    play(session, table, HORN)
    until(lambda: not (folder / "games.db-wal").stat().st_size)
    (folder / "other").write_bytes(bytes(200_000))
    free = os.statvfs(folder).f_bavail * os.statvfs(folder).f_frsize
    with (folder / "other").open("ab", buffering=0) as other:  # somebody else's file takes all that is left
        try:
            while other.write(bytes(4096)):
                pass
        except OSError as full:
            said["errno"] = full.errno
    state = play(session, table, HORN, FARM)
    for _ in range(40):
        state = session.submit(PassTurn()).result(PATIENCE_S)
    said["full"] = [notice.text for notice in state.notices]
    said["in memory"] = [turn.score for turn in state.turns if turn.kind == "play"]
    said["on disk"] = len(store.read_events(1))
    (folder / "other").unlink()
    state = session.submit(PassTurn()).result(PATIENCE_S)
    said["room again"] = [notice.text for notice in state.notices]
    until(lambda: not (folder / "games.db-wal").stat().st_size)
    (folder / "other").write_bytes(bytes(1000))
    with (folder / "other").open("ab", buffering=0) as other:
        try:
            while other.write(bytes(4096)):
                pass
        except OSError as full:
            said["errno"] = full.errno
    session.submit(StartGame(GameStarted(("Carl", "Dora")))).result(PATIENCE_S)
    said["another begins"] = session.state.phase
    (folder / "other").unlink()
    play(session, table, HORN)
with GameStore(folder / "games.db") as store:
    said["games"] = [(game.first_event["players"], game.length) for game in store.list_games()]
print(json.dumps(said))
"""


def test_full_disk_is_said_play_goes_on_in_memory_and_is_saved_once_there_is_room(tmp_path: Path) -> None:
    """On a small file system of its own, which is really full."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o size=3m tmpfs "$0" && exec "$@"', str(disk)]
    if shutil.which("unshare") is None or subprocess.run([*mounted, "true"], capture_output=True).returncode:
        pytest.skip("this system lets nobody mount a small file system")
    command = [*mounted, sys.executable, "-c", ON_A_SMALL_DISK, str(disk)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["errno"] == 28
    assert "is full" in said["full"][0] and said["in memory"] == [14, 9] and said["on disk"] < 42
    assert said["another begins"] == Phase.TURN
    assert said["room again"] == [] and said["games"] == [[["Carl", "Dora"], 2], [["Anna", "Ben"], 44]]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user for a test")
def test_file_that_may_not_be_written_is_said_and_the_game_goes_on_in_memory(path: Path) -> None:
    with GameStore(path) as store:
        store.begin_game({"kind": "old"})
    path.chmod(0o444)
    script = (
        "import os, sys; from pathlib import Path; from device.catalogue import load_catalogue;"
        "from device.storage.recovery import open_store; load_catalogue('en'); os.setuid(65534);"
        "store, trouble = open_store(Path(sys.argv[1])); print(store.begin_game({'kind': 'new'}), trouble)"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.startswith("1 ") and "in memory" in done.stdout, done.stderr
    with GameStore(path) as store:
        assert [game.first_event["kind"] for game in store.list_games()] == ["old"]


def test_clock_set_back_by_an_hour_changes_neither_the_order_of_games_nor_anybodys_time(path: Path) -> None:
    now = [1_700_000_000.0]
    table = TextTable()
    timed = GameStarted(("Anna", "Ben"), rules=Rules(clock_seconds=600))
    with GameStore(path, clock=lambda: now[0]) as store, TableSession(table, table, store, WORDS) as session:
        session.submit(StartGame(GameStarted(("Old", "Game")))).result(PATIENCE_S)
        session.submit(StartGame(timed)).result(PATIENCE_S)
        play(session, table, HORN)
        now[0] -= 3600
        state = play(session, table, HORN, FARM)
        assert state.clock is not None and max(state.clock.used) < 60
        session.submit(StartGame(timed)).result(PATIENCE_S)
        play(session, table, HORN)
        newest = session.state.game
    with GameStore(path, clock=lambda: now[0]) as store, TableSession(table, table, store, WORDS) as session:
        state = session.submit(ResumeGame()).result(PATIENCE_S)
        assert state.game == newest and [turn.score for turn in state.turns] == [14]
        assert [game.length for game in store.list_games()][1] >= 3


def test_second_program_is_told_so_and_the_first_plays_on(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = TextTable()
    folder = path.parent / "pictures"
    folder.mkdir()
    with GameStore(path) as store, TableSession(table, table, store, WORDS) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        words = ["run", "--camera", f"folder:{folder}", "--data", str(path.parent), "--port", "0"]
        assert main([*words, "--settings", str(_settings(path.parent))]) == 2
        said = capsys.readouterr().err
        assert "in use by another Tilekeeper" in said and said.count("\n") == 1
        assert [turn.score for turn in play(session, table, HORN).turns] == [14]


def test_corrupt_store_is_set_aside_its_games_are_read_and_the_last_one_goes_on(path: Path) -> None:
    table = TextTable()
    with GameStore(path) as store, TableSession(table, table, store, WORDS) as session:
        session.submit(StartGame(STARTED)).result(PATIENCE_S)
        play(session, table, HORN)
        for _ in range(60):
            session.submit(PassTurn()).result(PATIENCE_S)
    whole = bytearray(path.read_bytes())
    for name in ("note", "sqlite_autoindex_picture_1", "game"):
        whole[find_root_page(path, name)] = os.urandom(PAGE_SIZE)
    path.write_bytes(whole)
    store, trouble = open_store(path)
    assert "was damaged" in trouble and "recovered from it: 1, some only in part." in trouble
    with store, TableSession(table, table, store, WORDS) as session:
        state = session.submit(ResumeGame()).result(PATIENCE_S)
        assert len(state.turns) == 61 and state.turns[0].score == 14
        assert len(play(session, table, HORN, FARM).turns) == 62
    (aside,) = path.parent.glob("games.db.damaged-*")
    assert aside.read_bytes() == bytes(whole)


def _settings(folder: Path) -> Path:
    path = folder / "own.toml"
    path.write_text("[panel]\nuse = false\n")
    return path
