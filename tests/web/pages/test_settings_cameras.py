"""Live pictures of the cameras that can be chosen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest
from flask.testing import FlaskClient

from device.cameras.listing import AvailableCamera
from device.cameras.reconnecting import CameraPreview
from device.settings import load_settings
from device.settings_editor import SettingsEditor, SettingsFile
from tests.device.cameras.test_preview import Machine
from tests.support.api_table import WebTable, open_web_table
from tests.web.conftest import pair
from web.host_info import HostInfo, SettingsAccess
from web.pages.settings import MAX_SIDE_PX

CAMERAS = (
    AvailableCamera("pi", "camera module imx708", "imx708"),
    AvailableCamera("usb:7", "<b>C920</b>", "<b>C920</b>"),
    AvailableCamera("phone", "a phone"),
    AvailableCamera("phone-stream", "a phone on a stand"),
    AvailableCamera("folder:DIR", "a folder"),
)
PATH = "/settings/cameras/picture"


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "settings.toml"
    path.write_text('[camera]\nsource = "pi"  # ours\n', encoding="utf-8")
    return path


@pytest.fixture
def table(tmp_path: Path, path: Path, machine: Machine) -> Iterator[WebTable]:
    preview = CameraPreview(machine.open)
    editor = SettingsEditor(SettingsFile(path), load_settings(path))
    access = SettingsAccess(editor, tmp_path / "lexicons", list_cameras=lambda: CAMERAS, preview=preview)
    with open_web_table(tmp_path, host_info=HostInfo(settings=access)) as table:
        yield table
    preview.close()


def test_picture_of_a_camera_is_shown_before_it_is_chosen(admin: FlaskClient, machine: Machine) -> None:
    answer = admin.get(f"{PATH}?source=usb:7")
    image = cv2.imdecode(np.frombuffer(answer.data, np.uint8), cv2.IMREAD_COLOR)
    assert answer.mimetype == "image/jpeg" and abs(int(image.max()) - 7) < 3 and len(machine.opened) == 1


def test_picture_of_the_camera_in_use_comes_from_the_table(admin: FlaskClient, machine: Machine) -> None:
    answer = admin.get(f"{PATH}?source=pi")
    image = cv2.imdecode(np.frombuffer(answer.data, np.uint8), cv2.IMREAD_COLOR)
    assert max(image.shape) <= MAX_SIDE_PX and not machine.opened


@pytest.mark.parametrize("source", ["", "usb:8", "phone", "folder:DIR", "folder:/etc", "http://192.168.1.5/video"])
def test_camera_that_is_not_listed_has_no_picture(admin: FlaskClient, machine: Machine, source: str) -> None:
    assert admin.get(PATH, query_string={"source": source}).status_code == 404
    assert not machine.opened


def test_camera_that_is_unplugged_is_explained(admin: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.web.pages.test_settings_cameras.CAMERAS", (AvailableCamera("pi:1", "camera module"),))
    answer = admin.get(f"{PATH}?source=pi:1")
    assert answer.status_code == 409 and "no such camera" in answer.text


@pytest.mark.usefixtures("admin")
def test_only_the_first_device_may_look(table: WebTable, machine: Machine) -> None:
    guest = table.app.test_client()
    pair(guest)
    assert guest.get(f"{PATH}?source=usb:7").status_code == 403
    assert table.app.test_client().get(f"{PATH}?source=usb:7").mimetype == "text/html"
    assert not machine.opened
