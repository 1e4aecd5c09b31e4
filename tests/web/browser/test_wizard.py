"""Setting a table up in the browser: a rendered camera, the real reader, thumbs and keys on the corners."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from calibration.enrolment import make_enrolment_rows
from device.cli.options import make_profiled_reader
from device.demo.demo_table import SimulatedCamera
from device.panel.buttons import Button, Pins
from device.panel.panel import Panel, PanelActions
from device.session.table_session import TableSession
from device.storage.store import GameStore
from engine.reading import EMPTY
from engine.tiles import load_tile_set
from tests.support.browsers import MARKS, keep, open_tab, pair, visit
from vision.rendering.simulated_table import SimulatedTable
from web import create_app
from web.host_info import HostInfo
from web.security.server import PageServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = MARKS
NEAR = 12.0
"""Pixels of the picture that the outline may be beside the printed grid."""


@pytest.fixture(scope="module")
def rendered() -> SimulatedTable:
    return SimulatedTable(seed=11, values=load_tile_set("en").values)


@pytest.fixture(scope="module")
def parts(rendered: SimulatedTable, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    folder: Path = tmp_path_factory.mktemp("table")
    reader, knowledge = make_profiled_reader(folder)
    camera = SimulatedCamera(rendered)
    with (
        GameStore(folder / "games.db") as store,
        TableSession(camera, reader, store, None, profile=knowledge) as session,
        Panel(session, PanelActions()) as panel,
    ):
        place = HostInfo(panel, tuple(Pins().buttons), addresses=lambda: ("http://192.0.2.7:8080",))
        app = create_app(session, store=store, host_info=place)
        with PageServer(app, 0, "127.0.0.1") as server:
            yield {"server": server, "panel": panel, "camera": camera, "code": app.extensions["pairing"].code}


def corners(page: Page) -> list[tuple[float, float]]:
    """The corners of the outline, in pixels of the picture."""
    points = page.get_attribute("#outline", "points") or ""
    return [(float(x), float(y)) for x, y in (point.split(",") for point in points.split())]


def test_table_is_set_up_in_under_two_minutes(
    browser: Browser, parts: dict[str, Any], rendered: SimulatedTable
) -> None:
    truth = [(float(x), float(y)) for x, y in rendered.photograph().corners]
    with open_tab(browser, has_touch=True) as page:
        page.set_default_timeout(60_000)
        pair(page, parts["server"], parts["code"])
        began = time.monotonic()
        visit(page, parts["server"], "/setup")
        page.get_by_role("button", name="Next").tap()

        # The board is found and outlined in the live picture.
        page.wait_for_selector("#said:has-text('The board is found')")
        found = corners(page)
        assert all(abs(x - tx) < NEAR and abs(y - ty) < NEAR for (x, y), (tx, ty) in zip(found, truth, strict=True))
        keep(page, "wizard-board")

        # A corner is dragged, another moved by the arrow keys; then the table finds the board again by itself.
        thumb = page.locator(".corner .thumb").first.bounding_box()
        assert thumb is not None
        x, y = thumb["x"] + thumb["width"] / 2, thumb["y"] + thumb["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 10, y + 8, steps=4)
        assert page.locator("#loupe.shown").count() == 1
        page.mouse.up()
        page.wait_for_selector("#said:has-text('that you placed')")
        dragged = corners(page)
        assert dragged[0][0] > found[0][0] + 20 and dragged[0][1] > found[0][1] + 15
        page.locator(".corner").nth(1).focus()
        for _ in range(5):  # slowly, while the page looks on: no look may put the corner back
            page.keyboard.press("ArrowLeft")
            page.wait_for_timeout(300)
        page.keyboard.press("Shift+ArrowDown")
        page.wait_for_timeout(1500)
        moved = corners(page)
        assert moved[1][0] == pytest.approx(dragged[1][0] - 10, abs=1)
        assert moved[1][1] == pytest.approx(dragged[1][1] + 20, abs=1)
        page.get_by_role("button", name="Find the board automatically").tap()
        page.wait_for_selector("#said:has-text('The board is found')")

        # The panel: what is pressed is ticked, and does nothing else.
        page.get_by_role("button", name="Next").tap()
        page.wait_for_selector(".felt")
        parts["panel"].handle_edge(Button.CHALLENGE, True)
        parts["panel"].handle_edge(Button.CHALLENGE, False)
        page.wait_for_selector(".felt .yes:has-text('Challenge')")
        page.get_by_role("button", name="Red", exact=True).tap()
        page.wait_for_selector(".lamp .led-red")

        # The enrolment: tiles that are placed as drawn become examples; others are named by their squares.
        page.get_by_role("button", name="Next").tap()
        page.get_by_role("button", name="Scan the tiles").tap()
        page.wait_for_selector("#teach output:has-text('not as shown')")
        rows = make_enrolment_rows(load_tile_set("en").letters)
        faces = {(r, c): face for r, row in enumerate(rows) for c, face in enumerate(row) if face != EMPTY}
        parts["camera"].lay_tiles(faces)
        page.get_by_role("button", name="Scan the tiles").tap()
        page.wait_for_selector("#teach output:has-text('knows these tiles')")

        # The code that pairs another phone.
        page.get_by_role("link", name="Table").tap()
        page.get_by_text("Pair a phone").wait_for()
        assert page.locator("svg.qr").count() == 1
        page.get_by_role("link", name="Done").tap()
        page.wait_for_selector("#panel")
        assert time.monotonic() - began < 120
        assert parts["panel"].view.felt is None, "the rehearsal ends with the page"
