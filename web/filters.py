"""Jinja filters: texts and values that templates derive from a snapshot of the game.

The filters format numbers, times and names, and list the squares of the board, the rules of the game and its best
plays. `build_score_charts` draws the score chart. `build_editions_css` makes the style sheet with the colours of the
drawn board: those of each edition, and those of the table's own board.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, lru_cache, partial
from itertools import pairwise
from typing import Any

from flask import Flask
from jinja2 import Environment
from markupsafe import Markup

from device.session.clock import format_clock
from device.session.messages import PICTURE_ANSWERS, Trouble
from device.session.new_game import PALETTE
from device.session.snapshot import TableSnapshot, TileView, TurnView
from engine.board import SQUARES, column_of, join_square_names, row_of, square_name
from engine.messages import key_of, values_of
from engine.reading import BOARD_SIZE, EMPTY
from engine.rules import EDITION_COLOURS, PRESETS, STANDARD_RULES, ChallengeRule, PremiumColours, Rules, UnplayedRule
from engine.state import TURN_KINDS
from engine.tiles import Tile
from web.i18n import Texts

OWN_BOARD = "own"
"""Name of the colours of the table's own board, as the camera has seen them."""
_DARK_GROUND, _LIGHT_GROUND = "#14171c", "#fffdf8"
_GROUND_SHARE = {_DARK_GROUND: 0.28, _LIGHT_GROUND: 0.12}
"""Share (0 to 1) of the page's background that is mixed into the colours of premium squares, by background colour.

The unmixed colours of a board are too strong on a screen.
"""
_INKS = ("#10151a", "#ffffff")
_MIN_CONTRAST = 4.5
_CONTRAST_STEP = 0.03
"""Share of the other ink that is mixed into a background at each step, until the contrast is large enough."""


def build_editions_css(own: tuple[tuple[str, str], ...] = ()) -> str:
    """Return a style sheet that defines `--p` (square) and `--on` (text) for each premium of each edition.

    `own` are the colours of the table's own board by premium, if they are known.
    """
    boards = {edition: _list_premium_colours(colours) for edition, colours in EDITION_COLOURS.items()}
    boards[OWN_BOARD] = dict(own)
    light = "".join(_generate_css_rules(boards, _LIGHT_GROUND))
    return f"{''.join(_generate_css_rules(boards, _DARK_GROUND))}@media (prefers-color-scheme:light){{{light}}}\n"


def _generate_css_rules(boards: Mapping[str, Mapping[str, str]], ground: str) -> Iterator[str]:
    for edition, colours in boards.items():
        for premium, colour in colours.items():
            shown = ensure_contrast(mix_colours(colour, ground, _GROUND_SHARE[ground]))
            yield f'[data-edition="{edition}"] .p{premium}{{--p:{shown};--on:{choose_ink(shown)}}}\n'


def _list_premium_colours(colours: PremiumColours) -> dict[str, str]:
    return {
        "2L": colours.double_letter[1],
        "3L": colours.triple_letter[1],
        "2W": colours.double_word[1],
        "3W": colours.triple_word[1],
    }


