"""Description of the machine for the web pages: panel, addresses, Wi-Fi, set-up problems."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from device.cameras import open_camera
from device.cameras.listing import AvailableCamera, list_cameras
from device.cameras.reconnecting import CameraPreview
from device.panel.buttons import Button
from device.settings_editor import SettingsEditor
from device.system.start_record import FailedPart
from device.system.wifi import Hotspot, NetworkManager
from engine.events import GameStarted

if TYPE_CHECKING:
    from device.hall.publishing.directed_table import DirectedTable
    from device.hall.publishing.publisher import HallPublisher
    from device.panel.panel import Panel


_LOCAL_ADDRESS = re.compile(r"https?://(localhost|127\.|\[::1\])")


@dataclass(frozen=True)
class SettingsAccess:
    """The settings that the page may change: the settings file, and the word lists in `lexicon_folder`.

    An uploaded list is stored for the language of its tiles. `restart` restarts the program after the response was
    sent. `list_cameras` returns the cameras that the admin can choose, and `preview` takes pictures with those that the
    table does not use. `find_new_version` returns a version newer than the
    program, or an empty string, and `find_failed_parts` the parts without which the program has started.
    """

    editor: SettingsEditor
    lexicon_folder: Path
    restart: Callable[[], None] = lambda: None
    list_cameras: Callable[[], Sequence[AvailableCamera]] = list_cameras
    preview: CameraPreview = field(default_factory=lambda: CameraPreview(open_camera))
    find_new_version: Callable[[], str] = str
    find_failed_parts: Callable[[], Sequence[FailedPart]] = tuple


@dataclass(frozen=True, slots=True)
class HostInfo:
    """Data about the machine that serves the web pages.

    - `panel`: None at a table without a panel, for example in the demo.
    - `find_problems`: returns sentences about missing or wrong configuration.
    - `addresses`: returns the page's URLs; the last is the best for phones. `names`: additional host names of the page
      (`web.security.hosts`). `find_secure_port`: returns the port of https, or None if there is only http.
    - `hotspot`: the Wi-Fi that the table opens if no known Wi-Fi is in range. `wifi`: name and password of the Wi-Fi
      that phones should join, from the settings, or None. `wifi_manager`: lets the table join a Wi-Fi; None if the
      program does not manage the network.
    - `settings`: access to the settings file; None for a table without one, such as the demo.
    - For problem reports: `examine` returns the output of `tilekeeper doctor`, `read_log` the log, and `find_version`
      the program's version.
    - `data_folder`: the folder of the games.
    - `board_colours`: the edition in whose colours the board is always drawn, or empty.
    - `language`: language of the page on devices without a chosen language, or empty. `table_name`: name of the table,
      or empty.
    - `is_new_table`: returns True at the first start, before anything was saved or played.
    - `find_new_game`: takes the number of the last game, and returns the game that the form of a new game suggests, or
      None if the form suggests a game like the last one.
    - `start_own_game`: ends the demo and starts the table; None if this is not the demo.
    - `hall`: the connection to a hall. `directed`: data from its director. Both are None if the table belongs to no
      hall.
    """

    panel: Panel | None = None
    wired_buttons: tuple[Button, ...] = ()
    find_problems: Callable[[], Sequence[str]] = tuple
    addresses: Callable[[], Sequence[str]] = tuple
    hotspot: Hotspot | None = None
    wifi: tuple[str, str] | None = None
    names: tuple[str, ...] = ()
    examine: Callable[[], str] = str
    read_log: Callable[[], str] = str
    find_version: Callable[[], str] = str
    data_folder: str = ""
    wifi_manager: NetworkManager | None = None
    settings: SettingsAccess | None = None
    find_secure_port: Callable[[], int | None] = lambda: None
    board_colours: str = ""
    language: str = ""
    table_name: str = ""
    is_new_table: Callable[[], bool] = lambda: False
    find_new_game: Callable[[int], GameStarted | None] = lambda _: None
    start_own_game: Callable[[], None] | None = None
    hall: HallPublisher | None = None
    directed: DirectedTable | None = None

    def find_phone_addresses(self) -> tuple[str, ...]:
        """Return the page's URLs that phones can open: those that are not only for this machine."""
        return tuple(address for address in self.addresses() if not is_local_address(address))


def is_local_address(url: str) -> bool:
    """Return True if only this machine can open the URL."""
    return _LOCAL_ADDRESS.match(url) is not None
