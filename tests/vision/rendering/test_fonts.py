"""The fonts for training, calibration and evaluation."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.tiles import load_tile_set
from tests.system.unseen_faces import load_held_out_fonts
from vision.rendering.fonts import (
    CALIBRATION_FAMILIES,
    DEBIAN_FONTS,
    packaged_fonts,
    select_supporting_fonts,
    split_by_family,
)

ALL_FONTS = (*packaged_fonts(), *(Path(file) for files in DEBIAN_FONTS.values() for file in files))


def test_calibration_fonts_are_a_sixth_and_in_no_training() -> None:
    training, calibration = split_by_family(ALL_FONTS)
    assert set(training) | set(calibration) == set(ALL_FONTS) and not set(training) & set(calibration)
    assert 0.1 < len(calibration) / len(ALL_FONTS) < 0.25


def test_calibration_family_keeps_all_its_fonts() -> None:
    training, calibration = split_by_family((Path("Roboto-Bold.ttf"), Path("RobotoCondensed-Bold.ttf"), Path("A.ttf")))
    assert training == (Path("A.ttf"),) and len(calibration) == 2


def test_calibration_families_all_have_a_font() -> None:
    assert all(any(font.name.startswith(family) for font in ALL_FONTS) for family in CALIBRATION_FAMILIES)


def test_calibration_fonts_are_not_those_of_the_evaluation() -> None:
    evaluated = {Path(font.file).name for font in load_held_out_fonts()}
    assert not evaluated & {font.name for font in ALL_FONTS}


@pytest.mark.parametrize("language", ["el", "ru"])
def test_calibration_font_of_the_packages_draws_other_scripts(language: str) -> None:
    letters = "".join(load_tile_set(language).letters)
    assert all(select_supporting_fonts(fonts, letters) for fonts in split_by_family(packaged_fonts()))
