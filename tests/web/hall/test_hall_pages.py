"""The pages of a hall: all tables, one table, and what broadcasts read, at once or after the delay."""

from __future__ import annotations

import json
import re
import threading
from dataclasses import replace as replace_play

import pytest
from flask.testing import FlaskClient
from msgspec.structs import replace

from device.catalogue import list_languages
from device.hall.receiving.hall_state import HallTable
from device.session.snapshot import TableSnapshot
from engine.events import EndReason, GameEnded, Passed, RackRevealed
from engine.messages import make_message
from tests.support.engine_table import new_game, written
from tests.support.waiting import PATIENCE_S
from tests.web.hall.conftest import HORN, STARTED, ShownHall, received, state_of


def test_page_has_all_tables_in_order(client: FlaskClient) -> None:
    page = client.get("/").text
    assert page.index("Table 2") < page.index("Table 10")
    assert "Anna" in page and "bag 82" in page and "HORN" in page


def test_change_of_one_table_is_sent_alone(hall: ShownHall, client: FlaskClient) -> None:
    first = client.get("/live/state").json
    assert client.get(f"/live/state?since={first['id']}").status_code == 204
    hall.state = hall.state.apply_game(*received("Table 2", [STARTED, HORN, Passed(1)]))
    hall.look()
    parts = client.get(f"/live/state?since={first['id']}").json["parts"]
    assert set(parts) == {"status", "table-0"} and "<bdi>Ben</bdi>: <bdi>passed</bdi>" in parts["table-0"]


