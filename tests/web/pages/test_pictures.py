"""Pictures of turns that phones send: who may send them, what is accepted, and which one counts."""

from __future__ import annotations

import gc
import io
import re
import socket
import threading
from collections.abc import Iterator

import cv2
import numpy as np
import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from device.session.table_session import TableSession
from engine.limits import MAX_UPLOADED_PHOTO_BYTES
from tests.support.sessions import open_phone_session
from tests.support.text_table import HORN, TextTable
from tests.support.waiting import PATIENCE_S
from tests.web.conftest import pair, token
from tests.web.security.test_limits_requests import read_all, send
from vision.photo import Photo, decode_photo
from web import create_app
from web.security.server import PageServer

JPEG = cv2.imencode(".jpg", np.full((300, 400, 3), 128, np.uint8))[1].tobytes()
PATH = "/actions/picture"


@pytest.fixture
def board() -> TextTable:
    return TextTable()


@pytest.fixture
def session(board: TextTable) -> Iterator[TableSession]:
    with open_phone_session(board) as session:
        yield session


@pytest.fixture
def app(session: TableSession) -> Iterator[Flask]:
    app = create_app(session)
    yield app
    app.extensions["live"].close()


@pytest.fixture
def phone(app: Flask) -> FlaskClient:
    client = app.test_client()
    pair(client)
    return client


def send_picture(
    phone: FlaskClient, session: TableSession, data: bytes = JPEG, seen: str = "", again: str = "", **headers: str
) -> TestResponse:
    form = {"csrf": token(phone), "seen": seen or str(session.state.moment), "picture": (io.BytesIO(data), "1.jpg")}
    form["again"] = again
    return phone.post(PATH, data=form, content_type="multipart/form-data", headers=headers)


def test_picture_is_read_and_scored(phone: FlaskClient, session: TableSession, board: TextTable) -> None:
    board.lay(HORN)
    assert send_picture(phone, session).status_code == 204
    assert [turn.word for turn in session.state.turns] == ["HORN"]


def test_picture_of_a_form_without_script_returns_to_the_page(
    phone: FlaskClient, session: TableSession, board: TextTable
) -> None:
    board.lay(HORN)
    answer = send_picture(phone, session, **{"Sec-Fetch-Dest": "document"})
    assert (answer.status_code, answer.location) == (303, "/")


def test_picture_that_looks_again_replaces_the_turn_in_question(
    phone: FlaskClient, session: TableSession, board: TextTable
) -> None:
    board.lay(("HO?N", 7, 5, True))
    send_picture(phone, session)
    assert session.state.question is not None
    board.lay(HORN)
    assert send_picture(phone, session, again="1").status_code == 204
    assert [turn.word for turn in session.state.turns] == ["HORN"] and session.state.question is None
    assert "There is no open question" in send_picture(phone, session, again="1").text


def test_picture_without_a_board_is_answered_with_the_reason(
    phone: FlaskClient, session: TableSession, board: TextTable
) -> None:
    board.board = None
    answer = send_picture(phone, session)
    assert answer.status_code == 422 and answer.text == "No board was found. A cat.\n"
    assert not session.state.turns


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", "1.jpg is not in a known picture format. Save it as JPEG or PNG."),
        (JPEG[:-200], "damaged or incomplete"),
    ],
)
def test_file_that_cannot_be_decoded_is_refused_with_the_reason(
    phone: FlaskClient, session: TableSession, data: bytes, reason: str
) -> None:
    answer = send_picture(phone, session, data)
    assert answer.status_code == 409 and reason in answer.text and not session.state.turns


def test_picture_with_too_many_pixels_is_refused_before_it_is_decoded(
    phone: FlaskClient, session: TableSession
) -> None:
    png = cv2.imencode(".png", np.zeros((6000, 6000), np.uint8))[1].tobytes()
    assert "too many pixels" in send_picture(phone, session, png).text


