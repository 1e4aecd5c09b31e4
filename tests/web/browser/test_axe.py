"""axe finds nothing serious on any page, in light and in dark, on a phone and on a television."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import pytest

from tests.support.api_table import WebTable
from tests.support.browsers import EVERY_PAGE, MARKS, address, unpair_all
from web.security.server import PageServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

SERIOUS = {"serious", "critical"}
RULES: dict[Literal["light", "dark"], dict[str, object]] = {
    "light": {"resultTypes": ["violations"], "rules": {"label-content-name-mismatch": {"enabled": True}}},
    "dark": {"resultTypes": ["violations"], "runOnly": ["color-contrast"]},
}
"""Options of axe for each scheme: all rules in light; the scheme changes only the colours."""
pytestmark = MARKS


@pytest.fixture(params=[(390, 844), (1920, 1080)], ids=str)
def context(
    request: pytest.FixtureRequest, browser: Browser, played_table: WebTable, played_server: PageServer
) -> Iterator[BrowserContext]:
    width, height = request.param
    context = browser.new_context(viewport={"width": width, "height": height}, bypass_csp=True, reduced_motion="reduce")
    page = context.new_page()
    page.goto(address(played_server, "/pair"))
    page.get_by_label("Six digits").fill(played_table.code)
    page.get_by_role("button", name="Pair", exact=True).click()
    page.wait_for_selector("#panel")
    page.close()
    yield context
    context.close()
    unpair_all(played_table.app)


def test_pages_have_no_serious_violations(context: BrowserContext, played_server: PageServer) -> None:
    from axe_playwright_python.sync_playwright import Axe

    axe, found = Axe(), []
    for path in EVERY_PAGE:
        page = context.new_page()
        answer = page.goto(address(played_server, path), wait_until="domcontentloaded")
        assert answer is not None and answer.status in (200, 404), path
        for scheme, rules in RULES.items():
            page.emulate_media(color_scheme=scheme)
            for one in axe.run(page, options=rules).response["violations"]:
                if one["impact"] in SERIOUS:
                    place = f"{one['nodes'][0]['html'][:160]} ({len(one['nodes'])} places)"
                    found.append(f"{path} ({scheme}): {one['id']}: {place}")
        page.close()
    assert found == []
