"""The settings file: every value has a default, and a mistake is said with its line."""

from __future__ import annotations

import errno
import os
import tomllib
from pathlib import Path

import pytest

from device.cli.options import prepare_game
from device.panel.buttons import Button, Pins
from device.settings import (
    Settings,
    SettingsError,
    find_settings_file,
    load_settings,
    parse_settings,
    read_default_text,
)
from device.settings_editor import SettingsEditor, SettingsFile
from device.storage.store import PictureLimits
from engine.board import layout_names
from engine.rules import ChallengeRule


def test_default_file_holds_the_defaults() -> None:
    assert parse_settings(read_default_text()) == Settings() == load_settings(None) == parse_settings("")


def test_default_file_explains_every_line() -> None:
    keys = [line for line in read_default_text().splitlines() if " = " in line]
    assert len(keys) == sum(len(table) for table in tomllib.loads(read_default_text()).values())
    explained = [line for line in keys if "#" in line]
    assert len(explained) >= len(keys) - 4  # a few explain themselves


def test_what_is_set_counts_and_the_rest_stays() -> None:
    settings = parse_settings(
        """
        [game]
        players = ["Anna", "Ben", "Cleo"]
        tiles = "de"
        lexicon = "none"
        [camera]
        source = "usb:/dev/v4l/by-id/usb-cam"
        [page]
        port = 80
        [data]
        folder = "/var/lib/tilekeeper"
        [panel]
        end_turn = [26]
        buzzer = 0
        displays = ["oled:0x3C", "oled:0x3D"]
        [voice]
        use = true
        """
    )
    assert settings.game.players == ("Anna", "Ben", "Cleo") and settings.game.lexicon == "none"
    assert settings.camera.source == "usb:/dev/v4l/by-id/usb-cam"
    assert settings.page.port == 80 and settings.page.host == ""
    assert settings.data.folder == Path("/var/lib/tilekeeper")
    assert settings.panel.pins.buttons[Button.END_TURN] == 26 and Button.END_TURN_1 not in settings.panel.pins.buttons
    assert settings.panel.pins.buzzer is None and settings.panel.pins.challenge == Pins().challenge
    assert settings.panel.displays == ("oled:0x3C", "oled:0x3D") and settings.voice.use


def test_rules_of_the_settings_are_those_of_the_game() -> None:
    text = '[game]\nrules = "travel-case"\nchallenge = "points"\nclock = 25\nfirst = "draw"\nmore_rules = ["points=10"]'
    started, _ = prepare_game(parse_settings(text).game)
    rules = started.rules
    assert (rules.edition, rules.challenge, rules.challenge_points) == ("travel-case", ChallengeRule.POINTS, 10)
    assert rules.clock_seconds == 1500 and started.draw


