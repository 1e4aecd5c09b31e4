"""The compiled templates that are kept for the next start."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from jinja2 import Environment

from tests.web.conftest import ShownTable
from web import create_app


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "templates"


CODE: dict[tuple[str, str], Any] = {}
"""Compiled templates, by source and name; what is tested is when they are compiled."""


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the templates that are compiled during the test."""
    names: list[str] = []
    original = Environment.compile

    def compile_template(environment: Environment, source: str, name: str, *rest: Any) -> Any:
        names.append(name)
        if (source, name) not in CODE:
            CODE[source, name] = original(environment, source, name, *rest)
        return CODE[source, name]

    monkeypatch.setattr(Environment, "compile", compile_template)
    return names


def load_page(table: ShownTable, folder: Path) -> str:
    """Return the page of a program that has just been started."""
    response = create_app(table, template_cache=folder).test_client().get("/")  # type: ignore[arg-type]
    assert response.status_code == 200
    return response.text


def test_second_start_compiles_no_template(table: ShownTable, folder: Path, compiled: list[str]) -> None:
    load_page(table, folder)
    assert "scoreboard.html" in compiled
    compiled.clear()
    load_page(table, folder)
    assert compiled == []


def test_damaged_file_is_replaced(table: ShownTable, folder: Path, compiled: list[str]) -> None:
    load_page(table, folder)
    count = len(compiled)
    for path in folder.iterdir():
        content = path.read_bytes()
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    compiled.clear()
    load_page(table, folder)
    assert len(compiled) == count
    compiled.clear()
    load_page(table, folder)
    assert compiled == []


def test_empty_file_after_a_power_cut_is_replaced(table: ShownTable, folder: Path, compiled: list[str]) -> None:
    load_page(table, folder)
    for path in folder.iterdir():
        path.write_bytes(b"")
    compiled.clear()
    load_page(table, folder)
    assert "scoreboard.html" in compiled
    assert all(path.stat().st_size for path in folder.iterdir())


def test_other_version_of_jinja_compiles_again(
    table: ShownTable, folder: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    load_page(table, folder)
    count = len(list(folder.iterdir()))
    compiled.clear()
    monkeypatch.setattr("web.app.version", lambda _: "3.2")
    load_page(table, folder)
    assert len(compiled) == len(list(folder.iterdir())) == count


def test_page_is_shown_without_a_writable_cache(table: ShownTable, tmp_path: Path) -> None:
    (tmp_path / "cache").write_bytes(b"")
    load_page(table, tmp_path / "cache")


def test_compiled_templates_do_not_depend_on_our_filters(app: Flask) -> None:
    """Jinja applies filters to constants when it compiles; the cache would keep the result of an older version."""
    called: list[str] = []

    def note_call(name: str) -> Any:
        return lambda *_, **__: called.append(name) or ""

    environment = app.jinja_env
    ours = [name for name, filter_ in environment.filters.items() if not filter_.__module__.startswith("jinja2")]
    ours.append("table_title")  # of the hall, whose templates are in the same folder
    environment.filters.update({name: note_call(name) for name in ours})
    for name in environment.list_templates(extensions=["html"]):
        assert environment.loader is not None
        environment.compile(environment.loader.get_source(environment, name)[0], name)
    assert ours
    assert called == []
