"""`tilekeeper run` and `tilekeeper demo`: the whole program, from the picture in a folder to the page."""

from __future__ import annotations

import argparse
import gc
import http.client
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlencode

import cv2
import numpy as np
import pytest
from gpiozero.pins.mock import MockFactory, MockPWMPin

from device.cli import UserError, main
from device.cli import run as run_command
from device.cli.appliance import Appliance
from device.cli.page import announce_pairing, announce_wifi, find_certificate_names, find_page_addresses
from device.panel.buttons import HOLD_S, Button, Pins
from device.panel.gpio import GpioUnavailableError
from device.settings import PageSettings, Settings
from device.storage.archive import load_game
from device.storage.backups import list_backups
from device.storage.store import GameStore
from device.system.hotspot import Hotspot
from tests.device.cli.test_replay import ReaderInOrder
from tests.support.text_table import FARM, HORN, rows
from tests.support.waiting import PATIENCE_S, until
from web.qr import render_qr_blocks
from web.security.pairing import Pairing

ROOT = Path(__file__).parents[3]


def picture(folder: Path, name: str) -> None:
    assert cv2.imwrite(str(folder / name), np.full((60, 60, 3), 90, np.uint8))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def options(folder: Path, port: int, *more: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    run_command.configure(parser)
    told = ["--camera", f"folder:{folder}", "--players", "Anna,Ben", "--port", str(port), "--host", "127.0.0.1"]
    return parser.parse_args([*told, "--data", str(folder.parent / "data"), *more])


def chosen(*words: str) -> Settings:
    parser = argparse.ArgumentParser()
    run_command.configure(parser)
    return run_command.resolve_settings(parser.parse_args(words))


def serve(args: argparse.Namespace) -> None:
    Appliance(run_command.resolve_settings(args), ReaderInOrder([])).serve()


@pytest.fixture(autouse=True)
def own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the settings file of this user would be; that of the machine is left out."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr("device.settings.SYSTEM_SETTINGS_FILE", tmp_path / "nowhere.toml")
    path = tmp_path / "config" / "tilekeeper" / "settings.toml"
    path.parent.mkdir(parents=True)
    return path


CODE = "123456"


@pytest.fixture(autouse=True)
def known_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("web.security.pairing._make_code", lambda: CODE)


class Browser:
    """A phone with cookies, on the page of the table."""

    def __init__(self, port: int) -> None:
        self.port, self.cookie = port, ""

    def get(self, path: str = "/") -> str:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)) as connection:
            connection.request("GET", path, headers={"Cookie": self.cookie})
            answer = connection.getresponse()
            self.cookie = (answer.headers["Set-Cookie"] or self.cookie).split(";")[0]
            return answer.read().decode()

    def press(self, button: str) -> int:
        if 'id="panel"' not in self.get():
            assert self._post("/pair", self.get("/pair"), code=CODE) == 205
        return self._post(f"/actions/{button}", self.get())

    def _post(self, path: str, html: str, **fields: str) -> int:
        fields |= dict(re.findall(r'name="(csrf|seen)" value="([^"]*)"', html))
        headers = {"Cookie": self.cookie, "Content-Type": "application/x-www-form-urlencoded"}
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)) as connection:
            connection.request("POST", path, urlencode(fields), headers)
            answer = connection.getresponse()
            self.cookie = (answer.headers["Set-Cookie"] or self.cookie).split(";")[0]
            return answer.status

    def sees(self, text: str) -> bool:
        until(lambda: text in re.sub(r"<[^>]+>", "", self.get()))
        return True

    def is_answered(self) -> bool:
        try:
            return bool(self.get())
        except OSError:
            return False


class Program:
    """`tilekeeper run` in a thread."""

    def __init__(self, args: argparse.Namespace, boards: list[tuple[str, ...]]) -> None:
        self.appliance = Appliance(run_command.resolve_settings(args), ReaderInOrder(boards))
        self.thread = threading.Thread(
            target=self.appliance.serve,
            kwargs={"new": args.new, "has_options": run_command.has_game_options(args)},
        )
        self.browser = Browser(args.port)

    def __enter__(self) -> Browser:
        self.thread.start()
        until(self.browser.is_answered)
        return self.browser

    def __exit__(self, *_: object) -> None:
        self.appliance.ended.set()
        self.thread.join(PATIENCE_S)
        assert not self.thread.is_alive()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "pictures"
    found.mkdir()
    return found


def play_first_turn(folder: Path) -> None:
    """Run the program for the first turn of a game, HORN, and end the program."""
    picture(folder, "1.png")
    with Program(options(folder, free_port()), [rows(HORN)]) as phone:
        phone.press("end-turn")
        assert phone.sees("+14")