def test_panel_may_have_no_button_at_all() -> None:
    pins = parse_settings("[panel]\nend_turn = []\nchallenge = 0\npause = 0\nnew_game = 0\npower = 0\n").panel.pins
    assert pins.buttons == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "[page]\n\nport = 70000",
            "t.toml, line 3: page.port: 70000 is not allowed here. Choose a number from 1 to 65535.",
        ),
        ('[page]\nport = "80"', "t.toml, line 2: page.port: Enter a whole number, without quotation marks."),
        ("[page]\nport = true", "line 2: page.port: Enter a whole number, without quotation marks."),
        ("[page]\nprot = 80", "line 2: page.prot: There is no such setting. [page] has port, host"),
        ("\n[pages]\nport = 80", "line 2: pages: There is no such table. The tables are [game], [camera]"),
        ("page = 80", "line 1: page: This must be a table. Write [page] on a line of its own."),
        ("page.port = 0", "line 1: page.port: 0 is not allowed here. Choose"),
        ('[page]\ncertificate = "/c.pem"', "page.key: The page needs a certificate and its key. Enter both"),
        ('[page]\ncertificate = "c"\nkey = "k"\nport = 8443', "page.secure_port: The page uses this port for http."),
        ("[page]\nsecure_port = 0", "line 2: page.secure_port: 0 is not allowed here. Choose"),
        ('[page]\nwifi_password = "x"', "page.wifi: A Wi-Fi password is set, but no Wi-Fi name. Enter the name"),
        (f'[page]\nwifi = "{"x" * 33}"', "line 2: page.wifi: Enter a Wi-Fi name of up to 32 bytes"),
        ("[voice]\nuse = 1", "line 2: voice.use: Enter true or false"),
        ('[game]\nplayers = ["Anna"]', "line 2: game.players: Enter 2 to 4 different names."),
        ('[game]\nplayers = ["Anna", " Anna"]', "game.players: Enter 2 to 4 different names."),
        (
            '[game]\nplayers = "Anna"',
            'game.players: Enter a list of texts. In the settings file, write it in brackets: ["a", "b"].',
        ),
        (
            '[game]\ntiles = "klingon"',
            "line 2: game.tiles: 'klingon' is not one of the choices. Choose one of af, ar, bg, ca",
        ),
        ('[game]\ntiles = "en_super"', "line 2: game.tiles: 'en_super' needs a board of 21 x 21 squares"),
        (
            '[game]\nlayout = "round"',
            f"line 2: game.layout: 'round' is not one of the choices. Choose one of {', '.join(layout_names())}",
        ),
        ('[game]\nrules = "x"', "line 2: game.rules: 'x' is not a choice for preset. Choose one of classic-2008"),
        (
            '[game]\nchallenge = "x"',
            "line 2: game.challenge: 'x' is not a choice for challenge. Choose one of double, single",
        ),
        ("[game]\nclock = 999", "line 2: game.clock: '999' is not a choice for minutes. Choose 0 to 180."),
        (
            '[game]\nmore_rules = ["exchange=x"]',
            "line 2: game.more_rules: 'x' is not a choice for exchange. Choose one of any, seven.",
        ),
        (
            '[game]\nmore_rules = ["levels=expert,expert,expert"]',
            "game.more_rules: There are 3 levels for 2 players.",
        ),
        (
            '[game]\nfirst = "Cleo"',
            "line 2: game.first: No player is called 'Cleo'. Enter draw or one of the names Player 1, Player 2.",
        ),
        ('[camera]\nsource = "film"', "line 2: camera.source: 'film' is not a camera. Enter"),
        ("[camera]\nmains_hz = 55", "line 2: camera.mains_hz: 55 is not a mains frequency. Choose 50 or 60."),
        (
            '[page]\nboard_colours = "pink"',
            "line 2: page.board_colours: 'pink' is not one of the choices. Choose one of crossword-game",
        ),
        ('[page]\nlanguage = "xx"', "line 2: page.language: 'xx' is not one of the choices. Choose one of en, de"),
        ('[camera]\nsource = "usb:x"', "line 2: camera.source: 'usb:x' is not a camera. Enter"),
        ('[camera]\nsource = "pi:x"', "line 2: camera.source: 'pi:x' is not a camera. Enter"),
        (
            "[camera]\nturn_seconds = 1",
            "line 2: camera.turn_seconds: 1 is not allowed here. Choose a number from 2 to 120",
        ),
        (
            '[table]\nauto = "yes"',
            "line 2: table.auto: 'yes' is not one of the choices. Choose one of off, propose, end",
        ),
        (
            "[table]\nauto_seconds = 2",
            "line 2: table.auto_seconds: 2 is not allowed here. Choose a number from 3 to 120",
        ),
        ("[panel]\nuse = true\nchallenge = 40", "line 3: panel.challenge: GPIO 40 cannot be used."),
        ("[panel]\nchallenge = 5", "panel.challenge: GPIO 5 is already used by end_turn. Choose another GPIO number."),
        ("[panel]\nend_turn = [5, 5]", "line 2: panel.end_turn: GPIO 5 is already used by end_turn."),
        ("[panel]\nend_turn = [5, true]", "line 2: panel.end_turn: Enter only whole numbers."),
        (
            "[panel]\nend_turn = [7, 8, 9, 10, 11]",
            "line 2: panel.end_turn: There are too many pins (5). Enter one pin for a shared",
        ),
        ("[panel]\nstatus_light = [18, 23]", "line 2: panel.status_light: The number of pins is 2. Enter three"),
        ('[panel]\ndisplays = ["lcd"]', "line 2: panel.displays: Enter one or two displays"),
        (
            '[game]\nplayers = ["Anna", "Ben\\u001b[2J"]',
            "line 2: game.players: The text has control characters. Remove them.",
        ),
        (f'[game]\nplayers = ["Anna", "{"B" * 41}"]', "line 2: game.players: A name may have up to 40 letters."),
        ('[game]\nlexicon = "\\u0000"', "line 2: game.lexicon: The text has control characters."),
        (
            '[data]\nfolder = "~nouser/x"',
            "line 2: data.folder: ~nouser/x is in the home folder of a user who does not exist",
        ),
        (
            '[game]\nlexicon = "~nouser/x"',
            "line 2: game.lexicon: ~nouser/x is in the home folder of a user who does not exist",
        ),
        ('[page]\nhost = "ü..x"', "line 2: page.host: 'ü..x' is not a valid address."),
        (f"a = {'[' * 3000}", "t.toml is nested too deeply"),
        (f"{'a.' * 2000}b = 1", "t.toml is nested too deeply"),
        (f"[page]\nport = {'9' * 5000}", "t.toml is not valid TOML: Exceeds the limit"),
        ("[data]\nfolder = 3", "line 2: data.folder: Enter a text in quotation marks"),
        ("[panel.pins]\nchallenge = 4", "panel.pins: There is no such setting."),
        ("[page]\nport = \n[data]", "t.toml is not valid TOML: Invalid value (at line 2"),
    ],
)
def test_mistake_is_one_line_that_names_file_line_and_key(text: str, said: str) -> None:
    with pytest.raises(SettingsError) as raised:
        parse_settings(text, "t.toml")
    assert said in str(raised.value) and "\n" not in str(raised.value)


