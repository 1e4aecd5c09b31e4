"""A table whose camera is a phone: pictures go through the page's own script, from the file chooser to the score.

`python -m tests.web.browser.test_phone_camera` measures the time from tap to score (50 turns with 12-megapixel files).
"""

from __future__ import annotations

import base64
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import cv2
import numpy as np
import pytest
from PIL import Image as Pictures
from PIL import features

from device.cameras.phone import PhoneCamera
from device.demo.demo_table import load_demo_games, make_start_event
from device.session.commands.games import StartGame
from device.session.commands.turns import EndTurnWithPicture
from device.session.table_session import TableSession
from device.storage.lexicons import open_lexicon
from device.storage.store import GameStore
from engine.events import GameStarted
from engine.tiles import load_tile_set
from tests.support.browsers import MARKS, chromium, open_tab, pair, run_playwright, visit
from tests.support.local_data import PHOTOS_DIR, needs_photos
from tests.support.photo_labels import load_collections
from tests.support.recorded_boards import GAME, TURNS, render_boards
from vision.geometry import Image
from vision.photo import PhotoError, decode_photo, load_photo
from vision.recognition.reader import BoardReader
from web import create_app
from web.security.server import PageServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = MARKS

PHOTO_SIZE_PX = (4000, 3000)
"""Size of the pictures of a 12-megapixel camera."""
ORIENTATION_TAG = 0x0112
PHOTOS = 20 if os.environ.get("CI") else 50
PHOTOGRAPHED_GAMES = (("bucharest", "1", 20), ("bucharest", "4", 20), ("scrabscrap", "game01", 10))
"""Collection, game and number of its photographs, one after each turn: together 50. If `CI` is set, only the last."""
MAX_DIFFERENT_SQUARES = 2
SIDEWAYS = 6
"""EXIF orientation of a picture that a phone has taken upright."""


@contextmanager
def serve() -> Iterator[tuple[TableSession, PageServer]]:
    with (
        GameStore(":memory:") as store,
        TableSession(PhoneCamera(), BoardReader(), store, open_lexicon(None, "en")) as session,
        PageServer(create_app(session, store=store), 0, "127.0.0.1") as server,
    ):
        yield session, server


def make_photo(image: Image, path: Path, orientation: int = 1) -> Path:
    """Write a picture as a 12-megapixel camera does: scaled up, as a JPEG with an EXIF orientation."""
    scaled = cv2.resize(image, PHOTO_SIZE_PX, interpolation=cv2.INTER_CUBIC)
    if orientation == SIDEWAYS:
        scaled = cv2.rotate(scaled, cv2.ROTATE_90_COUNTERCLOCKWISE)
    exif = Pictures.Exif()
    exif[ORIENTATION_TAG] = orientation
    Pictures.fromarray(scaled[:, :, ::-1]).save(path, quality=92, exif=exif)
    return path


def take_picture(page: Page, photo: Path) -> None:
    """End the turn with a picture, as the camera application of a phone hands it to the page."""
    with page.expect_file_chooser() as chooser:
        page.locator("#panel .end-turn:enabled").click()
    chooser.value.set_files(photo)


def wait_for_turn(page: Page, number: int) -> None:
    """Wait until the page shows this number of turns and the table is ready for the next one."""
    page.wait_for_function(
        "n => document.querySelectorAll('.turns li').length >= n && root.dataset.phase !== 'looking'", arg=number
    )


def test_game_of_ten_turns_by_pictures_of_a_phone(browser: Browser, tmp_path: Path) -> None:
    with serve() as (session, server), open_tab(browser, has_touch=True) as phone:
        session.submit(StartGame(make_start_event(load_demo_games()[GAME], None))).result()
        pair(phone, server, server.app.extensions["pairing"].code)
        scores = []
        for number, (image, score) in enumerate(render_boards(TURNS), 1):
            photo = make_photo(image, tmp_path / "photo.jpg", SIDEWAYS if number % 2 else 1)
            take_picture(phone, photo)
            wait_for_turn(phone, number)
            scores.append(score)
        assert [turn.score for turn in session.state.turns] == scores


