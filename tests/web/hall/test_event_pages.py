"""Pairings, standings and results on the pages of a hall, for the director and for everybody."""

from __future__ import annotations

import io
import re
import time
import zipfile
from collections.abc import Sequence
from dataclasses import replace

import pytest
from flask.testing import FlaskClient
from msgspec.structs import replace as replace_struct

from device.hall.director import OfferPairing, SetTableName, StartClock
from device.hall.messages import OrderAnswer
from device.hall.receiving.hall_state import OrderStatus, SentOrder
from device.hall.receiving.hall_updates import apply_answer, apply_game, apply_orders, apply_status, apply_table_state
from device.hall.receiving.receiver import HallReceiver, load_state
from device.settings import HallSettings
from device.storage.errors import make_full_error
from engine.events import EndReason, Event, GameEnded, PositionEntered, RackRevealed, Ref, ScoreCorrected
from tests.web.hall.conftest import HORN, STARTED, ShownHall, received, state_of

ENDED = [STARTED, HORN, RackRevealed(1, ()), RackRevealed(0, ("A",)), GameEnded(EndReason.AGREED)]
DOCUMENT = {"Sec-Fetch-Dest": "document"}


def post(client: FlaskClient, path: str, **fields: object) -> int:
    """Send a form as the page does, and return the status."""
    token = re.search(r'name="csrf" value="([^"]+)"', client.get("/event").text)
    assert token
    return client.post(path, data={"csrf": token[1], **fields}, headers=DOCUMENT).status_code


def test_director_sets_pairings_and_enters_a_result(hall: ShownHall, director: FlaskClient) -> None:
    assert post(director, "/event/pairings", pairings="1,Table 2,Anna,Ben\n1,5,Cleo,Dan\n1,,Eve,") == 303
    assert post(director, "/event/result", player=["Cleo", "Dan"], points=["300", "410"]) == 303
    hall.state = apply_game(hall.state, *received("Table 2", ENDED))
    hall.look()
    page = director.get("/event").text
    assert re.findall(r"<th scope=\"row\">(.*?)</th>", page) == ["1. Dan", "2. Eve", "3. Anna", "4. Ben", "5. Cleo"]
    answer = director.get("/event/round-1.csv")
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8" and answer.text.startswith("\ufeffround,table,")
    csv = answer.text.splitlines()
    assert csv[1:] == ["1,Table 2,Anna,13,Ben,0", "1,5,Cleo,300,Dan,410", "1,,Eve,,,"]


def test_page_after_a_form_shows_its_change(hall: ShownHall, director: FlaskClient, client: FlaskClient) -> None:
    hall.set_delay(60.0)
    assert post(director, "/event/pairings", pairings="3,5,Cleo,Dan") == 303
    page = director.get("/event").text
    assert "3,5,Cleo,Dan\n</textarea>" in page and "/event/round-3/send" in page
    assert "Cleo" not in client.get("/event").text, "viewers see it after the delay"


def receive_ended_game(hall: ShownHall, ended: Sequence[Event] = ENDED) -> None:
    """Let the hall receive and store an ended game of Table 2."""
    _, events = received("Table 2", ended)
    game = hall.games.add_events("Table 2", "a", 1, events)
    assert game is not None
    hall.state = apply_game(hall.state, game, events)


def test_games_of_a_round_are_gcg_files(hall: ShownHall, client: FlaskClient) -> None:
    hall.set_pairings("1,Table 2,Anna,Ben")
    receive_ended_game(hall)
    hall.look()
    members = zipfile.ZipFile(io.BytesIO(client.get("/event/round-1.zip").data))
    assert members.namelist() == ["round-1-1.gcg"] and b"8F HORN" in members.read("round-1-1.gcg")
    assert client.get("/event/round-2.zip").status_code == 404 == client.get("/event/round-2.csv").status_code


