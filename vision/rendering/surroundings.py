"""Render the surroundings of the board: the table top, objects on the table, and hands above the board."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.rendering.board_art import BoardStyle, print_mask
from vision.rendering.fonts import text_mask
from vision.rendering.style import Rng, hsv_to_bgr, random_colour

Picture = npt.NDArray[np.uint8]
Point = npt.NDArray[np.float64]
TABLE_SQUARE_PX = 14  # resolution of the table's texture, in pixels per board square
TABLE_SPAN_SQUARES = 56  # width and height of the table's texture, in squares; the table beyond it is mirrored


def _octave_noise(rng: Rng, side: int, cells: tuple[int, ...], stretch: int = 1) -> npt.NDArray[np.float32]:
    field = np.zeros((side, side), np.float32)
    for n in cells:
        noise = rng.normal(0, 1, (n, max(2, n // stretch))).astype(np.float32)
        field += cv2.resize(noise, (side, side), interpolation=cv2.INTER_CUBIC) / len(cells)
    return field


def _draw_surface(rng: Rng, side: int) -> Picture:
    """Draw a random surface as (side, side, 3) uint8 BGR: plain, wood, carpet, checked or striped cloth, marble."""
    base = np.asarray(hsv_to_bgr(rng.random(), rng.random() * 0.7, 0.1 + 0.9 * rng.random()), np.float32)
    if rng.random() < 0.35:
        base = np.asarray(
            hsv_to_bgr(0.04 + 0.08 * rng.random(), 0.2 + 0.5 * rng.random(), 0.2 + 0.7 * rng.random()), np.float32
        )
    image = np.ones((side, side, 3), np.float32) * base
    kind = rng.choice(["plain", "wood", "carpet", "checks", "stripes", "blotches"], p=[0.2, 0.28, 0.2, 0.1, 0.08, 0.14])
    match kind:
        case "wood":
            field = 0.10 * _octave_noise(rng, side, (60, 160, 400), 14) + 0.05 * _octave_noise(rng, side, (8,), 3)
            image *= (1 + (field if rng.random() < 0.5 else field.T))[:, :, None]
            if rng.random() < 0.5:
                for x in range(0, side, int(rng.integers(60, 200))):
                    image[:, x : x + 2] *= 0.6
        case "carpet":
            image *= (1 + rng.uniform(0.05, 0.25) * _octave_noise(rng, side, (side // 2, side // 5)))[:, :, None]
        case "checks":
            n = int(rng.integers(10, 80))
            other = np.asarray(random_colour(rng), np.float32)
            yy, xx = np.mgrid[0:side, 0:side] // n
            is_chequered = rng.random() < 0.4  # otherwise woven: the colours mix where stripes cross
            pattern = (yy + xx) % 2 if is_chequered else (yy % 2) * 0.5 + (xx % 2) * 0.5
            weight = pattern.astype(np.float32)[:, :, None]
            image = image * (1 - weight) + other * weight
        case "stripes":
            n = int(rng.integers(6, 60))
            other = np.asarray(random_colour(rng), np.float32)
            weight = ((np.arange(side) // n) % 2).astype(np.float32)[:, None, None]
            image = image * (1 - weight) + other * weight
        case "blotches":
            image *= (1 + rng.uniform(0.1, 0.35) * _octave_noise(rng, side, (12, 40, 120)))[:, :, None]
        case _:
            image *= (1 + 0.03 * _octave_noise(rng, side, (6, side // 3)))[:, :, None]
    return np.asarray(np.clip(image, 0, 255), np.uint8)


def _draw_clutter(rng: Rng, image: Picture, board: BoardStyle, extent: float) -> None:
    """Draw random objects (paper, boxes, racks, cups, words) around the board's place, into `image`.

    `extent` is half the width of the board in squares.
    """
    px, centre = TABLE_SQUARE_PX, TABLE_SPAN_SQUARES / 2
    for _ in range(int(rng.poisson(2.5))):
        a, d = rng.uniform(0, 2 * np.pi), extent * rng.uniform(0.6, 1.5)
        x, y = (centre + d * np.cos(a)) * px, (centre + d * np.sin(a)) * px
        kind = rng.choice(["sheet", "cup", "rack", "box", "words"])
        if kind == "cup":
            r = int(rng.uniform(0.8, 3) * px)
            cv2.circle(image, (int(x), int(y)), r, random_colour(rng), -1, cv2.LINE_AA)
            cv2.circle(image, (int(x), int(y)), int(r * 0.8), random_colour(rng), -1, cv2.LINE_AA)
            continue
        if kind == "words":
            mask = text_mask(
                board.text_font,
                str(rng.choice(["Notes 12 44", "SCORE", "Anna Ben", "newspaper"])),
                int(rng.uniform(0.5, 2) * px),
            )
            print_mask(image, mask, float(x), float(y), random_colour(rng))
            continue
        w, h = {"sheet": (8.0, 11.0), "rack": (9.0, 1.3), "box": (rng.uniform(2, 12), rng.uniform(2, 12))}[str(kind)]
        corners = cv2.boxPoints(((float(x), float(y)), (float(w * px), float(h * px)), float(rng.uniform(0, 180))))
        colour = (235.0, 238.0, 240.0) if kind == "sheet" and rng.random() < 0.6 else random_colour(rng)
        cv2.fillConvexPoly(image, corners.astype(np.int32), colour, cv2.LINE_AA)
        if kind == "rack":
            # Draw tiles along the longer side of the rack, shifted to its middle.
            first_side, second_side = np.linalg.norm(corners[0] - corners[1]), np.linalg.norm(corners[1] - corners[2])
            (ax, ay), (bx, by) = corners[0], corners[1 if first_side > second_side else 3]
            for t in np.linspace(0.1, 0.9, int(rng.integers(3, 8))):
                cx, cy = ax + t * (bx - ax) + (x - (ax + bx) / 2), ay + t * (by - ay) + (y - (ay + by) / 2)
                cv2.rectangle(image, (int(cx - 6), int(cy - 6)), (int(cx + 6), int(cy + 6)), (200.0, 225.0, 235.0), -1)
        elif rng.random() < 0.5:
            edge = random_colour(rng)
            cv2.polylines(image, [corners.astype(np.int32)], True, edge, int(rng.integers(1, 6)), cv2.LINE_AA)


def draw_table_top(rng: Rng, board: BoardStyle, extent: float) -> Picture:
    """Draw the texture of a table top with objects on it, seen from above: (N, N, 3) uint8 BGR.

    The resolution is `TABLE_SQUARE_PX` pixels per square, and the board's place is at the centre. `extent` is half the
    width of the board in squares.
    """
    image = _draw_surface(rng, TABLE_SPAN_SQUARES * TABLE_SQUARE_PX)
    _draw_clutter(rng, image, board, extent)
    return image


@dataclass(frozen=True)
class _Limb:
    """A part of a hand or an arm, as a capsule: start point, end point and radius in px."""

    start: Point
    end: Point
    radius: float


def _random_limbs(rng: Rng, shape: tuple[int, int], target: Point, square: float) -> list[_Limb]:
    """Return a forearm, a palm and fingers that point at `target`, in the order in which they are drawn.

    `shape` is (H, W) of the picture, `target` a point (x, y) in px, `square` the side of a square in px. The forearm
    starts outside the picture.
    """
    angle = rng.uniform(0, 2 * np.pi)
    away = np.array([np.cos(angle), np.sin(angle)])
    side = np.array([-away[1], away[0]])
    tip = np.asarray(target, np.float64)
    palm = tip + away * square * rng.uniform(2.2, 3.4)
    half = square * rng.uniform(0.8, 1.5)
    elbow = palm + away * float(sum(shape)) + side * square * rng.normal(0, 4)
    limbs = [
        _Limb(palm + away * half, elbow, half * rng.uniform(0.9, 1.4)),
        _Limb(palm - away * half * 0.3, palm, half),
    ]
    for k in range(int(rng.integers(1, 6))):
        start = palm + side * half * (0.5 * k - 0.9)
        end = tip + side * square * (0.72 * k - 1.1) + away * square * rng.uniform(-0.4, 1.2)
        limbs.append(_Limb(start, end, square * rng.uniform(0.24, 0.4)))
    return limbs


def draw_hand(
    rng: Rng, scene: npt.NDArray[np.float32], target: Point, square: float
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.uint8]]:
    """Draw a random hand and forearm over a copy of the scene, with the fingers pointing at `target`.

    `target` is a point (x, y) in px, `square` the side of a square in px. Returns the new scene (H, W, 3) float32, and
    the coverage by the hand as a mask (H, W) uint8, 255 = covered.
    """
    h, w = scene.shape[:2]
    colour = np.asarray(
        hsv_to_bgr(0.01 + 0.07 * rng.random(), 0.2 + 0.5 * rng.random(), 0.25 + 0.75 * rng.random()), np.float32
    )
    if rng.random() < 0.15:
        colour = np.asarray(random_colour(rng), np.float32)
    sleeve = np.asarray(random_colour(rng), np.float32) if rng.random() < 0.6 else colour
    lit_from = rng.uniform(0, 2 * np.pi)
    light = np.array([np.cos(lit_from), np.sin(lit_from)], np.float32)
    folds = 1 + 0.12 * cv2.resize(_octave_noise(rng, 96, (12, 48)), (w, h), interpolation=cv2.INTER_CUBIC)[:, :, None]
    out, covered = scene.copy(), np.zeros((h, w), np.float32)
    for number, limb in enumerate(_random_limbs(rng, (h, w), target, square)):
        reach = limb.radius + 2
        ends = np.stack([limb.start, limb.end])
        x0, y0 = (int(v) for v in np.clip(ends.min(axis=0) - reach, 0, (w, h)))
        x1, y1 = (int(v) for v in np.clip(ends.max(axis=0) + reach + 1, 0, (w, h)))
        if x1 <= x0 or y1 <= y0:
            continue
        # Compute the distance of each pixel from the axis of the limb, in radii.
        area = (slice(y0, y1), slice(x0, x1))
        yy, xx = np.mgrid[y0:y1, x0:x1].astype(np.float32)
        along = (limb.end - limb.start).astype(np.float32)
        px, py = xx - np.float32(limb.start[0]), yy - np.float32(limb.start[1])
        t = np.clip((px * along[0] + py * along[1]) / max(float(along @ along), 1.0), 0, 1)
        ox, oy = (px - t * along[0]) / np.float32(limb.radius), (py - t * along[1]) / np.float32(limb.radius)
        distance = np.sqrt(ox**2 + oy**2)
        alpha = np.clip((1 - distance) * limb.radius / 1.5 + 0.5, 0, 1)[:, :, None]
        # Shade the limb as a cylinder: bright where its surface faces the camera or the light.
        facing = np.sqrt(np.clip(1 - distance**2, 0, 1))
        shade = 0.45 + 0.4 * facing + 0.3 * (ox * light[0] + oy * light[1])
        surface = (sleeve if number == 0 else colour) * shade[:, :, None] * folds[area]
        out[area] = out[area] * (1 - alpha) + np.clip(surface, 0, 255) * alpha
        covered[area] = np.maximum(covered[area], alpha[:, :, 0])
    return np.asarray(out, np.float32), (covered * 255).astype(np.uint8)
