"""Rebuild a game from a photograph of its final board and the scores on its score sheet.

SCORES is a text file with a column for each player, separated by commas: the points of each turn or the running totals.
The first line may have the names. A pass, an exchange and a play that was taken back are 0 or empty; `24+5` is a play
with points for a failed challenge. `+7` and `-7` after all turns are the points for unplayed letters.

If several orders of plays fit, the turns in which they differ have all plays that are possible. `--play 5=8H` says that
the play of the fifth turn begins at 8H. If no order fits, the command shows where a mistake may be. With --json, it
prints one JSON object: `orders` is the number of orders that fit, `turns` has the plays, `mistakes` the possible
mistakes (`score`, `turn_missing`, `tile`), and `gcg` the game.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from device.cli import UserError
from device.cli.options import make_board_reader

if TYPE_CHECKING:
    from device.rebuilt_game import PaperGame, ScoreSheet
    from engine.board import Board
    from engine.play_orders import PlayOrders
    from engine.sheet_errors import SheetError
    from engine.tiles import TileSet


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    parser.add_argument("photo", type=Path, metavar="PHOTO", help="photograph of the final board")
    parser.add_argument("scores", type=Path, metavar="SCORES", help="file with the scores, such as scores.csv")
    parser.add_argument("--tiles", default="en", metavar="SET", help="language of the tiles as a code (default en)")
    parser.add_argument("--layout", default="standard", metavar="NAME", help="layout of the premium squares")
    parser.add_argument(
        "--play", action="append", default=[], metavar="TURN=POSITION", help="where the play of a turn is, such as 5=8H"
    )
    parser.add_argument("--gcg", type=Path, metavar="FILE", help="write the game to this file")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    """Rebuild the game; return 1 if no order fits. Raises `UserError`."""
    from device.rebuilt_game import PaperGame, rebuild
    from engine.board import load_layout
    from engine.play_orders import TooManyOrdersError
    from engine.tiles import load_tile_set

    tiles = load_tile_set(args.tiles)
    sheet = _read_scores(args.scores)
    board, doubts = _read_board(args.photo, tiles)
    try:
        paper, orders = rebuild(PaperGame(sheet, board, tiles, load_layout(args.layout)))
    except TooManyOrdersError:
        raise UserError("Too many orders of plays fit. Check the board and the scores.") from None
    for choice in args.play:
        orders = _choose_play(paper, orders, choice)
    report = make_report(paper, orders, doubts)
    if args.gcg and report["gcg"]:
        args.gcg.write_text(report["gcg"], encoding="utf-8")
    print(json.dumps(report, ensure_ascii=False) if args.json else "\n".join(format_report(report)), flush=True)
    return 0 if orders.count else 1


def _read_scores(path: Path) -> ScoreSheet:
    from device.rebuilt_game import ScoreSheetError, parse_score_sheet

    try:
        return parse_score_sheet(path.read_text(encoding="utf-8"))
    except (ScoreSheetError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: {error}") from error


def _read_board(path: Path, tiles: TileSet) -> tuple[Board, list[str]]:
    """Return the board in a photograph, and the names of its doubtful squares. Raises `UserError`."""
    from device.rebuilt_game import build_board, find_doubts
    from engine.board import square_name
    from vision.photo import PhotoError, load_photo

    try:
        reading = make_board_reader().read(load_photo(path).image, tiles.letters)
    except PhotoError as error:
        raise UserError(str(error)) from error
    if reading.board is None:
        raise UserError(f"{path}: {' '.join(reading.problems)}")
    return build_board(reading.board), list(map(square_name, find_doubts(reading.board)))


def _choose_play(paper: PaperGame, orders: PlayOrders, choice: str) -> PlayOrders:
    """Return the orders in which a turn has the play at a position, given as `TURN=POSITION`. Raises `UserError`."""
    number, _, position = choice.partition("=")
    for scored in range(len(paper.sheet.scored)):
        if str(paper.find_turn_number(scored)) == number.strip() and orders.count:
            for play in paper.list_plays(orders, scored):
                if play.at == position.strip().upper():
                    return orders.choose_play(scored, play.squares)
    raise UserError(f"--play {choice}: Give the number of a turn and one of its positions, such as 5=8H.")


def make_report(paper: PaperGame, orders: PlayOrders, doubts: Sequence[str]) -> dict[str, Any]:
    """Return the result as a dictionary for JSON."""
    from device.rebuilt_game import find_unlisted_words
    from engine.gcg import build_record, format_gcg
    from engine.lexicon import load_shipped_lexicon

    order = next(iter(orders), None) if orders.count else None
    game = None if order is None else paper.build_game(order)
    words = load_shipped_lexicon(paper.tiles.language_code)
    return {
        "board": ["".join(row) for row in paper.board.rows(paper.tiles)],
        "doubtful": list(doubts),
        "orders": orders.count,
        "turns": list(_report_turns(paper, orders)),
        "totals": game and dict(zip(game.players, game.totals, strict=True)),
        "unlisted": sorted(find_unlisted_words(game, words)) if game and words else [],
        "mistakes": [] if orders.count else [_report_place(paper, place) for place in paper.find_mistakes()],
        "gcg": game and format_gcg(build_record(game, words)),
    }


def _report_turns(paper: PaperGame, orders: PlayOrders) -> Iterator[dict[str, Any]]:
    """Yield each turn with the plays that are possible, none for a turn without points or if no order fits."""
    scored = 0
    for number, turn in enumerate(paper.sheet.turns, 1):
        plays = paper.list_plays(orders, scored) if turn.points and orders.count else []
        scored += bool(turn.points)
        yield {
            "turn": number,
            "player": paper.sheet.players[turn.player],
            "points": turn.points + turn.extra,
            "plays": [{"at": play.at, "word": play.word} for play in plays],
        }


def _report_place(paper: PaperGame, place: Sequence[SheetError]) -> dict[str, Any]:
    """Return the data of one play and its possible mistakes, `place`, each of which alone would explain the sheet."""
    from engine.board import square_name
    from engine.sheet_errors import Mistake

    first = place[0]
    covered_before = first.covered & ~first.play  # bit sets of squares
    play = paper.view_play(covered_before, first.play)
    return {
        "turn": paper.find_turn_number(first.turn),
        "at": play.at,
        "word": play.word,
        "mistakes": [
            {"mistake": error.mistake.value, "square": square_name(error.square), "value": error.value}
            if error.mistake is Mistake.TILE and error.square is not None
            else {"mistake": error.mistake.value, "points": error.value}
            for error in place
        ],
    }


def format_report(report: dict[str, Any]) -> Iterator[str]:
    """Yield the result as lines of text. Turns with several possible plays are marked."""
    yield from report["board"]
    if report["doubtful"]:
        yield f"doubtful squares: {', '.join(report['doubtful'])}"
    yield f"orders of plays that fit: {report['orders']}"
    width = max(len(turn["player"]) for turn in report["turns"])
    for turn in report["turns"]:
        plays = " or ".join(f"{play['at']} {play['word']}" for play in turn["plays"])
        yield f"{turn['turn']:3}  {turn['player']:{width}}  {turn['points']:4}  {plays or '-'}"
    if report["totals"]:
        yield "total  " + ", ".join(f"{name} {total}" for name, total in report["totals"].items())
    if report["unlisted"]:
        yield f"not in the word list: {', '.join(report['unlisted'])}"
    yield from map(_format_place, report["mistakes"])
    if not report["orders"] and not report["mistakes"]:
        yield "There is more than one mistake. Check the tiles on the board, and each score."


def _format_place(place: dict[str, Any]) -> str:
    what = f"turn {place['turn']}, {place['at']} {place['word']}"
    texts = {
        "score": "it counts {points}",
        "tile": "or the tile on {square} has the value {value}",
        "turn_missing": "a turn with {points} points is missing before it",
    }
    return f"mistake? {what}: " + "; ".join(texts[one["mistake"]].format(**one) for one in place["mistakes"])
