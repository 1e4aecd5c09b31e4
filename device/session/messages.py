"""Messages of the session to the players: notices, refusals, and questions with their answers.

A message is an English text with a key, with which clients find the translation in the catalogues (msgid
`message.KEY`). The English texts are in a catalogue, too (`device.catalogue.get_text`); those of `engine`, `vision` and
`calibration` are also in the code (`engine.messages.make_message`).
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType

from device.catalogue import get_text
from engine.board import Board, Square
from engine.descriptions import describe_events
from engine.errors import NotationError, RulesError, TilekeeperError
from engine.events import (
    BlankNamed,
    ClockRead,
    Event,
    GameEnded,
    Passed,
    PlayWithdrawn,
    PositionEntered,
    QuestionDeferred,
    TurnCorrected,
)
from engine.game import Game
from engine.messages import Message, key_of, replace_values, values_of
from engine.reading import EMPTY, BoardReading
from engine.rules import ChallengeRule
from engine.tiles import TileSet
from engine.validation import Finding, Option, Reason
from engine.validation.deferred_questions import find_new_names, find_open_question, find_open_questions

_FILE_NAME = re.compile(r"\S*\w[./]\w")

WHO_CHALLENGED, WHO_PAYS = "who-challenged", "who-challenged-pays"
"""Keys of the question "who has challenged?" after a challenge of a valid play. With `WHO_CHALLENGED`, the challenger
loses the next turn; with `WHO_PAYS`, the challenger loses points."""
_PICTURE_ADVICE: Mapping[str, str] = MappingProxyType(
    {
        "board-cut-left": "take-left",
        "board-cut-top": "take-top",
        "board-cut-right": "take-right",
        "board-cut-bottom": "take-bottom",
        "board-small": "take-closer",
    }
)
"""Advice for taking another picture, by the problem of the last picture; both are keys of messages."""
TILE_LOST = "tile-lost"
"""Key of the inference's question about a recorded tile that is no longer seen."""
OLD_TILE_KEYS = (f"asked-{Reason.OLD_TILE_DIFFERS}", f"asked-{Reason.PASS_UNSURE}", TILE_LOST)
"""Keys of the questions about recorded tiles, which are asked once for each square."""

START_FROM_HERE = f"asked-{Reason.BOARD_ALREADY_FULL}"
"""Key of the question whether the game starts from the position in the first picture."""
PICTURE_ANSWERS = ("answer-look-again", "answer-read-again")
"""Keys of the answer *Look again* in questions of the inference and of the validation. After these answers, the board
is read again."""

PASS_OR_EXCHANGE = "pass-or-exchange"
"""Key of the question \"passed, exchanged, or a mistake?\", which the challenge button of the panel answers."""
PASS_OR_MISTAKE = "pass-or-mistake"
"""Key of the question \"passed, or pressed by mistake?\", which is asked if the player may not exchange tiles."""
PASS_KEYS = (PASS_OR_EXCHANGE, PASS_OR_MISTAKE)
"""Keys of the questions about a turn without new tiles (`Question.is_about_pass`)."""


