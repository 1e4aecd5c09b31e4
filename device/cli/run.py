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
    data_folder,
    game_from,
    game_settings,
    own_lexicon,
    table_reader,
    words_for,
)

if TYPE_CHECKING:
    from calibration.profile import TableKnowledge
    from device.capture.board_camera import Whereabouts
    from device.panel.panel import PanelView
    from device.session.table_session import Reader, TableSession
    from device.settings import Settings
    from device.system.hotspot import Hotspot
    from engine.events import GameStarted
    from engine.lexicon import Lexicon

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
    settings = settings_of(args)
    reader, where, knowledge = table_reader(data_folder(settings.data.folder))
    ended, off = threading.Event(), threading.Event()
    before = {sign: signal.signal(sign, lambda *_: ended.set()) for sign in (signal.SIGINT, signal.SIGTERM)}
    try:
        serve(settings, reader, ended, off, new=args.new, told=told(args), where=where, knowledge=knowledge)
    finally:
        for sign, handler in before.items():
            signal.signal(sign, handler)
    if off.is_set():
        switch_off()
    return 0


def told(args: argparse.Namespace) -> bool:
    """True where the command line says what a new game is to be like."""
    return args.new or any(option is not None for option in (args.players, args.tiles, args.lexicon))


def settings_of(args: argparse.Namespace) -> Settings:
    """What the command line says, else the settings file, else the defaults. Raises `UserError`."""
    from device.settings import SettingsError, load_settings, settings_file

    try:
        settings = load_settings(args.settings or settings_file())
    except SettingsError as error:
        raise UserError(str(error)) from None
    page = settings.page
    return replace(
        settings,
        game=game_settings(args, settings.game),
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
    reader: Reader,
    ended: threading.Event,
    off: threading.Event,
    *,
    new: bool = False,
    told: bool = True,
    where: Whereabouts | None = None,
    knowledge: TableKnowledge | None = None,
) -> None:
    """Keep the table, its panel and its page until `ended`; the panel sets `off` too. Raises `UserError`.

    The last game goes on unless it is to be a `new` one; after one that has ended, the next is like it unless it was
    `told` what it is to be like.
    """
    from device.cameras import CameraError, patient_camera
    from device.cli.page import open_page
    from device.panel.pairing_display import Invitation, invite
    from device.panel.panel import Orders
    from device.panel.setup import open_panel
    from device.session.messages import sentence
    from device.session.snapshot import Notice, Trouble
    from device.session.table_session import TableSession
    from device.storage.recovery import open_store
    from device.storage.store import StoreError
    from device.system.systemd import answers, notify, page_answers, wait_alive
    from web import create_app
    from web.host import Place
    from web.security.pairing import Pairing

    def power_off() -> None:
        off.set()
        ended.set()

    started, words = game_from(settings.game)
    port, host = settings.page.port, settings.page.host
    try:
        opened, trouble = open_store(data_folder(settings.data.folder) / "games.db")
        with (
            opened as store,
            TableSession(
                patient_camera(settings.camera.source), reader, store, words, where=where, knowledge=knowledge
            ) as session,
        ):
            print(_begin(session, started, words_for(settings.game), new=new, told=told))
            for problem in filter(None, (trouble, knowledge.problem if knowledge else "")):
                print(sentence(problem))
                session.tell(Notice(sentence(problem), Trouble.STORE))
            orders = Orders(
                session.end_turn,
                session.end_game,
                session.challenge,
                session.undo,
                pause=session.pause,
                go_on=session.go_on,
                exchange=session.say_exchanged,
                new_game=lambda seen: session.play_again(started, seen),
                power_off=power_off,
            )
            remarks: list[str] = []

            def remark(text: str) -> None:
                print(text)
                remarks.append(text)

            made, trouble = own_wifi()
            remarks += filter(None, [trouble])
            pairing = Pairing(lambda text: session.tell(Notice(text)))

            def inviting() -> Invitation:
                return invite(pairing.code, addresses(host, port), made)

            with (
                open_panel(session, orders, settings.panel, remark, seconds_left(session), inviting) as panel,
                _voice(session, use=settings.voice.use),
            ):
                wired = tuple(settings.panel.pins.buttons) if settings.panel.use else ()
                wifi = (settings.page.wifi, settings.page.wifi_password) if settings.page.wifi else None
                place = Place(panel, wired, tuple(remarks), lambda: addresses(host, port), made, wifi)
                app = create_app(
                    session, store=store, pairing=pairing, own_lexicon=own_lexicon(settings.game), place=place
                )
                panel.listen(_refusals_to(session))
                with open_page(app, settings.page, addresses, print) as (server, up):
                    if made:
                        invite_to_wifi(made)
                    sys.stdout.flush()
                    notify("READY=1", f"STATUS={up}")
                    proofs = {"the table": answers(session.ping), "the page": page_answers(host, server.port)}
                    wait_alive(ended, proofs)
                    notify("STOPPING=1")
    except (CameraError, StoreError) as error:
        raise UserError(str(error)) from None


