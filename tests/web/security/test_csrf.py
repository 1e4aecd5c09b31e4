"""Changes are accepted only from our own pages, of paired phones, with the token of the page."""

from __future__ import annotations

import re

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.support import samples
from tests.web.conftest import ShownTable, token


def test_token_of_another_visitor_does_not_do(table: ShownTable, app: Flask, paired: FlaskClient) -> None:
    stolen = token(app.test_client())
    assert paired.post("/actions/end-turn", data={"csrf": stolen}).status_code == 403
    assert table.submitted == []


def test_browser_that_refuses_cookies_is_named_as_the_cause(app: Flask) -> None:
    """A reload, which helps after a restart of the table, would never help here."""
    browser = app.test_client(use_cookies=False)
    form = {"csrf": token(browser), "code": app.extensions["pairing"].code}
    answer = browser.post("/pair", data=form)
    assert answer.status_code == 403 and "Allow cookies for this address" in answer.text


def test_large_bodies_are_refused(paired: FlaskClient) -> None:
    sent = {"csrf": token(paired), "events": "1" * 100_000}
    assert paired.post("/actions/end-turn", data=sent).status_code == 413


@pytest.mark.parametrize(
    "path", ["/", "/big", "/pair", "/static/page.js", "/live/state", "/nonsense", "/pictures/1-3.jpg"]
)
def test_security_headers_are_on_every_answer(client: FlaskClient, path: str) -> None:
    with client.get(path) as answer:
        headers = answer.headers
    assert "script-src 'self'" in headers["Content-Security-Policy"]
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"


@pytest.mark.parametrize("name", samples.EVERY)
def test_page_has_nothing_inline(table: ShownTable, paired: FlaskClient, name: str) -> None:
    table.show(samples.EVERY[name])
    for path in ("/", "/big", "/dialogs/more", "/dialogs/square?square=I10", "/dialogs/new-game", "/dialogs/rack"):
        html = paired.get(path).text
        assert not re.search(r"<script(?![^>]*src=)|\son\w+=|\sstyle=|<style|https?://", html), path


def test_cookie_is_kept_from_scripts_and_other_sites(client: FlaskClient) -> None:
    cookie = client.get("/pair").headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
