"""The list of the cameras of a machine, in temporary trees of /sys."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from device.cameras.listing import (
    AUTO,
    AvailableCamera,
    list_camera_modules,
    list_cameras,
    list_usb_cameras,
    resolve_camera,
)
from device.cli import main

MODULES = [
    {"Model": "imx708", "Id": "/base/axi/pcie@120000/rp1/i2c@88000/imx708@1a"},
    {"Model": "HD Pro Webcam", "Id": r"\_SB_.PCI0.RP05-1:1.0-046d:082d"},
]


def make_video_device(root: Path, number: int, name: str, *, bus: str = "usb", index: int = 0) -> None:
    """Make a folder of /sys/class/video4linux, with links as in Linux."""
    bus_folder = root / "sys/bus" / bus
    bus_folder.mkdir(parents=True, exist_ok=True)
    device = root / f"sys/devices/device{number}"
    device.mkdir(parents=True)
    (device / "subsystem").symlink_to(bus_folder)
    folder = root / f"sys/class/video4linux/video{number}"
    folder.mkdir(parents=True)
    (folder / "device").symlink_to(device)
    (folder / "name").write_text(f"{name}\n")
    (folder / "index").write_text(f"{index}\n")


def install_picamera2(monkeypatch: pytest.MonkeyPatch, camera_info: object) -> None:
    module = ModuleType("picamera2")
    module.Picamera2 = SimpleNamespace(global_camera_info=camera_info)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "picamera2", module)


def test_usb_cameras_are_listed_by_number_with_their_names(tmp_path: Path) -> None:
    make_video_device(tmp_path, 10, "Endoscope")
    make_video_device(tmp_path, 2, "HD Pro Webcam C920")
    assert list_usb_cameras(tmp_path) == (
        AvailableCamera("usb:2", "HD Pro Webcam C920", "HD Pro Webcam C920"),
        AvailableCamera("usb:10", "Endoscope", "Endoscope"),
    )


def test_metadata_device_of_a_camera_is_not_listed(tmp_path: Path) -> None:
    make_video_device(tmp_path, 0, "HD Pro Webcam C920")
    make_video_device(tmp_path, 1, "HD Pro Webcam C920", index=1)
    assert [camera.source for camera in list_usb_cameras(tmp_path)] == ["usb:0"]


def test_video_codec_of_a_raspberry_pi_is_not_listed(tmp_path: Path) -> None:
    make_video_device(tmp_path, 10, "bcm2835-codec-decode", bus="platform")
    assert list_usb_cameras(tmp_path) == ()


def test_usb_camera_without_a_name_is_listed(tmp_path: Path) -> None:
    make_video_device(tmp_path, 0, "")
    assert list_usb_cameras(tmp_path) == (AvailableCamera("usb:0", "USB camera"),)


def test_camera_modules_come_first_with_their_numbers(tmp_path: Path) -> None:
    make_video_device(tmp_path, 0, "Webcam")
    found = list_cameras(tmp_path, lambda: ("imx708", "imx477"))
    assert [camera.source for camera in found][:3] == ["pi", "pi:1", "usb:0"]


def test_machine_without_cameras_offers_phone_and_folder(tmp_path: Path) -> None:
    assert [camera.source for camera in list_cameras(tmp_path, tuple)] == ["phone", "phone-stream", "folder:DIR"]


@pytest.mark.parametrize(("modules", "source"), [((), "phone"), (("imx708",), "pi")])
def test_default_camera_is_a_phone_on_a_machine_without_a_camera_module(modules: tuple[str, ...], source: str) -> None:
    assert resolve_camera(AUTO, lambda: modules) == source and resolve_camera("usb:0") == "usb:0"


def test_camera_modules_of_picamera2_exclude_usb_cameras(monkeypatch: pytest.MonkeyPatch) -> None:
    install_picamera2(monkeypatch, lambda: MODULES)
    assert list_camera_modules() == ("imx708",)


def test_camera_modules_without_picamera2_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "picamera2", None)
    assert list_camera_modules() == ()


def test_camera_modules_that_libcamera_cannot_list_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise RuntimeError("libcamera")

    install_picamera2(monkeypatch, fail)
    assert list_camera_modules() == ()


def test_command_prints_one_camera_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cameras"]) == 0
    assert "phone         a paired phone takes one picture after each turn" in capsys.readouterr().out.splitlines()
