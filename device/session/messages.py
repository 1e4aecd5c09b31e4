"""What the session says to people, by key: English here, all languages in the catalogues (`message.<key>`).

`{0}`, `{1}` stand for the values that go with a key. What the engine says of a play, and why a camera, a file or a
disk cannot be used, is written where it is said (`engine.messages`), under keys of the same kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from device.session.snapshot import PASS_OR_EXCHANGE, Notice, Question, Trouble
from engine.errors import TilekeeperError
from engine.messages import Said, key_of, said

TEXTS: Mapping[str, str] = MappingProxyType(
    {
        # Why a command is refused.
        "busy": "One moment: the board is being looked at.",
        "closing": "The table is closing.",
        "no-game": "There is no game yet.",
        "ended": "The game has ended.",
        "paused": "The game is paused: go on first.",
        "not-paused": "The game is not paused.",
        "draw-first": "Draw for first play, and say who drew what.",
        "not-drawing": "Nobody draws now: the game has begun.",
        "draw-each": "Say what each of {0} drew, and nothing for anybody else.",
        "quicker": "Somebody was quicker: the game has moved on. Look again, then press.",
        "nothing-to-resume": "There is no game to go on with.",
        "resume-ended": "The last game has ended.",
        "nothing-asked": "Nothing is asked now.",
        "nothing-to-challenge": "There is no play to challenge.",
        "cannot-exchange": "{0} tiles cannot be exchanged now: {1} are in the bag.",
        "one-tile": "One tile lies on a square, not {0}.",
        "no-blank": "There is no blank on {0}.",
        "blank-letters": "A blank stands for one of {1}, not for {0}.",
        "no-player": "There is no player number {0}.",
        "no-turn": "There is no turn number {0}: the game has {1}.",
        "no-change": "Say what the turn really was.",
        "no-kind": "A turn is a play, a pass or an exchange, not {0}.",
        "needs-word": "Say where the word lies and what it is: 8F and HORN.",
        "needs-count": "Say how many tiles were exchanged, 1 to {0}.",
        "only-score": "What this turn was follows from another: only its score can be put right.",
        "cannot-be-left": "{0} cannot be left: they all lie on the board, or on the racks that were told.",
        "closed-dictionary": "Words are looked up in a challenge only, as long as this game runs.",
        "camera-none": "There is no camera that could look now.",
        "corners-wrong": "These corners are no board: they run clockwise from the top left of the tiles.",
        "no-lesson": "This table learns nothing: there is no place to keep it.",
        "lesson-rows": "A lesson is 15 rows of 15 squares.",
        "lesson-blind": "The board could not be read: {0}.",
        # Why a button of the panel is refused.
        "hold-new-game": "Hold this button for {0} seconds to begin a new game.",
        "hold-power": "Hold this button for {0} seconds to switch the table off.",
        "two-buttons": "Two buttons at once: press one alone.",
        "stuck": "The {0} button is stuck, or something lies on it: it counts for nothing now.",
        "too-quick": "That was quick: press again if you mean it.",
        "nobody-sits": "Nobody sits at this button.",
        "others-turn": "It is the turn of {0}: if that turn is over, its own button ends it first.",
        "hold-for-first": "There is no game yet: hold the new-game button.",
        "hold-for-next": "The game has ended: hold the new-game button for another.",
        "press-pause": "The game is paused: press the pause button to go on.",
        "draw-on-page": "Draw for first play, and say on the page who drew what.",
        "no-pause-but-undo": "This table has no pause. Hold this button to take the last turn back.",
        "no-pause": "This table has no pause.",
        "exchange-on-page": "Say on the page that tiles were exchanged.",
        "new-game-on-page": "A new game is begun on the page.",
        "no-power-off": "This machine is not switched off from here.",
        "button-end-turn": "end-turn",
        "button-end-turn-of": "end-turn {0}",
        "button-challenge": "challenge",
        "button-pause": "pause",
        "button-new-game": "new-game",
        "button-power": "power",
        # What is said besides.
        "not-saved": "This turn is not saved: {0}. Play goes on.",
        "not-learnt": "What the table has learnt of its tiles is not kept: {0}. Reading goes on.",
        "failed": "Something went wrong; nothing was changed. Try again.",
        "pairing-locked": "Somebody typed the wrong code too often: pairing is locked for that device.",
        "pairing-rests": "Many wrong codes were typed: pairing rests for {0} min, then there is a new code.",
        "take-off": "{0} takes back {1}: take the tiles off the board.",
        "challenge-failed": "The challenge failed: every word is in the list.",
        "racks-wanted": "The letters that {0} did not play are not counted yet.",
        "rack-count": "{0} should have {1} tiles left, and {2} were told: is that right?",
        "draw-again": "{0} drew alike: they draw again.",
        "begins": "{0} begins.",
        "two-turns": "Two turns lie on the board: a button was forgotten. They are told apart by when each lay there.",
        # Questions.
        PASS_OR_EXCHANGE: "Nothing new lies on the board. Did {0} pass?",
        "good-words": "Are all these words good: {0}?",
        "who-challenged": "Who challenged? That player loses the next turn.",
        "one-or-two": "A part of this play lay there alone before: did {0} lay all of it, or did {1} add to it?",
        "hidden-pass": "{0} cannot be seen: did {1} lay nothing?",
        # Answers.
        "answer-pass": "{0} passed.",
        "answer-exchange": "{0} exchanged {1}.",
        "answer-looking-up": "They are being looked up.",
        "answer-bad": "No: {0} takes the tiles back.",
        "answer-good": "Yes: the challenge failed.",
        "answer-in-vain": "Yes: {0} challenged in vain.",
        "answer-look-again": "No: look again.",
    }
)


def get_text(key: str, *values: str) -> Said:
    """The sentence of a key."""
    return said(key, TEXTS[key], *values)


def make_notice(key: str, *values: str, trouble: Trouble = Trouble.NONE) -> Notice:
    """A sentence for the people."""
    return Notice(get_text(key, *values), trouble)


def make_question(key: str, *values: str, answers: tuple[str, ...], squares: tuple[int, ...] = ()) -> Question:
    """A question for the people."""
    return Question(get_text(key, *values), answers, squares=squares)


class CommandRefusedError(TilekeeperError):
    """A command that makes no sense now; the message says why, on one line, to whoever gave it."""

    @property
    def key(self) -> str:
        """The key of the message; empty for a text that has none."""
        return key_of(str(self))


def make_refusal(key: str, *values: str) -> CommandRefusedError:
    """Why a command makes no sense now."""
    return CommandRefusedError(get_text(key, *values))


def format_sentence(text: str) -> str:
    """A capital at the beginning, a full stop at the end."""
    whole = text[:1].upper() + text[1:]
    whole = whole if whole.endswith((".", "?", "!")) else f"{whole}."
    return Said(whole, text.key, text.template, text.values) if isinstance(text, Said) else whole
