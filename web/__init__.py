"""Flask application: the web pages and the JSON API of the table.

`create_app(session)` makes the application. `web.security.server.PageServer` serves the application in the process
that uses the camera.
"""

from __future__ import annotations

from web.app import create_app

__all__ = ["create_app"]
