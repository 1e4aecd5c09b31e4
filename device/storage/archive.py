"""Export and import of games: as GCG for other programs, or as ZIP with all events and pictures.

Imported files are not trusted. ZIP files are never unpacked to disk; only members with expected names are read, each up
to a limit of bytes. A game is imported only if all events have the right types and can be replayed.
"""

from __future__ import annotations

import io
import re
import threading
import time
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import fields, replace
from functools import cache
from itertools import accumulate, chain
from typing import Annotated, Any, BinaryIO, get_type_hints

import msgspec
from msgspec import Meta
from PIL import Image, UnidentifiedImageError

from device.catalogue import get_text
from device.player_names import MAX_PLAYER_NAME_LENGTH, is_displayable, remove_invisible
from device.storage.errors import ArchiveError, GameNotFoundError
from device.storage.game_log import UNREADABLE_GAME_ERRORS, read_ledger, write_ledger
from device.storage.statistics import SummaryCache
from device.storage.store import MAX_PICTURE_BYTES, EventBody, GameStore, StoredEvent, StoredGame, StoredPicture
from engine.errors import NotationError, RulesError
from engine.events import (
    Act,
    Challenged,
    Edit,
    Event,
    GameStarted,
    PlayerRenamed,
    PlayMade,
    PlayWithdrawn,
    Ref,
    ScoreCorrected,
    TurnCorrected,
    TurnInserted,
)
from engine.game import Game
from engine.gcg import build_game, build_record, format_gcg, parse_gcg, replay
from engine.ledger import Entry, Ledger, Note, Source, Step
from engine.lexicon import load_shipped_lexicon
from engine.limits import (
    MAX_ARCHIVE_DIRECTORY_BYTES,
    MAX_ARCHIVE_GAME_BYTES,
    MAX_ARCHIVE_UNPACKED_BYTES,
    MAX_GCG_BYTES,
    MAX_GCG_LINE_CHARS,
    MAX_PICTURE_SIDE_PX,
)
from engine.rules import UnplayedRule

GAME_MEMBER = "game.json"
FORMAT_NAME = "tilekeeper-game"
FORMAT_VERSION = 2
MAX_EVENTS = 2_000
MAX_STEPS = 10_000
"""Maximum number of steps (acts, edits and notes) in the entries of an imported game, all alternatives included."""
MAX_REPLAY_STEPS = 40_000
"""Maximum work that edits and plays which do not count may cause in an imported game (`_count_replay_steps`).

A game with thirty corrections has about 5,000 steps.
"""
MAX_NUMBER = 100_000_000
MAX_ITEMS = 500
"""Largest length of a list in an event, such as the tiles of a rack or the words of a challenge."""
MAX_TEXT_LENGTH = 1_000
MAX_REASON_LENGTH = 120
"""Largest length of the reason in a message about an invalid game."""
MAX_RECORD_LINES = 10_000
"""Largest number of lines of a GCG file in an event `RecordImported`; annotated games have long notes."""
PICTURE_MEMBER = re.compile(r"pictures/([0-9]{1,5})-(board|photo|question)\.jpg")
"""Pattern of the name of a picture in a ZIP: the number of its event, and its kind."""

_ZIP_ERRORS = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,  # a member that needs a later version of ZIP
    OSError,
    ValueError,
)
_ZIP_END, _ZIP64_LOCATOR = b"PK\5\6", b"PK\6\7"
_ZIP_END_BYTES = 22
_DIRECTORY_SIZE_FIELD = slice(12, 16)
"""Bytes of the end record of a ZIP with the size of the central directory."""
_MAX_ZIP_END_BYTES = _ZIP_END_BYTES + 65_535
"""Largest size of the end record of a ZIP with its comment, in bytes."""
_MIN_ZIP_DATE, _MAX_ZIP_DATE = (1980, 1, 1, 0, 0, 0), (2107, 12, 31, 23, 59, 58)
"""Earliest and latest date that ZIP files can contain."""


def name_picture(number: int, kind: str) -> str:
    """Return the name, in a ZIP, of the picture of an event.

    >>> name_picture(12, "board")
    'pictures/00012-board.jpg'
    """
    return f"pictures/{number:05}-{kind}.jpg"


# Writing