def mix_colours(colour: str, ground: str, share: float) -> str:
    """Return `colour` mixed with a `share` (0 to 1) of `ground`. All colours are `#rrggbb`."""
    pairs = zip(_parse_channels(colour), _parse_channels(ground), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def choose_ink(ground: str) -> str:
    """Return the text colour (dark or light) with the higher contrast to the background `ground`."""
    return max(_INKS, key=lambda ink: compute_contrast(ink, ground))


def ensure_contrast(ground: str) -> str:
    """Return a background close to `ground` with enough contrast to small text (WCAG 2.2, 1.4.3)."""
    while compute_contrast(ink := choose_ink(ground), ground) < _MIN_CONTRAST:
        other_ink = _INKS[0] if ink == _INKS[1] else _INKS[1]
        ground = mix_colours(ground, other_ink, _CONTRAST_STEP)
    return ground


def compute_contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours, 1 to 21 (WCAG 2.2)."""
    darker, lighter = sorted((_compute_luminance(one), _compute_luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _parse_channels(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour.removeprefix("#")))


def _compute_luminance(colour: str) -> float:
    """Return the relative luminance of a colour, 0 to 1 (WCAG 2.2)."""
    red, green, blue = (_linearise(channel / 255) for channel in _parse_channels(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linearise(channel: float) -> float:
    """Return the linear value of an sRGB channel; both are from 0 to 1."""
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4


@dataclass(frozen=True, slots=True)
class PlayerSummary:
    """Summary of one player: best valid play (None if there is none), bingos, points per turn, unplayed letters."""

    player: int
    best: TurnView | None
    bingos: int
    average: float
    unplayed: str = ""


def summarise_players(state: TableSnapshot) -> tuple[PlayerSummary, ...]:
    """Return every player's summary, in seat order.

    A withdrawn play counts as a turn without points. Unplayed letters and overtime do not count as turns.
    """
    return tuple(_summarise_player(state, player) for player in range(len(state.players)))


def _summarise_player(state: TableSnapshot, player: int) -> PlayerSummary:
    theirs = [turn for turn in state.turns if turn.player == player]
    plays = [turn for turn in theirs if turn.kind == "play" and turn.stands]
    turns = sum(turn.kind in TURN_KINDS for turn in theirs)
    return PlayerSummary(
        player,
        max(plays, key=lambda turn: turn.score, default=None),
        sum(turn.bonus > 0 for turn in plays),
        sum(turn.score for turn in plays) / turns if turns else 0.0,
        "".join(turn.word for turn in theirs if turn.kind == "endrack" and turn.score < 0),
    )


_MAX_CACHED_SQUARES = 4096
"""Largest number of squares in the cache, enough for hundreds of positions: a turn changes only a few squares."""
_WRONG_PICTURE_KEYS = ("camera-none-new", "camera-none-left", "camera-picture")
"""Keys of the notices that report a folder without new pictures, or one unreadable picture. They are not faults of the
camera: the next press takes the next picture."""
_CLASSIC_COLOURS = "crossword-game"
"""The edition whose colours most boards have: 3W red, 2W pink, 3L dark blue, 2L light blue."""
_SHORT_ANSWER_KEYS = ("answer-blank", "answer-exchange")


def register_filters(app: Flask, board_colours: str = "") -> None:
    """Add the filters of this module to the Jinja environment of the application.

    `board_colours` is the name of the board's colours in the settings. If it is empty, the colours depend on the game.
    """
    app.jinja_env.filters.update(
        signed=signed,
        digits=digits,
        flags=flags,
        names=names,
        square_names=join_square_names,
        doubtful_letters=list_doubtful_letters,
        ranked=ranked,
        standing=standing,
        clock_time=clock_time,
        date_time=date_time,
        megabytes=megabytes,
        clock_text=clock_text,
        colour_of=colour_of,
        summarise_players=summarise_players,
        tenths=tenths,
        unseen_tiles=unseen_tiles,
        list_squares=list_squares,
        short_answer=short_answer,
        needs_picture=needs_picture,
        starts_here=starts_here,
        list_rule_texts=list_rule_texts,
        actor=actor,
        table_title=format_table_title,
        board_colours=partial(choose_board_colours, board_colours),
    )
    app.jinja_env.globals.update(size=BOARD_SIZE, draw_squares=_make_board_drawer(app.jinja_env))


def _make_board_drawer(environment: Environment) -> Callable[[Sequence[SquareView], str, Collection[int]], Markup]:
    """Return a function that draws squares with a macro; squares that were drawn before come from a cache.

    The function has three arguments: the squares, the dialog that a tap on a square opens (empty: none), and the
    numbers of the squares in question. A tap on one of these opens the dialog of the question instead.
    """
    load_macros: Callable[[], Any] = cache(lambda: environment.get_template("parts/square.html").module)

    @lru_cache(_MAX_CACHED_SQUARES)
    def draw_square(square: SquareView, dialog: str) -> str:
        return str(load_macros().draw_square(square, dialog))

    def draw_squares(squares: Sequence[SquareView], dialog: str, asked: Collection[int]) -> Markup:
        drawn = (draw_square(square, "question" if i in asked else dialog) for i, square in enumerate(squares))
        return Markup("\n".join(drawn))

    return draw_squares


def signed(score: int) -> str:
    """Format a score with its sign: `+14`, `−5` (U+2212) or `0`."""
    return f"+{score}" if score > 0 else digits(score)


def digits(score: int) -> str:
    """Format a player's total as text. Negative totals get the minus sign U+2212."""
    return str(score) if score >= 0 else f"−{-score}"


def megabytes(size: int, language: str) -> str:
    """Format a number of bytes in megabytes with one decimal: `0.3` (`0,3` in German)."""
    return tenths(size / 1_000_000, language)


def clock_time(since: float) -> str:
    """Format a Unix time as hours and minutes in local time."""
    return time.strftime("%H:%M", time.localtime(since))


def date_time(since: float) -> str:
    """Format a Unix time as date, hours and minutes in local time: `2026-03-14 20:15`."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(since))


def clock_text(left: float) -> str:
    """Format the remaining seconds of a player's clock as `24:05`, or as `−0:30` in overtime."""
    return format_clock(left).replace("-", "−")


def tenths(value: float, language: str) -> str:
    """Format a number with one decimal and the decimal separator of the language."""
    text = f"{value:.1f}".replace("-", "−")
    return text if language == "en" else text.replace(".", ",")


def format_table_title(title: str, t: Texts) -> str:
    """Return the title of a table; one that is only a number gets the word before it, as in "Table 3"."""
    return t("hall.table_number", number=title) if title.isdecimal() else title


def unseen_tiles(state: TableSnapshot) -> tuple[tuple[str, int], ...]:
    """Return (symbol, number of unseen tiles) for all symbols of the tile set, with 0 if none is left."""
    left = dict(state.unseen)
    return tuple((tile, left.get(tile, 0)) for tile in state.tiles.counts)


def actor(state: TableSnapshot, turn: TurnView) -> str:
    """Return the name of the player who acted in a turn. In a challenge this is the challenger."""
    seat = turn.by if turn.kind == "challenge" and turn.by is not None else turn.player
    return state.players[seat].name


def names(state: TableSnapshot, players: Iterable[int]) -> tuple[str, ...]:
    """Return the names of players as a tuple; the texts of the page format a tuple as a list (`Anna, Ben and Cleo`)."""
    return tuple(state.players[player].name for player in players)


def list_doubtful_letters(turn: TurnView) -> tuple[str, ...]:
    """Return the doubtful letters of a turn, each with its square: `L (H8)`."""
    return tuple(f"{symbol} ({square})" for square, symbol in turn.tiles if square in turn.doubtful)


def standing(state: TableSnapshot) -> str:
    """Format the names and totals of all players as one line."""
    return ", ".join(f"{player.name} {digits(player.total)}" for player in state.players)


def ranked(state: TableSnapshot) -> list[int]:
    """Return the player indices in the order of totals, the highest first; equal totals are in seat order."""
    return sorted(range(len(state.players)), key=lambda player: -state.players[player].total)


def colour_of(state: TableSnapshot, player: int) -> str:
    """Return a player's colour: the first of the following that no player on an earlier seat has.

    - The colour stored for the player.
    - The colour of the player's seat.
    - Another colour of the palette.
    """
    chosen: list[str] = []
    for seat, view in enumerate(state.players):
        candidates = (view.colour, PALETTE[seat % len(PALETTE)], *PALETTE)
        free = (colour for colour in candidates if colour in PALETTE and colour not in chosen)
        chosen.append(next(free, PALETTE[0]))
    return chosen[player]


def choose_board_colours(named: str, state: TableSnapshot) -> str:
    """Return the name of the colours in which the board is drawn: the first of the following that is known.

    - The colours `named` in the settings.
    - The colours of the edition whose rules the players chose. The standard rules have no colours, because they are
      used with all boards.
    - The colours of the table's own board.
    - The classic colours.
    """
    if named:
        return named
    if state.edition not in ("", STANDARD_RULES.edition):
        return state.edition
    return OWN_BOARD if state.board_colours else _CLASSIC_COLOURS


def make_colours_path(state: TableSnapshot) -> str:
    """Return the path of the style sheet with the colours of the boards.

    Its query has the colours of the table's own board. So if they change, browsers load the style sheet again instead
    of using their cached copy.
    """
    query = "-".join(colour.removeprefix("#") for _, colour in state.board_colours)
    return f"/editions.css?{query}" if query else "/editions.css"


def flags(state: TableSnapshot) -> str:
    """Return the flags that show or hide buttons of the page, separated by spaces, for example `in-play undo`."""
    flag_values = {
        "in-play": state.phase.in_play,
        "end-due": state.end_due,
        "racks-wanted": bool(state.racks_wanted),
        "clock": state.clock is not None,
        "undo": state.undo,
        "redo": state.redo,
        "no-camera": has_camera_fault(state),
    }
    return " ".join(name for name, holds in flag_values.items() if holds)


def has_camera_fault(state: TableSnapshot) -> bool:
    """Return True if the camera gives no pictures, so that turns have to be entered by hand."""
    faults = (notice for notice in state.notices if notice.trouble is Trouble.CAMERA)
    return any(notice.key not in _WRONG_PICTURE_KEYS for notice in faults)


@dataclass(frozen=True, slots=True)
class SquareView:
    """A square of the board: name, drawn column and row (from 0), premium, text of the premium, tile, and label.

    If words are read from right to left, the drawn column is counted from the right. The label describes the square and
    its tile to screen readers.
    """

    name: str
    column: int
    row: int
    premium: str
    premium_text: str
    tile: TileView | None
    label: str


def short_answer(answer: str) -> str:
    """Return the answer in short form: the letter of a blank, or the number of exchanged tiles.

    Return an empty text if the answer contains anything else. A question may have many short answers, which fit on a
    phone only as a grid of small buttons.
    """
    return values_of(answer)[-1] if key_of(answer) in _SHORT_ANSWER_KEYS else ""


def needs_picture(answer: str) -> bool:
    """Return True if the board is read again after this answer."""
    return key_of(answer) in PICTURE_ANSWERS


def starts_here(state: TableSnapshot, answer: int) -> bool:
    """Return True if the answer with this index starts the game from the position on the board.

    The button of this answer opens a form that asks for the points of the players.
    """
    question = state.question
    return question is not None and question.is_about_start and answer > 0 and not state.turns


def list_rows(state: TableSnapshot) -> tuple[tuple[str, ...], ...]:
    """Return the rows of the board as symbols: a letter for a tile, lower case for a blank, `.` for an empty square.

    In a script without lower case, the symbol of a blank is the letter with an asterisk.
    """
    board, tiles = state.board, state.tiles
    symbols = tuple(
        EMPTY if tile is None else tiles.text(Tile(tile.letter, is_blank=tile.blank)) for tile in board.tiles
    )
    return tuple(symbols[row * BOARD_SIZE : (row + 1) * BOARD_SIZE] for row in range(BOARD_SIZE))


def list_squares(state: TableSnapshot, t: Texts) -> tuple[SquareView, ...]:
    """Return the 225 squares row by row, with texts in the language of `t`."""
    board = state.board
    squares = zip(SQUARES, board.premiums, board.tiles, strict=True)
    return tuple(_make_square_view(square, board.right_to_left, premium, tile, t) for square, premium, tile in squares)


@lru_cache(_MAX_CACHED_SQUARES)
def _make_square_view(square: int, is_mirrored: bool, premium: str, tile: TileView | None, t: Texts) -> SquareView:
    """Return a square as the page draws it. `is_mirrored` is True if words are read from right to left."""
    column = BOARD_SIZE - 1 - column_of(square) if is_mirrored else column_of(square)
    name = square_name(square)
    premium_text = t(f"premium.{premium}") if premium else ""
    if tile is None:
        label = t("board.square_empty", square=f"{name} {premium_text}".rstrip())
    elif tile.blank:
        label = t("board.square_blank", square=name, letter=tile.letter)
    else:
        label = t("board.square", square=name, letter=tile.letter, value=tile.value)
    return SquareView(name, column, row_of(square), premium, premium_text, tile, label)


def list_rule_texts(state: TableSnapshot, t: Texts) -> tuple[tuple[str, str], ...]:
    """Return the rules of the current game as (name, value) texts, or an empty result before the first game."""
    rules = state.rules
    if rules is None:
        return ()
    return tuple((t(key), text) for key, text in _generate_texts(state, rules, t))


def _generate_texts(state: TableSnapshot, rules: Rules, t: Texts) -> Iterator[tuple[str, str]]:
    """Yield the rules of the game as pairs: the key of the name, and the text of the value."""
    yield "new.preset", _describe_preset(rules, t)
    is_shipped = state.lexicon == state.tile_set  # a word list shipped with the program has the name of its tile set
    if state.board.layout != "standard":
        yield "new.layout", t(f"new.layouts.{state.board.layout}")
    if state.lost:
        yield "new.lost", ", ".join(state.lost)
    yield "new.lexicon", t("rules.shipped") if is_shipped else state.lexicon or t("new.lexicon_none")
    yield "new.dictionary", t("new.dictionary_open" if rules.open_dictionary else "new.dictionary_closed")
    yield "rules.challenge", _describe_challenge(rules, t)
    if rules.challenge is not ChallengeRule.VOID:
        decides = state.lexicon is not None and rules.list_decides and not state.lexicon_advises
        yield "new.judge", t("new.judges.list" if decides else "new.judges.players")
    min_bag = rules.exchange_minimum_bag
    yield "new.exchange", t("rules.bag", count=min_bag) if min_bag else t("new.exchange_any")
    yield "new.first_word", t("new.letters", count=rules.first_word_minimum)
    yield "rules.bonus", t("rules.bonus_for", count=rules.bingo_tiles, points=rules.bingo_bonus, rack=rules.rack_size)
    yield "new.unplayed", t(f"new.unplayed_ways.{rules.unplayed}")
    if rules.scoreless_turns:
        yield "rules.scoreless", str(rules.scoreless_turns)
    if state.finish_lines:
        lines = zip(state.players, state.finish_lines, strict=True)
        yield "new.finish", ", ".join(f"{player.name} {points}" for player, points in lines)
        if rules.finish_round:
            yield "new.finish", t("new.finish_round")
        if rules.unplayed is not UnplayedRule.NONE:
            yield "new.finish", t("new.finish_unplayed" if rules.finish_unplayed else "rules.finish_letters")
    if rules.clock_seconds:
        minutes = rules.clock_seconds // 60
        yield "rules.clock", t("rules.clock_for", minutes=minutes, points=rules.overtime_points)
    for variation in rules.variations:
        yield "rules.variation", t(f"new.variations.{variation}")


def _describe_preset(rules: Rules, t: Texts) -> str:
    """Return the name of the preset from which the rules differ least, with a remark if they differ."""
    nearest = find_nearest_preset(rules)
    preset = t(f"new.presets.{nearest}")
    return t("rules.changed", preset=preset) if _count_changes(rules, PRESETS[nearest]) else preset


def find_nearest_preset(rules: Rules) -> str:
    """Return the name of the preset from which the rules differ least.

    If several presets are equally near, one of the edition of the rules is preferred.
    """
    changes = {name: (_count_changes(rules, of), of.edition != rules.edition) for name, of in PRESETS.items()}
    return min(changes, key=changes.__getitem__)


def _count_changes(rules: Rules, preset: Rules) -> int:
    """Return the number of rules that differ from a preset.

    The rule who decides a challenge is not compared, because it depends on the word list.
    """
    return len(asdict(replace(rules, list_decides=preset.list_decides)).items() - asdict(preset).items())


def _describe_challenge(rules: Rules, t: Texts) -> str:
    if rules.challenge is not ChallengeRule.POINTS:
        return t(f"new.challenges.{rules.challenge}")
    payer = "challenger" if rules.challenger_pays else "challenged"
    each = "word" if rules.challenge_each_word else "play"
    return t(f"rules.points.{payer}_{each}", points=rules.challenge_points)


WIDE_CHART, TALL_CHART = (400.0, 180.0), (300.0, 240.0)
"""Width and height of two versions of the score chart, in SVG units. The style sheet shows the version that fits."""
LEFT_MARGIN, RIGHT_MARGIN, TOP_MARGIN, BOTTOM_MARGIN = 36.0, 104.0, 12.0, 14.0
MIN_LABEL_GAP = 18.0
MARK_STEPS_POINTS = (10, 25, 50, 100, 200, 250, 500)
MAX_MARKS = 4


@dataclass(frozen=True, slots=True)
class ChartLine:
    """Line of one player's totals: `points` of an SVG polyline, position of the last point, y of the label."""

    player: int
    points: str
    x: float
    y: float
    label_y: float


@dataclass(frozen=True, slots=True)
class ScoreChart:
    """Score chart of a game: a line for each player, and the ticks of the vertical axis as (total, y)."""

    lines: tuple[ChartLine, ...]
    marks: tuple[tuple[int, float], ...]
    width: float
    height: float
    left: float
    right: float


def build_score_charts(state: TableSnapshot) -> tuple[ScoreChart, ...]:
    """Return a wide and a tall score chart of a game, or an empty tuple before the first turn."""
    return tuple(build_score_chart(state, *size) for size in (WIDE_CHART, TALL_CHART)) if state.turns else ()


def build_score_chart(state: TableSnapshot, width: float, height: float) -> ScoreChart:
    """Return the score chart of a game, with each player's total after each turn; sizes are in SVG units.

    The game must have a turn.
    """
    totals = [[0] for _ in state.players]
    for turn in state.turns:
        for player, line in enumerate(totals):
            line.append(turn.total if player == turn.player else line[-1])
    highest = max(1, *(max(line) for line in totals))
    lowest = min(0, *(min(line) for line in totals))

    def y_of(total: float) -> float:
        share = (total - lowest) / (highest - lowest)
        return round(height - BOTTOM_MARGIN - share * (height - TOP_MARGIN - BOTTOM_MARGIN), 1)

    def x_of(turn: int) -> float:
        return round(LEFT_MARGIN + turn / len(state.turns) * (width - LEFT_MARGIN - RIGHT_MARGIN), 1)

    labels = _space_labels([y_of(line[-1]) for line in totals], height)
    lines = tuple(
        ChartLine(
            player,
            " ".join(f"{x_of(turn)},{y_of(total)}" for turn, total in enumerate(line)),
            x_of(len(line) - 1),
            y_of(line[-1]),
            labels[player],
        )
        for player, line in enumerate(totals)
    )
    step = next((step for step in MARK_STEPS_POINTS if highest - lowest <= MAX_MARKS * step), MARK_STEPS_POINTS[-1])
    marks = tuple((total, y_of(total)) for total in range(math.ceil(lowest / step) * step, highest + 1, step))
    return ScoreChart(lines, marks, width, height, LEFT_MARGIN, width - RIGHT_MARGIN)


def _space_labels(heights: list[float], chart_height: float) -> list[float]:
    """Return the y positions of labels: `heights`, moved apart to `MIN_LABEL_GAP`, but not outside the chart."""
    order = sorted(range(len(heights)), key=lambda i: heights[i])
    spaced = list(heights)
    for above, below in pairwise(order):
        spaced[below] = max(spaced[below], spaced[above] + MIN_LABEL_GAP)
    excess = max(0.0, max(spaced, default=0.0) - (chart_height - BOTTOM_MARGIN / 2))
    return [round(max(TOP_MARGIN / 2, height - excess), 1) for height in spaced]
