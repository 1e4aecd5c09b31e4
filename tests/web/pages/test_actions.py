"""What paired phones do: only from our own page, only with its token, only for the moment they were meant for."""

from __future__ import annotations

import random
import re
from concurrent.futures import Future
from dataclasses import replace

import pytest
from flask import Flask
from flask.testing import FlaskClient

from device.session.commands.base import TableCommand
from device.session.commands.corrections import CorrectSquare, NameBlank, RenamePlayer, RevealRack
from device.session.commands.games import DrawFirst, EndGame, EndPause, EnterPosition, Pause, Redo, Undo
from device.session.commands.questions import AnswerQuestion, DeferQuestion, ReadAgain
from device.session.commands.turn_corrections import CorrectTurn, InsertTurn
from device.session.commands.turns import ChallengePlay, DecideChallenge, EndTurn, EnterBoard, ExchangeTiles, PassTurn
from device.session.messages import make_notice
from device.session.snapshot import Moment, PlayerView, TableSnapshot
from engine.rules import VARIATIONS, Rules
from tests.support import samples
from tests.web.conftest import ShownTable, token
from web.i18n import languages
from web.pages.dialogs import draw_tiles

NOW = Moment(1, 4)
COMMANDS: dict[str, tuple[dict[str, str | list[str]], TableCommand]] = {
    "/actions/end-turn": ({}, EndTurn()),
    "/actions/pass": ({}, PassTurn()),
    "/actions/exchange": ({"count": "3"}, ExchangeTiles(3)),
    "/actions/challenge": ({}, ChallengePlay()),
    "/actions/end-game": ({}, EndGame()),
    "/actions/answer/1": ({"question_id": "4294967295"}, AnswerQuestion(1, question_id=2**32 - 1)),
    "/actions/later": ({"question_id": "77"}, DeferQuestion(question_id=77)),
    "/actions/look-again": ({"question_id": "0"}, ReadAgain(question_id=0)),
    "/actions/decide-challenge": ({"upheld": "false", "player": "1"}, DecideChallenge(False, 1)),
    "/actions/undo": ({}, Undo()),
    "/actions/redo": ({}, Redo()),
    "/actions/pause": ({}, Pause()),
    "/actions/go-on": ({}, EndPause()),
    "/actions/draw": ({"letters": ["A", "?"]}, DrawFirst(("A", "?"))),
    "/actions/position": (
        {"symbols": ". " * 112 + "H o " + ". " * 111, "totals": ["120", "98"], "player": "1", "racks": ["", "AQ?"]},
        EnterPosition(
            tuple(tuple(".......Ho......" if row == 7 else "." * 15) for row in range(15)), (120, 98), 1, ("", "AQ?")
        ),
    ),
    "/actions/turn": ({"number": "2", "score": "12"}, CorrectTurn(2, score=12)),
    "/actions/rack": ({"player": "1", "letters": "AQ?"}, RevealRack(1, "AQ?")),
    "/actions/rename": ({"player": "1", "new_name": "Cem"}, RenamePlayer(1, "Cem")),
    "/actions/square": ({"square": "E8", "letter": "N"}, CorrectSquare("E8", "N")),
}

