"""Boards and turns that a program enters by hand, and plays that do not count."""

from __future__ import annotations

from dataclasses import replace

import pytest

from device.session.commands.games import StartGame
from engine.rules import Rules
from tests.support.api_table import STARTED, Program, WebTable
from tests.support.text_table import HORN, rows
from tests.support.waiting import PATIENCE_S


@pytest.mark.parametrize(
    ("at", "word", "problem"),
    [
        ("8H", "A", "The first word is too short."),
        ("8A", "HORN", "The first word does not cover the centre."),
        ("8F", "KKKK", "The tile set does not have that many of one letter."),
    ],
)
def test_turn_entered_by_hand_names_its_problems(
    table: WebTable, paired: Program, at: str, word: str, problem: str
) -> None:
    table.session.submit(StartGame(STARTED)).result(PATIENCE_S)
    order = {"seen": table.seen, "number": 1, "kind": "play", "at": at, "word": word}
    state = paired.call("POST", "/commands/insert-turn", order).json
    assert problem in state["turns"][0]["problems"]
    assert problem[1:] in paired.client.get("/").text


def order_board(table: WebTable, *words: tuple[str, int, int, bool]) -> dict[str, object]:
    return {"seen": table.seen, "rows": [list(row) for row in rows(*words)]}


def test_rearranged_board_is_entered_by_hand(table: WebTable, paired: Program) -> None:
    table.session.submit(StartGame(replace(STARTED, rules=Rules(rearrange=True)))).result(PATIENCE_S)
    paired.call("POST", "/commands/board", order_board(table, ("TEAM", 7, 5, True)))
    state = paired.call("POST", "/commands/board", order_board(table, ("MEATY", 7, 5, True))).json
    assert "".join(paired.call("GET", "/board").json["rows"][7]) == ".....MEATY....."
    turn = state["turns"][-1]
    assert (turn["player"], turn["words"][0]["text"], turn["score"]) == (1, "MEATY", 10)


def test_board_that_is_entered_names_its_blanks(table: WebTable, paired: Program) -> None:
    table.session.submit(StartGame(STARTED)).result(PATIENCE_S)
    state = paired.call("POST", "/commands/board", order_board(table, ("HoRN", 7, 5, True))).json
    assert (state["turns"][0]["word"], state["turns"][0]["score"]) == ("HoRN", 12)
    assert state["question"] is None
    assert "".join(paired.call("GET", "/board").json["rows"][7]) == ".....HoRN......"


def test_board_without_a_change_or_with_foreign_tiles_is_refused(table: WebTable, paired: Program) -> None:
    table.session.submit(StartGame(STARTED)).result(PATIENCE_S)
    answer = paired.call("POST", "/commands/board", order_board(table))
    assert answer.status_code == 409 and answer.json["error"].startswith("Nothing on the board has changed.")
    assert paired.call("POST", "/commands/board", order_board(table, ("HÖRN", 7, 5, True))).status_code == 409
    wrong = {"seen": table.seen, "rows": [["."] * 14] * 15}
    assert paired.call("POST", "/commands/board", wrong).status_code == 400


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ([("TORNS", 7, 5, True), ("HS", 6, 9, False)], "A tile already on the board has changed."),
        ([("ORN", 7, 6, True), ("AN", 6, 8, False)], "A tile already on the board has changed."),
        ([("HORNS", 7, 5, True), ("AX", 1, 1, True)], "The tiles do not touch the words on the board."),
    ],
    ids=["changed", "taken", "apart"],
)
def test_board_that_cannot_follow_from_the_board_before_is_refused(
    table: WebTable, paired: Program, words: list[tuple[str, int, int, bool]], problem: str
) -> None:
    table.session.submit(StartGame(STARTED)).result(PATIENCE_S)
    for board in ([HORN], [HORN, ("MOON", 5, 6, False)]):
        paired.call("POST", "/commands/board", order_board(table, *board))
    answer = paired.call("POST", "/commands/board", order_board(table, *words, ("MOON", 5, 6, False)))
    assert answer.status_code == 409 and problem in answer.json["error"]
    assert len(table.session.state.turns) == 2


