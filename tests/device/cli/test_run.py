"""`tilekeeper run` and `tilekeeper demo`: the whole program, from the picture in a folder to the page."""

from __future__ import annotations

import gc
import os
import re
import socket
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from device.cli import main
from device.cli import run as run_command
from device.cli.appliance import Appliance
from device.cli.page import announce_pairing, announce_wifi
from device.storage.archive import load_game
from device.storage.backups import list_backups
from device.storage.store import GameStore
from device.system.wifi import Hotspot
from tests.support.ports import find_free_port
from tests.support.programs import CODE, Program, options, picture, play_first_turn
from tests.support.programs import folder as folder
from tests.support.programs import known_code as known_code
from tests.support.programs import own_settings as own_settings
from tests.support.text_table import FARM, HORN, ReaderInOrder, rows
from tests.support.waiting import PATIENCE_S, until
from web.invitation import render_qr_blocks
from web.security.pairing import Pairing

ROOT = Path(__file__).parents[3]


def test_full_collections_of_garbage_skip_what_the_start_has_made(folder: Path) -> None:
    before = gc.get_freeze_count()
    with Program(options(folder, find_free_port()), []):
        until(lambda: gc.get_freeze_count() > before)
        until(gc.isenabled)


def test_console_shows_where_the_page_is_and_the_code_for_phones(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    port = find_free_port()
    with Program(options(folder, port), []) as phone:
        phone.get()
        said = capsys.readouterr().out
    assert f"http://127.0.0.1:{port}" in said and f"type this code there: {CODE}" in said and "█" not in said, (
        "no QR code in a log"
    )


@pytest.mark.parametrize(("address", "coded"), [("http://192.168.1.7:8080", True), ("http://localhost:8080", False)])
def test_terminal_shows_a_code_to_scan_where_phones_can_reach_the_page(
    address: str, coded: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    pairing = Pairing()
    announce_pairing(["http://localhost:8080", address], pairing, print)
    said = capsys.readouterr().out
    assert (render_qr_blocks(f"{address}/pair/{pairing.secret}") in said, "scan this" in said) == (coded, coded)
    assert said.rstrip().endswith(f"type this code there: {pairing.code}")
    link = re.search(r"open this once: http://localhost:8080/enter/(\S+)", said)
    assert link and pairing.redeem(link[1], "browser")


def test_files_of_a_table_are_private_whatever_the_umask_is(tmp_path: Path) -> None:
    words = ["run", "--camera", "phone", "--players", "Anna,Ben", "--data", str(tmp_path / "data")]
    program = "import sys; from device.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", program, *words, "--port", str(find_free_port())]
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "HOME": str(tmp_path)}
    with subprocess.Popen(command, cwd=ROOT, env=environment, umask=0, stdout=subprocess.PIPE, text=True) as table:
        assert table.stdout is not None
        assert any("The page is up" in line for line in table.stdout)
        table.terminate()
        table.stdout.read()
    written = [path for name in ("data", "cache") for path in (tmp_path / name).rglob("*")]
    assert len(written) > 3 and [path for path in written if path.stat().st_mode & 0o077] == []


