"""Rounds, standings and results on the pages of a hall, for the director and for everybody."""

from __future__ import annotations

import io
import re
import time
import zipfile
from collections.abc import Sequence
from urllib.parse import parse_qs, urlsplit

import pytest
from flask.testing import FlaskClient
from msgspec.structs import replace as replace_struct

from device.hall.messages import OfferPairing, OrderAnswer
from device.hall.receiving.event import decide
from device.hall.receiving.pairings import import_pairings
from device.hall.receiving.receiver import HallReceiver, load_state
from device.settings import HallSettings
from device.storage.errors import make_full_error
from engine.events import EndReason, Event, GameEnded, PositionEntered, RackRevealed, Ref, ScoreCorrected
from tests.web.hall.conftest import HORN, STARTED, ShownHall, received, replace, state_of

ENDED = [STARTED, HORN, RackRevealed(1, ()), RackRevealed(0, ("A",)), GameEnded(EndReason.AGREED)]
DOCUMENT = {"Sec-Fetch-Dest": "document"}


def post(client: FlaskClient, path: str, **fields: object) -> int:
    """Send a form as the page does, and return the status."""
    token = re.search(r'name="csrf" value="([^"]+)"', client.get("/event").text)
    assert token
    return client.post(path, data={"csrf": token[1], **fields}, headers=DOCUMENT).status_code


def list_names(page: str) -> list[str]:
    return re.findall(r"<th scope=\"row\">(.*?)</th>", page)


def test_director_saves_a_round_and_enters_a_result(hall: ShownHall, director: FlaskClient) -> None:
    assert post(director, "/event/round-1/pairings", pairings="Table 2,Anna,Ben\n5,Cleo,Dan\n,Eve,") == 303
    assert post(director, "/event/round-1/result", player="cleo", points=["300", "410"]) == 303
    hall.state = hall.state.apply_game(*received("Table 2", ENDED))
    hall.look()
    assert list_names(director.get("/event").text) == ["1. Dan", "2. Eve", "3. Anna", "4. Ben", "5. Cleo"]
    answer = director.get("/event/round-1.csv")
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8" and answer.text.startswith("\ufeffround,table,")
    csv = answer.text.splitlines()
    assert csv[1:] == ["1,Table 2,Anna,13,Ben,0", "1,5,Cleo,300,Dan,410", "1,,Eve,,,"]
    german = director.get("/event/round-1.csv", headers={"Accept-Language": "de-AT"}).text.splitlines()
    assert german[1:] == ["1;Table 2;Anna;13;Ben;0", "1;5;Cleo;300;Dan;410", "1;;Eve;;;"]


def test_saved_round_leaves_the_earlier_rounds(hall: ShownHall, director: FlaskClient) -> None:
    post(director, "/event/round-1/pairings", pairings="Table 2,Anna,Ben")
    post(director, "/event/round-2/pairings", pairings="Table 2,Ben,Cleo")
    assert sorted(hall.state.event.rounds) == [1, 2]
    assert post(director, "/event/undo") == 303
    assert sorted(hall.state.event.rounds) == [1]


def test_misspelt_name_is_named_after_saving(director: FlaskClient) -> None:
    post(director, "/event/round-1/pairings", pairings="Table 2,Anna,Ben\n,Eve,")
    assert "Not paired" not in director.get("/event?round=1").text, "all players of the first round are new"
    post(director, "/event/round-2/pairings", pairings="Table 2,Anna,Bem\n,Eve,")
    assert "New: Bem. Not paired: Ben.</p>" in director.get("/event?round=2").text
    post(director, "/event/round-2/pairings", pairings="Table 2,Anna,ben\n,Eve,")
    assert "Not paired" not in director.get("/event?round=2").text


def test_round_is_said_to_be_complete(hall: ShownHall, director: FlaskClient) -> None:
    hall.set_pairings("1,Table 2,Anna,Ben\n1,,Eve,")
    hall.look()
    assert "is complete" not in director.get("/event").text
    post(director, "/event/round-1/result", player="Anna", points=["400", "300"])
    assert "Round 1 is complete" in director.get("/event").text


def test_page_shows_the_round_that_is_played(hall: ShownHall, director: FlaskClient) -> None:
    hall.set_pairings("1,Table 2,Anna,Ben\n1,,Eve,\n2,Table 2,Ben,Eve\n2,,Anna,")
    hall.look()
    assert "/event/round-1/result" in director.get("/event").text
    post(director, "/event/round-1/result", player="Anna", points=["400", "300"])
    assert "/event/round-2/result" in director.get("/event").text, "the bye of round 1 is no open game"
    assert "/event/round-3/pairings" in director.get("/event?round=3").text


