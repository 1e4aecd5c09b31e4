"""Photographs from files: what opens, what does not, and why not."""

from __future__ import annotations

import io
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pictures

from engine.limits import MAX_JPEG_FILE_BYTES
from vision.photo import PhotoError, load_photo


def jpeg(path: Path, size: tuple[int, int] = (64, 48), **options: object) -> Path:
    """A picture that is red at the top left and blue elsewhere."""
    picture = Pictures.new("RGB", size, (20, 20, 220))
    picture.paste((220, 20, 20), (0, 0, size[0] // 2, size[1] // 2))
    picture.save(path, quality=95, **options)
    return path


def test_a_photograph_is_bgr(tmp_path: Path) -> None:
    photo = load_photo(jpeg(tmp_path / "a.jpg"))
    assert photo.image.shape == (48, 64, 3)
    assert photo.image.dtype == np.uint8
    blue, green, red = photo.image[5, 5].astype(int)
    assert red > 180
    assert blue < 60
    assert green < 60


def test_a_photograph_is_turned_as_its_exif_says(tmp_path: Path) -> None:
    exif = Pictures.Exif()
    exif[0x0112] = 6  # the camera was held upright: turn a quarter clockwise
    photo = load_photo(jpeg(tmp_path / "a.jpg", exif=exif))
    assert photo.size == (48, 64)
    assert photo.image.shape == (64, 48, 3)
    assert photo.image[5, 40, 2] > 180  # what was top left is top right


def test_a_very_large_photograph_is_shrunk_and_its_points_stay_the_files_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vision.photo.MAX_SIDE_PX", 300)
    photo = load_photo(jpeg(tmp_path / "a.jpg", (2000, 1000)))
    assert max(photo.image.shape) == 300
    assert photo.size == (2000, 1000)
    edge = np.array([[999.5, 499.5]])
    x, y = photo.file_to_image(edge)[0].round().astype(int)
    assert abs(x - 149.5) <= 1
    assert abs(y - 74.5) <= 1
    assert np.allclose(photo.image_to_file(photo.file_to_image(edge)), edge)


@pytest.mark.parametrize("mode", ["L", "P", "RGBA", "CMYK", "1", "LA"])
def test_any_kind_of_picture_becomes_bgr(tmp_path: Path, mode: str) -> None:
    path = tmp_path / ("a.tif" if mode == "CMYK" else "a.png")
    Pictures.new("RGB", (20, 10), (200, 200, 200)).convert(mode).save(path)
    image = load_photo(path).image
    assert image.shape == (10, 20, 3)
    assert image.mean() > 150


def test_deep_grey_is_scaled_not_clipped(tmp_path: Path) -> None:
    deep = np.linspace(0, 65535, 200, dtype=np.uint16).reshape(10, 20)
    Pictures.fromarray(deep).save(tmp_path / "a.png")
    image = load_photo(tmp_path / "a.png").image
    assert 120 < image[5, 0, 0] < 135


def test_a_jpeg_that_is_one_pixel_wide_and_very_high_opens(tmp_path: Path) -> None:
    path = tmp_path / "thin.jpg"
    Pictures.new("RGB", (1, 65_500)).save(path)
    assert load_photo(path).image.shape[1] == 1


def test_a_picture_of_one_pixel_opens(tmp_path: Path) -> None:
    Pictures.new("RGB", (1, 1)).save(tmp_path / "a.png")
    assert load_photo(tmp_path / "a.png").image.shape == (1, 1, 3)


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_truncated_picture_is_refused(tmp_path: Path, kind: str) -> None:
    whole = io.BytesIO()
    Pictures.fromarray(np.random.default_rng(0).integers(0, 255, (90, 90, 3), np.uint8)).save(whole, kind)
    path = tmp_path / "cut"
    path.write_bytes(whole.getvalue()[: len(whole.getvalue()) // 2])
    with pytest.raises(PhotoError, match="damaged or incomplete"):
        load_photo(path)


def test_tiff_with_a_fraction_as_offset_is_refused(tmp_path: Path) -> None:
    whole = io.BytesIO()
    Pictures.new("RGB", (20, 10)).save(whole, "TIFF")
    entry = b"\x11\x01\x04\x00"  # StripOffsets (tag 273) as a LONG; 11 is FLOAT
    assert entry in whole.getvalue()
    path = tmp_path / "a.tif"
    path.write_bytes(whole.getvalue().replace(entry, b"\x11\x01\x0b\x00"))
    with pytest.raises(PhotoError, match="damaged or incomplete"):
        load_photo(path)


def test_file_that_is_no_picture_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "letter.jpg"
    path.write_text("Dear camera,")
    with pytest.raises(PhotoError, match="not in a known picture format"):
        load_photo(path)


def test_a_drawing_for_a_printer_is_no_photograph(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"  # Pillow knows it by its first bytes, and would have Ghostscript run it
    Pictures.new("RGB", (20, 10)).save(path, "EPS")
    with pytest.raises(PhotoError, match="not in a known picture format"):
        load_photo(path)


@pytest.mark.parametrize("form", ["JPEG", "MPO", "PNG", "WEBP", "TIFF", "BMP", "GIF"])
def test_photographs_of_many_forms_open(tmp_path: Path, form: str) -> None:
    path = tmp_path / "a"
    Pictures.new("RGB", (20, 10), (200, 200, 200)).save(path, form)
    assert load_photo(path).image.shape == (10, 20, 3)


def test_missing_file_or_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PhotoError, match="does not exist"):
        load_photo(tmp_path / "none.jpg")
    with pytest.raises(PhotoError, match="folder"):
        load_photo(tmp_path)


def test_the_message_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "cut.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"\x00" * 40)
    with pytest.raises(PhotoError) as caught:
        load_photo(path)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_a_photograph_of_sixty_megapixels_opens(tmp_path: Path) -> None:
    photo = load_photo(jpeg(tmp_path / "a.jpg", (9000, 6700)))
    assert max(photo.image.shape) == 2560
    assert photo.size == (9000, 6700)


def test_a_large_jpeg_of_a_phone_with_a_gain_map_opens(tmp_path: Path) -> None:
    photo, gain_map = Pictures.new("RGB", (8064, 6048), (200, 40, 10)), Pictures.new("L", (80, 60))
    photo.save(tmp_path / "phone.jpg", "MPO", save_all=True, append_images=[gain_map])
    loaded = load_photo(tmp_path / "phone.jpg")
    assert loaded.size == (8064, 6048) and loaded.image.shape == (1920, 2560, 3)
    assert np.abs(loaded.image[960, 1280].astype(int) - [10, 40, 200]).max() < 4


def test_load_photo_refuses_a_large_png_before_decoding_it(tmp_path: Path) -> None:
    path = tmp_path / "large.png"
    Pictures.new("1", (13_000, 13_000)).save(path)  # 21 kB; decoded, it took 2.1 GB
    tracemalloc.start()
    try:
        with pytest.raises(PhotoError, match="pixels"):
            load_photo(path)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_pixels_of_unknown_range_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "float.tif"
    Pictures.new("F", (20, 20), 0.5).save(path)
    with pytest.raises(PhotoError, match="unknown range"):
        load_photo(path)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"])
def test_large_picture_of_any_mode_keeps_its_colours_and_its_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    monkeypatch.setattr("vision.photo.MAX_SIDE_PX", 256)
    monkeypatch.setattr("vision.photo._REDUCED_PIXELS", 120_000)
    path = tmp_path / "large.png"
    size = (520, 260)
    light = Pictures.new("RGB", size, (200, 100, 50)) if mode in ("P", "RGB", "RGBA") else Pictures.new("L", size, 255)
    if mode == "I;16":
        light = Pictures.fromarray(np.full((260, 520), 0x6400, np.uint16))
    (light if mode == "I;16" else light.convert(mode)).save(path)
    photo = load_photo(path)
    assert photo.size == size and photo.image.shape == (128, 256, 3)
    expected = {"P": None, "RGB": (50, 100, 200), "RGBA": (50, 100, 200), "I;16": (100, 100, 100)}.get(mode, (255,) * 3)
    assert expected is None or (photo.image == np.array(expected)).all()


def test_sideways_orientation_counts_for_a_picture_that_is_reduced(tmp_path: Path) -> None:
    path = tmp_path / "turned.png"
    exif = Pictures.Exif()
    exif[0x0112] = 6
    Pictures.new("RGB", (5200, 2600)).save(path, exif=exif)
    photo = load_photo(path)
    assert photo.size == (2600, 5200) and photo.image.shape == (2560, 1280, 3)


@pytest.mark.parametrize(("name", "options"), [("a.webp", {}), ("a.jpg", {"progressive": True})])
def test_picture_that_is_decoded_whole_has_fewer_pixels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, options: dict[str, bool]
) -> None:
    for limit in ("MAX_WEBP_PIXELS", "MAX_PICTURE_PIXELS"):
        monkeypatch.setattr(f"vision.photo.{limit}", 399)
    Pictures.new("RGB", (20, 20)).save(tmp_path / name, **options)
    with pytest.raises(PhotoError, match="too many pixels"):
        load_photo(tmp_path / name)


def test_file_that_is_larger_than_any_picture_is_refused_with_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "padded.jpg"
    with path.open("wb") as file:
        file.write(b"\xff\xd8\xff")
        file.truncate(MAX_JPEG_FILE_BYTES + 1)
    with pytest.raises(PhotoError, match="larger than 64 MB"):
        load_photo(path)
