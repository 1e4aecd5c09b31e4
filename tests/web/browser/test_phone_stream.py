"""A phone on a stand is the camera: Chromium streams a video of the board to the table, over https."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import pytest

from device.cameras.phone import PhoneStreamCamera
from device.demo.demo_table import load_demo_games, make_start_event
from device.session.commands.games import StartGame
from device.session.table_session import TableSession
from device.storage.lexicons import open_lexicon
from device.storage.store import GameStore
from tests.support.browsers import MARKS, chromium, open_tab
from tests.support.recorded_boards import GAME, render_boards, wait_for_picture
from tests.support.waiting import until
from tests.web.browser.test_phone_camera import make_photo, take_picture, wait_for_turn
from vision.geometry import Image
from vision.recognition.reader import BoardReader
from web import create_app
from web.host_info import HostInfo
from web.security.certificate import OwnCertificate
from web.security.server import PageServer, TlsSettings

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Playwright

pytestmark = MARKS

TURNS = 5 if os.environ.get("CI") else 10
VIDEO_SIZE_PX = (1280, 960)
POSITION_S = 8
"""Seconds for which the video shows the board after each turn. It has one frame a second, and is repeated."""
MAX_WAIT_S = 2 * 10 * POSITION_S
MAX_NOTICE_S = 5.0
HIDE = """() => {
  Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
SHOW = """() => {
  delete document.visibilityState;
  document.dispatchEvent(new Event("visibilitychange"));
}"""

TRACK = "document.getElementById('view').srcObject.getVideoTracks()[0]"
MUTE = f"() => {{ Object.defineProperty({TRACK}, 'muted', {{ value: true, configurable: true }}); }}"
UNMUTE = f"() => {{ delete {TRACK}.muted; }}"


class Table:
    """A table whose camera is a phone on a stand."""

    def __init__(self, session: TableSession, camera: PhoneStreamCamera, server: PageServer) -> None:
        self.session, self.camera, self.server = session, camera, server
        self.address = f"https://127.0.0.1:{server.secure_port}"

    def open_phone(self, browser: Browser, stack: ExitStack, path: str) -> Page:
        """Pair a phone over https and open a page on it."""
        phone = stack.enter_context(open_tab(browser, ignore_https_errors=True, permissions=["camera"], has_touch=True))
        phone.goto(f"{self.address}/pair/{self.server.app.extensions['pairing'].secret}")
        phone.get_by_role("button", name="Pair", exact=True).click()
        phone.wait_for_selector("#panel")
        phone.goto(f"{self.address}{path}", wait_until="domcontentloaded")
        return phone

    def open_camera(self, browser: Browser, stack: ExitStack) -> Page:
        """Let a phone be the camera, and wait until the table has noticed that it has one."""
        phone = self.open_phone(browser, stack, "/camera")
        phone.get_by_role("button", name="Use as camera").click()
        phone.get_by_text("This phone is the camera.").wait_for()
        until(lambda: not self.session.state.notices)
        return phone

    def wait_for_notice(self, text: str) -> float:
        """Return the seconds until the table shows a notice."""
        return until(lambda: any(text in notice.text for notice in self.session.state.notices))


@contextmanager
def serve(folder: Path) -> Iterator[Table]:
    own = OwnCertificate(folder / "https.pem", lambda: ["127.0.0.1"])
    own.renew()
    camera = PhoneStreamCamera()
    with (
        GameStore(":memory:") as store,
        TableSession(camera, BoardReader(), store, open_lexicon(None, "en")) as session,
        PageServer(
            create_app(session, store=store, host_info=HostInfo()),
            0,
            "127.0.0.1",
            tls=TlsSettings(own.path, own.path, 0),
        ) as server,
    ):
        session.submit(StartGame(make_start_event(load_demo_games()[GAME], None))).result()
        yield Table(session, camera, server)


def write_video(path: Path, images: Sequence[Image]) -> Path:
    """Write a video in YUV4MPEG2, which Chromium shows as its camera: each picture for `POSITION_S` seconds."""
    width, height = VIDEO_SIZE_PX
    with path.open("wb") as file:
        file.write(f"YUV4MPEG2 W{width} H{height} F1:1 Ip A1:1 C420jpeg\n".encode())
        for image in images:
            scaled = cv2.resize(image, VIDEO_SIZE_PX, interpolation=cv2.INTER_AREA)
            file.write((b"FRAME\n" + cv2.cvtColor(scaled, cv2.COLOR_BGR2YUV_I420).tobytes()) * POSITION_S)
    return path


def film(playwright: Playwright, video: Path) -> AbstractContextManager[Browser]:
    return chromium(
        playwright,
        "--use-fake-ui-for-media-stream",
        "--use-fake-device-for-media-stream",
        f"--use-file-for-fake-video-capture={video}",
    )


def test_game_as_a_stream(playwright: Playwright, tmp_path: Path) -> None:
    images, scores = zip(*render_boards(TURNS), strict=True)
    video = write_video(tmp_path / "board.y4m", images)
    with serve(tmp_path) as table, film(playwright, video) as browser, ExitStack() as stack:
        table.open_camera(browser, stack)
        player = table.open_phone(browser, stack, "/")
        for number in range(TURNS):
            wait_for_picture(table.camera, images, number, MAX_WAIT_S)
            player.locator("#panel .end-turn:enabled").click()
            wait_for_turn(player, number + 1)
        assert [turn.score for turn in table.session.state.turns] == list(scores)


@pytest.fixture(scope="module")
def filming(playwright: Playwright, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser whose camera shows one board."""
    folder = tmp_path_factory.mktemp("video")
    with film(playwright, write_video(folder / "board.y4m", [image for image, _ in render_boards(1)])) as browser:
        yield browser


def test_turn_is_ended_with_a_picture_while_no_phone_is_the_camera(filming: Browser, tmp_path: Path) -> None:
    image, score = next(render_boards(1))
    photo = make_photo(image, tmp_path / "photo.jpg")
    with serve(tmp_path) as table, ExitStack() as stack:
        table.wait_for_notice("No phone is the camera")
        player = table.open_phone(filming, stack, "/")
        take_picture(player, photo)
        wait_for_turn(player, 1)
        assert [turn.score for turn in table.session.state.turns] == [score]


def test_phone_that_leaves_the_wifi_is_noticed_within_five_seconds(filming: Browser, tmp_path: Path) -> None:
    with serve(tmp_path) as table, ExitStack() as stack:
        phone = table.open_camera(filming, stack)
        phone.context.set_offline(True)
        assert table.wait_for_notice("Unlock it") < MAX_NOTICE_S
        phone.get_by_text("The connection to the table is lost").wait_for()
        phone.context.set_offline(False)
        phone.get_by_text("This phone is the camera.").wait_for()


def test_phone_that_is_locked_is_noticed_and_returns_by_itself(filming: Browser, tmp_path: Path) -> None:
    with serve(tmp_path) as table, ExitStack() as stack:
        phone = table.open_camera(filming, stack)
        phone.evaluate(HIDE)
        assert table.wait_for_notice("Unlock it") < MAX_NOTICE_S
        assert phone.evaluate("document.getElementById('view').srcObject") is None
        phone.evaluate(SHOW)
        until(lambda: not table.session.state.notices)


def test_phone_whose_camera_another_app_has_is_noticed_and_returns_by_itself(filming: Browser, tmp_path: Path) -> None:
    with serve(tmp_path) as table, ExitStack() as stack:
        phone = table.open_camera(filming, stack)
        phone.evaluate(MUTE)
        assert table.wait_for_notice("Unlock it") < MAX_NOTICE_S
        phone.get_by_text("close other apps").wait_for()
        phone.evaluate(UNMUTE)
        until(lambda: not table.session.state.notices)


def test_closed_page_is_noticed(filming: Browser, tmp_path: Path) -> None:
    with serve(tmp_path) as table, ExitStack() as stack:
        table.open_camera(filming, stack).goto("about:blank")
        assert table.wait_for_notice("Unlock it") < MAX_NOTICE_S


def test_second_phone_takes_over_after_it_was_asked(filming: Browser, tmp_path: Path) -> None:
    with serve(tmp_path) as table, ExitStack() as stack:
        first = table.open_camera(filming, stack)
        second = table.open_phone(filming, stack, "/camera")
        second.get_by_role("button", name="Use as camera").click()
        second.get_by_text("is already the camera. Use this phone instead?").wait_for()
        second.get_by_role("button", name="Take over").click()
        second.get_by_text("This phone is the camera.").wait_for()
        first.get_by_text("is now the camera.").wait_for()


def test_page_over_http_shows_how_to_accept_the_certificate(filming: Browser, tmp_path: Path) -> None:
    """The page cannot use the camera over http, except on the machine itself."""
    hide_camera = "Object.defineProperty(navigator, 'mediaDevices', { value: undefined })"
    with serve(tmp_path) as table, ExitStack() as stack:
        phone = table.open_phone(filming, stack, "/camera")
        assert phone.locator("#camera").is_visible() and phone.locator("#plain").is_hidden()
        phone.add_init_script(hide_camera)
        phone.reload()
        assert phone.locator("#camera").is_hidden() and phone.locator("#plain").is_visible()