def test_pictures_sent_at_once_are_decoded_one_after_the_other(
    app: Flask, session: TableSession, board: TextTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    board.lay(HORN)
    first, second = app.test_client(), app.test_client()
    for phone in (first, second):
        pair(phone)
    seen, decoded, may_go_on = str(session.state.moment), threading.Semaphore(0), threading.Event()

    def decode_slowly(data: bytes, name: str) -> Photo:
        decoded.release()
        assert may_go_on.wait(PATIENCE_S)
        return decode_photo(data, name)

    monkeypatch.setattr("web.pages.pictures.decode_photo", decode_slowly)
    threads = [threading.Thread(target=send_picture, args=(phone, session, JPEG, seen)) for phone in (first, second)]
    for thread in threads:
        thread.start()
    assert decoded.acquire(timeout=PATIENCE_S)
    assert not decoded.acquire(timeout=0.3)
    may_go_on.set()
    for thread in threads:
        thread.join()


def test_picture_of_a_turn_that_another_phone_has_ended_asks_for_nothing(
    phone: FlaskClient, session: TableSession, board: TextTable
) -> None:
    board.lay(HORN)
    seen = str(session.state.moment)
    send_picture(phone, session, seen=seen)
    answer = send_picture(phone, session, seen=seen)
    assert answer.status_code == 409 and "need not do anything" in answer.text and len(session.state.turns) == 1


def test_only_the_first_of_two_pictures_at_once_counts(app: Flask, session: TableSession, board: TextTable) -> None:
    board.lay(HORN)
    phones = [app.test_client(), app.test_client()]
    for phone in phones:
        pair(phone)
    seen, answers = str(session.state.moment), []
    threads = [
        threading.Thread(target=lambda phone=phone: answers.append(send_picture(phone, session, seen=seen)))
        for phone in phones
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert sorted(answer.status_code for answer in answers) == [204, 409] and len(session.state.turns) == 1


def test_picture_for_another_host_is_refused(phone: FlaskClient) -> None:
    assert phone.post(PATH, headers={"Host": "evil.example"}).status_code == 421


def test_picture_of_a_stranger_is_refused_before_it_is_sent(app: Flask) -> None:
    with PageServer(app, 0, "127.0.0.1") as server, send(server, PATH, MAX_UPLOADED_PHOTO_BYTES) as connection:
        assert read_all(connection).split(b" ")[1] == b"403"


def test_picture_that_is_too_large_is_refused(phone: FlaskClient) -> None:
    headers = {"X-CSRF-Token": token(phone)}
    data, kind = bytes(MAX_UPLOADED_PHOTO_BYTES + 1), "multipart/form-data; boundary=b"
    answer = phone.post(PATH, data=data, content_type=kind, headers=headers)
    assert answer.status_code == 413 and "16 MB" in answer.text


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # Werkzeug leaves its file to the GC
def test_interrupted_upload_leaves_no_turn(app: Flask, session: TableSession, board: TextTable) -> None:
    board.lay(HORN)
    with PageServer(app, 0, "127.0.0.1") as server:
        phone = app.test_client()
        pair(phone)
        cookies = "; ".join(f"{cookie.key}={cookie.value}" for cookie in phone._cookies.values())
        head = f"Cookie: {cookies}\r\nX-CSRF-Token: {token(phone)}\r\nContent-Type: multipart/form-data; boundary=b\r\n"
        part = b'--b\r\nContent-Disposition: form-data; name="picture"; filename="1.jpg"\r\n\r\n' + JPEG
        with send(server, PATH, 200_000, part, head) as connection:
            connection.shutdown(socket.SHUT_WR)
            read_all(connection)
    assert not session.state.turns and not session.state.notices
    gc.collect()


def test_page_opens_the_camera_of_a_paired_phone_only_at_such_a_table(app: Flask, phone: FlaskClient) -> None:
    page = phone.get("/").text
    assert 'accept="image/*" capture="environment"' in page and "/static/picture.js" in page
    assert re.search(r'<input type="file" id="stored-picture" accept="image/\*" (?!capture)', page)
    assert "picture.js" not in app.test_client().get("/").text


def test_api_is_answered_with_what_to_do(app: Flask, session: TableSession) -> None:
    client = app.test_client()
    code = app.extensions["pairing"].code
    token = client.post("/api/v1/pairing", json={"code": code, "device": "x"}).json["token"]
    answer = client.post(
        "/api/v1/commands/end-turn",
        json={"seen": str(session.state.moment)},
        headers={"Authorization": f"Bearer {token}"},
    )
    assert answer.status_code == 409 and answer.json["error"].endswith("and take a picture of the board.")