def test_file_with_byte_order_mark_is_read(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text("[page]\nport = 81\n", encoding="utf-8-sig")
    assert load_settings(path).page.port == 81


def test_fifo_and_name_with_nul_are_refused_in_one_line(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.toml")
    for path, text in ((tmp_path / "fifo.toml", "is not a file"), (tmp_path / "nul\0.toml", "cannot be read")):
        with pytest.raises(SettingsError, match=text):
            load_settings(path)


def test_file_that_is_not_there_and_file_that_is_no_text(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"none\.toml cannot be read \(No such file or directory\)"):
        load_settings(tmp_path / "none.toml")
    binary = tmp_path / "settings.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SettingsError, match="not a text in UTF-8"):
        load_settings(binary)


def test_users_own_file_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setattr("device.settings.SYSTEM_SETTINGS_FILE", tmp_path / "no.toml")
    assert find_settings_file() is None
    own = tmp_path / "tilekeeper" / "settings.toml"
    own.parent.mkdir()
    own.write_text(read_default_text())
    assert find_settings_file() == own and load_settings(own) == Settings()


def test_folder_in_place_of_the_users_own_file_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "tilekeeper" / "settings.toml").mkdir(parents=True)
    with pytest.raises(SettingsError, match="is not a file"):
        load_settings(find_settings_file())


def test_link_to_a_missing_file_is_not_taken_for_no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "tilekeeper").mkdir()
    (tmp_path / "tilekeeper" / "settings.toml").symlink_to(tmp_path / "stick" / "settings.toml")
    with pytest.raises(SettingsError, match=r"settings\.toml cannot be read \(No such file or directory\)"):
        load_settings(find_settings_file())


def test_limits_of_the_pictures_are_set_in_megabytes_and_days() -> None:
    limits = parse_settings("[data]\npictures_mb = 10\npictures_days = 30").data.picture_limits
    assert (limits.max_bytes, limits.max_age_days) == (10 * 2**20, 30)
    assert Settings().data.picture_limits == PictureLimits()


@pytest.mark.parametrize("line", ["pictures_mb = -1", "pictures_days = 36501"])
def test_limit_of_the_pictures_out_of_range_is_refused(line: str) -> None:
    with pytest.raises(
        SettingsError, match=r"line 2: data\.pictures_\w+: -?\d+ is not allowed here. Choose a number from 0 to"
    ):
        parse_settings(f"[data]\n{line}")


def test_settings_file_in_a_folder_that_may_not_be_searched_is_not_taken_for_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deny(path: Path, **_: object) -> os.stat_result:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setattr(Path, "stat", deny)
    file = find_settings_file()
    assert file == tmp_path / "tilekeeper" / "settings.toml"
    with pytest.raises(SettingsError, match="cannot be read"):
        load_settings(file)
    assert SettingsEditor(SettingsFile(file), Settings()).list_pending() == ()
