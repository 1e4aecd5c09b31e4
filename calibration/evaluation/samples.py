"""Labelled pictures for robustness tests: the true faces on the board, and the totals after the turn in the picture."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from engine.events import filter_plays
from engine.game import Game
from engine.inference.explain import infer_play
from engine.reading import BLANK, BOARD_SIZE, EMPTY, BoardReading
from engine.tiles import load_tile_set
from vision.geometry import Floats, Image, homography, project, square_side
from vision.photo import load_photo
from vision.rendering.board_art import draw_board, fill_polygon
from vision.rendering.camera import look_at_board, project_grid
from vision.rendering.fonts import packaged_fonts
from vision.rendering.scene import SceneSetting, compose_scene
from vision.rendering.simulated_table import EVENING_LIGHT
from vision.rendering.style import Rng, hsv_to_bgr
from vision.rendering.surroundings import draw_hand, draw_table_top
from vision.rendering.tile_art import place_tiles
from vision.training.board_styles import random_board_style
from vision.training.tile_styles import random_tile_style


@dataclass(frozen=True, slots=True)
class TurnTruth:
    """The game before the turn in a picture, and the correct totals (points) of all players after the turn."""

    game_before: Game
    totals: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """A labelled picture.

    - `image`: `(H, W, 3) uint8 BGR`. `corners` `(4, 2)`: corners of the grid in px.
    - `faces`: the 225 true faces (`.` empty, `?` a blank). `letters`: the alphabet of the tile set.
    - `turn`: None if the picture does not show a turn of a game.
    - `render_tilted(degrees)`: renders the same picture with every tile rotated by that angle, in a random direction;
      None for a photograph.
    """

    name: str
    image: Image
    corners: Floats
    faces: tuple[str, ...]
    letters: tuple[str, ...]
    turn: TurnTruth | None = None
    render_tilted: Callable[[float], Image] | None = None

    @property
    def square_px(self) -> float:
        """Mean side of a square in the picture, in pixels."""
        return square_side(self.corners)


def render_samples(games: Sequence[Game], count: int, size: tuple[int, int] = (1280, 960)) -> Iterator[Sample]:
    """Render `count` pictures of random turns of `games` in good light, each with a random board, tiles and camera.

    `size` is (width, height) of the pictures in pixels.
    """
    for number in range(count):
        rng = np.random.default_rng([0, number])
        game = games[number % len(games)]
        plays = [turn for turn in game.turns if turn.play is not None and turn.stands]
        turn = plays[int(rng.integers(len(plays)))]
        acts = [item.act for item in game.items]
        at = [item.ref for item in game.items].index(turn.ref)
        before = Game.begin(game.start_event).push(*acts[:at])
        after = before.push(acts[at])
        faces = tuple(after.board.symbols())
        truth = TurnTruth(before, after.totals)
        yield _render_sample(f"rendered-{number}", rng, size, faces, after, truth)


def _render_sample(
    name: str, rng: Rng, size: tuple[int, int], faces: tuple[str, ...], game: Game, turn: TurnTruth
) -> Sample:
    """Render the board `faces` after a turn of `game`, with a random board, tiles and camera."""
    setting = _random_setting(rng, size)
    labels = {divmod(at, BOARD_SIZE): face for at, face in enumerate(faces) if face != EMPTY}
    tiles = place_tiles(rng, labels, setting.tile_style)
    directions = [float(rng.choice([-1.0, 1.0])) for _ in tiles]
    seed = int(rng.integers(2**31))  # so that a picture with rotated tiles is the same in all other respects

    def render(degrees: float) -> Image:
        turned = [
            replace(tile, turn=tile.turn + direction * np.deg2rad(degrees))
            for tile, direction in zip(tiles, directions, strict=True)
        ]
        values = {letter: game.tiles.values[letter] for letter in game.tiles.letters}
        return compose_scene(np.random.default_rng(seed), setting, labels, values=values, placed_tiles=turned).image

    return Sample(name, render(0.0), project_grid(setting.camera), faces, tuple(game.tiles.letters), turn, render)


def _random_setting(rng: Rng, size: tuple[int, int]) -> SceneSetting:
    """Return a scene setting in good light, with a random board, tiles, table and camera (tilt up to 35 degrees)."""
    fonts = packaged_fonts()
    board = random_board_style(rng, fonts)
    camera = look_at_board(
        size,
        float(rng.uniform(0.8, 1.3)) * max(size),
        float(np.deg2rad(rng.uniform(0, 35))),
        float(rng.uniform(0, 2 * np.pi)),
        float(rng.normal(0, 0.1)),
        float(rng.uniform(0.75, 0.95)),
    )
    art = draw_board(rng, board, 44)
    tile_style = replace(random_tile_style(rng, fonts, board), turn_sd_deg=1.5)
    if tile_style.blank == "pencil":  # with a letter in pencil, a picture does not show that the tile is a blank
        tile_style = replace(tile_style, blank="plain")
    return SceneSetting(
        board_style=board,
        tile_style=tile_style,
        light=replace(EVENING_LIGHT, direction=float(rng.uniform(0, 2 * np.pi))),
        camera=camera,
        art=art,
        table_texture=draw_table_top(rng, board, 7.5 + max(art.margin)),
        board_thickness=0.3,
        tile_seed=int(rng.integers(2**31)),
    )


def load_photo_samples(folder: Path, step: int = 1) -> Iterator[Sample]:
    """Load every `step`-th labelled photograph of each `manifest.json` in the subfolders of `folder`.

    A manifest is a list of records, one for each photograph: `id`, `photo` (path), `corners`, `board` (15 strings: `.`
    empty, lower case or `?` a blank), and `language`. For a photograph of a game, the record also has `game`, `index`,
    and `turn` with the `score` of the play.
    """
    for manifest in sorted(folder.glob("*/manifest.json")):
        records = json.loads(manifest.read_text(encoding="utf-8"))
        turns = _find_turns(records)
        for record in records[::step]:
            photo = load_photo(manifest.parent / record["photo"])
            corners = photo.file_to_image(np.asarray(record["corners"], np.float64))
            faces = _parse_faces(record["board"])
            letters = tuple(load_tile_set(record["language"]).letters)
            yield Sample(record["id"], photo.image, corners, faces, letters, turns.get(record["id"]))


def _parse_faces(board: Sequence[str]) -> tuple[str, ...]:
    return tuple(BLANK if face.islower() else face for row in board for face in row)


def _find_turns(records: Sequence[dict[str, Any]]) -> dict[str, TurnTruth]:
    """Return the scored turns by picture id, for pictures that show exactly one play more than the previous picture.

    `records` are those of a manifest. Two players are assumed to take turns. Pictures are left out if the score in the
    record differs from the score of the play on the board.
    """
    found: dict[str, TurnTruth] = {}
    for name in dict.fromkeys(record["game"] for record in records if record.get("index") is not None):
        pictures = sorted(
            (r for r in records if r.get("game") == name and r.get("index") is not None), key=lambda r: int(r["index"])
        )
        game = Game.start(("First", "Second"), tile_set=pictures[0]["language"])
        for record in pictures:
            faces = _parse_faces(record["board"])
            best = infer_play(game, BoardReading.from_symbols(faces)).best
            truth = record.get("turn") or {}
            plays = filter_plays(best.events)
            if len(plays) == len(best.events) == 1 and best.game.turns[-1].score == truth.get("score"):
                found[record["id"]] = TurnTruth(game, best.game.totals)
            game = best.game
    return found


_GAMMA = 2.2
_DAYLIGHT_KELVIN = 5500.0
_WHITE_ELECTRONS = 10_000.0
"""Number of electrons that a white pixel of a small sensor collects in good light; it determines the noise."""
_READ_NOISE_ELECTRONS = 3.0

Apply = Callable[[Sample, float, Rng], Sample | None]


@dataclass(frozen=True, slots=True)
class Disturbance:
    """One kind of image disturbance, with the levels to test (in `unit`). The level `neutral_level` has no effect.

    `apply(sample, level, rng)` returns the disturbed sample, or None if the disturbance is not possible for the sample.
    """

    name: str
    unit: str
    levels: tuple[float, ...]
    neutral_level: float
    apply: Apply


def _decode_gamma(image: Image) -> npt.NDArray[np.float32]:
    """Convert a picture to linear light (0..1)."""
    return np.asarray((image / np.float32(255)) ** _GAMMA, np.float32)


def _encode_gamma(linear: npt.NDArray[np.floating]) -> Image:
    """Convert linear light (0..1) to a picture; brighter light is clipped."""
    return np.clip(np.round(255 * linear ** (1 / _GAMMA)), 0, 255).astype(np.uint8)


def _change_exposure(sample: Sample, stops: float, _: Rng) -> Sample:
    linear = (np.arange(256) / 255.0) ** _GAMMA * 2.0**stops
    return replace(sample, image=np.asarray(cv2.LUT(sample.image, _encode_gamma(linear)), np.uint8))


def _change_white_balance(sample: Sample, kelvin: float, _: Rng) -> Sample:
    """Simulate a lamp of colour temperature `kelvin` with the camera's white balance fixed at daylight."""
    gains = np.asarray(
        [_red_ratio(kelvin) / _red_ratio(_DAYLIGHT_KELVIN), 1.0, _blue_ratio(kelvin) / _blue_ratio(_DAYLIGHT_KELVIN)]
    )
    linear = _decode_gamma(sample.image) * gains[::-1].astype(np.float32)
    return replace(sample, image=_encode_gamma(linear))


