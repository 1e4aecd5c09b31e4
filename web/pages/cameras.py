"""Page on which the admin chooses the table's camera from a list with live pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from flask import Blueprint, Response, redirect, request
from flask.typing import ResponseReturnValue

from device.cameras import CameraError
from device.cameras.listing import AvailableCamera, list_cameras
from device.cameras.preview import CameraPreview
from device.capture.jpeg import encode_jpeg, shrink_image
from device.session.table_session import TableSession
from device.settings_editor import SettingPath, SettingsEditor
from web.i18n import texts
from web.responses import refuse, render_page, send_picture

CAMERAS_PATH = "/cameras"
"""Path of the page, appended to `/settings`."""
SOURCE: SettingPath = ("camera", "source")
WITHOUT_PICTURE = ("phone", "phone-stream", "folder:DIR")
"""Kinds of cameras without a live picture on the page, because they give no picture before they are used."""
MAX_SIDE_PX = 960
"""Longer side of the live picture, in pixels."""
JPEG_QUALITY = 95


@dataclass(frozen=True)
class CameraChoice:
    """The cameras that can be chosen, and previews of those that the table does not use."""

    list_cameras: Callable[[], Sequence[AvailableCamera]] = list_cameras
    preview: CameraPreview = field(default_factory=CameraPreview)


def add_camera_routes(routes: Blueprint, choice: CameraChoice, editor: SettingsEditor, session: TableSession) -> None:
    """Add the routes `/cameras` and `/cameras/picture` to the routes of the settings, which only the admin may use."""
    pages = CameraPages(choice, editor, session)
    routes.get(CAMERAS_PATH)(pages.show_cameras)
    routes.post(CAMERAS_PATH)(pages.choose_camera)
    routes.get(f"{CAMERAS_PATH}/picture")(pages.send_camera_picture)


@dataclass(frozen=True)
class CameraPages:
    """The view functions for the choice of a camera."""

    choice: CameraChoice
    editor: SettingsEditor
    session: TableSession

    def show_cameras(self) -> Response:
        """Return the page with all cameras except folders: the path of a folder must be typed in the settings."""
        form = self.editor.read()
        return render_page(
            "cameras.html",
            cameras=[camera for camera in self.choice.list_cameras() if not camera.source.startswith("folder:")],
            chosen=form.texts.get(SOURCE, ""),
            without_picture=WITHOUT_PICTURE,
            version=form.version,
            option=self.editor.overrides.get(SOURCE, ""),
        )

    def choose_camera(self) -> ResponseReturnValue:
        """Save the camera in the settings; it is used after a restart, which the settings page offers."""
        source = request.form.get("source", "")
        if not self._is_listed(source):
            return refuse(texts()("cameras.gone"))
        form = self.editor.save({SOURCE: source}, request.form.get("version", ""))
        if form.errors or form.problem:
            return refuse(form.problem or texts().translate(next(iter(form.errors.values()))))
        return redirect("/settings?saved", code=303)

    def send_camera_picture(self) -> ResponseReturnValue:
        """Return a new picture of a listed camera, or the reason why there is none."""
        source = request.args.get("source", "")
        if source in WITHOUT_PICTURE or not self._is_listed(source):
            return refuse(texts()("cameras.gone"), 404)
        try:
            if source == self.editor.running.camera.source:
                image = self.session.capture_still()
            else:
                image = self.choice.preview.take_picture(source)
        except CameraError as error:
            return refuse(texts().translate(error))
        return send_picture(encode_jpeg(shrink_image(image, MAX_SIDE_PX), JPEG_QUALITY), "no-store")

    def _is_listed(self, source: str) -> bool:
        return source in {camera.source for camera in self.choice.list_cameras()}
