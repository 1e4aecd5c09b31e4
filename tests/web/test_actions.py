"""The buttons on the page: only from our own page, only with its token, only for the moment they were meant for."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient

from . import samples
from .conftest import ShownTable

BUTTONS = {
    "/actions/end-turn": "end turn",
    "/actions/challenge": "challenge",
    "/actions/end-game": "end game",
    "/actions/answer/1": "answer 1",
    "/actions/undo": "undo",
}


def token(client: FlaskClient) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', client.get("/").text)
    assert found
    return found[1]


@pytest.mark.parametrize(("path", "button"), BUTTONS.items())
def test_button_reaches_the_table_with_the_moment_it_was_meant_for(
    table: ShownTable, client: FlaskClient, path: str, button: str
) -> None:
    table.show(samples.MIDGAME)
    answer = client.post(path, data={"csrf": token(client), "events": "4"}, headers={"Origin": "http://localhost"})
    assert answer.status_code == 204
    assert table.pressed == [(button, 4)]


def test_form_without_script_comes_back_to_the_page(client: FlaskClient) -> None:
    headers = {"Sec-Fetch-Dest": "document", "Sec-Fetch-Site": "same-origin"}
    answer = client.post("/actions/undo", data={"csrf": token(client)}, headers=headers)
    assert answer.status_code == 303 and answer.headers["Location"] == "/"


def test_refusal_is_told_in_one_line(table: ShownTable, client: FlaskClient) -> None:
    table.refusal = "Ben has already played."
    answer = client.post("/actions/end-turn", data={"csrf": token(client), "events": "3"})
    assert (answer.status_code, answer.text) == (409, "Ben has already played.\n")


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
def test_other_sites_are_refused(table: ShownTable, client: FlaskClient, headers: dict[str, str]) -> None:
    assert client.post("/actions/end-turn", data={"csrf": token(client)}, headers=headers).status_code == 403
    assert table.pressed == []


@pytest.mark.parametrize("sent", ["", "wrong"])
def test_token_is_needed(table: ShownTable, client: FlaskClient, sent: str) -> None:
    token(client)
    assert client.post("/actions/end-turn", data={"csrf": sent}).status_code == 403
    assert table.pressed == []


def test_token_of_another_visitor_does_not_do(table: ShownTable, client: FlaskClient) -> None:
    other = client.application.test_client()
    stolen = token(other)
    token(client)
    assert client.post("/actions/end-turn", data={"csrf": stolen}).status_code == 403
    assert table.pressed == []


def test_looking_is_no_change(table: ShownTable, client: FlaskClient) -> None:
    for path in BUTTONS:
        assert client.get(path).status_code == 405
    assert table.pressed == []


def test_large_bodies_are_refused(client: FlaskClient) -> None:
    sent = {"csrf": token(client), "events": "1" * 100_000}
    assert client.post("/actions/end-turn", data=sent).status_code == 413


@pytest.mark.parametrize("path", ["/", "/static/page.js", "/live/state", "/nonsense", "/pictures/1-3.jpg"])
def test_security_headers_are_on_every_answer(client: FlaskClient, path: str) -> None:
    with client.get(path) as answer:
        headers = answer.headers
    assert "script-src 'self'" in headers["Content-Security-Policy"]
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"


def test_page_has_nothing_inline(table: ShownTable, client: FlaskClient) -> None:
    for state in samples.EVERY.values():
        table.show(state)
        html = client.get("/").text
        assert not re.search(r"<script(?![^>]*src=)|\son\w+=|\sstyle=|<style|https?://", html)


def test_cookie_is_kept_from_scripts_and_other_sites(client: FlaskClient) -> None:
    cookie = client.get("/").headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
