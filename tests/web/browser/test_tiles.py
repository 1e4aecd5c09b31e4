"""Letters and values of drawn tiles do not touch, whatever the letter, also in the picture that is shared."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from device.session.snapshot import NO_TILES, LetterView, TileView, WordView
from engine.tiles import load_tile_set, playable_tile_set_names
from tests.support import samples
from tests.support.browsers import MARKS, visit
from tests.web.conftest import ShownTable
from web import create_app
from web.security.server import PageServer

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = MARKS

FACES = sorted(
    {
        face
        for name in playable_tile_set_names()
        if not (tiles := load_tile_set(name)).right_to_left
        for face in tiles.values.items()
        if face[0] != "?"
    }
)
FIND_TOUCHING = """() => {
  const scale = 6, side = 38 * scale, found = [];
  const draw = (text, box, thick) => {
    const canvas = new OffscreenCanvas(side, side), context = canvas.getContext("2d");
    const style = getComputedStyle(text);
    context.scale(side / box.width, side / box.height);
    context.translate(-box.x, -box.y);
    context.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    context.letterSpacing = style.letterSpacing;
    const left = text.getBBox().x;
    context.fillText(text.textContent, left, text.y.baseVal[0].value);
    if (thick) {
      context.lineWidth = 0.5;
      context.strokeText(text.textContent, left, text.y.baseVal[0].value);
    }
    return context.getImageData(0, 0, side, side).data;
  };
  for (const tile of document.querySelectorAll(".board .t, .spell .t")) {
    const [letter, value] = tile.querySelectorAll("text");
    if (!value || !value.getClientRects().length) continue;
    const rect = tile.querySelector("rect")?.getBBox() ?? { x: 0, y: 0, width: 38, height: 38 };
    const [one, other] = [draw(letter, rect, false), draw(value, rect, true)];
    if (one.some((alpha, i) => i % 4 === 3 && alpha > 128 && other[i] > 128)) found.push(tile.textContent);
  }
  return found;
}"""


@pytest.mark.parametrize("start", range(0, len(FACES), 225))
def test_values_do_not_touch_letters(phone: Page, table: ShownTable, start: int) -> None:
    faces = FACES[start : start + 225]
    tiles = tuple(TileView(letter, value) for letter, value in faces)
    letters = tuple(LetterView(letter, value) for letter, value in faces[:3])
    play = replace(samples.PASTE, words=(WordView("", letters, 1, 0, valid=True),))
    board = replace(samples.MIDGAME.board, tiles=(*tiles, *NO_TILES)[: len(NO_TILES)])
    table.show(replace(samples.MIDGAME, board=board, turns=(samples.HORN, play)))
    with PageServer(create_app(table), 0, "127.0.0.1") as server:
        visit(phone, server)
        assert phone.evaluate("document.querySelectorAll('.t .v').length") == len(faces) + len(letters)
        assert phone.evaluate(FIND_TOUCHING) == []