def generate_zip(members: Iterable[tuple[str, bytes]], moment: float) -> Iterator[bytes]:
    """Return an iterator over the data of a ZIP file.

    `members` are names and contents. `moment` (seconds since 1970) is the date of all members; a date that ZIP files
    cannot contain is replaced by the nearest possible one, because the clock may be wrong. Only one member is in memory
    at a time. Pictures are not compressed again.
    """
    outlet = _ZipBuffer()
    date = min(max(_MIN_ZIP_DATE, time.localtime(moment)[:6]), _MAX_ZIP_DATE)
    with zipfile.ZipFile(outlet, "w") as archive:
        for name, data in members:
            info = zipfile.ZipInfo(name, date)
            info.external_attr = 0o644 << 16
            archive.writestr(info, data, zipfile.ZIP_STORED if name.endswith(".jpg") else zipfile.ZIP_DEFLATED)
            yield outlet.take_bytes()
    yield outlet.take_bytes()


class _ZipBuffer(io.RawIOBase):
    """A write-only, non-seekable file in memory for `zipfile`; `take_bytes` returns and removes its contents."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._parts.append(bytes(data))
        return len(self._parts[-1])

    def take_bytes(self) -> bytes:
        taken, self._parts = b"".join(self._parts), []
        return taken


# Reading


class ZipMembers:
    """The members of an open ZIP file by name. A member that is larger than a limit raises `ArchiveError` when read."""

    def __init__(self, archive: zipfile.ZipFile, members: Mapping[str, zipfile.ZipInfo]) -> None:
        self._archive = archive
        self._members = members
        found = map(PICTURE_MEMBER.fullmatch, members)
        self._pictures = {(int(match[1]), match[2]): match[0] for match in found if match}

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def list_pictures(self) -> list[tuple[int, str]]:
        """Return the event number and the kind of each picture."""
        return list(self._pictures)

    def read(self, name: str, max_bytes: int) -> bytes:
        """Return the data of a member. Raises `ArchiveError` if it has more than `max_bytes` bytes."""
        with self._archive.open(self._members[name]) as member:
            data = member.read(max_bytes + 1)
        if len(data) > max_bytes:
            raise ArchiveError(get_text("zip-part-large", name, max_bytes // 1000))
        return data

    def read_picture(self, number: int, kind: str, max_bytes: int) -> bytes:
        """Return the JPEG data of an event's picture.

        Raises `ArchiveError` if the picture has more than `max_bytes` bytes, is not a JPEG, or is wider or higher than
        `MAX_PICTURE_SIDE_PX`. This is checked because browsers will show the picture.
        """
        name = self._pictures[number, kind]
        jpeg = self.read(name, max_bytes)
        with suppress(UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
            side = max(Image.open(io.BytesIO(jpeg), formats=["JPEG"]).size)  # from the header, without decoding
            if side <= MAX_PICTURE_SIDE_PX:
                return jpeg
        raise ArchiveError(get_text("zip-picture", name, MAX_PICTURE_SIDE_PX))


@contextmanager
def open_zip(file: BinaryIO, is_member: Callable[[str], bool]) -> Iterator[ZipMembers]:
    """Open a ZIP file with a game. The function `is_member` returns True for names that are allowed in the file.

    Raises `ArchiveError` if the file is no ZIP file with a game, or if a damaged member is read in the `with` block.
    """
    try:
        _check_directory(file)
        with zipfile.ZipFile(file) as archive:
            yield ZipMembers(archive, _check_members(archive, is_member))
    except _ZIP_ERRORS as error:
        raise ArchiveError(get_text("zip-none", error)) from error


def _check_directory(file: BinaryIO) -> None:
    """Raise `ArchiveError` if the central directory of a ZIP is larger than that of any exported game.

    `ZipFile` reads the whole directory into memory. The size of the directory is in the end record of the file
    (https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, 4.3.16).
    """
    file.seek(max(0, file.seek(0, io.SEEK_END) - _MAX_ZIP_END_BYTES))
    end = file.read()
    file.seek(0)
    directory_bytes = 0
    if (start := end.rfind(_ZIP_END)) >= 0:
        record = end[start : start + _ZIP_END_BYTES]
        if len(record) < _ZIP_END_BYTES:  # a signature inside a comment would hide the size of the directory
            raise zipfile.BadZipFile("the record at its end is incomplete")
        directory_bytes = int.from_bytes(record[_DIRECTORY_SIZE_FIELD], "little")
    if directory_bytes > MAX_ARCHIVE_DIRECTORY_BYTES or _ZIP64_LOCATOR in end:
        raise ArchiveError(get_text("zip-many", MAX_ARCHIVE_DIRECTORY_BYTES // 1000))


def _check_members(archive: zipfile.ZipFile, is_member: Callable[[str], bool]) -> dict[str, zipfile.ZipInfo]:
    """Return the members of a ZIP by name.

    Raises `ArchiveError` in these cases: an unexpected member, a name that occurs twice, encrypted data, an unknown
    compression, a total size above the limit, no `game.json`.
    """
    members: dict[str, zipfile.ZipInfo] = {}
    for info in archive.infolist():
        if not is_member(info.filename):
            raise ArchiveError(get_text("zip-strange", repr(info.filename[:60])))
        if info.filename in members:
            raise ArchiveError(get_text("zip-twice", info.filename))
        if info.flag_bits & 0x1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ArchiveError(get_text("zip-packed"))
        members[info.filename] = info
    if sum(info.file_size for info in members.values()) > MAX_ARCHIVE_UNPACKED_BYTES:
        raise ArchiveError(get_text("zip-large", MAX_ARCHIVE_UNPACKED_BYTES // 1_000_000))
    if GAME_MEMBER not in members:
        raise ArchiveError(get_text("zip-empty", GAME_MEMBER))
    return members


_Time = Annotated[float, Meta(ge=0, lt=1e11)]
"""A time in seconds since 1970."""


class _Header(msgspec.Struct):
    form: str
    version: int


class _Row(msgspec.Struct):
    time: _Time
    event: dict[str, Any]


class _GameFile(msgspec.Struct):
    """Contents of `game.json`, the member of a ZIP archive with the events of a game."""

    started: _Time
    events: Annotated[list[_Row], Meta(min_length=1, max_length=MAX_EVENTS)]


def encode_game(stored: StoredGame, events: Iterable[StoredEvent]) -> bytes:
    """Return the contents of `game.json` for a stored game."""
    entries = [{"time": event.time, "event": event.body} for event in events]
    whole = {"form": FORMAT_NAME, "version": FORMAT_VERSION, "started": stored.started, "events": entries}
    return msgspec.json.format(msgspec.json.encode(whole), indent=1)


def decode_game(data: bytes) -> tuple[float, tuple[StoredEvent, ...]]:
    """Return the start time and the events of the game in a `game.json`.

    Raises `ArchiveError` if the events are invalid or cannot be replayed.
    """
    try:
        header = msgspec.json.decode(data, type=_Header)
        if header.form == FORMAT_NAME and header.version > FORMAT_VERSION:
            raise ArchiveError(get_text("zip-newer", GAME_MEMBER))
        if header.form == FORMAT_NAME and 0 < header.version < FORMAT_VERSION:
            raise ArchiveError(get_text("zip-older", GAME_MEMBER))
        if header.form != FORMAT_NAME or header.version != FORMAT_VERSION:
            raise ArchiveError(get_text("zip-form", GAME_MEMBER, repr(header.form), repr(header.version)))
        whole = msgspec.json.decode(data, type=_GameFile)
        ledger = parse_ledger([row.event for row in whole.events])
    except UNREADABLE_GAME_ERRORS as error:
        reason = "".join(letter if letter.isprintable() else "?" for letter in str(error)[:MAX_REASON_LENGTH])
        raise ArchiveError(get_text("zip-no-game", GAME_MEMBER, type(error).__name__, reason)) from error
    bodies = write_ledger(ledger)  # only the fields that this program knows
    return whole.started, tuple(
        StoredEvent(number, row.time, body) for number, (row, body) in enumerate(zip(whole.events, bodies, strict=True))
    )


def parse_ledger(bodies: Iterable[EventBody]) -> Ledger:
    """Return the ledger of a game from data that is not trusted, after a check of types, sizes and work.

    Raises `ArchiveError`, or any of `UNREADABLE_GAME_ERRORS`.
    """
    bodies = tuple(bodies)
    for body in bodies:
        try:
            _check_sizes(body)
        except ValueError as error:
            raise ArchiveError(get_text("zip-values", repr(body.get("kind")))) from error
    ledger = read_ledger(bodies)
    _check_ledger(ledger)
    _ = ledger.game  # raises for impossible acts
    return ledger


def _check_ledger(ledger: Ledger) -> None:
    """Raise `ArchiveError` if the entries have wrong types, or too many steps, or name players who do not play."""
    steps = tuple(step for entry in ledger.entries for steps in entry.alternatives for step in steps)
    if len(steps) > MAX_STEPS or _count_replay_steps(steps) > MAX_REPLAY_STEPS:
        raise ArchiveError(get_text("zip-corrections"))
    for event in (ledger.setup, *steps):
        try:
            _check_types(event)
        except ValueError as error:
            raise ArchiveError(get_text("zip-values", repr(event.kind))) from error
    seats = range(len(ledger.setup.players))
    named = chain.from_iterable(map(_find_named_players, (ledger.setup, *steps)))
    entered = (entry.seat for entry in ledger.entries if entry.seat is not None)
    if any(player not in seats for player in chain(named, entered)):
        raise ArchiveError(get_text("zip-player"))
    if any(len(entry.clocks or seats) != len(seats) for entry in ledger.entries):
        raise ArchiveError(get_text("zip-player"))
    names = [step.name for step in steps if isinstance(step, PlayerRenamed)]
    if not all(0 < len(name) <= MAX_PLAYER_NAME_LENGTH for name in (*ledger.setup.players, *names)):
        raise ArchiveError(get_text("zip-name", MAX_PLAYER_NAME_LENGTH))


@cache
def _list_types(kind: type) -> Mapping[str, Any]:
    """Return the declared types of an event's fields. The result is cached, because evaluating annotations is slow."""
    return get_type_hints(kind)


