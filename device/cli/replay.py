"""Score a game from photos of the board, one after each turn and in order, or from a video.

In a video, or in a folder with its frames as pictures, a turn is a legal play whose tiles did not move for four
seconds. Passes and exchanges are not visible in a video. Enter them in a file, one on each line, such as "2:31 pass" or
"5:02 exchange 3", and name the file with --turns. If a tile stays in doubt, the most probable letter counts, and the
turn and the total of its player are marked with "not sure". With --json, the command prints one JSON object with the
turns (each with its photo, player, kind, square, words and scores), the totals and the problems.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from device.cli import UserError
from device.cli.options import add_game_options, make_profiled_reader, merge_game_settings, prepare_game
from device.session.commands.answers import AnswerQuestion
from device.session.commands.games import StartGame
from device.session.commands.turns import EndTurn

if TYPE_CHECKING:
    from calibration.profile import TableProfile
    from device.session.snapshot import TableSnapshot, TurnView, WordView
    from device.session.table_session import TableSession
    from engine.events import GameStarted
    from engine.lexicon import WordList
    from vision.recognition.reader import PhotoReader

TURN_S = 60.0
"""Seconds between two photographs, on the clock of the session. After a quick press, it would ask about corrections."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    parser.add_argument(
        "photos", nargs="+", type=Path, metavar="PHOTO", help="photographs in the order of the turns, or one video"
    )
    parser.add_argument(
        "--turns", type=Path, metavar="FILE", help="file that lists the passes and exchanges in a video"
    )
    add_game_options(parser, players_needed=True)
    parser.add_argument("--json", action="store_true", help="print the game as one JSON object")


def run(args: argparse.Namespace) -> int:
    """Replay the photographs through a table session, or a video through a turn finder, and print the game."""
    from device.capture.video_frames import is_video

    is_one_video = len(args.photos) == 1 and is_video(args.photos[0])
    missing = next((path for path in args.photos if not path.exists() or (path.is_dir() and not is_one_video)), None)
    if missing is not None:
        problem = (
            "is a folder. Name the photos in it instead." if missing.is_dir() else "does not exist. Check the name."
        )
        raise UserError(f"{missing} {problem}")
    if args.turns is not None and not is_one_video:
        raise UserError("--turns is only for a video. Leave it out for photographs.")
    started, words = prepare_game(merge_game_settings(args))
    reader, profile = make_profiled_reader()
    if is_one_video:
        game = replay_one_video(args.photos[0], reader, started, words, args.turns)
    else:
        game = replay_photos(args.photos, reader, started, words, profile)
    if args.json:
        print(json.dumps(as_json(game), ensure_ascii=False))
    else:
        print("\n".join(as_text(game)))
    return 0


@dataclass(frozen=True, slots=True)
class ReplayedGame:
    """The last snapshot of a game, the source of each turn (photo, or video with a time), and the problems."""

    state: TableSnapshot
    sources: tuple[str, ...]
    problems: tuple[str, ...]


def replay_photos(
    photos: Sequence[Path],
    reader: PhotoReader,
    started: GameStarted,
    lexicon: WordList | None,
    profile: TableProfile | None = None,
) -> ReplayedGame:
    """Replay the photographs.

    If a later photograph corrects a tile, the correction is part of the turn in which the tile was placed. If the first
    photograph shows more than two plays, the game starts from that position with 0 points. The table profile `profile`
    learns from confirmed turns. A reading may take any time: nobody waits at a table.
    """
    from device.cameras.folder import FolderCamera
    from device.session.table_session import SessionConfig, TableSession
    from device.storage.store import GameStore

    sources: list[str] = []
    problems: list[str] = []
    seconds = 0.0
    camera = FolderCamera(photos)
    config = SessionConfig(follows_board=False, max_turn_s=math.inf)
    with (
        GameStore(":memory:") as store,
        TableSession(camera, reader, store, lexicon, profile=profile, config=config, clock=lambda: seconds) as session,
    ):
        state = session.submit(StartGame(started)).result()
        for photo in photos:
            seconds += TURN_S
            state, texts = _end_turn(session)
            sources += [str(photo)] * (len(state.turns) - len(sources))
            problems += [_format_problem(photo, text) for text in texts]
    return ReplayedGame(state, tuple(sources), tuple(problems))


