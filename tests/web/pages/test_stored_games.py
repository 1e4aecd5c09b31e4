"""Games that were played: found, gone through turn by turn, counted, taken along, brought back, deleted."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from device.session.commands.games import EndGame, StartGame
from device.session.commands.turns import EndTurn
from engine.events import GameStarted
from tests.support.api_table import STARTED, WebTable, open_web_table
from tests.support.text_table import HORN
from tests.support.waiting import PATIENCE_S
from tests.web.conftest import token
from web.game_archive import COMMENT_NOTE, MAX_COMMENT_CHARS, MAX_IMPORT_BYTES, GameArchive
from web.security.csrf import MAX_BODY_BYTES


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebTable]:
    """A table with one game that has ended, to be looked at only."""
    with open_web_table(tmp_path_factory.mktemp("played")) as table:
        table.play_three_turns()
        table.end()
        yield table


@pytest.fixture
def table(tmp_path: Path) -> Iterator[WebTable]:
    with open_web_table(tmp_path) as table:
        table.play_three_turns()
        table.end()
        yield table


def read(table: WebTable, path: str) -> str:
    answer = table.app.test_client().get(path)
    assert answer.status_code == 200
    return answer.text


def test_list_names_players_and_totals(played: WebTable) -> None:
    page = read(played, "/history")
    assert re.search(r'class="winner">Anna <b>39</b>', page) and "Ben <b>9</b>" in page
    assert 'href="/history/1"' in page


def test_game_that_was_begun_again_before_its_first_turn_is_not_listed(table: WebTable) -> None:
    table.session.submit(StartGame(GameStarted(("Player 1", "Player 2")))).result(PATIENCE_S)
    assert "Player 1" in read(table, "/history")
    table.session.submit(StartGame(STARTED)).result(PATIENCE_S)
    assert "Player 1" not in read(table, "/history")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("player=Anna", True),
        ("player=Zoe", False),
        ("since=2001-01-01", True),
        ("until=2001-01-01", False),
        ("since=nonsense&skip=-5", True),
        ("skip=99", False),
    ],
)
def test_games_are_sought_by_player_and_day(played: WebTable, query: str, found: bool) -> None:
    assert ('href="/history/1"' in read(played, f"/history?{query}")) is found


def test_game_is_gone_through_turn_by_turn(played: WebTable) -> None:
    counts = [read(played, f"/history/1?turn={turn}").count('<g class="t') for turn in (0, 1, 2, 3)]
    assert counts == [0, 4, 7, 12]
    first = read(played, "/history/1?turn=1")
    assert "Anna <b>14</b>" in first and "Ben <b>0</b>" in first
    assert 'href="/history/1?turn=2" aria-label="One turn forward"' in first


def test_turn_beyond_the_end_is_the_end(played: WebTable) -> None:
    assert "Step 3 of 3" in read(played, "/history/1?turn=99")
    assert "Step 0 of 3" in read(played, "/history/1?turn=-1")
    assert "Step 3 of 3" in read(played, "/history/1?turn=x")


def test_slider_gets_the_part_that_changes(played: WebTable) -> None:
    part = played.app.test_client().get("/history/1?turn=1", headers={"X-Part": "1"}).text
    assert "<html" not in part and "data-slide" in part


def test_each_turn_has_its_picture(played: WebTable) -> None:
    names = [re.search(r'src="(/history/\d+/\d+\.jpg)"', read(played, f"/history/1?turn={turn}")) for turn in (1, 2, 3)]
    paths = [name[1] for name in names if name]
    assert len(set(paths)) == 3
    assert all(played.app.test_client().get(path).data.startswith(b"\xff\xd8") for path in paths)


def test_words_that_were_checked_are_not_called_unchecked(played: WebTable) -> None:
    assert "not checked" not in read(played, "/history/1")


def test_gcg_of_a_game_is_offered_with_the_other_end(played: WebTable) -> None:
    assert 'href="/history/1/game.gcg?unplayed=twice" download>GCG file (+2x)<' in read(played, "/history/1")
    answer = played.app.test_client().get("/history/1/game.gcg?unplayed=twice")
    assert answer.status_code == 200 and ">Anna: HNOR 8F HORN +14 14" in answer.text


def test_page_says_that_racks_are_missing_in_the_gcg_of_a_game(table: WebTable, phone: FlaskClient) -> None:
    assert "The camera does not see the racks" in read(table, "/history/1")
    _, where = bring(phone, GCG_OFF_CENTRE)
    assert "The camera does not see the racks" not in read(table, where)


def test_board_of_the_past_has_no_links(played: WebTable) -> None:
    assert "/dialogs/square" not in read(played, "/history/1")


@pytest.mark.parametrize("path", ["/history/2", "/history/2/game.gcg", "/history/2/game.zip", "/history/1/99.jpg"])
def test_missing_page_of_a_stored_game_is_not_found(played: WebTable, path: str) -> None:
    assert played.app.test_client().get(path).status_code == 404


def test_records_lead_to_games(played: WebTable) -> None:
    page = read(played, "/records")
    assert "Anna – Ben" in page and 'href="/history/1?turn=3"' in page
    assert "Ben – Anna" in read(played, "/records?player=Ben")
    assert "<script>" not in read(played, "/records?player=%3Cscript%3E")


def test_only_paired_phones_are_offered_changes(table: WebTable, phone: FlaskClient) -> None:
    assert "/history/import" not in read(table, "/history")
    assert "/history/import" in phone.get("/history").text
    assert table.app.test_client().get("/history/1/delete").status_code == 303


def test_game_is_deleted_only_after_a_question_and_not_while_at_the_table(table: WebTable, phone: FlaskClient) -> None:
    assert "deleted for good" in phone.get("/history/1/delete").text
    assert phone.post("/history/1/delete", data={"csrf": token(phone)}).status_code == 409
    table.session.submit(StartGame(STARTED)).result(PATIENCE_S)
    assert phone.post("/history/1/delete", data={"csrf": token(phone)}).status_code == 303
    assert phone.get("/history/1").status_code == 404


def bring(phone: FlaskClient, data: bytes) -> tuple[int, str]:
    form = {"csrf": token(phone), "file": (io.BytesIO(data), "../../etc/game.zip")}
    answer = phone.post("/history/import", data=form, content_type="multipart/form-data")
    return answer.status_code, answer.headers.get("Location", "") or answer.text


def test_game_is_brought_back_from_its_files(table: WebTable, phone: FlaskClient) -> None:
    packed, gcg = phone.get("/history/1/game.zip").data, phone.get("/history/1/game.gcg").data
    table.session.submit(StartGame(STARTED)).result(PATIENCE_S)
    phone.post("/history/1/delete", data={"csrf": token(phone)})
    status, where = bring(phone, packed)
    assert status == 303
    assert read(table, where).count('<g class="t') == 12 and "imported" in read(table, "/history")
    status, refusal = bring(phone, gcg)  # the same game; the list shows no numbers, but days and players
    assert status == 409 and re.search(r"It is game \d+ \(\d{4}-\d\d-\d\d, Anna, Ben\)\.", refusal)
    phone.post(f"{where}/delete", data={"csrf": token(phone)})
    assert bring(phone, gcg)[0] == 303


def test_several_games_are_imported_at_once(table: WebTable, phone: FlaskClient) -> None:
    head = "#player1 A Ann\n#player2 B Bob\n"
    games = [f"{head}>A: HORN 8F HORN +14 14\n", "no game", f"{head}>A: FARM 8F FARM +18 18\n"]
    files = [(io.BytesIO(text.encode()), f"{number}.gcg") for number, text in enumerate(games)]
    form = {"csrf": token(phone), "file": files}
    answer = phone.post("/history/import", data=form, content_type="multipart/form-data")
    assert answer.status_code == 409
    assert answer.text.startswith("1.gcg: ") and "The other 2 games were imported." in answer.text
    assert read(table, "/history").count("Bob <b>") == 2


def test_chooser_of_games_hides_no_file_from_a_phone(phone: FlaskClient) -> None:
    assert re.search(r'<input type="file" id="file" name="file" multiple (?!accept)', phone.get("/history").text)


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"no game", b"\x89PNG" * 30_000])
def test_file_that_is_no_game_is_refused_in_words(phone: FlaskClient, data: bytes) -> None:
    status, why = bring(phone, data)
    assert status == 409 and why.strip()


def test_file_that_is_too_large_is_refused(phone: FlaskClient) -> None:
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    assert phone.post("/history/import", data=b"P" * (MAX_IMPORT_BYTES + 1), headers=headers).status_code == 413
    assert phone.post("/actions/undo", data={"csrf": token(phone), "x": "y" * MAX_BODY_BYTES}).status_code == 413


def test_list_says_that_racks_are_not_counted_and_names_no_winner(table: WebTable) -> None:
    table.session.submit(StartGame(STARTED)).result(PATIENCE_S)
    table.board.lay(HORN)
    table.session.submit(EndTurn()).result(PATIENCE_S)
    table.session.submit(EndGame()).result(PATIENCE_S)
    table.session.submit(StartGame(STARTED)).result(PATIENCE_S)
    line = read(table, "/history").partition("/history/2")[2].partition("/history/1")[0]
    assert "unplayed letters missing" in line and "winner" not in line


GCG_OFF_CENTRE = b"#player1 A Anna\n#player2 B Ben\n>A: HORN 8A HORN +24 24\n>B: AM 1A AM +8 8\n"


def test_problems_of_an_import_are_shown_with_the_game(table: WebTable, phone: FlaskClient) -> None:
    _, where = bring(phone, GCG_OFF_CENTRE)
    for page in (read(table, where), read(table, f"{where}?turn=1")):
        assert "The import found 3 problems" in page and "The first word does not cover the centre." in page
    german = table.app.test_client().get(f"{where}?lang=de").text
    assert "Beim Import sind 3 Probleme aufgefallen" in german and "Das erste Wort" in german
    assert "The import found" not in read(table, "/history/1")


def test_play_that_was_taken_back_is_listed_as_such(table: WebTable, phone: FlaskClient) -> None:
    lines = ("#player1 Anna Anna", "#player2 Ben Ben", ">Anna: HORN 8F HORN +14 14", ">Anna: HORN -- -14 0")
    assert bring(phone, "\n".join(lines).encode())[0] == 303
    turns = re.findall(r'<span class="play">(.*?)</span>', read(table, "/history/2"))
    assert turns == ['<b class="gone">HORN</b> <bdi>8F</bdi>', "<b>HORN</b> <bdi>8F</bdi> took back"]


def test_import_of_a_file_with_an_unreadable_event_is_refused(table: WebTable, phone: FlaskClient) -> None:
    status, why = bring(phone, GCG_OFF_CENTRE.replace(b"+8 8", b"+8b 8"))
    assert status == 409 and "line 4" in why.lower()
    assert len(table.store.list_games()) == 1


def test_list_without_a_game_has_no_filters_but_a_hint(tmp_path: Path) -> None:
    with open_web_table(tmp_path) as empty:
        page = read(empty, "/history")
    assert 'class="seek"' not in page and "Your games will appear here" in page


def test_game_has_its_date_a_title_and_a_way_back(played: WebTable) -> None:
    page = read(played, "/history/1")
    assert "<title>Anna · Ben · Tilekeeper</title>" in page
    assert '<a href="/history">All games</a>' in page and "<time datetime=" in page


def test_game_that_has_ended_is_not_called_a_game_at_the_table(played: WebTable) -> None:
    assert "at the table now" not in read(played, "/history") + read(played, "/history/1")


def test_game_can_be_shared_as_a_picture(played: WebTable) -> None:
    page = read(played, "/history/1")
    assert re.search(r'class="share" data-file="\d{4}-\d\d-\d\d-game-1\.png"', page)
    assert "/static/share.js" in page and "/static/share.js" not in read(played, "/history")
    assert '<a class="button" href="/history/1">Look back and share</a>' in read(played, "/")


def test_note_of_another_phone_is_not_replaced_unseen(table: WebTable, phone: FlaskClient) -> None:
    """Two players write at the end of a game; the first one may also tap twice."""
    statuses = [
        phone.post("/history/1/comment", data={"csrf": token(phone), "comment": text, "before": ""}).status_code
        for text in ("First", "First", "Second")
    ]
    assert statuses == [303, 303, 409] and '<p class="comment">First</p>' in read(table, "/history/1")


def test_refused_note_is_shown_below_the_one_that_was_saved(table: WebTable, phone: FlaskClient) -> None:
    table.store.save_note(1, COMMENT_NOTE, "First")
    page = phone.post("/history/1/comment", data={"csrf": token(phone), "comment": "Second", "before": ""}).text
    assert '<p class="comment">First</p>' in page and 'name="before" value="First"' in page
    assert "<details open>" in page and "\nSecond</textarea>" in page and "Both texts are here" in page


def test_game_with_a_refused_note_is_shared_by_its_own_address(table: WebTable, phone: FlaskClient) -> None:
    table.store.save_note(1, COMMENT_NOTE, "First")
    page = phone.post("/history/1/comment", data={"csrf": token(phone), "comment": "Second", "before": ""}).text
    assert re.search(r'class="share" [^>]*data-path="/history/1"', page)


def test_note_on_a_game_is_kept_and_shown_to_everyone(table: WebTable, phone: FlaskClient) -> None:
    assert "Write a note" in phone.get("/history/1").text and "Write a note" not in read(table, "/history/1")
    form = {"csrf": token(phone), "comment": " Grandma's birthday\x07 \r\n<b>Cake!</b>\n\n"}
    assert phone.post("/history/1/comment", data=form).location == "/history/1"
    assert '<p class="comment">Grandma&#39;s birthday\n&lt;b&gt;Cake!&lt;/b&gt;</p>' in read(table, "/history/1")
    phone.post("/history/1/comment", data={"csrf": token(phone), "comment": " ", "before": form["comment"]})
    assert 'class="comment"' not in read(table, "/history/1")


def test_longest_note_is_kept_whole_and_can_be_changed(table: WebTable, phone: FlaskClient) -> None:
    note = "\n".join(["A line of Grandma's note."] * 100)[:MAX_COMMENT_CHARS]  # browsers count a line break once
    for before, text in (("", note), (note, "Second")):
        form = {"csrf": token(phone), "comment": text.replace("\n", "\r\n"), "before": before.replace("\n", "\r\n")}
        assert phone.post("/history/1/comment", data=form).status_code == 303
        assert GameArchive(table.store, lambda: 0).read_comment(1) == text


def test_note_on_a_game_that_does_not_exist_is_refused(phone: FlaskClient) -> None:
    assert phone.post("/history/9/comment", data={"csrf": token(phone), "comment": "x"}).status_code == 404


def test_note_of_an_unpaired_client_is_refused(table: WebTable) -> None:
    client = table.app.test_client()
    assert client.post("/history/1/comment", data={"csrf": token(client), "comment": "x"}).status_code == 403