def test_board_that_is_entered_again_ends_one_turn(table: WebTable, paired: Program) -> None:
    """Only a press of the button that recorded nothing may have ended a turn."""
    table.session.submit(StartGame(STARTED)).result(PATIENCE_S)
    state = paired.call("POST", "/commands/board", order_board(table, ("HORN", 1, 5, True))).json
    assert state["question"] and not state["turns"]
    state = paired.call("POST", "/commands/board", order_board(table, HORN)).json
    assert state["question"] is None and [turn["score"] for turn in state["turns"]] == [14]


def test_game_starts_from_a_position(table: WebTable, paired: Program) -> None:
    table.session.submit(StartGame(STARTED)).result(PATIENCE_S)
    order = {**order_board(table, ("HoRN", 7, 5, True)), "totals": [120, 98], "player": 1}
    state = paired.call("POST", "/commands/position", order).json
    assert [(turn["kind"], turn["player"], turn["total"]) for turn in state["turns"]] == [
        ("position", 0, 120),
        ("position", 1, 98),
    ]
    assert state["turn_of"] == 1 and "".join(paired.call("GET", "/board").json["rows"][7]) == ".....HoRN......"
    again = paired.call("POST", "/commands/position", {**order, "seen": table.seen})
    assert again.status_code == 409 and "only before its first turn" in again.json["error"]


@pytest.mark.parametrize("totals", [[-1, 0], [1, 2, 3, 4, 5], "12", None])
def test_position_with_totals_that_no_game_has_is_refused(table: WebTable, paired: Program, totals: object) -> None:
    table.session.submit(StartGame(STARTED)).result(PATIENCE_S)
    order = {**order_board(table, HORN), "totals": totals}
    assert paired.call("POST", "/commands/position", order).status_code == 400


def test_gcg_of_a_game_from_a_position_is_refused_with_what_to_do(table: WebTable, paired: Program) -> None:
    table.session.submit(StartGame(STARTED)).result(PATIENCE_S)
    number = table.session.state.game
    paired.call("POST", "/commands/position", {**order_board(table, HORN), "totals": [1, 2]})
    answer = paired.call("GET", f"/games/{number}/gcg")
    assert answer.status_code == 404 and "Save it as a ZIP file instead" in answer.json["error"]
    assert paired.call("GET", f"/games/{number}/zip").status_code == 200
    assert paired.client.get(f"/history/{number}?turn=1").status_code == 200


def test_exchange_of_more_tiles_than_a_rack_holds_is_refused(table: WebTable, paired: Program) -> None:
    table.session.submit(StartGame(STARTED)).result(PATIENCE_S)
    answer = paired.call("POST", "/commands/exchange", {"seen": table.seen, "count": 8})
    assert answer.status_code == 409 and "cannot exchange 8 tiles" in answer.json["error"]
    assert paired.call("POST", "/commands/exchange", {"seen": table.seen, "count": 7}).status_code == 200


def test_letter_is_recycled_for_a_blank_by_hand(table: WebTable, paired: Program) -> None:
    table.session.submit(StartGame(replace(STARTED, rules=Rules(recycle=True)))).result(PATIENCE_S)
    paired.call("POST", "/commands/board", order_board(table, ("TEAM", 7, 5, True)))
    state = paired.call("POST", "/commands/board", order_board(table, ("sEAMS", 7, 5, True))).json
    assert [turn["kind"] for turn in state["turns"]] == ["play", "recycled", "play"]
    assert "".join(paired.call("GET", "/board").json["rows"][7]) == ".....sEAMS....."
    assert state["question"] is None and state["players"][1]["total"] == 6


