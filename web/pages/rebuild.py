"""The page that rebuilds a game from a photograph of its final board and the written scores.

The page keeps nothing on the server: its form has the scores, the board that was read, and the plays that were chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from flask import Blueprint, Response, redirect, request
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import FileStorage

from device.cameras.base import CameraError, Image
from device.player_names import MAX_PLAYER_NAME_LENGTH, clean_name
from device.rebuilt_game import (
    MAX_ROWS,
    PaperGame,
    PlayView,
    ScoreSheetError,
    build_board,
    find_doubts,
    find_unlisted_words,
    read_score_sheet,
    rebuild,
)
from device.session.commands.base import parse_board
from device.session.commands.turn_corrections import FillTurns
from device.session.messages import CommandRefusedError, make_refusal
from device.session.snapshot_builder import build_snapshot
from device.storage.errors import ArchiveError
from engine.board import SQUARES, Board, load_layout, square_name
from engine.errors import TilekeeperError
from engine.game import Game
from engine.gcg import build_record, format_gcg
from engine.lexicon import load_shipped_lexicon
from engine.play_orders import PlayOrders, TooManyOrdersError
from engine.reading import BLANK, BOARD_SIZE, EMPTY
from engine.rules import MAX_PLAYERS, MIN_PLAYERS
from engine.sheet_errors import Mistake, SheetError
from engine.tiles import TileSet, load_tile_set, playable_tile_set_names
from vision.photo import PhotoError, decode_photo
from web.filters import list_rows
from web.i18n import Texts, texts
from web.pages.pictures import READ_TIMEOUT_S
from web.responses import render_page, require_pairing
from web.security.csrf import REBUILD_PATH
from web.served_table import table

SHOWN_ROWS = 14
"""Rows of an empty score sheet; the script adds more."""


routes = Blueprint("rebuild", __name__)
routes.before_request(require_pairing)


class _FormError(TilekeeperError):
    """Error for a form that the user can correct; the message is a sentence in the language of the page."""


@dataclass(frozen=True)
class _Form:
    """The fields of the form. `symbols` are the symbols of the 225 squares; empty if the board is not known yet."""

    names: tuple[str, ...]
    tiles: TileSet
    cells: tuple[tuple[str, ...], ...]
    symbols: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()

    @property
    def players(self) -> list[str]:
        """The names of the players, with a number for a player without a name."""
        return [name or texts()("new.player", number=seat) for seat, name in enumerate(self.names, 1)]

    def make_paper(self, layout: str) -> PaperGame:
        """Return the game of the form. Raises `ScoreSheetError`, `CommandRefusedError`."""
        sheet = read_score_sheet(self.players, self.cells)
        rows = [self.symbols[start : start + BOARD_SIZE] for start in range(0, len(self.symbols), BOARD_SIZE)]
        board = Board().with_tiles(parse_board(rows, self.tiles))
        return PaperGame(sheet, board, self.tiles, load_layout(layout))


@routes.get(REBUILD_PATH)
def show_empty_form() -> Response:
    """Return the empty form, with as many columns as the query says."""
    state = table.session.state
    seats = len(state.players)
    count = min(max(request.args.get("players", seats, type=int), MIN_PLAYERS), MAX_PLAYERS)
    first = table.session.find_player_due(1) if seats else 0
    names = [state.players[(first + n) % seats].name if count == seats else "" for n in range(count)]
    return _render(_Form(tuple(names), state.tiles, (("",) * count,) * SHOWN_ROWS))


@routes.post(REBUILD_PATH)
def show_or_save_game() -> ResponseReturnValue:
    """Find the game from the board and the scores, and show the result, a question or the mistakes.

    If exactly one game fits, a form with `save` stores it as an imported game, and a form with `fill` replaces the
    turns of the game at the table. Both then redirect to the page with the game.
    """
    form = _read_form()
    try:
        form = _find_board(form)
        paper, orders = rebuild(form.make_paper(table.session.state.board.layout))
        orders = _choose_plays(orders)
        if "save" in request.form and orders.count == 1:
            return redirect(f"/history/{_save(paper, orders)}", code=303)
        if "fill" in request.form and orders.count == 1:
            _fill_turns(form, paper, orders)
            return redirect("/", code=303)
    except (ScoreSheetError, CommandRefusedError, ArchiveError) as error:
        return _render(form, reason=texts().translate(error))
    except TooManyOrdersError:
        return _render(form, reason=texts()("rebuild.too_many"))
    except _FormError as error:
        return _render(form, reason=str(error))
    return _render_result(form, paper, orders)


def _read_form() -> _Form:
    names = tuple(clean_name(name)[:MAX_PLAYER_NAME_LENGTH] for name in request.form.getlist("players"))
    written = [cell[:12] for cell in request.form.getlist("score")[: MAX_ROWS * MAX_PLAYERS]]
    width = max(len(names), 1)
    cells = tuple(tuple(written[start : start + width]) for start in range(0, len(written), width))
    chosen = request.form.get("tiles", "")
    tiles = load_tile_set(chosen) if chosen in playable_tile_set_names() else table.session.state.tiles
    symbols = request.form.get("symbols", "").split()[: len(SQUARES)]
    symbols += [EMPTY] * (len(SQUARES) - len(symbols)) if symbols else []
    doubts = request.form.get("doubts", "").split()[: len(SQUARES)]
    return _Form(names, tiles, cells, tuple(symbols), tuple(doubts))


def _find_board(form: _Form) -> _Form:
    """Return the form with the board of the photograph, of the table, or of the form. Raises `_FormError`."""
    with closing(request.files.get("photo", FileStorage())) as file:
        data = file.read()
    if data:
        return _read_picture(form, lambda: decode_photo(data, "").image)
    if "from_table" in request.form:
        state = table.session.state
        form = replace(form, tiles=state.tiles)
        if any(state.board.tiles):
            return replace(form, symbols=tuple(symbol for row in list_rows(state) for symbol in row))
        return _read_picture(form, table.session.capture_still)
    if not form.symbols:
        raise _FormError(texts()("rebuild.no_board"))
    return form


def _read_picture(form: _Form, take_picture: Callable[[], Image]) -> _Form:
    if not table.photo_lock.acquire(timeout=READ_TIMEOUT_S):
        raise _FormError(texts()("setup.slow"))
    try:
        reading = table.session.read_photograph(take_picture(), form.tiles.letters).board
    except (CameraError, PhotoError) as error:
        raise _FormError(texts().translate(error)) from error
    finally:
        table.photo_lock.release()
    if reading is None:
        raise _FormError(texts()("rebuild.unread"))
    symbols = tuple(symbol for row in build_board(reading).rows(form.tiles) for symbol in row)
    return replace(form, symbols=symbols, doubts=tuple(map(square_name, find_doubts(reading))))


def _is_at_table(form: _Form) -> bool:
    """Return True if the players and the tiles of the form are those of the game at the table."""
    state = table.session.state
    return form.tiles == state.tiles and sorted(form.names) == sorted(player.name for player in state.players)


def _fill_turns(form: _Form, paper: PaperGame, orders: PlayOrders) -> None:
    """Replace the turns of the game at the table by those of the sheet.

    Raises `CommandRefusedError`, `TimeoutError`.
    """
    if not _is_at_table(form):
        raise make_refusal("quicker")
    seats = [player.name for player in table.session.state.players]
    acts = paper.list_acts(next(iter(orders)))
    turns = tuple((replace(act, player=seats.index(form.names[act.player or 0])), score) for act, score in acts)
    table.session.submit(FillTurns(turns)).result(READ_TIMEOUT_S)


def _save(paper: PaperGame, orders: PlayOrders) -> int:
    """Save the game as an imported one, and return its number. Raises `ArchiveError`."""
    game = paper.build_game(next(iter(orders)))
    record = build_record(game, load_shipped_lexicon(paper.tiles.language_code))
    return table.archive.import_game(format_gcg(record).encode())


def _render_result(form: _Form, paper: PaperGame, orders: PlayOrders) -> Response:
    t, chosen = texts(), _list_choices()
    if not orders.count:
        places = [list(_describe_place(t, paper, place)) for place in paper.find_mistakes()]
        return _render(form, mistakes=places)
    turn = orders.find_open_turn()
    if turn is not None:
        question = _Question(turn, *paper.locate(turn), tuple(paper.list_plays(orders, turn)))
        return _render(form, question=question, chosen=chosen)
    game = paper.build_game(next(iter(orders)))
    words = load_shipped_lexicon(paper.tiles.language_code)
    unlisted = sorted(find_unlisted_words(game, words)) if words else []
    result, at_table = build_snapshot(game, None), _is_at_table(form)
    return _render(form, result=result, unlisted=unlisted, chosen=chosen, at_table=at_table)


def _render(form: _Form, **values: object) -> Response:
    game = Game.start(("1", "2"), tile_set=form.tiles.name, layout=table.session.state.board.layout)
    state = replace(build_snapshot(game, None), board_colours=table.session.state.board_colours)
    has_camera = bool(table.session.state.players) and not table.session.uses_phone_camera
    cells = [(symbol, "" if symbol == EMPTY else form.tiles.upper(symbol)) for symbol in form.symbols]
    return render_page(
        "history/rebuild.html",
        form=form,
        state=state,
        cells=cells,
        letters=[(letter, form.tiles.lower(letter)) for letter in (*form.tiles.letters, BLANK)],
        tile_sets=[name for name in playable_tile_set_names() if not load_tile_set(name).by_hand_only],
        has_table=any(table.session.state.board.tiles) or has_camera,
        longest=MAX_PLAYER_NAME_LENGTH,
        **values,
    )


@dataclass(frozen=True, slots=True)
class _Question:
    """The question which play was made at a scored turn: the player, the row and the points on the sheet."""

    turn: int
    name: str
    row: int
    points: int
    plays: tuple[PlayView, ...]


def _list_choices() -> list[str]:
    """Return the plays that the user has chosen at earlier questions, each as `TURN:SQUARES`.

    After a correction of the board or the scores, there are none.
    """
    return [] if "again" in request.form else request.form.getlist("chosen")


def _choose_plays(orders: PlayOrders) -> PlayOrders:
    """Return the orders of plays that have all the plays chosen in the form."""
    for choice in _list_choices():
        turn, _, squares = choice.partition(":")
        if turn.isdigit() and squares.isdigit() and len(squares) < 80 and int(turn) < len(orders.steps):
            chosen = orders.choose_play(int(turn), int(squares))
            orders = chosen if chosen.count else orders
    return orders


def _describe_place(t: Texts, paper: PaperGame, place: Sequence[SheetError]) -> Iterator[str]:
    """Yield a sentence for each mistake that may have been made at a place, the wrong score first."""
    for error in sorted(place, key=lambda error: error.square is not None):
        play = paper.view_play(error.covered & ~error.play, error.play)
        if error.mistake is Mistake.TURN_MISSING:
            yield t("rebuild.missing_turn", word=play.word, at=play.at, points=error.value)
            return  # the same play may be missing at several turns
        name, row, written = paper.locate(error.turn)
        if error.square is None:
            yield t("rebuild.wrong_score", name=name, row=row, word=play.word, at=play.at, points=error.value,
                    written=written)  # fmt: skip
        else:
            yield t("rebuild.wrong_tile", name=name, row=row, square=square_name(error.square), value=error.value)