def test_wifi_of_the_table_is_a_code_to_scan_while_it_is_open(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wifi = Hotspot("Tilekeeper-7c2a", "k3m9x7q2wd", "10.42.0.1")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    for active in (True, False):
        monkeypatch.setattr(Hotspot, "is_active", lambda _, active=active: active)
        announce_wifi(wifi, print)
        said = capsys.readouterr().out
        assert (render_qr_blocks(wifi.qr_text) in said) == active
        assert "join Tilekeeper-7c2a with the password k3m9x7q2wd" in said


def test_picture_in_the_folder_and_a_pressed_button_are_a_turn_on_the_page(folder: Path) -> None:
    with Program(options(folder, find_free_port()), [rows(HORN), rows(HORN, FARM)]) as phone:
        assert phone.sees("Anna to play")
        picture(folder, "1.png")
        assert phone.press("end-turn") == 204
        assert phone.sees("+14") and phone.sees("Ben to play")
        assert phone.press("end-turn") == 204
        assert phone.sees("There is no new picture")
        picture(folder, "2.png")
        phone.press("end-turn")
        assert phone.sees("FARM H6") and phone.sees("Anna to play")
        assert phone.press("undo") == 204
        assert phone.sees("Ben to play")


def test_game_goes_on_after_a_restart_and_a_new_one_begins_when_asked(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    play_first_turn(folder)
    with Program(options(folder, find_free_port()), []) as phone:
        assert phone.sees("+14") and phone.sees("Ben to play")
    with Program(options(folder, find_free_port(), "--new"), []) as phone:
        assert phone.sees("Anna to play") and "+14" not in phone.get()
    assert capsys.readouterr().out.count("The page is up") == 3


def test_old_pictures_are_not_read_again_after_a_restart(folder: Path) -> None:
    play_first_turn(folder)
    with Program(options(folder, find_free_port()), [rows(HORN, FARM)]) as phone:
        phone.press("end-turn")
        assert phone.sees("There is no new picture")
        picture(folder, "2.png")
        phone.press("end-turn")
        assert phone.sees("FARM H6")


def test_stored_game_without_a_turn_is_replaced_by_the_one_of_the_options(folder: Path) -> None:
    args = options(folder, find_free_port())
    with Program(args, []) as phone:
        assert phone.sees("Anna to play")
    args.players, args.tiles, args.port = "Mira,Tom", "de", find_free_port()
    with Program(args, []) as phone:
        assert phone.sees("Mira to play") and "had no effect" not in phone.get()
    with GameStore(folder.parent / "data" / "games.db") as store:
        assert [game.players for game in store.list_games()] == [("Mira", "Tom")]


def test_stored_game_without_a_turn_stays_if_the_options_are_the_same(folder: Path) -> None:
    for _ in range(2):
        with Program(options(folder, find_free_port(), "--first", "draw"), []) as phone:
            assert phone.sees("Anna")
    with GameStore(folder.parent / "data" / "games.db") as store:
        assert [game.id for game in store.list_games()] == [1]


def test_options_that_a_game_in_progress_does_not_take_are_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    play_first_turn(folder)
    args = options(folder, find_free_port(), "--tiles", "de", "--lexicon", "none", "--layout", "exchanged")
    args.players = "Mira,Tom"
    with Program(args, []) as phone:
        assert phone.sees("--players, --tiles, --layout, --lexicon") and phone.sees("--new")
        assert phone.sees("Ben to play")
    assert "--players, --tiles, --layout, --lexicon had no effect" in capsys.readouterr().out


def test_option_that_was_not_given_is_not_named_as_without_effect(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    play_first_turn(folder)
    args = options(folder, find_free_port(), "--layout", "exchanged")
    args.players = None  # the game has other players than the settings
    with Program(args, []) as phone:
        assert phone.sees("Ben to play")
    printed = capsys.readouterr().out
    assert "--layout had no effect" in printed and "--players" not in printed


def test_layout_alone_is_an_option_of_the_game(folder: Path) -> None:
    args = options(folder, find_free_port())
    with Program(args, []) as phone:
        assert phone.sees("Anna to play")
    args.players, args.layout, args.port = None, "exchanged", find_free_port()
    with Program(args, []) as phone:
        assert phone.sees("to play")
    with GameStore(folder.parent / "data" / "games.db") as store:
        layouts = [store.read_events(game.id)[0].body["layout"] for game in store.list_games()]
    assert layouts == ["exchanged"]


def test_next_game_has_the_players_of_the_last_one_unless_the_command_line_names_others(folder: Path) -> None:
    args = options(folder, find_free_port())
    with Program(args, []) as phone:
        assert phone.sees("Anna to play") and phone.press("end-game") == 204
    args.players, args.port = None, find_free_port()
    with Program(args, []) as phone:
        assert phone.sees("Ben to play") and phone.press("end-game") == 204
    args.players, args.port = "Mira,Tom", find_free_port()
    with Program(args, []) as phone:
        assert phone.sees("Mira to play")


def test_parts_of_the_appliance_are_built_one_by_one(folder: Path) -> None:
    appliance = Appliance(run_command.resolve_settings(options(folder, 8080)), ReaderInOrder([]))
    with appliance.open_store() as store, appliance.open_session(store) as session:
        assert appliance.begin_game(session) == "A new game begins: Anna, Ben."
        pairing = Pairing(lambda _: None)
        with appliance.open_panel(session, pairing) as panel:
            app = appliance.build_page(session, store, panel, pairing)
            assert b"Anna" in app.test_client().get("/").data
    with appliance.open_store() as store, appliance.open_session(store) as session:
        assert appliance.begin_game(session).startswith("The game of Anna and Ben continues")


@pytest.mark.parametrize(
    ("words", "more", "lines"),
    [
        ("horn\nfarm\nOhio\n", [], ["Words read from words: 2.", "Lines left out: 1 (names and other words"]),
        ("horn/SM\nfarm/S\n", [], ["Words read from words: 2.", "This is the list of a spell checker"]),
        (
            "horn/SM\n",
            ["--challenge", "void"],
            ["Words read from", "This is", "No challenges are played"],
        ),
        ("horn\n", ["--lexicon", "none", "--challenge", "void"], ["No challenges are played and no word list decides"]),
    ],
)
def test_console_says_what_was_read_from_the_word_list(
    folder: Path, tmp_path: Path, words: str, more: list[str], lines: list[str]
) -> None:
    path = tmp_path / "words.txt"
    path.write_text(words, encoding="utf-8")
    said: list[str] = []
    args = options(folder, 8080, "--lexicon", str(path), *more)
    Appliance(run_command.resolve_settings(args), ReaderInOrder([]), report=said.append).report_words()
    assert len(said) == len(lines) and all(text.startswith(line) for text, line in zip(said, lines, strict=True))


def test_hardware_scripts_wait_for_lines_that_the_program_says(folder: Path) -> None:
    args = options(folder, 8080)
    args.players = "Ann,Ben"
    appliance = Appliance(run_command.resolve_settings(args), ReaderInOrder([]))
    lines = []
    for _ in ("begun", "continued"):
        with appliance.open_store() as store, appliance.open_session(store) as session:
            lines.append(appliance.begin_game(session))
    scripts = [ROOT / "tests/hardware" / name for name in ("package.sh", "container_image.sh")]
    awaited = re.findall(r"(?:run_until|logs_have) '(.*?)'", "".join(script.read_text("utf-8") for script in scripts))
    games = [pattern for pattern in awaited if "game" in pattern]
    assert len(games) == 3 and all(any(re.search(pattern, line) for line in lines) for pattern in games), lines


def test_backup_is_made_when_a_game_ends(folder: Path) -> None:
    with Program(options(folder, find_free_port()), []) as phone:
        assert phone.press("end-game") == 204
    (backup,) = list_backups(folder.parent / "data" / "backups")
    with GameStore(backup) as store:
        assert load_game(store, 1).is_over


def test_systemd_hears_that_the_table_is_up_works_and_ends(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        systemd.settimeout(PATIENCE_S)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        monkeypatch.setenv("WATCHDOG_USEC", "600000")
        with Program(options(folder, find_free_port()), []):
            assert systemd.recv(1000).decode().startswith("READY=1\nSTATUS=The page is up: http://127.0.0.1:")
            assert systemd.recv(1000) == b"WATCHDOG=1"
        while (told := systemd.recv(1000)) == b"WATCHDOG=1":
            pass
        assert told == b"STOPPING=1"


@pytest.mark.slow
def test_demo_reads_and_scores_a_whole_game_by_itself(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    options = ["--seed", "4", "--speed", "10000", "--port", str(find_free_port()), "--data", str(tmp_path)]
    assert main(["demo", "--once", *options]) == 0
    assert "right: Mira 533, Tom 318" in capsys.readouterr().out
    with GameStore(tmp_path / "games.db") as store:
        assert len(store.list_games()) == 4


@pytest.mark.parametrize("speed", ["0", "-1"])
def test_demo_does_not_go_backwards(capsys: pytest.CaptureFixture[str], speed: str) -> None:
    assert main(["demo", "--speed", speed]) == 2
    assert "Enter a number above 0" in capsys.readouterr().err


def test_link_for_this_machine_is_opened_in_the_browser(folder: Path) -> None:
    opened: list[str] = []
    port = find_free_port()
    args = options(folder, port, "--browser")
    appliance = Appliance(run_command.resolve_settings(args), ReaderInOrder([]), open_link=opened.append)
    thread = threading.Thread(target=appliance.serve)
    thread.start()
    until(lambda: bool(opened))
    appliance.ended.set()
    thread.join(PATIENCE_S)
    assert opened[0].startswith(f"http://127.0.0.1:{port}/enter/")


def test_page_of_a_running_table_is_opened_instead_of_a_second_table(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    args = options(folder, find_free_port(), "--browser")
    with Program(args, []):
        assert run_command.run(args) == 0
    assert opened == [f"http://127.0.0.1:{args.port}"]
