"""The API does what the page does, for programs, and its document says so."""

from __future__ import annotations

import http.client
import io
import json
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from device.session.commands.games import StartGame
from device.session.commands.turns import EndTurn
from tests.support.api_table import API, STARTED, Program, WebTable
from tests.support.text_table import HORN
from tests.support.waiting import PATIENCE_S
from tests.web.conftest import pair
from web.api import OPERATIONS
from web.api.openapi_generator import build_document
from web.api.operations import PREFIX
from web.security.server import PageServer

DOCUMENT = Path(__file__).parents[3] / "web" / "api" / "openapi.json"


# The document


def test_document_is_that_of_the_operations() -> None:
    made = json.loads(json.dumps(build_document(OPERATIONS)))
    assert json.loads(DOCUMENT.read_text(encoding="utf-8")) == made, "python -m web.api > web/api/openapi.json"


def test_document_describes_every_route_and_no_other(table: WebTable) -> None:
    described = {
        (method.upper(), path)
        for path, methods in json.loads(DOCUMENT.read_text(encoding="utf-8"))["paths"].items()
        for method in methods
    }
    routes = {
        (method, rule.rule.removeprefix(PREFIX).replace("<int:", "{").replace("<", "{").replace(">", "}"))
        for rule in table.app.url_map.iter_rules()
        if rule.rule.startswith(PREFIX)
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }
    assert described == routes


def test_document_is_served(program: Program) -> None:
    served = program.call("GET", "/openapi.json")
    assert served.mimetype == "application/json" and served.json["openapi"] == "3.1.0"


# Looking


def test_state_says_what_the_page_shows(table: WebTable, program: Program) -> None:
    table.play_three_turns()
    state = program.call("GET", "/state").json
    assert [(player["name"], player["total"]) for player in state["players"]] == [("Anna", 39), ("Ben", 9)]
    assert state["turns"][2]["word"] == "PASTE" and state["turn_of"] == 1
    assert state["moment"] == table.seen
    assert program.call("GET", "/turns").json["turns"] == state["turns"]


def test_board_is_rows_of_letters(table: WebTable, program: Program) -> None:
    table.play_three_turns()
    board = program.call("GET", "/board").json
    assert "".join(board["rows"][7]) == ".....HORN......" and board["premiums"][0] == "3W"


def test_clock_tells_the_seconds_that_are_left(table: WebTable, paired: Program) -> None:
    order = {"seen": table.seen, "players": ["Anna", "Ben"], "choices": {"minutes": "25"}}
    assert paired.call("POST", "/commands/new-game", order).status_code == 200
    clock = paired.call("GET", "/state").json["clock"]
    assert 1490 < clock["left"][0] <= 1500 and clock["left"][1] == 1500


def test_picture_of_the_last_look(table: WebTable, program: Program) -> None:
    table.play_three_turns()
    name = program.call("GET", "/state").json["look"]["picture"]
    picture = program.call("GET", f"/pictures/{name}")
    assert picture.mimetype == "image/jpeg" and picture.data.startswith(b"\xff\xd8")
    assert program.call("GET", "/pictures/99-1").status_code == 404


def test_words_are_looked_up(table: WebTable, program: Program) -> None:
    table.play_three_turns()
    assert program.call("GET", "/words?word=horn").json == {"word": "HORN", "valid": True}
    assert program.call("GET", "/words?word=HRON").json["valid"] is False


def test_words_are_not_looked_up_where_only_a_challenge_does(table: WebTable, paired: Program) -> None:
    order = {"seen": table.seen, "players": ["Anna", "Ben"], "choices": {"dictionary": "closed"}}
    assert paired.call("POST", "/commands/new-game", order).status_code == 200
    assert paired.call("GET", "/words?word=horn").status_code == 409


