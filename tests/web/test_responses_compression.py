"""Pages are sent compressed to whoever takes them so, and the first visit is light."""

from __future__ import annotations

import gzip
import re
from urllib.parse import urljoin

import pytest
from flask.testing import FlaskClient

from tests.support import samples
from tests.web.conftest import ShownTable

GZIP = {"Accept-Encoding": "gzip, br"}
MOST_BYTES = 150_000


def visit(client: FlaskClient, path: str) -> dict[str, int]:
    """Return the number of bytes that a browser loads with a page, by address."""
    loaded: dict[str, int] = {}
    wanted = [path]
    while wanted:
        address = wanted.pop()
        if address in loaded:
            continue
        with client.get(address, headers=GZIP) as answer:
            assert answer.status_code == 200, address
            data, kind = answer.data, answer.mimetype
            loaded[address] = len(data) + len(str(answer.headers))
        if kind != "text/html":
            continue
        html = gzip.decompress(data).decode()
        links = re.findall(r'<(?:script|img|image)\b[^>]*?(?:src|href)="([^"]+)"|<link[^>]*?href="([^"]+)"', html)
        wanted += [urljoin(address, script or link) for script, link in links if "/pictures/" not in script]
    return loaded


@pytest.mark.parametrize("path", ["/", "/big", "/pair", "/history", "/records"])
@pytest.mark.parametrize("name", ["empty", "phony", "ended"])
def test_first_visit_is_light(table: ShownTable, client: FlaskClient, path: str, name: str) -> None:
    table.show(samples.EVERY[name])
    loaded = visit(client, path)
    assert len(loaded) > 3
    assert sum(loaded.values()) < MOST_BYTES, loaded


def test_whoever_takes_no_gzip_gets_the_text(table: ShownTable, client: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    plain, packed = client.get("/"), client.get("/", headers=GZIP)
    assert "Content-Encoding" not in plain.headers and packed.headers["Content-Encoding"] == "gzip"
    assert len(packed.data) < len(plain.data) / 3
    assert all("Accept-Encoding" in answer.headers["Vary"] for answer in (plain, packed))
    refused = client.get("/", headers={"Accept-Encoding": "gzip;q=0"})
    assert "Content-Encoding" not in refused.headers


def test_style_sheet_is_asked_for_only_once(client: FlaskClient) -> None:
    with client.get("/static/page.css", headers=GZIP) as first:
        assert b"--ground" in gzip.decompress(first.data)
    with client.get("/static/page.css", headers={**GZIP, "If-None-Match": first.headers["ETag"]}) as again:
        assert again.status_code == 304 and again.data == b""


def test_streams_and_pictures_are_sent_as_they_are(table: ShownTable, client: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    assert "Content-Encoding" not in client.get("/pictures/1-3.jpg", headers=GZIP).headers
    with client.get("/live/stream", headers=GZIP, buffered=False) as stream:
        assert "Content-Encoding" not in stream.headers
