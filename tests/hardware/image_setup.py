"""First set-up of a table in a browser, against the virtual machine that `image_boot.sh` boots.

    python -m tests.hardware.image_setup TABLE_PORT PHONE_PORT

The page is at TABLE_PORT of this machine over a cable, and at PHONE_PORT as the phone reaches it over its Wi-Fi.
Screenshots are saved in `build/screenshots`.
"""

from __future__ import annotations

import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import cv2

from tests.support.browsers import chromium, keep, open_tab, run_playwright
from tests.support.recorded_boards import render_boards

if TYPE_CHECKING:
    from playwright.sync_api import Page

LIMIT_S = 600.0
"""Longest wait for the page; without KVM the machine is twenty times slower."""
HOME_WIFI, HOME_PASSWORD = "Home", "home-and-dry"


def wait_for_page(port: int) -> float:
    """Return the seconds until the page answers at a port. Raises `TimeoutError`."""
    began = time.monotonic()
    while time.monotonic() < began + LIMIT_S:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=10) as answer:
                if answer.status == 200:
                    return time.monotonic() - began
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise TimeoutError(f"no page at port {port} after {LIMIT_S:.0f} s")


@contextmanager
def report(step: str) -> Iterator[None]:
    """Print a step of the set-up with its time."""
    began = time.monotonic()
    yield
    print(f"ok   {step}, {time.monotonic() - began:.0f} s", flush=True)


def open_page(page: Page, port: int, path: str = "/") -> None:
    page.goto(f"http://127.0.0.1:{port}{path}", wait_until="domcontentloaded")


def join_home_wifi(page: Page, port: int) -> None:
    """Let the table join the Wi-Fi of the home, and wait until its page is there."""
    open_page(page, port, "/wifi")
    page.get_by_label("Networks in range").select_option(HOME_WIFI)
    page.get_by_label("Password").fill(HOME_PASSWORD)
    keep(page, "image-wifi")
    page.get_by_role("button", name="Join").click()
    page.get_by_text(f"The table is now joining {HOME_WIFI}.").wait_for()
    while "192.168.77.20" not in read_addresses(port):
        time.sleep(1)


def read_addresses(port: int) -> str:
    """Return the page that names the table's addresses, or nothing while the phone has no connection."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/join", timeout=5) as answer:
            return str(answer.read().decode())
    except (urllib.error.URLError, OSError):
        return ""


def begin_game(page: Page, port: int) -> None:
    open_page(page, port, "/dialogs/new-game")
    page.get_by_label("Player 1", exact=True).fill("Anna")
    page.get_by_label("Player 2", exact=True).fill("Ben")
    page.get_by_role("button", name="Begin").click()
    page.wait_for_selector("#panel .end-turn:enabled")


def play_first_turn(page: Page, folder: Path) -> tuple[str, int]:
    """End a turn with a picture of the phone; return the total on the page, and the score of the play."""
    image, score = next(render_boards(1))
    photo = folder / "photo.jpg"
    cv2.imwrite(str(photo), image)
    with page.expect_file_chooser() as chooser:
        page.locator("#panel .end-turn:enabled").click()
    chooser.value.set_files(photo)
    page.wait_for_selector(".turns li")
    keep(page, "image-score")
    return page.locator(".players .total").first.inner_text(), score


def main(table_port: int, phone_port: int) -> int:
    """Walk through the first set-up; return 0 if the first score is right."""
    with report("the page is up"):
        wait_for_page(table_port)
    with report("the phone is in the table's own Wi-Fi, with the password on the card"):
        wait_for_page(phone_port)
    with (
        run_playwright() as playwright,
        chromium(playwright) as browser,
        open_tab(browser, has_touch=True) as phone,
        TemporaryDirectory() as folder,
    ):
        phone.set_default_timeout(LIMIT_S * 1000)
        with report("the first phone is paired without a code"):
            open_page(phone, phone_port)
            keep(phone, "image-first")
            phone.get_by_role("link", name="Pair this phone").click()
            keep(phone, "image-pair")
            phone.get_by_role("button", name="Pair", exact=True).click()
            phone.wait_for_selector("#panel")
        with report("the table joins the home's Wi-Fi"):
            join_home_wifi(phone, phone_port)
        with report("a game begins"):
            begin_game(phone, phone_port)
        with report("a picture is scored"):
            total, score = play_first_turn(phone, Path(folder))
        print(f"{'ok  ' if total == str(score) else 'FAIL'} the first score is {total}, played {score}")
        return 0 if total == str(score) else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
