"""Render complete photographs of a board: table, board, tiles with thickness, shadows, hands, lighting, camera.

Tile tops are projected at their true height above the board. So if the camera looks at an angle, they appear displaced.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt

from vision.rendering.board_art import BoardArt, BoardStyle, art_to_table, draw_outline, fill_polygon
from vision.rendering.camera import Camera, compute_hidden_shares, measure_square, project_grid
from vision.rendering.light import Light, develop, draw_glare, draw_illumination, repeat_channels
from vision.rendering.style import Rng
from vision.rendering.surroundings import TABLE_SPAN_SQUARES, TABLE_SQUARE_PX, draw_hand
from vision.rendering.tile_art import PlacedTile, TileStyle, draw_tile_tops, place_tiles

Picture = npt.NDArray[np.uint8]
Field = npt.NDArray[np.float32]
Matrix = npt.NDArray[np.float64]
TILE_LAYER_MARGIN = 3.0  # margin around the grid, in squares, in the layer of tile tops (`draw_tile_tops`)
Labels = Mapping[tuple[int, int], str]


@dataclass(frozen=True)
class Scene:
    """A rendered photograph and its ground truth.

    image        (H, W, 3) uint8 BGR
    corners      (4, 2) float64 px, outer corners of the grid, clockwise from the top left of the upright board
    labels       15 x 15 symbols: '' empty, '?' blank, otherwise the letter
    hidden       (15, 15) float64, share of each square (at tile height) covered by a hand or outside the picture
    centres      (15, 15, 2) float64 px, centre of the top of the tile on each square; NaN without a tile
    right_edges  (15, 15, 2) float64 px, midpoint of the right edge of the upright tile's top; NaN without a tile
    focal        focal length in px
    """

    image: Picture
    corners: npt.NDArray[np.float64]
    labels: tuple[tuple[str, ...], ...]
    hidden: npt.NDArray[np.float64]
    centres: npt.NDArray[np.float64]
    right_edges: npt.NDArray[np.float64]
    focal: float


@dataclass(frozen=True, eq=False)
class SceneSetting:
    """Parameters of a scene apart from the placed tiles: styles, lighting, camera, board art and table texture."""

    board_style: BoardStyle
    tile_style: TileStyle
    light: Light
    camera: Camera
    art: BoardArt
    table_texture: Picture
    board_thickness: float  # thickness of the board, squares
    tile_seed: int  # random seed of the wood grain of the tiles


def _warp_image(image: Picture | Field, matrix: Matrix, size: tuple[int, int], border: int) -> Field:
    return np.asarray(cv2.warpPerspective(image, matrix, size, flags=cv2.INTER_LINEAR, borderMode=border), np.float32)


def _downscale_art(image: Picture | Field, matrix: Matrix, ratio: float) -> tuple[Field, Matrix]:
    """Scale art down by `ratio` before it is warped, to prevent aliasing; return the art and the adjusted matrix.

    `matrix` (3, 3) maps art pixels to picture pixels. If `ratio` is above 0.8, the art is returned unchanged.
    """
    if ratio > 0.8:
        return np.asarray(image, np.float32), matrix
    small = cv2.resize(image, None, fx=ratio, fy=ratio, interpolation=cv2.INTER_AREA)
    fx, fy = image.shape[1] / small.shape[1], image.shape[0] / small.shape[0]
    widen = np.array([[fx, 0, (fx - 1) / 2], [0, fy, (fy - 1) / 2], [0, 0, 1]])  # between pixel centres
    return np.asarray(small, np.float32), matrix @ widen


def _shade_board(
    art: BoardArt, alpha: npt.NDArray[np.float32], px: int, style: TileStyle, light: Light
) -> npt.NDArray[np.float32]:
    """Return the board's art as float32 BGR, darkened by the shadows of the tiles.

    `alpha` is the coverage (0..1) of the layer of tile tops, with `px` pixels per square.
    """
    board = art.image.astype(np.float32)
    left, top = art.margin[:2]
    length = style.height * light.shadow_length
    dx, dy = np.cos(light.direction) * length, np.sin(light.direction) * length
    scale = art.px / px
    matrix = np.array(
        [[scale, 0, (left - TILE_LAYER_MARGIN + dx) * art.px], [0, scale, (top - TILE_LAYER_MARGIN + dy) * art.px]]
    )
    size = (board.shape[1], board.shape[0])
    cast = cv2.GaussianBlur(cv2.warpAffine(alpha, matrix, size), (0, 0), max(1.0, art.px * length * 0.25))
    matrix[:, 2] -= np.array([dx, dy]) * art.px
    contact = cv2.GaussianBlur(cv2.warpAffine(alpha, matrix, size), (0, 0), art.px * 0.07)
    board *= repeat_channels(1 - light.shadow * np.maximum(cast, 0.6 * contact))
    return board


def _draw_sides(scene: npt.NDArray[np.float32], setting: SceneSetting, tiles: Sequence[PlacedTile]) -> None:
    """Draw the visible side faces of the tiles into `scene`, far tiles first."""
    camera, style = setting.camera, setting.tile_style
    if not tiles:
        return
    base = np.concatenate([t.corners(style.size) for t in tiles])
    low = cv2.perspectiveTransform(base[:, None], camera.plane_homography(0.0)).reshape(-1, 4, 2)
    high = cv2.perspectiveTransform(base[:, None], camera.plane_homography(style.height)).reshape(-1, 4, 2)
    depth = (camera.rotation @ np.column_stack([base[::4], np.zeros(len(tiles))]).T)[2]
    side = np.asarray(style.side)
    for i in np.argsort(-depth):
        for k in range(4):
            j = (k + 1) % 4
            face = np.array([low[i, k], low[i, j], high[i, j], high[i, k]])
            area = cv2.contourArea(face.astype(np.float32), oriented=True)
            if area <= 0:  # a face that is anticlockwise in the picture is on the far side of the tile
                continue
            angle = tiles[i].turn + k * np.pi / 2 - np.pi / 2 - setting.light.direction
            shade = 0.85 - 0.25 * np.cos(angle) * setting.light.shadow
            fill_polygon(scene, face, (side * shade).tolist())


def compose_scene(
    rng: Rng,
    setting: SceneSetting,
    labels: Labels,
    loose_tiles: Sequence[PlacedTile] = (),
    hands: Sequence[tuple[float, float]] = (),
    values: Mapping[str, int] | None = None,
    placed_tiles: Sequence[PlacedTile] | None = None,
) -> Scene:
    """Render a photograph of the board `labels` in `setting`, with its ground truth.

    labels        (row, column) -> letter, or '?' for a blank
    loose_tiles   further tiles that are not on a square, such as beside the grid
    hands         table points (x, y) in squares; a hand points at each of them
    values        point values of the letters; random digits if None
    placed_tiles  the tiles of `labels` with their exact positions; random positions if None
    """
    camera, style, light = setting.camera, setting.tile_style, setting.light
    tiles = list(placed_tiles) if placed_tiles is not None else place_tiles(rng, labels, style)
    px = setting.art.px
    maker = style.make_renderer(setting.tile_seed, px, light.direction, values)
    tops = draw_tile_tops(maker, [*tiles, *loose_tiles], px, TILE_LAYER_MARGIN)
    scene, board_seen = _draw_table_and_board(setting, _shade_board(setting.art, tops[:, :, 3], px, style, light))
    _draw_sides(scene, setting, [*tiles, *loose_tiles])
    tiles_seen = _overlay_tile_tops(rng, scene, setting, tops)
    scene, covered = _draw_hands(rng, scene, setting, hands)
    scene = _apply_light(rng, scene, setting, board_seen, tiles_seen)
    return Scene(
        image=develop(rng, light, scene),
        corners=project_grid(camera),
        labels=tuple(tuple(labels.get((r, c), "") for c in range(15)) for r in range(15)),
        hidden=compute_hidden_shares(covered, camera, style.height),
        centres=_project_tile_points(tiles, [(tile.x, tile.y) for tile in tiles], camera, style.height),
        right_edges=_project_tile_points(
            tiles, [tile.right_edge_middle(style.size) for tile in tiles], camera, style.height
        ),
        focal=camera.focal,
    )


@lru_cache(maxsize=1)
def _draw_table(setting: SceneSetting) -> tuple[Field, Field]:
    """Render the table around the board; return the picture and the coverage by the board, both (H, W, 3).

    The picture is black where the board is. The coverage is from 0 to 1. The pictures of a table with other tiles on
    the board use the same two results.
    """
    camera, light = setting.camera, setting.light
    size, square = camera.size, measure_square(camera)
    centre = TABLE_SPAN_SQUARES / 2 - 7.5
    to_table = np.array([[1 / TABLE_SQUARE_PX, 0, -centre], [0, 1 / TABLE_SQUARE_PX, -centre], [0, 0, 1]])
    scene = _warp_image(
        setting.table_texture, camera.plane_homography(-setting.board_thickness) @ to_table, size, cv2.BORDER_REFLECT
    )
    art, matrix = _project_art(setting, setting.art.image)
    cut = round(setting.board_style.corner_radius * art.shape[0] / (15 + 2 * TILE_LAYER_MARGIN))
    covered = _warp_image(draw_outline(art.shape, cut), matrix, size, cv2.BORDER_CONSTANT)
    covered /= 255
    # The shadow is the blurred outline of the board, shifted away from the light.
    blurred = cv2.GaussianBlur(covered, (0, 0), max(1.0, square * 0.25))
    length = square * setting.board_thickness
    shift = np.array([[1, 0, np.cos(light.direction) * length], [0, 1, np.sin(light.direction) * length]])
    shadow = cv2.warpAffine(blurred, shift, size)
    scene *= repeat_channels(np.asarray(1 - 0.7 * light.shadow * shadow, np.float32))
    coverage = repeat_channels(covered)
    scene *= 1 - coverage
    scene.flags.writeable = coverage.flags.writeable = False
    return scene, coverage


def _project_art(setting: SceneSetting, board: Picture | Field) -> tuple[Field, Matrix]:
    """Return the board's art at about the picture's resolution, and the matrix from art pixels to picture pixels."""
    camera, px = setting.camera, setting.art.px
    ratio = measure_square(camera) / px * 1.2
    return _downscale_art(board, camera.plane_homography() @ setting.art.to_table(), ratio)


def _draw_table_and_board(setting: SceneSetting, board: Field) -> tuple[Field, Field]:
    """Render the table with the board; return the picture and the coverage by the board, 0 to 1, both (H, W, 3)."""
    around, coverage = _draw_table(setting)
    art, matrix = _project_art(setting, board)
    scene = _warp_image(art, matrix, setting.camera.size, cv2.BORDER_REPLICATE)
    scene *= coverage
    scene += around
    return scene, coverage


def _overlay_tile_tops(rng: Rng, scene: Field, setting: SceneSetting, tops: Field) -> Field:
    """Draw the tile tops over the scene in place; return the coverage (H, W, 3) by tile tops, 0 to 1."""
    camera, style, px = setting.camera, setting.tile_style, setting.art.px
    to_table = art_to_table(px, TILE_LAYER_MARGIN, TILE_LAYER_MARGIN)
    to_picture = camera.plane_homography(style.height) @ to_table
    layer, to_picture = _downscale_art(tops, to_picture, measure_square(camera) / px * 1.2)
    projected = _warp_image(layer, to_picture, camera.size, cv2.BORDER_CONSTANT)
    coverage = repeat_channels(projected[:, :, 3])
    shine = 1 + 0.12 * style.gloss * float(rng.normal(0, 1))
    scene *= 1 - coverage
    scene += cv2.cvtColor(projected, cv2.COLOR_BGRA2BGR) * np.float32(shine)
    return coverage


def _draw_hands(
    rng: Rng, scene: Field, setting: SceneSetting, hands: Sequence[tuple[float, float]]
) -> tuple[Field, Picture]:
    """Draw hands over the scene; return the picture and the coverage (H, W) uint8 by hands, 255 = covered."""
    camera, square = setting.camera, measure_square(setting.camera)
    covered = np.zeros((camera.size[1], camera.size[0]), np.uint8)
    for x, y in hands:
        target = camera.project([[x, y]], setting.tile_style.height)[0]
        with_hand, mask = draw_hand(rng, scene, target, square)
        shadow = cv2.GaussianBlur(np.roll(mask, round(square * 0.5), axis=0), (0, 0), square * 0.5)
        darkness = 0.5 * setting.light.shadow * shadow.astype(np.float32) / 255 * (mask < 128)
        scene = np.asarray(with_hand * (1 - darkness[:, :, None]), np.float32)
        covered = np.maximum(covered, mask)
    return scene, covered


def _apply_light(rng: Rng, scene: Field, setting: SceneSetting, board_seen: Field, tiles_seen: Field) -> Field:
    """Apply the illumination map, glare and lens distortion to the scene (H, W, 3).

    `board_seen` and `tiles_seen` (H, W, 3) are the coverage (0..1) by the board and by tile tops.
    """
    light, camera = setting.light, setting.camera
    scene = scene * repeat_channels(draw_illumination(rng, light, (camera.size[1], camera.size[0])))
    shimmer = draw_glare(rng, light, (camera.size[1], camera.size[0]))
    if shimmer is not None:
        gloss = board_seen * 0.5 + 0.5 * tiles_seen * (0.4 + setting.tile_style.gloss)
        scene = scene + 255 * repeat_channels(shimmer) * gloss
    if camera.distortion:
        x, y = camera.distortion_maps()
        scene = np.asarray(cv2.remap(scene, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), np.float32)
    return np.asarray(scene, np.float32)


def _project_tile_points(
    tiles: Sequence[PlacedTile], points: Sequence[tuple[float, float]], camera: Camera, height: float
) -> npt.NDArray[np.float64]:
    """Project one point of each tile's top; return pixel coordinates by square, (15, 15, 2), NaN without a tile."""
    projected = np.full((15, 15, 2), np.nan)
    if tiles:
        projected[[int(tile.y) for tile in tiles], [int(tile.x) for tile in tiles]] = camera.project(points, height)
    return projected
