"""Boards with the variations of commercial boards: shapes of premium squares, ridges, and print on the frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from vision.rendering.board_art import (
    SIZE,
    SUB_PIXEL_BITS,
    BoardPainter,
    BoardStyle,
    fill_polygon,
    star_outline,
    to_sub_pixels,
)
from vision.rendering.fonts import Mask, text_mask
from vision.rendering.style import Colour, Rng

_FRAME_WORDS = (
    "CROSSWORD GAME",
    "WORD GAME",
    "LETTERS",
    "1 POINT A E I O U",
    "2 POINTS D G",
    "10 POINTS Q Z",
    "TILE VALUES",
    "TABLE GAME",
)


@dataclass(frozen=True)
class VariedBoardStyle(BoardStyle):
    """Appearance of a printed or moulded board."""

    ridge: float  # brightness of the highlight on raised grid lines, 0 = flat lines
    premium_shape: str  # shape of premium squares: full, inset, rounded, burst, teeth, arrows
    inset: float  # width of the border around inset and rounded premium squares
    raised: float  # brightness of the highlight on raised premium squares, 0 = flat
    text_turn: int  # rotation of all texts, quarter turns
    text_faces: bool  # texts are rotated towards the nearest side of the board instead
    centre: str  # print of the centre square: star, heart, text, plain, disc
    frame_text: bool  # words are printed on the frame
    star_points: int = 5  # number of points of the star on the centre square
    hollow_star: bool = False  # the star is drawn as an outline

    def make_painter(self, rng: Rng, px: int) -> BoardPainter:
        """Return a painter of the board, with `px` pixels per square."""
        return VariedBoardPainter(rng, self, px)


class VariedBoardPainter(BoardPainter):
    """Painter of the flat art of a board with the variations of a `VariedBoardStyle`, and random words on the frame."""

    _style: VariedBoardStyle

    def _print_frame(self) -> None:
        super()._print_frame()
        if not self._style.frame_text:
            return
        for side, room in enumerate(self._margin):
            if room >= 0.7:
                for _ in range(int(self._rng.integers(1, 4))):
                    self._print_word(side, room)

    def _print_word(self, side: int, room: float) -> None:
        """Print a random word on a side of the frame (left, top, right, bottom) that is `room` squares wide."""
        rng, (left, top, right, bottom) = self._rng, self._margin
        word = str(rng.choice(_FRAME_WORDS))
        size = max(6, round(self._px * min(room * 0.6, float(rng.uniform(0.3, 1.4)))))
        mask = text_mask(self._style.text_font, word, size)
        along = float(rng.uniform(2, 13))
        across = room * float(rng.uniform(0.3, 0.7))
        if side % 2 == 0:
            mask = np.rot90(mask, 1 if side == 0 else 3)
            x, y = (across if side == 0 else left + SIZE + right - across), top + along
        else:
            x, y = left + along, (across if side == 1 else top + SIZE + bottom - across)
        self._print_mask(mask, x, y, self._contrast if rng.random() < 0.7 else self._style.line)

    def _print_labels(self, i: int, gap: float, column: Mask, row: Mask) -> None:
        super()._print_labels(i, gap, column, row)
        if self._style.text_faces:
            left, top = self._margin[:2]
            self._print_mask(column, left + i + 0.5, top + SIZE + gap)
            self._print_mask(row, left + SIZE + gap, top + i + 0.5)

    def _draw_grid(self) -> None:
        # Ornaments of premium squares overlap the lines. In the other shapes, the lines are visible on all squares.
        if self._style.premium_shape in ("full", "inset", "rounded"):
            super()._draw_grid()
            return
        if self._style.line_width:
            self._draw_lines()
        self._draw_premium_squares()

    def _draw_square(self, x: float, y: float, colour: Colour) -> None:
        shape = self._style.premium_shape
        pad = self._style.inset if shape in ("inset", "rounded") else 0.0
        if shape in ("burst", "teeth", "arrows"):
            self._draw_spikes(x, y, colour, 9 if shape == "burst" else 6)
        if self._style.raised:
            # A raised square has a dark lower right edge and a bright upper left one.
            lit = 1.0 + 0.25 * self._style.raised
            dark = (colour[0] * 0.6, colour[1] * 0.6, colour[2] * 0.6)
            bright = (min(colour[0] * lit, 255), min(colour[1] * lit, 255), min(colour[2] * lit, 255))
            self._draw_box(x + pad, y + pad, 1 - 2 * pad, dark)
            self._draw_box(x + pad, y + pad, 0.95 - 2 * pad, bright)
            self._draw_box(x + pad + 0.05, y + pad + 0.05, 0.9 - 2 * pad, colour)
        elif shape == "rounded":
            self._draw_rounded_box(x + pad, y + pad, 1 - 2 * pad, colour)
        else:
            self._draw_box(x + pad, y + pad, 1 - 2 * pad, colour)

    def _draw_rounded_box(self, x: float, y: float, side: float, colour: Colour) -> None:
        px, image = self._px, self._image
        r = max(round(min(0.2, side / 2) * px), 0)
        x0, y0, x1, y1 = round(x * px), round(y * px), round((x + side) * px) - 1, round((y + side) * px) - 1
        cv2.rectangle(image, (x0 + r, y0), (x1 - r, y1), colour, -1)
        cv2.rectangle(image, (x0, y0 + r), (x1, y1 - r), colour, -1)
        for cx, cy in ((x0 + r, y0 + r), (x1 - r, y0 + r), (x0 + r, y1 - r), (x1 - r, y1 - r)):
            cv2.circle(image, (cx, cy), r, colour, -1, cv2.LINE_AA)

    def _draw_spikes(self, x: float, y: float, colour: Colour, count: int) -> None:
        """Draw ornaments (bursts, teeth, arrows) along the sides of a premium square, overlapping its neighbours."""
        kind, px = self._style.premium_shape, self._px
        middles = (np.arange(count) + 0.5) / count if kind != "arrows" else np.array([0.5])
        half = {"burst": 0.5 / count, "teeth": 0.25 / count, "arrows": 0.13}[kind]
        reach = {"burst": 0.09, "teeth": 0.09, "arrows": 0.14}[kind]
        for quarter_turns in range(4):
            for middle in middles:
                tip = [(middle - half, -reach), (middle + half, -reach)] if kind == "teeth" else [(middle, -reach)]
                outline: Sequence[tuple[float, float]] = [(middle - half, 0.0), *tip, (middle + half, 0.0)]
                for _ in range(quarter_turns):
                    outline = [(1 - v, u) for u, v in outline]
                fill_polygon(self._image, [((x + u) * px - 0.5, (y + v) * px - 0.5) for u, v in outline], colour)

    def _turn_print(self, mask: Mask, row: int, column: int) -> Mask:
        return np.rot90(mask, -self._find_quarter_turns(row, column))

    def _find_quarter_turns(self, row: int, column: int) -> int:
        """Return the number of quarter turns of the print on a square.

        Depending on the style, all print has the same direction, or it is turned towards the nearest side of the board.
        """
        if not self._style.text_faces:
            return self._style.text_turn
        dx, dy = column - 7, row - 7
        if abs(dx) > abs(dy):
            return 1 if dx > 0 else 3
        return 0 if dy >= 0 else 2

    def _render_print(self, kind: str) -> Mask:
        if kind != "*":
            return self._render_text(kind)
        style, px = self._style, self._px
        if style.centre == "text":
            return self._render_text("D")
        mask, middle = np.zeros((px, px), np.uint8), px / 2
        if style.centre == "star":
            star = star_outline(style.star_points, middle, 0.4 * px)
            if style.hollow_star:
                cv2.polylines(mask, [star], True, 255, max(1, px // 16), cv2.LINE_AA, SUB_PIXEL_BITS)
            else:
                cv2.fillPoly(mask, [star], 255, cv2.LINE_AA, SUB_PIXEL_BITS)
        elif style.centre == "disc":
            cv2.circle(mask, (px // 2, px // 2), px // 3, 255, max(1, px // 14), cv2.LINE_AA)
        elif style.centre == "heart":
            t = np.linspace(0, 2 * np.pi, 40)
            x = 16 * np.sin(t) ** 3
            y = -(13 * np.cos(t) - 5 * np.cos(2 * t) - 2 * np.cos(3 * t) - np.cos(4 * t))
            heart = np.stack([middle + x * px / 50, middle + y * px / 50], axis=1)
            cv2.fillPoly(mask, [to_sub_pixels(heart)], 255, cv2.LINE_AA, SUB_PIXEL_BITS)
        return mask

    def _draw_line(self, middle: float, half: float, ends: tuple[float, float], vertical: bool) -> None:
        super()._draw_line(middle, half, ends, vertical)
        ridge, first, last = self._style.ridge, middle - half, middle + half
        if ridge:
            blue, green, red = (min(c * (1 + 0.4 * ridge) + 20 * ridge, 255.0) for c in self._style.line)
            self._draw_stripe((first - half * 0.5, first), ends, (blue, green, red), vertical)
            blue, green, red = (c * (1 - 0.5 * ridge) for c in self._style.line)
            self._draw_stripe((last, last + half * 0.7), ends, (blue, green, red), vertical)