def _planck(kelvin: float, nanometres: float) -> float:
    """Return the relative spectral radiance of a black body (https://en.wikipedia.org/wiki/Planck%27s_law)."""
    return float(1 / (nanometres**5 * (np.exp(1.4388e7 / (nanometres * kelvin)) - 1)))


def _red_ratio(kelvin: float) -> float:
    return _planck(kelvin, 600) / _planck(kelvin, 540)


def _blue_ratio(kelvin: float) -> float:
    return _planck(kelvin, 450) / _planck(kelvin, 540)


def _blur(sample: Sample, squares: float, _: Rng) -> Sample:
    if not squares:
        return sample
    image = cv2.GaussianBlur(sample.image, (0, 0), squares * sample.square_px)
    return replace(sample, image=np.asarray(image, np.uint8))


def _add_noise(sample: Sample, sigma: float, rng: Rng) -> Sample:
    noise = rng.normal(0, sigma, sample.image.shape).astype(np.float32)
    return replace(sample, image=np.clip(sample.image + noise, 0, 255).astype(np.uint8))


def _dim_light(sample: Sample, stops: float, rng: Rng) -> Sample:
    """Simulate light that is `stops` f-stops weaker and a camera that amplifies it: add photon noise and read noise."""
    if not stops:
        return sample
    electrons = _decode_gamma(sample.image) * np.float32(_WHITE_ELECTRONS * 2.0**-stops)
    sigma = np.sqrt(electrons + np.float32(_READ_NOISE_ELECTRONS**2))
    linear = (electrons + sigma * rng.standard_normal(electrons.shape, np.float32)) * 2.0**stops / _WHITE_ELECTRONS
    return replace(sample, image=_encode_gamma(np.clip(linear, 0, 1)))


