"""Setting the table up from a phone: the place of the board, placed corners, the enrolment, the panel's rehearsal."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future

import pytest
from flask import Flask
from flask.testing import FlaskClient

from calibration.enrolment import make_enrolment_rows
from device.cameras.base import CameraError
from device.panel.buttons import Button
from device.panel.lights import Colour
from device.panel.panel import Panel, PanelActions
from device.session.commands.challenges import ChallengePlay
from device.session.commands.games import Undo
from device.session.commands.turns import EndTurn
from device.session.setup import SetupView
from device.system.wifi import Hotspot
from engine.tiles import load_tile_set
from tests.support import samples
from tests.support.waiting import until
from tests.web.conftest import ShownTable, pair, token
from web import create_app
from web.host_info import HostInfo
from web.pages import setup
from web.pages.setup import parse_corners


@pytest.fixture
def panel(table: ShownTable) -> Iterator[Panel]:
    table.show(samples.MIDGAME)
    with Panel(table, PanelActions()) as panel:
        yield panel


@pytest.fixture
def app(table: ShownTable, panel: Panel) -> Iterator[Flask]:
    wifi = Hotspot("Tilekeeper", "horn-farm", "192.168.4.1")
    place = HostInfo(
        panel,
        (Button.CHALLENGE,),
        lambda: ["There is <no> display."],
        lambda: ("http://192.168.4.1:8080",),
        wifi,
    )
    app = create_app(table, host_info=place)
    yield app
    app.extensions["live"].close()


def test_board_is_outlined_in_the_camera_s_picture(table: ShownTable, paired: FlaskClient) -> None:
    told = paired.get("/setup/look").get_json()
    assert told["corners"] == [list(corner) for corner in table.view.corners or ()] and told["size"] == [1280, 960]
    assert told["said"] == "✓ The board is found."
    picture = paired.get(told["picture"])
    assert picture.mimetype == "image/jpeg" and picture.data == table.view.jpeg
    assert paired.get("/setup/pictures/99.jpg").status_code == 404


def test_picture_that_a_phone_no_longer_waits_for_is_not_taken(
    table: ShownTable, paired: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page asks again and again: the pictures would pile up before the next turn."""
    view: Future[SetupView] = Future()
    monkeypatch.setattr(table, "capture_setup_view", lambda: view)
    monkeypatch.setattr(setup, "LOOK_TIMEOUT_S", 0.01)
    answer = paired.get("/setup/look")
    assert answer.status_code == 409 and "camera is slow" in answer.text
    assert view.cancelled()


def test_corners_are_placed_and_given_back(table: ShownTable, paired: FlaskClient) -> None:
    form = {"csrf": token(paired), "corners": "1,2 900.5,3 899,800 2,799"}
    told = paired.post("/setup/corners", data=form).get_json()
    assert told["corners"] == [[1, 2], [900.5, 3], [899, 800], [2, 799]] and told["placed"]
    told = paired.post("/setup/corners", data={"csrf": token(paired), "corners": ""}).get_json()
    assert told["corners"] is None and told["said"].startswith("No board was found")
    assert table.view.corners is None


@pytest.mark.parametrize(
    "text", ["1,2", "1,2 3,4 5,6 7,nan", "1,2 3,4 5,6 7", "a,b c,d e,f g,h", "1,2 3,4 5,6 7,8 9,9"]
)
def test_invalid_corners_are_refused(paired: FlaskClient, text: str) -> None:
    with pytest.raises(ValueError):
        parse_corners(text)
    answer = paired.post("/setup/corners", data={"csrf": token(paired), "corners": text})
    assert answer.status_code == 409 and "corners" in answer.text


def test_setup_page_names_the_fault_of_a_camera_without_pictures(table: ShownTable, paired: FlaskClient) -> None:
    def blind() -> Future[SetupView]:
        failed: Future[SetupView] = Future()
        failed.set_exception(CameraError("no camera at usb:0: plug one in"))
        return failed

    table.capture_setup_view = blind  # type: ignore[method-assign]
    answer = paired.get("/setup/look")
    assert (answer.status_code, answer.text) == (409, "no camera at usb:0: plug one in\n")


