"""Draw a board as flat art: ground, premium squares with their print, grid lines, frame, labels.

Flat art is a view of the board from straight above, without perspective. `vision.rendering.scene` projects it into a
photograph.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.rendering.fonts import text_mask
from vision.rendering.style import LAYOUT, BoardStyle, Colour, Rng

Picture = npt.NDArray[np.uint8]
SIZE = 15
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


def _draw_box(image: Picture, x: float, y: float, w: float, h: float, colour: Colour, px: int) -> None:
    cv2.rectangle(image, (round(x * px), round(y * px)), (round((x + w) * px) - 1, round((y + h) * px) - 1), colour, -1)


def _draw_rounded_box(
    image: Picture, x: float, y: float, w: float, h: float, radius: float, colour: Colour, px: int
) -> None:
    r = max(round(min(radius, w / 2, h / 2) * px), 0)
    x0, y0, x1, y1 = round(x * px), round(y * px), round((x + w) * px) - 1, round((y + h) * px) - 1
    cv2.rectangle(image, (x0 + r, y0), (x1 - r, y1), colour, -1)
    cv2.rectangle(image, (x0, y0 + r), (x1, y1 - r), colour, -1)
    for cx, cy in ((x0 + r, y0 + r), (x1 - r, y0 + r), (x0 + r, y1 - r), (x1 - r, y1 - r)):
        cv2.circle(image, (cx, cy), r, colour, -1, cv2.LINE_AA)


def _draw_spikes(image: Picture, x: float, y: float, kind: str, colour: Colour, px: int, count: int) -> None:
    """Draw ornaments (bursts, teeth, arrows) along the sides of a premium square, overlapping its neighbours.

    (x, y) is the top left corner of the square, in squares.
    """
    middles = (np.arange(count) + 0.5) / count if kind != "arrows" else np.array([0.5])
    half = {"burst": 0.5 / count, "teeth": 0.25 / count, "arrows": 0.13}[kind]
    reach = {"burst": 0.09, "teeth": 0.09, "arrows": 0.14}[kind]
    for quarter_turns in range(4):
        for middle in middles:
            tip = [(middle - half, -reach), (middle + half, -reach)] if kind == "teeth" else [(middle, -reach)]
            outline = [(middle - half, 0.0), *tip, (middle + half, 0.0)]
            for _ in range(quarter_turns):
                outline = [(1 - v, u) for u, v in outline]
            fill_polygon(image, [((x + u) * px - 0.5, (y + v) * px - 0.5) for u, v in outline], colour)


def star_outline(points: int, centre: float, radius: float) -> npt.NDArray[np.int32]:
    """Return the outline of a star as a polygon (2 * points, 2), in sixteenths of a pixel for OpenCV's `shift=4`.

    The star is centred at (`centre`, `centre`) px.
    """
    angles = np.arange(2 * points) * np.pi / points - np.pi / 2
    reach = np.where(np.arange(2 * points) % 2, 0.4 + 0.02 * points, 1.0) * radius
    corners = np.stack([centre + reach * np.cos(angles), centre + reach * np.sin(angles)], axis=1)
    return to_sub_pixels(corners)


def _render_square_print(style: BoardStyle, kind: str, px: int) -> Picture:
    """Render the print of a premium square (text or an ornament) as a mask (px, px) uint8, 255 = ink."""
    mask = np.zeros((px, px), np.uint8)
    if kind == "*" and style.centre != "text":
        middle = px / 2
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
    lines = style.text.get("D" if kind == "*" else kind, ())
    if not lines:
        return mask
    size = max(5, round(style.text_size * px * 1.35))
    drawn = [text_mask(style.text_font, line, size) for line in lines]
    widest = max(m.shape[1] for m in drawn)
    if widest > 0.92 * px:
        size = max(4, int(size * 0.92 * px / widest))
        drawn = [text_mask(style.text_font, line, size) for line in lines]
    step = size * 1.02
    canvas = np.zeros((px, px, 3), np.uint8)
    for i, line in enumerate(drawn):
        print_mask(canvas, line, px / 2, px / 2 + (i - (len(drawn) - 1) / 2) * step, (255, 255, 255))
    return canvas[:, :, 0]


def _print_quarter_turns(style: BoardStyle, row: int, column: int) -> int:
    """Return the number of quarter turns of the print on a square.

    Depending on the style, all print has the same direction, or it is turned towards the nearest side of the board.
    """
    if not style.text_faces:
        return style.text_turn
    dx, dy = column - 7, row - 7
    if abs(dx) > abs(dy):
        return 1 if dx > 0 else 3
    return 0 if dy >= 0 else 2


def _draw_premium_squares(image: Picture, style: BoardStyle, left: float, top: float, px: int) -> None:
    """Draw the premium squares with their print on `image`; the grid begins `left` and `top` squares from its edges."""
    lit = 1.0 + 0.25 * style.raised
    prints = {kind: _render_square_print(style, kind, px) for kind in "TDtd*"}
    for row, line in enumerate(LAYOUT):
        for column, kind in enumerate(line):
            if kind == " ":
                continue
            colour = style.premium["D" if kind == "*" else kind]
            x, y = left + column, top + row
            pad = style.inset if style.premium_shape in ("inset", "rounded") else 0.0
            if style.premium_shape in ("burst", "teeth", "arrows"):
                _draw_spikes(image, x, y, style.premium_shape, colour, px, 9 if style.premium_shape == "burst" else 6)
            if style.raised:
                # A raised square has a dark lower right edge and a bright upper left one.
                dark = (colour[0] * 0.6, colour[1] * 0.6, colour[2] * 0.6)
                bright = (min(colour[0] * lit, 255), min(colour[1] * lit, 255), min(colour[2] * lit, 255))
                _draw_box(image, x + pad, y + pad, 1 - 2 * pad, 1 - 2 * pad, dark, px)
                _draw_box(image, x + pad, y + pad, 0.95 - 2 * pad, 0.95 - 2 * pad, bright, px)
                _draw_box(image, x + pad + 0.05, y + pad + 0.05, 0.9 - 2 * pad, 0.9 - 2 * pad, colour, px)
            elif style.premium_shape == "rounded":
                _draw_rounded_box(image, x + pad, y + pad, 1 - 2 * pad, 1 - 2 * pad, 0.2, colour, px)
            else:
                _draw_box(image, x + pad, y + pad, 1 - 2 * pad, 1 - 2 * pad, colour, px)
            mask = np.rot90(prints[kind], -_print_quarter_turns(style, row, column))
            print_mask(image, mask, (x + 0.5) * px, (y + 0.5) * px, style.text_colour)


def _draw_grid_lines(image: Picture, style: BoardStyle, left: float, top: float, px: int) -> None:
    """Draw the lines of the grid on `image`. A style with ridges has a bright and a dark line beside each of them."""
    if not style.line_width:
        return
    half = max(style.line_width * px / 2, 0.5)
    blue, green, red = (min(c * (1 + 0.4 * style.ridge) + 20 * style.ridge, 255.0) for c in style.line)
    bright = (blue, green, red)
    blue, green, red = (c * (1 - 0.5 * style.ridge) for c in style.line)
    dark = (blue, green, red)
    for i in range(SIZE + 1):
        for vertical in (True, False):
            across, along = (left, top) if vertical else (top, left)
            middle = (across + i) * px - 0.5
            first, last = middle - half, middle + half
            ends = (along * px - half, (along + SIZE) * px + half)
            _draw_line(image, (first, last), ends, style.line, vertical)
            if style.ridge:
                _draw_line(image, (first - half * 0.5, first), ends, bright, vertical)
                _draw_line(image, (last, last + half * 0.7), ends, dark, vertical)


def _draw_line(
    image: Picture, across: tuple[float, float], along: tuple[float, float], colour: Colour, vertical: bool
) -> None:
    """Draw a straight line of a board as a rectangle.

    `across` are the positions of its two long edges, `along` those of its two ends, in px. For a vertical line,
    `across` are x and `along` are y; for a horizontal line, the other way round.
    """
    points = [(across[0], along[0]), (across[1], along[0]), (across[1], along[1]), (across[0], along[1])]
    fill_polygon(image, points if vertical else [(v, u) for u, v in points], colour)


def _draw_frame_print(
    rng: Rng, image: Picture, style: BoardStyle, margin: tuple[float, float, float, float], px: int
) -> None:
    """Draw random words on the frame, and the labels of columns (A to O) and rows (1 to 15) along the grid."""
    left, top, right, bottom = margin
    outer = style.frame_bands[-1][1] if style.frame_bands else style.ground
    contrast = (20.0, 20.0, 20.0) if sum(outer) > 330 else (235.0, 235.0, 235.0)
    if style.labels:
        size = max(6, round(px * float(rng.uniform(0.25, 0.5))))
        gap = float(rng.uniform(0.3, 0.6))
        for i in range(SIZE):
            column = text_mask(style.text_font, chr(65 + i), size)
            row = text_mask(style.text_font, str(i + 1), size)
            print_mask(image, column, (left + i + 0.5) * px, (top - gap) * px, contrast)
            print_mask(image, row, (left - gap) * px, (top + i + 0.5) * px, contrast)
            if style.text_faces:
                print_mask(image, column, (left + i + 0.5) * px, (top + SIZE + gap) * px, contrast)
                print_mask(image, row, (left + SIZE + gap) * px, (top + i + 0.5) * px, contrast)
    if not style.frame_text:
        return
    for side, room in enumerate((left, top, right, bottom)):
        if room < 0.7:
            continue
        for _ in range(int(rng.integers(1, 4))):
            word = str(rng.choice(_FRAME_WORDS))
            size = max(6, round(px * min(room * 0.6, float(rng.uniform(0.3, 1.4)))))
            mask = text_mask(style.text_font, word, size)
            along = float(rng.uniform(2, 13))
            across = room * float(rng.uniform(0.3, 0.7))
            if side % 2 == 0:
                mask = np.rot90(mask, 1 if side == 0 else 3)
                x, y = (across if side == 0 else left + SIZE + right - across), top + along
            else:
                x, y = left + along, (across if side == 1 else top + SIZE + bottom - across)
            print_mask(image, mask, x * px, y * px, contrast if rng.random() < 0.7 else style.line)


def _apply_texture(rng: Rng, image: Picture, style: BoardStyle, px: int) -> None:
    """Add the grain of the print, stains, and the seam of a folding board to the image, in place."""
    h, w = image.shape[:2]
    if style.grain > 0.004:
        noise = rng.normal(0, 1, (h // 2 + 1, w // 2 + 1)).astype(np.float32)
        field = cv2.resize(noise, (w, h), interpolation=cv2.INTER_LINEAR)
        image[:] = np.clip(image * (1 + style.grain * field[:, :, None]), 0, 255).astype(np.uint8)
    if rng.random() < 0.12:  # stains, fading, or a pattern on the ground
        spots = rng.normal(0, 1, (int(rng.integers(4, 40)), int(rng.integers(4, 40)))).astype(np.float32)
        field = cv2.resize(spots, (w, h), interpolation=cv2.INTER_CUBIC)
        image[:] = np.clip(image * (1 + float(rng.uniform(0.02, 0.1)) * field[:, :, None]), 0, 255).astype(np.uint8)
    if style.seam != "none":
        shade = int(rng.choice([40, 90, 160, 210]))
        strength = float(rng.uniform(0.2, 0.7))
        thick = max(1, round(px * float(rng.uniform(0.02, 0.06))))
        seam = np.zeros((h, w), np.uint8)
        middle = w // 2 if style.seam == "vertical" else h // 2
        middle += round(px * float(rng.uniform(-0.5, 0.5)))
        for offset in range(-int(rng.integers(0, 3)), 1):
            at = middle + round(offset * px * 0.12)
            ends = ((at, 0), (at, h)) if style.seam == "vertical" else ((0, at), (w, at))
            cv2.line(seam, ends[0], ends[1], 255, thick, cv2.LINE_AA)
        alpha = seam[:, :, None].astype(np.float32) * (strength / 255)
        image[:] = (image * (1 - alpha) + shade * alpha).astype(np.uint8)


def draw_board(rng: Rng, style: BoardStyle, px: int) -> BoardArt:
    """Draw the flat art of a board at `px` pixels per square, with random words on the frame and random wear."""
    band = sum(width for width, _ in style.frame_bands)
    extra = [band + p + (0.7 if style.labels else 0.0) for p in style.frame_panels]
    margin = (extra[0], extra[1], extra[2], extra[3])
    left, top, right, bottom = margin
    w, h = round((SIZE + left + right) * px), round((SIZE + top + bottom) * px)
    outer = style.frame_bands[-1][1] if style.frame_bands else style.ground
    image: Picture = np.empty((h, w, 3), np.uint8)
    image[:] = np.asarray(outer, np.uint8)
    for count in range(len(style.frame_bands), 0, -1):  # draw the outermost band first, then smaller boxes over it
        _, colour = style.frame_bands[count - 1]
        reach = sum(width for width, _ in style.frame_bands[:count])
        _draw_box(image, left - reach, top - reach, SIZE + 2 * reach, SIZE + 2 * reach, colour, px)
    _draw_box(image, left, top, SIZE, SIZE, style.ground, px)
    _draw_frame_print(rng, image, style, margin, px)
    # Ornaments of premium squares overlap the lines. In the other shapes, the lines are visible on all squares.
    lines_last = style.premium_shape in ("full", "inset", "rounded")
    if not lines_last:
        _draw_grid_lines(image, style, left, top, px)
    _draw_premium_squares(image, style, left, top, px)
    if lines_last:
        _draw_grid_lines(image, style, left, top, px)
    _apply_texture(rng, image, style, px)
    return BoardArt(image, px, margin)


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