def _compress_jpeg(sample: Sample, quality: float, _: Rng) -> Sample:
    _done, data = cv2.imencode(".jpg", sample.image, [cv2.IMWRITE_JPEG_QUALITY, round(quality)])
    return replace(sample, image=np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8))


def _shrink(sample: Sample, pixels: float, _: Rng) -> Sample | None:
    if pixels > sample.square_px:
        return None
    image, corners = shrink_picture(sample.image, sample.corners, pixels)
    return replace(sample, image=image, corners=corners)


def shrink_picture(image: Image, corners: Floats, square_px: float) -> tuple[Image, Floats]:
    """Return a picture with `square_px` pixels a square, and the corners of its grid."""
    share = square_px / square_side(corners)
    small = cv2.resize(image, None, fx=share, fy=share, interpolation=cv2.INTER_AREA)
    return np.asarray(small, np.uint8), (corners + 0.5) * share - 0.5


def _tilt_tiles(sample: Sample, degrees: float, _: Rng) -> Sample | None:
    return replace(sample, image=sample.render_tilted(degrees)) if sample.render_tilted else None


def _turn_table(sample: Sample, degrees: float, _: Rng) -> Sample:
    """Rotate the picture clockwise by `degrees`, a multiple of 90, without interpolation of pixels."""
    image, corners = sample.image, sample.corners
    for _quarter in range(round(degrees / 90)):
        corners = np.stack([image.shape[0] - 1 - corners[:, 1], corners[:, 0]], axis=1)
        image = np.rot90(image, -1)
    return replace(sample, image=np.ascontiguousarray(image), corners=corners)