def _check_types(event: GameStarted | Step) -> None:
    """Raise `ValueError` if a field of an event has another type than declared; the engine does not check types."""
    event_type: type = type(event)
    kinds = _list_types(event_type)
    for field in fields(event):
        if field.name != "event":  # msgspec does not support unions of dataclasses
            msgspec.convert(msgspec.to_builtins(getattr(event, field.name)), kinds[field.name])
    if (inner := _find_inner_event(event)) is not None:
        _check_types(inner)


def _find_inner_event(event: object) -> Act | None:
    """Return the act inside an edit: that of a corrected or an inserted turn."""
    return event.event if isinstance(event, TurnCorrected | TurnInserted) else None


def _check_sizes(value: object, name: str = "") -> None:
    """Raise `ValueError` if a number, text or list in an event is too large for a real game."""
    is_valid = True
    if isinstance(value, dict):
        for key, inner in value.items():
            _check_sizes(inner, key)
    elif isinstance(value, list | tuple):
        is_valid = len(value) <= (MAX_RECORD_LINES if name == "lines" else MAX_ITEMS)
        for inner in value:
            _check_sizes(inner, name)
    elif isinstance(value, str):
        longest = MAX_GCG_LINE_CHARS if name == "lines" else MAX_TEXT_LENGTH
        is_valid = len(value) <= longest and all(map(is_displayable, value))
    elif isinstance(value, int | float):
        smallest = -MAX_NUMBER if name in ("score", "points") else 0
        is_valid = smallest <= value <= (MAX_ITEMS if name in ("count", "rack_size") else MAX_NUMBER)
    if not is_valid:
        raise ValueError(f"{name} is {value!r:.60}")


