"""The score page without its script."""

from __future__ import annotations

import gzip
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from flask import Flask
from flask.testing import FlaskClient

from device.catalogue import get_text
from device.session.messages import DeferredQuestion, Notice, Question, Trouble, make_question
from device.session.snapshot import PlayerView, Sight, TurnView
from device.session.snapshot_builder import build_snapshot
from engine.events import Challenged, GameStarted, PlayMade
from engine.game import Game
from engine.plays import Play
from engine.rules import EDITION_COLOURS, ChallengeRule, Rules, rules_preset
from tests.support import samples
from tests.web.conftest import ShownTable
from web import create_app
from web.host_info import HostInfo


def text_of(html: str) -> str:
    class Words(HTMLParser):
        words: list[str]

        def handle_data(self, data: str) -> None:
            self.words.append(data)

    parser = Words()
    parser.words = []
    parser.feed(html)
    return " ".join(" ".join(parser.words).replace("\u200a", "").split())


def part(html: str, name: str) -> str:
    """The text of the element with this id (sections do not nest on the page)."""
    found = re.search(rf'<(section|div) id="{name}".*?</\1>', html, re.S)
    assert found, name
    return text_of(found[0])


def page(client: FlaskClient) -> str:
    return client.get("/").get_data(as_text=True)


def test_names_totals_and_whose_turn(table: ShownTable, client: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    assert part(page(client), "scores") == "Anna 39 +25 Ben 9 to play"
    assert part(page(client), "status") == "Ben to play"


def test_card_of_a_player_shows_the_last_turn_after_a_failed_challenge(table: ShownTable, client: FlaskClient) -> None:
    game = Game.start(("Anna", "Ben", "Cleo"))
    game = game.push(PlayMade(0, Play.from_gcg(game.board, "8F", "HORN", game.tiles)), Challenged(2, upheld=False))
    table.show(build_snapshot(game, None))
    assert part(page(client), "scores") == "Anna 14 +14 Ben 0 to play Cleo 0"


def test_turn_that_may_be_over_is_asked_about(table: ShownTable, client: FlaskClient) -> None:
    table.show(replace(samples.MIDGAME, sight=Sight.TURN_OVER))
    assert part(page(client), "talk") == "Is Ben’s turn over? If so, press “End turn”."


def test_last_play_is_broken_down_word_by_word(table: ShownTable, client: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    last = part(page(client), "last")
    assert last.startswith("Anna played 10D")
    assert "+25" in last
    assert "PASTE(3+1+1×2+1+1)×214" in last.replace(" ", "")
    assert "FARMS4+1+1+3+1×211" in last.replace(" ", "")


def test_premiums_of_the_last_play_have_the_colours_of_its_board(table: ShownTable, client: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    html = page(client)
    assert re.findall(r'<b class="p(\d\w)">([^<]*)</b>', html) == [("2L", "1×2"), ("2W", "×&#8202;2"), ("2L", "1×2")]
    assert html.count('data-edition="crossword-game"') == 2
    css = client.get("/editions.css").text
    assert all(f'[data-edition="{edition}"] .p3W' in css for edition in EDITION_COLOURS)


def test_invalid_word_is_marked_in_the_score_sheet(table: ShownTable, client: FlaskClient) -> None:
    table.show(samples.PHONY)
    html = page(client)
    assert "MOB is not in the word list" in part(html, "last")
    assert 'role="alert"' not in html, "an alert in a live region is announced twice"
    assert len(re.findall(r'<li class="invalid">', html)) == 1


def test_page_says_when_words_are_not_checked(table: ShownTable, client: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    assert "not checked" not in page(client)
    table.show(replace(samples.UNCHECKED, turns=()))
    assert "There is no word list for this game (German), so words are not checked." in part(page(client), "last")
    table.show(samples.UNCHECKED)
    assert "not checked" not in part(page(client), "last"), "once is enough; the rules say it, too"


def test_page_says_when_nothing_is_checked_in_a_game_without_challenges(table: ShownTable, client: FlaskClient) -> None:
    void = replace(samples.UNCHECKED, turns=(), rules=Rules(challenge=ChallengeRule.VOID))
    table.show(void)
    assert "nothing is checked, and every play counts" in part(page(client), "last")
    table.show(replace(void, lexicon="club"))
    assert "nothing is checked" not in part(page(client), "last")
    table.show(replace(void, lexicon="words", lexicon_advises=True))
    assert "nothing is checked, and every play counts" in part(page(client), "last")


def test_page_says_that_a_list_only_advises(table: ShownTable, client: FlaskClient) -> None:
    table.show(samples.ADVISED)
    html = page(client)
    assert (
        "The word list does not have HORN. It only gives advice: you decide whether to challenge." in html
        and "invalid" not in part(html, "turns")
    )
    assert "The word list ngerman is not complete" in html


def test_word_outside_the_list_is_no_reason_to_challenge_in_a_game_without_challenges(
    table: ShownTable, client: FlaskClient
) -> None:
    without_challenges = Rules(challenge=ChallengeRule.VOID)
    table.show(replace(samples.ADVISED, rules=without_challenges))
    text = "The word list does not have {}. If the play does not count, choose More &gt; Decide a challenge."
    assert text.format("HORN") in page(client)
    table.show(replace(samples.PHONY, rules=without_challenges))
    assert text.format("MOB") in page(client)


def test_bonus_names_the_number_of_tiles(table: ShownTable, client: FlaskClient) -> None:
    game = Game.start(("Anna", "Ben"), rules_preset("nine-tile"))
    game = game.push(PlayMade(0, Play.from_gcg(game.board, "8B", "QUARTERS", game.tiles)))
    table.show(build_snapshot(game, None))
    assert "Bingo 8 tiles in one turn 50" in part(page(client), "last")


def test_board_is_drawn_with_its_tiles_and_premiums(table: ShownTable, client: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    html = page(client)
    drawn = html[html.index('<svg class="board"') :]
    drawn = drawn[: drawn.index("</svg>")]
    assert len(re.findall(r'<g class="t', drawn)) == len(samples.MIDGAME.board.tiles) - drawn.count('<rect class="s')
    assert len(re.findall(r'<g class="t new"', drawn)) == 5
    assert len(re.findall(r'<g class="t blank"', drawn)) == 1
    assert len(re.findall(r'<rect class="s p3W"', drawn)) == 8


def test_doubtful_squares_are_ringed_on_the_picture(table: ShownTable, client: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    html = page(client)
    assert '<image href="/pictures/1-3.jpg"' in html
    rings = re.findall(r'<circle class="doubt" cx="([\d.]+)" cy="([\d.]+)"', html)
    assert rings == [("7.0", "9.0"), ("8.0", "10.0")]
    assert html.count('<rect class="hidden"') == 2
    assert part(html, "camera") == "Camera 2 uncertain, 2 hidden"


def test_every_turn_is_listed_newest_first(table: ShownTable, client: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    assert part(page(client), "turns") == "Turns Anna PASTE 10D +25 39 Ben FARM G6 +9 9 Anna HORN 8E +14 14"


def test_doubtful_letter_is_named_beside_its_turn_and_its_play(table: ShownTable, client: FlaskClient) -> None:
    *earlier, last = samples.MIDGAME.turns
    table.show(replace(samples.MIDGAME, turns=(*earlier, replace(last, tiles=(("E10", "A"),), doubtful=("E10",)))))
    html = page(client)
    assert part(html, "turns").startswith("Turns Anna PASTE 10D not sure: A (E10) +25 39")
    assert "The camera is not sure of A (E10)." in part(html, "last")


def test_notice_says_whose_business_it_is(table: ShownTable, client: FlaskClient) -> None:
    table.show(samples.CONFUSED)
    html = page(client)
    assert "look at K9 and M11" in part(html, "talk")
    assert 'class="notice board"' in html and 'class="now trouble"' in html


def test_question_has_a_button_for_each_answer(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.ASKED)
    html = page(paired)
    assert "Which tile is on G10: T or I?" in part(html, "talk")
    found = re.findall(
        r'<button class="touch" form="panel" formaction="/actions/answer/(\d)" aria-pressed="(\w+)"', html
    )
    assert found == [("0", "true"), ("1", "false")]


@pytest.mark.parametrize("path", ["/", "/dialogs/question"])
def test_challenge_is_decided_or_cancelled(table: ShownTable, paired: FlaskClient, path: str) -> None:
    table.show(samples.CHALLENGED)
    shown = paired.get(path).text
    assert re.findall(r'formaction="(/actions/(?:answer/\d|undo))"[^>]*>([^<]*)</button>', shown)[:3] == [
        ("/actions/answer/1", "No: Anna takes the tiles back."),
        ("/actions/answer/2", "Yes: the challenge failed."),
        ("/actions/undo", "Do not challenge"),
    ]


@pytest.mark.parametrize("path", ["/", "/dialogs/question"])
def test_form_of_a_question_has_its_number(table: ShownTable, paired: FlaskClient, path: str) -> None:
    assert samples.ASKED.question is not None
    table.show(replace(samples.ASKED, question=replace(samples.ASKED.question, id=77)))
    assert '<input type="hidden" name="question_id" value="77">' in paired.get(path).text


def test_news_have_the_number_of_the_question(table: ShownTable, client: FlaskClient) -> None:
    assert samples.ASKED.question is not None
    table.show(replace(samples.ASKED, question=replace(samples.ASKED.question, id=77)))
    assert client.get("/live/state").get_json()["question"] == 77


def test_question_shows_the_squares_in_the_photograph(table: ShownTable, client: FlaskClient) -> None:
    assert samples.ASKED.question is not None
    table.show(replace(samples.ASKED, question=replace(samples.ASKED.question, picture="crop-1")))
    found = re.search(r'<img class="squares" src="([^"]+)" alt="([^"]+)">', page(client))
    assert found and found.groups() == ("/pictures/crop-1.jpg", "Photo of the squares G10")


def test_question_without_a_picture_has_no_image(table: ShownTable, client: FlaskClient) -> None:
    table.show(samples.ASKED)
    assert 'class="squares"' not in page(client)


def test_question_can_be_answered_later_or_with_another_picture(table: ShownTable, paired: FlaskClient) -> None:
    question = samples.ASKED.question
    assert question is not None
    table.show(replace(samples.ASKED, question=replace(question, can_defer=True, can_look_again=True)))
    html = page(paired)
    assert 'formaction="/actions/later"' in html and 'formaction="/actions/look-again"' in html


@pytest.mark.parametrize(("numbers", "summary"), [((3,), "1 open question"), ((2, 3, 5), "3 open questions")])
def test_deferred_questions_are_folded_to_one_line(
    table: ShownTable, paired: FlaskClient, numbers: tuple[int, ...], summary: str
) -> None:
    question = samples.ASKED.question
    assert question is not None
    table.show(replace(samples.MIDGAME, open_questions=tuple(DeferredQuestion(n, question) for n in numbers)))
    html = page(paired)
    assert f"{summary} Which tile is on G10: T or I?" in part(html, "talk")
    assert '<details class="question deferred" id="open-questions">' in html
    answers = re.findall(r'formaction="/actions/answer-later/(\d)/(\d)"', html)
    assert answers == [(str(number), answer) for number in numbers for answer in "01"]


def test_provisional_turn_is_marked(table: ShownTable, client: FlaskClient) -> None:
    *others, last = samples.MIDGAME.turns
    table.show(replace(samples.MIDGAME, turns=(*others, replace(last, provisional=True))))
    html = page(client)
    assert "provisional" in part(html, "turns") and "question about this turn is still open" in part(html, "last")


def test_names_are_shown_as_text(table: ShownTable, client: FlaskClient) -> None:
    names = (PlayerView("<script>alert(1)</script>", 1), PlayerView("Ben & Söhne", 2))
    table.show(replace(samples.MIDGAME, players=names, notices=(Notice("<b>", Trouble.CAMERA),)))
    html = page(client)
    assert "<script>alert" not in html
    assert part(html, "scores") == "<script>alert(1)</script> 1 +25 Ben & Söhne 2 to play"
    assert part(html, "talk").endswith("<b>")


@pytest.mark.parametrize("name", samples.EVERY)
def test_every_state_has_a_page_of_little_weight(table: ShownTable, client: FlaskClient, name: str) -> None:
    table.show(samples.EVERY[name])
    weight = 0
    for path in (
        "/",
        "/static/page.css",
        "/static/table.css",
        "/editions.css",
        "/static/page.js",
        "/static/table.js",
        "/static/icon.svg",
        "/static/manifest.webmanifest",
    ):
        with client.get(path) as answer:
            assert answer.status_code == 200
            weight += len(gzip.compress(answer.data))
    assert weight < 25_000


def test_due_end_leaves_no_player_to_play(table: ShownTable, client: FlaskClient) -> None:
    table.show(replace(samples.MIDGAME, end_due=True))
    html = page(client)
    assert part(html, "status") == "The game is over" and "to play" not in part(html, "scores")


def test_due_end_mentions_a_challenge_only_if_the_last_play_may_be_challenged(
    table: ShownTable, client: FlaskClient
) -> None:
    challenged = "You can still challenge the last play."
    table.show(replace(samples.MIDGAME, end_due=True, rules=Rules()))
    assert challenged in part(page(client), "talk")
    table.show(replace(samples.MIDGAME, end_due=True, rules=Rules(challenge=ChallengeRule.VOID)))
    assert part(page(client), "talk") == "The game is over. Tap “End game”."
    passed = TurnView(4, 1, "pass", 0, 9)
    table.show(replace(samples.MIDGAME, end_due=True, rules=Rules(), turns=(*samples.MIDGAME.turns, passed)))
    assert part(page(client), "talk") == "The game is over. Tap “End game”."


def test_winner_is_named_at_the_end(table: ShownTable, client: FlaskClient) -> None:
    table.show(samples.ENDED)
    html = page(client)
    assert part(html, "status") == "Anna wins"
    assert "winner" in part(html, "scores") and "−7" in part(html, "scores")


def test_buttons_are_there_only_for_paired_phones(client: FlaskClient, paired: FlaskClient) -> None:
    assert 'id="panel"' not in page(client) and 'href="/pair"' in page(client)
    assert 'id="panel"' in page(paired) and 'href="/pair"' not in page(paired)


def test_unseen_tiles_are_counted(table: ShownTable, client: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    assert part(page(client), "unseen").startswith("Unseen tiles 13 A 9 B 2 C 0 D 0")


def test_scores_are_drawn_as_a_line_for_each_player(table: ShownTable, client: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    html = page(client)
    assert 'aria-label="Totals after each turn: Anna 39, Ben 9"' in html
    lines = re.findall(r'<polyline points="([^"]+)"', html)
    assert [len(line.split()) for line in lines] == [4] * 4  # two drawings
    heights = [[float(point.split(",")[1]) for point in line.split()] for line in lines]
    assert heights[0][0] == heights[1][0] == heights[1][1] > heights[1][2] > heights[0][1] > heights[0][3]


def test_big_screen_shows_the_code_only_if_it_is_paired(
    table: ShownTable, client: FlaskClient, paired: FlaskClient, app: Flask
) -> None:
    table.show(samples.MIDGAME)
    code = app.extensions["pairing"].code
    client.environ_base["REMOTE_ADDR"] = "192.0.2.7"
    shown = client.get("/big").text
    assert part(shown, "scores") == "Anna 39 +25 Ben 9 to play" and "<button" not in shown
    assert f"{code[:3]} {code[3:]}" not in shown
    assert f"{code[:3]} {code[3:]}" in paired.get("/big").text
    assert 'class="big overlay"' in client.get("/big?overlay").text


def test_pictures_come_by_the_name_that_a_state_gave_them(client: FlaskClient) -> None:
    answer = client.get("/pictures/1-3.jpg")
    assert answer.mimetype == "image/jpeg" and answer.data.startswith(b"\xff\xd8")
    assert client.get("/pictures/..%2f..%2fetc%2fpasswd.jpg").status_code == 404
    assert client.get("/pictures/9-9.jpg").status_code == 404


def test_picture_is_requested_again_but_sent_only_if_it_has_changed(client: FlaskClient) -> None:
    answer = client.get("/pictures/1-3.jpg")
    assert answer.headers["Cache-Control"] == "private, no-cache"
    again = client.get("/pictures/1-3.jpg", headers={"If-None-Match": answer.headers["ETag"]})
    assert again.status_code == 304 and not again.data


def test_unknown_page_says_where_to_go(client: FlaskClient) -> None:
    answer = client.get("/nonsense", headers={"Accept": "text/html"})
    assert answer.status_code == 404 and "There is no page" in answer.text
    assert re.search('<a [^>]*href="/"[^>]*>Back to the score</a>', answer.text)


def test_board_of_a_language_written_from_the_right_is_drawn_mirrored(table: ShownTable, client: FlaskClient) -> None:
    game = Game.begin(GameStarted(("Dana", "Noam"), tile_set="he"))
    table.show(build_snapshot(game.push(PlayMade(0, Play.from_gcg(game.board, "8G", "שלום", game.tiles))), None))
    html = page(client)
    labels = re.search(r'<g class="labels".*?</g>', html, re.S)
    assert labels and re.findall(r">([A-O])<", labels[0]) == list("ONMLKJIHGFEDCBA")
    drawn = {letter: int(x) for x, letter in re.findall(r'<text x="(\d+)" y="\d+">([א-ת])</text>', html)}
    assert drawn["ש"] > drawn["ל"] > drawn["ו"] > drawn["מ"]
    assert "column A is on the right" in part(html, "board")


def test_square_beside_a_word_written_from_the_right_is_isolated(table: ShownTable, client: FlaskClient) -> None:
    """Otherwise browsers draw the 8 of 8G on one side of the word and the G on the other."""
    game = Game.begin(GameStarted(("Dana", "Noam"), tile_set="he"))
    table.show(build_snapshot(game.push(PlayMade(0, Play.from_gcg(game.board, "8G", "שלום", game.tiles))), None))
    assert re.search(r"<b>[א-ת]+</b> <bdi class=\"at\">8G</bdi>", page(client))


def test_final_card_names_the_result_of_every_player(table: ShownTable, client: FlaskClient) -> None:
    table.show(samples.ENDED)
    last = part(page(client), "last")
    assert last.startswith("Final score Anna 402 Christiane-Margarete 401 Ben 377 D −7")


def test_page_has_the_text_for_the_time_of_a_lost_connection(client: FlaskClient) -> None:
    assert 'data-offline-since="no connection since {time}"' in page(client)
    german = client.get("/?lang=de").text
    assert 'data-offline-since="keine Verbindung seit {time}"' in german


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("/history", "Games · Tilekeeper"),
        ("/records", "Records · Tilekeeper"),
        ("/pair", "Pair this phone · Tilekeeper"),
        ("/nowhere", "Tilekeeper"),
    ],
)
def test_pages_have_titles_of_their_own(client: FlaskClient, path: str, title: str) -> None:
    assert f"<title>{title}</title>" in client.get(path, headers={"Sec-Fetch-Dest": "document"}).text


def test_chart_is_drawn_wide_and_tall_for_cards_of_both_shapes(table: ShownTable, client: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    html = page(client)
    assert '<svg class="chart" viewBox="0 0 400.0 180.0"' in html
    assert '<svg class="chart tall" viewBox="0 0 300.0 240.0"' in html


@pytest.mark.parametrize("path", ["/", "/big", "/history", "/join"])
def test_name_of_the_table_is_on_its_pages(table: ShownTable, path: str) -> None:
    app = create_app(table, host_info=HostInfo(table_name="Table 7"))
    assert '<span class="table">Table 7</span>' in app.test_client().get(path).text
    app.extensions["live"].close()


def test_table_with_a_camera_of_its_own_has_no_camera_page(paired: FlaskClient) -> None:
    assert paired.get("/camera").status_code == 404
    assert 'href="/camera"' not in paired.get("/dialogs/more").text


def test_exchange_is_answered_with_a_number(table: ShownTable, client: FlaskClient) -> None:
    mistake = get_text("answer-mistake")
    answers = (get_text("answer-pass", "Ben"), get_text("answer-exchange", "Ben", "1"), mistake)
    question = make_question("pass-or-exchange", "Ben", answers=answers)
    table.show(replace(samples.ASKED, question=question))
    html = page(client)
    assert 'aria-label="Ben exchanged 1.">1</button>' in html and "Ben exchanged 1.</p>" not in html
    assert f">{mistake}</button>" in html


def test_unplayed_letters_are_asked_for_before_a_winner_is_named(table: ShownTable, client: FlaskClient) -> None:
    table.show(replace(samples.RACKS, winners=()))
    html = page(client)
    assert part(html, "status") == "Any unplayed letters?" and "racks-wanted" in html


def test_letter_of_a_blank_is_answered_in_a_grid(table: ShownTable, client: FlaskClient) -> None:
    question = Question(
        "Which letter does the blank on J14 stand for?", ("Ben played H?RN.", get_text("answer-blank", "Q"))
    )
    table.show(replace(samples.ASKED, question=question, open_questions=(DeferredQuestion(3, question),)))
    html = page(client)
    assert html.count('aria-label="The blank is Q.">Q</button>') == 2 and "Ben played H?RN.</button>" in html


def test_unplayed_letters_do_not_look_like_a_word(table: ShownTable, client: FlaskClient) -> None:
    table.show(samples.FINISHED)
    html = page(client)
    assert "<em>unplayed letters</em> QA" in html and "<b>QA</b>" not in html


def test_failed_challenge_names_the_word_without_dots_and_what_follows(table: ShownTable, client: FlaskClient) -> None:
    play = replace(samples.MIDGAME.turns[-1], word="P.STE")
    lost = replace(
        play, number=play.number + 1, kind="challenge", player=1, score=0, word="", words=(), at="", target=3
    )
    table.show(replace(samples.MIDGAME, turns=(*samples.MIDGAME.turns[:-1], play, lost)))
    page = client.get("/").text
    assert "PASTE stays on the board." in page and "P.STE" not in page


def test_pass_leaves_the_last_play_on_its_card(table: ShownTable, client: FlaskClient) -> None:
    passed = replace(samples.MIDGAME.turns[-1], number=4, kind="pass", player=1, score=0, word="", words=(), at="")
    table.show(replace(samples.MIDGAME, turns=(*samples.MIDGAME.turns, passed)))
    assert 'class="headline earlier"' in client.get("/").text


def test_empty_square_names_its_premium(table: ShownTable, client: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    assert 'aria-label="A1 3W: empty"' in client.get("/").text


def test_overlay_opened_from_the_menu_has_a_way_back(client: FlaskClient) -> None:
    assert "Back to the score" in client.get("/big?overlay&back").text
    assert "Back to the score" not in client.get("/big?overlay").text
