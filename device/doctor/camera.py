"""Checks of the camera: the connection, the permissions of the service's user, and one picture of the board."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from device.cameras.addresses import hide_credentials
from device.cameras.listing import list_cameras, resolve_camera
from device.doctor.finding import Finding, Subject
from device.doctor.service import check_access, is_closed_to_service, read_service_state
from device.doctor.system import System
from device.settings import Settings

if TYPE_CHECKING:
    from device.cameras import Image

_PHONES, _FOLDER = ("phone", "phone-stream"), "folder:"
MIN_BRIGHTNESS = 40.0
"""Least mean brightness (0 to 255) of a good picture."""
OVEREXPOSED_LEVEL, MAX_OVEREXPOSED_SHARE = 250, 0.04
"""Lowest grey level of an overexposed pixel (`OVEREXPOSED_LEVEL`), and maximum share (0..1) of overexposed pixels on
the board (`MAX_OVEREXPOSED_SHARE`); a higher share counts as glare."""
GOOD_SQUARE_PX = 32.0
"""Sufficient size of squares in pixels; larger squares do not improve readings. Letters are read at 28 pixels
(docs/reading.md)."""
MIN_SQUARE_PX = 24.0
"""Minimum size of squares in pixels; letters on smaller ones are often confused."""
MIN_CONFIDENCE = 0.9
"""Minimum confidence of the reading of a square; if it is lower, the square counts as doubtful."""


def check_camera(system: System, settings: Settings) -> Iterator[Finding]:
    """Check that the service may use the camera, or that the folder of pictures exists."""
    subject, source = Subject("camera"), resolve_camera(settings.camera.source)
    if source != settings.camera.source and source in _PHONES:
        yield subject.note("no camera module was found, so phones take the pictures")
    elif source in _PHONES:
        yield subject.good("paired phones take the pictures")
    elif source.startswith(_FOLDER):
        yield _check_folder(system, subject, Path(source.removeprefix(_FOLDER)).expanduser())
    else:
        for pattern in ("/dev/video*", "/dev/media*", "/dev/dma_heap/*"):
            yield from check_access(system, subject, pattern, "video")


def _check_folder(system: System, subject: Subject, folder: Path) -> Finding:
    remedy = "sudo install -d -m 2777 /var/lib/tilekeeper-pictures, and set camera.source to it"
    if not system.path(folder).is_dir():
        return subject.fault(f"there is no folder {folder}", remedy)
    if is_closed_to_service(system, folder, "r"):
        return subject.fault(f"the table may not read the folder {folder}", remedy)
    return subject.good(f"pictures come from the folder {folder}")


def check_picture(system: System, settings: Settings) -> Iterator[Finding]:
    """Take a picture and check it, unless the running table uses the camera."""
    from device.cameras import CameraError

    subject, source = Subject("camera"), resolve_camera(settings.camera.source)
    if source in _PHONES or source.startswith(_FOLDER):
        return
    if read_service_state(system) in ("active", "activating"):
        remedy = "sudo systemctl stop tilekeeper; sudo tilekeeper doctor; sudo systemctl start tilekeeper"
        yield subject.note("the running table is using it, so its picture was not checked", remedy)
        return
    try:
        image = system.take_picture(source)
    except CameraError as error:
        connected = [camera.source for camera in list_cameras(system.root) if camera.name]
        remedy = f"set camera.source in the settings file; connected: {', '.join(connected) or 'no camera'}"
        yield subject.fault(str(error), f"{remedy}; then: sudo systemctl restart tilekeeper")
        return
    yield subject.good(f"{hide_credentials(source)} takes pictures")
    yield from _check_image(image, settings)


def _check_image(image: Image, settings: Settings) -> Iterator[Finding]:
    """Check light, focus and board size in one picture, `(H, W, 3) uint8 BGR`."""
    import cv2

    from engine.tiles import load_tile_set
    from vision.focus import is_blurred
    from vision.geometry import homography, rectify, square_side
    from vision.recognition.reader import BoardReader

    light, board = Subject("light"), Subject("board")
    mean = float(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY).mean())
    if mean < MIN_BRIGHTNESS:
        yield light.warning(f"the picture is dark ({mean:.0f} of 255)", "light the board with a lamp from the side")
    reading = BoardReader().read(image, load_tile_set(settings.game.tiles).letters)
    if reading.corners is None:
        remedy = "put the board under the camera with all four edges in view, then run this again"
        yield board.warning("there is no board in the picture", remedy)
        return
    side = square_side(reading.corners)
    size = f"{side:.0f} pixels per square"
    if side < MIN_SQUARE_PX:
        remedy = "move the camera closer to the board (docs/parts.md has a table of heights)"
        yield board.warning(f"it is small in the picture: {size}, but {GOOD_SQUARE_PX:.0f} are good", remedy)
    if is_blurred(image, reading.corners):
        remedy = "turn the lens (a module 3 focuses by itself: clean it, wait 3 s)"
        yield Subject("focus").warning("the picture is blurred", remedy)
    flat = cv2.cvtColor(rectify(image, homography(reading.corners), round(side)), cv2.COLOR_BGR2GRAY)
    if (flat >= OVEREXPOSED_LEVEL).mean() > MAX_OVEREXPOSED_SHARE:
        remedy = "move the lamp to the side, or put something thin and white in front of it"
        yield light.warning("a lamp is reflected on the board", remedy)
    if reading.board is not None:
        doubtful = sum(square.confidence < MIN_CONFIDENCE for square in reading.board.squares)
        yield board.good(f"found, {size}; {doubtful} of 225 squares are uncertain")
    yield from map(board.note, reading.problems)