def test_two_turns_entered_as_one_board_are_asked(table: WebTable, paired: Program) -> None:
    table.session.submit(StartGame(STARTED)).result(PATIENCE_S)
    state = paired.call("POST", "/commands/board", order_board(table, HORN, ("FARM", 5, 7, False))).json
    assert state["question"] is not None and len(state["turns"]) == 2


def test_other_answer_about_an_entered_board_keeps_the_letters_of_blanks(table: WebTable, paired: Program) -> None:
    table.session.submit(StartGame(STARTED)).result(PATIENCE_S)
    board = order_board(table, ("HoRN", 7, 5, True), ("FaRM", 5, 7, False), ("PASTE", 9, 5, True))
    paired.call("POST", "/commands/board", order_board(table, ("HoRN", 7, 5, True)))
    state = paired.call("POST", "/commands/board", board | {"seen": table.seen}).json
    assert [turn["word"] for turn in state["turns"]] == ["HoRN", "Fa.M", "PASTE"]
    state = paired.call("POST", "/commands/answer", {"seen": table.seen, "answer": 1}).json
    assert [turn["word"] for turn in state["turns"]] == ["HoRN", "Fa.MS", "PA.TE"]


def start_void_game(table: WebTable, paired: Program) -> None:
    order = {"seen": table.seen, "players": ["Anna", "Ben"], "choices": {"challenge": "void", "lexicon": "shipped"}}
    assert paired.call("POST", "/commands/new-game", order).status_code == 200


def enter_first_play(table: WebTable, paired: Program, word: str) -> None:
    order = {"seen": table.seen, "number": 1, "kind": "play", "at": "8F", "word": word}
    assert paired.call("POST", "/commands/insert-turn", order).status_code == 200


def decide(table: WebTable, paired: Program, *, upheld: bool) -> list[int]:
    """Enter the outcome of a challenge, and return the totals."""
    state = paired.call("POST", "/commands/decide-challenge", {"seen": table.seen, "upheld": upheld}).json
    return [player["total"] for player in state["players"]]


def test_void_play_counts_if_the_players_say_so(table: WebTable, paired: Program) -> None:
    start_void_game(table, paired)
    enter_first_play(table, paired, "HRON")
    assert table.session.state.players[0].total == 0
    assert decide(table, paired, upheld=False) == [14, 0]
    order = {"seen": table.seen, "player": 0, "new_name": "Cleo"}
    assert paired.call("POST", "/commands/rename", order).json["players"][0]["total"] == 14


def test_play_does_not_count_if_the_players_say_so(table: WebTable, paired: Program) -> None:
    start_void_game(table, paired)
    enter_first_play(table, paired, "HORN")
    assert decide(table, paired, upheld=True) == [0, 0]
    assert decide(table, paired, upheld=False) == [14, 0]
    assert paired.call("POST", "/commands/decide-challenge", {"seen": table.seen, "upheld": False}).status_code == 409


def test_turns_after_the_end_of_the_game_are_refused(table: WebTable, paired: Program) -> None:
    table.play_three_turns()
    table.end()
    for name, order in (("pass", {}), ("exchange", {"count": 1}), ("board", order_board(table, HORN))):
        answer = paired.call("POST", f"/commands/{name}", {**order, "seen": table.seen})
        assert (answer.status_code, answer.json["error"]) == (
            409,
            "The game has ended. Start a new one, or press Undo to play on.",
        )


def test_exchange_that_the_bag_does_not_allow_is_refused_by_hand_too(table: WebTable, paired: Program) -> None:
    table.session.submit(StartGame(replace(STARTED, rules=Rules(exchange_minimum_bag=90)))).result(PATIENCE_S)
    order = {"seen": table.seen, "number": 1, "kind": "exchange", "count": 1}
    answer = paired.call("POST", "/commands/insert-turn", order)
    assert answer.status_code == 409 and "cannot exchange" in answer.json["error"]