def test_look_again_opens_the_camera_of_the_phone(browser: Browser, tmp_path: Path) -> None:
    with serve() as (session, server), open_tab(browser, has_touch=True) as phone:
        session.submit(StartGame(make_start_event(load_demo_games()[GAME], None))).result()
        pair(phone, server, server.app.extensions["pairing"].code)
        first, second = (image for image, _ in render_boards(2))
        take_picture(phone, make_photo(first, tmp_path / "first.jpg"))
        wait_for_turn(phone, 1)
        # Another picture without new tiles: did the player pass?
        take_picture(phone, make_photo(first, tmp_path / "again.jpg", SIDEWAYS))
        with phone.expect_file_chooser() as chooser:
            phone.get_by_role("button", name="Look again").click()
        chooser.value.set_files(make_photo(second, tmp_path / "second.jpg"))
        phone.wait_for_function("() => !document.querySelector('.question')")
        assert [turn.kind for turn in session.state.turns] == ["play", "play"]


@pytest.mark.skipif("avif" not in features.modules or not features.check("avif"), reason="this Pillow writes no AVIF")
def test_small_picture_of_a_type_that_only_the_browser_reads_counts(browser: Browser, tmp_path: Path) -> None:
    with serve() as (session, server), open_tab(browser, has_touch=True) as phone:
        session.submit(StartGame(make_start_event(load_demo_games()[GAME], None))).result()
        pair(phone, server, server.app.extensions["pairing"].code)
        [(image, score)] = render_boards(1)
        photo = tmp_path / "photo.avif"
        Pictures.fromarray(image[:, :, ::-1]).save(photo)
        with pytest.raises(PhotoError):
            load_photo(photo)
        take_picture(phone, photo)
        wait_for_turn(phone, 1)
        assert [turn.score for turn in session.state.turns] == [score]


def test_set_up_shows_the_table_alone(browser: Browser) -> None:
    with serve() as (_, server), open_tab(browser, has_touch=True) as phone:
        pair(phone, server, server.app.extensions["pairing"].code)
        visit(phone, server, "/setup")
        phone.locator("#step-table").wait_for()
        assert [step.get_attribute("id") for step in phone.locator(".step:visible").all()] == ["step-table"]


def test_unusable_picture_is_explained_and_another_one_counts(browser: Browser, tmp_path: Path) -> None:
    with serve() as (session, server), open_tab(browser, has_touch=True) as phone:
        session.submit(StartGame(make_start_event(load_demo_games()[GAME], None))).result()
        pair(phone, server, server.app.extensions["pairing"].code)
        image, score = next(render_boards(1))
        take_picture(phone, make_photo(np.full_like(image, 90), tmp_path / "wall.jpg"))
        phone.get_by_text("No board was found").wait_for()
        assert phone.locator(".notice").count() == 1
        (tmp_path / "photo.heic").write_bytes(b"\0\0\0\x18ftypheic\0\0\0\0mif1heic")
        take_picture(phone, tmp_path / "photo.heic")
        phone.get_by_text("choose JPEG in the settings of its camera").wait_for()
        take_picture(phone, make_photo(image, tmp_path / "photo.jpg"))
        wait_for_turn(phone, 1)
        assert [turn.score for turn in session.state.turns] == [score]
        phone.wait_for_function("() => !document.querySelector('#panel output').textContent")


def test_picture_is_sent_when_the_table_answers_again(browser: Browser, tmp_path: Path) -> None:
    with serve() as (session, server), open_tab(browser, has_touch=True) as phone:
        session.submit(StartGame(make_start_event(load_demo_games()[GAME], None))).result()
        pair(phone, server, server.app.extensions["pairing"].code)
        [(image, score)] = render_boards(1)
        phone.context.set_offline(True)
        take_picture(phone, make_photo(image, tmp_path / "photo.jpg"))
        phone.get_by_text("The picture has not reached the table yet.").wait_for()
        phone.context.set_offline(False)
        wait_for_turn(phone, 1)
        assert [turn.score for turn in session.state.turns] == [score]
        phone.wait_for_function("() => !document.querySelector('#panel output').textContent")


def enlarge_photo(photo: Path, path: Path) -> Path:
    """Write a photograph in the size of a 12-megapixel camera, so that the page has to scale it down."""
    image = load_photo(photo).image
    scale = max(PHOTO_SIZE_PX) / max(image.shape)
    scaled = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC)
    Pictures.fromarray(scaled[:, :, ::-1]).save(path, quality=92)
    return path


