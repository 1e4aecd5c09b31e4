"""Table states of a typical evening, for tests of the page."""

from __future__ import annotations

from dataclasses import replace

from device.session.clock import ChessClock
from device.session.messages import START_FROM_HERE, Notice, Question, Trouble
from device.session.snapshot import (
    NO_TILES,
    BoardView,
    LetterView,
    LookView,
    Phase,
    PlayerView,
    TableSnapshot,
    TileView,
    TurnView,
    WordView,
)
from engine.messages import make_message

VALUES = {"A": 1, "B": 3, "E": 1, "F": 4, "H": 4, "M": 3, "N": 1, "O": 1, "P": 3, "R": 1, "S": 1, "T": 1, "Z": 10}
PREMIUMS = {"=": "3W", "-": "2W", '"': "3L", "'": "2L", ".": ""}
LAYOUT = (
    "=..'...=...'..=", '.-..."..."...-.', "..-...'.'...-..", "'..-...'...-..'", "....-.....-....",
    '."..."..."...".', "..'...'.'...'..", "=..'...-...'..=", "..'...'.'...'..", '."..."..."...".',
    "....-.....-....", "'..-...'...-..'", "..-...'.'...-..", '.-..."..."...-.', "=..'...=...'..=",
)  # fmt: skip


def word(
    text: str, score: int, *, factors: str = "", times: int = 1, new: str = "", valid: bool | None = True
) -> WordView:
    letters = tuple(
        LetterView(
            letter.upper(), 0 if letter.islower() else VALUES[letter], letter.islower(), mark == "*", int(factor)
        )
        for letter, factor, mark in zip(text, factors or "1" * len(text), new or "*" * len(text), strict=True)
    )
    return WordView(text.upper(), letters, times, score, valid)


def board(new: str = "PASTE") -> BoardView:
    tiles: list[TileView | None] = [None] * 225
    lines = {"HORN": (7, 4, 1), "FARM": (5, 6, 15), "PASTE": (9, 3, 1), "MoB": (8, 8, 15)}
    for text, (row, column, step) in lines.items():
        for i, letter in enumerate(text):
            blank = letter.islower()
            value = 0 if blank else VALUES[letter]
            tiles[row * 15 + column + i * step] = TileView(letter.upper(), value, blank, text == new)
    return BoardView(tuple(tiles), tuple(PREMIUMS[sign] for line in LAYOUT for sign in line))


