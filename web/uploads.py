"""The request class of the pages, which keeps uploaded pictures in memory."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from typing import IO

from flask import Request

from device.storage.errors import to_store_error
from engine.limits import MAX_UPLOADED_PHOTO_BYTES


class UploadRequest(Request):
    """A request whose uploaded files are in memory up to the size of a picture: a full disk must not end the scores.

    Larger files (word lists, games with many pictures) are written to a temporary file. `StoreError` is raised if this
    fails.
    """

    def _get_file_stream(
        self,
        total_content_length: int | None,  # noqa: ARG002
        content_type: str | None,  # noqa: ARG002
        filename: str | None = None,  # noqa: ARG002
        content_length: int | None = None,  # noqa: ARG002
    ) -> IO[bytes]:
        return _UploadedFile(max_size=MAX_UPLOADED_PHOTO_BYTES)


class _UploadedFile(tempfile.SpooledTemporaryFile[bytes]):
    def write(self, part: bytes) -> int:  # type: ignore[override]
        """Add a part of the file. Raises `StoreError`."""
        try:
            return super().write(part)
        except OSError as error:
            with suppress(OSError):  # it would write the rest
                self.close()
            raise to_store_error(error, tempfile.gettempdir()) from error