def test_stream_brings_each_state_under_an_id(table: WebTable) -> None:
    with (
        PageServer(table.app, 0, "127.0.0.1") as server,
        closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)) as connection,
    ):
        connection.request("GET", f"{API}/events")
        answer = connection.getresponse()
        lines = (line.decode() for line in answer if line.startswith((b"id: ", b"data: {")))
        assert next(lines).startswith("id: ") and '"phase":"lobby"' in next(lines)
        table.play_three_turns()
        assert next(lines).startswith("id: ")
        assert json.loads(next(lines).removeprefix("data: "))["players"]


# Pairing and commands


def test_code_of_the_table_gives_a_token(table: WebTable, program: Program) -> None:
    assert program.call("POST", "/commands/undo", {"seen": "0-0"}).status_code == 401
    told = program.pair(table.code)
    assert told["admin"] and program.call("GET", "/devices").json[0]["device"] == "club's own"


def test_wrong_codes_lock_the_device_out(table: WebTable, program: Program) -> None:
    wrong = "000000" if table.code != "000000" else "111111"
    tries = [program.call("POST", "/pairing", {"code": wrong, "device": "x"}).status_code for _ in range(6)]
    assert tries == [409] * 5 + [429]
    locked = program.call("POST", "/pairing", {"code": table.code, "device": "x"})
    assert locked.status_code == 429 and int(locked.headers["Retry-After"]) > 0


@pytest.mark.parametrize("token", ["", "x", "Bearer", "Bearer ", "Bearer x.y", "Basic eDp5", "Bearer ½"])
def test_invalid_token_is_refused(program: Program, token: str) -> None:
    answer = program.client.post(f"{API}/commands/undo", json={"seen": "0-0"}, headers={"Authorization": token})
    assert answer.status_code == 401 and answer.headers["WWW-Authenticate"] == "Bearer"


def test_cookie_of_a_paired_phone_is_no_token(table: WebTable) -> None:
    phone = table.app.test_client()
    pair(phone)
    assert phone.post(f"{API}/commands/undo", json={"seen": "0-0"}).status_code == 401


def test_unpaired_device_can_do_nothing_any_more(table: WebTable, paired: Program) -> None:
    other = Program(table.app)
    told = other.pair(table.code)
    assert other.call("DELETE", f"/devices/{paired.call('GET', '/devices').json[0]['id']}").status_code == 403
    assert paired.call("DELETE", f"/devices/{told['id']}").status_code == 204
    assert other.call("POST", "/commands/undo", {"seen": "0-0"}).status_code == 401


def test_turn_is_ended_by_a_program(table: WebTable, paired: Program) -> None:
    table.play_three_turns()
    answer = paired.call("POST", "/commands/pass", {"seen": table.seen})
    assert answer.status_code == 200 and answer.json["turns"][-1]["kind"] == "pass"
    assert paired.call("POST", "/commands/undo", {"seen": table.seen}).json["turns"][-1]["word"] == "PASTE"


def test_command_for_another_moment_is_refused_with_the_current_one(table: WebTable, paired: Program) -> None:
    table.play_three_turns()
    answer = paired.call("POST", "/commands/pass", {"seen": "1-1"})
    assert answer.status_code == 409 and answer.json["moment"] == table.seen


def test_answer_to_another_question_is_refused_with_the_open_one(table: WebTable, paired: Program) -> None:
    table.play_three_turns()
    table.board.lay(HORN, ("CAT", 1, 1, True))
    asked = paired.call("POST", "/commands/end-turn", {"seen": table.seen}).json["question"]
    order = {"seen": table.seen, "answer": 1, "question_id": asked["id"] ^ 1}
    answer = paired.call("POST", "/commands/answer", order)
    assert answer.status_code == 409 and "Someone else has already answered" in answer.json["error"]
    assert answer.json["question"] == asked and "moment" not in answer.json
    assert paired.call("POST", "/commands/answer", order | {"question_id": asked["id"]}).status_code == 200


