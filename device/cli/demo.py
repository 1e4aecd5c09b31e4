"""Watch a game on a simulated table, without any hardware.

The camera's pictures are rendered; everything else works as at a real table. The game is chosen at random from the
recorded games in device/data/games. Open the page and watch, or press its buttons. The games are kept.
"""

from __future__ import annotations

import argparse
import random
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from device.catalogue import get_text
from device.cli import UserError, print_line
from device.cli.options import ensure_data_folder, make_profiled_reader
from device.cli.page import announce_pairing, find_page_addresses
from device.settings import find_settings_file, find_user_folder, load_settings
from device.system.process import RESTART_DELAY_S, restart_program
from engine.errors import TilekeeperError

if TYPE_CHECKING:
    from device.demo.demo_table import Demo
    from device.storage.store import GameStore
    from vision.recognition.reader import PhotoReader
    from web.host_info import HostInfo

LOCAL_ADDRESSES = ("127.0.0.1", "localhost", "::1")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    parser.add_argument(
        "--speed", type=float, default=1.0, help="speed of play, as a multiple of real time (default 1)"
    )
    parser.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        help="folder in which the games of the demo are kept (default ~/.local/share/tilekeeper/demo)",
    )
    parser.add_argument("--once", action="store_true", help="stop after one game instead of starting another")
    parser.add_argument("--port", type=int, default=8080, help="port for the web page (default 8080)")
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="address at which the page is served (default 127.0.0.1: this computer only; 0.0.0.0: phones, too)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        help="number that chooses the game and the look of the table; use it again to see the same game",
    )


def run(args: argparse.Namespace) -> int:
    """Check the options, serve the page and play games."""
    if not args.speed > 0:
        raise UserError(f"--speed {args.speed}: Enter a number above 0.")
    if args.seed is not None and args.seed < 0:
        raise UserError(f"--seed {args.seed}: Enter 0 or a larger number.")
    reader, _ = make_profiled_reader()
    return run_demo(args, reader)


def run_demo(args: argparse.Namespace, reader: PhotoReader) -> int:
    """Play demo games until the end or Ctrl-C, and return the exit status."""
    from device.demo.demo_table import Demo
    from device.session.messages import Notice
    from web import create_app
    from web.security.pairing import Pairing
    from web.security.server import PageServer

    seed = args.seed if args.seed is not None else random.SystemRandom().randrange(10_000)
    stop, own = threading.Event(), threading.Event()

    def start_own_game() -> None:
        own.set()
        threading.Timer(RESTART_DELAY_S, stop.set).start()

    with _open_store(args) as store, Demo(reader, store, seed=seed, speed=args.speed, stop=stop) as demo:
        pairing = Pairing(lambda text: demo.session.notify(Notice(text)), file=_find_pairing_file())
        host = describe_host(args, store, start_own_game)
        app = create_app(demo.session, store=store, pairing=pairing, host_info=host)
        with PageServer(app, args.port, args.host) as server:
            urls = _find_addresses(args.host, server.port)
            print_line(f"The page is up: {' or '.join(urls)} (seed {seed}; Ctrl-C ends)")
            announce_pairing(urls, pairing, print_line)
            print_line("In a paired browser you can press End turn, Challenge and Correct; otherwise the demo does it.")
            try:
                status = _play_games(demo, stop, once=args.once)
            except KeyboardInterrupt:
                stop.set()
                return 0
    if own.is_set():
        restart_program(list_own_words(args))
    return status


def list_own_words(args: argparse.Namespace) -> list[str]:
    """Return the arguments with which the program restarts as the user's own table, at the same address."""
    host = [] if args.host in LOCAL_ADDRESSES else [f"--host={args.host}"]  # phones need more than this machine
    return ["run", f"--port={args.port}", *host]


def _find_pairing_file() -> Path | None:
    """Return the file of the devices that are paired with the user's own table.

    The demo has the same devices, so that a browser stays paired when the table is started. Return None if there can be
    no such file.
    """
    from web.security.pairing import FILE_NAME

    with suppress(TilekeeperError):
        return ensure_data_folder(load_settings(find_settings_file()).data.folder) / FILE_NAME
    return None


def _find_addresses(host: str, port: int) -> list[str]:
    return find_page_addresses(host.replace("127.0.0.1", "localhost"), port)


def describe_host(args: argparse.Namespace, store: GameStore, start_own_game: Callable[[], None]) -> HostInfo:
    """Return what the pages say about the addresses and the games of the demo."""
    from device.storage.database import MEMORY
    from web.host_info import HostInfo

    folder = "" if store.path == MEMORY else str(Path(store.path).parent)
    return HostInfo(
        addresses=lambda: _find_addresses(args.host, args.port),
        names=(args.host,),
        data_folder=folder,
        start_own_game=start_own_game,
    )


def _open_store(args: argparse.Namespace) -> GameStore:
    """Return the store of the demo's games, or a store in memory if the file cannot be used."""
    from device.demo.demo_table import add_finished_games
    from device.storage.errors import StoreError
    from device.storage.store import GameStore

    try:
        store = GameStore(ensure_data_folder(args.data or find_user_folder() / "demo") / "games.db")
    except (StoreError, UserError) as error:
        print_line(f"The games of this demo are not saved. {error}")
        store = GameStore(":memory:")
    add_finished_games(store)
    return store


def _play_games(demo: Demo, stop: threading.Event, *, once: bool) -> int:
    """Play games one after the other, until `stop` is set. If `once` is True, play a single game.

    After that game, return 1 if a total was wrong, otherwise 0.
    """
    from device.demo.demo_table import DemoChangedError
    from device.session.messages import CommandRefusedError, Notice

    while True:
        right = True
        try:
            for line in demo.play_game():
                print_line(line)
                right = right and not line.startswith("wrong")
        except (CommandRefusedError, DemoChangedError) as error:
            print_line(f"The demo cannot continue this game, because a phone changed it ({error}) Another one follows.")
            demo.session.notify(Notice(get_text("demo-changed")))
        if once or stop.is_set():
            return 0 if right else 1
        demo.pause_between_games()
