"""The sheet of the table on the set-up page: players, tiles, word list, camera and colours of the board.

The owner fills it in at the first start. It has the settings that a family needs; all others are on the settings page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from flask import request
from werkzeug.datastructures import FileStorage

from device.cameras import is_camera_spec
from device.cameras.addresses import is_network_address
from device.cameras.listing import AvailableCamera, resolve_camera
from device.player_names import MAX_PLAYER_NAME_LENGTH, clean_name
from device.session.new_game import OWN_LEXICON, SHIPPED_LEXICON, list_own_lexicons
from device.settings import GameSettings
from device.settings_editor import SettingPath, SettingsForm, list_fields
from device.storage.lexicons import (
    NO_LEXICON,
    OwnLists,
    find_cache_folder,
    has_default_lexicon,
    save_uploaded_list,
)
from engine.lexicon import LexiconError
from engine.rules import MAX_PLAYERS, MIN_PLAYERS
from engine.tiles import load_tile_set, playable_tile_set_names
from web.i18n import texts
from web.pages.settings import LEXICON, SOURCE, TILES, WITHOUT_PICTURE, SettingsAccess
from web.word_lists import describe_default_lists, describe_own_lists

PLAYERS: SettingPath = ("game", "players")
COLOURS: SettingPath = ("page", "board_colours")
_FIELDS = (PLAYERS, TILES, LEXICON, SOURCE, COLOURS)
FOLDER, NETWORK = "folder", "network"
"""Choices of a camera with a field for its path or address."""
_FOLDER_PREFIX = "folder:"
_DEFAULT_PLAYERS = GameSettings().players


@dataclass(frozen=True)
class TableSheet:
    """The sheet over the settings of `access`; only the admin may see and save it."""

    access: SettingsAccess

    def read(self) -> SettingsForm:
        """Return the settings file as a form."""
        return self.access.editor.read()

    def save(self) -> SettingsForm:
        """Save the form of the request, and return it with its errors. Raises `SettingsError` and `OSError`."""
        shown = self.read()
        if shown.problem:
            return shown
        changes = {PLAYERS: _read_players(), TILES: request.form.get("tiles", ""), COLOURS: request.form["colours"]}
        source = self._read_source(resolve_camera(shown.texts[SOURCE]))
        if source is not None:
            changes[SOURCE] = source
        form = replace(shown, texts={**shown.texts, **changes})
        try:
            changes[LEXICON] = self._read_lexicon(form)
        except LexiconError as error:
            return replace(form, errors={LEXICON: texts().translate(error)})
        return self.access.editor.save(changes, request.form.get("version", ""))

    def find_other_problem(self, form: SettingsForm) -> str:
        """Return an error of the settings file that belongs to no field of the sheet, or an empty string."""
        others = (f"{'.'.join(path)}: {texts().translate(error)}" for path, error in form.errors.items())
        is_shown = all(path in _FIELDS for path in form.errors)
        return form.problem or ("" if is_shown else next(others))

    def describe(self, form: SettingsForm) -> Mapping[str, object]:
        """Return the values for the template; nothing if the settings file cannot be read."""
        if form.problem:
            return {}
        t, tiles = texts(), form.texts[TILES]
        names = tuple(form.texts[PLAYERS].splitlines())
        own_lists = describe_own_lists(list_own_lexicons(self._own_lists(form).find))
        colours = next(field for field in list_fields() if field.path == COLOURS)
        return {
            "names": ("",) * MAX_PLAYERS if names == _DEFAULT_PLAYERS else (*names, *[""] * MAX_PLAYERS)[:MAX_PLAYERS],
            "longest": MAX_PLAYER_NAME_LENGTH,
            "tiles": tiles,
            "tile_sets": sorted(((name, t(f"tiles.{name}")) for name in playable_tile_set_names()), key=lambda p: p[1]),
            "own_lists": own_lists,
            "default_lists": describe_default_lists(),
            "lexicon": _choose_lexicon(form, has_own=tiles in own_lists),
            "without_list": [name for name in playable_tile_set_names() if not has_default_lexicon(name)],
            **self._describe_camera(form),
            "without_picture": WITHOUT_PICTURE,
            "colours": [
                (name, t(f"{colours.texts}.{name}") if name else t("setup.own_colours")) for name in colours.choices
            ],
            "colour": form.texts[COLOURS],
            "wrong": {".".join(path): t.translate(error) for path, error in form.errors.items()},
            "version": form.version,
            "options": [option for path, option in self.access.editor.overrides.items() if path in _FIELDS],
        }

    def _describe_camera(self, form: SettingsForm) -> Mapping[str, object]:
        """Return the cameras and the chosen one; a wrong path or address is shown as it was entered."""
        source, where = resolve_camera(form.texts[SOURCE]), ""
        if SOURCE in form.errors:
            source, where = request.form.get("source", ""), form.texts[SOURCE]
        elif source.startswith(_FOLDER_PREFIX) or is_network_address(source):
            source, where = FOLDER if source.startswith(_FOLDER_PREFIX) else NETWORK, source
        return {
            "cameras": self._list_cameras(source),
            "camera": source,
            "where": {source: where.removeprefix(_FOLDER_PREFIX)},
        }

    def _list_cameras(self, chosen: str) -> Sequence[AvailableCamera]:
        """Return the cameras without a field: the connected ones and the chosen one first, then the phones."""
        found = [
            camera for camera in self.access.cameras.list_cameras() if not camera.source.startswith(_FOLDER_PREFIX)
        ]
        known = {FOLDER, NETWORK, *(camera.source for camera in found)}
        return found if chosen in known or not is_camera_spec(chosen) else (AvailableCamera(chosen, "", chosen), *found)

    def _read_source(self, shown: str) -> str | None:
        """Return the chosen camera, or None if it is the camera that the form has shown."""
        source = request.form.get("source", shown)
        if source == FOLDER:
            source = f"{_FOLDER_PREFIX}{request.form.get(FOLDER, '').strip()}"
        elif source == NETWORK:
            source = request.form.get(NETWORK, "").strip()
        return None if source == shown else source

    def _read_lexicon(self, form: SettingsForm) -> str:
        """Return the setting for the chosen word list, which may be uploaded now. Raises `LexiconError`, `OSError`."""
        tiles = form.texts[TILES]
        with closing(request.files.get("file", FileStorage())) as file:
            if file.filename and tiles in playable_tile_set_names():
                folder, tile_set = self.access.lexicon_folder, load_tile_set(tiles)
                return str(save_uploaded_list(file.filename, file.read(), folder, tile_set, find_cache_folder()))
        own = self._own_lists(form).find(tiles) if tiles in playable_tile_set_names() else None
        kinds = {NO_LEXICON: NO_LEXICON, OWN_LEXICON: str(own) if own else ""}
        return kinds.get(request.form.get("lexicon", ""), "")

    def _own_lists(self, form: SettingsForm) -> OwnLists:
        named = form.texts[LEXICON]
        return OwnLists(Path(named) if named not in ("", NO_LEXICON) else None, self.access.lexicon_folder)


def _read_players() -> str:
    """Return the names in the form, one in each line; a name that is missing among the first two is the default."""
    names = [clean_name(name) for name in request.form.getlist("players")[:MAX_PLAYERS]]
    names += [""] * (MIN_PLAYERS - len(names))
    first = [name or default for name, default in zip(names, _DEFAULT_PLAYERS, strict=False)]
    return "\n".join([*first, *filter(None, names[MIN_PLAYERS:])])


def _choose_lexicon(form: SettingsForm, *, has_own: bool) -> str:
    """Return the choice of the word list for the settings in a form."""
    named = form.texts[LEXICON]
    return NO_LEXICON if named == NO_LEXICON else OWN_LEXICON if named and has_own else SHIPPED_LEXICON