def _count_replay_steps(steps: Iterable[Step]) -> int:
    """Return the work of computing the game, besides that of its acts, in acts and tiles.

    Each edit looks for its act among those before it. For a play that does not count, all other plays are examined.
    """
    acts = [step for step in steps if not isinstance(step, Note)]
    sizes = list(map(_measure_act, acts))
    edits = sum(before for step, before in zip(acts, accumulate(sizes), strict=True) if isinstance(step, Edit))
    return edits + sum(bool(getattr(step, "unlisted", ())) for step in acts) * sum(sizes)


def _measure_act(event: Event) -> int:
    """Return the size of an act or edit: 1, and 1 for each tile."""
    act = _find_inner_event(event) or event
    return 1 + (len(act.play.tiles) + len(act.play.rearranged) if isinstance(act, PlayMade) else 0)


def _find_named_players(event: object) -> Iterator[int]:
    """Yield the player numbers in an event and in the event that it contains."""
    for name in ("player", "by", "first"):
        if isinstance(player := getattr(event, name, None), int):
            yield player
    if (inner := _find_inner_event(event)) is not None:
        yield from _find_named_players(inner)


_GCG_MEMBER = "game.gcg"
_import_lock = threading.Lock()
"""Held while a file is compared with the stored games and added: a page may send it twice at the same time."""