SHRINK = """async () => {
  const blob = await shrinkPicture(document.getElementById("probe").files[0]);
  const reader = new FileReader();
  await new Promise((resolve) => { reader.onload = resolve; reader.readAsDataURL(blob); });
  return reader.result.split(",")[1];
}"""


@needs_photos
def test_photographs_scaled_by_the_page_are_read_alike(browser: Browser, tmp_path: Path) -> None:
    reader, differences = BoardReader(), 0
    records = [(c.name, r) for c in load_collections() if c.name in ("bucharest", "jheidel") for r in c.records]
    with serve() as (_, server), open_tab(browser) as page:
        pair(page, server, server.app.extensions["pairing"].code)
        page.evaluate(
            "document.body.append(Object.assign(document.createElement('input'), { type: 'file', id: 'probe' }))"
        )
        for collection, record in records[:: len(records) // PHOTOS][:PHOTOS]:
            path = PHOTOS_DIR / collection / record["photo"]
            page.set_input_files("#probe", enlarge_photo(path, tmp_path / "photo.jpg"))
            scaled = base64.b64decode(page.evaluate(SHRINK))
            tiles = load_tile_set(record["language"]).letters
            before = reader.read(load_photo(tmp_path / "photo.jpg").image, tiles).board
            after = reader.read(decode_photo(scaled, "photo").image, tiles).board
            assert (before is None) == (after is None)
            if before and after:
                differences += sum(a != b for a, b in zip(before.symbols, after.symbols, strict=True))
    assert differences <= MAX_DIFFERENT_SQUARES


@needs_photos
@pytest.mark.parametrize(("collection", "game", "turns"), PHOTOGRAPHED_GAMES[-1 if os.environ.get("CI") else 0 :])
def test_game_by_uploads_has_the_totals_of_its_files(
    browser: Browser, tmp_path: Path, collection: str, game: str, turns: int
) -> None:
    labels = next(c.records for c in load_collections() if c.name == collection)
    records = sorted((r for r in labels if r["game"] == game), key=lambda r: int(r["index"]))[:turns]
    photos = [
        enlarge_photo(PHOTOS_DIR / collection / record["photo"], tmp_path / f"{number}.jpg")
        for number, record in enumerate(records)
    ]
    start = StartGame(GameStarted(("Anna", "Ben"), tile_set=records[0]["language"]))
    with serve() as (from_files, _):
        from_files.submit(start).result()
        for photo in photos:
            from_files.submit(EndTurnWithPicture(load_photo(photo).image)).result()
        expected = from_files.state
    with serve() as (by_uploads, server), open_tab(browser, has_touch=True) as phone:
        by_uploads.submit(start).result()
        pair(phone, server, server.app.extensions["pairing"].code)
        for photo in photos:
            phone.wait_for_selector("#panel .end-turn:enabled")
            with phone.expect_response("**/actions/picture"):
                take_picture(phone, photo)
        found = by_uploads.state
    assert len(expected.turns) >= turns - 1  # at most one picture without a turn of its own
    assert [(turn.kind, turn.score) for turn in found.turns] == [(turn.kind, turn.score) for turn in expected.turns]
    assert found.players == expected.players


def measure(turns: int) -> list[float]:
    """Return the seconds from the tap on a 12-megapixel file to the shown score, sorted, for each of `turns` turns."""
    seconds: list[float] = []
    with (
        run_playwright() as playwright,
        chromium(playwright) as browser,
        TemporaryDirectory() as folder,
        serve() as (session, server),
        open_tab(browser) as phone,
    ):
        pair(phone, server, server.app.extensions["pairing"].code)
        images = [image for image, _ in render_boards(TURNS)]
        photos = [make_photo(image, Path(folder) / f"{number}.jpg") for number, image in enumerate(images)]
        while len(seconds) < turns:
            session.submit(StartGame(make_start_event(load_demo_games()[GAME], None))).result()
            for number, photo in enumerate(photos, 1):
                phone.wait_for_selector("#panel .end-turn:enabled")
                began = time.perf_counter()
                take_picture(phone, photo)
                wait_for_turn(phone, number)
                seconds.append(time.perf_counter() - began)
    return sorted(seconds[:turns])


if __name__ == "__main__":
    times = measure(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
    print(f"{len(times)} turns: median {times[len(times) // 2]:.2f} s, p95 {times[int(0.95 * len(times))]:.2f} s")
