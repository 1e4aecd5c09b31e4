"""Print a link that makes the browser that opens it an owner of the table on this machine.

Owners may change the settings, pair and unpair phones, and restart the table. The link is valid once, for 15 minutes,
while the table runs. At an installed table, use sudo.
"""

from __future__ import annotations

import argparse

from device.cli import print_line
from device.cli.options import add_data_options, find_games_folder, load_user_settings
from device.cli.page import find_page_addresses


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    parser.add_argument("--port", type=int, help="port of the page (default: that of the settings)")
    add_data_options(parser)


def run(args: argparse.Namespace) -> int:
    """Print the link with a new one-time token."""
    from web.pages.pairing import ENTER_PATH
    from web.security.pairing import write_owner_link

    page = load_user_settings(args).page
    token = write_owner_link(find_games_folder(args))
    print_line("Open one of these links within 15 minutes. It works once.")
    for address in find_page_addresses(page.host, args.port or page.port):
        print_line(f"{address}{ENTER_PATH}/{token}")
    return 0
