"""Download of labelled photographs, against a server on this machine with synthetic pictures."""

from __future__ import annotations

import hashlib
import io
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from PIL import Image

from calibration.evaluation.rendered_tables import load_photo_shots
from tests.support.download_photos import PhotoStatus, download_photos, main, photo_url
from tests.support.local_data import PHOTOS_DIR, needs_photos
from tests.support.photo_labels import PhotoCollection, Record, load_collections

ORIENTATION_TAG = 0x0112
ROTATED_90 = 6
"""EXIF orientation: shown turned by 90 degrees, so width and height change places."""


@dataclass
class FileServer:
    """Files that are served by path, and the paths that were asked for."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)


@pytest.fixture
def server() -> Iterator[FileServer]:
    state = FileServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.requests.append(self.path)
            data = state.files.get(self.path)
            self.send_response(404 if data is None else 200)
            self.send_header("Content-Length", str(len(data or b"")))
            self.end_headers()
            self.wfile.write(data or b"")

        def log_message(self, format: str, *args: object) -> None:
            """Keep the test's output clean."""

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=httpd.serve_forever, name="photo-server")
    thread.start()
    state.url = f"http://127.0.0.1:{httpd.server_address[1]}"
    yield state
    httpd.shutdown()
    thread.join()
    httpd.server_close()


def make_jpeg(width: int, height: int, orientation: int | None = None) -> bytes:
    exif = Image.Exif()
    if orientation is not None:
        exif[ORIENTATION_TAG] = orientation
    jpeg = io.BytesIO()
    Image.linear_gradient("L").resize((width, height)).save(jpeg, "JPEG", exif=exif)
    return jpeg.getvalue()


def make_collection(labelled: bytes, number: int = 1) -> PhotoCollection:
    with Image.open(io.BytesIO(labelled)) as image:
        width, height = image.size
    records = tuple(
        {
            "id": f"made-{n}",
            "photo": f"photos/{n}.jpg",
            "origin": f"pictures of boards/{n}.jpg",
            "sha256": hashlib.sha256(labelled).hexdigest(),
            "width": width,
            "height": height,
            "language": "en",
            "corners": [[0, 0], [9, 0], [9, 9], [0, 9]],
            "board": ["." * 15] * 15,
            "game": None,
            "index": None,
        }
        for n in range(number)
    )
    return PhotoCollection("made", "owner/boards", "0" * 40, records)


def serve(server: FileServer, collection: PhotoCollection, data: bytes, record: Record | None = None) -> None:
    url = photo_url(server.url, collection, record or collection.records[0])
    server.files[url.removeprefix(server.url)] = data


def download_statuses(collection: PhotoCollection, folder: Path, server: FileServer) -> list[PhotoStatus]:
    return [result.status for result in download_photos(collection, folder, server.url)]


def test_identical_picture_is_reported_as_such(server: FileServer, tmp_path: Path) -> None:
    labelled = make_jpeg(60, 40)
    collection = make_collection(labelled)
    serve(server, collection, labelled)
    assert download_statuses(collection, tmp_path, server) == [PhotoStatus.IDENTICAL]
    assert (tmp_path / "made/photos/0.jpg").read_bytes() == labelled


def test_download_address_is_quoted(server: FileServer, tmp_path: Path) -> None:
    collection = make_collection(make_jpeg(60, 40))
    download_statuses(collection, tmp_path, server)
    assert server.requests == [f"/owner/boards/{'0' * 40}/pictures%20of%20boards/0.jpg"]


def test_download_larger_original_is_scaled(server: FileServer, tmp_path: Path) -> None:
    collection = make_collection(make_jpeg(60, 40))
    serve(server, collection, make_jpeg(181, 120))  # 1 px off the exact proportions, as rounding leaves it
    assert download_statuses(collection, tmp_path, server) == [PhotoStatus.SCALED]
    with Image.open(tmp_path / "made/photos/0.jpg") as image:
        assert image.size == (60, 40)


def test_download_sideways_original_is_turned_before_scaling(server: FileServer, tmp_path: Path) -> None:
    collection = make_collection(make_jpeg(40, 60))
    serve(server, collection, make_jpeg(180, 120, ROTATED_90))
    assert download_statuses(collection, tmp_path, server) == [PhotoStatus.SCALED]
    with Image.open(tmp_path / "made/photos/0.jpg") as image:
        assert (image.size, image.getexif().get(ORIENTATION_TAG)) == ((40, 60), None)


