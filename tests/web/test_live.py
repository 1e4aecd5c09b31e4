"""Phones follow the game: by streams, by asking, and again after they slept."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from flask import Flask
from flask.testing import FlaskClient

from engine.limits import MAX_STREAMS
from tests.support import samples
from tests.support.waiting import PATIENCE_S
from tests.web.conftest import ShownTable
from web import create_app
from web.security.server import PageServer
from web.streams import MAX_SHARED_EVENTS


def news(client: FlaskClient, since: str = "") -> dict[str, Any]:
    answer = client.get("/live/state", query_string={"since": since})
    assert answer.status_code == 200
    return dict(json.loads(answer.data))


def test_first_question_brings_all_parts(table: ShownTable, client: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    told = news(client)
    assert set(told["parts"]) == {
        "status",
        "talk",
        "scores",
        "last",
        "board",
        "camera",
        "unseen",
        "chart",
        "turns",
        "rules",
    }
    assert told["phase"] == "turn" and told["events"] == 4


def test_poll_without_a_new_state_has_no_content(table: ShownTable, client: FlaskClient) -> None:
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
    assert len(news(restarted.test_client(), seen)["parts"]) == 10
    restarted.extensions["live"].close()


@contextmanager
def open_stream(port: int, path: str = "/live/stream", since: str = "") -> Iterator[http.client.HTTPResponse]:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)) as connection:
        connection.request("GET", path, headers={"Last-Event-ID": since} if since else {})
        yield connection.getresponse()


def read_event(answer: http.client.HTTPResponse) -> tuple[str, dict[str, Any]]:
    """Id and data of the next event."""
    name = ""
    for line in answer:
        if line.startswith(b"id: "):
            name = line[4:].decode().strip()
        if line.startswith(b"data: {"):
            return name, json.loads(line[6:])
    raise AssertionError("the stream ended")


def test_stream_brings_what_a_sleeping_phone_missed(table: ShownTable, app: Flask, client: FlaskClient) -> None:
    table.show(samples.BEFORE)
    seen = news(client)["id"]
    table.show(samples.LOOKING)
    table.show(samples.MIDGAME)
    with PageServer(app, 0, "127.0.0.1") as server, open_stream(server.port, f"/live/stream?since={seen}") as answer:
        assert answer.readline().startswith(b"retry:")
        name, told = read_event(answer)
    assert name == news(client)["id"] and "scores" in told["parts"]


def test_browser_that_opens_its_stream_again_says_what_it_saw_last(
    table: ShownTable, app: Flask, client: FlaskClient
) -> None:
    table.show(samples.MIDGAME)
    seen = news(client)["id"]
    table.show(samples.LOOKING)
    with PageServer(app, 0, "127.0.0.1") as server, open_stream(server.port, since=seen) as answer:
        _, told = read_event(answer)
    assert "status" in told["parts"] and "board" not in told["parts"]


def test_stream_of_states_is_for_programs(table: ShownTable, app: Flask) -> None:
    table.show(samples.MIDGAME)
    with PageServer(app, 0, "127.0.0.1") as server, open_stream(server.port, "/api/v1/events") as answer:
        assert answer.getheader("Content-Type", "").startswith("text/event-stream")
        assert read_event(answer)[1]["phase"] == "turn"
        table.show(samples.LOOKING)
        assert read_event(answer)[1]["phase"] == "looking"


def test_browser_without_a_free_stream_has_to_poll(table: ShownTable) -> None:
    app = create_app(table, max_streams=1)
    with PageServer(app, 0, "127.0.0.1") as server, open_stream(server.port) as first:
        assert first.status == 200
        for path in ("/live/stream", "/api/v1/events"):
            with open_stream(server.port, path) as second:
                assert second.status == 503 and second.getheader("Retry-After") == "30"
                assert str(MAX_STREAMS).encode() in second.read()


def test_stream_needs_the_page_s_own_server(client: FlaskClient) -> None:
    """Another server would hold a thread for each open page."""
    assert client.get("/live/stream").status_code == 503


def test_stream_ends_with_the_page(app: Flask) -> None:
    with PageServer(app, 0, "127.0.0.1") as server, open_stream(server.port) as answer:
        read_event(answer)
        app.extensions["live"].close()
        assert list(answer) == [b"\n"]


def test_streams_that_name_states_that_never_were_take_no_endless_memory(table: ShownTable, app: Flask) -> None:
    table.show(samples.MIDGAME)
    with PageServer(app, 0, "127.0.0.1") as server:
        for number in range(2 * MAX_SHARED_EVENTS):
            with open_stream(server.port, since=f"made-up-{number}") as answer:
                assert "board" in read_event(answer)[1]["parts"]
    assert len(app.extensions["live"].streams._events) <= MAX_SHARED_EVENTS


def test_message_has_the_change_in_words_for_devices_that_read_it_aloud(table: ShownTable, client: FlaskClient) -> None:
    table.show(samples.BEFORE)
    first = client.get("/live/state").json
    assert "spoken" not in first  # the first message has no change to read aloud
    table.show(samples.MIDGAME)
    spoken = client.get(f"/live/state?since={first['id']}").json["spoken"]
    assert spoken.startswith("Anna: 14 points. Ben: 9 points.") and spoken.endswith("Ben's turn.")