def _begin(
    session: TableSession,
    started: GameStarted,
    words_for: Callable[[GameStarted], Lexicon | None],
    *,
    new: bool,
    told: bool,
) -> str:
    """Go on with the last game, or begin one; says which, or why neither. Raises `UserError`."""
    from device.session.snapshot import Phase
    from device.session.table_session import Refused

    if not new:
        try:
            state = session.resume(words_for).result()
        except Refused:
            pass  # there is none, or it has ended
        else:
            if state.phase is Phase.LOBBY:
                said = " ".join(notice.text for notice in state.notices)
                raise UserError(f"{said} --new begins another game")
            return f"The game of {' and '.join(p.name for p in state.players)} goes on (--new begins another)."
    begins = session.start_game(started) if told else session.play_again(started, words_for=words_for)
    state = begins.result()
    if state.phase is Phase.LOBBY:
        raise UserError(" ".join(notice.text for notice in state.notices))
    return f"A new game begins: {', '.join(player.name for player in state.players)}."


def seconds_left(session: TableSession) -> Callable[[int], float | None]:
    """What the displays of the panel ask: the seconds that a player has left, None where no clock runs."""

    def left(player: int) -> float | None:
        clock = session.state.clock
        return None if clock is None else clock.left(player, time.monotonic())

    return left


def _voice(session: TableSession, *, use: bool) -> AbstractContextManager[object]:
    """The voice, where one is wanted; that there is none is said once."""
    from device.session.snapshot import Notice
    from device.system.voice import Voice, espeak

    def say(text: str) -> None:
        print(text)
        session.tell(Notice(text))

    return Voice(session, espeak(), say) if use else nullcontext()


def _refusals_to(session: TableSession) -> Callable[[PanelView], None]:
    """Lets everybody read on the page why the panel refused a press."""
    from device.session.snapshot import Notice

    last = ""

    def hear(view: PanelView) -> None:
        nonlocal last
        if view.message and view.message != last:
            session.tell(Notice(view.message))
        last = view.message

    return hear


def switch_off() -> None:
    """Switch the machine off. Raises `UserError`."""
    try:
        done = subprocess.run(["systemctl", "poweroff"], check=False).returncode == 0
    except OSError:
        done = False
    if not done:
        raise UserError("the games are saved, but this machine cannot be switched off from here: sudo poweroff")


def own_wifi() -> tuple[Hotspot | None, str]:
    """The Wi-Fi that this table opens where no known one is in reach, if it has one, or why that cannot be said."""
    from device.system.hotspot import HotspotError, read_hotspot

    try:
        return read_hotspot(), ""
    except HotspotError as error:
        return None, str(error)


def invite_to_wifi(hotspot: Hotspot) -> None:
    """Say which Wi-Fi phones join where no known one is in reach; as a QR code too, on a terminal while it is open."""
    from web.qr import qr_text

    if sys.stdout.isatty() and hotspot.active():
        print(qr_text(hotspot.qr_text))
    print(f"Without a known Wi-Fi: join {hotspot.name}, password {hotspot.password}.")


def addresses(host: str, port: int) -> list[str]:
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