def test_page_of_a_table_that_is_opened_during_a_change_shows_the_new_state(
    hall: ShownHall, client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    hall.state = hall.state.apply_table_state(state_of("Table 2", 2, "ended"), 1.0)
    change, make_snapshot = threading.Thread(target=hall.look), HallTable.make_snapshot

    def make_snapshot_slowly(table: HallTable, delay_s: float) -> TableSnapshot:
        snapshot = make_snapshot(table, delay_s)
        if change.ident is None:
            change.start()
            change.join(0.1)  # it may have to wait until the page is there
        return snapshot

    monkeypatch.setattr(HallTable, "make_snapshot", make_snapshot_slowly)
    client.get("/tables/Table%202/live/state")
    change.join(PATIENCE_S)
    assert client.get("/tables/Table%202/live/state").json["phase"] == "ended"


@pytest.mark.parametrize("path", ["/foyer", "/tables/Table%202/overlay"])
def test_public_page_in_a_paired_browser_stays_as_it_was_loaded(director: FlaskClient, path: str) -> None:
    shown = re.search(r'data-live="([^"]+)"[^>]*data-stream="([^"]+)"', director.get(path).text)
    assert shown is not None
    assert director.get(f"{shown[2]}/state?since={shown[1]}").status_code == 204


def test_invented_id_of_a_state_gets_everything(client: FlaskClient) -> None:
    run_id = client.get("/live/state").json["id"].partition("-")[0]
    assert "tables" in client.get(f"/live/state?since={run_id}-{'9' * 5000}").json["parts"]


def test_new_table_and_result_are_sent(hall: ShownHall, client: FlaskClient) -> None:
    first = client.get("/live/state").json["id"]
    hall.state = hall.state.apply_status("Table 1", is_online=True)
    ended = [STARTED, HORN, RackRevealed(1, ()), RackRevealed(0, ("A",)), GameEnded(EndReason.AGREED)]
    hall.state = hall.state.apply_game(*received("Table 10", ended))
    hall.look()
    parts = client.get(f"/live/state?since={first}").json["parts"]
    assert "Table 1<" in parts["tables"] and "Anna <strong>13" in parts["results"]


def test_table_that_reports_a_fault_needs_help(hall: ShownHall, director: FlaskClient, client: FlaskClient) -> None:
    hall.trouble("Table 2", "camera")
    hall.look()
    page = director.get("/").text
    assert "calls for help: 1" in page and "Needs help:" in page and "camera" in page
    assert not any(text in client.get("/foyer").text for text in ("help", "camera"))


def test_table_that_calls_the_director_needs_help(hall: ShownHall, director: FlaskClient, client: FlaskClient) -> None:
    state = replace(state_of("Table 2", 2), calls_director=True)
    hall.state = hall.state.apply_table_state(state, 0.0)
    hall.look()
    assert "calls for help: 1" in director.get("/").text and "Calls the director" in director.get("/event").text
    assert "director" not in client.get("/foyer").text.partition("<main>")[2]


@pytest.mark.parametrize("path", ["/", "/foyer", "/tables/Table%202", "/tables/Table%202/overlay"])
def test_every_page_is_shown_in_every_language(client: FlaskClient, path: str) -> None:
    for language in list_languages():
        response = client.get(f"{path}?lang={language}")
        assert response.status_code == 200 and "Anna" in response.text
        assert "/dialogs/" not in response.text and "/history" not in response.text


def test_table_has_live_updates_of_its_own(hall: ShownHall, client: FlaskClient) -> None:
    page = client.get("/tables/Table%202").text
    assert 'data-stream="/tables/Table%202/live"' in page
    first = client.get("/tables/Table%202/live/state").json
    hall.state = hall.state.apply_game(*received("Table 2", [STARTED, HORN, Passed(1)]))
    hall.look()
    parts = client.get(f"/tables/Table%202/live/state?since={first['id']}").json["parts"]
    assert "turns" in parts and "rules" not in parts


def test_page_for_pairing_is_that_of_a_hall(client: FlaskClient, director: FlaskClient) -> None:
    page = client.get("/pair").text
    assert "To direct, enter the six digits" in page and "control the game" not in page
    for path in re.findall(r'<a[^>]* href="(/[^"]*)"', page):
        assert client.get(path).status_code == 200, path
    assert "You are the director" not in page and "You are the director" in director.get("/").text


def test_foyer_shows_who_has_to_begin_while_other_tables_play(hall: ShownHall, client: FlaskClient) -> None:
    ended = [STARTED, HORN, RackRevealed(1, ()), RackRevealed(0, ("A",)), GameEnded(EndReason.AGREED)]
    hall.set_pairings("1,2,Anna,Ben\n1,10,David,Eva")

    def read_parts() -> dict[str, str]:
        hall.look()
        return dict(client.get("/foyer/live/state").json["parts"])

    parts = read_parts()
    assert "Eva" in parts["results"] and "Anna" not in parts["results"] and "Eva" not in parts["board"]
    hall.state = hall.state.apply_game(*received("Table 2", ended))
    parts = read_parts()
    assert "Anna <strong>13" in parts["results"] and "Eva" in parts["board"], "nobody plays"
    hall.set_pairings("2,2,Anna,David\n2,10,Ben,Eva")
    hall.edit_event(lambda event: replace(event, sent=2))
    parts = read_parts()
    assert "Eva" in parts["board"] and "13" not in parts["results"]


def test_number_of_a_table_has_the_word_before_it(hall: ShownHall, client: FlaskClient) -> None:
    hall.set_pairings("1,7,David,Eva")
    hall.look()
    for path in ("/foyer", "/event?print"):
        assert '<span class="at">Table 7</span>' in client.get(path).text


def test_page_of_a_table_says_that_nothing_new_can_come(hall: ShownHall, client: FlaskClient) -> None:
    def read_status() -> str:
        hall.look()
        return str(client.get("/tables/Table%202/live/state").json["parts"]["status"])

    assert "·" not in read_status()
    hall.state = hall.state.apply_status("Table 2", is_online=False)
    assert "Ben to play · This table has no connection" in read_status()
    hall.state = hall.state.apply_connection(is_connected=False)
    assert "The broker cannot be reached" in read_status()
    hall.state = hall.state.apply_connection(is_connected=True)
    hall.state = hall.state.apply_status("Table 2", is_online=True)
    assert "·" not in read_status()
    assert "connection" not in client.get("/tables/Table%202/overlay").text.partition("<main>")[2]


def test_position_is_that_of_engines(client: FlaskClient) -> None:
    rows = "15/15/15/15/15/15/15/5HORN6/15/15/15/15/15/15/15"
    assert client.get("/tables/Table%202/position.cgp").text == f"{rows} / 0/14 0 ld english;\n"


def test_gcg_file_of_a_table_grows_with_each_turn(hall: ShownHall, client: FlaskClient) -> None:
    assert "8F HORN +14 14" in client.get("/tables/Table%202/game.gcg").text
    hall.state = hall.state.apply_game(*received("Table 2", [STARTED, HORN, Passed(1)]))
    hall.look()
    assert ">Ben: E - +0 0" in client.get("/tables/Table%202/game.gcg").text
    assert client.get("/tables/Table%2010/game.gcg").status_code == 404


def test_texts_for_broadcasts_have_addresses_that_outlive_the_game(client: FlaskClient) -> None:
    def read(field: str, table: str = "2") -> str:
        return client.get(f"/tables/Table%20{table}/{field}.txt").text

    assert [read(field) for field in ("name-1", "total-1", "last", "bag", "clock-1")] == [
        "Anna", "14", "Anna: HORN +14", "82", "23:59",
    ]  # fmt: skip
    assert read("name-1", "10") == "" and client.get("/tables/Table%202/phase.txt").status_code == 404


def test_state_for_commentators_has_a_play_that_breaks_the_rules(hall: ShownHall, client: FlaskClient) -> None:
    play = replace_play(HORN, play=written(new_game(), "1A HORN"))
    hall.state = hall.state.apply_game(*received("Table 2", [STARTED, play]))
    hall.look()
    turn = json.loads(client.get("/tables/Table%202/state.json").data)["turns"][0]
    assert turn["problems"] == ["The first word does not cover the centre."]


def test_state_for_commentators_says_nothing_about_words(client: FlaskClient) -> None:
    state = json.loads(client.get("/tables/Table%202/state.json").data)
    assert state["players"][0]["total"] == 14 and state["clock"]["running"] == 1
    assert [word["valid"] for turn in state["turns"] for word in turn["words"]] == [None]
    assert not any(word["unlisted"] for turn in state["turns"] for word in turn["words"])


@pytest.mark.parametrize("name", ["Table%203", "..%2F..", "%23"])
def test_unknown_table_is_not_found(client: FlaskClient, name: str) -> None:
    for path in ("", "/overlay", "/state.json", "/position.cgp", "/live/state"):
        assert client.get(f"/tables/{name}{path}").status_code == 404


def test_table_without_a_game_has_no_position(client: FlaskClient) -> None:
    assert client.get("/tables/Table%2010/position.cgp").status_code == 404
    assert client.get("/tables/Table%2010").status_code == 200


def test_delay_covers_everything_but_the_director(hall: ShownHall, client: FlaskClient, director: FlaskClient) -> None:
    hall.delay_s = 60.0
    hall.state = hall.state.apply_game(*received("Table 2", [STARTED, HORN, Passed(1)]))
    hall.look()
    paths = ("/", "/foyer", "/live/state", "/tables/Table%202", "/tables/Table%202/live/state")
    broadcast = ("/tables/Table%202/overlay", "/tables/Table%202/state.json", "/tables/Table%202/position.cgp")
    before = {path: "passed" in client.get(path).text or " 1 ld" in client.get(path).text for path in paths + broadcast}
    assert not any(before.values())
    assert "passed" in director.get("/").text and "passed" in director.get("/tables/Table%202").text
    assert json.loads(director.get("/tables/Table%202/state.json").data)["turn_of"] == 1, "broadcasts are always late"
    hall.look(61.0)
    assert "passed" in client.get("/").text and " 14/0 1 ld" in client.get("/tables/Table%202/position.cgp").text


def test_refused_messages_are_shown_to_the_director_only(
    hall: ShownHall, client: FlaskClient, director: FlaskClient
) -> None:
    hall.state = hall.state.apply_problem("tilekeeper/v2/x/log: no JSON <b>")
    hall.look()
    assert "no JSON &lt;b&gt;" in director.get("/").text and "no JSON" not in client.get("/").text


def test_problem_with_a_sentence_is_shown_in_the_language_of_the_page(hall: ShownHall, director: FlaskClient) -> None:
    hall.state = hall.state.apply_problem(make_message("hall-table-full", "full: {0}, {1}, {2}", "7", 2000, 50))
    hall.look()
    assert "keine weiteren Partien" in director.get("/?lang=de").text


def test_other_hosts_and_forms_without_a_token_are_refused(hall: ShownHall, client: FlaskClient) -> None:
    assert client.get("/", headers={"Host": "evil.example"}).status_code == 421
    assert client.post("/pair", data={"code": hall.app.extensions["pairing"].code}).status_code == 403
    assert "Content-Security-Policy" in client.get("/").headers


def test_hall_leaves_the_cookie_of_a_table_on_the_same_machine(director: FlaskClient) -> None:
    director.set_cookie("tilekeeper", "of-the-table")
    assert "/event/new" in director.get("/event").text
    cookie = director.get_cookie("tilekeeper")
    assert cookie is not None and cookie.value == "of-the-table"