def test_full_collections_of_garbage_skip_what_the_start_has_made(folder: Path) -> None:
    before = gc.get_freeze_count()
    with Program(options(folder, free_port()), []):
        until(lambda: gc.get_freeze_count() > before)
        until(gc.isenabled)


def test_console_shows_where_the_page_is_and_the_code_for_phones(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    port = free_port()
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
    with Program(options(folder, free_port()), [rows(HORN), rows(HORN, FARM)]) as phone:
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
    with Program(options(folder, free_port()), []) as phone:
        assert phone.sees("+14") and phone.sees("Ben to play")
    with Program(options(folder, free_port(), "--new"), []) as phone:
        assert phone.sees("Anna to play") and "+14" not in phone.get()
    assert capsys.readouterr().out.count("The page is up") == 3


def test_old_pictures_are_not_read_again_after_a_restart(folder: Path) -> None:
    play_first_turn(folder)
    with Program(options(folder, free_port()), [rows(HORN, FARM)]) as phone:
        phone.press("end-turn")
        assert phone.sees("There is no new picture")
        picture(folder, "2.png")
        phone.press("end-turn")
        assert phone.sees("FARM H6")


def test_stored_game_without_a_turn_is_replaced_by_the_one_of_the_options(folder: Path) -> None:
    args = options(folder, free_port())
    with Program(args, []) as phone:
        assert phone.sees("Anna to play")
    args.players, args.tiles, args.port = "Mira,Tom", "de", free_port()
    with Program(args, []) as phone:
        assert phone.sees("Mira to play") and "had no effect" not in phone.get()
    with GameStore(folder.parent / "data" / "games.db") as store:
        assert [game.players for game in store.games()] == [("Mira", "Tom")]


def test_stored_game_without_a_turn_stays_if_the_options_are_the_same(folder: Path) -> None:
    for _ in range(2):
        with Program(options(folder, free_port(), "--first", "draw"), []) as phone:
            assert phone.sees("Anna")
    with GameStore(folder.parent / "data" / "games.db") as store:
        assert [game.id for game in store.games()] == [1]


def test_options_that_a_game_in_progress_does_not_take_are_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    play_first_turn(folder)
    args = options(folder, free_port(), "--tiles", "de", "--lexicon", "none", "--layout", "exchanged")
    args.players = "Mira,Tom"
    with Program(args, []) as phone:
        assert phone.sees("--players, --tiles, --layout, --lexicon") and phone.sees("--new")
        assert phone.sees("Ben to play")
    assert "--players, --tiles, --layout, --lexicon had no effect" in capsys.readouterr().out


def test_next_game_has_the_players_of_the_last_one_unless_the_command_line_names_others(folder: Path) -> None:
    args = options(folder, free_port())
    with Program(args, []) as phone:
        assert phone.sees("Anna to play") and phone.press("end-game") == 204
    args.players, args.port = None, free_port()
    with Program(args, []) as phone:
        assert phone.sees("Ben to play") and phone.press("end-game") == 204
    args.players, args.port = "Mira,Tom", free_port()
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


def test_settings_of_the_command_line_are_named(folder: Path) -> None:
    file = run_command.make_settings_file(options(folder, 8080, "--settings", str(folder / "settings.toml")))
    assert file.path == folder / "settings.toml"
    assert file.overrides == {
        ("camera", "source"): "--camera",
        ("game", "players"): "--players",
        ("page", "port"): "--port",
        ("page", "host"): "--host",
        ("data", "folder"): "--data",
    }


@pytest.mark.parametrize("is_service", [False, True])
def test_settings_are_changed_on_the_page(folder: Path, monkeypatch: pytest.MonkeyPatch, is_service: bool) -> None:
    monkeypatch.setattr("device.cli.appliance.RESTART_DELAY_S", 0.0)
    monkeypatch.setenv("NOTIFY_SOCKET", "/run/none" if is_service else "")
    args = options(folder, 8080, "--settings", str(folder / "settings.toml"))
    file = run_command.make_settings_file(args)
    appliance = Appliance(run_command.resolve_settings(args, Settings()), ReaderInOrder([]), settings_file=file)
    with appliance.open_store() as store:
        access = appliance.open_settings(store)
        assert access is not None and (access.restart is not None) is is_service
        form = access.editor.read()
        access.editor.save({**form.texts, ("data", "pictures_days"): "7"}, form.version)
        assert store.picture_limits.max_age_days == 7 and access.editor.list_pending() == ()
    if access.restart:
        access.restart()
        assert appliance.ended.wait(PATIENCE_S) and not appliance.should_power_off.is_set()


def test_damaged_store_is_reported_on_console_and_page(folder: Path) -> None:
    data = folder.parent / "data"
    data.mkdir()
    (data / "games.db").write_bytes(b"no database" * 1000)
    lines: list[str] = []
    appliance = Appliance(run_command.resolve_settings(options(folder, 8080)), ReaderInOrder([]), report=lines.append)
    with appliance.open_store() as store, appliance.open_session(store) as session:
        appliance.begin_game(session)
        appliance.show_notices(session)
        assert "was damaged" in lines[-1] and lines[-1] in {notice.text for notice in session.state.notices}


def test_backup_is_made_when_a_game_ends(folder: Path) -> None:
    with Program(options(folder, free_port()), []) as phone:
        assert phone.press("end-game") == 204
    (backup,) = list_backups(folder.parent / "data" / "backups")
    with GameStore(backup) as store:
        assert load_game(store, 1).is_over


def test_service_starts_without_part_that_failed_three_times(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path))
    args = options(folder, free_port())
    args.camera, args.lexicon = "folder:/nowhere/at/all", str(tmp_path / "nowhere.txt")

    def start() -> Appliance:
        settings = run_command.resolve_settings(args)
        return Appliance(settings, ReaderInOrder([]), starts=run_command.make_start_record())

    for _ in range(3):
        with pytest.raises(UserError, match=r"nowhere\.txt"):
            start()
    for _ in range(3):
        with pytest.raises(UserError, match="Create it"):
            start().serve()
    appliance = start()
    with appliance.open_store() as store, appliance.open_session(store) as session:
        appliance.begin_game(session)
        appliance.show_notices(session)
        texts = [notice.text for notice in session.state.notices]
        assert any("failed at word list" in text for text in texts)
        assert any("failed at camera" in text for text in texts)


