"""Fixtures of the browser tests: Debian's Chromium, and a phone that shows a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.support.browsers import chromium, opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    """A page in the size of a phone, with touch."""
    with opened(browser, has_touch=True) as page:
        yield page
