"""Page on which the admin changes the settings file, with live pictures of the cameras that can be chosen.

The sheet of the set-up page has the settings that a family needs: players, tiles, word list, camera, board colours.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from flask import Blueprint, Response, redirect, request
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import FileStorage

from device.cameras import CameraError, is_camera_spec, open_camera
from device.cameras.listing import AvailableCamera, is_network_address, list_cameras, resolve_camera
from device.cameras.reconnecting import CameraPreview
from device.capture.turn_images import encode_jpeg, shrink_image
from device.player_names import MAX_PLAYER_NAME_LENGTH, clean_name
from device.session.new_game import OWN_LEXICON, SHIPPED_LEXICON, list_own_lexicons
from device.session.rule_choices import list_option_texts
from device.session.table_session import TableSession
from device.settings import GameSettings, SettingsError
from device.settings_editor import (
    SettingField,
    SettingPath,
    SettingsChangedError,
    SettingsEditor,
    SettingsForm,
    list_fields,
)
from device.storage.files import rename_aside
from device.storage.lexicons import (
    NO_LEXICON,
    OwnLists,
    count_words,
    find_cache_folder,
    find_system_lists,
    has_default_lexicon,
    open_lexicon,
    save_uploaded_list,
)
from device.system.start_record import FailedPart
from engine.lexicon import LexiconError, describe_list, load_shipped_lexicon
from engine.rules import MAX_PLAYERS, MIN_PLAYERS
from engine.tiles import load_tile_set, playable_tile_set_names
from web.i18n import languages, texts
from web.responses import refuse, render_page, require_admin, send_picture
from web.security.csrf import LEXICON_PATH
from web.security.pairing import Pairing


def describe_word_list(path: Path, language: str) -> str:
    """Return the name of a list with its language (the name of a tile set) and its number of words."""
    count = count_words(path, language, find_cache_folder())
    return path.stem if count is None else _describe(path.stem, language, count)


def _describe(name: str, language: str, count: int) -> str:
    t, number = texts(), f"{count:,}".replace(",", "\u202f")
    return t("new.list", name=name, language=t(f"tiles.{language}"), count=count, number=number)


def describe_default_lists() -> Mapping[str, str]:
    """Return the descriptions of the lists in the package by tile set."""
    name = texts()("new.included_list")
    shipped = {tile_set: load_shipped_lexicon(tile_set) for tile_set in playable_tile_set_names()}
    return {tile_set: _describe(name, tile_set, len(words)) for tile_set, words in shipped.items() if words}


def describe_own_lists(lists: Mapping[str, Path]) -> Mapping[str, str]:
    """Return the descriptions of the owner's lists by tile set; of a list for several languages, only the name."""
    languages: dict[Path, set[str]] = {}
    for tile_set, path in lists.items():
        languages.setdefault(path, set()).add(load_tile_set(tile_set).language_code)
    described = {
        path: describe_word_list(path, next(iter(codes))) if len(codes) == 1 else path.stem
        for path, codes in languages.items()
    }
    return {tile_set: described[path] for tile_set, path in lists.items()}


CAMERAS_PATH = "/cameras"
"""Path of the cameras, appended to `/settings`."""
SOURCE: SettingPath = ("camera", "source")
WITHOUT_PICTURE = ("phone", "folder:")
"""Beginnings of `camera.source` for cameras without a live picture: they give no picture before they are used."""
MAX_SIDE_PX = 960
"""Longer side of the live picture, in pixels."""
JPEG_QUALITY = 95


@dataclass(frozen=True)
class CameraChoice:
    """The cameras that can be chosen, and previews of those that the table does not use."""

    list_cameras: Callable[[], Sequence[AvailableCamera]] = list_cameras
    preview: CameraPreview = dataclasses.field(default_factory=lambda: CameraPreview(open_camera))