def test_games_of_a_round_are_sent_before_the_clock_is_set(
    hall: ShownHall, client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    hall.set_pairings("1,Table 2,Anna,Ben")
    receive_ended_game(hall)
    hall.look()
    monkeypatch.setattr(time, "time", lambda: 3600.0)
    assert zipfile.ZipFile(io.BytesIO(client.get("/event/round-1.zip").data)).namelist() == ["round-1-1.gcg"]


def test_file_of_a_round_says_which_game_gcg_cannot_describe(hall: ShownHall, client: FlaskClient) -> None:
    hall.set_pairings("1,Table 2,Anna,Ben")
    position = PositionEntered(HORN.play.tiles, (14, 0), 1)
    receive_ended_game(hall, [STARTED, position, *ENDED[2:]])
    hall.look()
    members = zipfile.ZipFile(io.BytesIO(client.get("/event/round-1.zip").data))
    assert members.namelist() == ["round-1-1.txt"]
    assert b"Anna - Ben: This game started from a position" in members.read("round-1-1.txt")


def test_game_whose_result_was_entered_is_among_those_of_its_round(hall: ShownHall, director: FlaskClient) -> None:
    hall.set_pairings("1,Table 2,Anna,Ben")
    receive_ended_game(hall)
    post(director, "/event/result", player=["Ben", "Anna"], points=["401", "400"], round=1)
    hall.look()
    members = zipfile.ZipFile(io.BytesIO(director.get("/event/round-1.zip").data))
    assert members.namelist() == ["round-1-1.gcg"]


@pytest.mark.parametrize(
    "fields",
    [
        {"player": ["Anna"], "points": ["1"]},
        {"player": ["Anna", "anna"], "points": ["1", "2"]},
        {"player": ["Anna", ""], "points": ["1", "2"]},
        {"player": ["Anna", "Ben"], "points": ["1", "99999999999999999999"]},
        {"player": ["Anna", "Ben"], "points": ["1", "x"]},
        {"player": ["Anna", "Ben"], "points": ["1", "000001999999"]},
        {"player": ["Anna", "Ben"], "points": ["1", "0" * 5000]},
    ],
)
def test_impossible_result_is_refused(hall: ShownHall, director: FlaskClient, fields: dict[str, list[str]]) -> None:
    assert post(director, "/event/result", **fields) == 409 and hall.state.results == ()


def test_result_of_names_with_invisible_characters_is_that_of_their_pairing(
    hall: ShownHall, director: FlaskClient
) -> None:
    hall.set_pairings("1,5,Cl\u034feo,葛\U000e0101城 花")
    fields = {"player": ["Cl\u034feo", "葛\U000e0101城  花"], "points": ["300", "410"], "round": 1}
    assert post(director, "/event/result", **fields) == 303
    assert hall.state.results[0].players == ("Cleo", "葛\U000e0101城 花")


def test_director_deletes_a_wrong_result(hall: ShownHall, director: FlaskClient, client: FlaskClient) -> None:
    for points in (["300", "410"], ["310", "410"]):
        post(director, "/event/result", player=["Cleo", "Dan"], points=points)
    hall.state = apply_game(hall.state, *received("Table 2", ENDED))
    hall.look()
    played, wrong, right = hall.state.results
    page = director.get("/event").text
    assert str(wrong.ended) in page and str(played.ended) not in page and "/remove" not in client.get("/event").text
    assert post(director, "/event/result/remove", ended=str(wrong.ended)) == 303
    assert post(director, "/event/result/remove", ended=str(played.ended)) == 303
    assert hall.state.results == (played, right)


def test_result_of_a_round_replaces_that_of_the_table(hall: ShownHall, director: FlaskClient) -> None:
    hall.set_pairings("1,Table 2,Anna,Ben\n2,Table 2,Anna,Cleo")
    hall.state = apply_game(hall.state, *received("Table 2", ENDED))
    hall.look()
    assert post(director, "/event/result", player=["ben", "Anna"], points=["1", "2"], round=2) == 409
    assert post(director, "/event/result", player=["ben", "Anna"], points=["401", "400"], round=1) == 303
    hall.look()
    page = director.get("/event").text
    assert re.findall(r"<th scope=\"row\">(.*?)</th>", page)[0] == "1. Ben"
    assert "Anna <strong>13" in page.partition('id="uncounted"')[2] and "Round 1: ben" in page


def test_correction_after_the_end_changes_the_standings(hall: ShownHall, client: FlaskClient) -> None:
    hall.set_pairings("1,Table 2,Anna,Ben")
    for events, spread in ((ENDED, "+13"), ([*ENDED, ScoreCorrected(Ref(1, 0), 50)], "+49")):
        hall.state = apply_game(hall.state, *received("Table 2", events))
        hall.look()
        assert spread in client.get("/event/live/state").json["parts"]["standings"]
    assert len(hall.state.results) == 1


def test_results_that_do_not_count_are_shown_to_the_director_only(
    hall: ShownHall, director: FlaskClient, client: FlaskClient
) -> None:
    hall.set_pairings("1,Table 2,Ana,Ben")
    hall.state = apply_game(hall.state, *received("Table 2", ENDED))
    hall.look()
    assert "Results that do not count" in director.get("/event/live/state").json["parts"]["uncounted"]
    assert "uncounted" not in client.get("/event").text


def test_new_event_counts_games_that_end_later(hall: ShownHall, director: FlaskClient) -> None:
    post(director, "/event/result", player=["Cleo", "Dan"], points=["300", "410"])
    hall.state = apply_game(hall.state, *received("Table 2", ENDED))
    assert post(director, "/event/new") == 303
    hall.state = apply_game(hall.state, *received("Table 2", ENDED))
    assert (hall.state.results, hall.state.pairings) == ((), ())
    hall.state = apply_game(hall.state, *received("Table 2", ENDED, 500.0))
    assert [result.players for result in hall.state.results] == [("Anna", "Ben")]


def test_director_counts_a_game_from_before_the_event(hall: ShownHall, director: FlaskClient) -> None:
    hall.state = replace(hall.state, games_since=1000.0)
    hall.state = apply_game(hall.state, *received("Table 2", ENDED))
    hall.look()
    assert "by the clock of their table" in director.get("/event/live/state").json["parts"]["uncounted"]
    (result,) = hall.state.late_results
    page = director.get("/event").text
    assert f'<option value="{result.game}">' in page and "Let it count" in page
    assert post(director, "/event/count", game=result.game) == 303
    assert (hall.state.results, hall.state.late_results) == ((result,), ())


def test_broken_pairings_leave_those_that_are(hall: ShownHall, director: FlaskClient) -> None:
    hall.set_pairings("1,1,Anna,Ben")
    assert post(director, "/event/pairings", pairings="nonsense\nnonsense") == 409
    assert len(hall.state.pairings) == 1


def test_refused_pairings_stay_in_the_form(hall: ShownHall, director: FlaskClient) -> None:
    token = re.search(r'name="csrf" value="([^"]+)"', director.get("/event").text)
    assert token
    fields = {"csrf": token[1], "pairings": "1,1,Anna,Ben\n1,2,Anna,Cleo"}
    page = director.post("/event/pairings", data=fields, headers=DOCUMENT)
    assert page.status_code == 409 and "1,2,Anna,Cleo</textarea>" in page.text
    assert "Anna has two games in round 1." in page.text and hall.state.pairings == ()


@pytest.mark.parametrize(
    ("path", "fields", "shown"),
    [
        (
            "/event/result",
            {"round": "2", "player": ["Annna", '"Ben'], "points": ["431", "-7"]},
            ["<option selected>2<", 'value="Annna"', 'value="&#34;Ben"', 'value="431"', 'value="-7"'],
        ),
        ("/event/result", {"player": ["Cleo"]}, ['value="Cleo"']),
        ("/event/name", {"table": "Table 2", "name": "A/B"}, ['value="Table 2" selected', 'value="A/B"']),
        ("/event/delay", {"seconds": "99999"}, ['value="99999"']),
    ],
)
def test_refused_entries_stay_in_their_form(
    hall: ShownHall, director: FlaskClient, path: str, fields: dict[str, object], shown: list[str]
) -> None:
    hall.set_pairings("1,Table 2,Anna,Ben\n2,Table 2,Ben,Anna")
    hall.look()
    token = re.search(r'name="csrf" value="([^"]+)"', director.get("/event").text)
    assert token
    page = director.post(path, data={"csrf": token[1], **fields}, headers=DOCUMENT)
    assert page.status_code == 409 and [one for one in shown if one not in page.text] == []


def test_pairings_from_an_old_page_do_not_replace_newer_ones(hall: ShownHall, director: FlaskClient) -> None:
    def open_form() -> str:
        version = re.search(r'name="before" value="([^"]+)"', director.get("/event").text)
        assert version
        return version[1]

    old = open_form()
    assert post(director, "/event/pairings", before=old, pairings="1,1,Anna,Ben\n2,1,Cleo,Dan") == 303
    assert post(director, "/event/pairings", before=old, pairings="1,2,Anna,Ben") == 409
    assert [pairing.round for pairing in hall.state.pairings] == [1, 2]
    assert post(director, "/event/pairings", before=open_form(), pairings="1,2,Anna,Ben") == 303


def test_pairings_of_a_form_that_is_sent_twice_are_accepted_twice(hall: ShownHall, director: FlaskClient) -> None:
    version = re.search(r'name="before" value="([^"]+)"', director.get("/event").text)
    assert version
    for _ in range(2):
        assert post(director, "/event/pairings", before=version[1], pairings="1,1,Anna,Ben") == 303
    assert len(hall.state.pairings) == 1


def test_director_sets_the_delay(hall: ShownHall, director: FlaskClient) -> None:
    assert post(director, "/event/delay", seconds="300") == 303 and hall.delay_s == 300.0
    for seconds in ("-1", "1801", "1e9", ""):
        assert post(director, "/event/delay", seconds=seconds) == 409
    assert hall.delay_s == 300.0


def test_director_directs_the_tables(hall: ShownHall, director: FlaskClient) -> None:
    hall.set_pairings("1,Table 2,Anna,Ben\n1,5,Cleo,Dan\n1,,Eve,\n2,Table 10,Anna,Cleo")
    hall.look()
    assert post(director, "/event/name", table="Table 2", name="Final") == 303
    assert post(director, "/event/round-1/send") == 303
    assert hall.orders == [("Table 2", SetTableName("Final")), ("Table 2", OfferPairing(("Anna", "Ben")))]
    page = director.get("/event?sent=2").text
    assert hall.fingerprint in page and "Sent to 2 tables." in page


def test_answers_of_the_tables_are_on_the_page_of_the_director(
    hall: ShownHall, director: FlaskClient, client: FlaskClient
) -> None:
    numbers = iter(range(1, 9))
    orders = [
        SentOrder(table, command, next(numbers), status)
        for table, command, status in (
            ("Table 2", SetTableName("Final"), OrderStatus.SENT),
            ("Table 2", OfferPairing(("Anna", "Ben")), OrderStatus.SENT),
            ("Table 10", StartClock(), OrderStatus.SENT),
            ("Table 11", StartClock(), OrderStatus.AWAY),
        )
    ]
    hall.state = apply_orders(hall.state, orders)
    hall.state = apply_answer(hall.state, OrderAnswer(table="Table 2", number=1, accepted=True))
    for key in ("order-no-hall", "order-forged"):
        refusal = OrderAnswer(table="Table 2", number=2, accepted=False, reason="{0.x} no <b>", key=key)
        hall.state = apply_answer(hall.state, refusal)
    hall.look()
    page = director.get("/event?lang=de").text
    shown = [re.sub(r"<[^>]*>|\s+", " ", row).split() for row in re.findall(r'<li><span class="at">(.*?)</li>', page)]
    assert [" ".join(row) for row in shown] == [
        "Table 11 Uhr starten nicht verbunden",
        "Table 10 Uhr starten noch keine Antwort",
        "Table 2 Anna – Ben abgelehnt Kein Saal darf diesen Tisch leiten. Nimm den Saal erst an.",
        "Table 2 Name auf seinen Seiten: Final angenommen",
    ]
    assert "angenommen" not in client.get("/event?lang=de").text


def test_standings_and_running_games_are_live(hall: ShownHall, client: FlaskClient) -> None:
    hall.set_pairings("1,Table 2,Ben,Anna\n2,Table 10,Cleo,Dan")
    hall.look()
    page = client.get("/event").text
    assert 'data-stream="/event/live"' in page and "Anna <strong>14</strong>" in page and "playing" in page
    first = client.get("/event/live/state").json
    assert client.get(f"/event/live/state?since={first['id']}").status_code == 204
    hall.state = apply_game(hall.state, *received("Table 2", ENDED))
    hall.look()
    parts = client.get(f"/event/live/state?since={first['id']}").json["parts"]
    assert set(parts) == {"status", "standings", "round-1", "round-2"}
    assert parts["standings"].index("Anna") < parts["standings"].index("Ben") and "playing" not in parts["round-1"]


def test_running_game_is_shown_in_one_round_of_players_who_meet_twice(hall: ShownHall, client: FlaskClient) -> None:
    hall.set_pairings("1,Table 10,Anna,Ben\n2,Table 2,Anna,Ben\n3,,Ben,Anna")
    hall.look()
    parts = client.get("/event/live/state").json["parts"]
    assert ["playing" in parts[f"round-{number}"] for number in (1, 2, 3)] == [False, True, False]


def test_answers_are_live_for_the_director_only(hall: ShownHall, director: FlaskClient, client: FlaskClient) -> None:
    hall.state = apply_orders(hall.state, [SentOrder("Table 2", StartClock(), 1, OrderStatus.SENT)])
    hall.state = apply_answer(hall.state, OrderAnswer(table="Table 2", number=1, accepted=True))
    hall.look()
    assert "accepted" in director.get("/event/live/state").json["parts"]["orders"]
    assert "orders" not in client.get("/event/live/state").json["parts"]


def test_director_forgets_a_table(hall: ShownHall, director: FlaskClient) -> None:
    assert "Forget this table" not in director.get("/event").text
    hall.state = apply_status(hall.state, "Table 2", is_online=False)
    hall.look()
    assert "Forget this table" in director.get("/event").text
    for name in ("Table 2", "Table 10"):
        assert post(director, "/event/forget", table=name) == 303
    assert list(hall.state.tables) == ["Table 10"], "a table that is online stays"


@pytest.mark.parametrize(("title", "is_online"), [("A1", False), ("", None)])
def test_table_with_a_title_or_without_a_known_status_is_not_forgotten(
    hall: ShownHall, director: FlaskClient, title: str, is_online: bool | None
) -> None:
    hall.state = apply_table_state(hall.state, replace_struct(state_of("Table 2", 2), name=title), 0.0)
    table = replace(hall.state.tables["Table 2"], is_online=is_online)
    hall.state = replace(hall.state, tables={**hall.state.tables, "Table 2": table})
    hall.look()
    assert "Forget this table" not in director.get("/event").text
    assert post(director, "/event/forget", table="Table 2") == 303
    assert "Table 2" in hall.state.tables


def test_clocks_are_started_where_the_game_is_paused(hall: ShownHall, director: FlaskClient) -> None:
    assert post(director, "/event/start-clocks") == 409
    hall.state = apply_table_state(hall.state, state_of("Table 10", 2, "paused"), 0.0)
    hall.look()
    assert post(director, "/event/start-clocks") == 303
    assert hall.orders == [("Table 10", StartClock())]


def test_names_of_the_director_are_shown_everywhere(
    hall: ShownHall, director: FlaskClient, client: FlaskClient
) -> None:
    state = replace_struct(state_of("Table 2", 2), name="Final")
    hall.state = apply_table_state(hall.state, state, 0.0)
    hall.set_pairings("1,table 2,Anna,Ben\n2,final,Cleo,Dan")
    hall.state = apply_orders(hall.state, [SentOrder("Table 2", StartClock(), 1, OrderStatus.SENT)])
    hall.look()
    assert 'Final <span class="own">Table 2</span>' in client.get("/").text
    assert "<title>Final" in client.get("/tables/Table%202").text
    assert client.get("/event").text.count('<span class="at">Final</span>') == 2
    page = director.get("/event").text
    assert 'value="Table 2">Table 2 (Final)<' in page and page.count('<span class="at">Final</span>') == 3
    hall.state = apply_game(hall.state, *received("Table 2", ENDED))
    hall.look()
    assert "Final</span>" in client.get("/").text.partition('id="results"')[2]


def test_pairings_may_name_a_table_as_the_director_does(hall: ShownHall, director: FlaskClient) -> None:
    hall.state = apply_table_state(hall.state, replace_struct(state_of("Table 2", 2), name="Final"), 0.0)
    hall.set_pairings("1,FINAL,Anna,Ben\n1,table 10,Cleo,Dan")
    hall.look()
    assert post(director, "/event/round-1/send") == 303
    assert [table for table, _ in hall.orders] == ["Table 2", "Table 10"]


def test_result_belongs_to_the_round_at_the_table_that_the_director_has_named(
    hall: ShownHall, director: FlaskClient
) -> None:
    for name, title in (("Table 2", "Door"), ("Table 10", "Window")):
        hall.state = apply_table_state(hall.state, replace_struct(state_of(name, 2), name=title), 0.0)
    hall.set_pairings("1,window,Anna,Ben\n2,door,Anna,Ben")
    hall.state = apply_game(hall.state, *received("Table 2", ENDED))
    assert post(director, "/event/result", player=["Anna", "Ben"], points=["400", "300"], round="1") == 303
    hall.look()
    lines = [director.get(f"/event/round-{number}.csv").text.splitlines()[1] for number in (1, 2)]
    assert lines == ["1,Window,Anna,400,Ben,300", "2,Door,Anna,13,Ben,0"]


@pytest.mark.parametrize("name", ["Table 2", "table 2", "FINAL"])
def test_name_of_another_table_is_refused(hall: ShownHall, director: FlaskClient, name: str) -> None:
    hall.state = apply_table_state(hall.state, replace_struct(state_of("Table 2", 2), name="Final"), 0.0)
    hall.look()
    assert post(director, "/event/name", table="Table 10", name=name) == 409 and hall.orders == []
    assert post(director, "/event/name", table="Table 2", name=name) == 303


@pytest.mark.parametrize("fields", [{"table": "nowhere", "name": "Final"}, {"table": "Table 2", "name": "a/b"}])
def test_name_for_no_table_is_refused(hall: ShownHall, director: FlaskClient, fields: dict[str, str]) -> None:
    assert post(director, "/event/name", **fields) == 409 and hall.orders == []


def test_director_is_told_that_the_disk_is_full(
    hall: ShownHall, director: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise make_full_error("hall.db")

    monkeypatch.setattr(hall, "set_pairings", fail)
    token = re.search(r'name="csrf" value="([^"]+)"', director.get("/event").text)
    assert token
    response = director.post("/event/pairings", data={"csrf": token[1], "pairings": ""})
    assert response.status_code == 503 and "The disk with hall.db is full" in response.text


def test_viewers_change_nothing(client: FlaskClient) -> None:
    assert "<form" not in client.get("/event").text
    for path in ("pairings", "new", "result", "delay", "name", "round-1/send", "start-clocks", "count", "forget"):
        assert client.post(f"/event/{path}", data={"pairings": "1,1,A,B"}).status_code == 403


def test_pairings_and_results_are_kept() -> None:
    with HallReceiver(":memory:", HallSettings("127.0.0.1", 1)) as hall:
        hall.set_pairings("1,1,Anna,Ben")
        hall.set_delay(60.0)
        hall.receive("tilekeeper/v2/Table 2/log", make_log(), False)
        assert [result.totals for result in hall.state.results] == [(13, 0)]
        assert load_state(hall.games).results == hall.state.results
        assert load_state(hall.games).pairings == hall.state.pairings


def make_log() -> bytes:
    """Return the log of an ended game as its table sends it."""
    from device.hall.messages import make_log_message

    return make_log_message("Table 2", "a", 1, received("Table 2", ENDED)[1]).payload
