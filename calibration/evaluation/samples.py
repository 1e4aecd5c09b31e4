"""Labelled pictures for robustness tests: the true faces on the board, and the totals after the turn in the picture."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from engine.events import filter_plays
from engine.game import Game
from engine.inference.explain import infer_play
from engine.reading import BLANK, BOARD_SIZE, EMPTY, BoardReading
from engine.tiles import load_tile_set
from vision.geometry import Floats, Image, square_side
from vision.photo import load_photo
from vision.rendering.board_art import draw_board
from vision.rendering.camera import look_at_board, project_grid
from vision.rendering.fonts import packaged_fonts
from vision.rendering.scene import SceneSetting, compose_scene
from vision.rendering.simulated_table import EVENING_LIGHT
from vision.rendering.style import Rng
from vision.rendering.surroundings import draw_table_top
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
