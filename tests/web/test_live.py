"""Phones follow the game: by streams, by asking, and again after they slept."""

from __future__ import annotations

import json
from typing import Any

from flask import Flask
from flask.testing import FlaskClient

from tests.support import samples
from tests.web.conftest import ShownTable
from web import create_app
from web.i18n import languages

TEXTS = languages()["en"]


def news(client: FlaskClient, since: str = "") -> dict[str, Any]:
    answer = client.get("/live/state", query_string={"since": since})
    assert answer.status_code == 200
    return dict(json.loads(answer.data))


def test_first_question_brings_all_parts(table: ShownTable, client: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    told = news(client)
    assert set(told["parts"]) == {"status", "talk", "scores", "last", "board", "camera", "unseen", "chart", "turns"}
    assert told["phase"] == "turn" and told["events"] == 4


def test_nothing_new_is_no_content(table: ShownTable, client: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    assert client.get("/live/state", query_string={"since": news(client)["id"]}).status_code == 204


def test_only_the_parts_that_changed_are_sent(table: ShownTable, client: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    seen = news(client)["id"]
    table.show(samples.LOOKING)
    assert set(news(client, seen)["parts"]) == {"status"}


def test_id_from_before_a_restart_brings_everything(table: ShownTable, client: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    seen = news(client)["id"]
    restarted = create_app(table)
    assert len(news(restarted.test_client(), seen)["parts"]) == 9
    restarted.extensions["live"].close()


def first_events(app: Flask, since: str) -> list[str]:
    stream = app.extensions["live"].stream_messages(since, lambda: False, TEXTS)
    assert stream is not None
    found = [next(stream), next(stream)]
    stream.close()
    return found


def test_stream_brings_what_a_sleeping_phone_missed(table: ShownTable, app: Flask, client: FlaskClient) -> None:
    table.show(samples.BEFORE)
    seen = news(client)["id"]
    table.show(samples.LOOKING)
    table.show(samples.MIDGAME)
    retry, event = first_events(app, seen)
    assert retry.startswith("retry:")
    assert event.startswith(f"id: {news(client)['id']}\ndata: ")
    assert event.endswith("\n\n")
    told = json.loads(event.split("data: ", 1)[1])
    assert "scores" in told["parts"]


def test_streams_are_bounded_and_the_rest_are_told_to_ask(table: ShownTable) -> None:
    app = create_app(table, max_streams=2)
    page = app.extensions["live"]
    first, second = page.stream_messages("", lambda: False, TEXTS), page.stream_messages("", lambda: False, TEXTS)
    answer = app.test_client().get("/live/stream")
    assert answer.status_code == 503 and "Retry-After" in answer.headers
    first.close()
    first.close()
    third = page.stream_messages("", lambda: False, TEXTS)
    assert third is not None and page.stream_messages("", lambda: False, TEXTS) is None
    second.close()
    third.close()
    page.close()


def test_stream_ends_with_its_phone_and_with_the_page(app: Flask) -> None:
    page = app.extensions["live"]
    assert list(page.stream_messages("", lambda: True, TEXTS)) == ["retry: 2000\n\n"]
    waiting = page.stream_messages("", lambda: False, TEXTS)
    next(waiting)
    page.close()
    assert list(waiting) == []


def test_browser_that_opens_its_stream_again_says_what_it_saw_last(table: ShownTable, client: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    seen = news(client)["id"]
    table.show(samples.LOOKING)
    with client.get("/live/stream", headers={"Last-Event-ID": seen}, buffered=False) as answer:
        parts = answer.iter_encoded()
        assert next(parts).startswith(b"retry:")
        event = next(parts).decode()
    told = json.loads(event.split("data: ", 1)[1])
    assert "status" in told["parts"] and "board" not in told["parts"]
