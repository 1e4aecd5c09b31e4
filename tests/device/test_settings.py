"""The settings file: every value has a default, and a mistake is said with its line."""

from __future__ import annotations

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
)
from device.settings_document import read_default_text
from device.storage.picture_limits import PictureLimits
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
        ("[page]\n\nport = 70000", "t.toml, line 3: page.port is 70000: choose a number from 1 to 65535"),
        ('[page]\nport = "80"', "t.toml, line 2: page.port must be a whole number"),
        ("[page]\nport = true", "line 2: page.port must be a whole number"),
        ("[page]\nprot = 80", "line 2: page.prot is not known: [page] has port, host"),
        ("\n[pages]\nport = 80", "line 2: pages is not known: the tables are [game], [camera]"),
        ("page = 80", "line 1: page must be a table: write [page] on a line of its own"),
        ("page.port = 0", "line 1: page.port is 0: choose"),
        ('[page]\ncertificate = "/c.pem"', "page.key is missing: https needs a certificate and its key"),
        ('[page]\ncertificate = "c"\nkey = "k"\nport = 8443', "page.secure_port is the port of http"),
        ("[page]\nsecure_port = 0", "line 2: page.secure_port is 0: choose"),
        ('[page]\nwifi_password = "x"', "page.wifi is missing: enter the name of the Wi-Fi that has this password"),
        (f'[page]\nwifi = "{"x" * 33}"', "line 2: page.wifi may have at most 32 bytes"),
        ("[voice]\nuse = 1", "line 2: voice.use must be true or false"),
        ('[game]\nplayers = ["Anna"]', "line 2: game.players must be 2 to 4 different names"),
        ('[game]\nplayers = ["Anna", " Anna"]', "game.players must be 2 to 4 different names"),
        ('[game]\nplayers = "Anna"', 'game.players must be a list of texts: ["a", "b"]'),
        ('[game]\ntiles = "klingon"', "line 2: game.tiles is 'klingon': choose one of af, ar, bg, ca"),
        ('[game]\ntiles = "en_super"', "line 2: game.tiles is 'en_super', which needs a board of 21 x 21 squares"),
        ('[game]\nlayout = "round"', f"line 2: game.layout is 'round': choose one of {', '.join(layout_names())}"),
        ('[game]\nrules = "x"', "line 2: game.rules has preset 'x': choose one of classic-2008"),
        ('[game]\nchallenge = "x"', "line 2: game.challenge has challenge 'x': choose one of double, single"),
        ("[game]\nclock = 999", "line 2: game.clock has minutes '999': choose 0 to 180"),
        ('[game]\nmore_rules = ["exchange=x"]', "line 2: game.more_rules has exchange 'x': choose one of any, seven"),
        (
            '[game]\nmore_rules = ["levels=expert,expert,expert"]',
            "game.more_rules names 3 levels for 2 players",
        ),
        ('[game]\nfirst = "Cleo"', "line 2: game.first is 'Cleo': choose draw or one of Player 1, Player 2"),
        ('[camera]\nsource = "film"', "line 2: camera.source is 'film': write"),
        ("[camera]\nmains_hz = 55", "line 2: camera.mains_hz is 55: choose 50 or 60"),
        ('[page]\nboard_colours = "pink"', "line 2: page.board_colours is 'pink': choose one of crossword-game"),
        ('[page]\nlanguage = "xx"', "line 2: page.language is 'xx': choose one of en, de"),
        ('[camera]\nsource = "pi:x"', "line 2: camera.source is 'pi:x': write"),
        ("[camera]\nturn_seconds = 1", "line 2: camera.turn_seconds is 1: choose a number from 2 to 120"),
        ('[table]\nauto = "yes"', "line 2: table.auto is 'yes': choose one of off, propose, end"),
        ("[table]\nauto_seconds = 2", "line 2: table.auto_seconds is 2: choose a number from 3 to 120"),
        ("[panel]\nuse = true\nchallenge = 40", "line 3: panel.challenge is GPIO 40, which cannot be used"),
        ("[panel]\nchallenge = 5", "panel.challenge is GPIO 5, which end_turn already uses: choose another one"),
        ("[panel]\nend_turn = [5, 5]", "line 2: panel.end_turn is GPIO 5, which end_turn already uses"),
        ("[panel]\nend_turn = [5, true]", "line 2: panel.end_turn must be a list of whole numbers: [5, 6]"),
        ("[panel]\nend_turn = [7, 8, 9, 10, 11]", "line 2: panel.end_turn has 5 pins: use one pin for a shared"),
        ("[panel]\nstatus_light = [18, 23]", "line 2: panel.status_light has 2 pins: use three"),
        ('[panel]\ndisplays = ["lcd"]', "line 2: panel.displays can have at most two"),
        ('[game]\nplayers = ["Anna", "Ben\\u001b[2J"]', "line 2: game.players has control characters: remove them"),
        (f'[game]\nplayers = ["Anna", "{"B" * 41}"]', "line 2: game.players must be names of up to 40 letters"),
        ('[game]\nlexicon = "\\u0000"', "line 2: game.lexicon has control characters"),
        ('[data]\nfolder = "~nouser/x"', "line 2: data.folder is in the home folder of an unknown user"),
        (
            '[game]\nlexicon = "~nouser/x"',
            "line 2: game.lexicon names the home folder of a user that this machine does not have",
        ),
        ('[page]\nhost = "ü..x"', "line 2: page.host is 'ü..x': write an address"),
        (f"a = {'[' * 3000}", "t.toml is nested too deeply"),
        (f"{'a.' * 2000}b = 1", "t.toml is nested too deeply"),
        (f"[page]\nport = {'9' * 5000}", "t.toml is not valid TOML: Exceeds the limit"),
        ("[data]\nfolder = 3", 'line 2: data.folder must be text in "quotes"'),
        ("[panel.pins]\nchallenge = 4", "panel.pins is not known"),
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
    for path, text in ((tmp_path / "fifo.toml", "is no file"), (tmp_path / "nul\0.toml", "cannot be read")):
        with pytest.raises(SettingsError, match=text):
            load_settings(path)


def test_file_that_is_not_there_and_file_that_is_no_text(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"none\.toml cannot be read \(No such file or directory\)"):
        load_settings(tmp_path / "none.toml")
    binary = tmp_path / "settings.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SettingsError, match="no text in UTF-8"):
        load_settings(binary)


def test_users_own_file_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setattr("device.settings.SYSTEM_SETTINGS_FILE", tmp_path / "no.toml")
    assert find_settings_file() is None
    own = tmp_path / "tilekeeper" / "settings.toml"
    own.parent.mkdir()
    own.write_text(read_default_text())
    assert find_settings_file() == own and load_settings(own) == Settings()


def test_limits_of_the_pictures_are_set_in_megabytes_and_days() -> None:
    limits = parse_settings("[data]\npictures_mb = 10\npictures_days = 30").data.picture_limits
    assert (limits.max_bytes, limits.max_age_days) == (10 * 2**20, 30)
    assert Settings().data.picture_limits == PictureLimits()


@pytest.mark.parametrize("line", ["pictures_mb = -1", "pictures_days = 36501"])
def test_limit_of_the_pictures_out_of_range_is_refused(line: str) -> None:
    with pytest.raises(SettingsError, match=r"line 2: data\.pictures_\w+ is -?\d+: choose a number from 0 to"):
        parse_settings(f"[data]\n{line}")
