"""Keep the score of a game at a real table.

The camera is a folder to which a picture is added after each turn (folder:DIR), a USB camera (usb:0) or a Raspberry
Pi's camera module (pi). Phones on the same network see the score on the page, which also has the buttons of the table.
What is not said here comes from the settings file; `python -m device.settings` prints one with all defaults.
"""

from __future__ import annotations

import argparse
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from device.cli import UserError
from device.cli.options import (
    add_data_options,
    add_game_options,
    ensure_data_folder,
    make_lexicon_finder,
    make_profiled_reader,
    merge_game_settings,
    own_lexicon_path,
    prepare_game,
)

if TYPE_CHECKING:
    from calibration.profile import TableProfile
    from device.panel.panel import PanelView
    from device.session.table_session import TableSession
    from device.settings import Settings
    from device.system.hotspot import Hotspot
    from engine.events import GameStarted
    from engine.lexicon import Lexicon
    from vision.recognition.reader import PhotoReader

HELP = "keep the score of a game at a real table"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "--camera", metavar="CAMERA", help="folder:DIR, usb:0, usb:/dev/v4l/by-id/... or pi (default pi)"
    )
    add_game_options(parser, players_needed=False)
    parser.add_argument("--new", action="store_true", help="begin a new game even if the last one has not ended")
    parser.add_argument("--port", type=int, help="of the page (default 8080)")
    parser.add_argument("--host", metavar="ADDRESS", help="serve only here (default: all networks)")
    add_data_options(parser)


def run(args: argparse.Namespace) -> int:
    """Serve the table until Ctrl-C or SIGTERM, or until the panel switches the machine off."""
    settings = resolve_settings(args)
    reader, profile = make_profiled_reader(ensure_data_folder(settings.data.folder))
    ended, off = threading.Event(), threading.Event()
    before = {sign: signal.signal(sign, lambda *_: ended.set()) for sign in (signal.SIGINT, signal.SIGTERM)}
    try:
        serve(
            settings,
            reader,
            ended,
            off,
            new=args.new,
            has_options=has_game_options(args),
            profile=profile,
        )
    finally:
        for sign, handler in before.items():
            signal.signal(sign, handler)
    if off.is_set():
        switch_off_machine()
    return 0


def has_game_options(args: argparse.Namespace) -> bool:
    """True where the command line says what a new game is to be like."""
    return args.new or any(option is not None for option in (args.players, args.tiles, args.lexicon))


def resolve_settings(args: argparse.Namespace) -> Settings:
    """What the command line says, else the settings file, else the defaults. Raises `UserError`."""
    from device.settings import SettingsError, find_settings_file, load_settings

    try:
        settings = load_settings(args.settings or find_settings_file())
    except SettingsError as error:
        raise UserError(str(error)) from None
    page = settings.page
    return replace(
        settings,
        game=merge_game_settings(args, settings.game),
        camera=replace(settings.camera, source=args.camera or settings.camera.source),
        page=replace(
            page,
            port=page.port if args.port is None else args.port,
            host=page.host if args.host is None else args.host,
        ),
        data=replace(settings.data, folder=args.data or settings.data.folder),
    )


def serve(
    settings: Settings,
    reader: PhotoReader,
    ended: threading.Event,
    off: threading.Event,
    *,
    new: bool = False,
    has_options: bool = True,
    profile: TableProfile | None = None,
) -> None:
    """Keep the table, its panel and its page until `ended`; the panel sets `off` too. Raises `UserError`.

    The last game goes on unless it is to be a `new` one; after one that has ended, the next is like it unless it was
    `told` what it is to be like.
    """
    from device.cameras import CameraError, open_reconnecting_camera
    from device.cli.page import open_page
    from device.panel.button_commands import BUTTON_REQUESTS, ButtonCommand
    from device.panel.pairing_display import PairingDetails, make_pairing_details
    from device.panel.panel import PanelActions
    from device.panel.setup import open_panel
    from device.session.commands.games import PlayAgain
    from device.session.messages import format_sentence
    from device.session.snapshot import Notice, Trouble
    from device.session.table_session import TableSession
    from device.storage.recovery import open_store
    from device.storage.store import StoreError
    from device.system.systemd import make_page_check, make_thread_check, notify, wait_with_watchdog
    from web import create_app
    from web.host import HostInfo
    from web.security.pairing import Pairing

    def power_off() -> None:
        off.set()
        ended.set()

    started, words = prepare_game(settings.game)
    port, host = settings.page.port, settings.page.host
    try:
        opened, trouble = open_store(ensure_data_folder(settings.data.folder) / "games.db")
        with (
            opened as store,
            TableSession(
                open_reconnecting_camera(settings.camera.source), reader, store, words, profile=profile
            ) as session,
        ):
            print(_begin_game(session, started, make_lexicon_finder(settings.game), new=new, has_options=has_options))
            for problem in filter(None, (trouble, profile.problem if profile else "")):
                print(format_sentence(problem))
                session.notify(Notice(format_sentence(problem), Trouble.STORE))
            orders = PanelActions({**BUTTON_REQUESTS, ButtonCommand.NEW_GAME: PlayAgain(started)}, power_off)
            remarks: list[str] = []

            def remark(text: str) -> None:
                print(text)
                remarks.append(text)

            made, trouble = load_hotspot()
            remarks += filter(None, [trouble])
            pairing = Pairing(lambda text: session.notify(Notice(text)))

            def inviting() -> PairingDetails:
                return make_pairing_details(pairing.code, find_page_addresses(host, port), made)

            with (
                open_panel(session, orders, settings.panel, remark, make_seconds_left(session), inviting) as panel,
                _open_voice(session, use=settings.voice.use),
            ):
                wired = tuple(settings.panel.pins.buttons) if settings.panel.use else ()
                wifi = (settings.page.wifi, settings.page.wifi_password) if settings.page.wifi else None
                place = HostInfo(panel, wired, tuple(remarks), lambda: find_page_addresses(host, port), made, wifi)
                app = create_app(
                    session, store=store, pairing=pairing, own_lexicon=own_lexicon_path(settings.game), host_info=place
                )
                panel.add_listener(_make_refusal_listener(session))
                with open_page(app, settings.page, find_page_addresses, print) as (server, up):
                    if made:
                        print_wifi_details(made)
                    sys.stdout.flush()
                    notify("READY=1", f"STATUS={up}")
                    proofs = {
                        "the table": make_thread_check(session.ping),
                        "the page": make_page_check(host, server.port),
                    }
                    wait_with_watchdog(ended, proofs)
                    notify("STOPPING=1")
    except (CameraError, StoreError) as error:
        raise UserError(str(error)) from None