PAGE_REQUESTS = [
    {"Sec-Fetch-Dest": "document", "Sec-Fetch-Site": "same-origin"},
    {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"},
]
"""Headers with which browsers request a page: on the machine itself or over https, and over http in the Wi-Fi."""


def press(client: FlaskClient, path: str, seen: str = "1-4", **form: str) -> tuple[int, str]:
    answer = client.post(path, data={"csrf": token(client), "seen": seen, **form})
    return answer.status_code, answer.text


@pytest.mark.parametrize(("path", "form", "request_"), [(path, *command) for path, command in COMMANDS.items()])
def test_command_reaches_the_table_with_its_moment(
    table: ShownTable, paired: FlaskClient, path: str, form: dict[str, str | list[str]], request_: TableCommand
) -> None:
    table.show(samples.MIDGAME)
    sent = {"csrf": token(paired), "seen": "1-4", **form}
    answer = paired.post(path, data=sent, headers={"Origin": "http://localhost"})
    assert answer.status_code == 204
    assert table.submitted == [(request_, NOW)]


def test_command_without_a_moment_is_refused(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    answer = paired.post("/actions/undo", data={"csrf": token(paired)})
    assert answer.status_code == 400
    assert table.submitted == []


def every_change(app: Flask) -> list[str]:
    """The changes of the page; those of the JSON API have a door of their own, and its tests."""
    changes = {"POST", "PUT", "PATCH", "DELETE"}
    rules = [rule for rule in app.url_map.iter_rules() if rule.methods and changes & rule.methods]
    return [
        rule.rule.replace("<int:number>", "0").replace("<int:answer>", "0")
        for rule in rules
        if not rule.rule.startswith("/api/")
    ]


def test_every_change_needs_a_paired_phone(table: ShownTable, app: Flask, client: FlaskClient) -> None:
    paths = every_change(app)
    assert set(COMMANDS) - set(paths) == {"/actions/answer/1"}
    for path in set(paths) - {"/pair"}:
        answer = client.post(path, data={"csrf": token(client), "seen": "1-4"})
        assert answer.status_code == 403 and "not paired" in answer.text, path
    assert table.submitted == []


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Referer": "http://evil.example/page"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_every_change_is_refused_to_other_sites(
    table: ShownTable, app: Flask, paired: FlaskClient, headers: dict[str, str]
) -> None:
    sent = {"csrf": token(paired), "seen": "1-4"}
    for path in every_change(app):
        assert paired.post(path, data=sent, headers=headers).status_code == 403, path
    assert table.submitted == []


def test_every_change_needs_the_token(table: ShownTable, app: Flask, paired: FlaskClient) -> None:
    for path in every_change(app):
        for sent in ("", "wrong", "wröng"):
            assert paired.post(path, data={"csrf": sent}).status_code == 403, path
    assert table.submitted == []


def test_token_of_another_visitor_does_not_do(table: ShownTable, app: Flask, paired: FlaskClient) -> None:
    stolen = token(app.test_client())
    assert paired.post("/actions/end-turn", data={"csrf": stolen}).status_code == 403
    assert table.submitted == []


def test_looking_is_no_change(table: ShownTable, paired: FlaskClient) -> None:
    for path in COMMANDS:
        assert paired.get(path).status_code == 405
    assert table.submitted == []


@pytest.mark.parametrize("headers", PAGE_REQUESTS)
def test_form_without_script_comes_back_to_the_page(paired: FlaskClient, headers: dict[str, str]) -> None:
    answer = paired.post("/actions/undo", data={"csrf": token(paired), "seen": "0-0"}, headers=headers)
    assert answer.status_code == 303 and answer.headers["Location"] == "/"


def test_refusal_is_told_in_one_line(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    table.refusal = "There is no play to challenge."
    assert press(paired, "/actions/challenge") == (409, "There is no play to challenge.\n")


def test_loser_is_told_what_happened_meanwhile(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    table.refusal = "Someone else was faster."
    answer = paired.post("/actions/end-turn", data={"csrf": token(paired), "seen": "1-3"})
    assert (
        answer.text
        == "Someone else was faster: Anna played PASTE 10D (+25). Check the game, then press the button again.\n"
    )
    assert answer.headers["X-Seen"] == "1-4"


def test_form_of_another_game_stays_refused(table: ShownTable, paired: FlaskClient) -> None:
    """Pressed again, the form would otherwise end or correct the game that has begun since it was opened."""
    table.show(replace(samples.MIDGAME, game=2))
    table.refusal = "Someone else was faster."
    answer = paired.post("/actions/end-game", data={"csrf": token(paired), "seen": "1-4"})
    assert answer.text.startswith("Another game has begun meanwhile") and "X-Seen" not in answer.headers


def test_square_of_a_blank_names_it(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    press(paired, "/actions/square", square="I10", letter="E", blank="1")
    press(paired, "/actions/square", square="E8", letter="E", blank="1")
    press(paired, "/actions/square", square="I10", letter="E")
    press(paired, "/actions/square", square="I10", letter="")
    assert [request for request, _ in table.submitted] == [
        NameBlank("I10", "E"),
        CorrectSquare("E8", "e"),
        CorrectSquare("I10", "E"),
        CorrectSquare("I10", "."),
    ]


def test_square_that_is_none_reaches_nothing_else(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    press(paired, "/actions/square", square="Z99", letter="E", blank="1")
    assert table.submitted == [(CorrectSquare("Z99", "e"), NOW)]


@pytest.mark.parametrize("headers", PAGE_REQUESTS)
def test_refusal_without_script_is_a_page_with_a_way_back(
    table: ShownTable, paired: FlaskClient, headers: dict[str, str]
) -> None:
    table.refusal = "There is no <play> to challenge."
    answer = paired.post("/actions/challenge", data={"csrf": token(paired), "seen": "0-0"}, headers=headers)
    assert answer.status_code == 409
    assert "There is no &lt;play&gt; to challenge." in answer.text and 'href="/"' in answer.text


@pytest.mark.parametrize("headers", PAGE_REQUESTS)
def test_form_of_an_unpaired_phone_is_refused_by_a_page(client: FlaskClient, headers: dict[str, str]) -> None:
    answer = client.post("/actions/undo", data={"csrf": token(client), "seen": "0-0"}, headers=headers)
    assert answer.status_code == 403 and "not paired" in answer.text and 'href="/"' in answer.text


def test_what_people_write_is_shown_as_text_in_every_form(table: ShownTable, app: Flask, paired: FlaskClient) -> None:
    players = (PlayerView("<b>Anna</b>", 1), PlayerView('Ben & "Co"', 2))
    table.show(replace(samples.RACKS, players=players, turn_of=0))
    app.extensions["pairing"].pair(app.extensions["pairing"].code, "1", "<i>phone</i>")
    pages = ("/", "/big", "/phones", "/dialogs/exchange", "/dialogs/rack", "/dialogs/new-game")
    for path in pages:
        html = paired.get(path).text
        assert "<b>Anna" not in html and "<i>phone" not in html and '& "Co"' not in html, path
    assert "&lt;b&gt;Anna" in paired.get("/dialogs/rack").text
    assert "&lt;i&gt;phone" in paired.get("/phones").text


@pytest.mark.parametrize("count", ["", "three", "1.5"])
def test_exchange_needs_a_number(table: ShownTable, paired: FlaskClient, count: str) -> None:
    status, why = press(paired, "/actions/exchange", count=count)
    assert status == 400 and "field is empty" in why
    assert table.submitted == []


def test_large_bodies_are_refused(paired: FlaskClient) -> None:
    sent = {"csrf": token(paired), "events": "1" * 100_000}
    assert paired.post("/actions/end-turn", data=sent).status_code == 413


@pytest.mark.parametrize(
    "path", ["/", "/big", "/pair", "/static/page.js", "/live/state", "/nonsense", "/pictures/1-3.jpg"]
)
def test_security_headers_are_on_every_answer(client: FlaskClient, path: str) -> None:
    with client.get(path) as answer:
        headers = answer.headers
    assert "script-src 'self'" in headers["Content-Security-Policy"]
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"


@pytest.mark.parametrize("name", samples.EVERY)
def test_page_has_nothing_inline(table: ShownTable, paired: FlaskClient, name: str) -> None:
    table.show(samples.EVERY[name])
    for path in ("/", "/big", "/dialogs/more", "/dialogs/square?square=I10", "/dialogs/new-game", "/dialogs/rack"):
        html = paired.get(path).text
        assert not re.search(r"<script(?![^>]*src=)|\son\w+=|\sstyle=|<style|https?://", html), path


def test_cookie_is_kept_from_scripts_and_other_sites(client: FlaskClient) -> None:
    cookie = client.get("/pair").headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie


def test_turn_is_put_right_by_what_was_filled_in(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    press(paired, "/actions/turn", number="3", player="1", word=" paste ", blanks="E", at="10d", score="−3")
    press(paired, "/actions/insert-turn", number="3", kind="exchange", count="2")
    assert [request for request, _ in table.submitted] == [
        CorrectTurn(3, player=1, word="PASTe", at="10d", score=-3),
        InsertTurn(3, kind="exchange", count=2),
    ]
    assert press(paired, "/actions/turn", number="3", score="many")[0] == 400


def test_turn_that_was_not_seen_is_entered_by_hand(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    assert 'href="/dialogs/entry"' in paired.get("/dialogs/more").text
    assert 'href="/dialogs/turn?number=4&amp;insert"' in paired.get("/dialogs/entry").text
    html = paired.get("/dialogs/turn?number=4&insert").text
    assert 'action="/actions/insert-turn"' in html and '<option value="1" selected>Ben</option>' in html
    assert 'action="/actions/insert-turn"' not in paired.get("/dialogs/turn?number=9&insert").text
    press(paired, "/actions/insert-turn", number="4", player="1", kind="play", word="AXE", at="h1")
    assert table.submitted[0][0] == InsertTurn(4, player=1, kind="play", word="AXE", at="h1")


@pytest.mark.parametrize(
    ("typed", "blanks", "word"),
    [("pi", "", "PI"), ("Haus", "", "HAUS"), ("h.rn", "", "H.RN"), ("hello", "L", "HElLO"), ("hello", "ll", "HEllO")],
)
def test_word_of_a_phone_keyboard_is_entered_as_capitals(
    table: ShownTable, paired: FlaskClient, typed: str, blanks: str, word: str
) -> None:
    table.show(samples.MIDGAME)
    press(paired, "/actions/insert-turn", number="4", kind="play", word=typed, blanks=blanks, at="d3")
    assert table.submitted[0][0] == InsertTurn(4, kind="play", word=word, at="d3")


def test_word_of_the_entry_board_keeps_its_blanks(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    press(paired, "/actions/insert-turn", number="4", kind="play", notation="H.r", at="d3")
    assert table.submitted[0][0] == InsertTurn(4, kind="play", word="H.r", at="d3")


def test_blank_that_the_word_does_not_contain_is_refused(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    assert press(paired, "/actions/insert-turn", number="4", kind="play", word="PI", blanks="Q", at="d3")[0] == 400


def test_blank_is_offered_the_letters_that_fit(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    html = paired.get("/dialogs/square?square=I10").text
    assert "These letters make words" in html
    assert re.findall(r'name="letter" value="(\w)"', html)[:2] == ["O", "I"]
    assert "These letters make words" not in paired.get("/dialogs/square?square=E8").text


def test_language_is_chosen_under_more(paired: FlaskClient) -> None:
    assert 'href="/?lang=de" lang="de" hreflang="de">Deutsch</a>' in paired.get("/dialogs/more").text


def test_words_are_looked_up_unless_only_a_challenge_may(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    assert "HORN is in the list" in paired.get("/dialogs/word?word=horn").text
    assert "XQ is not in the list" in paired.get("/dialogs/word?word=x+q").text
    assert "/dialogs/word" in paired.get("/dialogs/more").text
    table.show(replace(samples.MIDGAME, open_dictionary=False))
    answer = paired.get("/dialogs/word?word=horn").text
    assert "in the list" not in answer and "only in a challenge" in answer
    assert "/dialogs/word" not in paired.get("/dialogs/more").text


def test_page_draws_a_tile_for_each_who_draws(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.DRAWING)
    dealt = paired.get("/dialogs/draw?deal").text
    assert len(re.findall(r"<option[^>]* selected>", dealt)) == 2
    assert not re.findall(r"<option[^>]* selected>", paired.get("/dialogs/draw").text)
    assert draw_tiles(samples.DRAWING, random.Random(1)).keys() == {0, 1}


def test_question_is_opened_by_the_square_that_it_is_about(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.ASKED)
    html = paired.get("/").text
    assert 'href="/dialogs/question?square=G10"' in html and html.count('class="ring"') == 1
    dialog = paired.get("/dialogs/question?square=G10").text
    assert re.findall(r'formaction="/actions/answer/(\d)"', dialog) == ["0", "1"]
    assert "Something else is there" in dialog


def test_refusal_with_a_key_is_said_in_the_language_of_the_phone(table: ShownTable, paired: FlaskClient) -> None:
    table.show(replace(samples.MIDGAME, notices=(make_notice("begins", "Zoë"),)))
    german = {"Accept-Language": "de"}
    assert "Zoë beginnt." in paired.get("/", headers=german).text and "Zoë begins." in paired.get("/").text


def test_form_to_rename_has_the_names_of_all_players(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    text = paired.get("/dialogs/more").text
    assert text.count('action="/actions/rename"') == len(samples.MIDGAME.players)
    assert all(f'value="{player.name}"' in text for player in samples.MIDGAME.players)


def test_outcome_of_a_challenge_is_entered_by_hand(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    assert "/dialogs/decide-challenge" in paired.get("/dialogs/more").text
    html = paired.get("/dialogs/decide-challenge").text
    assert "Anna played PASTE, FARMS" in html and '<option value="1" selected>Ben</option>' in html
    assert 'name="upheld" value="true"' in html and 'name="upheld" value="false"' in html


def test_board_that_is_entered_is_sent_as_rows(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    html = paired.get("/dialogs/board").text
    assert 'action="/actions/board"' in html and html.count('data-lay="square"') == 225
    found = re.search(r"<textarea.*?>(.*?)</textarea>", html, re.S)
    assert found and found[1].splitlines()[7] == ". . . . H O R N . . . . . . ."
    press(paired, "/actions/board", symbols=found[1].replace("H O R N .", "H O R N S"))
    command = table.submitted[-1][0]
    assert isinstance(command, EnterBoard) and "".join(command.rows[7]) == "....HORNS......"


def test_board_of_too_few_squares_is_refused(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    assert press(paired, "/actions/board", symbols=". . .")[0] == 400


@pytest.mark.parametrize("variation", VARIATIONS)
def test_board_form_is_offered_in_games_with_a_variation(
    table: ShownTable, paired: FlaskClient, variation: str
) -> None:
    table.show(samples.MIDGAME)
    assert "/dialogs/entry" in paired.get("/dialogs/more").text
    assert "/dialogs/board" not in paired.get("/dialogs/more").text
    table.show(replace(samples.MIDGAME, rules=Rules(**{variation: True})))
    assert "/dialogs/board" in paired.get("/dialogs/more").text


@pytest.mark.parametrize("variation", VARIATIONS)
def test_board_form_explains_the_variations_of_the_game(table: ShownTable, paired: FlaskClient, variation: str) -> None:
    table.show(replace(samples.MIDGAME, rules=Rules(**{variation: True})))
    html = paired.get("/dialogs/board").text
    explained = [name for name in VARIATIONS if languages()["en"](f"lay.{name}") in html]
    assert explained == [variation]


def test_racks_of_all_players_are_counted_by_one_form(table: ShownTable, paired: FlaskClient) -> None:
    table.show(replace(samples.ENDED, racks_wanted=(0, 1, 2)))
    form = paired.get("/dialogs/rack").text
    assert form.count('action="/actions/racks"') == 1 and form.count('name="letters"') == 3
    data = {"csrf": token(paired), "seen": "1-4", "player": ["0", "1", "2"], "letters": ["AE", " ", "Q"]}
    assert paired.post("/actions/racks", data=data).status_code == 204
    assert [command for command, _ in table.submitted] == [RevealRack(0, "AE"), RevealRack(2, "Q")]


def test_racks_without_any_letters_are_refused_but_a_single_one_is_counted(
    table: ShownTable, paired: FlaskClient
) -> None:
    data = {"csrf": token(paired), "seen": "1-4", "player": ["0", "1"], "letters": ["", ""]}
    answer = paired.post("/actions/racks", data=data)
    assert (answer.status_code, answer.text) == (409, "Enter the letters of at least one player.\n")
    assert paired.post("/actions/racks", data={**data, "player": "1", "letters": ""}).status_code == 204
    assert table.submitted == [(RevealRack(1, ""), NOW)]


def test_later_racks_are_for_the_game_after_the_first(
    table: ShownTable, paired: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another phone may begin a game between two racks of one form: the second rack is not one of that game."""

    def begin_another_game(command: TableCommand, expected: Moment, seat: int | None) -> Future[TableSnapshot]:
        result = submit(command, expected, seat)
        table.show(replace(samples.MIDGAME, game=2, events=1))
        return result

    submit = table.submit
    table.show(replace(samples.ENDED, events=NOW.events, racks_wanted=(0, 1)))
    monkeypatch.setattr(table, "submit", begin_another_game)
    data = {"csrf": token(paired), "seen": "1-4", "player": ["0", "1"], "letters": ["A", "E"]}
    paired.post("/actions/racks", data=data)
    assert [moment for _, moment in table.submitted] == [NOW, NOW]


class SlowDisk(Future[TableSnapshot]):
    """The result of a command that takes a second to be saved."""

    def result(self, timeout: float | None = None) -> TableSnapshot:
        if timeout is not None and timeout < 1.0:
            raise TimeoutError
        return super().result(timeout)


def test_racks_are_entered_one_after_the_other_on_a_slow_disk(
    table: ShownTable, paired: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def save_slowly(command: TableCommand, expected: Moment, _: int | None) -> Future[TableSnapshot]:
        table.submitted.append((command, expected))
        result = SlowDisk()
        result.set_result(replace(table.state, events=NOW.events + 1))
        return result

    monkeypatch.setattr(table, "submit", save_slowly)
    table.show(replace(samples.ENDED, events=NOW.events, racks_wanted=(0, 1)))
    data = {"csrf": token(paired), "seen": "1-4", "player": ["0", "1"], "letters": ["A", "E"]}
    assert paired.post("/actions/racks", data=data).status_code == 204
    assert [moment for _, moment in table.submitted] == [NOW, Moment(1, NOW.events + 1)]


def test_first_rack_that_is_refused_ends_the_list(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    table.refusal = "All J tiles are on the board."
    data = {"csrf": token(paired), "seen": "1-4", "player": ["0", "1"], "letters": ["J", "A"]}
    assert "All J tiles" in paired.post("/actions/racks", data=data).text
    assert len(table.submitted) == 1


def test_square_is_shown_as_the_camera_saw_it(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    form = paired.get("/dialogs/square?square=G10").text
    assert 'href="/pictures/1-3.jpg"' in form and "Photo of G10" in form
    assert 'viewBox="180.0 300.0 200 200"' in form  # columns 4 to 8, rows 7 to 11; squares of 40, a border of 20
    table.show(samples.BEFORE)
    assert "Photo of" not in paired.get("/dialogs/square?square=G10").text


@pytest.mark.parametrize(("square", "first", "last"), [("H8", "F6", "J10"), ("A1", "A1", "E5"), ("O2", "K1", "O5")])
def test_squares_around_a_square_can_be_tapped(
    table: ShownTable, paired: FlaskClient, square: str, first: str, last: str
) -> None:
    table.show(samples.MIDGAME)
    form = paired.get(f"/dialogs/square?square={square}").text
    names = re.findall(r'href="/dialogs/square\?square=(\w+)"', form)
    assert len(names) == 25 and names[0] == first and names[-1] == last
    assert re.findall(r'aria-label="([^"]*)" aria-current="true"', form)[0].startswith(square)
