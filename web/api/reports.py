"""API operations on stored data: a summary, the deletion of all pictures, problem reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import msgspec
from flask import Response
from msgspec import Meta

from device.report.contents import ReportChoice
from engine.limits import MAX_REPORT_TURNS
from web.api.operations import ApiError, Media, Operation, make_operation
from web.game_archive import GameArchive
from web.pages.reports import ProblemReports, send_report
from web.security.pairing import PairedClient

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


@dataclass(frozen=True)
class ReportOperations:
    """The API operations on stored data and problem reports."""

    archive: GameArchive
    reports: ProblemReports

    def list_operations(self) -> list[Operation]:
        """Return the operations in the order of the OpenAPI document."""
        return [
            make_operation("GET", "/data", self.stored_data, needs_pairing=True, error_statuses=(503,)),
            make_operation("DELETE", "/data/pictures", self.delete_pictures, needs_pairing=True, error_statuses=(503,)),
            make_operation("GET", "/report", self.report, needs_pairing=True, error_statuses=(403, 404, 503)),
        ]

    def stored_data(self) -> StoredData:
        """Return what the table stores about games and players."""
        pictures, limits = self.archive.store.summarise_pictures(), self.archive.store.picture_limits
        return StoredData(
            len(self.archive.find_games()),
            len(self.archive.store.list_players()),
            pictures.count,
            pictures.size,
            pictures.oldest,
            limits.max_bytes,
            limits.max_age_days,
        )

    def delete_pictures(self, client: PairedClient) -> None:
        """Delete all stored pictures permanently; the games remain. Only the admin may do this."""
        _check_admin(client)
        self.archive.store.delete_pictures()

    def report(self, query: ReportQuery, client: PairedClient) -> Annotated[Response, REPORT]:
        """Return a problem report as a ZIP file. Only the admin may do this.

        A report contains no passwords, pairing codes or cookies.
        """
        _check_admin(client)
        events = tuple(sorted({int(number) for number in query.events.split(",") if number}))
        choice = ReportChoice(query.game, events[:MAX_REPORT_TURNS], query.names, query.photos)
        return send_report(self.reports, self.reports.prepare(choice)[1])


def _check_admin(client: PairedClient) -> None:
    if not client.admin:
        raise ApiError(403, "Only the device that was paired first may do this.")
