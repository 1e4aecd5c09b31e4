"""Keep the score of a game at a real table.

The camera is a folder to which a picture is added after each turn (folder:DIR) or a USB camera (usb:0). Phones on the
same network see the score on the page, which also has the buttons of the table.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from device.cli import UserError
from device.cli.options import add_game_options, board_reader, game_from, own_lexicon

if TYPE_CHECKING:
    from device.session import Reader, TableSession
    from engine.events import GameStarted

HELP = "keep the score of a game at a real table"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("--camera", required=True, metavar="CAMERA", help="folder:DIR, usb:0 or usb:/dev/v4l/by-id/...")
    add_game_options(parser, players="Player 1,Player 2")
    parser.add_argument("--new", action="store_true", help="begin a new game even if the last one has not ended")
    parser.add_argument("--port", type=int, default=8080, help="of the page (default 8080)")
    parser.add_argument("--host", default="", metavar="ADDRESS", help="serve only here (default: all networks)")
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="folder of the games (default ~/.local/share/tilekeeper)"
    )


def run(args: argparse.Namespace) -> int:
    """Serve the table until Ctrl-C or SIGTERM."""
    reader = board_reader()
    ended = threading.Event()
    before = {sign: signal.signal(sign, lambda *_: ended.set()) for sign in (signal.SIGINT, signal.SIGTERM)}
    try:
        serve(args, reader, ended)
    finally:
        for sign, handler in before.items():
            signal.signal(sign, handler)
    return 0


def serve(args: argparse.Namespace, reader: Reader, ended: threading.Event) -> None:
    """Keep the table and its page until `ended`. Raises `UserError`."""
    from device.cameras import CameraError, open_camera
    from device.session import TableSession
    from device.store import GameStore, StoreError
    from web import create_app
    from web.serve import PageServer, PortInUse

    started, words = game_from(args)
    try:
        with (
            GameStore(_data_folder(args.data) / "games.db") as store,
            TableSession(open_camera(args.camera), reader, store, words) as session,
        ):
            print(_begin(session, started, new=args.new))
            app = create_app(session, own_lexicon=own_lexicon(args))
            with PageServer(app, args.port, args.host) as server:
                print(f"The page is up: {' or '.join(addresses(args.host, server.port))}")
                print(f"To pair a phone, type this code there: {app.extensions['pairing'].code}", flush=True)
                ended.wait()
    except PortInUse:
        raise UserError(f"port {args.port} is in use: choose another with --port") from None
    except (CameraError, StoreError) as error:
        raise UserError(str(error)) from None


def _begin(session: TableSession, started: GameStarted, *, new: bool) -> str:
    """Go on with the last game, or begin one; says which."""
    from device.session import Refused

    if not new:
        try:
            state = session.resume().result()
        except Refused:
            pass  # there is none, or it has ended
        else:
            return f"The game of {' and '.join(p.name for p in state.players)} goes on (--new begins another)."
    session.start_game(started).result()
    return f"A new game begins: {', '.join(started.players)}."


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


def _data_folder(named: Path | None) -> Path:
    home = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    folder = named or home / "tilekeeper"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"cannot keep games in {folder} ({error.strerror}): choose another folder with --data"
        ) from None
    return folder