def load_game(store: GameStore, number: int) -> Game:
    """Return the game that follows from the entries in the store. Raises `GameNotFoundError`, `StoreError`."""
    return load_ledger(store, number).game


def load_ledger(store: GameStore, number: int) -> Ledger:
    """Load the ledger of a game from the store. Raises `GameNotFoundError`, `StoreError`."""
    events = store.list_events_to_export(number)
    if not events:
        raise GameNotFoundError(get_text("game-gone", number))
    try:
        ledger = read_ledger(event.body for event in events)
        _ = ledger.game  # raises for impossible acts
    except UNREADABLE_GAME_ERRORS as error:
        raise GameNotFoundError(get_text("game-unreadable", number, error)) from error
    return ledger


def export_gcg(store: GameStore, number: int, unplayed: UnplayedRule | None = None) -> str:
    """Return a game of the store as GCG text, as it was played, or with the unplayed letters counted by `unplayed`.

    Some programs only read games whose unplayed letters count twice for the player who went out. Raises `ArchiveError`,
    `StoreError`.
    """
    game = load_game(store, number)
    try:
        return format_gcg(build_record(game, load_shipped_lexicon(game.tiles.name), unplayed))
    except RulesError as error:
        raise GameNotFoundError(str(error)) from error


def export_zip(store: GameStore, number: int) -> Iterator[bytes]:
    """Return an iterator over the data of a ZIP file with a whole game: events with their times, GCG, pictures.

    Not more than one picture is in memory at a time. `ArchiveError` and `StoreError` are raised by the call itself, not
    during the iteration.
    """
    stored = find_stored_game(store, number)
    try:
        gcg = export_gcg(store, number)
    except ArchiveError:
        gcg = ""  # GCG cannot describe this game, or only a later version can replay it; its events are complete
    return generate_zip(_list_members(store, stored, gcg), stored.started)


def import_zip(store: GameStore, file: BinaryIO) -> int:
    """Import a ZIP file that `export_zip` wrote, and return the game's number in this store.

    Raises `ArchiveError`, `StoreError`.
    """
    with open_zip(file, _is_member) as members:
        started, events = decode_game(members.read(GAME_MEMBER, MAX_ARCHIVE_GAME_BYTES))
        pictures = members.list_pictures()
        for number, kind in pictures:
            if number >= len(events):
                name = name_picture(number, kind)
                raise ArchiveError(get_text("zip-no-event", name))
            members.read_picture(number, kind, MAX_PICTURE_BYTES)
        stored_pictures = (  # read again one after the other, so that only one is in memory
            StoredPicture(number, kind, members.read_picture(number, kind, MAX_PICTURE_BYTES))
            for number, kind in pictures
        )
        with _import_lock:
            _refuse_duplicate(store, read_ledger(event.body for event in events).game)
            return store.add_game(started, events, stored_pictures)


def _is_member(name: str) -> bool:
    return name in (GAME_MEMBER, _GCG_MEMBER) or PICTURE_MEMBER.fullmatch(name) is not None