LEXICON: SettingPath = ("game", "lexicon")
"""The setting of the word list, for which the page offers installed and uploaded lists."""
TILES: SettingPath = ("game", "tiles")
LANGUAGE: SettingPath = ("page", "language")
MAIN_FIELDS = (("game", "players"), TILES, LEXICON, SOURCE, ("voice", "use"))
"""The settings that are always visible; the others are behind Advanced."""
_LIST_SAVED = "list"
"""Value of the query `saved` after a word list was uploaded; the page then says what was read from it."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SettingsAccess:
    """The settings that the page may change: the settings file, and the word lists in `lexicon_folder`.

    An uploaded list is stored for the language of its tiles. `restart` restarts the program after the response was
    sent. `cameras` are the cameras that the admin can choose. `find_new_version` returns a version newer than the
    program, or an empty string, and `find_failed_parts` the parts without which the program has started.
    """

    editor: SettingsEditor
    lexicon_folder: Path
    restart: Callable[[], None] = lambda: None
    cameras: CameraChoice = dataclasses.field(default_factory=CameraChoice)
    find_new_version: Callable[[], str] = str
    find_failed_parts: Callable[[], Sequence[FailedPart]] = tuple


def create_blueprint(access: SettingsAccess, pairing: Pairing, session: TableSession) -> Blueprint:
    """Return the routes `/settings` and below, which only the admin may use."""
    routes = Blueprint("settings", __name__, url_prefix="/settings")
    routes.before_request(lambda: require_admin(pairing))
    routes.register_error_handler(SettingsChangedError, lambda _: refuse(texts()("settings.open_again")))
    routes.register_error_handler(SettingsError, lambda error: refuse(texts().translate(error)))
    routes.register_error_handler(OSError, refuse_write)
    pages = SettingsPages(access, session)
    routes.get("")(pages.show)
    routes.post("")(pages.save)
    routes.post("/source")(pages.save_source)
    routes.post("/defaults")(pages.replace_by_defaults)
    routes.post("/aside")(pages.set_aside)
    routes.post(LEXICON_PATH.removeprefix("/settings"))(pages.upload_lexicon)
    routes.post("/restart")(pages.restart)
    routes.get(CAMERAS_PATH, endpoint="cameras")(lambda: redirect("/setup#step-table"))
    routes.get(f"{CAMERAS_PATH}/picture")(pages.send_camera_picture)
    return routes


@dataclass(frozen=True)
class SettingsPages:
    """The view functions for the settings."""

    access: SettingsAccess
    session: TableSession

    def show(self) -> Response:
        """Return the form with all settings."""
        return self._render(self.access.editor.read())

    def save(self) -> ResponseReturnValue:
        """Save the changed settings, or return the form with an error at its field."""
        fields = [field for field in list_fields() if field.name in request.form]
        changed = {field.path: request.form.getlist(field.name)[-1] for field in fields}
        if changed.get(LEXICON, "") not in self._list_lexicons(self.access.editor.read()):
            return refuse(texts()("settings.unknown_lexicon"))
        return self._respond(self.access.editor.save(changed, request.form.get("version", "")))

    def upload_lexicon(self) -> ResponseReturnValue:
        """Save an uploaded word list, and choose this list in the settings."""
        editor = self.access.editor
        form = editor.read()
        tiles = form.texts.get(TILES, "")
        if tiles not in playable_tile_set_names():
            return refuse(texts()("settings.unknown_lexicon"))
        with closing(request.files.get("file", FileStorage())) as file:
            try:
                path = save_uploaded_list(
                    file.filename or "",
                    file.read(),
                    self.access.lexicon_folder,
                    load_tile_set(tiles),
                    find_cache_folder(),
                )
            except LexiconError as error:
                return self._render(replace(form, errors={LEXICON: texts().translate(error)}), 422)
        return self._respond(editor.save({LEXICON: str(path)}, form.version), _LIST_SAVED)

    def save_source(self) -> ResponseReturnValue:
        """Save the text of a settings file that has a mistake, or return it with the next mistake."""
        form = self.access.editor.save_source(request.form.get("source", ""), request.form.get("version", ""))
        return self._respond(form)

    def set_aside(self) -> ResponseReturnValue:
        """Rename a file that could not be used at the start, and restart, which makes a new one."""
        wanted = request.form.get("part", "")
        file = next((part.file for part in self.access.find_failed_parts() if part.part == wanted), None)
        if file is None:
            return refuse(texts()("settings.open_again"))
        rename_aside(file)
        return self.restart()

    def replace_by_defaults(self) -> ResponseReturnValue:
        """Replace an unreadable settings file by the default file."""
        if not self.access.editor.read().problem:
            return refuse(texts()("settings.open_again"))
        self.access.editor.replace_by_defaults()
        return redirect("/settings?saved", code=303)

    def restart(self) -> ResponseReturnValue:
        """Restart the program after the response was sent."""
        self.access.restart()
        return render_page("restart.html", goes_to="/settings")

    def send_camera_picture(self) -> ResponseReturnValue:
        """Return a new picture of a listed camera, or the reason why there is none."""
        source = request.args.get("source", "")
        in_use = resolve_camera(self.access.editor.running.camera.source)
        listed = {in_use, *(camera.source for camera in self.access.cameras.list_cameras())}
        if source.startswith(WITHOUT_PICTURE) or source not in listed:
            return refuse(texts()("cameras.gone"), 404)
        try:
            image = (
                self.session.capture_still() if source == in_use else self.access.cameras.preview.take_picture(source)
            )
        except CameraError as error:
            return refuse(texts().translate(error))
        return send_picture(encode_jpeg(shrink_image(image, MAX_SIDE_PX), JPEG_QUALITY), "no-store")

    def _respond(self, form: SettingsForm, saved: str = "") -> ResponseReturnValue:
        if form.errors or form.problem:
            return self._render(form, 422)
        return redirect(f"/settings?saved={saved}".rstrip("="), code=303)

    def _render(self, form: SettingsForm, status: int = 200) -> Response:
        editor = self.access.editor
        sections: dict[str, list[SettingField]] = {}
        for one in list_fields():
            if one.path not in MAIN_FIELDS:
                sections.setdefault(one.section, []).append(one)
        response = render_page(
            "settings.html",
            form=form,
            refusal=texts()("settings.nothing_saved") if form.errors else "",
            main_fields=[one for one in list_fields() if one.path in MAIN_FIELDS],
            sections=sections,
            failed_parts=self.access.find_failed_parts(),
            overrides=editor.overrides,
            lexicon=LEXICON,
            camera=SOURCE,
            rule_choices=list_option_texts(),
            named={LEXICON: self._list_lexicons(form), LANGUAGE: _list_languages(), TILES: _list_tile_sets(form)},
            lexicon_path=LEXICON_PATH,
            pending=editor.list_pending(),
            path=editor.path,
            saved="saved" in request.args,
            list_report=_describe_chosen_list(form) if request.args.get("saved") == _LIST_SAVED else (),
            new_version=self.access.find_new_version(),
        )
        response.status_code = status
        return response

    def _list_lexicons(self, form: SettingsForm) -> Mapping[str, str]:
        """Return the values that are allowed for the setting of the word list, with their names."""
        t, lists = texts(), OwnLists(folder=self.access.lexicon_folder)
        uploads = {str(path): describe_word_list(path, lists.find_language(path)) for path in lists.list_uploads()}
        installed = {str(path): path.stem for path in find_system_lists()}
        current, none = form.texts.get(LEXICON, ""), t("new.lexicon_none")
        return {current: current, "": t("new.lexicon_shipped"), **uploads, **installed, NO_LEXICON: none}


def _describe_chosen_list(form: SettingsForm) -> Sequence[str]:
    """Return what was read from the word list in the settings, or why it cannot be read."""
    try:
        lexicon = open_lexicon(form.texts.get(LEXICON) or None, form.texts[TILES], find_cache_folder())
    except LexiconError as error:
        return (str(error),)
    return describe_list(lexicon) if lexicon else ()


def _list_languages() -> Mapping[str, str]:
    """Return the values that are allowed for the setting of the language, each with the language's own name."""
    names = {code: language("name") for code, language in languages().items()}
    return {"": texts()("settings.default"), **_sort_by_name(names)}


