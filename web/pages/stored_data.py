"""Page that shows what the table stores about its players, and on which the stored pictures can be deleted."""

from __future__ import annotations

from dataclasses import dataclass

from flask import Blueprint, Response, redirect
from flask.typing import ResponseReturnValue

from web.game_archive import GameArchive, to_local_date
from web.host_info import HostInfo
from web.responses import render_page, require_admin, require_pairing
from web.security.pairing import Pairing, find_current_client

BYTES_PER_MB = 2**20


def create_blueprint(archive: GameArchive, pairing: Pairing, host: HostInfo) -> Blueprint:
    """Return the routes `/data` and `/data/pictures/delete`, which require a paired phone."""
    routes = Blueprint("data", __name__, url_prefix="/data")
    require_pairing(routes, pairing)
    pages = StoredDataPages(archive, pairing, host)
    routes.get("")(pages.show)
    routes.get("/pictures/delete")(pages.confirm_delete)
    routes.post("/pictures/delete")(pages.delete)
    return routes


@dataclass(frozen=True)
class StoredDataPages:
    """The view functions for stored data. Only the admin may delete pictures."""

    archive: GameArchive
    pairing: Pairing
    host: HostInfo

    def show(self) -> Response:
        """Return the page that lists what is stored, for how long, and how to delete it."""
        pictures, limits = self.archive.store.summarise_pictures(), self.archive.store.picture_limits
        client = find_current_client(self.pairing)
        return render_page(
            "data/stored.html",
            games=len(self.archive.find_games()),
            players=len(self.archive.store.list_players()),
            pictures=pictures,
            oldest=to_local_date(pictures.oldest),
            limit_mb=limits.max_bytes // BYTES_PER_MB,
            limit_days=limits.max_age_days,
            phones=len(self.pairing.clients),
            folder=self.host.data_folder,
            admin=client is not None and client.admin,
        )

    def confirm_delete(self) -> ResponseReturnValue:
        """Return the form to confirm the deletion of all pictures."""
        return require_admin(self.pairing) or render_page(
            "data/delete_pictures.html", pictures=self.archive.store.summarise_pictures()
        )

    def delete(self) -> ResponseReturnValue:
        """Delete all pictures and redirect to the page of stored data."""
        if refusal := require_admin(self.pairing):
            return refusal
        self.archive.store.delete_pictures()
        return redirect("/data", code=303)
