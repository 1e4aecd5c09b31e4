"""Unplayed letters of several players in one form."""

from __future__ import annotations

import re
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from device.session.commands.base import TableCommand
from device.session.commands.corrections import RevealRack
from device.session.commands.games import EndGame, StartGame
from device.session.snapshot import Moment, TableSnapshot
from tests.support import samples
from tests.support.api_table import STARTED, open_web_table
from tests.support.waiting import PATIENCE_S
from tests.web.conftest import ShownTable, pair, press, token

NOW = Moment(1, 4)


def test_racks_of_all_players_are_counted_by_one_form(table: ShownTable, paired: FlaskClient) -> None:
    table.show(replace(samples.ENDED, racks_wanted=(0, 1, 2)))
    form = paired.get("/dialogs/rack").text
    assert form.count('action="/actions/racks"') == 1 and form.count('name="letters"') == 3
    data = {"csrf": token(paired), "seen": "1-4", "player": ["0", "1", "2"], "letters": ["AE", " ", "Q"]}
    assert paired.post("/actions/racks", data=data).status_code == 204
    assert [command for command, _ in table.submitted] == [RevealRack(0, "AE"), RevealRack(2, "Q")]


def test_wrong_letters_are_corrected_from_their_line_of_the_score_sheet(tmp_path: Path) -> None:
    with open_web_table(tmp_path) as table:
        table.play_three_turns()
        for command in (EndGame(), RevealRack(0, "Q"), RevealRack(1, "E")):
            table.session.submit(command).result(PATIENCE_S)
        phone = table.app.test_client()
        pair(phone)
        line = next(turn for turn in table.session.state.turns if turn.kind == "endrack")
        links = re.findall(r'href="(/dialogs/rack[^"]*)"', phone.get(f"/dialogs/turn?number={line.number}").text)
        assert links == ["/dialogs/rack?player=0", "/dialogs/rack?player=1"]
        form = phone.get(links[0]).text
        assert re.findall(r'name="player" value="(\d)"', form) == ["0"]
        assert press(phone, "/actions/racks", table.seen, player="0", letters="A") == (204, "")
        racks = [(turn.player, turn.word, turn.score) for turn in table.session.state.turns if turn.kind == "endrack"]
        assert racks == [(0, "A", -1), (1, "E", -1)]


def test_game_is_finished_without_counting_racks(tmp_path: Path) -> None:
    with open_web_table(tmp_path) as table:
        table.play_three_turns()
        before = [player.total for player in table.session.state.players]
        table.session.submit(EndGame()).result(PATIENCE_S)
        phone = table.app.test_client()
        pair(phone)
        assert "Finish without counting" in phone.get("/dialogs/rack").text
        assert press(phone, "/actions/skip-racks", table.seen) == (204, "")
        state = table.session.state
        assert [player.total for player in state.players] == before and state.winners and not state.racks_wanted
        assert "were not counted" in phone.get("/").text and "letters not counted" in phone.get("/history").text
        table.session.submit(RevealRack(0, "Q")).result(PATIENCE_S)
        assert not table.session.state.skips_racks and table.session.state.racks_wanted == (1,)


def test_letters_are_entered_after_the_next_game_has_begun(tmp_path: Path) -> None:
    with open_web_table(tmp_path) as table:
        table.play_three_turns()
        table.session.submit(EndGame()).result(PATIENCE_S)
        phone = table.app.test_client()
        pair(phone)
        assert "/history/1/racks" not in phone.get("/history/1").text  # at the table, there is a form for it
        table.session.submit(StartGame(STARTED)).result(PATIENCE_S)
        page = phone.get("/history/1").text
        assert page.count('name="letters"') == 2
        form = {"csrf": token(phone), "player": ["0", "1"], "letters": ["Q", "E"]}
        assert phone.post("/history/1/racks", data={**form, "letters": ["", ""]}).status_code == 409
        assert phone.post("/history/1/racks", data={**form, "letters": ["QQ", "E"]}).status_code == 409
        assert phone.post("/history/1/racks", data=form).status_code == 303
        page = phone.get("/history/1").text
        assert "unplayed letters missing" not in phone.get("/history").text and 'name="letters"' not in page
        assert phone.post("/history/2/racks", data=form).status_code == 409


def test_line_that_follows_from_other_lines_offers_no_score(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.FINISHED)
    form = paired.get("/dialogs/turn?number=5").text
    assert 'name="score"' not in form and "This line is calculated" in form
    assert re.findall(r'href="/dialogs/rack\?player=(\d)"', form) == ["1"]


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
