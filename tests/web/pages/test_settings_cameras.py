"""The choice of a camera: what is listed, whose picture is shown, and what is saved."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest
from flask.testing import FlaskClient

from device.cameras.listing import AvailableCamera
from device.cameras.preview import CameraPreview
from device.settings import load_settings
from device.settings_editor import SettingsEditor, SettingsFile
from tests.device.cameras.test_preview import Machine
from tests.support.api_table import WebTable, open_web_table
from tests.web.conftest import pair, token
from web.host_info import HostInfo
from web.pages.settings import MAX_SIDE_PX, CameraChoice, SettingsAccess

CAMERAS = (
    AvailableCamera("pi", "camera module imx708", "imx708"),
    AvailableCamera("usb:7", "<b>C920</b>", "<b>C920</b>"),
    AvailableCamera("phone", "a phone"),
    AvailableCamera("phone-stream", "a phone on a stand"),
    AvailableCamera("folder:DIR", "a folder"),
)
PATH = "/settings/cameras"


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "settings.toml"
    path.write_text('[camera]\nsource = "pi"  # ours\n', encoding="utf-8")
    return path


@pytest.fixture
def overrides() -> dict[tuple[str, str], str]:
    return {}


@pytest.fixture
def table(tmp_path: Path, path: Path, machine: Machine, overrides: dict[tuple[str, str], str]) -> Iterator[WebTable]:
    preview = CameraPreview(machine.open)
    editor = SettingsEditor(SettingsFile(path, overrides), load_settings(path))
    choice = CameraChoice(lambda: CAMERAS, preview)
    access = SettingsAccess(editor, tmp_path / "lexicons", cameras=choice)
    with open_web_table(tmp_path, host_info=HostInfo(settings=access)) as table:
        yield table
    preview.close()


def choose(client: FlaskClient, source: str) -> int:
    version = re.search(r'name="version" value="([^"]*)"', client.get(PATH).text)
    assert version
    data = {"csrf": token(client), "version": version[1], "source": source}
    return client.post(PATH, data=data).status_code


def test_cameras_are_listed_with_their_names_and_pictures(admin: FlaskClient) -> None:
    page = admin.get(PATH).text
    assert "Camera module: imx708" in page and "USB camera: &lt;b&gt;C920&lt;/b&gt;" in page
    assert "A phone on a stand" in page and "folder:DIR" not in page
    assert page.count("data-show=") == 2 and page.count("Use this camera") == 3
    for other in ("/settings", "/setup"):
        assert PATH in admin.get(other).text


def test_picture_of_a_camera_is_shown_before_it_is_chosen(admin: FlaskClient, machine: Machine) -> None:
    answer = admin.get(f"{PATH}/picture?source=usb:7")
    image = cv2.imdecode(np.frombuffer(answer.data, np.uint8), cv2.IMREAD_COLOR)
    assert answer.mimetype == "image/jpeg" and abs(int(image.max()) - 7) < 3 and len(machine.opened) == 1


def test_picture_of_the_camera_in_use_comes_from_the_table(admin: FlaskClient, machine: Machine) -> None:
    answer = admin.get(f"{PATH}/picture?source=pi")
    image = cv2.imdecode(np.frombuffer(answer.data, np.uint8), cv2.IMREAD_COLOR)
    assert max(image.shape) <= MAX_SIDE_PX and not machine.opened


@pytest.mark.parametrize("source", ["", "usb:8", "phone", "folder:DIR", "folder:/etc", "http://192.168.1.5/video"])
def test_camera_that_is_not_listed_has_no_picture_and_is_not_chosen(
    admin: FlaskClient, machine: Machine, path: Path, source: str
) -> None:
    before = path.read_bytes()
    assert admin.get(f"{PATH}/picture", query_string={"source": source}).status_code == 404
    assert not machine.opened
    if source not in ("phone", "folder:DIR"):
        assert choose(admin, source) == 409 and path.read_bytes() == before


def test_chosen_camera_is_saved_and_waits_for_a_restart(admin: FlaskClient, path: Path) -> None:
    assert choose(admin, "usb:7") == 303
    assert path.read_text(encoding="utf-8") == '[camera]\nsource = "usb:7" # ours\n'
    assert "after a restart" in admin.get("/settings?saved").text


def test_camera_that_is_unplugged_is_explained(admin: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.web.pages.test_settings_cameras.CAMERAS", (AvailableCamera("pi:1", "camera module"),))
    answer = admin.get(f"{PATH}/picture?source=pi:1")
    assert answer.status_code == 409 and "no such camera" in answer.text


@pytest.mark.parametrize("overrides", [{("camera", "source"): "--camera"}])
def test_camera_of_the_command_line_is_changed(admin: FlaskClient, path: Path) -> None:
    assert "--camera" in admin.get(PATH).text
    assert choose(admin, "usb:7") == 303 and load_settings(path).camera.source == "usb:7"


def test_only_the_first_device_may_look_and_choose(table: WebTable, admin: FlaskClient, machine: Machine) -> None:
    guest = table.app.test_client()
    pair(guest)
    assert admin.get(PATH).status_code == 200
    for path in (PATH, f"{PATH}/picture?source=usb:7"):
        assert guest.get(path).status_code == 403
        assert table.app.test_client().get(path).mimetype == "text/html"
    assert guest.post(PATH, data={"csrf": token(guest), "source": "usb:7"}).status_code == 403
    assert not machine.opened
