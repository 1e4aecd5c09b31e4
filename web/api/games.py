"""API operations on stored games, players, records and pictures, and problem reports."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

import msgspec
from flask import Response
from msgspec import Meta

from device.report.contents import ReportChoice
from device.session.snapshot import TurnView
from device.storage.statistics import HeadToHead, PlayerRecord
from engine.limits import MAX_REPORT_TURNS
from engine.rules import UnplayedRule
from web.api.live_game import JPEG
from web.api.operations import ApiError, Media, make_operation
from web.filters import list_rows
from web.game_archive import GameLine
from web.pages.reports import send_report
from web.responses import send_file, send_picture
from web.security.pairing import PairedClient
from web.served_table import table

GCG = Media("text/plain", "The game as GCG.")
ZIP = Media("application/zip", "The complete game: events, GCG, pictures.")
MAX_GAMES_PER_REQUEST = 200

Day = Annotated[str, Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]


class GamesQuery(msgspec.Struct, frozen=True):
    """Filter for the list of games: a player, a range of days (local time of the table), and the page to return."""

    player: Annotated[str, Meta(max_length=60, description="Games of this player.")] = ""
    since: Annotated[Day | None, Meta(description="The first day.")] = None
    until: Annotated[Day | None, Meta(description="The last day.")] = None
    skip: Annotated[int, Meta(ge=0, le=1_000_000, description="Number of the newest games to leave out.")] = 0
    most: Annotated[int, Meta(ge=1, le=MAX_GAMES_PER_REQUEST, description="Largest number of games to return.")] = 50


class GcgQuery(msgspec.Struct, frozen=True):
    """Choice for a GCG file: how unplayed letters count."""

    unplayed: Annotated[
        Literal["both", "twice"] | None,
        Meta(description="Count unplayed letters by this rule. Without it, they count as in the game."),
    ] = None


class RecordsQuery(msgspec.Struct, frozen=True):
    """Filter for records: the first and the last day of the games to include."""

    since: Annotated[Day | None, Meta(description="The first day.")] = None
    until: Annotated[Day | None, Meta(description="The last day.")] = None


class GamePage(msgspec.Struct, frozen=True):
    """One page of the list of games, newest first, and the number of games on all pages."""

    games: tuple[GameLine, ...]
    all: int


class PastTurn(msgspec.Struct, frozen=True):
    """A turn of a game, the rows of the board after it, and the name of its picture, which may have been deleted."""

    turn: TurnView
    rows: tuple[tuple[str, ...], ...]
    picture: str


class WholeGame(msgspec.Struct, frozen=True):
    """A stored game with all its turns. `notices` are sentences from its import about turns that break the rules."""

    game: GameLine
    tile_set: str
    premiums: tuple[str, ...]
    turns: tuple[PastTurn, ...]
    notices: tuple[str, ...]


class KnownPlayer(msgspec.Struct, frozen=True):
    """A player of a stored game, with the colour chosen on the page (empty: none)."""

    name: str
    colour: str


class Records(msgspec.Struct, frozen=True):
    """Records of each player and of each pair of players in finished games."""

    players: tuple[PlayerRecord, ...]
    pairs: tuple[HeadToHead, ...]


class Brought(msgspec.Struct, frozen=True):
    """The number that an imported game has at this table."""

    number: int


REPORT = Media("application/zip", "The report: version, findings, log, events and pictures of a game.")


class ReportQuery(msgspec.Struct, frozen=True):
    """The game of a report, and what to include."""

    game: Annotated[int, Meta(ge=1, le=10_000_000, description="Number of the game.")]
    events: Annotated[
        str,
        Meta(
            pattern=r"^([0-9]{1,5}(,[0-9]{1,5})*)?$",
            max_length=6 * MAX_REPORT_TURNS,
            description="Numbers of the events whose pictures are included, separated by commas.",
        ),
    ] = ""
    names: Annotated[bool, Meta(description="Keep the players' names.")] = False
    photos: Annotated[bool, Meta(description="Include whole photographs, not only the board.")] = True


class StoredData(msgspec.Struct, frozen=True):
    """What is stored: the number of games and players, the number and size (bytes) of pictures, and their limits.

    `oldest` is the start of the oldest game with pictures (Unix time, 0: none). `max_age_days` is 0 if there is no
    limit.
    """

    games: int
    players: int
    pictures: int
    picture_bytes: int
    oldest: float
    max_picture_bytes: int
    max_age_days: int


def list_games(query: GamesQuery) -> GamePage:
    """List the stored games, newest first."""
    found = table.archive.find_games(query.player, _parse_date(query.since), _parse_date(query.until))
    lines = table.archive.make_lines(found[query.skip : query.skip + query.most])
    return GamePage(lines, len(found))


def game(number: int) -> WholeGame:
    """Return a stored game with all its turns."""
    replay = table.archive.load_replay(number)
    end = replay.build_state_after(replay.turn_count)
    turns = tuple(
        PastTurn(turn, list_rows(replay.build_state_after(at)), replay.find_picture_name(at))
        for at, turn in enumerate(end.turns, 1)
    )
    return WholeGame(replay.line, end.tile_set, end.board.premiums, turns, replay.notices)


def game_gcg(number: int, query: GcgQuery) -> Annotated[Response, GCG]:
    """Export a game in the GCG format of other Scrabble programs."""
    text, name = table.archive.export_gcg(number, UnplayedRule(query.unplayed) if query.unplayed else None)
    return send_file(text, GCG.type, name)


def game_zip(number: int) -> Annotated[Response, ZIP]:
    """Export a game as a ZIP file, for a backup or for import at another table."""
    parts, name = table.archive.export_zip(number)
    return send_file(parts, ZIP.type, name)


def game_picture(number: int, event: int) -> Annotated[Response, JPEG]:
    """Return the picture of the board after a turn."""
    return send_picture(table.archive.store.read_picture(number, event, "board"))


def delete_game(number: int) -> None:
    """Delete a game permanently. The game at the table cannot be deleted."""
    table.archive.delete_game(number)


def bring_game(body: Annotated[bytes, ZIP]) -> Brought:
    """Import a game from a ZIP file that this or another table has exported."""
    return Brought(table.archive.import_game(body))


def list_players() -> tuple[KnownPlayer, ...]:
    """List all players, most recent player first."""
    return tuple(KnownPlayer(name, colour) for name, colour in table.archive.store.list_players())


def records(query: RecordsQuery) -> Records:
    """Return the records of players and of pairs of players in finished games."""
    found = table.archive.find_games(since=_parse_date(query.since), until=_parse_date(query.until))
    return Records(*table.archive.compute_records(found))


def stored_data() -> StoredData:
    """Return what the table stores about games and players."""
    pictures, limits = table.archive.store.summarise_pictures(), table.archive.store.picture_limits
    return StoredData(
        len(table.archive.find_games()),
        len(table.archive.store.list_players()),
        pictures.count,
        pictures.size,
        pictures.oldest,
        limits.max_bytes,
        limits.max_age_days,
    )


def delete_pictures(client: PairedClient) -> None:
    """Delete all stored pictures permanently; the games remain. Only the admin may do this."""
    _check_admin(client)
    table.archive.store.delete_pictures()


def report(query: ReportQuery, client: PairedClient) -> Annotated[Response, REPORT]:
    """Return a problem report as a ZIP file. Only the admin may do this.

    A report contains no passwords, pairing codes or cookies.
    """
    _check_admin(client)
    events = tuple(sorted({int(number) for number in query.events.split(",") if number}))
    choice = ReportChoice(query.game, events[:MAX_REPORT_TURNS], query.names, query.photos)
    return send_report(table.reports.prepare(choice)[1])


def _parse_date(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise ApiError(400, f"{text} is no day.") from None


def _check_admin(client: PairedClient) -> None:
    if not client.admin:
        raise ApiError(403, "Only the device that was paired first may do this.")


_GAME = "/games/<int:number>"
OPERATIONS = (
    make_operation("GET", "/games", list_games, error_statuses=(503,)),
    make_operation("POST", "/games", bring_game, status=201, needs_pairing=True, error_statuses=(409, 503)),
    make_operation("GET", _GAME, game, error_statuses=(503,)),
    make_operation("DELETE", _GAME, delete_game, needs_pairing=True, error_statuses=(409, 503)),
    make_operation("GET", f"{_GAME}/gcg", game_gcg, error_statuses=(503,)),
    make_operation("GET", f"{_GAME}/zip", game_zip, error_statuses=(503,)),
    make_operation("GET", f"{_GAME}/pictures/<int:event>", game_picture),
    make_operation("GET", "/players", list_players, error_statuses=(503,)),
    make_operation("GET", "/records", records, error_statuses=(503,)),
    make_operation("GET", "/data", stored_data, needs_pairing=True, error_statuses=(503,)),
    make_operation("DELETE", "/data/pictures", delete_pictures, needs_pairing=True, error_statuses=(503,)),
    make_operation("GET", "/report", report, needs_pairing=True, error_statuses=(403, 404, 503)),
)
"""The operations in the order of the OpenAPI document."""
