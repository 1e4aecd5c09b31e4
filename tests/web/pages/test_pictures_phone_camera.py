"""The routes for the pictures of a phone on a stand: access, limits, and what the table does with the pictures."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from device.cameras.phone import PhoneStreamCamera
from device.session.commands.turns import EndTurn
from device.session.table_session import TableSession
from engine.limits import MAX_PREVIEW_BYTES, MAX_UPLOADED_PHOTO_BYTES
from tests.device.cameras.test_phone_stream import SMALL, jpeg
from tests.support.sessions import open_session
from tests.support.text_table import HORN, TextTable
from tests.support.waiting import until
from tests.web.conftest import pair, token
from tests.web.pages.test_pictures import send_picture
from tests.web.security.test_limits_requests import read_all, send
from web import create_app
from web.host_info import HostInfo
from web.security.server import PageServer

FULL = jpeg(size=(300, 400))
PREVIEW, STILL, START, STOP = "/camera/preview", "/camera/still", "/camera/start", "/camera/stop"


@pytest.fixture
def camera() -> PhoneStreamCamera:
    return PhoneStreamCamera()


@pytest.fixture
def board() -> TextTable:
    return TextTable()


@pytest.fixture
def session(camera: PhoneStreamCamera, board: TextTable) -> Iterator[TableSession]:
    with open_session(camera, board) as session:
        yield session


@pytest.fixture
def app(session: TableSession) -> Iterator[Flask]:
    app = create_app(session, host_info=HostInfo(find_secure_port=lambda: 8443))
    yield app
    app.extensions["live"].close()


@pytest.fixture
def phone(app: Flask) -> FlaskClient:
    client = app.test_client()
    pair(client)
    return client


def start(phone: FlaskClient, takes_over: str = "") -> TestResponse:
    return phone.post(START, data={"csrf": token(phone), "takes_over": takes_over})


def upload(phone: FlaskClient, path: str, data: bytes = SMALL, **query: object) -> TestResponse:
    headers = {"X-CSRF-Token": token(phone)}
    return phone.post(path, query_string=query, data=data, content_type="image/jpeg", headers=headers)


def test_pictures_of_the_phone_reach_the_camera(phone: FlaskClient, camera: PhoneStreamCamera) -> None:
    stream = start(phone).json["stream"]
    assert upload(phone, PREVIEW, stream=stream).json.keys() == {"still"}
    assert upload(phone, STILL, FULL, stream=stream, number=1).status_code == 204
    assert camera.is_streaming


def test_turn_is_read_in_a_full_picture_that_the_phone_is_asked_for(
    phone: FlaskClient, session: TableSession, board: TextTable
) -> None:
    board.lay(HORN)
    stream = start(phone).json["stream"]
    turn = session.submit(EndTurn())
    stills = 0
    while not turn.done():
        wanted = upload(phone, PREVIEW, stream=stream).json["still"]
        if wanted is not None:
            stills += 1
            upload(phone, STILL, FULL, stream=stream, number=wanted)
    assert [one.word for one in turn.result().turns] == ["HORN"] and stills >= 1


def test_missing_and_lost_phones_are_notices_of_the_table(phone: FlaskClient, session: TableSession) -> None:
    def says(text: str) -> bool:
        return any(text in notice.text for notice in session.state.notices)

    until(lambda: says("No phone is the camera"))
    assert '<a class="touch" href="/camera">Phone as camera</a>' in phone.get("/").text
    stream = start(phone).json["stream"]

    def is_well() -> bool:
        upload(phone, PREVIEW, stream=stream)
        return not session.state.notices

    until(is_well)
    assert phone.post(STOP, query_string={"stream": stream}, data={"csrf": token(phone)}).status_code == 204
    until(lambda: says("Unlock it"))


def test_another_phone_is_asked_before_it_takes_over(app: Flask, phone: FlaskClient) -> None:
    stream = start(phone).json["stream"]
    second = app.test_client()
    pair(second)
    answer = start(second)
    assert answer.status_code == 409 and "is already the camera. Use this phone instead?" in answer.text
    assert upload(phone, PREVIEW, stream=stream).status_code == 200
    assert start(second, "1").status_code == 200
    answer = upload(phone, PREVIEW, stream=stream)
    assert answer.status_code == 410 and "is now the camera" in answer.text


def test_phone_that_was_the_camera_before_a_restart_has_to_start_again(phone: FlaskClient) -> None:
    assert upload(phone, PREVIEW, stream="unknown").status_code == 409


@pytest.mark.parametrize("path", [START, PREVIEW, STILL, STOP])
def test_stranger_cannot_be_the_camera(app: Flask, camera: PhoneStreamCamera, path: str) -> None:
    stranger = app.test_client()
    assert upload(stranger, path, stream="1").status_code == 403 and not camera.is_streaming


@pytest.mark.parametrize("path", [START, PREVIEW, STILL, STOP])
def test_camera_of_another_site_or_without_the_token_is_refused(phone: FlaskClient, path: str) -> None:
    assert phone.post(path, data=SMALL, content_type="image/jpeg").status_code == 403
    headers = {"X-CSRF-Token": token(phone), "Origin": "http://evil.example"}
    assert phone.post(path, data=SMALL, content_type="image/jpeg", headers=headers).status_code == 403


@pytest.mark.parametrize(("path", "limit"), [(PREVIEW, MAX_PREVIEW_BYTES), (STILL, MAX_UPLOADED_PHOTO_BYTES)])
def test_picture_of_a_stranger_is_refused_before_it_is_sent(app: Flask, path: str, limit: int) -> None:
    with PageServer(app, 0, "127.0.0.1") as server, send(server, path, limit) as connection:
        assert read_all(connection).split(b" ")[1] == b"403"


@pytest.mark.parametrize(("path", "limit"), [(PREVIEW, MAX_PREVIEW_BYTES), (STILL, MAX_UPLOADED_PHOTO_BYTES)])
def test_picture_that_is_too_large_is_refused(phone: FlaskClient, path: str, limit: int) -> None:
    stream = start(phone).json["stream"]
    assert upload(phone, path, bytes(limit + 1), stream=stream, number=1).status_code == 413


def test_page_is_for_paired_phones_and_leads_to_https(app: Flask, phone: FlaskClient) -> None:
    page = phone.get("/camera").text
    assert "/static/camera.js" in page and "https://localhost:8443/secure/enter/" in page and "?camera" in page
    assert "camera.js" not in app.test_client().get("/camera").text
    assert 'href="/camera"' in phone.get("/dialogs/more").text


def test_link_from_the_camera_page_leads_back_to_it(app: Flask, phone: FlaskClient) -> None:
    link = phone.get("/camera").text.partition('href="https://localhost:8443')[2].partition('"')[0]
    page = app.test_client().get(link, base_url="https://localhost:8443").text
    assert "0;url=/camera" in page


def test_picture_per_turn_is_accepted_without_a_phone_on_a_stand(
    phone: FlaskClient, session: TableSession, board: TextTable
) -> None:
    board.lay(HORN)
    assert "data-fallback" in phone.get("/").text
    assert send_picture(phone, session).status_code == 204
    assert [turn.word for turn in session.state.turns] == ["HORN"]
