"""Page on which the admin changes the settings file, with live pictures of the cameras that can be chosen.

The sheet of the set-up page has the settings that a family needs: players, tiles, word list, camera, board colours.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from flask import Blueprint, Response, redirect, request
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import FileStorage

from device.cameras import is_camera_spec
from device.cameras.listing import AvailableCamera, is_network_address, resolve_camera
from device.capture.turn_images import encode_jpeg, shrink_image
from device.player_names import MAX_PLAYER_NAME_LENGTH, clean_name
from device.session.new_game import OWN_LEXICON, SHIPPED_LEXICON, list_own_lexicons
from device.session.rule_choices import list_option_texts
from device.settings import GameSettings
from device.settings_editor import (
    SettingField,
    SettingPath,
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
from engine.lexicon import LexiconError, describe_list, load_shipped_lexicon
from engine.rules import MAX_PLAYERS, MIN_PLAYERS
from engine.tiles import load_tile_set, playable_tile_set_names
from web.host_info import SettingsAccess
from web.i18n import languages, texts
from web.responses import refuse, render_page, require_admin, send_picture
from web.security.csrf import LEXICON_PATH
from web.served_table import table


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


SOURCE: SettingPath = ("camera", "source")
WITHOUT_PICTURE = ("phone", "folder:")
"""Beginnings of `camera.source` for cameras without a live picture: they give no picture before they are used."""
MAX_SIDE_PX = 960
"""Longer side of the live picture, in pixels."""
JPEG_QUALITY = 95


LEXICON: SettingPath = ("game", "lexicon")
"""The setting of the word list, for which the page offers installed and uploaded lists."""
TILES: SettingPath = ("game", "tiles")
LANGUAGE: SettingPath = ("page", "language")
MAIN_FIELDS = (("game", "players"), TILES, LEXICON, SOURCE, ("voice", "use"))
"""The settings that are always visible; the others are behind Advanced."""
_LIST_SAVED = "list"
"""Value of the query `saved` after a word list was uploaded; the page then says what was read from it."""
_log = logging.getLogger(__name__)


routes = Blueprint("settings", __name__, url_prefix="/settings")
routes.before_request(require_admin)


def get_access() -> SettingsAccess:
    """Return the access to the settings of the table. The settings pages exist only at a table with such an access."""
    assert table.host.settings is not None
    return table.host.settings


@routes.get("")
def show() -> Response:
    """Return the form with all settings."""
    return _render(get_access().editor.read())


@routes.post("")
def save() -> ResponseReturnValue:
    """Save the changed settings, or return the form with an error at its field."""
    fields = [field for field in list_fields() if field.name in request.form]
    changed = {field.path: request.form.getlist(field.name)[-1] for field in fields}
    if changed.get(LEXICON, "") not in _list_lexicons(get_access().editor.read()):
        return refuse(texts()("settings.unknown_lexicon"))
    return _respond(get_access().editor.save(changed, request.form.get("version", "")))


@routes.post(LEXICON_PATH.removeprefix("/settings"))
def upload_lexicon() -> ResponseReturnValue:
    """Save an uploaded word list, and choose this list in the settings."""
    editor = get_access().editor
    form = editor.read()
    tiles = form.texts.get(TILES, "")
    if tiles not in playable_tile_set_names():
        return refuse(texts()("settings.unknown_lexicon"))
    try:
        path = _save_uploaded_list(tiles)
    except LexiconError as error:
        return _render(replace(form, errors={LEXICON: texts().translate(error)}), 422)
    return _respond(editor.save({LEXICON: path}, form.version), _LIST_SAVED)


def _save_uploaded_list(tiles: str) -> str:
    """Save the word list in the form for a tile set, and return its path. Raises `LexiconError`, `OSError`."""
    folder, tile_set = get_access().lexicon_folder, load_tile_set(tiles)
    with closing(request.files.get("file", FileStorage())) as file:
        return str(save_uploaded_list(file.filename or "", file.read(), folder, tile_set, find_cache_folder()))


@routes.post("/source")
def save_source() -> ResponseReturnValue:
    """Save a settings file that was edited as text, because it has a mistake.

    If the new text has a mistake, too, return the form with this text and the mistake.
    """
    form = get_access().editor.save_source(request.form.get("source", ""), request.form.get("version", ""))
    return _respond(form)


@routes.post("/aside")
def set_aside() -> ResponseReturnValue:
    """Rename a file that could not be used at the start, and restart the program, which makes a new file."""
    wanted = request.form.get("part", "")
    file = next((part.file for part in get_access().find_failed_parts() if part.part == wanted), None)
    if file is None:
        return refuse(texts()("settings.open_again"))
    rename_aside(file)
    return restart()


@routes.post("/defaults")
def replace_by_defaults() -> ResponseReturnValue:
    """Replace an unreadable settings file by the default file."""
    if not get_access().editor.read().problem:
        return refuse(texts()("settings.open_again"))
    get_access().editor.replace_by_defaults()
    return redirect("/settings?saved", code=303)


@routes.post("/restart")
def restart() -> ResponseReturnValue:
    """Restart the program after the response was sent."""
    get_access().restart()
    return render_page("restart.html", goes_to="/settings")


@routes.get("/cameras/picture")
def send_camera_picture() -> ResponseReturnValue:
    """Return a new picture of a listed camera, or the reason why there is none."""
    source = request.args.get("source", "")
    in_use = resolve_camera(get_access().editor.running.camera.source)
    listed = {in_use, *(camera.source for camera in get_access().list_cameras())}
    if source.startswith(WITHOUT_PICTURE) or source not in listed:
        return refuse(texts()("cameras.gone"), 404)
    preview = get_access().preview
    image = table.session.capture_still() if source == in_use else preview.take_picture(source)
    return send_picture(encode_jpeg(shrink_image(image, MAX_SIDE_PX), JPEG_QUALITY), "no-store")


def _respond(form: SettingsForm, saved: str = "") -> ResponseReturnValue:
    if form.errors or form.problem:
        return _render(form, 422)
    return redirect(f"/settings?saved={saved}".rstrip("="), code=303)


def _render(form: SettingsForm, status: int = 200) -> Response:
    editor = get_access().editor
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
        failed_parts=get_access().find_failed_parts(),
        overrides=editor.overrides,
        lexicon=LEXICON,
        camera=SOURCE,
        rule_choices=list_option_texts(),
        named={LEXICON: _list_lexicons(form), LANGUAGE: _list_languages(), TILES: _list_tile_sets(form)},
        lexicon_path=LEXICON_PATH,
        pending=editor.list_pending(),
        path=editor.path,
        saved="saved" in request.args,
        list_report=_describe_chosen_list(form) if request.args.get("saved") == _LIST_SAVED else (),
        new_version=get_access().find_new_version(),
    )
    response.status_code = status
    return response


def _list_lexicons(form: SettingsForm) -> Mapping[str, str]:
    """Return the values that are allowed for the setting of the word list, with their names."""
    t, lists = texts(), OwnLists(folder=get_access().lexicon_folder)
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


@routes.errorhandler(OSError)
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


def save_sheet() -> SettingsForm:
    """Save the form of the request, and return it with its errors. Raises `SettingsError` and `OSError`."""
    shown = get_access().editor.read()
    if shown.problem:
        return shown
    changes = {PLAYERS: _read_players(), TILES: request.form.get("tiles", ""), COLOURS: request.form["colours"]}
    source = _read_source(resolve_camera(shown.texts[SOURCE]))
    if source is not None:
        changes[SOURCE] = source
    form = replace(shown, texts={**shown.texts, **changes})
    try:
        changes[LEXICON] = _read_lexicon(form)
    except LexiconError as error:
        return replace(form, errors={LEXICON: texts().translate(error)})
    return get_access().editor.save(changes, request.form.get("version", ""))


def find_other_problem(form: SettingsForm) -> str:
    """Return an error of the settings file that belongs to no field of the sheet, or an empty string."""
    others = (f"{'.'.join(path)}: {texts().translate(error)}" for path, error in form.errors.items())
    is_shown = all(path in _FIELDS for path in form.errors)
    return form.problem or ("" if is_shown else next(others))


def describe_sheet(form: SettingsForm) -> Mapping[str, object]:
    """Return the values for the template; nothing if the settings file cannot be read."""
    if form.problem:
        return {}
    t, tiles = texts(), form.texts[TILES]
    names = tuple(form.texts[PLAYERS].splitlines())
    own_lists = describe_own_lists(list_own_lexicons(_own_lists(form).find))
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
        **_describe_camera(form),
        "without_picture": WITHOUT_PICTURE,
        "colours": [
            (name, t(f"{colours.texts}.{name}") if name else t("setup.own_colours")) for name in colours.choices
        ],
        "colour": form.texts[COLOURS],
        "wrong": {".".join(path): t.translate(error) for path, error in form.errors.items()},
        "version": form.version,
        "options": [option for path, option in get_access().editor.overrides.items() if path in _FIELDS],
    }


def _describe_camera(form: SettingsForm) -> Mapping[str, object]:
    """Return the cameras and the chosen one; a wrong path or address is shown as it was entered."""
    source, where = resolve_camera(form.texts[SOURCE]), ""
    if SOURCE in form.errors:
        source, where = request.form.get("source", ""), form.texts[SOURCE]
    elif source.startswith(_FOLDER_PREFIX) or is_network_address(source):
        source, where = FOLDER if source.startswith(_FOLDER_PREFIX) else NETWORK, source
    return {
        "cameras": _list_cameras(source),
        "camera": source,
        "where": {source: where.removeprefix(_FOLDER_PREFIX)},
    }


def _list_cameras(chosen: str) -> Sequence[AvailableCamera]:
    """Return the cameras that need no path or address: the connected ones and the chosen one, then the phones."""
    found = [camera for camera in get_access().list_cameras() if not camera.source.startswith(_FOLDER_PREFIX)]
    known = {FOLDER, NETWORK, *(camera.source for camera in found)}
    return found if chosen in known or not is_camera_spec(chosen) else (AvailableCamera(chosen, "", chosen), *found)


def _read_source(shown: str) -> str | None:
    """Return the chosen camera, or None if it is the camera that the form has shown."""
    source = request.form.get("source", shown)
    if source == FOLDER:
        source = f"{_FOLDER_PREFIX}{request.form.get(FOLDER, '').strip()}"
    elif source == NETWORK:
        source = request.form.get(NETWORK, "").strip()
    return None if source == shown else source


def _read_lexicon(form: SettingsForm) -> str:
    """Return the setting for the chosen word list, which may be uploaded now. Raises `LexiconError`, `OSError`."""
    tiles, uploaded = form.texts[TILES], request.files.get("file")
    if tiles not in playable_tile_set_names():
        own = None
    elif uploaded and uploaded.filename:
        return _save_uploaded_list(tiles)
    else:
        own = _own_lists(form).find(tiles)
    kinds = {NO_LEXICON: NO_LEXICON, OWN_LEXICON: str(own) if own else ""}
    return kinds.get(request.form.get("lexicon", ""), "")


def _own_lists(form: SettingsForm) -> OwnLists:
    named = form.texts[LEXICON]
    return OwnLists(Path(named) if named not in ("", NO_LEXICON) else None, get_access().lexicon_folder)


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
