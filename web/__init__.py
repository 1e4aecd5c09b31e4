"""The web page with which phones show and control the session.

`create_app(session)` makes the Flask application; `web.security.server.PageServer` serves it in the process that owns
the camera.
"""

from __future__ import annotations

from web.app import create_app

__all__ = ["create_app"]