EMPTY = TableSnapshot(board=replace(board(), tiles=NO_TILES))
HORN = TurnView(1, 0, "play", 14, 14, "8E", "HORN", (word("HORN", 14, factors="1111", times=2),), 0)
FARM = TurnView(2, 1, "play", 9, 9, "G6", "FARM", (word("FARM", 9, new="**.*"),), 0)
PASTE = TurnView(
    3, 0, "play", 25, 39, "10D", "PASTE",
    (word("PASTE", 14, factors="11211", times=2), word("FARMS", 11, factors="11112", new="....*")), 0,
)  # fmt: skip
BEFORE = TableSnapshot(
    revision=1,
    game=1,
    events=1,
    phase=Phase.TURN,
    players=(PlayerView("Anna", 0), PlayerView("Ben", 0)),
    turn_of=0,
    board=EMPTY.board,
    tile_set="en",
    edition="classic-2008",
    language="English",
    lexicon="word-list",
    in_bag=86,
    unseen=(("A", 9), ("B", 2), ("?", 2)),
    exchange_most=7,
)
MIDGAME = replace(
    BEFORE,
    revision=7,
    undo=True,
    events=4,
    players=(PlayerView("Anna", 39), PlayerView("Ben", 9)),
    turn_of=1,
    turns=(HORN, FARM, PASTE),
    board=board(),
    look=LookView("1-3", (8 * 15 + 6, 9 * 15 + 7), (210, 211), 0.5),
    in_bag=69,
)
PHONY = replace(
    MIDGAME,
    revision=8,
    events=5,
    players=(PlayerView("Anna", 39), PlayerView("Ben", 41)),
    turn_of=0,
    turns=(
        *MIDGAME.turns,
        TurnView(
            4, 1, "play", 32, 41, "8I", "MoB",
            (word("MoB", 16, factors="212", times=1, valid=False), word("NOT", 9), word("BE", 7)), 50,
        ),
    ),
    board=board("MoB"),
)  # fmt: skip
ADVISED = replace(
    MIDGAME,
    revision=9,
    turns=(replace(HORN, words=(replace(HORN.words[0], valid=None, unlisted=True),)),),
    lexicon="ngerman",
    lexicon_advises=True,
)
UNCHECKED = replace(MIDGAME, revision=9, lexicon=None, tile_set="de", language="German")
LOOKING = replace(MIDGAME, revision=10, phase=Phase.LOOKING)
CONFUSED = replace(
    MIDGAME,
    revision=11,
    notices=(Notice("The tiles are not in one row or column: look at K9 and M11.", Trouble.BOARD),),
)
ENDED = replace(
    MIDGAME,
    revision=12,
    phase=Phase.ENDED,
    turn_of=None,
    winners=(0,),
    players=(
        PlayerView("Anna", 402),
        PlayerView("Ben", 377),
        PlayerView("Christiane-Margarete", 401),
        PlayerView("D", -7),
    ),
    in_bag=0,
)
ASKED = replace(
    MIDGAME,
    revision=13,
    phase=Phase.QUESTION,
    question=Question(
        "Which tile is on G10: T or I?",
        ("Anna played PASTE at 10D for 25.", "Anna played PASIE."),
        squares=(9 * 15 + 6,),
    ),
)
CHALLENGED = replace(
    MIDGAME,
    revision=13,
    phase=Phase.QUESTION,
    question=Question(
        make_message("good-words", "Are all these words valid: {0}?", "PASTE"),
        ("This is not decided yet.", "No: Anna takes the tiles back.", "Yes: the challenge failed."),
    ),
)
BEGUN = replace(
    BEFORE,
    revision=15,
    phase=Phase.QUESTION,
    question=Question(
        make_message(START_FROM_HERE, "There are already {0} tiles on the board. Do you want to start from here?", 15),
        ("Look again.", "Start from here with 0 points."),
        squares=tuple(square for square, tile in enumerate(board().tiles) if tile),
        symbols=(
            (".",) * 15,
            tuple(tile.letter.lower() if tile.blank else tile.letter for tile in board().tiles if tile),
        ),
        can_defer=True,
    ),
)
RACKS = replace(
    ENDED, revision=14, players=ENDED.players[:2], in_bag=0, unseen=(("Q", 1), ("A", 2)), racks_wanted=(0, 1)
)
FINISHED = replace(
    ENDED,
    revision=15,
    undo=True,
    players=(PlayerView("Anna", 402), PlayerView("Ben", 377)),
    turns=(
        HORN, FARM, PASTE,
        replace(HORN, number=4, player=1, score=74, total=83, word="SHORTEN", bonus=50, at="12C"),
        TurnView(5, 0, "endrack", 9, 402, word="QA"), TurnView(6, 1, "endrack", -9, 377, word="QA"),
    ),
)  # fmt: skip
TIMED = replace(MIDGAME, revision=16, clock=ChessClock(1500, 10, (310.0, 754.0), running=None))
DRAWING = replace(BEFORE, revision=17, phase=Phase.DRAWING, turn_of=None, drawing=(0, 1))
PAUSED = replace(TIMED, revision=18, phase=Phase.PAUSED, clock=ChessClock(1500, 10, (310.0, 1554.0), paused=True))
EVERY = {
    "finished": FINISHED, "timed": TIMED, "drawing": DRAWING, "paused": PAUSED,
    "racks": RACKS,
    "asked": ASKED, "challenged": CHALLENGED,
    "empty": EMPTY, "before": BEFORE, "midgame": MIDGAME, "phony": PHONY,
    "unchecked": UNCHECKED, "advised": ADVISED, "looking": LOOKING, "confused": CONFUSED, "ended": ENDED,
}  # fmt: skip