def test_page_after_a_form_shows_its_change(hall: ShownHall, director: FlaskClient, client: FlaskClient) -> None:
    hall.set_delay(60.0)
    assert post(director, "/event/round-3/pairings", pairings="5,Cleo,Dan") == 303
    page = director.get("/event").text
    assert "5,Cleo,Dan\n</textarea>" in page and "/event/round-3/send" in page
    assert "Cleo" not in client.get("/event").text, "viewers see it after the delay"


def receive_ended_game(hall: ShownHall, ended: Sequence[Event] = ENDED) -> None:
    """Let the hall receive and store an ended game of Table 2."""
    _, events = received("Table 2", ended)
    game = hall.games.add_log("Table 2", "a", 1, events)
    assert game is not None
    hall.state = hall.state.apply_game(game, events)
    hall.look()


def read_members(client: FlaskClient) -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(client.get("/event/round-1.zip").data))


def test_file_for_tsh_is_offered_if_the_pairings_came_from_there(hall: ShownHall, director: FlaskClient) -> None:
    for pairings, is_offered in (("1,Table 2,Anna,Ben", False), ("Anna 1500 2;\nBen 1400 1;", True)):
        hall.set_pairings(pairings)
        hall.look()
        assert ("round-1.tsh" in director.get("/event").text) == is_offered
    hall.edit_event(lambda event: decide(event, 1, "Anna", points=(400, 380)))
    hall.look()
    assert director.get("/event/round-1.tsh").text == "1 400 2 380\n"


def test_games_of_a_round_are_gcg_files(hall: ShownHall, client: FlaskClient) -> None:
    hall.set_pairings("1,Table 2,Anna,Ben")
    receive_ended_game(hall)
    members = read_members(client)
    assert members.namelist() == ["round-1-table-Table-2-Anna-Ben.gcg"] and b"8F HORN" in members.read(
        members.namelist()[0]
    )
    assert client.get("/event/round-2.zip").status_code == 404 == client.get("/event/round-2.csv").status_code


def test_game_is_opened_in_woogles(hall: ShownHall, client: FlaskClient) -> None:
    hall.set_pairings("1,Table 2,Anna,Ben")
    receive_ended_game(hall)
    link = re.search(r'href="(/event/games/\d+/woogles)"', client.get("/event").text)
    assert link is not None
    address = urlsplit(client.get(link[1]).location)
    assert address.hostname == "woogles.io" and "8F HORN +14" in parse_qs(address.query)["gcg"][0]
    assert client.get("/event/games/9/woogles").status_code == 404


