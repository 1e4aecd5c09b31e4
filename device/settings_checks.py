"""Checks whether this machine can use changed settings, so that a saved setting does not prevent the next start."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Collection
from pathlib import Path
from tempfile import TemporaryFile

from device.catalogue import get_text
from device.settings import Settings
from device.settings_editor import SettingPath

_FOLDER_CAMERA = "folder:"


def find_unusable_setting(
    settings: Settings, changed: Collection[SettingPath], running: Settings
) -> tuple[SettingPath, str] | None:
    """Return the first of the changed settings with which the program would end at its next start, and the reason.

    Return None if there is no such setting. `changed` are the changed settings, and `running` the settings of the
    running program, whose own ports are in use.
    """
    page, camera = settings.page, settings.camera
    own_ports = (running.page.port, running.page.secure_port)
    for path in changed:
        if path in (("page", "port"), ("page", "secure_port")) and page.port == page.secure_port:
            return path, get_text("setting-same-port")
        try:
            match path:
                case "page", "host":
                    _open_port(page.host, 0)
                case "page", "port" if page.port not in own_ports:
                    _open_port(page.host, page.port)
                case "page", "secure_port" if page.secure_port not in own_ports:
                    _open_port(page.host, page.secure_port)
                case "page", "certificate" | "key" if page.certificate and page.key:
                    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(page.certificate, page.key, password="")
                case "camera", "source" if camera.source.startswith(_FOLDER_CAMERA):
                    next(Path(camera.source.removeprefix(_FOLDER_CAMERA)).iterdir(), None)
                case "data", "folder" if folder := settings.data.folder:
                    folder.mkdir(parents=True, exist_ok=True)  # as the next start does
                    TemporaryFile(dir=folder).close()
        except (OSError, ValueError) as error:  # ssl.SSLError is an OSError, a wrong name of a host a ValueError
            if path == ("page", "host"):
                return path, get_text("setting-host", repr(page.host))
            value = getattr(getattr(settings, path[0]), path[1])
            return path, get_text("setting-unusable", str(value), getattr(error, "strerror", None) or str(error))
    return None


def _open_port(host: str, port: int) -> None:
    """Open a port of the page for a moment; port 0 stands for any free port. Raises `OSError`, `ValueError`."""
    socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET).close()