def test_enrolment_rows_are_those_that_are_drawn(table: ShownTable, paired: FlaskClient) -> None:
    letters = load_tile_set("en").letters
    drawn = paired.get("/setup").text
    assert drawn.count('<i class="tile">') == sum(face != "." for row in make_enrolment_rows(letters) for face in row)
    told = paired.post("/setup/teach", data={"csrf": token(paired)}).get_json()
    assert told["ok"] and table.taught == tuple("".join(row) for row in make_enrolment_rows(letters))


def test_setup_page_lists_missing_parts_and_the_code_that_pairs_a_phone(paired: FlaskClient) -> None:
    html = paired.get("/setup").text
    assert "There is &lt;no&gt; display." in html
    assert html.count('class="qr"') == 1 and "Pair a phone" in html


@pytest.mark.parametrize("path", ["/setup", "/setup/look", "/panel", "/panel/lights", "/setup/pictures/1.jpg"])
def test_strangers_are_asked_for_the_code(client: FlaskClient, path: str) -> None:
    html = client.get(path).text
    assert 'name="code"' in html and "horn-farm" not in html


def test_buttons_of_the_page_take_the_way_of_the_panel(table: ShownTable, paired: FlaskClient) -> None:
    form = {"csrf": token(paired), "seen": "1-4"}
    assert paired.post("/panel/press", data={**form, "button": "end-turn-2"}).status_code == 204
    assert table.submitted == [(EndTurn(), samples.MIDGAME.moment)]
    assert paired.post("/panel/press", data={**form, "button": "end-turn-1"}).status_code == 204
    until(lambda: table.seats == [1, 0])  # the session asks about the other side
    assert paired.post("/panel/press", data={**form, "held": "pause"}).status_code == 204
    assert table.submitted[-1] == (Undo(question_id=0), samples.MIDGAME.moment)
    assert paired.post("/panel/press", data={**form, "button": "self-destruct"}).status_code == 409


def test_rehearsal_ticks_the_buttons_that_were_felt(table: ShownTable, panel: Panel, paired: FlaskClient) -> None:
    form = {"csrf": token(paired)}
    assert paired.post("/panel/rehearse", data={**form, "on": "1"}).status_code == 204
    paired.post("/panel/press", data={**form, "button": "challenge"})
    assert "✓ Challenge" in paired.get("/panel/lights").text and table.submitted == []
    assert paired.post("/panel/light", data={**form, "light": "red"}).status_code == 204
    assert paired.post("/panel/light", data={**form, "light": "moon"}).status_code == 409
    paired.post("/panel/press", data={**form, "button": "challenge"})  # what is pressed comes after the light
    assert panel.view.lights.status.colour in (Colour.RED, Colour.WHITE)
    paired.post("/panel/rehearse", data={**form, "on": "0"})
    paired.post("/panel/press", data={**form, "button": "challenge", "seen": "1-4"})
    assert table.submitted == [(ChallengePlay(), samples.MIDGAME.moment)]


def test_setup_page_names_a_missing_panel(table: ShownTable) -> None:
    app = create_app(table)
    client = app.test_client()
    pair(client)
    assert "This table has no panel" in client.get("/panel").text
    assert client.post("/panel/press", data={"csrf": token(client), "button": "pause"}).status_code == 409
    app.extensions["live"].close()


def test_table_whose_pictures_phones_take_has_no_camera_to_set_up(table: ShownTable, paired: FlaskClient) -> None:
    table.uses_phone_camera = True
    html = paired.get("/setup").text
    assert "step-board" not in html and "step-enrolment" not in html and "step-table" in html


def test_panel_that_is_not_wired_is_not_tested(table: ShownTable, panel: Panel) -> None:
    app = create_app(table, host_info=HostInfo(panel))
    client = app.test_client()
    pair(client)
    html = client.get("/setup").text
    assert "step-panel" not in html and "data-rehearse" not in html
    app.extensions["live"].close()