class Trouble(StrEnum):
    """Subject of a notice, which determines the colour of the status light."""

    NONE = "none"
    BOARD = "board"
    CAMERA = "camera"
    STORE = "store"


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence for the players.

    `text` is in English; clients translate it to other languages with its key (`engine.messages`).
    """

    text: str
    trouble: Trouble = Trouble.NONE

    @property
    def key(self) -> str:
        """The key of the text in the catalogue, or an empty string if the text has no key."""
        return key_of(self.text)


@dataclass(frozen=True, slots=True)
class Question:
    """A question for the players. The answer `chosen` is in effect until the players choose another one.

    - `squares` (`row * 15 + column`): the squares of the question.
    - `symbols`: for each answer, the symbols on these squares (a lower-case letter is a blank, `.` an empty square).
      Empty if the question is not about tiles.
    - `picture`: name of a picture of these squares in the photograph, or an empty string.
    - `can_defer`: True if the players may answer later.
    - `can_look_again`: True if they may have the board read again, and none of the answers does this.
    """

    text: str
    answers: tuple[str, ...]
    chosen: int = 0
    squares: tuple[int, ...] = ()
    symbols: tuple[tuple[str, ...], ...] = ()
    picture: str = ""
    can_defer: bool = False
    can_look_again: bool = False
    id: int = 0
    """Number that identifies an open question, computed from its texts and events; 0 for a deferred question."""

    @classmethod
    def from_event(cls, deferred: QuestionDeferred) -> Question:
        """Return the question that the event `deferred` contains."""
        return cls(deferred.text, deferred.texts, deferred.chosen, deferred.squares)

    def with_names(self, names: Mapping[str, str]) -> Question:
        """Return the question with other names of players; `names` are the new names by the old ones."""
        text, *answers = (format_sentence(replace_values(text, names)) for text in (self.text, *self.answers))
        return replace(self, text=text, answers=tuple(answers))

    @property
    def key(self) -> str:
        """The key of the text in the catalogue, or an empty string if the text has no key."""
        return key_of(self.text)

    @property
    def is_about_pass(self) -> bool:
        """True if the question is about a turn without new tiles, which is recorded as a pass until the answer."""
        return self.key in PASS_KEYS

    @property
    def is_about_challenger(self) -> bool:
        """True if the question is who has challenged a valid play."""
        return self.key in (WHO_CHALLENGED, WHO_PAYS)


@dataclass(frozen=True, slots=True)
class DeferredQuestion:
    """A question that the players answer later, with the number that identifies it in the game."""

    number: int
    question: Question


def make_notice(key: str, *values: str, trouble: Trouble = Trouble.NONE) -> Notice:
    """Return a notice with the message `key`; `values` replace its placeholders."""
    return Notice(get_text(key, *values), trouble)


def make_question(key: str, *values: str, answers: tuple[str, ...], squares: tuple[int, ...] = ()) -> Question:
    """Return a question with the message `key`; `values` replace its placeholders."""
    return Question(get_text(key, *values), answers, squares=squares)


class CommandRefusedError(TilekeeperError):
    """Error for a command that is refused in the current state of the game; the message is the reason."""

    @property
    def key(self) -> str:
        """The key of the message, or an empty string if the text has no key."""
        return key_of(str(self))


def make_refusal(key: str, *values: str) -> CommandRefusedError:
    """Return a `CommandRefusedError` with the message `key`; `values` replace its placeholders."""
    return CommandRefusedError(format_sentence(get_text(key, *values)))


def format_sentence(text: str) -> str:
    """Return a text as a sentence, with a capital letter and a full stop; a `Message` keeps its key.

    A name of a file at the beginning stays as it is.

    >>> format_sentence("there is no tile on H8"), format_sentence("games.db was damaged")
    ('There is no tile on H8.', 'games.db was damaged.')
    """
    sentence = text if _FILE_NAME.match(text) else text[:1].upper() + text[1:]
    if not sentence.endswith((".", "?", "!")):
        sentence += "."
    return Message(sentence, text.key, text.template, text.values) if isinstance(text, Message) else sentence


@contextmanager
def convert_engine_errors() -> Iterator[None]:
    """Convert errors of the engine that the `with` block raises into `CommandRefusedError`."""
    try:
        yield
    except (NotationError, RulesError) as error:
        raise CommandRefusedError(format_sentence(str(error))) from error


def list_deferred_questions(game: Game) -> tuple[DeferredQuestion, ...]:
    """Return the deferred questions of a game, the oldest question first."""
    return tuple(DeferredQuestion(event.number, Question.from_event(event)) for event in find_open_questions(game))


def update_names(game: Game, deferred: DeferredQuestion) -> DeferredQuestion:
    """Return a deferred question of a game with the current names of the players."""
    event = find_open_question(game, deferred.number)
    return replace(deferred, question=deferred.question.with_names(find_new_names(game, event))) if event else deferred


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """An open question with the events of each answer.

    - `chosen_counts`: the chosen answer (at first the first one) counts until the players choose another one, and its
      events are recorded. If it is False, nothing is recorded before they answer.
    - `stops_clock`: the clocks are stopped until the players answer, for example while they decide a challenge.
    - `was_unrecorded`: the panel has chosen an answer, and nothing was recorded before.
    - `reading`: the reading of the board that the question is about.
    - `deferred`: the number of a deferred question that is shown again, otherwise 0.
    - `finding`: the finding of the validation that caused the question, or None.
    - `following`: the question that follows from the answer that the panel chose, or None. It is deferred when the
      choice is final.
    - `offers_wait`: the question is about a turn that was not read in time. Its first answer is to wait for the
      reading, its second answer is to enter the turn.
    """

    question: Question
    answers: tuple[tuple[Event, ...], ...]
    chosen_counts: bool = True
    stops_clock: bool = False
    was_unrecorded: bool = False
    finding: Finding | None = None
    offers_wait: bool = False
    reading: BoardReading | None = None
    deferred: int = 0
    following: OpenQuestion | None = None

    @property
    def view(self) -> Question:
        """The question for clients, with its `id`, and with `can_defer` and `can_look_again` set.

        The `id` depends only on the texts and events. So it is the same after a restart, and after the panel has chosen
        an answer.
        """
        is_about_turn = not self.stops_clock and not self.question.is_about_challenger
        contents = self.question.text, self.question.answers, self.question.squares, self.answers, self.deferred
        number = zlib.crc32(repr(contents).encode()) or 1
        lacks_picture = self.reading is not None and not any(map(self.asks_for_picture, range(len(self.answers))))
        return replace(self.question, can_defer=is_about_turn, can_look_again=lacks_picture, id=number)

    def asks_for_picture(self, number: int) -> bool:
        """Return True if the answer `number` means that the board is to be read again."""
        return not self.answers[number] and key_of(self.question.answers[number]) in PICTURE_ANSWERS

    @property
    def is_deferrable(self) -> bool:
        """True if the turn counts provisionally until the players answer, and the answers may change its score."""
        counts = self.chosen_counts and bool(self.answers[self.question.chosen])
        has_one_score = self.question.is_about_pass or self.question.is_about_challenger
        return counts and not self.stops_clock and not has_one_score

    @property
    def is_challenge(self) -> bool:
        """True if the players decide whether the words of a challenged play are valid."""
        return self.stops_clock and not self.offers_wait

    @property
    def is_about_player(self) -> bool:
        """True if the question asks whose turn it was. After the answer, another question about the turn may follow."""
        return self.finding is not None and self.finding.reason in (Reason.OUT_OF_TURN, Reason.PRESS_MISSED)

    @property
    def is_about_old_tiles(self) -> bool:
        """True if the question is about tiles of recorded turns; its answer is stored with the game."""
        return self.question.key in OLD_TILE_KEYS

    def make_deferred(self, events: Sequence[Event], chosen: int | None = None) -> QuestionDeferred:
        """Return the event that stores this question for a later answer.

        `events` are the last events of the game, which the question is about. The answer *Look again* is left out. If
        the question is about missing tiles, and no answer keeps their play while the game goes on, an answer without
        events is added. This answer means that the players did not take back the play: the picture was an old one, or
        something covered the tiles.

        `chosen` is the index of the answer in effect; None means the chosen answer of the question. The number of the
        event is 0, because it is assigned later.
        """
        pairs = zip(self.question.answers, self.answers, strict=True)
        offered = [(text, answer) for text, answer in pairs if answer]
        is_removed = self.finding is not None and self.finding.reason is Reason.TILES_REMOVED
        other_kinds = PlayWithdrawn, TurnCorrected, GameEnded  # first events of answers that do not keep the play
        if is_removed and all(isinstance(answer[0], other_kinds) for _, answer in offered):
            offered.append((get_text("answer-not-taken-back"), ()))
        texts, answers = zip(*offered, strict=True)
        earlier_answers = self.answers[: self.question.chosen if chosen is None else chosen]
        return QuestionDeferred(
            number=0,
            text=self.question.text,
            texts=texts,
            answers=answers,
            count=sum(not isinstance(event, ClockRead) for event in events),
            chosen=sum(bool(answer) for answer in earlier_answers),  # its index among the answers that are offered
            squares=self.question.squares,
        )


def make_recalled_question(game: Game, deferred: QuestionDeferred) -> OpenQuestion:
    """Return a deferred question of a game as the open question of the table."""
    question = Question.from_event(deferred).with_names(find_new_names(game, deferred))
    return OpenQuestion(question, deferred.answers, deferred=deferred.number)


def make_wait_question(max_s: float) -> OpenQuestion:
    """Return the question about a turn that was not read within `max_s` seconds; it stops the clocks."""
    answers = get_text("answer-wait"), get_text("answer-by-hand")
    question = make_question("not-read-in-time", f"{max_s:.0f}", answers=answers)
    return OpenQuestion(question, ((), ()), chosen_counts=False, stops_clock=True, offers_wait=True)


def make_finding_question(game: Game, finding: Finding) -> OpenQuestion:
    """Return the question about a finding of the validation, with an answer for each option of the finding."""
    answers: dict[str, tuple[Event, ...]] = {}
    for option in finding.options:
        answers.setdefault(_describe_option(game, finding, option), option.events)
    question = make_question(
        f"asked-{finding.reason}", *finding.values, answers=tuple(answers), squares=finding.squares
    )
    if finding.reason is Reason.BOARD_ALREADY_FULL:
        boards = [_add_position(game.board, option.events) for option in finding.options]
        question = replace(question, symbols=list_symbols(boards, game.tiles, finding.squares))
    is_counted = bool(finding.options[0].events)
    return OpenQuestion(question, tuple(answers.values()), chosen_counts=is_counted, finding=finding)


def make_challenger_question(game: Game, seats: Sequence[int]) -> Question:
    """Return the question "who has challenged?" about a valid play; the answers are the players on `seats`."""
    key = WHO_CHALLENGED if game.rules.challenge is ChallengeRule.DOUBLE else WHO_PAYS
    return make_question(key, answers=tuple(game.players[seat] for seat in seats))


def _add_position(board: Board, events: Sequence[Event]) -> Board:
    """Return the board with the tiles of the entered position, if there is one among the events."""
    for event in events:
        if isinstance(event, PositionEntered):
            board = board.with_tiles(dict(event.board))
    return board


def list_symbols(boards: Iterable[Board], tiles: TileSet, squares: Sequence[Square]) -> tuple[tuple[str, ...], ...]:
    """Return the symbols (letter, blank or empty) on the given squares, for each board."""

    def find_symbol(board: Board, square: Square) -> str:
        tile = board[square]
        return EMPTY if tile is None else tiles.text(tile)

    return tuple(tuple(find_symbol(board, square) for square in squares) for board in boards)


def make_finding_notice(finding: Finding) -> Notice:
    """Return the notice about a finding of the validation."""
    trouble = Trouble.NONE if finding.reason is Reason.PASS_UNANSWERED else Trouble.BOARD  # most passes are right
    return Notice(get_text(f"noted-{finding.reason}", *finding.values), trouble)


def _describe_option(game: Game, finding: Finding, option: Option) -> str:
    if not option.events:
        return get_text("answer-mistake" if option.is_mistake else "answer-read-again")
    if isinstance(option.events[-1], GameEnded):
        return get_text("answer-game-over")
    if option.events == (Passed(game.to_move),) and finding.reason is Reason.OLD_TILE_DIFFERS:
        return get_text("answer-as-recorded")
    if isinstance(option.events[-1], PositionEntered):
        return get_text("answer-start-here", game.players[option.events[-1].to_move])
    if isinstance(option.events[-1], BlankNamed):
        return get_text("answer-blank", option.events[-1].letter)
    return format_sentence(describe_events(game, game.push(*option.events), option.events))


def find_picture_advice(problems: Iterable[str]) -> str:
    """Return the key of the advice for the first of the `problems` that has one, or an empty string.

    A problem may also be part of another message ("No board was found. The board is cut off at the top ...").
    """
    keys = [key_of(part) for problem in problems for part in (problem, *values_of(problem))]
    return next((_PICTURE_ADVICE[key] for key in keys if key in _PICTURE_ADVICE), "")