def _list_tile_sets(form: SettingsForm) -> Mapping[str, str]:
    """Return the values that are allowed for the setting of the tiles, with their names, sorted by name."""
    current = form.texts.get(TILES, "")
    names = {code: texts()(f"tiles.{code}") for code in playable_tile_set_names()}
    return _sort_by_name({**({} if current in names else {current: current}), **names})


def _sort_by_name(names: Mapping[str, str]) -> Mapping[str, str]:
    return dict(sorted(names.items(), key=lambda item: item[1].casefold()))


def refuse_write(error: Exception) -> Response:
    """Return the response if the settings file cannot be written."""
    reason = getattr(error, "strerror", None) or error
    _log.warning("the settings cannot be saved: %s", error)
    return refuse(texts()("settings.not_written", reason=reason), 500)


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
    """Return the names in the form, one in each line. A default name replaces each of the first two that is missing."""
    names = [clean_name(name) for name in request.form.getlist("players")[:MAX_PLAYERS]]
    names += [""] * (MIN_PLAYERS - len(names))
    first = [name or default for name, default in zip(names, _DEFAULT_PLAYERS, strict=False)]
    return "\n".join([*first, *filter(None, names[MIN_PLAYERS:])])


def _choose_lexicon(form: SettingsForm, *, has_own: bool) -> str:
    """Return the choice of the word list for the settings in a form."""
    named = form.texts[LEXICON]
    return NO_LEXICON if named == NO_LEXICON else OWN_LEXICON if named and has_own else SHIPPED_LEXICON