def _end_turn(session: TableSession) -> tuple[TableSnapshot, list[str]]:
    """End a turn. Return the snapshot after it, and the texts of its notices and its question.

    There is no player to answer the question. Only the question whether the game starts from this position is answered
    with yes.
    """
    from device.session.messages import CommandRefusedError

    state = session.submit(EndTurn()).result()
    texts = [notice.text for notice in state.notices]
    if state.question is not None and not state.question.is_about_pass:
        texts.append(state.question.text)
        if state.question.is_about_start:
            with suppress(CommandRefusedError):  # a letter may be misread, so that there are too many of it
                state = session.submit(AnswerQuestion(1)).result()
    return state, texts


def replay_one_video(
    video: Path, reader: PhotoReader, started: GameStarted, lexicon: WordList | None, turn_list: Path | None
) -> ReplayedGame:
    """Replay a video; the source of each turn is a text such as `game.mp4 1:05`.

    `turn_list` is a file with the passes and exchanges, which the video does not show.
    """
    from device.capture.video_frames import read_frames
    from device.session.turns.video_replay import TurnListError, format_time, parse_turn_list, replay_video

    try:
        entered = parse_turn_list(turn_list.read_text(encoding="utf-8")) if turn_list else ()
    except (UnicodeDecodeError, TurnListError) as error:
        raise UserError(f"{turn_list}: {error}") from None
    result = replay_video(read_frames(video), reader, started, lexicon, entered)
    sources = tuple(f"{video} {format_time(time)}" for time in result.times)
    problems = result.problems
    if not sources and not problems:
        text = f"{video}: no play lies still for four seconds"
        remedy = f". If these are photographs, one after each turn, name them: {video / '*'}" if video.is_dir() else "."
        problems = (text + remedy,)
    return ReplayedGame(result.state, sources, problems)


def as_json(game: ReplayedGame) -> dict[str, Any]:
    """Return the game as a dictionary for JSON."""
    state = game.state
    return {
        "turns": [_make_turn_json(state, turn, source) for turn, source in zip(state.turns, game.sources, strict=True)],
        "totals": {player.name: player.total for player in state.players},
        "not_sure": _find_unsure_players(state),
        "problems": list(game.problems),
    }


def as_text(game: ReplayedGame) -> Iterator[str]:
    """Yield the game as lines of text: one line for each turn with its words, then the totals and the problems."""
    state = game.state
    width = max(len(player.name) for player in state.players)
    for turn, source in zip(state.turns, game.sources, strict=True):
        move = f"{turn.at} {turn.word}" if turn.at else f"({turn.kind})"
        words = ", ".join(_format_word(word) for word in turn.words)
        name = state.players[turn.player].name
        score = f"{turn.score:+4} {turn.total:4}"
        doubt = f"  {_format_doubt(_find_unsure_squares(turn))}".rstrip()
        yield f"{turn.number:3}  {name:{width}}  {move:20} {score}  {words}  [{Path(source).name}]{doubt}"
    totals = ", ".join(f"{player.name} {player.total}" for player in state.players)
    yield f"total  {totals} {_format_doubt(_find_unsure_players(state))}".rstrip()
    for problem in game.problems:
        yield f"problem: {problem}"


def _format_doubt(names: Sequence[str]) -> str:
    """Return a remark with the squares or players that are not sure; empty if there are none."""
    return f"(not sure: {', '.join(names)})" if names else ""


def _find_unsure_players(state: TableSnapshot) -> list[str]:
    """Return the names of the players with a turn that is not sure, so that their totals may be wrong."""
    unsure = {turn.player for turn in state.turns if _find_unsure_squares(turn)}
    return [player.name for seat, player in enumerate(state.players) if seat in unsure]


def _find_unsure_squares(turn: TurnView) -> list[str]:
    """Return the squares in doubt if the turn only counts until a question about it is answered."""
    return list(turn.doubtful) if turn.provisional else []


def _format_word(word: WordView) -> str:
    remark = ""
    if word.valid is False:
        remark = " (not in the list)"
    elif word.unlisted:
        remark = " (not in the list: advice)"
    return f"{word.text} {word.score}{remark}"


def _make_turn_json(state: TableSnapshot, turn: TurnView, source: str) -> dict[str, Any]:
    return {
        "photo": source,
        "player": state.players[turn.player].name,
        "kind": turn.kind,
        "at": turn.at or None,
        "word": turn.word or None,
        "words": [{"word": word.text, "score": word.score, "valid": word.valid} for word in turn.words],
        "score": turn.score,
        "total": turn.total,
        "not_sure": _find_unsure_squares(turn),
        "tiles": [list(tile) for tile in turn.tiles],
    }


def _format_problem(photo: Path, text: str) -> str:
    return text if str(photo) in text else f"{photo}: {text}"