@pytest.mark.slow
@pytest.mark.serial
def test_service_that_crashes_three_times_starts_without_the_hardware_and_says_so(folder: Path, tmp_path: Path) -> None:
    code = "from device.cli import main; raise SystemExit(main())"
    command = [sys.executable, "-c", code, "run", "--camera", f"folder:{folder}", "--data", str(tmp_path / "data")]
    command += ["--port", "0", "--host", "127.0.0.1", "--players", "Anna,Ben"]
    environment = os.environ | {"STATE_DIRECTORY": str(tmp_path)}
    for number in range(4):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=ROOT) as program:
            assert program.stdout is not None
            lines = []
            while not lines or not lines[-1].startswith("The page is up"):
                lines.append(program.stdout.readline())
                assert lines[-1], "the program ended"
            time.sleep(0.3)  # the service has begun
            program.send_signal(signal.SIGTERM if number == 3 else signal.SIGSEGV)
    assert any("failed at camera" in line for line in lines)
    assert program.returncode == 0


def test_damaged_newest_game_is_named_and_another_one_begins(folder: Path) -> None:
    data = folder.parent / "data"
    data.mkdir()
    with GameStore(data / "games.db") as store:
        store.begin_game({"v": 1, "kind": "started", "players": ["Anna", "Ben"]})
    content = (data / "games.db").read_bytes()
    (data / "games.db").write_bytes(content.replace(b'"Anna","Ben"', b'"Anna","Ban"'))
    lines: list[str] = []
    appliance = Appliance(run_command.resolve_settings(options(folder, 8080)), ReaderInOrder([]), report=lines.append)
    with appliance.open_store() as store, appliance.open_session(store) as session:
        assert appliance.begin_game(session) == "A new game begins: Anna, Ben."
        appliance.show_notices(session)
        assert "Game 1 is damaged" in lines[0] and lines[0] in {notice.text for notice in session.state.notices}