def import_gcg(store: GameStore, data: bytes) -> int:
    """Import a GCG file from any program and return the game's number in this store.

    Raises `ArchiveError`, `StoreError`.
    """
    if len(data) > MAX_GCG_BYTES:
        raise ArchiveError(get_text("gcg-large", MAX_GCG_BYTES // 1000, -(-len(data) // 1000)))  # rounded up
    record = parse_gcg(data)
    if not record.entries:
        lines = [get_text("gcg-line", problem.line, problem.reason) for problem in record.problems]
        raise ArchiveError(next(iter(lines), get_text("gcg-no-events")))
    try:
        ledger = parse_ledger(write_ledger(make_ledger(build_game(record))))
    except (NotationError, RulesError) as error:
        raise ArchiveError(get_text("gcg-impossible", error)) from error
    now = time.time()
    events = tuple(StoredEvent(number, now, body) for number, body in enumerate(write_ledger(ledger)))
    with _import_lock:
        _refuse_duplicate(store, ledger.game)
        return store.add_game(now, events, ())


def list_gcg_problems(data: bytes) -> tuple[str, ...]:
    """Return the problems in a GCG file, one sentence each, in the order of the lines."""
    problems = replay(parse_gcg(data)).problems
    return tuple(get_text("gcg-line", problem.line, problem.reason) for problem in problems)


def make_ledger(game: Game) -> Ledger:
    """Return the ledger of a recorded game: an entry for each act, with the edits that follow it, such as its score."""
    refs: dict[Ref, Ref] = {}
    entries: list[tuple[Act | Edit, ...]] = []
    for event in game.events:
        if isinstance(event, Challenged | PlayWithdrawn | ScoreCorrected) and event.of is not None:
            event = replace(event, of=refs[event.of])
        if isinstance(event, Edit):
            entries[-1] = (*entries[-1], event)
        else:
            refs[game.items[len(refs)].ref] = Ref(len(entries) + 1, 0)
            entries.append((event,))
    started = replace(game.start_event, players=_clean_names(game.start_event.players))
    return Ledger(
        started, tuple(Entry(number, number, (steps,), source=Source.IMPORT) for number, steps in enumerate(entries, 1))
    )


def _clean_names(players: Iterable[str]) -> tuple[str, ...]:
    """Return corrected names of the players of a game.

    Names from other programs may be too long, may be empty, or may contain characters that cannot be displayed. Names
    that are equal after the correction get the number of the player.
    """
    cleaned = (_clean_player_name(name) for name in players)
    names = [name or f"Player {seat}" for seat, name in enumerate(cleaned, 1)]
    numbered = (f"{name[: MAX_PLAYER_NAME_LENGTH - 2].strip()} {seat}" for seat, name in enumerate(names, 1))
    unique = (name if names.count(name) == 1 else other for name, other in zip(names, numbered, strict=True))
    return tuple(unique)


def _clean_player_name(name: str) -> str:
    return remove_invisible("".join(filter(is_displayable, name))).strip()[:MAX_PLAYER_NAME_LENGTH].strip()


def make_file_name(stored: StoredGame, names: Iterable[str], suffix: str) -> str:
    """Return a file name of ASCII letters with the date, number and players of a game, followed by `suffix`."""
    ascii_names = [re.sub(r"[^A-Za-z0-9]", "", name) or "player" for name in names]
    date = time.strftime("%Y-%m-%d", time.localtime(stored.started))
    return f"{date}-game-{stored.id}-{'-'.join(ascii_names)[:80]}{suffix}"


def find_stored_game(store: GameStore, number: int) -> StoredGame:
    """Return the game with this number. Raises `GameNotFoundError`, `StoreError`."""
    stored = next((game for game in store.list_games() if game.id == number), None)
    if stored is None:
        raise GameNotFoundError(get_text("game-gone", number))
    return stored


def _list_members(store: GameStore, stored: StoredGame, gcg: str) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of each member of the ZIP file of a game."""
    events = store.list_events_to_export(stored.id)
    yield GAME_MEMBER, encode_game(stored, events)
    if gcg:
        yield _GCG_MEMBER, gcg.encode()
    for number, kind in store.list_pictures(stored.id):
        # A turn that is recorded during the export has pictures without an event in the file.
        if number < len(events) and (jpeg := store.read_picture(stored.id, number, kind)):
            yield name_picture(number, kind), jpeg


def _refuse_duplicate(store: GameStore, game: Game) -> None:
    """Raise `ArchiveError` if the store has a game with these players and turns, recorded at a table or in a ZIP file.

    Otherwise the records would count the game twice.
    """
    standings, turns = SummaryCache(store), _list_turns(game)
    for stored in store.list_games() if turns else ():
        standing = standings.get_standing(stored)  # a stored standing saves the replay of most games
        if standing is None or standing.totals != game.totals:
            continue
        if standing.players != game.players:
            continue
        if _list_turns(load_game(store, stored.id)) == turns:
            raise _make_duplicate_error(stored, standing.players)
    standings.save()  # the import of the next of many files replays only the game of this one


def _make_duplicate_error(stored: StoredGame, players: Iterable[str]) -> ArchiveError:
    """Return the error for a game that is stored as `stored`; the list on the page has its day and players."""
    day = time.strftime("%Y-%m-%d", time.localtime(stored.started))
    return ArchiveError(get_text("game-here", f"{stored.id} ({day}, {', '.join(players)})"))


def _list_turns(game: Game) -> list[tuple[object, ...]]:
    return [(turn.player, turn.kind, turn.score, turn.at, turn.word) for turn in game.turns]
