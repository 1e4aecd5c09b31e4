"""The program of `tilekeeper run`, which builds store, session, panel, voice and page from the settings."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from flask import Flask
from msgspec.structs import replace

from calibration.profile import TableProfile
from device.cameras import open_reconnecting_camera
from device.cameras.base import AbsentCamera
from device.cameras.listing import resolve_camera
from device.cameras.reconnecting import ReconnectingCamera
from device.catalogue import get_text
from device.cli import UserError, print_line
from device.cli.options import (
    ensure_data_folder,
    find_unused_options,
    make_lexicon_finder,
    make_own_lists,
    prepare_game,
)
from device.cli.page import announce_wifi, check_page_address, find_page_addresses, open_page
from device.panel.lights import PanelView
from device.panel.panel import Panel, PanelActions, open_panel
from device.report.contents import LOG_FILE_NAME, keep_log, read_log
from device.session.background.auto_turns import AutoTurnConfig
from device.session.commands.games import Pause, PlayAgain, ResumeGame, StartGame
from device.session.messages import CommandRefusedError, Notice, Trouble, format_sentence
from device.session.snapshot import Phase, TableSnapshot
from device.session.table_session import SessionConfig, TableSession
from device.settings import GameSettings, PanelSettings, Settings, TableSettings
from device.settings_editor import SettingPath, SettingsEditor, SettingsFile, find_unusable_setting
from device.storage.backups import BACKUP_FOLDER, BackupTask
from device.storage.errors import StoreLockedError, log_store_errors
from device.storage.fallback import FallbackStore
from device.storage.files import find_unusable_file
from device.storage.lexicons import NO_LEXICON, OwnLists, find_cache_folder
from device.storage.notes import StoredPictureRecord, load_note
from device.storage.recovery import find_refused_file, open_store
from device.storage.store import TABLE_NOTES, GameStore
from device.system.new_version import find_newer_version, find_program_version
from device.system.periodic import PeriodicTask
from device.system.process import RESTART_DELAY_S, describe_machine
from device.system.start_record import StartRecord
from device.system.systemd import keep_alive, make_page_check, make_worker_feed, notify, wait_with_watchdog
from device.system.voice import Voice, make_espeak_speaker
from device.system.wifi import Hotspot, HotspotWatch, NetworkManager, count_phones_in_hotspot, read_hotspot
from engine.errors import TilekeeperError
from engine.lexicon import can_decide_challenge, describe_list
from engine.rules import ChallengeRule
from vision.recognition.reader import PhotoReader
from web import create_app
from web.host_info import HostInfo, SettingsAccess
from web.security.certificate import FILE_NAME as CERTIFICATE_FILE_NAME
from web.security.certificate import is_damaged
from web.security.pairing import FILE_NAME, Pairing

if TYPE_CHECKING:
    from device.hall.publishing.publisher import HallPublisher
    from device.panel.displays import PairingDetails

NOTE_NAME = "game-settings"


class _SettingsNote(msgspec.Struct, frozen=True):
    """The `[game]` settings of the last start, and the number of the newest game when they were changed."""

    settings: GameSettings = GameSettings()
    newest_game: int = 0


def find_outdated_game(store: GameStore, settings: GameSettings) -> int:
    """Return the number of the newest game if it was started before `[game]` was changed to `settings`, otherwise 0.

    Changed settings are noted in the store. If there is no note yet, all games are assumed to have been started with
    the default settings. Imported games do not count.
    """
    with log_store_errors("changes of the settings of [game] are not noticed"):
        newest = next((game.id for game in store.list_games() if not game.imported), 0)
        warning = "the settings of the last start are not known"
        note = load_note(store, TABLE_NOTES, NOTE_NAME, _SettingsNote, warning) or _SettingsNote()
        if note.settings != settings:
            note = _SettingsNote(settings, newest)
            store.save_note(TABLE_NOTES, NOTE_NAME, msgspec.json.encode(note).decode())
        return newest if newest <= note.newest_game else 0
    return 0


def make_game_end_listener(session: TableSession, notify_end: Callable[[], None]) -> Callable[[TableSnapshot], None]:
    """Return a listener that calls `notify_end` when a game has ended or another game has begun."""
    last = session.state

    def compare(state: TableSnapshot) -> None:
        nonlocal last
        has_ended = state.phase is Phase.ENDED and last.phase is not Phase.ENDED
        if has_ended or state.game != last.game:
            notify_end()
        last = state

    return compare


def make_refusal_listener(session: TableSession) -> Callable[[PanelView], None]:
    """Return a listener for the panel: if a press is refused, it shows the reason on the page."""
    last = ""

    def show_refusal(view: PanelView) -> None:
        nonlocal last
        if view.message and view.message != last:
            session.notify(Notice(view.message))
        last = view.message

    return show_refusal


NO_CAMERA_MESSAGE = get_text("camera-left-out")
LEXICON_FOLDER = "lexicons"
"""Folder of the uploaded word lists in the data folder."""
_TROUBLES = {"camera": Trouble.CAMERA, "https": Trouble.NONE}
"""Parts of the table that fail for another reason than its storage, with the trouble that players and hall see."""
TEMPLATE_FOLDER = "templates"
"""Folder of the compiled templates in the folder of caches."""


def hold_clock(session: TableSession) -> None:
    """Pause a game with a clock that the program has begun: the players continue it when they sit at the table."""
    state = session.state
    if state.clock and state.phase.in_play and not state.turns:
        session.submit(Pause(), state.moment)


class Appliance:
    """One table with all its parts: `serve` runs the table, and the other methods build one part each.

    `report` is called with each line of output for the console.
    """

    def __init__(
        self,
        settings: Settings,
        reader: PhotoReader,
        profile: TableProfile | None = None,
        report: Callable[[str], None] = print_line,
        starts: StartRecord | None = None,
        settings_file: SettingsFile | None = None,
        data_folder: Path | None = None,
        open_link: Callable[[str], object] = lambda _: None,
    ) -> None:
        """Prepare the game and read the details of the hotspot. Raises `UserError` if the game cannot be started.

        - `starts`: the record of the parts of the program that failed in earlier starts; None if this is not recorded.
        - `settings_file`: the file that the page may change; if it is None, the page has no settings.
        - `data_folder`: replaces the data folder of the settings.
        - `open_link`: called with the link that pairs the browser of this machine.
        """
        self._settings = settings
        self._reader = reader
        self._profile = profile
        self._report = report
        self._open_link = open_link
        self._starts = starts or StartRecord(None)
        self._data_folder = data_folder or ensure_data_folder(settings.data.folder)
        self._lexicon_folder = self._data_folder / LEXICON_FOLDER
        self._first_game, self._lexicon = self._starts.build(
            "word list",
            lambda: prepare_game(settings.game, self._lexicon_folder),
            lambda: prepare_game(replace(settings.game, lexicon=NO_LEXICON)),
        )
        self._find_outdated_game: Callable[[], int] = int  # `int()` is 0: no game is outdated until the store is open
        self._notices: list[str] = []
        self._hall: HallPublisher | None = None
        self._setup_problems: list[str] = []
        self._secure_port: int | None = None
        self._hotspot = self._starts.build("hotspot", read_hotspot, lambda: None)
        self.ended = threading.Event()
        """Set by another thread to end `serve`."""
        self.should_power_off = threading.Event()
        """Set when a player holds the power button of the panel."""
        self.should_restart = threading.Event()
        """Set when the program must restart itself after `serve`."""
        self._editor: SettingsEditor | None = None
        if settings_file:
            self._editor = SettingsEditor(settings_file, settings, find_unusable=find_unusable_setting)
        self.play_again = self._make_play_again(0)
        """Command with which the panel starts the next game."""

    @property
    def _own_lists(self) -> OwnLists:
        return make_own_lists(self._settings.game, self._lexicon_folder)

    def _make_play_again(self, outdated: int) -> PlayAgain:
        return PlayAgain(self._first_game, make_lexicon_finder(self._own_lists), self._lexicon, outdated)

    @property
    def overrides(self) -> Collection[SettingPath]:
        """The settings that options of the command line still replace."""
        return self._editor.overrides if self._editor else ()

    def serve(self, *, new: bool = False, has_options: bool = True) -> None:
        """Run the table until `ended` is set. Raises `TilekeeperError`.

        `new` is True to start a new game even if the last one has not ended. `has_options` is True if the game has
        options of the command line.
        """
        with ExitStack() as stack:
            stack.enter_context(keep_log(self._data_folder))
            store = stack.enter_context(self.open_store())
            backups = stack.enter_context(
                BackupTask(
                    store,
                    self._data_folder / BACKUP_FOLDER,
                    lambda text: session.notify(Notice(format_sentence(text), Trouble.STORE)),
                )
            )
            session = stack.enter_context(self.open_session(store))
            check_page_address(self._settings.page)  # a failed start stores no game
            self.report_words()
            self._report(self.begin_game(session, new=new, has_options=has_options))
            session.add_listener(make_game_end_listener(session, backups.request))
            pairing = self._starts.build(
                "pairing", lambda: self.open_pairing(session), lambda: self.open_pairing(session, stored=False)
            )
            panel = self._starts.build(
                "panel",
                lambda: stack.enter_context(self.open_panel(session, pairing)),
                lambda: stack.enter_context(self.open_panel(session, pairing, use=False)),
            )
            self._starts.build("voice", lambda: stack.enter_context(self.open_voice(session)), lambda: None)
            self._hall = self._starts.build("hall", lambda: self.open_hall(session, store, stack), lambda: None)
            unread = self._find_unread_files()
            app = self.build_page(session, store, panel, pairing)
            page = partial(
                open_page, app, self._settings.page, self._report, self._data_folder, self._hotspot, self._open_link
            )
            server, status = self._starts.build(
                "https",
                lambda: stack.enter_context(page()),
                lambda: stack.enter_context(page(secure=False)),
                self._data_folder / CERTIFICATE_FILE_NAME,
            )
            self.show_notices(session)
            if unread:
                self._announce(session, get_text("files-unread", ", ".join(unread)))
            self._secure_port = server.secure_port
            if self._hotspot:
                announce_wifi(self._hotspot, self._report)
                stack.callback(self.watch_hotspot(self._hotspot, session).close)
            self._wait(session, server.port, status)

    def open_store(self) -> GameStore:
        """Open the store of games in the data folder. Raises `UserError`, `StoreError`."""
        path = self._data_folder / "games.db"
        store, problem = self._starts.build(
            "store",
            lambda: open_store(path, keep_alive),
            lambda: (FallbackStore(path), ""),
            raises=(StoreLockedError,),
        )
        if isinstance(store, FallbackStore) and problem:
            self._starts.add_failure("store", problem, find_refused_file(path))
        elif problem:
            self._notices.append(problem)
        store.picture_limits = self._settings.data.picture_limits
        return store

    def open_session(self, store: GameStore) -> TableSession:
        """Open the camera and the session; report on the console why the camera is not open. Raises `CameraError`.

        A USB, network or Pi camera that is missing does not end the start: it is opened once it is connected. From now
        on, `begin_game` can ask the store whether the newest game has outdated settings.
        """
        self._find_outdated_game = partial(find_outdated_game, store, self._settings.game)
        camera = self._starts.build(
            "camera",
            lambda: open_reconnecting_camera(
                resolve_camera(self._settings.camera.source),
                lambda folder: StoredPictureRecord(store, folder),
                self._settings.camera.mains_hz,
                self.ended,
            ),
            lambda: AbsentCamera(NO_CAMERA_MESSAGE),
        )
        if isinstance(camera, ReconnectingCamera) and camera.trouble:
            self._report(format_sentence(camera.trouble))
        return TableSession(
            camera,
            self._reader,
            store,
            self._lexicon,
            profile=self._profile,
            config=SessionConfig(
                max_turn_s=self._settings.camera.turn_seconds, auto_turns=make_auto_turn_config(self._settings.table)
            ),
        )

    def begin_game(self, session: TableSession, *, new: bool = False, has_options: bool = True) -> str:
        """Resume the last game, or start a new one; return a sentence about the game. Raises `UserError`.

        A new game is started if `new` is True, or if the last game has ended. The new game has the options of the
        command line if there are any (`has_options`), or the settings of `[game]` if they were changed since the last
        game began, otherwise the settings of the last game. With options or changed settings, a game in which nothing
        was recorded is replaced. If a game is resumed, options without effect are reported on the console and the page.
        """
        outdated = 0 if has_options else self._find_outdated_game()
        self.play_again = self._make_play_again(outdated)
        replacement = StartGame(self._first_game, self._lexicon) if has_options or outdated else None
        if not new:
            try:
                state = session.submit(ResumeGame(self.play_again.words_for, replacement)).result()
            except CommandRefusedError:
                pass  # there is no game, or the last game has ended
            else:
                given = set(self._editor.overrides.values()) if self._editor else set()
                if unused := find_unused_options(state, self._first_game, given):
                    self._announce(session, format_sentence(get_text("options-unused", ", ".join(unused))))
                if state.phase is not Phase.LOBBY:
                    hold_clock(session)
                    names = " and ".join(player.name for player in state.players)
                    return f"The game of {names} continues (--new starts a new one)."
                self._notices += [notice.text for notice in state.notices]  # the game is damaged or of a newer version
        if self._settings.hall.host and not (new or has_options):
            return "The table waits for the players of the next game."
        request = StartGame(self._first_game) if has_options else self.play_again
        state = session.submit(request).result()
        if state.phase is Phase.LOBBY:
            raise UserError(" ".join(notice.text for notice in state.notices))
        hold_clock(session)
        return f"A new game begins: {', '.join(player.name for player in state.players)}."

    def report_words(self) -> None:
        """Report on the console what was read from the word list, and whether nothing is checked without one."""
        for text in describe_list(self._lexicon) if self._lexicon else ():
            self._report(text)
        has_no_challenges = self._first_game.rules.challenge is ChallengeRule.VOID
        if has_no_challenges and (self._lexicon is None or not can_decide_challenge(self._lexicon)):
            self._report("No challenges are played and no word list decides, so nothing is checked: every play counts.")

    def show_notices(self, session: TableSession) -> None:
        """Show the parts without which the program has started, and problems of the store, on console and page."""
        for part in self._starts.failed_parts:
            text = get_text("start-part", format_sentence(part.reason))
            self._announce(session, text, _TROUBLES.get(part.part, Trouble.STORE))
        for problem in self._notices:
            self._announce(session, format_sentence(problem), Trouble.STORE)

    def _find_unread_files(self) -> list[str]:
        """Return the names of files that cannot be read, but without which every part of the program works."""
        log, certificate = self._data_folder / LOG_FILE_NAME, self._data_folder / CERTIFICATE_FILE_NAME
        files = [*self._starts.unread_files, find_unusable_file(log), certificate if is_damaged(certificate) else None]
        return [file.name for file in files if file]

    def _announce(self, session: TableSession, text: str, trouble: Trouble = Trouble.NONE) -> None:
        """Show a text on the console and on the page."""
        self._report(text)
        session.notify(Notice(text, trouble))

    def open_pairing(self, session: TableSession, *, stored: bool = True) -> Pairing:
        """Open the pairing: its code and the paired devices. If `stored` is False, they are not kept after this run."""
        file = self._data_folder / FILE_NAME if stored else None
        is_on_hotspot = self._hotspot.has_client if self._hotspot else lambda _: False
        return Pairing(lambda text: session.notify(Notice(text)), file=file, is_on_hotspot=is_on_hotspot)

    def open_panel(self, session: TableSession, pairing: Pairing, *, use: bool = True) -> AbstractContextManager[Panel]:
        """Open the panel: buttons, lights and displays.

        If this machine has no GPIO pins, or if `use` is False, the panel is only on the page.
        """
        page = self._settings.page

        def power_off() -> None:
            self.should_power_off.set()
            self.ended.set()

        def report_problem(text: str) -> None:
            self._report(text)
            self._setup_problems.append(text)

        def read_seconds_left(player: int) -> float | None:
            clock = session.state.clock
            # The display may still show a player of the game before.
            return None if clock is None or player >= len(clock.used) else clock.compute_left(player, time.monotonic())

        def read_pairing_details() -> PairingDetails:
            from device.panel.displays import make_pairing_details  # only a table with displays needs it

            return make_pairing_details(
                pairing.code, pairing.secret, find_page_addresses(page.host, page.port), self._hotspot
            )

        actions = PanelActions(
            new_game=lambda: self.play_again,  # at each press: changed settings replace it
            power_off=power_off,
            open_pairing=pairing.open_for_one_device,
        )
        panel = self._settings.panel if use else PanelSettings(use=False)
        return open_panel(session, actions, panel, report_problem, read_seconds_left, read_pairing_details)

    def watch_hotspot(self, hotspot: Hotspot, session: TableSession) -> PeriodicTask:
        """Start the task that sometimes closes an unused hotspot to search for a known network; return the task."""
        closing, report = threading.Event(), partial(self._announce, session)
        watch = HotspotWatch(hotspot, NetworkManager(), closing, count_phones_in_hotspot, report)
        return PeriodicTask("hotspot", watch.check, closing)

    def open_voice(self, session: TableSession) -> AbstractContextManager[object]:
        """Open the speech output, if it is enabled in the settings."""
        report = partial(self._announce, session)
        voice = self._settings.voice
        return Voice(session, make_espeak_speaker(voice.device), report) if voice.use else nullcontext()

    def open_hall(self, session: TableSession, store: GameStore, stack: ExitStack) -> HallPublisher | None:
        """Open the connection to the hall, if a broker is named in the settings; `stack` closes it."""
        hall = self._settings.hall
        if not hall.host:
            return None
        from device.hall.publishing.publisher import open_hall  # loads cryptography and the messages of the hall

        return stack.enter_context(open_hall(session, store, hall, partial(self._announce, session)))

    def build_page(self, session: TableSession, store: GameStore, panel: Panel, pairing: Pairing) -> Flask:
        """Return the web application, which also shows the panel's messages about refused presses."""
        page = self._settings.page
        host = HostInfo(
            panel=panel,
            wired_buttons=tuple(self._settings.panel.pins.buttons) if panel.has_pins else (),
            find_problems=lambda: [*(part.reason for part in self._starts.failed_parts), *self._setup_problems],
            addresses=lambda: find_page_addresses(page.host, page.port),
            hotspot=self._hotspot,
            wifi=(page.wifi, page.wifi_password) if page.wifi else None,
            names=(*page.names, *filter(None, [page.host])),
            examine=describe_machine,
            read_log=lambda: read_log(self._data_folder),
            find_version=find_program_version,
            data_folder=str(self._data_folder),
            wifi_manager=NetworkManager() if self._hotspot else None,
            settings=self.open_settings(session, store),
            find_secure_port=lambda: self._secure_port,
            board_colours=page.board_colours,
            language=page.language,
            table_name=self._settings.hall.table,
            is_new_table=lambda: self._is_new_table(session, store),
            find_new_game=lambda last: self.play_again.find_default(last),
            hall=self._hall,
            directed=self._hall.directed if self._hall else None,
        )
        panel.add_listener(make_refusal_listener(session))
        return create_app(
            session,
            store=store,
            pairing=pairing,
            find_own=lambda tile_set: self._own_lists.find(tile_set),
            host_info=host,
            template_cache=find_cache_folder() / TEMPLATE_FOLDER,
        )

    def open_settings(self, session: TableSession, store: GameStore) -> SettingsAccess | None:
        """Return the page's access to the settings file, or None without a settings file.

        Changed limits for stored pictures take effect at once, changed settings of `[game]` with the next game.
        """
        if self._editor is None:
            return None

        def apply(settings: Settings) -> None:
            store.picture_limits = settings.data.picture_limits
            before, self._settings = self._settings, settings
            if settings.game != before.game:
                self._change_next_game(session, store)

        def restart() -> None:
            self.should_restart.set()
            threading.Timer(RESTART_DELAY_S, self.ended.set).start()

        def find_new_version() -> str:
            return find_newer_version(find_cache_folder()) if self._settings.page.new_versions else ""

        self._editor.set_listener(apply)
        return SettingsAccess(
            self._editor,
            self._lexicon_folder,
            restart,
            find_new_version=find_new_version,
            find_failed_parts=lambda: self._starts.failed_parts,
        )

    def _is_new_table(self, session: TableSession, store: GameStore) -> bool:
        has_settings = self._editor is None or self._editor.path.exists()
        return not has_settings and not session.state.turns and len(store.list_games()) <= 1

    def _change_next_game(self, session: TableSession, store: GameStore) -> None:
        """Let the next game have the changed settings of `[game]`; a game in which nothing was recorded is replaced."""
        try:
            self._first_game, self._lexicon = prepare_game(self._settings.game, self._lexicon_folder)
        except TilekeeperError as error:  # the next game is like the last one
            self._announce(session, format_sentence(str(error)))
            return
        self.play_again = self._make_play_again(find_outdated_game(store, self._settings.game))
        state = session.state
        waits = state.phase is Phase.PAUSED and not self._settings.hall.host  # not for the director of a hall
        if (waits or state.phase in (Phase.TURN, Phase.DRAWING)) and state.events == 1:  # only the start
            started = session.submit(StartGame(self._first_game, self._lexicon), state.moment)
            started.add_done_callback(lambda _: hold_clock(session))

    def _wait(self, session: TableSession, port: int, status: str) -> None:
        """Notify systemd that the program is ready, and send pings to its watchdog until the program ends.

        `port` is the port of the page, and `status` the text that systemd shows.
        """
        # Later collections skip what the start has made: a full one takes long, and may come between press and score.
        gc.freeze()
        gc.enable()
        self._starts.complete()
        notify("READY=1", f"STATUS={status}")
        checks = {
            "the page": make_page_check(self._settings.page.host, port),
            "the reading": lambda _: session.check_progress(),
            "the table": make_worker_feed(session.ping),
        }
        wait_with_watchdog(self.ended, checks)
        if not self.should_restart.is_set():
            notify("STOPPING=1")


def make_auto_turn_config(settings: TableSettings) -> AutoTurnConfig | None:
    """Return the settings for turns that end without a button, or None if only a button ends them."""
    return None if settings.auto == "off" else AutoTurnConfig(settings.auto == "end", settings.auto_seconds)