def _begin_game(
    session: TableSession,
    started: GameStarted,
    find_lexicon: Callable[[GameStarted], Lexicon | None],
    *,
    new: bool,
    has_options: bool,
) -> str:
    """Go on with the last game, or begin one; says which, or why neither. Raises `UserError`."""
    from device.session.commands.games import PlayAgain, ResumeGame, StartGame
    from device.session.messages import CommandRefusedError
    from device.session.snapshot import Phase

    if not new:
        try:
            state = session.submit(ResumeGame(find_lexicon)).result()
        except CommandRefusedError:
            pass  # there is none, or it has ended
        else:
            if state.phase is Phase.LOBBY:
                said = " ".join(notice.text for notice in state.notices)
                raise UserError(f"{said} --new begins another game")
            return f"The game of {' and '.join(p.name for p in state.players)} goes on (--new begins another)."
    request = StartGame(started) if has_options else PlayAgain(started, find_lexicon)
    state = session.submit(request).result()
    if state.phase is Phase.LOBBY:
        raise UserError(" ".join(notice.text for notice in state.notices))
    return f"A new game begins: {', '.join(player.name for player in state.players)}."


def make_seconds_left(session: TableSession) -> Callable[[int], float | None]:
    """What the displays of the panel ask: the seconds that a player has left, None where no clock runs."""

    def left(player: int) -> float | None:
        clock = session.state.clock
        return None if clock is None else clock.left(player, time.monotonic())

    return left


def _open_voice(session: TableSession, *, use: bool) -> AbstractContextManager[object]:
    """The voice, where one is wanted; that there is none is said once."""
    from device.session.snapshot import Notice
    from device.system.voice import Voice, make_espeak_speaker

    def say(text: str) -> None:
        print(text)
        session.notify(Notice(text))

    return Voice(session, make_espeak_speaker(), say) if use else nullcontext()


def _make_refusal_listener(session: TableSession) -> Callable[[PanelView], None]:
    """Lets everybody read on the page why the panel refused a press."""
    from device.session.snapshot import Notice

    last = ""

    def hear(view: PanelView) -> None:
        nonlocal last
        if view.message and view.message != last:
            session.notify(Notice(view.message))
        last = view.message

    return hear


def switch_off_machine() -> None:
    """Switch the machine off. Raises `UserError`."""
    try:
        done = subprocess.run(["systemctl", "poweroff"], check=False).returncode == 0
    except OSError:
        done = False
    if not done:
        raise UserError("the games are saved, but this machine cannot be switched off from here: sudo poweroff")


def load_hotspot() -> tuple[Hotspot | None, str]:
    """The Wi-Fi that this table opens where no known one is in reach, if it has one, or why that cannot be said."""
    from device.system.hotspot import HotspotError, read_hotspot

    try:
        return read_hotspot(), ""
    except HotspotError as error:
        return None, str(error)


def print_wifi_details(hotspot: Hotspot) -> None:
    """Say which Wi-Fi phones join where no known one is in reach; as a QR code too, on a terminal while it is open."""
    from web.qr import render_qr_blocks

    if sys.stdout.isatty() and hotspot.is_active():
        print(render_qr_blocks(hotspot.qr_text))
    print(f"Without a known Wi-Fi: join {hotspot.name}, password {hotspot.password}.")


def find_page_addresses(host: str, port: int) -> list[str]:
    """Where a browser finds the page: by name, and by number for phones that do not know the name."""
    if host:
        return [f"http://{host}:{port}"]
    found = [f"http://localhost:{port}", f"http://{socket.gethostname()}.local:{port}"]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing: it only asks which address would be used (RFC 5737)
            found.append(f"http://{probe.getsockname()[0]}:{port}")
        except OSError:
            return found
    return found