def test_turn_is_corrected_by_a_program(table: WebTable, paired: Program) -> None:
    table.play_three_turns()
    order = {"seen": table.seen, "number": 3, "score": 30}
    answer = paired.call("POST", "/commands/turn", order)
    assert answer.status_code == 200, answer.text
    assert answer.json["players"][0]["total"] == 44


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (b"", 400, "truncated"),
        (b"[]", 400, "array"),
        (b'{"seen":"1-1"}', 400, "count"),
        (b'{"seen":"1-1","count":0}', 400, ">= 1"),
        (b'{"seen":"now","count":1}', 400, "seen"),
        (b'{"seen":"1-1","count":1,"more":1}', 400, "more"),
        (b"\xff\xfe", 400, ""),
        (b"[" * 60_000, 400, ""),
        (b" " * 70_000, 413, ""),
    ],
)
def test_body_that_is_wrong_is_refused_in_one_line(paired: Program, body: bytes, status: int, said: str) -> None:
    answer = paired.call("POST", "/commands/exchange", data=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == status and "\n" not in answer.json["error"]
    assert said in answer.json["error"]


@pytest.mark.parametrize(("path", "kind"), [("/commands/pass", "application/json"), ("/games", "application/zip")])
def test_form_is_no_body(paired: Program, path: str, kind: str) -> None:
    answer = paired.call("POST", path, data={"seen": "1-1"})
    assert (answer.status_code, answer.json) == (415, {"error": f"Send the body as {kind}."})


def test_missing_page_is_answered_in_json(program: Program) -> None:
    assert program.call("GET", "/nothing").json == {"error": "Not Found."}
    assert program.call("PUT", "/state").status_code == 405


# Games


def test_stored_game_has_its_turns(table: WebTable, program: Program) -> None:
    table.play_three_turns()
    table.end()
    listed = program.call("GET", "/games?player=Anna").json
    assert listed["all"] == 1 and listed["games"][0]["totals"] == [39, 9] and listed["games"][0]["winners"] == [0]
    assert program.call("GET", "/games?player=Zoe").json["all"] == 0
    assert program.call("GET", "/games?until=2001-01-01").json["all"] == 0
    whole = program.call("GET", "/games/1").json
    assert ["".join(turn["rows"][7]) for turn in whole["turns"]][:1] == [".....HORN......"]
    assert program.call("GET", f"/pictures/{whole['turns'][1]['picture']}").mimetype == "image/jpeg"
    assert program.call("GET", "/games/2").status_code == 404


@pytest.mark.parametrize(("query", "status"), [("", 200), ("?unplayed=twice", 200), ("?unplayed=thrice", 400)])
def test_gcg_has_the_chosen_end(table: WebTable, paired: Program, query: str, status: int) -> None:
    table.play_three_turns()
    table.end()
    assert paired.call("GET", f"/games/1/gcg{query}").status_code == status


@pytest.mark.parametrize("query", ["since=2001-02-30", "since=today", "most=0", "most=x", "what=ever"])
def test_invalid_query_is_refused(program: Program, query: str) -> None:
    assert program.call("GET", f"/games?{query}").status_code == 400


def test_exported_gcg_or_zip_is_imported_again(table: WebTable, paired: Program) -> None:
    table.play_three_turns()
    table.end()
    assert "HORN" in paired.call("GET", "/games/1/gcg").text
    packed = paired.call("GET", "/games/1/zip")
    assert "game.json" in zipfile.ZipFile(io.BytesIO(packed.data)).namelist()
    zipped = {"data": packed.data, "headers": {"Content-Type": "application/zip"}}
    assert paired.call("POST", "/games", **zipped).status_code == 409  # it is here already
    table.session.submit(StartGame(STARTED)).result(PATIENCE_S)
    assert paired.call("DELETE", "/games/1").status_code == 204
    assert paired.call("GET", "/games/1").status_code == 404
    brought = paired.call("POST", "/games", **zipped)
    assert brought.status_code == 201
    assert paired.call("GET", f"/games/{brought.json['number']}").json["game"]["totals"] == [39, 9]


def test_game_at_the_table_is_not_deleted(table: WebTable, paired: Program) -> None:
    table.play_three_turns()
    assert paired.call("DELETE", "/games/1").status_code == 409
    assert paired.call("GET", "/games/1").json["game"]["running"]


def test_file_that_is_no_game_is_refused(paired: Program) -> None:
    for data in (b"PK\x03\x04 no", b"\x00" * 100, b""):
        answer = paired.call("POST", "/games", data=data, headers={"Content-Type": "application/zip"})
        assert answer.status_code == 409 and answer.json["error"]


def test_records_count_games_that_were_played_to_their_end(table: WebTable, program: Program) -> None:
    table.play_three_turns()
    assert program.call("GET", "/records").json == {"players": [], "pairs": []}
    table.end()
    records = program.call("GET", "/records").json
    assert [(one["name"], one["won"]) for one in records["players"]] == [("Anna", 1), ("Ben", 0)]
    assert records["pairs"][0]["ahead"] == [1, 0]
    assert [one["name"] for one in program.call("GET", "/players").json] == ["Anna", "Ben"]


def test_renamed_player_has_the_new_name_in_archive_statistics_and_gcg(table: WebTable, paired: Program) -> None:
    table.play_three_turns()
    order = {"seen": table.seen, "player": 1, "new_name": "Cem"}
    assert paired.call("POST", "/commands/rename", order).json["players"][1]["name"] == "Cem"
    table.end()
    assert [one["name"] for one in paired.call("GET", "/records").json["players"]] == ["Anna", "Cem"]
    (game,) = paired.call("GET", "/games?player=Cem").json["games"]
    assert game["players"] == ["Anna", "Cem"] and paired.call("GET", "/games?player=Ben").json["games"] == []
    gcg = paired.call("GET", "/games/1/gcg")
    assert "Cem" in gcg.text and "Ben" not in gcg.text
    assert "Cem" in gcg.headers["Content-Disposition"]
    zipped = {"data": paired.call("GET", "/games/1/zip").data, "headers": {"Content-Type": "application/zip"}}
    table.session.submit(StartGame(STARTED)).result(PATIENCE_S)
    assert paired.call("DELETE", "/games/1").status_code == 204
    brought = paired.call("POST", "/games", **zipped)
    assert paired.call("GET", f"/games/{brought.json['number']}").json["game"]["players"] == ["Anna", "Cem"]


def test_state_has_the_rules_in_force(table: WebTable, paired: Program) -> None:
    assert paired.call("GET", "/state").json["rules"] is None
    choices = {"preset": "travel-case", "challenge": "points", "points": "10", "first_word": "3", "level": "expert"}
    order = {"seen": table.seen, "players": ["Anna", "Ben"], "choices": choices, "variations": ["rearrange"]}
    state = paired.call("POST", "/commands/new-game", order).json
    rules = state["rules"]
    assert (rules["challenge"], rules["challenge_points"], rules["exchange_minimum_bag"]) == ("points", 10, 7)
    assert (rules["first_word_minimum"], rules["rearrange"], rules["recycle"]) == (3, True, False)
    assert state["finish_lines"] == [200, 200]


def test_failed_challenge_names_the_challenger(table: WebTable, paired: Program) -> None:
    table.session.submit(StartGame(STARTED)).result(PATIENCE_S)
    table.board.lay(HORN)
    table.session.submit(EndTurn()).result(PATIENCE_S)
    state = paired.call("POST", "/commands/challenge", {"seen": table.seen}).json
    turn = state["turns"][-1]
    assert (turn["kind"], turn["player"], turn["by"], turn["target"]) == ("challenge", 0, 1, 1)
    page = paired.client.get("/").text
    assert '<span class="who">Ben</span> lost a challenge' in page and "no tiles played" not in page


@pytest.mark.parametrize("choices", [{"scoreless_turns": "6"}, {"nonsense": "6"}, {"level": "novice"}])
def test_unknown_choice_of_a_new_game_is_refused(table: WebTable, paired: Program, choices: dict[str, str]) -> None:
    answer = paired.call("POST", "/commands/new-game", {"seen": table.seen, "players": ["A", "B"], "choices": choices})
    assert answer.status_code == 409 and "not available here" in answer.json["error"]
