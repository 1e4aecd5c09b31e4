"""The form to enter a turn on a board: its keys, and the preview of the play."""

from __future__ import annotations

from dataclasses import replace

import pytest
from flask.testing import FlaskClient

from device.session.messages import Notice, Trouble
from engine.messages import make_message
from tests.support import samples
from tests.web.conftest import ShownTable
from web.filters import has_camera_fault
from web.pages.dialogs import list_letter_keys


def test_entry_shows_the_tiles_on_the_board_and_a_key_for_each_letter(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    page = paired.get("/dialogs/entry").text
    assert page.count('class="sq') == 225 and page.count(" taken") == 15 and page.count("data-letter=") == 26


def test_entry_offers_the_camera_again_only_after_a_fault(table: ShownTable, paired: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    assert "The camera sends no pictures." not in paired.get("/dialogs/entry").text
    table.show(replace(samples.MIDGAME, notices=(Notice("The camera is gone.", Trouble.CAMERA),)))
    assert "The camera sends no pictures." in paired.get("/dialogs/entry").text


@pytest.mark.parametrize("key", ["camera-none-new", "camera-picture"])
def test_folder_without_a_new_readable_picture_is_no_camera_fault(key: str) -> None:
    notice = Notice(make_message(key, "no picture in {0}", "x"), Trouble.CAMERA)
    assert not has_camera_fault(replace(samples.MIDGAME, notices=(notice,)))


def test_entry_needs_a_paired_phone(table: ShownTable, client: FlaskClient) -> None:
    table.show(samples.MIDGAME)
    assert "data-letter" not in client.get("/dialogs/entry").text
    assert "HORN" not in client.get("/dialogs/entry/preview?at=8F&word=HORN").text


def test_preview_shows_score_and_problems(paired: FlaskClient) -> None:
    assert "+14" in paired.get("/dialogs/entry/preview?at=8F&word=HORN").text
    assert "XQ is not in the word list." in paired.get("/dialogs/entry/preview?at=8F&word=XQ").text
    assert "does not fit on the board" in paired.get("/dialogs/entry/preview?at=8O&word=HORN").text


def test_letters_of_several_characters_are_in_brackets() -> None:
    keys = {letter: forms for letter, *forms in list_letter_keys(replace(samples.MIDGAME, tile_set="es"))}
    assert keys["CH"] == ["[CH]", "[ch]"] and keys["A"] == ["[A]", "[a]"]
