"""The list of the fonts of the training data."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from pathlib import Path

import pytest
from fontTools.subset import Subsetter
from fontTools.ttLib import TTFont

from engine.tiles import load_tile_set
from tests.system.unseen_faces import load_held_out_fonts
from vision.rendering.fonts import packaged_fonts, select_supporting_fonts
from vision.training.font_list import (
    add_accents,
    installed_fonts,
    load_training_fonts,
    select_handwritten_fonts,
    split_by_family,
    training_fonts,
    weight_by_kind,
)

LISTED = load_training_fonts()
ALL_FONTS = (*packaged_fonts(), *(font.path for font in LISTED))


def normalise_family(family: str) -> str:
    """Return a family without spaces, capitals and the marks of makers and styles: `Romande ADF Std` is `romande`."""
    words = re.sub(r"\b(ADF|Bold|Book|GWF|Medium|No ?\d+|Pro|Regular|SIL|Std|TT|Titling|Two|Beta)\b", "", family)
    return re.sub(r"[\W_\d]", "", words).lower()


def test_held_out_families_are_not_in_the_training_data() -> None:
    held_out = load_held_out_fonts()
    assert normalise_family("Romande ADF Std") == normalise_family("romande")
    assert not {normalise_family(font.family) for font in held_out} & {normalise_family(f.family) for f in LISTED}
    assert not {font.sha256 for font in held_out} & {font.sha256 for font in LISTED}
    assert not {Path(font.file).name for font in held_out} & {font.name for font in ALL_FONTS}
    assert not {font.package for font in held_out} & {font.package for font in LISTED}


def test_listed_fonts_are_six_hundred_or_more_of_nine_kinds() -> None:
    families = defaultdict(set)
    for font in LISTED:
        families[font.kind].add(font.family)
    kinds = {"sans", "serif", "slab", "condensed", "rounded", "script", "handwritten", "display", "stencil"}
    assert set(families) == kinds
    assert len(LISTED) >= 600 and min(map(len, families.values())) >= 8
    assert len({Path(font.file).name for font in LISTED}) == len({font.sha256 for font in LISTED}) == len(LISTED)


def test_installed_fonts_are_the_listed_files_and_draw_all_capitals() -> None:
    there = [font for font in LISTED if font.path.exists()]
    if not there:
        pytest.skip("no listed font is installed")
    paths = tuple(font.path for font in there)
    assert select_supporting_fonts(paths, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == paths
    changed = [f.file for f in there if hashlib.sha256(f.path.read_bytes()).hexdigest() != f.sha256]
    assert not changed


def write_subset(path: Path, characters: str) -> Path:
    """Write a font with a few characters of Manrope."""
    manrope = next(font for font in packaged_fonts() if font.name == "Manrope-Bold.ttf")
    with TTFont(manrope) as font:
        subsetter = Subsetter()
        subsetter.populate(text=characters)
        subsetter.subset(font)
        font.save(path)
    return path


def test_accented_letters_of_a_second_file_are_added(tmp_path: Path) -> None:
    western = write_subset(tmp_path / "some-latin-400-normal.woff", "AEÉ")
    others = write_subset(tmp_path / "some-latin-ext-400-normal.woff", "ĄĘ")
    merged = add_accents(western)
    assert merged.name == western.name and merged == add_accents(western)
    assert select_supporting_fonts((western, others, merged), "AĄEĘÉ") == (merged,)


def test_font_of_one_file_stays_as_it_is(tmp_path: Path) -> None:
    western = write_subset(tmp_path / "other-latin-400-normal.woff", "AEÉ")
    assert add_accents(western) == western


def test_missing_training_fonts_are_named_by_their_debian_packages(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"apt-get install .*fonts-liberation .*texlive-fonts-extra"):
        training_fonts(tmp_path)


def test_missing_training_fonts_are_named_by_their_npm_packages(tmp_path: Path) -> None:
    for font in LISTED:
        if not font.is_npm:
            (tmp_path / font.file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / font.file).touch()
    with pytest.raises(RuntimeError, match=r"npm install --prefix \S+ .*@fontsource/pacifico@[\d.]+ "):
        training_fonts(tmp_path, tmp_path / "npm")


def test_rare_kinds_are_not_repeated_in_the_weighted_list() -> None:
    fonts = (Path("Pacifico.woff"), next(font.path for font in LISTED if font.kind == "stencil"))
    assert weight_by_kind(fonts) == (fonts[0], fonts[1], fonts[1], fonts[1])


def test_installed_fonts_are_found_below_the_root(tmp_path: Path) -> None:
    (tmp_path / "a.ttf").touch()
    assert installed_fonts({"fonts-a": ("a.ttf",)}, tmp_path) == (tmp_path / "a.ttf",)


def test_handwritten_fonts_follow_from_the_kind() -> None:
    assert [font.name for font in select_handwritten_fonts((Path("Humor-Sans.ttf"), Path("Lato-Bold.ttf")))] == [
        "Humor-Sans.ttf"
    ]


def test_calibration_fonts_are_a_seventh_and_in_no_training() -> None:
    training, calibration = split_by_family(ALL_FONTS)
    assert set(training) | set(calibration) == set(ALL_FONTS) and not set(training) & set(calibration)
    assert 0.1 < len(calibration) / len(ALL_FONTS) < 0.2


def test_calibration_has_families_of_every_kind_with_all_their_fonts() -> None:
    marks = defaultdict(set)
    for font in LISTED:
        marks[font.family].add(font.calibration)
    assert all(len(found) == 1 for found in marks.values())
    for kind in {font.kind for font in LISTED}:
        families = {font.family: font.calibration for font in LISTED if font.kind == kind}
        assert 0.1 < sum(families.values()) / len(families) < 0.2


@pytest.mark.parametrize("language", ["el", "ru"])
def test_calibration_font_of_the_packages_draws_other_scripts(language: str) -> None:
    letters = "".join(load_tile_set(language).letters)
    assert all(select_supporting_fonts(fonts, letters) for fonts in split_by_family(packaged_fonts()))
