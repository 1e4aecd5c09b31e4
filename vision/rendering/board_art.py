"""Draw a board as flat art: ground, premium squares with their print, grid lines, frame, labels.

The appearance of a board is given by parameters; lengths are in squares, colours are BGR 0 to 255. Flat art is a view
of the board from straight above, without perspective. `vision.rendering.scene` projects it into a photograph.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from vision.rendering.fonts import Mask, text_mask
from vision.rendering.style import LAYOUT, Colour, Rng

Picture = npt.NDArray[np.uint8]
SIZE = 15


def art_to_table(px: int, left: float, top: float) -> npt.NDArray[np.float64]:
    """Return the (3, 3) affine matrix from pixel coordinates of flat art to table coordinates in squares.

    The art has `px` pixels per square and the margins `left` and `top` in squares. Pixel centres are at whole numbers,
    so the edge between two squares is half a pixel before a multiple of `px`.
    """
    half = 0.5 / px
    return np.array([[1 / px, 0, half - left], [0, 1 / px, half - top], [0, 0, 1]])


@dataclass(frozen=True)
class BoardArt:
    """Top view of a board: `image` (H, W, 3) uint8 BGR with `px` pixels per square.

    `margin` is the width of the frame (left, top, right, bottom) in squares.
    """

    image: Picture
    px: int
    margin: tuple[float, float, float, float]

    def to_table(self) -> npt.NDArray[np.float64]:
        """Return the (3, 3) affine matrix from pixel coordinates of the image to table coordinates in squares."""
        return art_to_table(self.px, *self.margin[:2])


@dataclass(frozen=True)
class BoardStyle:
    """Appearance of a printed board: colours, lines, premium squares, print, frame and wear."""

    ground: Colour
    premium: Mapping[str, Colour]  # 'T', 'D', 't', 'd' -> colour
    line: Colour
    line_width: float  # 0 = no lines
    text: Mapping[str, tuple[str, ...]]  # 'T', 'D', 't', 'd' -> printed lines
    text_font: Path
    text_size: float  # height of a line of text
    text_colour: Colour
    frame_bands: tuple[tuple[float, Colour], ...]  # bands of the frame, from the grid outwards: width, colour
    frame_panels: tuple[float, float, float, float]  # additional width of the frame: left, top, right, bottom
    labels: bool  # A to O and 1 to 15 are printed along the grid
    corner_radius: float  # radius of the corners of the board's outline
    seam: str  # fold of the board: none, vertical, horizontal
    grain: float  # relative standard deviation of the texture's brightness

    def make_painter(self, rng: Rng, px: int) -> BoardPainter:
        """Return a painter of the board, with `px` pixels per square."""
        return BoardPainter(rng, self, px)


SUB_PIXEL_BITS = 4  # number of fractional bits of polygon coordinates for OpenCV: they are in sixteenths of a pixel


def to_sub_pixels(points: npt.ArrayLike) -> npt.NDArray[np.int32]:
    """Convert points `(n, 2)` px to sixteenths of a pixel for the argument `shift` of OpenCV, `SUB_PIXEL_BITS`."""
    return np.asarray((np.asarray(points) * 2**SUB_PIXEL_BITS).round(), np.int32)


def fill_polygon(image: Picture | npt.NDArray[np.float32], points: npt.ArrayLike, colour: Colour) -> None:
    """Fill a convex polygon `(n, 2)` px in place, with smooth edges."""
    cv2.fillConvexPoly(image, to_sub_pixels(points), colour, cv2.LINE_AA, SUB_PIXEL_BITS)


def print_mask(
    image: Picture, mask: npt.NDArray[np.uint8], x: float, y: float, colour: Colour, strength: float = 1.0
) -> None:
    """Blend `colour` into `image` in place, with `mask` (h, w) uint8 times `strength` as opacity.

    The mask is centred at (x, y) px and clipped at the edges of the image.
    """
    h, w = mask.shape
    x0, y0 = round(x - w / 2), round(y - h / 2)
    left, top = max(x0, 0), max(y0, 0)
    right, bottom = min(x0 + w, image.shape[1]), min(y0 + h, image.shape[0])
    if right <= left or bottom <= top:
        return
    alpha = mask[top - y0 : bottom - y0, left - x0 : right - x0, None].astype(np.float32) * (strength / 255)
    part = image[top:bottom, left:right]
    part[:] = (part * (1 - alpha) + np.asarray(colour, np.float32) * alpha).astype(np.uint8)


def star_outline(points: int, centre: float, radius: float) -> npt.NDArray[np.int32]:
    """Return the outline of a star as a polygon (2 * points, 2), in sixteenths of a pixel for OpenCV's `shift=4`.

    The star is centred at (`centre`, `centre`) px.
    """
    angles = np.arange(2 * points) * np.pi / points - np.pi / 2
    reach = np.where(np.arange(2 * points) % 2, 0.4 + 0.02 * points, 1.0) * radius
    corners = np.stack([centre + reach * np.cos(angles), centre + reach * np.sin(angles)], axis=1)
    return to_sub_pixels(corners)


class BoardPainter:
    """Painter of the flat art of a board, with `px` pixels per square and random wear."""

    def __init__(self, rng: Rng, style: BoardStyle, px: int) -> None:
        self._rng, self._style, self._px = rng, style, px
        band = sum(width for width, _ in style.frame_bands)
        extra = [band + p + (0.7 if style.labels else 0.0) for p in style.frame_panels]
        self._margin = (extra[0], extra[1], extra[2], extra[3])
        self._outer = style.frame_bands[-1][1] if style.frame_bands else style.ground
        left, top, right, bottom = self._margin
        size = (round((SIZE + top + bottom) * px), round((SIZE + left + right) * px), 3)
        self._image: Picture = np.empty(size, np.uint8)
        self._image[:] = np.asarray(self._outer, np.uint8)
        self._contrast = (20.0, 20.0, 20.0) if sum(self._outer) > 330 else (235.0, 235.0, 235.0)

    def paint(self) -> BoardArt:
        """Paint the board."""
        style, (left, top, _, _) = self._style, self._margin
        for count in range(len(style.frame_bands), 0, -1):  # draw the outermost band first, then smaller boxes over it
            _, colour = style.frame_bands[count - 1]
            reach = sum(width for width, _ in style.frame_bands[:count])
            self._draw_box(left - reach, top - reach, SIZE + 2 * reach, colour)
        self._draw_box(left, top, SIZE, style.ground)
        self._print_frame()
        self._draw_grid()
        self._apply_texture()
        return BoardArt(self._image, self._px, self._margin)

    def _draw_box(self, x: float, y: float, side: float, colour: Colour) -> None:
        px = self._px
        end = (round((x + side) * px) - 1, round((y + side) * px) - 1)
        cv2.rectangle(self._image, (round(x * px), round(y * px)), end, colour, -1)

    def _print_frame(self) -> None:
        """Print the labels of columns (A to O) and rows (1 to 15) along the grid."""
        if not self._style.labels:
            return
        size = max(6, round(self._px * float(self._rng.uniform(0.25, 0.5))))
        gap = float(self._rng.uniform(0.3, 0.6))
        for i in range(SIZE):
            column = text_mask(self._style.text_font, chr(65 + i), size)
            row = text_mask(self._style.text_font, str(i + 1), size)
            self._print_labels(i, gap, column, row)

    def _print_labels(self, i: int, gap: float, column: Mask, row: Mask) -> None:
        """Print the labels of column and row number `i` at the distance `gap` from the grid."""
        self._print_mask(column, self._margin[0] + i + 0.5, self._margin[1] - gap)
        self._print_mask(row, self._margin[0] - gap, self._margin[1] + i + 0.5)

    def _print_mask(self, mask: Mask, x: float, y: float, colour: Colour | None = None) -> None:
        """Print a mask, centred at (x, y) in squares from the corner of the art, in a colour that differs from it."""
        print_mask(self._image, mask, x * self._px, y * self._px, colour or self._contrast)

    def _draw_grid(self) -> None:
        self._draw_premium_squares()
        if self._style.line_width:
            self._draw_lines()

    def _draw_premium_squares(self) -> None:
        prints = {kind: self._render_print(kind) for kind in "TDtd*"}
        for row, line in enumerate(LAYOUT):
            for column, kind in enumerate(line):
                if kind == " ":
                    continue
                x, y = self._margin[0] + column, self._margin[1] + row
                self._draw_square(x, y, self._style.premium["D" if kind == "*" else kind])
                mask = self._turn_print(prints[kind], row, column)
                self._print_mask(mask, x + 0.5, y + 0.5, self._style.text_colour)

    def _draw_square(self, x: float, y: float, colour: Colour) -> None:
        """Draw a premium square without its print; (x, y) is its top left corner."""
        self._draw_box(x, y, 1, colour)

    def _turn_print(self, mask: Mask, _row: int, _column: int) -> Mask:
        """Return the print of a square as it stands there."""
        return mask

    def _render_print(self, kind: str) -> Mask:
        """Render the print of a premium square (text, or a star) as a mask (px, px) uint8, 255 = ink."""
        if kind != "*":
            return self._render_text(kind)
        mask = np.zeros((self._px, self._px), np.uint8)
        cv2.fillPoly(mask, [star_outline(5, self._px / 2, 0.4 * self._px)], 255, cv2.LINE_AA, SUB_PIXEL_BITS)
        return mask

    def _render_text(self, kind: str) -> Mask:
        """Render the text of a premium square as a mask (px, px) uint8, 255 = ink."""
        px, style, lines = self._px, self._style, self._style.text.get(kind, ())
        canvas = np.zeros((px, px, 3), np.uint8)
        if not lines:
            return canvas[:, :, 0]
        size = max(5, round(style.text_size * px * 1.35))
        drawn = [text_mask(style.text_font, line, size) for line in lines]
        widest = max(m.shape[1] for m in drawn)
        if widest > 0.92 * px:
            size = max(4, int(size * 0.92 * px / widest))
            drawn = [text_mask(style.text_font, line, size) for line in lines]
        step = size * 1.02
        for i, line in enumerate(drawn):
            print_mask(canvas, line, px / 2, px / 2 + (i - (len(drawn) - 1) / 2) * step, (255, 255, 255))
        return canvas[:, :, 0]

    def _draw_lines(self) -> None:
        half = max(self._style.line_width * self._px / 2, 0.5)
        for i in range(SIZE + 1):
            for vertical in (True, False):
                across, along = self._margin[:2] if vertical else self._margin[1::-1]
                middle = (across + i) * self._px - 0.5
                self._draw_line(middle, half, (along * self._px - half, (along + SIZE) * self._px + half), vertical)

    def _draw_line(self, middle: float, half: float, ends: tuple[float, float], vertical: bool) -> None:
        """Draw a line of the grid of the width 2 `half` from end to end, in px."""
        self._draw_stripe((middle - half, middle + half), ends, self._style.line, vertical)

    def _draw_stripe(
        self, across: tuple[float, float], along: tuple[float, float], colour: Colour, vertical: bool
    ) -> None:
        """Draw a straight stripe of a board as a rectangle.

        `across` are the positions of its two long edges, `along` those of its two ends, in px. For a vertical stripe,
        `across` are x and `along` are y; for a horizontal one, the other way round.
        """
        points = [(across[0], along[0]), (across[1], along[0]), (across[1], along[1]), (across[0], along[1])]
        fill_polygon(self._image, points if vertical else [(v, u) for u, v in points], colour)

    def _apply_texture(self) -> None:
        """Add the grain of the print, stains, and the seam of a folding board."""
        rng, image, (h, w) = self._rng, self._image, self._image.shape[:2]
        if self._style.grain > 0.004:
            noise = rng.normal(0, 1, (h // 2 + 1, w // 2 + 1)).astype(np.float32)
            field = cv2.resize(noise, (w, h), interpolation=cv2.INTER_LINEAR)
            image[:] = np.clip(image * (1 + self._style.grain * field[:, :, None]), 0, 255).astype(np.uint8)
        if rng.random() < 0.12:  # stains, fading, or a pattern on the ground
            spots = rng.normal(0, 1, (int(rng.integers(4, 40)), int(rng.integers(4, 40)))).astype(np.float32)
            field = cv2.resize(spots, (w, h), interpolation=cv2.INTER_CUBIC)
            image[:] = np.clip(image * (1 + float(rng.uniform(0.02, 0.1)) * field[:, :, None]), 0, 255)
        if self._style.seam != "none":
            self._draw_seam()

    def _draw_seam(self) -> None:
        rng, image, (h, w) = self._rng, self._image, self._image.shape[:2]
        is_vertical = self._style.seam == "vertical"
        shade = int(rng.choice([40, 90, 160, 210]))
        strength = float(rng.uniform(0.2, 0.7))
        thick = max(1, round(self._px * float(rng.uniform(0.02, 0.06))))
        seam = np.zeros((h, w), np.uint8)
        middle = w // 2 if is_vertical else h // 2
        middle += round(self._px * float(rng.uniform(-0.5, 0.5)))
        for offset in range(-int(rng.integers(0, 3)), 1):
            at = middle + round(offset * self._px * 0.12)
            ends = ((at, 0), (at, h)) if is_vertical else ((0, at), (w, at))
            cv2.line(seam, ends[0], ends[1], 255, thick, cv2.LINE_AA)
        alpha = seam[:, :, None].astype(np.float32) * (strength / 255)
        image[:] = (image * (1 - alpha) + shade * alpha).astype(np.uint8)


def draw_board(rng: Rng, style: BoardStyle, px: int) -> BoardArt:
    """Draw the flat art of a board at `px` pixels per square, with random wear."""
    return style.make_painter(rng, px).paint()


def draw_outline(shape: tuple[int, ...], cut: int) -> Picture:
    """Return the area of a board with corners rounded by `cut` px, as a mask `(H, W) uint8` with 255 on the board."""
    if cut <= 1:
        return np.full(shape[:2], 255, np.uint8)
    outline = np.zeros(shape[:2], np.uint8)
    h, w = shape[:2]
    cv2.rectangle(outline, (cut, 0), (w - cut, h), 255, -1)
    cv2.rectangle(outline, (0, cut), (w, h - cut), 255, -1)
    for x in (cut, w - cut):
        for y in (cut, h - cut):
            cv2.circle(outline, (x, y), cut, 255, -1, cv2.LINE_AA)
    return outline
