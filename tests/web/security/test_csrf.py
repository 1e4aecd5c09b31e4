"""Changes are accepted only from our own pages, of paired phones, with the token of the page."""

from __future__ import annotations

import re

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.support import samples
from tests.web.conftest import ShownTable, token


def every_change(app: Flask) -> list[str]:
    """The changes of the page; those of the JSON API have a door of their own, and its tests."""
    changes = {"POST", "PUT", "PATCH", "DELETE"}
    rules = [rule for rule in app.url_map.iter_rules() if rule.methods and changes & rule.methods]
    return [
        rule.rule.replace("<int:number>", "0").replace("<int:answer>", "0")
        for rule in rules
        if not rule.rule.startswith("/api/")
    ]


def test_every_change_needs_a_paired_phone(table: ShownTable, app: Flask, client: FlaskClient) -> None:
    paths = every_change(app)
    assert {"/actions/end-turn", "/history/import", "/panel/press"} <= set(paths)
    for path in set(paths) - {"/pair"}:
        answer = client.post(path, data={"csrf": token(client), "seen": "1-4"})
        assert answer.status_code == 403 and "not paired" in answer.text, path
    assert table.submitted == []


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Referer": "http://evil.example/page"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_every_change_is_refused_to_other_sites(
    table: ShownTable, app: Flask, paired: FlaskClient, headers: dict[str, str]
) -> None:
    sent = {"csrf": token(paired), "seen": "1-4"}
    for path in every_change(app):
        assert paired.post(path, data=sent, headers=headers).status_code == 403, path
    assert table.submitted == []


def test_every_change_needs_the_token(table: ShownTable, app: Flask, paired: FlaskClient) -> None:
    for path in every_change(app):
        for sent in ("", "wrong", "wröng"):
            assert paired.post(path, data={"csrf": sent}).status_code == 403, path
    assert table.submitted == []


def test_token_of_another_visitor_does_not_do(table: ShownTable, app: Flask, paired: FlaskClient) -> None:
    stolen = token(app.test_client())
    assert paired.post("/actions/end-turn", data={"csrf": stolen}).status_code == 403
    assert table.submitted == []


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
