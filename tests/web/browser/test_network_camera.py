"""A table whose camera is a video stream in the home network: a game of ten turns, played in a browser."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from device.cameras import open_camera
from device.demo.demo_table import load_demo_games, make_start_event
from device.session.commands.games import StartGame
from device.session.table_session import TableSession
from device.storage.lexicons import open_lexicon
from device.storage.store import GameStore
from tests.support.browsers import MARKS, open_tab, pair
from tests.support.recorded_boards import GAME, TURNS, render_boards, wait_for_picture
from tests.support.stream_servers import RTSP_PACKAGES, MjpegServer, RtspServer, can_serve_rtsp
from tests.web.browser.test_phone_camera import wait_for_turn
from vision.geometry import Image
from vision.recognition.reader import BoardReader
from web import create_app
from web.security.server import PageServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = MARKS


def play_game(browser: Browser, server: MjpegServer | RtspServer, images: Sequence[Image]) -> list[int]:
    """End a turn on a phone for each picture of the stream; return the scores."""
    with (
        closing(open_camera(server.address)) as camera,
        GameStore(":memory:") as store,
        TableSession(camera, BoardReader(), store, open_lexicon(None, "en")) as session,
        PageServer(create_app(session, store=store), 0, "127.0.0.1") as page_server,
        open_tab(browser, has_touch=True) as phone,
    ):
        session.submit(StartGame(make_start_event(load_demo_games()[GAME], None))).result()
        pair(phone, page_server, page_server.app.extensions["pairing"].code)
        for number, image in enumerate(images):
            server.show(image)
            wait_for_picture(camera, images, number)
            phone.locator("#panel .end-turn:enabled").click()
            wait_for_turn(phone, number + 1)
        return [turn.score for turn in session.state.turns]


def test_game_by_an_mjpeg_stream(browser: Browser) -> None:
    images, scores = zip(*render_boards(TURNS), strict=True)
    with MjpegServer(images[0]) as server:
        assert play_game(browser, server, images) == list(scores)


@pytest.mark.skipif(not can_serve_rtsp(), reason=f"needs the Debian packages {RTSP_PACKAGES}")
def test_game_by_an_rtsp_stream(browser: Browser, tmp_path: Path) -> None:
    images, scores = zip(*render_boards(TURNS), strict=True)
    with RtspServer(images[0], tmp_path) as server:
        assert play_game(browser, server, images) == list(scores)
