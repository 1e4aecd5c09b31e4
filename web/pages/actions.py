"""Routes for commands from paired phones: `POST /actions/NAME` for each command of the table.

The fields of a form are the arguments of the command; for a command in `_FORM_READERS`, the fields are converted first.
The response is 204 (303 for a form without script), or the reason of a refusal in one line. Each request contains the
version of the game that the page showed (`seen`). A command for an earlier version is refused, and the response
describes the changes since then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType

from flask import Blueprint, abort, request
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import MultiDict

from device.session.commands.answers import AnswerDeferred, AnswerQuestion
from device.session.commands.base import TableCommand
from device.session.commands.corrections import CorrectSquare, NameBlank, RevealRack
from device.session.commands.games import EnterPosition, StartGame
from device.session.commands.turn_corrections import CorrectTurn, InsertTurn
from device.session.commands.turns import EnterBoard
from device.session.messages import CommandRefusedError
from device.session.rule_choices import CHOICE_FIELDS, NewGameError
from device.session.snapshot import Moment, TableSnapshot, TurnView
from engine.board import SQUARES, parse_square
from engine.errors import NotationError
from engine.plays import parse_word, write_word
from engine.reading import BLANK, BOARD_SIZE, EMPTY
from engine.tiles import Tile, TileSet
from web.command_requests import WEB_COMMANDS, RequestError, decode_form, make_command, make_order_type
from web.i18n import texts
from web.pages.pairing import find_seat
from web.responses import accept, refuse
from web.served_table import table

REFUSAL_TIMEOUT_S = 0.25
"""Time to wait for the result of a command, in seconds. A later result appears in the live updates of the page."""
RACK_TIMEOUT_S = 10.0
"""Time to wait until one of several racks is saved, in seconds. The next command needs the version of the game then."""

Form = MultiDict[str, str]


FormReader = Callable[[Form, TableSnapshot], Mapping[str, object]]
"""A function that computes arguments of a command from several fields of a form."""


routes = Blueprint("actions", __name__, url_prefix="/actions")
_ROUTE_ARGUMENTS: Mapping[type[TableCommand], str] = MappingProxyType(
    {AnswerQuestion: "/<int:answer>", AnswerDeferred: "/<int:question>/<int:answer>"}
)


def carry_out(command: type[TableCommand], **fields: object) -> ResponseReturnValue:
    """Send a command to the table. Its arguments are the fields of the form and the variables of the route."""
    _run(command, fields, REFUSAL_TIMEOUT_S)
    return accept()


def _run(command: type[TableCommand], fields: Mapping[str, object], timeout_s: float) -> Moment:
    """Send a command to the table; return the version of the game after the command.

    End the request with a response if the command is refused, or has no result after `timeout_s` seconds.
    """
    t = texts()
    try:
        if command is CorrectSquare and _names_blank(request.form, table.session.state):
            command = NameBlank
        if command in _FORM_READERS:
            fields = _FORM_READERS[command](request.form, table.session.state)
        order = decode_form(request.form, make_order_type(command), **fields)
        seat = find_seat(table.session.state)
        table_command = make_command(command, order, table.find_own)
        state = table.session.submit(table_command, order.moment, seat).result(timeout_s)
    except NewGameError as error:
        abort(refuse(t(error.key, **error.values)))
    except CommandRefusedError as refusal:
        state = table.session.state
        # A form with a whole board that was opened before another change would undo this change.
        is_old_board = command is EnterBoard and order.moment != state.moment
        if is_old_board or _is_about_other_turn(request.form, state):
            abort(refuse(t("wrong.other_turn")))
        answer = refuse(explain_refusal(refusal, order.moment, state))
        if order.moment.game == state.game:  # a form that was filled in for another game must be opened again
            answer.headers["X-Seen"] = str(state.moment)
        abort(answer)
    except TimeoutError:
        abort(accept())  # the board is being read: the page shows this, and later the result
    return state.moment


@routes.post("/racks")
def reveal_racks() -> ResponseReturnValue:
    """Enter the unplayed letters of several players; the form has a field `player` and a field `letters` for each.

    In a form for several players, a player without letters is skipped, because the last rack follows from the
    others. If a rack is refused, the racks after it are not entered; the page shows which racks are still missing.
    """
    seen = request.form.get("seen", "")
    for player, letters in read_racks():
        fields = {"seen": seen, "player": player, "letters": letters}
        seen = str(_run(RevealRack, fields, RACK_TIMEOUT_S))
    return accept()


def read_racks() -> list[tuple[int, str]]:
    """Return the racks in the form, as seat and letters. Of several, empty ones are skipped; if all are, abort."""
    racks = list(zip(request.form.getlist("player", type=int), request.form.getlist("letters"), strict=False))
    if len(racks) > 1:
        racks = [(player, letters) for player, letters in racks if letters.strip()]
    return racks or abort(refuse(texts()("rack.empty")))


def identify_turn(state: TableSnapshot, number: int) -> str:
    """Return a text that identifies the turn with this number in the score sheet, or an empty text if there is none.

    The next turn is identified by its player. A form about a turn contains this text, because a correction may give the
    number to another turn.
    """
    if number == len(state.turns) + 1:
        return str(state.turn_of)
    turn = state.find_turn(number)
    return "" if turn is None else f"{turn.ref} {turn.player} {turn.kind} {turn.at} {turn.word}"


def _is_about_other_turn(form: Form, state: TableSnapshot) -> bool:
    """Return True if the turn that a form has shown has changed, or has another number now."""
    return "turn" in form and form["turn"] != identify_turn(state, form.get("number", 0, type=int))


def explain_refusal(refusal: CommandRefusedError, seen: Moment, state: TableSnapshot) -> str:
    """Return the reason of a refusal. A form that was filled in for another game must be opened again."""
    t = texts()
    return t.translate(refusal) if seen.game == state.game else t("wrong.other_game")


def _read_square(form: Form, state: TableSnapshot) -> Mapping[str, object]:
    """Return the argument `symbol`. If the form has the field `blank`, the letter is that of a blank."""
    letter = form.get("letter", "")
    if letter and "blank" in form and state.tile_set:
        letter = state.tiles.text(Tile(letter, is_blank=True))
    return {"symbol": letter or EMPTY}


def _names_blank(form: Form, state: TableSnapshot) -> bool:
    """Return True if a form names a blank that has no letter yet. Another letter for a named blank is a correction."""
    if not form.get("letter") or "blank" not in form or not state.tile_set:
        return False
    try:
        tile = state.board.tiles[parse_square(form.get("square", ""))]
    except NotationError:
        return False  # the session refuses the command and gives the reason
    return tile is not None and tile.blank and tile.letter == BLANK


def read_turn(command: type[TableCommand], form: Form, state: TableSnapshot) -> Mapping[str, object]:
    """Return the argument `word` in GCG notation, with small letters for blanks.

    The page's script sends the word in GCG notation in the field `notation`. Without this field, the word is in the
    field `word`, and the letters of its blanks are in `blanks`. The case of all these letters is ignored, because
    keyboards of phones write small letters.

    A correction may name blanks without a word: they are blanks of the recorded word. A word or a position that has not
    changed becomes an empty argument. Raises `RequestError` if a word is wrong or does not have a letter of `blanks`.
    """
    if "notation" in form:
        return {"word": form["notation"]}
    turn = state.find_turn(form.get("number", 0, type=int)) if command is CorrectTurn else None
    recorded = "" if turn is None else write_whole_word(turn, state.tiles)
    word = state.tiles.upper("".join(form.get("word", "").split()))
    if blanks := form.get("blanks", "").split():
        word = _mark_blanks(word or split_blanks(recorded, state.tiles)[0], blanks, recorded, state.tiles)
    arguments = {"word": "" if word == recorded else word}
    if turn is not None and form.get("at", "").strip().upper() == turn.at:
        arguments["at"] = ""
    return arguments


def _mark_blanks(word: str, blanks: Sequence[str], recorded: str, tiles: TileSet) -> str:
    """Return a word in GCG notation in which the letters of `blanks` are those of blanks.

    If the word has a letter several times, the blank is where `recorded`, the word before the correction, has a blank,
    or otherwise the first. Raises `RequestError` if the word cannot be parsed or does not have a letter of `blanks`.
    """
    try:
        letters = parse_word(word, tiles)
        before = parse_word(recorded, tiles) if recorded else []
        blank_letters = [letter for text in blanks for letter in tiles.split(text)]
    except NotationError as error:
        raise RequestError(f"{error}.") from None
    likely = {place for text in (letters, before) for place, (tile, _) in enumerate(text) if tile and tile.is_blank}
    marked: set[int] = set()
    for letter in blank_letters:
        places = [at for at, (tile, _) in enumerate(letters) if tile and tile.letter == letter and at not in marked]
        if not places:
            raise RequestError(f"There is no {letter} in {word}.")
        place = min(places, key=lambda place: place not in likely)  # the first one, if none or all are likely
        marked.add(place)
        letters[place] = Tile(letter, is_blank=True), letters[place][1]
    return write_word(letters, tiles)


def write_whole_word(turn: TurnView, tiles: TileSet) -> str:
    """Return the word of a turn in GCG notation, with the letters of the tiles that were already on the board."""
    letters = turn.words[0].letters if turn.words else ()
    whole = [(Tile(one.letter, is_blank=one.blank and (one.new or one.letter == BLANK)), False) for one in letters]
    return write_word(whole, tiles) or turn.word


def split_blanks(word: str, tiles: TileSet) -> tuple[str, str]:
    """Return a word in GCG notation without its named blanks, and the letters of these blanks.

    The word has brackets where its capitals would be ambiguous: in Spanish, `CAlLE` is `CA[L]LE` with the blank L.
    """
    letters = parse_word(word, tiles) if word else []
    blanks = [tile.letter for tile, _ in letters if tile and tile.is_blank and not tile.is_unnamed]
    plain = [(tile if tile is None or tile.is_unnamed else Tile(tile.letter), marked) for tile, marked in letters]
    return write_word(plain, tiles), tiles.write([Tile(letter) for letter in blanks])


def _read_board(form: Form, _: TableSnapshot) -> Mapping[str, object]:
    """Return the argument `rows`; the form has the symbols of the squares, separated by spaces."""
    symbols = form.get("symbols", "").split()[: len(SQUARES) + 1]  # one symbol too many is enough for a refusal
    rows = [symbols[start : start + BOARD_SIZE] for start in range(0, len(symbols), BOARD_SIZE)]
    return {"rows": rows}


def _read_new_game(form: Form, _: TableSnapshot) -> Mapping[str, object]:
    """Return the argument `choices`, a dictionary of the form fields in `CHOICE_FIELDS`."""
    return {"choices": {field: form[field] for field in CHOICE_FIELDS if field in form}}


_FORM_READERS: Mapping[type[TableCommand], FormReader] = MappingProxyType(
    {
        CorrectSquare: _read_square,
        CorrectTurn: partial(read_turn, CorrectTurn),
        EnterBoard: _read_board,
        EnterPosition: _read_board,
        InsertTurn: partial(read_turn, InsertTurn),
        StartGame: _read_new_game,
    }
)
for _command in WEB_COMMANDS:
    routes.post(f"/{_command.name}{_ROUTE_ARGUMENTS.get(_command, '')}", endpoint=_command.name)(
        partial(carry_out, _command)
    )
