"""Show all tables of a club or a tournament on one page.

The tables publish their games to an MQTT broker ([hall] in their settings); this command receives them. The page shows
the present boards and scores of all tables. It also has a view for a screen in the foyer, and data for broadcasts.
docs/hall.md describes the broker. --demo shows ten simulated tables.
"""

from __future__ import annotations

import argparse
import signal
import socket
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from device.cli import UserError, print_line
from device.cli.options import ensure_data_folder
from device.cli.page import announce_pairing, find_page_addresses
from device.storage.files import keep_private
from device.system.systemd import wait_for_signal
from engine.limits import MAX_PORT

if TYPE_CHECKING:
    from device.hall.receiving.receiver import HallReceiver
    from device.settings import HallSettings

DEFAULT_PORT = 8090
_MAX_PAIRINGS_BYTES = 1_000_000


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    parser.add_argument("--broker", metavar="HOST", help="host name or address of the MQTT broker")
    parser.add_argument("--broker-port", type=int, help="port of the broker (default 1883; with --init 8883)")
    parser.add_argument(
        "--ca", type=Path, metavar="FILE", help="use TLS, and check the broker against the CA certificates in this file"
    )
    parser.add_argument("--user", default="", help="user name for the broker")
    parser.add_argument(
        "--password-file", type=Path, metavar="FILE", help="file that contains the password for the broker"
    )
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder in which received games are stored")
    parser.add_argument(
        "--port", type=int, default=DEFAULT_PORT, help=f"port for the web page (default {DEFAULT_PORT})"
    )
    parser.add_argument(
        "--host", default="", metavar="ADDRESS", help="serve the page on this address only (default: all addresses)"
    )
    parser.add_argument("--delay", type=float, metavar="S", help="delay in seconds before viewers see anything new")
    parser.add_argument(
        "--pairings",
        type=Path,
        metavar="FILE",
        help="file with the pairings of an event, one per line: round,table,player,player",
    )
    parser.add_argument(
        "--init",
        type=int,
        metavar="N",
        help="write the files for a broker with TLS and for N tables to the new folder --data, and end; --broker "
        "is the name or address of this computer for the tables",
    )
    parser.add_argument(
        "--demo", action="store_true", help="show ten simulated tables (needs Mosquitto on this machine)"
    )


@keep_private()
def run(args: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C or SIGTERM."""
    from web.hall.feed import MAX_DELAY_S

    if args.broker_port is None:
        args.broker_port = 1883 if args.init is None else 8883
    if not 1 <= args.broker_port <= MAX_PORT:
        raise UserError(f"--broker-port {args.broker_port}: Enter 1 to {MAX_PORT}.")
    if args.init is not None:
        return _write_files(args)
    if not args.broker and not args.demo:
        raise UserError("Give the address of the broker with --broker, or try --demo.")
    if args.delay is not None and not 0 <= args.delay <= MAX_DELAY_S:
        raise UserError(f"--delay {args.delay:g}: Enter 0 to {MAX_DELAY_S:.0f} seconds.")
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    with ExitStack() as stack:
        _open_hall(args, stack)
        wait_for_signal(ended)
    return 0


MAX_INIT_TABLES = 200


def _write_files(args: argparse.Namespace) -> int:
    """Write the files of a new hall, and say how to use them. Raises `UserError`."""
    from device.cli.hall_setup import HALL_USER, write_hall_files

    folder = args.data or Path("hall")
    if not 1 <= args.init <= MAX_INIT_TABLES:
        raise UserError(f"--init {args.init}: Enter 1 to {MAX_INIT_TABLES} tables.")
    host = args.broker or f"{socket.gethostname()}.local"
    names = dict.fromkeys((host, socket.gethostname(), "localhost", "127.0.0.1"))
    write_hall_files(folder, args.init, names, args.broker_port)
    print(f"The files are in {folder}. Keep them secret: they have the passwords.")
    print(f"broker:  /usr/sbin/mosquitto -c {folder}/broker/mosquitto.conf")
    print(
        f"hall:    tilekeeper hall --broker {host} --broker-port {args.broker_port} --ca {folder}/hall/hall-ca.pem "
        f"--user {HALL_USER} --password-file {folder}/hall/hall-password --data {folder}/data"
    )
    print(f"table N: copy {folder}/table-N to its computer, and there: sudo sh table-N/join.sh")
    return 0


def _open_hall(args: argparse.Namespace, stack: ExitStack) -> None:
    """Open broker, tables, receiver and page; `stack` closes them. Raises `TilekeeperError`."""
    from device.hall.director import FILE_NAME as KEY_FILE_NAME
    from device.hall.director import open_key
    from device.hall.receiving.hall_backup import HALL_FILE_NAME
    from device.hall.receiving.receiver import HallReceiver
    from web.hall.app import create_hall_app
    from web.security.pairing import FILE_NAME, Pairing
    from web.security.server import PageServer

    folder = None if args.demo else ensure_data_folder(args.data)
    settings = _open_demo(stack) if args.demo else _make_settings(args)
    path = folder / HALL_FILE_NAME if folder else ":memory:"
    key = open_key(folder / KEY_FILE_NAME) if folder else None
    games_since = time.time() if folder and not (folder / HALL_FILE_NAME).exists() else 0.0
    receiver = stack.enter_context(HallReceiver(path, settings, print_line, key, games_since))
    if args.pairings:
        _read_pairings(args.pairings, receiver)
    if args.delay is not None:
        receiver.set_delay(args.delay)
    pairing = Pairing(print_line, file=folder / f"hall-{FILE_NAME}" if folder else None)
    app = create_hall_app(receiver, pairing, names=(args.host,) if args.host else ())
    server = stack.enter_context(PageServer(app, args.port, args.host))
    app.extensions["live"].start()
    urls = find_page_addresses(args.host, server.port)
    print_line(f"The page is up: {' or '.join(urls)} (Ctrl-C ends)")
    announce_pairing(urls, pairing, print_line)


def _open_demo(stack: ExitStack) -> HallSettings:
    from device.demo.demo_hall import DemoHall, open_broker

    settings = stack.enter_context(open_broker())
    stack.enter_context(DemoHall(settings))
    return settings


def _read_pairings(file: Path, receiver: HallReceiver) -> None:
    """Import the rounds of a file that the event lacks: what was entered before stays."""
    from device.hall.receiving.event import PairingsError
    from device.hall.receiving.pairings import import_pairings
    from device.storage.files import read_small_file

    try:
        data = read_small_file(file, _MAX_PAIRINGS_BYTES)
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252", errors="replace")
    try:
        receiver.edit_event(lambda event: import_pairings(event, text))
    except PairingsError as error:
        raise UserError(f"{file}: {error}") from None


def _make_settings(args: argparse.Namespace) -> HallSettings:
    from device.settings import HallSettings

    return HallSettings(args.broker, args.broker_port, args.ca, args.user, args.password_file)
