"""axe finds nothing serious on any page, in light and in dark, on a phone and on a television."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from device.settings import Settings
from device.settings_editor import SettingsEditor, SettingsFile
from tests.support.api_table import House, house
from tests.support.browsers import MARKS, unpair_all
from web.host_info import HostInfo
from web.pages.settings import SettingsAccess
from web.security.server import PageServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

SERIOUS = {"serious", "critical"}
PAGES = (
    "/", "/big", "/history", "/history/1", "/history/1?turn=1", "/records", "/join", "/pair", "/phones", "/setup",
    "/panel", "/dialogs/more", "/dialogs/exchange", "/dialogs/square?square=H8", "/dialogs/new-game",
    "/dialogs/end-game", "/dialogs/board",
    "/dialogs/turn?number=1", "/dialogs/word", "/history/1/delete", "/data", "/settings",
)  # fmt: skip

pytestmark = MARKS


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("axe")
    settings_file = folder / "settings.toml"
    settings_file.write_text("[page]\nport = 0\n", encoding="utf-8")  # the page shows an error
    access = SettingsAccess(SettingsEditor(SettingsFile(settings_file), Settings()), folder / "lexicons")
    with house(folder, host_info=HostInfo(settings=access)) as table:
        table.play_three_turns()
        yield table


@pytest.fixture(scope="module")
def address(table: House) -> Iterator[str]:
    with PageServer(table.app, 0, "127.0.0.1") as server:
        yield f"http://127.0.0.1:{server.port}"


@pytest.fixture(params=[("light", 390, 844), ("dark", 390, 844), ("light", 1920, 1080), ("dark", 1920, 1080)], ids=str)
def context(request: pytest.FixtureRequest, browser: Browser, table: House, address: str) -> Iterator[BrowserContext]:
    scheme, width, height = request.param
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, bypass_csp=True, reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(f"{address}/pair")
    page.get_by_label("Six digits").fill(table.code)
    page.get_by_role("button", name="Pair", exact=True).click()
    page.wait_for_selector("#panel")
    page.close()
    yield context
    context.close()
    unpair_all(table.app)


def test_nothing_serious_on_any_page(context: BrowserContext, address: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    axe, found = Axe(), []
    for path in PAGES:
        page = context.new_page()
        answer = page.goto(f"{address}{path}", wait_until="domcontentloaded")
        assert answer is not None and answer.status == 200, path
        for one in axe.run(page).response["violations"]:
            if one["impact"] in SERIOUS:
                found.append(f"{path}: {one['id']}: {one['nodes'][0]['html'][:160]} ({len(one['nodes'])} places)")
        page.close()
    assert found == []
