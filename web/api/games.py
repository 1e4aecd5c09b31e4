"""Operations of the API on games that were played."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Annotated, TypeVar

import msgspec
from flask import Response
from msgspec import Meta

from device.session.snapshot import TurnView
from device.storage.statistics import HeadToHead, PlayerRecord
from web.api.live_game import JPEG, list_rows
from web.api.operations import ApiError, Media, Operation
from web.game_archive import GameArchive, GameInProgressError, GameLine, GameNotFoundError, ImportFileError

GCG = Media("text/plain", "The game as GCG.")
ZIP = Media("application/zip", "The complete game: events, GCG, pictures.")
MAX_GAMES_PER_REQUEST = 200

T = TypeVar("T")
Day = Annotated[str, Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]


class GamesQuery(msgspec.Struct, frozen=True):
    """A selection of games: by player and by days of the table's calendar, a page at a time, newest first."""

    player: Annotated[str, Meta(max_length=60, description="Games of this player.")] = ""
    since: Annotated[Day | None, Meta(description="The first day.")] = None
    until: Annotated[Day | None, Meta(description="The last day.")] = None
    skip: Annotated[int, Meta(ge=0, le=1_000_000, description="Number of the newest games to leave out.")] = 0
    most: Annotated[int, Meta(ge=1, le=MAX_GAMES_PER_REQUEST, description="Largest number of games to return.")] = 50


class RecordsQuery(msgspec.Struct, frozen=True):
    """The games that count, by day."""

    since: Annotated[Day | None, Meta(description="The first day.")] = None
    until: Annotated[Day | None, Meta(description="The last day.")] = None


class GamePage(msgspec.Struct, frozen=True):
    """A page of games, newest first, and the number of all selected games."""

    games: tuple[GameLine, ...]
    all: int


class PastTurn(msgspec.Struct, frozen=True):
    """A turn of a game, the rows of the board after it, and the name of its picture, which may have been deleted."""

    turn: TurnView
    rows: tuple[tuple[str, ...], ...]
    picture: str


class WholeGame(msgspec.Struct, frozen=True):
    """A game turn by turn."""

    game: GameLine
    tile_set: str
    premiums: tuple[str, ...]
    turns: tuple[PastTurn, ...]


class KnownPlayer(msgspec.Struct, frozen=True):
    """A player who has played here, and the colour that they chose for the page (empty: none)."""

    name: str
    colour: str


class Records(msgspec.Struct, frozen=True):
    """Records of each player and of each pair of players, over finished games."""

    players: tuple[PlayerRecord, ...]
    pairs: tuple[HeadToHead, ...]


class Brought(msgspec.Struct, frozen=True):
    """The number of an imported game at this table."""

    number: int


def build_operations(library: GameArchive) -> list[Operation]:
    """Return the operations to find, read, import and delete games."""

    def list_games(query: GamesQuery) -> GamePage:
        """List the games that were played here."""
        found = library.find_games(query.player, _parse_date(query.since), _parse_date(query.until))
        lines = library.make_lines(found[query.skip : query.skip + query.most])
        return GamePage(lines, len(found))

    def game(number: int) -> WholeGame:
        """Return a game turn by turn."""
        replay = _call_or_404(library.load_replay, number)
        end = replay.state_after(replay.turn_count)
        turns = tuple(
            PastTurn(turn, list_rows(replay.state_after(at).board), replay.picture_name(at))
            for at, turn in enumerate(end.turns, 1)
        )
        return WholeGame(replay.line, end.tile_set, end.board.premiums, turns)

    def game_gcg(number: int) -> Response:
        """Export a game as GCG, which other programs read."""
        text, name = _call_or_404(library.export_gcg, number)
        return Response(text, mimetype=GCG.type, headers=_make_attachment_headers(name))

    def game_zip(number: int) -> Response:
        """Export a game as ZIP, for a backup or another table."""
        parts, name = _call_or_404(library.export_zip, number)
        return Response(parts, mimetype=ZIP.type, headers=_make_attachment_headers(name))

    def game_picture(number: int, event: int) -> Response:
        """Return the picture of the board in a turn."""
        jpeg = library.load_picture(number, event)
        if jpeg is None:
            raise ApiError(404, "There is no such picture.")
        return Response(jpeg, mimetype=JPEG.type, headers={"Cache-Control": "private, max-age=86400"})

    def delete_game(number: int) -> None:
        """Delete a game permanently. The game at the table cannot be deleted."""
        try:
            _call_or_404(library.delete_game, number)
        except GameInProgressError:
            raise ApiError(409, "This game is at the table now: begin another one first.") from None

    def bring_game(body: bytes) -> Brought:
        """Import a game that was exported as ZIP, here or at another table."""
        try:
            return Brought(library.import_game(body))
        except ImportFileError as error:
            raise ApiError(409, str(error)) from None

    def list_players() -> tuple[KnownPlayer, ...]:
        """List all players, the one who played last first."""
        return tuple(KnownPlayer(name, colour) for name, colour in library.list_players())

    def records(query: RecordsQuery) -> Records:
        """Return the records of players and pairs over finished games."""
        return Records(
            *library.compute_records(library.find_games("", _parse_date(query.since), _parse_date(query.until)))
        )

    return [
        Operation("GET", "/games", list_games, GamePage, query=GamesQuery, error_statuses=(503,)),
        Operation(
            "POST", "/games", bring_game, Brought, body=ZIP, status=201, needs_pairing=True, error_statuses=(409, 503)
        ),
        Operation("GET", "/games/<int:number>", game, WholeGame, error_statuses=(503,)),
        Operation(
            "DELETE",
            "/games/<int:number>",
            delete_game,
            None,
            status=204,
            needs_pairing=True,
            error_statuses=(409, 503),
        ),
        Operation("GET", "/games/<int:number>/gcg", game_gcg, GCG, error_statuses=(503,)),
        Operation("GET", "/games/<int:number>/zip", game_zip, ZIP, error_statuses=(503,)),
        Operation("GET", "/games/<int:number>/pictures/<int:event>", game_picture, JPEG),
        Operation("GET", "/players", list_players, tuple[KnownPlayer, ...], error_statuses=(503,)),
        Operation("GET", "/records", records, Records, query=RecordsQuery, error_statuses=(503,)),
    ]


def _call_or_404(look: Callable[[int], T], number: int) -> T:
    try:
        return look(number)
    except GameNotFoundError as error:
        raise ApiError(404, str(error)) from None


def _parse_date(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise ApiError(400, f"{text} is no day.") from None


def _make_attachment_headers(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}