def test_download_same_size_other_bytes(server: FileServer, tmp_path: Path) -> None:
    collection = make_collection(make_jpeg(60, 40))
    original = make_jpeg(40, 60, ROTATED_90)
    serve(server, collection, original)
    assert download_statuses(collection, tmp_path, server) == [PhotoStatus.SAME_SIZE]
    assert (tmp_path / "made/photos/0.jpg").read_bytes() == original


@pytest.mark.parametrize(
    "data",
    [make_jpeg(120, 120), make_jpeg(30, 20), b"version https://git-lfs.github.com/spec/v1", make_jpeg(60, 40)[:300]],
    ids=["other proportions", "smaller", "no picture", "cut short"],
)
def test_download_wrong_file(server: FileServer, tmp_path: Path, data: bytes) -> None:
    collection = make_collection(make_jpeg(60, 40))
    serve(server, collection, data)
    assert download_statuses(collection, tmp_path, server) == [PhotoStatus.FAILED]
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["manifest.json"]


def test_download_missing_file_does_not_stop_the_others(server: FileServer, tmp_path: Path) -> None:
    labelled = make_jpeg(60, 40)
    collection = make_collection(labelled, number=2)
    serve(server, collection, labelled, collection.records[1])
    assert download_statuses(collection, tmp_path, server) == [PhotoStatus.FAILED, PhotoStatus.IDENTICAL]
    manifest = json.loads((tmp_path / "made/manifest.json").read_text())
    assert [record["id"] for record in manifest] == ["made-1"]


def test_download_without_a_server(tmp_path: Path) -> None:
    collection = make_collection(make_jpeg(60, 40))
    results = list(download_photos(collection, tmp_path, "http://127.0.0.1:1"))
    assert [result.status for result in results] == [PhotoStatus.FAILED]


def test_download_again_fetches_only_what_is_missing(server: FileServer, tmp_path: Path) -> None:
    labelled = make_jpeg(60, 40)
    collection = make_collection(labelled, number=2)
    serve(server, collection, make_jpeg(120, 80))
    download_statuses(collection, tmp_path, server)
    serve(server, collection, labelled, collection.records[1])
    server.requests.clear()
    assert download_statuses(collection, tmp_path, server) == [PhotoStatus.KEPT, PhotoStatus.IDENTICAL]
    assert len(server.requests) == 1


def test_download_replaces_a_damaged_file(server: FileServer, tmp_path: Path) -> None:
    labelled = make_jpeg(60, 40)
    collection = make_collection(labelled)
    serve(server, collection, labelled)
    damaged = tmp_path / "made/photos/0.jpg"
    damaged.parent.mkdir(parents=True)
    damaged.write_bytes(labelled[:300])
    assert download_statuses(collection, tmp_path, server) == [PhotoStatus.IDENTICAL]


def test_download_makes_a_folder_that_the_evaluation_reads(server: FileServer, tmp_path: Path) -> None:
    labelled = make_jpeg(60, 40)
    collection = make_collection(labelled)
    serve(server, collection, labelled)
    download_statuses(collection, tmp_path, server)
    assert [(shot.name, shot.image.shape) for shot in load_photo_shots(tmp_path)] == [("made-0", (40, 60, 3))]


def test_main_exit_status_when_a_photograph_is_missing(server: FileServer, tmp_path: Path) -> None:
    assert main([str(tmp_path), "finerty", "--base-url", server.url]) == 1


def test_main_unknown_collection(tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([str(tmp_path), "nowhere"])
    assert stopped.value.code == 2


@needs_photos
def test_download_of_the_real_photographs(server: FileServer, tmp_path: Path) -> None:
    for whole in load_collections():
        collection = replace(whole, records=whole.records[:2])
        for record in collection.records:
            serve(server, collection, (PHOTOS_DIR / whole.name / record["photo"]).read_bytes(), record)
        statuses = download_statuses(collection, tmp_path, server)
        assert set(statuses) <= {PhotoStatus.IDENTICAL, PhotoStatus.SAME_SIZE}
