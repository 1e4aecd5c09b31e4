"""The forms that open after a tap on a button: in a `<dialog>`, or as a page in browsers without script."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

from flask import Blueprint, Response, render_template, request

from device.player_names import MAX_PLAYER_NAME_LENGTH
from device.session.commands.turn_corrections import CorrectTurn, InsertTurn, TurnCommand
from device.session.messages import CommandRefusedError
from device.session.new_game import list_choices, list_own_lexicons
from device.session.rule_choices import NUMBER_CHOICES, list_changed_choices, list_preset_choices
from device.session.snapshot import Phase, TableSnapshot, TurnView
from device.session.snapshot_builder import build_snapshot
from device.settings import GameSettings
from device.storage.errors import StoreError
from device.storage.lexicons import has_default_lexicon
from engine.board import SQUARES, Square, column_of, parse_square, row_of, square_name
from engine.errors import NotationError
from engine.events import GameStarted
from engine.game import Game
from engine.reading import BOARD_SIZE, EMPTY
from engine.rules import MAX_PLAYERS, PRESETS, STANDARD_RULES, VARIATIONS
from engine.tiles import Tile, playable_tile_set_names
from web.command_requests import RequestError, decode_form, make_command, make_order_type
from web.filters import find_nearest_preset, has_camera_fault, list_rows
from web.i18n import languages, texts
from web.pages.actions import identify_turn, read_turn, split_blanks, write_whole_word
from web.pages.settings import describe_default_lists, describe_own_lists
from web.responses import render_dialog, require_pairing
from web.served_table import table

MAX_OFFERED_NAMES = 40
MAX_WORD_LETTERS = 20
MAX_PLAY_LETTERS = 60
"""Longest word of a play in GCG notation, in characters; tiles of several letters are in brackets."""
_NEARBY_SIDE = 5
"""Rows and columns of the enlarged part of the board: a user who tapped the wrong square taps the right one there."""


routes = Blueprint("dialogs", __name__, url_prefix="/dialogs")
routes.before_request(require_pairing)
for _name in ("exchange", "end-game", "decide-challenge", "begin-alone"):
    routes.get(f"/{_name}", endpoint=_name)(lambda name=_name: show(name))


def show(name: str, **values: object) -> Response:
    """Return the form with the template `name`."""
    return render_dialog(name, state=table.session.state, **values)


@routes.get("/more")
def show_rare_actions() -> Response:
    """Return the list of actions that are rarely needed."""
    rules = table.session.state.rules
    return show(
        "more",
        rules=rules,
        languages=languages().values(),
        longest=MAX_PLAYER_NAME_LENGTH,
        phone_camera=table.session.uses_phone_camera,
    )


@routes.get("/square")
def show_square() -> Response:
    """Return the form to correct the square in the query, or the form to choose a square if the query has none."""
    try:
        at = parse_square(request.args.get("square", "").strip().upper())
    except NotationError:
        return show("square", square=None)
    return show(
        "square",
        square=square_name(at),
        at=at,
        tile=table.session.state.board.tiles[at],
        letters=list_letters(table.session.state),
        fitting=_find_blank_letters(at),
        nearby=_list_nearby_squares(at),
        nearby_side=_NEARBY_SIDE,
    )


@routes.get("/question")
def show_question() -> Response:
    """Return the form to answer the open question, with a link to correct the square in the query."""
    return show("question", square=request.args.get("square", "")[:3])


@routes.get("/turn")
def show_turn() -> Response:
    """Return the form to correct a turn or, if the query has `insert`, the form to enter a missing turn."""
    state, number = table.session.state, request.args.get("number", -1, type=int)
    insert = "insert" in request.args and bool(state.players) and 1 <= number <= len(state.turns) + 1
    due = table.session.find_player_due(number) if insert else None
    turn = state.find_turn(number)
    word, blanks = ("", "") if turn is None else split_blanks(write_whole_word(turn, state.tiles), state.tiles)
    return show(
        "turn",
        turn=turn,
        word=word,
        blanks=blanks,
        number=number,
        insert=insert,
        due=due,
        shown=identify_turn(state, number),
    )


@routes.post(f"/{CorrectTurn.name}/preview", defaults={"command": CorrectTurn})
@routes.post(f"/{InsertTurn.name}/preview", defaults={"command": InsertTurn})
def preview_turn(command: type[TurnCommand]) -> Response:
    """Return the lines of the score sheet that the form of a turn would change, and the totals.

    A script gets only these. A browser without script gets a page that sends the form to the table.
    """
    before, after, reason = table.session.state, None, ""
    try:
        arguments = read_turn(command, request.form, before)
        order = decode_form(request.form, make_order_type(command), **arguments)
        correction = make_command(command, order, table.find_own)
        assert isinstance(correction, TurnCommand)
        after = table.session.preview_correction(correction)
    except RequestError:
        reason = texts()("wrong.form")
    except CommandRefusedError as refusal:
        reason = texts().translate(refusal)
    changed = () if after is None else _find_changed_turns(before, after)
    values = {"state": after, "changed": changed, "reason": reason}
    if request.headers.get("X-Dialog") is None:
        fields = list(request.form.items(multi=True))
        return render_dialog("turn-preview", action=command.name, fields=fields, **values)
    body = render_template("parts/turn-preview.html", t=texts(), **values)
    return Response(body, headers={"Cache-Control": "no-store"})


@routes.get("/board")
def show_board() -> Response:
    """Return the form to enter the whole board after the current turn; the play is inferred from this board."""
    state = table.session.state
    symbols = [symbol for row in list_rows(state) for symbol in row]
    return _show_board_form("board", symbols, rules=state.rules)


@routes.get("/position")
def show_position() -> Response:
    """Return the form to start from a position: the position of the open question, or an empty board."""
    state = table.session.state
    symbols, question = [EMPTY] * len(SQUARES), state.question
    if question is not None and question.is_about_start:
        for square, symbol in zip(question.squares, question.symbols[-1], strict=True):
            symbols[square] = symbol
    tile_count = sum(symbol != EMPTY for symbol in symbols)
    return _show_board_form("position", symbols, tile_count=tile_count, next=state.turn_of)


def _show_board_form(name: str, symbols: Sequence[str], **values: object) -> Response:
    """Return a form with a board: a cell (symbol, letter) for each square; the letter is empty without a tile."""
    state = table.session.state
    tiles = state.tiles
    cells = [(symbol, "" if symbol == EMPTY else tiles.parse_tile(symbol).letter) for symbol in symbols]
    letters = [(letter, tiles.lower(letter)) for letter in list_letters(state)]
    return show(name, cells=cells, letters=letters, **values)


@routes.get("/entry")
def show_entry() -> Response:
    """Return the form to enter the current turn as one word, typed on the drawn board."""
    state = table.session.state
    return show("entry", letters=list_letter_keys(state), no_camera=has_camera_fault(state))


@routes.get("/entry/preview")
def preview_play() -> Response:
    """Return the score and the problems of the play in the query (`at`, `word`), as a part of the form."""
    at, word = request.args.get("at", "")[:3], request.args.get("word", "")[:MAX_PLAY_LETTERS]
    play, reason = None, ""
    try:
        play = table.session.preview_play(at, word)
    except CommandRefusedError as refusal:
        reason = texts().translate(refusal)
    body = render_template("parts/preview.html", t=texts(), play=play, reason=reason)
    return Response(body, headers={"Cache-Control": "no-store"})


@routes.get("/word")
def look_word_up() -> Response:
    """Return the form for looking up a word, with the result for the word in the query string."""
    written = "".join(request.args.get("word", "")[:MAX_WORD_LETTERS].split())
    word = table.session.state.tiles.upper(written)
    listed, reason = None, ""
    try:
        listed = table.session.look_up(word) if word else None
    except CommandRefusedError as refusal:
        reason = texts().translate(refusal)
    return show("word", word=word, listed=listed, reason=reason, longest=MAX_WORD_LETTERS)


@routes.get("/draw")
def show_draw() -> Response:
    """Return the form to enter the tiles drawn for first play; `deal` in the query fills in random tiles."""
    state = table.session.state
    drawn = draw_tiles(state) if "deal" in request.args else {}
    return show("draw", drawn=drawn, letters=list_letters(state))


@routes.get("/rack")
def show_rack() -> Response:
    """Return the form to enter unplayed letters, of the player in the query or of all whose letters are missing."""
    state = table.session.state
    player = request.args.get("player", -1, type=int)
    players = (player,) if player in range(len(state.players)) else state.racks_wanted
    return show("rack", players=players, values=state.tiles.values if state.tile_set else {})


@routes.get("/new-game")
def show_new_game() -> Response:
    """Return the form to start a new game."""
    try:
        known = table.session.list_players()[:MAX_OFFERED_NAMES]
    except StoreError:
        known = ()  # suggested names are optional
    state = table.session.state
    started = table.host.find_new_game(state.game)
    shown = state if started is None else build_snapshot(Game.begin(started), None)
    rules = shown.rules or STANDARD_RULES
    chosen = find_nearest_preset(rules)
    own_lists = list_own_lexicons(table.find_own)
    tiles = shown.tile_set or GameSettings().tiles
    has_own = tiles in own_lists
    return show(
        "new-game",
        shown=shown,
        tiles=tiles,
        running=bool(state.turns) and state.phase is not Phase.ENDED,
        known=known,
        offer=list_choices(own_lists.values()),
        own_lists=describe_own_lists(own_lists),
        default_lists=describe_default_lists(),
        lexicon=_choose_lexicon(started, state, has_own=has_own),
        judge="list" if (rules.list_decides if started else has_own) else "players",
        without_list=[name for name in playable_tile_set_names() if not has_default_lexicon(name)],
        most=MAX_PLAYERS,
        longest=MAX_PLAYER_NAME_LENGTH,
        numbers={field: choice.maximum for field, choice in NUMBER_CHOICES.items()},
        preset_choices={preset: list_preset_choices(preset) for preset in PRESETS},
        chosen=chosen,
        minutes=rules.clock_seconds // 60 if rules.clock_seconds or PRESETS[chosen].clock_seconds else "",
        variations=[name for name in VARIATIONS if started is not None and getattr(rules, name)],
        levels=rules.finish_line if started is not None and len(rules.finish_line) > 1 else (),
        changed={} if started is None else list_changed_choices(rules, chosen),
        first=_find_next_first_player(state) if started is None else None if started.draw else started.first,
        racks_wanted=state.racks_wanted if state.phase is Phase.ENDED else (),
    )


def _choose_lexicon(started: GameStarted | None, last: TableSnapshot, *, has_own: bool) -> str:
    """Return the word list that the form for a new game shows as chosen.

    - `own`: the owner has a list for the tiles (`has_own`).
    - `none`: the form offers a game without a list, although the program has one for its tiles.
    - `shipped`: all other cases.

    The form offers the game `started`, or one like the `last` game at the table if `started` is None.
    """
    game = started or last
    has_none = bool(game.tile_set) and game.lexicon is None and has_default_lexicon(game.tile_set)
    return "own" if has_own else "none" if has_none else "shipped"


def _find_next_first_player(state: TableSnapshot) -> int:
    """Return the index of the player who begins the next game.

    After a finished game, this is the player on the seat after the player who began it. Otherwise it is player 0.
    """
    if state.phase is not Phase.ENDED or not state.turns:
        return 0
    return (state.turns[0].player + 1) % len(state.players)


def draw_tiles(state: TableSnapshot, chance: random.Random | None = None) -> dict[int, str]:
    """Draw a random tile from a full bag for each player who has to draw; return the tiles by player number."""
    chance = chance or random.SystemRandom()
    bag = list(Counter(state.tiles.counts).elements()) if state.tile_set else []
    return dict(zip(state.drawing, chance.sample(bag, min(len(bag), len(state.drawing))), strict=False))


def _find_changed_turns(before: TableSnapshot, after: TableSnapshot) -> tuple[TurnView, ...]:
    """Return the lines of the score sheet `after` that differ from the line with the same number in `before`."""

    def describe(turn: TurnView) -> tuple[object, ...]:
        return turn.player, turn.kind, turn.word, turn.at, turn.score, turn.total, turn.stands

    old = {turn.number: describe(turn) for turn in before.turns}
    return tuple(turn for turn in after.turns if old.get(turn.number) != describe(turn))


def list_letters(state: TableSnapshot) -> tuple[str, ...]:
    """Return the letters of the tile set, or an empty tuple before the first game."""
    return state.tiles.letters if state.tile_set else ()


def list_letter_keys(state: TableSnapshot) -> list[tuple[str, str, str]]:
    """Return the keys of the entry form: for each letter, the letter and its GCG notation as a tile and as a blank."""
    if not state.tile_set:
        return []
    tiles = state.tiles
    is_ambiguous = any(len(letter) > 1 for letter in tiles.letters)
    pairs = ((letter, tiles.text(Tile(letter, is_blank=True))) for letter in tiles.letters)
    return [(tile, f"[{tile}]", f"[{blank}]") if is_ambiguous else (tile, tile, blank) for tile, blank in pairs]


def _find_blank_letters(square: Square) -> tuple[str, ...]:
    """Return the letters that form valid words if the blank on a square stands for them.

    The result is empty if the square has no blank, or if all letters form valid words.
    """
    tile = table.session.state.board.tiles[square]
    if tile is None or not tile.blank:
        return ()
    try:
        fitting = table.session.list_blank_letters(square_name(square))
    except CommandRefusedError:
        return ()  # the suggestion is optional, and the rules may forbid look-ups now
    return fitting if len(fitting) < len(list_letters(table.session.state)) else ()


def _list_nearby_squares(square: Square) -> list[Square]:
    """Return the square and those around it: `_NEARBY_SIDE` rows and columns inside the board, row by row."""
    last = BOARD_SIZE - _NEARBY_SIDE
    left, top = (min(max(at - _NEARBY_SIDE // 2, 0), last) for at in (column_of(square), row_of(square)))
    return [row * BOARD_SIZE + left + step for row in range(top, top + _NEARBY_SIDE) for step in range(_NEARBY_SIDE)]