def test_taken_port_is_said_in_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UserError, match=f"port {port} is in use: choose another with --port"):
            serve(options(folder, port))
        assert main(["demo", "--port", str(port), "--once"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.fixture
def secure(own_settings: Path) -> int:
    """A free port for https, which is in the settings file."""
    port = free_port()
    own_settings.write_text(f"[page]\nsecure_port = {port}\n", encoding="utf-8")
    return port


def trust(folder: Path) -> ssl.SSLContext:
    """Trust the certificate of the table, as a browser does that has accepted it."""
    return ssl.create_default_context(cafile=str(folder.parent / "data" / "https.pem"))


def test_page_is_served_over_https_with_a_certificate_of_the_table(
    folder: Path, secure: int, capsys: pytest.CaptureFixture[str]
) -> None:
    served = []
    for _ in range(2):
        with Program(options(folder, free_port()), []) as phone:
            phone.get()
            connection = http.client.HTTPSConnection("127.0.0.1", secure, context=trust(folder), timeout=PATIENCE_S)
            with closing(connection):
                connection.request("GET", "/")
                assert connection.getresponse().status == 200
        served.append((folder.parent / "data" / "https.pem").read_bytes())
        assert f" or https://127.0.0.1:{secure}" in capsys.readouterr().out
    assert served[0] == served[1]


def test_taken_port_of_https_leaves_http(folder: Path, secure: int, capsys: pytest.CaptureFixture[str]) -> None:
    with (
        socket.create_server(("127.0.0.1", secure)),
        Program(options(folder, free_port()), []) as phone,
    ):
        assert "does not offer https at the moment" in phone.get("/secure")
    assert f"No https: port {secure} is in use: choose another with page.secure_port" in capsys.readouterr().out


def test_certificate_that_cannot_be_written_leaves_http(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder.parent / "data" / "https.pem").mkdir(parents=True)
    with Program(options(folder, free_port()), []) as phone:
        assert phone.sees("Anna to play")
    assert "No https: " in capsys.readouterr().out


def test_certificate_names_all_addresses_of_the_page() -> None:
    names = find_certificate_names(PageSettings(names=("score.example.org",)), Hotspot("T", "p", "10.42.0.1"))
    assert {"localhost", "127.0.0.1", f"{socket.gethostname().lower()}.local", "score.example.org", "10.42.0.1"} <= {
        *names
    }
    assert "127.0.0.1" not in find_certificate_names(PageSettings(host="192.168.1.7"), None)
    assert "127.0.0.1" in find_certificate_names(PageSettings(host="0.0.0.0"), None)


@pytest.mark.parametrize(
    ("host", "address"), [("::1", "http://[::1]:80"), ("::", "http://localhost:80"), ("0.0.0.0", "http://localhost:80")]
)
def test_addresses_of_the_page_can_be_opened(host: str, address: str) -> None:
    assert find_page_addresses(host, 80)[0] == address


def test_camera_and_store_troubles_are_said_in_one_line(folder: Path, tmp_path: Path) -> None:
    args = options(folder, free_port())
    args.camera = "folder:/nowhere/at/all"
    with pytest.raises(UserError, match="Create it"):
        serve(args)
    with GameStore(tmp_path / "data" / "games.db"), pytest.raises(UserError, match="in use by another Tilekeeper"):
        serve(options(folder, free_port()))


def test_settings_file_fills_in_what_the_command_line_leaves_out(own_settings: Path) -> None:
    own_settings.write_text(
        '[game]\nplayers = ["Mira", "Tom", "Ada"]\ntiles = "de"\nlexicon = "none"\n'
        '[camera]\nsource = "usb:1"\n[page]\nport = 8123\nhost = "127.0.0.1"\n[data]\nfolder = "/games"\n'
    )
    settings = chosen()
    assert settings.game.players == ("Mira", "Tom", "Ada")
    assert (settings.game.tiles, settings.game.lexicon) == ("de", "none")
    assert settings.camera.source == "usb:1"
    assert (settings.page.port, settings.page.host) == (8123, "127.0.0.1")
    assert settings.data.folder == Path("/games")


def test_command_line_wins_over_the_settings_file(tmp_path: Path, own_settings: Path) -> None:
    own_settings.write_text("not even read")
    path = tmp_path / "table.toml"
    path.write_text(
        '[game]\nplayers = ["Mira", "Tom"]\n[camera]\nsource = "usb:1"\n[page]\nport = 8123\nhost = "::1"\n'
    )
    game = ("--players", "Eva,Ida", "--tiles", "ro", "--lexicon", "none")
    table = ("--camera", "folder:x", "--port", "0", "--data", "d", "--host", "")
    settings = chosen("--settings", str(path), *game, *table)
    assert settings.game.players == ("Eva", "Ida")
    assert (settings.game.tiles, settings.game.lexicon) == ("ro", "none")
    assert (settings.camera.source, settings.data.folder) == ("folder:x", Path("d"))
    assert (settings.page.port, settings.page.host) == (0, "")


def test_without_a_settings_file_everything_has_its_default() -> None:
    assert chosen() == Settings()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[page]\nport = 0\n", "line 2: page.port: 0 is not allowed here"),
        ("port = ", "not valid TOML"),
        (None, "cannot be read"),
    ],
)
def test_wrong_settings_file_is_said_in_one_line(
    tmp_path: Path, text: str | None, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "table.toml"
    if text is not None:
        path.write_text(text)
    assert main(["run", "--settings", str(path)]) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1


def test_machine_without_pins_says_so_in_one_line_and_has_the_page_alone(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, own_settings: Path
) -> None:
    def no_header() -> None:
        raise GpioUnavailableError("This machine has no GPIO pins.")

    monkeypatch.setattr("device.panel.open_panel.may_have_pins", lambda: True)
    monkeypatch.setattr("device.panel.gpio._make_pin_factory", no_header)
    with Program(options(folder, free_port()), []) as phone:
        assert phone.sees("Anna to play")
    assert capsys.readouterr().out.count("The panel cannot be used. This machine has no GPIO pins.\n") == 1
    own_settings.write_text("[panel]\nuse = false\n")
    with Program(options(folder, free_port()), []) as phone:
        assert phone.sees("Anna to play")
    assert "pins" not in capsys.readouterr().out


@pytest.fixture
def pins(monkeypatch: pytest.MonkeyPatch) -> Iterator[MockFactory]:
    """The far end of the header's pins."""
    factory = MockFactory(pin_class=MockPWMPin)
    monkeypatch.setattr("device.panel.gpio._make_pin_factory", lambda: factory)
    monkeypatch.setattr("device.panel.open_panel.may_have_pins", lambda: True)
    yield factory
    factory.reset()


def down(pins: MockFactory, button: Button) -> None:
    pins.pin(Pins().buttons[button]).drive_low()


def up(pins: MockFactory, button: Button) -> None:
    pins.pin(Pins().buttons[button]).drive_high()


def test_button_on_the_pins_is_a_turn_on_the_page_and_its_refusal_is_told_there(
    folder: Path, pins: MockFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("device.panel.panel.MESSAGE_DURATION_S", PATIENCE_S)
    picture(folder, "1.png")
    with Program(options(folder, free_port()), [rows(HORN)]) as phone:
        down(pins, Button.END_TURN_3)
        assert phone.sees("No player of this game has this button. Press your own.")
        up(pins, Button.END_TURN_3)
        down(pins, Button.END_TURN_1)
        assert phone.sees("+14") and phone.sees("Ben to play")


def test_held_power_button_ends_the_program(folder: Path, pins: MockFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("device.panel.buttons.HOLD_S", {**HOLD_S, Button.POWER: 0.05})
    program = Program(options(folder, free_port()), [])
    with program:
        assert not program.appliance.should_power_off.is_set()
        down(pins, Button.POWER)
        assert program.appliance.should_power_off.wait(PATIENCE_S)
        program.thread.join(PATIENCE_S)
        assert not program.thread.is_alive()


def test_systemd_hears_that_the_table_is_up_works_and_ends(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        systemd.settimeout(PATIENCE_S)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        monkeypatch.setenv("WATCHDOG_USEC", "600000")
        with Program(options(folder, free_port()), []):
            assert systemd.recv(1000).decode().startswith("READY=1\nSTATUS=The page is up: http://127.0.0.1:")
            assert systemd.recv(1000) == b"WATCHDOG=1"
        while (told := systemd.recv(1000)) == b"WATCHDOG=1":
            pass
        assert told == b"STOPPING=1"


def test_machine_that_does_not_switch_off_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def refuses(command: list[str], **_: object) -> subprocess.CompletedProcess[bytes]:
        asked.append(command)
        return subprocess.CompletedProcess(command, 1)

    monkeypatch.setattr(subprocess, "run", refuses)
    with pytest.raises(UserError, match="sudo poweroff"):
        run_command.switch_off_machine()
    assert asked == [["systemctl", "poweroff"]]


@pytest.mark.slow
def test_demo_reads_and_scores_a_whole_game_by_itself(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    options = ["--seed", "4", "--speed", "10000", "--port", str(free_port()), "--data", str(tmp_path)]
    assert main(["demo", "--once", *options]) == 0
    assert "right: Mira 533, Tom 318" in capsys.readouterr().out
    with GameStore(tmp_path / "games.db") as store:
        assert len(store.games()) == 4


@pytest.mark.parametrize("speed", ["0", "-1"])
def test_demo_does_not_go_backwards(capsys: pytest.CaptureFixture[str], speed: str) -> None:
    assert main(["demo", "--speed", speed]) == 2
    assert "must be more than 0" in capsys.readouterr().err


def test_missing_camera_is_reported_in_one_line_at_the_start(folder: Path) -> None:
    lines: list[str] = []
    arguments = options(folder, 8080, "--camera", "usb:77")
    appliance = Appliance(run_command.resolve_settings(arguments), ReaderInOrder([]), report=lines.append)
    with appliance.open_store() as store, appliance.open_session(store):
        assert lines == ["There is no camera at usb:77. Plug it in, or list all cameras with tilekeeper cameras."]
