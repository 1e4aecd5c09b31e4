"""The page "Report a problem": contents shown first, then saved; only for the admin; never with a secret."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from device.report.replay import replay_report
from device.system.wifi import Hotspot
from tests.support.api_table import WebTable, open_web_table
from tests.support.text_table import TextTable
from tests.web.conftest import pair
from web.host_info import HostInfo

WIFI_PASSWORD, HOTSPOT_PASSWORD = "the wifi password", "horn-farm-paste"


@pytest.fixture
def table(tmp_path: Path) -> Iterator[WebTable]:
    """A table with a game, whose doctor and log mention every secret."""
    made: list[WebTable] = []

    def mention_secrets() -> str:
        secrets = made[0].app.extensions["pairing"].secrets
        return "\n".join(("Anna's phone", "fan is quiet", WIFI_PASSWORD, HOTSPOT_PASSWORD, *secrets))

    host = HostInfo(
        hotspot=Hotspot("Tilekeeper", HOTSPOT_PASSWORD, "192.168.4.1"),
        wifi=("Home", WIFI_PASSWORD),
        examine=mention_secrets,
        read_log=mention_secrets,
        find_version=lambda: "1.2",
    )
    with open_web_table(tmp_path, host_info=host) as table:
        made.append(table)
        table.play_three_turns()
        yield table


def save(client: FlaskClient, query: str) -> dict[str, bytes]:
    """Show the contents of a report, save it as the page does, and return the members of the ZIP."""
    shown = client.get(f"/report/preview?game=1&{query}").text
    link = re.search(r'href="(/report/\w+/report\.zip)"', shown)
    assert link
    answer = client.get(link[1])
    assert answer.status_code == 200 and answer.mimetype == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_form_offers_the_turns_with_the_newest_three_chosen(admin: FlaskClient) -> None:
    page = admin.get("/report").text
    assert re.findall(r'name="event" value="(\d)"( checked)?', page) == [
        ("3", " checked"),
        ("2", " checked"),
        ("1", " checked"),
    ]
    assert "3. Anna: PASTE 10F" in re.sub("</?bdi>", "", page)


def test_contents_are_shown_before_they_are_saved(admin: FlaskClient) -> None:
    page = admin.get("/report/preview?game=1&event=3&photos=yes").text
    assert "doctor.txt" in page and "pictures/00003-photo.jpg" in page and "fan is quiet" in page
    assert (
        "The report has no names: they were replaced" in page and "Player 1&#39;s phone" in page and "Anna" not in page
    )
    assert 'src="/report/photos/1/3.jpg"' in page


def test_report_is_what_was_shown(table: WebTable, admin: FlaskClient) -> None:
    link = re.search(r'href="(/report/\w+/report\.zip)"', admin.get("/report/preview?game=1&event=3").text)
    table.end()
    assert link
    with zipfile.ZipFile(io.BytesIO(admin.get(link[1]).data)) as archive:
        assert archive.namelist() == ["report.json", "doctor.txt", "log.txt", "game.json", "pictures/00003-board.jpg"]
        assert archive.read("game.json").count(b'"time"') == 4


@pytest.mark.parametrize("query", ["event=1&event=3&photos=yes", "event=1&names=yes&photos=yes"])
def test_no_secret_is_on_the_page_or_in_the_report(table: WebTable, admin: FlaskClient, query: str) -> None:
    cookie = admin.get_cookie("tilekeeper")
    secrets = [WIFI_PASSWORD, HOTSPOT_PASSWORD, *filter(None, table.app.extensions["pairing"].secrets)]
    assert cookie and len(secrets) >= 6
    shown, members = admin.get(f"/report/preview?game=1&{query}").text, save(admin, query)
    for secret in (*secrets, cookie.value):
        assert secret not in shown
        assert not [name for name, data in members.items() if secret.encode() in data]


def test_names_stay_on_request(admin: FlaskClient) -> None:
    assert b"Anna" not in save(admin, "event=1")["game.json"]
    assert b"Anna" in save(admin, "event=1&names=yes")["game.json"]


def test_saved_report_can_be_replayed(table: WebTable, admin: FlaskClient) -> None:
    link = re.search(r'href="(/report/\w+/report\.zip)"', admin.get("/report/preview?game=1&event=3&photos=yes").text)
    assert link and isinstance(table.board, TextTable)
    header, turns = replay_report(io.BytesIO(admin.get(link[1]).data), _WithoutHint(table.board))
    assert header.program == "1.2" and [turn.recorded for turn in turns] == ["Player 1 played PASTE at 10F for 25"]
    assert turns[0].is_same


class _WithoutHint:
    """The reader of a text table, for pictures of any size."""

    def __init__(self, table: TextTable) -> None:
        self._table = table

    def read(self, _image: object, tiles: object, **_: object) -> object:
        return self._table.read(self._table.capture_still().image, tiles)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "path", ["/report", "/report/preview?game=1", "/report/photos/1/3.jpg", "/report/0/report.zip"]
)
def test_only_the_admin_sees_a_report(table: WebTable, admin: FlaskClient, path: str) -> None:
    guest, stranger = table.app.test_client(), table.app.test_client()
    pair(guest)
    assert guest.get(path).status_code == 403
    assert 'action="/pair"' in stranger.get(path).text
    assert admin.get(path).status_code in (200, 303)


def test_game_that_is_not_there_is_named(admin: FlaskClient) -> None:
    answer = admin.get("/report/preview?game=99")
    assert answer.status_code == 404 and "99" in answer.text


def test_table_without_a_game_has_nothing_to_report(tmp_path: Path) -> None:
    with open_web_table(tmp_path) as table:
        client = table.app.test_client()
        pair(client)
        assert "There is no game yet." in client.get("/report").text