def test_games_of_a_round_are_sent_before_the_clock_is_set(
    hall: ShownHall, client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    hall.set_pairings("1,Table 2,Anna,Ben")
    receive_ended_game(hall)
    monkeypatch.setattr(time, "time", lambda: 3600.0)
    assert len(read_members(client).namelist()) == 1


def test_file_of_a_round_says_which_game_gcg_cannot_describe(hall: ShownHall, client: FlaskClient) -> None:
    hall.set_pairings("1,Table 2,Anna,Ben")
    receive_ended_game(hall, [STARTED, PositionEntered(HORN.play.tiles, (14, 0), 1), HORN, *ENDED[2:]])
    members = read_members(client)
    assert [name.rpartition(".")[2] for name in members.namelist()] == ["txt"]
    assert b"Anna - Ben: This game started from a position" in members.read(members.namelist()[0])


def test_game_whose_result_was_entered_is_among_those_of_its_round(hall: ShownHall, director: FlaskClient) -> None:
    hall.set_pairings("1,Table 2,Ben,Anna")
    receive_ended_game(hall)
    post(director, "/event/round-1/result", player="Ben", points=["401", "400"])
    assert len(read_members(director).namelist()) == 1


@pytest.mark.parametrize("points", [["1"], ["1", "99999999999999999999"], ["1", "x"], ["1", "000001999999"], ["1", ""]])
def test_impossible_result_is_refused(hall: ShownHall, director: FlaskClient, points: list[str]) -> None:
    hall.set_pairings("1,Table 2,Anna,Ben")
    hall.look()
    assert post(director, "/event/round-1/result", player="Anna", points=points) == 409
    assert hall.state.event.rounds[1][0].points is None


def test_result_with_one_empty_field_is_refused_with_the_reason(hall: ShownHall, director: FlaskClient) -> None:
    hall.set_pairings("1,Table 2,Anna,Ben")
    hall.look()
    token = re.search(r'name="csrf" value="([^"]+)"', director.get("/event").text)
    assert token
    fields = {"csrf": token[1], "player": "Anna", "points": ["400", ""]}
    assert "Enter the points of both players" in director.post("/event/round-1/result", data=fields).text


def test_result_by_hand_is_removed_with_empty_points(hall: ShownHall, director: FlaskClient) -> None:
    hall.set_pairings("1,Table 2,Anna,Ben")
    receive_ended_game(hall)
    post(director, "/event/round-1/result", player="Anna", points=["401", "400"])
    assert "401 : 400</strong> by hand" in director.get("/event").text
    post(director, "/event/round-1/result", player="Anna", points=["", ""])
    assert "13 : 0</strong> from the table" in director.get("/event").text


def test_correction_after_the_end_changes_the_standings(hall: ShownHall, client: FlaskClient) -> None:
    hall.set_pairings("1,Table 2,Anna,Ben")
    for events, spread in ((ENDED, "+13"), ([*ENDED, ScoreCorrected(Ref(1, 0), 50)], "+49")):
        hall.state = hall.state.apply_game(*received("Table 2", events))
        hall.look()
        assert spread in client.get("/event/live/state").json["parts"]["standings"]
    assert len(hall.state.results) == 1


def test_results_that_do_not_count_are_shown_to_the_director_only(
    hall: ShownHall, director: FlaskClient, client: FlaskClient
) -> None:
    hall.set_pairings("1,Table 2,Ana,Ben")
    hall.state = hall.state.apply_game(*received("Table 2", ENDED))
    hall.look()
    assert "Results that do not count" in director.get("/event/live/state").json["parts"]["uncounted"]
    assert "uncounted" not in client.get("/event").text


def test_new_event_counts_games_that_end_later_and_can_be_undone(hall: ShownHall, director: FlaskClient) -> None:
    hall.set_pairings("1,Table 2,Anna,Ben")
    receive_ended_game(hall)
    assert post(director, "/event/new") == 303
    assert list_names(director.get("/event").text) == [] and hall.state.event.rounds == {}
    assert post(director, "/event/undo") == 303
    assert list_names(director.get("/event").text) == ["1. Anna", "2. Ben"]


def test_director_counts_another_game_of_a_pairing(hall: ShownHall, director: FlaskClient) -> None:
    hall.set_pairings("1,Table 2,Anna,Ben")
    hall.state = hall.state.apply_game(*received("Table 2", ENDED))
    hall.look()
    first = hall.state.results[0].game
    hall.state = hall.state.apply_game(*received("Table 2", [*ENDED, ScoreCorrected(Ref(1, 0), 50)], 300.0))
    hall.look()
    page = director.get("/event").text
    assert "49 : 0</strong> from the table" in page and f'value="1-{first}"' in page
    assert post(director, "/event/count", choice=f"1-{first}") == 303
    assert "13 : 0</strong> from the table" in director.get("/event").text
    assert post(director, "/event/count", choice="1-x") == 404


def test_game_without_unplayed_letters_can_be_counted_as_it_is(hall: ShownHall, director: FlaskClient) -> None:
    hall.set_pairings("1,Table 2,Anna,Ben")
    hall.state = hall.state.apply_game(*received("Table 2", [STARTED, HORN, GameEnded(EndReason.AGREED)]))
    hall.look()
    page = director.get("/event").text
    assert "14 : 0</strong> unplayed letters missing" in page
    assert post(director, "/event/count", choice=f"1-{hall.state.results[0].game}") == 303
    assert "14 : 0</strong> from the table" in director.get("/event").text


def test_refused_pairings_stay_in_the_form(hall: ShownHall, director: FlaskClient) -> None:
    token = re.search(r'name="csrf" value="([^"]+)"', director.get("/event").text)
    assert token
    fields = {"csrf": token[1], "pairings": "1,Anna,Ben\n2,Anna,Cleo"}
    page = director.post("/event/round-1/pairings", data=fields, headers=DOCUMENT)
    assert page.status_code == 409 and "2,Anna,Cleo</textarea>" in page.text
    assert "Anna has two games in round 1." in page.text and hall.state.event.rounds == {}


def test_pairings_that_another_director_has_changed_are_refused(hall: ShownHall, director: FlaskClient) -> None:
    page = director.get("/event").text
    before = re.search(r'name="before" value="([^"]+)"', page)
    assert before
    hall.set_pairings("1,1,Anna,Ben")
    assert post(director, "/event/round-1/pairings", pairings="1,Cleo,Dan", before=before[1]) == 409
    assert post(director, "/event/round-1/pairings", pairings="1,Anna,Ben", before=before[1]) == 303
    assert hall.state.event.players == ["Anna", "Ben"]


def test_row_of_a_pairing_says_what_its_table_does(hall: ShownHall, director: FlaskClient) -> None:
    def read_row() -> str:
        hall.look()
        row = re.search(r'<p class="state"[^>]*>(.*?)</p>', director.get("/event").text, re.DOTALL)
        assert row
        return " ".join(re.sub("<[^>]*>", "", row[1]).split())

    offer = OfferPairing(("Cleo", "Dan"), 1, False)
    hall.set_pairings("1,Table 10,Cleo,Dan")
    assert read_row() == "not begun"
    hall.edit_event(lambda event: replace_struct(event, sent=1))
    hall.state = hall.state.apply_table_state(replace_struct(state_of("Table 10", 0, "lobby"), game=0), 0.0)
    assert read_row() == "does not have the pairing yet"
    answer = OrderAnswer(table="Table 10", number=1, accepted=False, reason="x", key="order-no-hall")
    hall.state = hall.state.apply_answer(answer)
    assert read_row().startswith("refused No hall may direct this table")
    state = replace_struct(state_of("Table 10", 0, "lobby"), game=0, offer=offer)
    hall.state = hall.state.apply_table_state(state, 0.0)
    assert read_row() == "ready"
    hall.state = hall.state.apply_table_state(replace_struct(state_of("Table 10", 2), offer=offer), 0.0)
    assert read_row() == "plays another game"
    hall.state = hall.state.apply_status("Table 10", is_online=False)
    assert read_row() == "No connection"


def test_game_that_waits_for_the_start_is_marked(hall: ShownHall, director: FlaskClient) -> None:
    hall.set_pairings("1,Table 2,Anna,Ben")
    hall.state = hall.state.apply_game(*received("Table 2", [STARTED], 200.0))
    hall.state = hall.state.apply_table_state(state_of("Table 2", 1, "paused"), 0.0)
    hall.look()
    assert "waits for the start" in director.get("/event").text


def test_round_is_sent_and_started(hall: ShownHall, director: FlaskClient) -> None:
    hall.set_pairings("1,table 2,Anna,Ben\n1,Tisch 10,Cleo,Dan\n1,,Eve,")
    hall.look()
    assert post(director, "/event/round-1/send") == 303
    assert "<button disabled>Sent</button>" in director.get("/event").text
    assert hall.state.find_offer("Table 2") == OfferPairing(("Anna", "Ben"), 1, False)
    assert post(director, "/event/round-1/start") == 303
    assert hall.state.find_offer("Table 10") == OfferPairing(("Cleo", "Dan"), 1, True)
    assert post(director, "/event/round-2/start") == 404


def test_standings_and_running_games_are_live(hall: ShownHall, client: FlaskClient) -> None:
    hall.set_pairings("1,Table 2,Ben,Anna\n2,Table 10,Cleo,Dan")
    hall.look()
    page = client.get("/event").text
    assert 'data-stream="/event/live"' in page and "Anna <strong>14</strong>" in page and "playing" in page
    first = client.get("/event/live/state").json
    assert client.get(f"/event/live/state?since={first['id']}").status_code == 204
    hall.state = hall.state.apply_game(*received("Table 2", ENDED))
    hall.look()
    parts = client.get(f"/event/live/state?since={first['id']}").json["parts"]
    assert set(parts) == {"status", "standings", "round-1", "round-2"}
    assert parts["standings"].index("Anna") < parts["standings"].index("Ben") and "playing" not in parts["round-1"]


def test_running_game_is_shown_in_one_round_of_players_who_meet_twice(hall: ShownHall, client: FlaskClient) -> None:
    hall.set_pairings("1,Table 10,Anna,Ben\n2,Table 2,Anna,Ben\n3,,Ben,Anna")
    hall.look()
    parts = client.get("/event/live/state").json["parts"]
    assert ["playing" in parts[f"round-{number}"] for number in (1, 2, 3)] == [True, False, False]


def test_director_forgets_a_table(hall: ShownHall, director: FlaskClient) -> None:
    assert "Forget this table" not in director.get("/event").text
    hall.state = hall.state.apply_status("Table 2", is_online=False)
    hall.look()
    assert "Forget this table" in director.get("/event").text
    for name in ("Table 2", "Table 10"):
        assert post(director, "/event/forget", table=name) == 303
    assert list(hall.state.tables) == ["Table 10"], "a table that is online stays"


@pytest.mark.parametrize(("title", "is_online"), [("A1", False), ("", None)])
def test_table_with_a_title_or_without_a_known_status_is_not_forgotten(
    hall: ShownHall, director: FlaskClient, title: str, is_online: bool | None
) -> None:
    hall.state = hall.state.apply_table_state(replace_struct(state_of("Table 2", 2), name=title), 0.0)
    table = replace(hall.state.tables["Table 2"], is_online=is_online)
    hall.state = replace(hall.state, tables={**hall.state.tables, "Table 2": table})
    hall.look()
    assert "Forget this table" not in director.get("/event").text
    assert post(director, "/event/forget", table="Table 2") == 303
    assert "Table 2" in hall.state.tables


def test_names_of_the_director_are_shown_everywhere(
    hall: ShownHall, director: FlaskClient, client: FlaskClient
) -> None:
    state = replace_struct(state_of("Table 2", 2), name="Final")
    hall.state = hall.state.apply_table_state(state, 0.0)
    hall.set_pairings("1,table 2,Anna,Ben\n2,final,Cleo,Dan")
    hall.look()
    assert 'Final <span class="own">Table 2</span>' in client.get("/").text
    assert "<title>Final" in client.get("/tables/Table%202").text
    assert client.get("/event").text.count('<span class="at">Final</span>') == 2
    page = director.get("/event").text
    assert 'value="Table 2">Table 2 (Final)<' in page and page.count('<span class="at">Final</span>') == 1
    hall.state = hall.state.apply_game(*received("Table 2", ENDED))
    hall.look()
    assert "Final</span>" in client.get("/").text.partition('id="results"')[2]


@pytest.mark.parametrize("name", ["Table 2", "table 2", "FINAL"])
def test_name_of_another_table_is_refused(hall: ShownHall, director: FlaskClient, name: str) -> None:
    hall.state = hall.state.apply_table_state(replace_struct(state_of("Table 2", 2), name="Final"), 0.0)
    hall.look()
    assert post(director, "/event/name", table="Table 10", name=name) == 409 and hall.names == []
    assert post(director, "/event/name", table="Table 2", name=name) == 303


@pytest.mark.parametrize("fields", [{"table": "nowhere", "name": "Final"}, {"table": "Table 2", "name": "a/b"}])
def test_name_for_no_table_is_refused(hall: ShownHall, director: FlaskClient, fields: dict[str, str]) -> None:
    assert post(director, "/event/name", **fields) == 409 and hall.names == []


def test_director_is_told_that_the_disk_is_full(
    hall: ShownHall, director: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise make_full_error("hall.db")

    monkeypatch.setattr(hall, "edit_event", fail)
    token = re.search(r'name="csrf" value="([^"]+)"', director.get("/event").text)
    assert token
    response = director.post("/event/round-1/pairings", data={"csrf": token[1], "pairings": ""})
    assert response.status_code == 503 and "The disk with hall.db is full" in response.text


def test_viewers_change_nothing(client: FlaskClient) -> None:
    assert "<form" not in client.get("/event").text
    for path in (
        "round-1/pairings",
        "new",
        "undo",
        "round-1/result",
        "delay",
        "name",
        "round-1/send",
        "round-1/start",
        "count",
        "forget",
    ):
        assert client.post(f"/event/{path}", data={"pairings": "1,1,A,B"}).status_code == 403


def test_pairings_and_results_are_kept() -> None:
    with HallReceiver(":memory:", HallSettings("127.0.0.1", 1)) as hall:
        hall.edit_event(lambda event: import_pairings(event, "1,1,Anna,Ben"))
        hall.set_delay(60.0)
        hall.receive("tilekeeper/v2/Table 2/log", make_log(), False)
        assert [result.totals for result in hall.state.results] == [(13, 0)]
        assert load_state(hall.games).results == hall.state.results
        assert load_state(hall.games).event == hall.state.event


def make_log() -> bytes:
    """Return the log of an ended game as its table sends it."""
    from device.hall.messages import make_table_log

    return make_table_log("Table 2", "a", 1, received("Table 2", ENDED)[1]).publication.payload
