"""The page that phones at the table see: shows the session and steers it.

`create_app(session)` makes the Flask application, `serve.PageServer` serves it from the process that owns the camera.
"""

from __future__ import annotations

from web.app import create_app

__all__ = ["create_app"]