def _lean_camera(sample: Sample, degrees: float, rng: Rng) -> Sample:
    """Simulate a camera that looks at an angle: rotate the picture plane by `degrees` about a random axis."""
    height, width = sample.image.shape[:2]
    # Rotate the picture plane about its centre, at the distance of the focal length, and project it again.
    focal, direction = float(max(width, height)), rng.uniform(0, 2 * np.pi)
    axis = np.array([np.cos(direction), np.sin(direction), 0.0])
    rotation, _jacobian = cv2.Rodrigues(axis * np.deg2rad(degrees))
    to_centre = np.array([[1, 0, -(width - 1) / 2], [0, 1, -(height - 1) / 2], [0, 0, 1]])
    lean = np.diag([focal, focal, 1]) @ np.column_stack([rotation[:, :2], [0, 0, focal]]) @ to_centre
    # Scale the result to the number of pixels that the picture had, and move its corner to the origin.
    frame = np.array([[[0, 0]], [[width - 1, 0]], [[width - 1, height - 1]], [[0, height - 1]]], np.float64)
    outline = cv2.perspectiveTransform(frame, lean).reshape(4, 2)
    low, size = outline.min(axis=0), np.ptp(outline, axis=0)
    scale = float(np.sqrt(width * height / (size[0] * size[1])))
    H = np.array([[scale, 0, -scale * low[0]], [0, scale, -scale * low[1]], [0, 0, 1]]) @ lean
    shape = (max(1, round(scale * size[0])), max(1, round(scale * size[1])))
    image = cv2.warpPerspective(sample.image, H, shape, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    corners = cv2.perspectiveTransform(sample.corners.reshape(-1, 1, 2), H).reshape(4, 2)
    return replace(sample, image=np.asarray(image, np.uint8), corners=np.asarray(corners, np.float64))


def _add_shadow(sample: Sample, dark: float, rng: Rng) -> Sample:
    """Add a shadow with a soft edge through the board's centre; it removes the share `dark` (0..1) of the light."""
    height, width = sample.image.shape[:2]
    centre, direction = sample.corners.mean(axis=0), rng.uniform(0, 2 * np.pi)
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    across = (np.cos(direction) * (x - centre[0]) + np.sin(direction) * (y - centre[1])) / (0.25 * sample.square_px)
    gain = (1 - dark / (1 + np.exp(-np.clip(across, -30, 30))))[:, :, None]
    linear = _decode_gamma(sample.image) * gain.astype(np.float32)
    return replace(sample, image=_encode_gamma(linear))


def _add_glare(sample: Sample, radius: float, rng: Rng) -> Sample:
    """Add the reflection of a lamp at a random point of the board: a Gaussian white spot of `radius` squares."""
    if not radius:
        return sample
    spot = _random_board_point(sample, rng)
    height, width = sample.image.shape[:2]
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    distance = np.hypot(x - spot[0], y - spot[1]) / (radius * sample.square_px)
    light = (1.2 * np.exp(-0.5 * distance**2) * 255)[:, :, None]
    return replace(sample, image=np.clip(sample.image + light, 0, 255).astype(np.uint8))


def _add_hands(sample: Sample, hands: float, rng: Rng) -> Sample:
    image = sample.image.astype(np.float32)
    for _ in range(round(hands)):
        image, _covered = draw_hand(rng, image, _random_board_point(sample, rng), sample.square_px)
    return replace(sample, image=np.clip(image, 0, 255).astype(np.uint8))


def _cover_tiles(sample: Sample, share: float, rng: Rng) -> Sample:
    """Cover the share `share` (0..1) of each tile with a strip from a random side, all of one random colour."""
    image, colour = sample.image.copy(), hsv_to_bgr(rng.random(), rng.random(), rng.random())
    to_picture = homography(sample.corners)
    sides = rng.integers(4, size=len(sample.faces))
    for at, face in enumerate(sample.faces):
        if face == EMPTY or not share:
            continue
        strip = np.array([[-0.5, -0.5], [share - 0.5, -0.5], [share - 0.5, 0.5], [-0.5, 0.5]])
        for _quarter in range(int(sides[at])):
            strip = np.stack([-strip[:, 1], strip[:, 0]], axis=1)
        row, column = divmod(at, BOARD_SIZE)
        outline = project(to_picture, strip + np.array([column + 0.5, row + 0.5]))
        fill_polygon(image, outline, colour)
    return replace(sample, image=image)


def _random_board_point(sample: Sample, rng: Rng) -> npt.NDArray[np.float64]:
    """Return a random point (x, y) on the board, in pixels of the picture."""
    a, b = rng.uniform(0.1, 0.9, 2)
    top_left, top_right, bottom_right, bottom_left = sample.corners
    upper, lower = top_left + a * (top_right - top_left), bottom_left + a * (bottom_right - bottom_left)
    return np.asarray(upper + b * (lower - upper), np.float64)


DISTURBANCES: tuple[Disturbance, ...] = (
    Disturbance("exposure", "stops", (-4, -3, -2, -1, 0, 1, 2), 0, _change_exposure),
    Disturbance("white balance", "kelvin", (2200, 2700, 3500, 5500, 7500, 10000), 5500, _change_white_balance),
    Disturbance("blur", "sigma in squares", (0, 0.03, 0.06, 0.09, 0.12, 0.18, 0.24), 0, _blur),
    Disturbance("noise", "sigma of 255", (0, 5, 10, 20, 30, 45), 0, _add_noise),
    Disturbance("low light", "stops", (0, 3, 5, 6, 7, 8, 9), 0, _dim_light),
    Disturbance("JPEG", "quality", (90, 50, 30, 15, 8), 90, _compress_jpeg),
    Disturbance("size", "pixels a square", (32, 24, 18, 15, 12, 10, 9, 8, 7), 32, _shrink),
    Disturbance("tile tilt", "degrees", (0, 5, 10, 15, 20, 30), 0, _tilt_tiles),
    Disturbance("table turned", "degrees", (0, 90, 180, 270), 0, _turn_table),
    Disturbance("camera leaned", "degrees", (0, 20, 40, 50, 60, 70), 0, _lean_camera),
    Disturbance("shadow edge", "share of light lost", (0, 0.3, 0.5, 0.7, 0.85), 0, _add_shadow),
    Disturbance("glare", "radius in squares", (0, 0.3, 0.6, 1.0, 1.5, 2.5), 0, _add_glare),
    Disturbance("tile covered", "share of each tile", (0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4), 0, _cover_tiles),
    Disturbance("hands", "over the board", (0, 1, 2, 3), 0, _add_hands),
)
