"""The API operations on stored data and problem reports."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.api_table import Program, WebTable, open_web_table


@pytest.fixture
def table(tmp_path: Path) -> Iterator[WebTable]:
    with open_web_table(tmp_path) as table:
        table.play_three_turns()
        yield table


@pytest.fixture
def admin(table: WebTable) -> Program:
    program = Program(table.app)
    program.pair(table.code)
    return program


@pytest.fixture
def guest(table: WebTable, admin: Program) -> Program:
    assert admin.token
    program = Program(table.app)
    program.pair(table.code)
    return program


def test_stored_data_are_counted_with_their_limits(guest: Program) -> None:
    data = guest.call("GET", "/data").json
    assert (data["games"], data["players"], data["pictures"]) == (1, 2, 6)
    assert data["picture_bytes"] > 0 and (data["max_picture_bytes"], data["max_age_days"]) == (4 * 2**30, 365)


def test_pictures_are_deleted_by_the_admin_only(table: WebTable, admin: Program, guest: Program) -> None:
    assert guest.call("DELETE", "/data/pictures").status_code == 403
    assert len(table.store.list_pictures(1)) == 6
    assert admin.call("DELETE", "/data/pictures").status_code == 204
    assert table.store.list_pictures(1) == ()


def test_report_has_the_chosen_pictures_and_no_names(admin: Program) -> None:
    answer = admin.call("GET", "/report?game=1&events=3&photos=false")
    assert answer.mimetype == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.data)) as archive:
        assert archive.namelist() == ["report.json", "doctor.txt", "log.txt", "game.json", "pictures/00003-board.jpg"]
        assert b"Anna" not in archive.read("game.json")


@pytest.mark.parametrize(("method", "path"), [("delete", "/data/pictures"), ("get", "/report")])
def test_refusal_of_what_only_the_admin_may_do_is_documented(guest: Program, method: str, path: str) -> None:
    assert "403" in guest.call("GET", "/openapi.json").json["paths"][path][method]["responses"]


def test_report_is_for_the_admin_only(table: WebTable, guest: Program) -> None:
    assert guest.call("GET", "/report?game=1").status_code == 403
    assert Program(table.app).call("GET", "/report?game=1").status_code == 401


@pytest.mark.parametrize(("query", "status"), [("", 400), ("game=1&events=a", 400), ("game=9", 404)])
def test_report_about_nothing_is_refused(admin: Program, query: str, status: int) -> None:
    assert admin.call("GET", f"/report?{query}").status_code == status
