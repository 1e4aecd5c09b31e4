"""The settings of `tilekeeper run`: the command line, the file, and changes on the page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from device.cli import run as run_command
from device.cli.appliance import Appliance
from device.session.commands.games import DrawFirst, EndGame, EndPause, StartGame
from device.session.commands.turns import PassTurn
from device.session.snapshot import Phase, TableSnapshot
from device.session.table_session import TableSession
from device.settings import Settings, parse_settings
from device.settings_editor import SettingsEditor, SettingsForm
from device.storage.lexicons import save_uploaded_list
from device.storage.store import GameStore
from device.system.start_record import StartRecord
from engine.events import GameStarted
from engine.rules import ChallengeRule
from engine.tiles import load_tile_set
from tests.support.programs import chosen, options
from tests.support.programs import folder as folder
from tests.support.programs import known_code as known_code
from tests.support.programs import own_settings as own_settings
from tests.support.text_table import ReaderInOrder
from tests.support.waiting import PATIENCE_S, until


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


@contextmanager
def open_settings(folder: Path, *words: str) -> Iterator[tuple[Appliance, TableSession, SettingsEditor]]:
    """Start the table with options, and open the settings that its page may change."""
    args = options(folder, 8080, "--settings", str(folder / "settings.toml"), *words)
    file = run_command.make_settings_file(args)
    settings = run_command.resolve_settings(args, Settings())
    appliance = Appliance(settings, ReaderInOrder([]), report=lambda _: None, settings_file=file)
    with appliance.open_store() as store, appliance.open_session(store) as session:
        appliance.begin_game(session)
        until(lambda: session.state.phase is Phase.TURN)
        access = appliance.open_settings(session, store)
        assert access is not None
        yield appliance, session, access.editor


def save(editor: SettingsEditor, **changes: str) -> SettingsForm:
    """Save settings whose names have `__` in place of the point."""
    changed = {tuple(name.split("__")): text for name, text in changes.items()}
    return editor.save({path: changed[path] for path in changed if len(path) == 2}, editor.read().version)


def test_limits_of_pictures_are_changed_at_once(folder: Path) -> None:
    with open_settings(folder) as (appliance, session, _), GameStore(":memory:") as store:
        access = appliance.open_settings(session, store)
        assert access is not None
        save(access.editor, data__pictures_days="7")
        assert store.picture_limits.max_age_days == 7 and access.editor.list_pending() == ()


def test_game_without_an_event_has_the_players_and_tiles_that_were_changed_on_the_page(folder: Path) -> None:
    with open_settings(folder) as (_, session, editor):
        save(editor, game__players="Mira\nTom\nAda", game__tiles="de")
        until(lambda: names(session.state) == ["Mira", "Tom", "Ada"])
        assert session.state.tile_set == "de" and editor.list_pending() == ()


def test_next_game_has_the_players_that_were_changed_on_the_page(folder: Path) -> None:
    with open_settings(folder) as (appliance, session, editor):
        session.submit(PassTurn()).result(PATIENCE_S)
        save(editor, game__players="Mira\nTom")
        assert names(session.state) == ["Anna", "Ben"]
        assert names(begin_next_game(appliance, session)) == ["Mira", "Tom"]


def test_lost_tiles_are_said_once_for_the_next_games(folder: Path) -> None:
    with open_settings(folder) as (appliance, session, editor):
        session.submit(PassTurn()).result(PATIENCE_S)
        save(editor, game__lost="q")
        for _ in range(2):
            assert begin_next_game(appliance, session).lost == ("Q",)
            session.submit(PassTurn()).result(PATIENCE_S)
        assert save(editor, game__lost="QQ").errors == {
            ("game", "lost"): "This tile set never had these tiles: Q. Check the lost tiles."
        }


def test_word_list_that_was_uploaded_is_used_by_the_next_game(folder: Path) -> None:
    with open_settings(folder) as (appliance, session, editor):
        lists = folder.parent / "data" / "lexicons"
        path = save_uploaded_list("ours.txt", b"horn\n", lists, load_tile_set("en"))
        session.submit(PassTurn()).result(PATIENCE_S)
        save(editor, game__lexicon=str(path))
        assert begin_next_game(appliance, session).lexicon == "ours"


def test_restart_has_the_options_that_were_not_changed_on_the_page(folder: Path) -> None:
    args = options(folder, 8080, "--new", "--rule", "exchange=seven", "--rule", "first_word=3")
    with open_settings(folder, "--rule", "exchange=seven", "--rule", "first_word=3") as (appliance, _, editor):
        save(editor, game__players="Mira\nTom", camera__source="phone")
        assert [field.name for field in editor.list_pending()] == ["camera.source"]
        words = run_command.list_restart_words(args, appliance.overrides)
    rules = ["--rule=exchange=seven", "--rule=first_word=3"]
    assert words == ["run", *rules, "--port=8080", "--host=127.0.0.1", f"--data={folder.parent / 'data'}"]


def test_restart_that_the_page_asks_for_ends_the_program_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("device.cli.appliance.RESTART_DELAY_S", 0.0)
    with open_settings(folder) as (appliance, session, _), GameStore(":memory:") as store:
        access = appliance.open_settings(session, store)
        assert access is not None
        access.restart()
        assert appliance.ended.wait(PATIENCE_S) and appliance.should_restart.is_set()


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
def test_wrong_settings_file_is_named_and_the_defaults_are_used(tmp_path: Path, text: str | None, said: str) -> None:
    path = tmp_path / "table.toml"
    if text is not None:
        path.write_text(text)
    starts = StartRecord(None)
    assert run_command.load_usable_settings(path, starts, must_exist=True) == Settings()
    assert [said in part.reason for part in starts.failed_parts] == [True]


# Changes of [game] between two starts

GERMAN = 'players = ["Mira", "Tom"]\ntiles = "de"\nchallenge = "points"'


@contextmanager
def start(folder: Path, game: str) -> Iterator[tuple[Appliance, TableSession]]:
    """Start the table with the text of `[game]` in the settings, and without options."""
    settings = parse_settings(f'[game]\n{game}\n[camera]\nsource = "phone"\n[data]\nfolder = "{folder}"\n')
    appliance = Appliance(settings, ReaderInOrder([]), report=lambda _: None)
    with appliance.open_store() as store, appliance.open_session(store) as session:
        appliance.begin_game(session, has_options=False)
        yield appliance, session


def begin_next_game(appliance: Appliance, session: TableSession) -> TableSnapshot:
    """Begin a game as the panel does."""
    return session.submit(appliance.play_again).result(PATIENCE_S)


def names(state: TableSnapshot) -> list[str]:
    return [player.name for player in state.players]


def test_clock_of_a_game_that_the_program_has_begun_waits_for_the_players(folder: Path) -> None:
    with start(folder, 'players = ["Anna", "Ben"]\nclock = 25') as (_, session):
        until(lambda: session.state.phase is Phase.PAUSED)
        assert session.state.clock is not None and session.state.clock.running is None
        assert session.submit(EndPause()).result(PATIENCE_S).clock.running == 0
    with start(folder, 'players = ["Anna", "Ben"]\nclock = 20') as (_, session):
        until(lambda: session.state.phase is Phase.PAUSED)
        assert session.state.rules is not None and session.state.rules.clock_seconds == 1200


def test_game_without_an_event_is_replaced_by_one_of_the_changed_settings(folder: Path) -> None:
    with start(folder, ""):
        pass
    with start(folder, GERMAN) as (_, session):
        state = session.state
    assert (names(state), state.tile_set) == (["Mira", "Tom"], "de")
    assert state.rules is not None and state.rules.challenge is ChallengeRule.POINTS
    with GameStore(folder / "games.db") as store:
        assert len(store.list_games()) == 1


def test_game_in_which_a_draw_was_recorded_is_not_replaced(folder: Path) -> None:
    with start(folder, 'first = "draw"') as (_, session):
        session.submit(DrawFirst(("A", "B"))).result(PATIENCE_S)
    with start(folder, GERMAN) as (_, session):
        assert names(session.state) == ["Player 1", "Player 2"]


def test_game_after_a_finished_one_has_the_changed_settings(folder: Path) -> None:
    with start(folder, "") as (_, session):
        session.submit(PassTurn()).result(PATIENCE_S)
        session.submit(EndGame()).result(PATIENCE_S)
    with start(folder, GERMAN) as (_, session):
        assert (names(session.state), session.state.tile_set) == (["Mira", "Tom"], "de")


def test_running_game_continues_and_the_next_one_has_the_changed_settings(folder: Path) -> None:
    with start(folder, "") as (_, session):
        session.submit(PassTurn()).result(PATIENCE_S)
    for _ in range(2):  # the change is not forgotten before it had an effect
        with start(folder, GERMAN) as (appliance, session):
            assert (names(session.state), session.state.tile_set) == (["Player 1", "Player 2"], "en")
            shown = appliance.play_again.find_default(session.state.game)
            assert shown is not None and shown.tile_set == "de"
    with start(folder, GERMAN) as (appliance, session):
        state = begin_next_game(appliance, session)
        assert (names(state), state.tile_set) == (["Mira", "Tom"], "de")
        assert state.lexicon == appliance.play_again.default.lexicon
        assert appliance.play_again.find_default(state.game) is None
        assert begin_next_game(appliance, session).turn_of == 1, "again the players of the last game"


@pytest.mark.parametrize("game", ["", GERMAN])
def test_players_chosen_on_the_page_stay_while_the_settings_are_the_same(folder: Path, game: str) -> None:
    with start(folder, game):
        pass
    with start(folder, game) as (_, session):
        session.submit(StartGame(GameStarted(("Eva", "Ida")))).result(PATIENCE_S)
    with start(folder, game) as (appliance, session):
        assert names(session.state) == ["Eva", "Ida"]
        session.submit(PassTurn()).result(PATIENCE_S)
        assert names(begin_next_game(appliance, session)) == ["Eva", "Ida"]
