"""Every route, walked: who may look, who may touch, and what stands on each answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from tests.support.api_table import Program, WebTable, open_web_table
from tests.web.conftest import pair, token
from web.api import PREFIX

CHANGES = {"POST", "PUT", "PATCH", "DELETE"}
OPEN_CHANGES = {"/pair", f"{PREFIX}/pairing"}
"""The changes that need no pairing: pairing itself."""
ENDLESS = {"/live/stream", f"{PREFIX}/events"}
FOREIGN = [
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Referer": "http://evil.example/page"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
]
ONLY_PAIRED = {f"{PREFIX}/devices", f"{PREFIX}/data", f"{PREFIX}/report"}
"""Paths that only paired devices may open; forms ask others for the code instead."""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebTable]:
    with open_web_table(tmp_path_factory.mktemp("walk")) as table:
        table.play_three_turns()
        yield table


def routes(table: WebTable) -> list[tuple[str, str]]:
    """Every method and address, with numbers and names put in."""
    found = []
    for rule in table.app.url_map.iter_rules():
        path = re.sub(r"<int:\w+>", "1", re.sub(r"<path:\w+>", "page.css", re.sub(r"<\w+>", "1-1", rule.rule)))
        found += [(method, path) for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})]
    return found


def changes(table: WebTable) -> list[tuple[str, str]]:
    found = [(method, path) for method, path in routes(table) if method in CHANGES]
    assert len(found) > 40
    return found


def looks(table: WebTable) -> list[str]:
    return [path for method, path in routes(table) if method == "GET" and path not in ENDLESS]


@pytest.fixture
def stranger(table: WebTable) -> FlaskClient:
    client = table.app.test_client()
    client.environ_base["REMOTE_ADDR"] = "192.0.2.7"
    return client


def test_every_change_is_refused_to_strangers(table: WebTable, stranger: FlaskClient) -> None:
    before = table.seen
    for method, path in changes(table):
        if path in OPEN_CHANGES:
            continue
        form = {"csrf": token(stranger), "seen": table.seen}
        for sent in ({"data": form}, {"json": {"seen": table.seen}}, {}):
            assert stranger.open(path, method=method, **sent).status_code in (401, 403), (method, path)  # type: ignore[arg-type]
    assert table.seen == before


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
def test_every_change_is_refused_to_other_sites(table: WebTable, phone: FlaskClient, headers: dict[str, str]) -> None:
    before, own = table.seen, {"csrf": token(phone), "seen": table.seen}
    program = Program(table.app)
    program.pair(table.code)
    for method, path in changes(table):
        if path.startswith(PREFIX):
            answer = program.call(method, path.removeprefix(PREFIX), {"seen": table.seen}, headers=headers)
        else:
            answer = phone.open(path, method=method, data=own, headers=headers)
        assert answer.status_code == 403, (method, path)
    assert table.seen == before


def test_every_change_of_a_phone_needs_the_token_of_its_page(table: WebTable, phone: FlaskClient) -> None:
    before = table.seen
    for method, path in changes(table):
        if not path.startswith(PREFIX):
            for sent in ("", "wrong", "wröng"):
                answer = phone.open(path, method=method, data={"csrf": sent, "seen": table.seen})
                assert answer.status_code == 403, (method, path)
    assert table.seen == before


def test_looking_is_free_and_changes_nothing(table: WebTable, stranger: FlaskClient) -> None:
    before = table.seen
    for path in looks(table):
        with stranger.get(path) as answer:
            assert answer.status_code in ({401} if path in ONLY_PAIRED else {200, 303, 400, 404}), path
    assert table.seen == before


def test_pages_for_strangers_do_not_contain_the_code(table: WebTable, stranger: FlaskClient) -> None:
    code = table.code
    for path in looks(table):
        with stranger.get(path) as answer:
            found = answer.get_data() if answer.mimetype.startswith("text/") else b""
        assert not re.search(rf"(?<!\d){code[:3]} ?{code[3:]}(?!\d)".encode(), found), path


def test_every_answer_has_the_headers_that_keep_browsers_safe(table: WebTable, phone: FlaskClient) -> None:
    for path in [*looks(table), "/nothing", f"{PREFIX}/nothing"]:
        with phone.get(path) as answer:
            policy = answer.headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy and "unsafe" not in policy, path
            assert "frame-ancestors 'none'" in policy and answer.headers["X-Content-Type-Options"] == "nosniff", path
            assert "Access-Control-Allow-Origin" not in answer.headers, path


def test_no_page_has_script_or_style_inside(table: WebTable, phone: FlaskClient) -> None:
    for path in looks(table):
        with phone.get(path) as answer:
            if answer.mimetype != "text/html":
                continue
            page = answer.text
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=|javascript:", page), path


def test_pages_load_no_files_of_other_sites(table: WebTable, phone: FlaskClient) -> None:
    for path in looks(table):
        with phone.get(path) as answer:
            if answer.mimetype in ("text/html", "text/css", "text/javascript"):
                assert not re.search(
                    r'(?:src|href)="(?:https?:)?//|url\(\s*["\']?(?:https?:)?//|@import', answer.text
                ), path


def test_cookies_are_out_of_reach_for_scripts_and_other_sites(stranger: FlaskClient) -> None:
    cookies = [
        *stranger.get("/pair").headers.getlist("Set-Cookie"),
        *stranger.get("/?lang=de").headers.getlist("Set-Cookie"),
    ]
    assert len(cookies) >= 2
    assert all("HttpOnly" in cookie and "SameSite=" in cookie for cookie in cookies)
    assert any("SameSite=Strict" in cookie for cookie in cookies)


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static//etc/passwd",
        "/pictures/../../etc/passwd.jpg",
        "/pictures/..%2f..%2fgames.db.jpg",
        "/pictures/1-1%00.jpg",
        "/history/../app.py",
        f"{PREFIX}/pictures/..%2f..%2fgames.db",
        "/?lang=../../app",
    ],
)
def test_no_path_of_a_visitor_reaches_the_file_system(stranger: FlaskClient, path: str) -> None:
    with stranger.get(path) as answer:
        assert answer.status_code in (200, 308, 404)
        found = answer.data
    assert b"create_app" not in found and b"root:" not in found and b"SQLite" not in found


def test_names_are_shown_as_text(tmp_path: Path) -> None:
    with open_web_table(tmp_path) as table:
        program = Program(table.app)
        program.pair(table.code)
        order = {"seen": table.seen, "players": ["<img src=x>", "B&\"'"]}
        assert program.call("POST", "/commands/new-game", order).status_code == 200
        phone = table.app.test_client()
        pair(phone)
        for path in looks(table):
            with phone.get(path) as answer:
                if answer.mimetype == "text/html":
                    assert "<img src=x>" not in answer.text, path
        assert "&lt;img src=x&gt;" in phone.get("/history").text
