"""Questions to the players: how a doubt about a turn is recorded, and how it is shown.

A question is asked about a turn before it is recorded (`TurnQuestion`). It is recorded with the turn, as the doubt of
its entry in the ledger. What the players see (`Question`) is made from the ledger each time, with the present names.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from device.catalogue import get_text
from device.session.messages import (
    CHALLENGE_KEYS,
    NOT_READ_IN_TIME,
    PICTURE_ANSWERS,
    START_FROM_HERE,
    DeferredQuestion,
    Question,
    format_sentence,
    make_question,
)
from engine.blanks import find_blank_letters, unnamed_blanks
from engine.board import Board, Square, square_name
from engine.descriptions import describe_events
from engine.errors import NotationError, RulesError
from engine.events import (
    BlankNamed,
    Event,
    GameEnded,
    Passed,
    PlayMade,
    PlayWithdrawn,
    PositionEntered,
    SquareCorrected,
    TurnCorrected,
)
from engine.game import Game
from engine.ledger import (
    Alternative,
    AnswerText,
    Doubt,
    Due,
    Entry,
    Ledger,
    Note,
    Seat,
    Sentence,
    Source,
    Value,
    find_counting_entries,
    find_disputed_squares,
    find_shown_entry,
    try_alternative,
)
from engine.lexicon import WordList, find_deciding_words
from engine.messages import Message, join_messages, key_of
from engine.reading import EMPTY, BoardReading
from engine.tiles import Tile, TileSet
from engine.validation import Finding, Option, Reason
from engine.validation.alternative_plays import MAX_ALTERNATIVES, find_plausible_letters

WAIT_QUESTION_ID = 1
"""The `id` of the question whether to wait for a reading, which is not recorded."""


@dataclass(frozen=True, slots=True)
class TurnQuestion:
    """A question about a turn that is not recorded yet: its text, and the events of each answer.

    The events of the first answer count until the players choose another one. If it has none, nothing is recorded
    before they answer. `finding` is the finding of the validation that caused the question, or None.
    """

    question: Question
    answers: tuple[tuple[Event, ...], ...]
    finding: Finding | None = None

    @property
    def is_answer_recorded(self) -> bool:
        """True if the events of an answer count before the players answer."""
        return bool(self.answers[0])

    def split_picture(self) -> tuple[TurnQuestion, bool]:
        """Return the question without the answer *Look again*, and True if the question had this answer.

        As the first answer, *Look again* stays: it means that nothing counts before the players answer.
        """
        texts = self.question.answers
        pairs = [
            (text, events)
            for number, (text, events) in enumerate(zip(texts, self.answers, strict=True))
            if number == 0 or events or key_of(text) not in PICTURE_ANSWERS
        ]
        question = replace(self.question, answers=tuple(text for text, _ in pairs))
        rest = replace(self, question=question, answers=tuple(events for _, events in pairs))
        return rest, len(pairs) < len(texts)


def make_finding_question(game: Game, finding: Finding) -> TurnQuestion:
    """Return the question about a finding of the validation, with an answer for each option of the finding."""
    answers: dict[str, tuple[Event, ...]] = {}
    for option in finding.options:
        answers.setdefault(_describe_option(game, finding, option), option.events)
    if finding.reason is Reason.TILES_REMOVED and _lacks_kept_play(answers.values()):
        answers[get_text("answer-not-taken-back")] = ()
    question = make_question(
        f"asked-{finding.reason}", *finding.values, answers=tuple(answers), squares=finding.squares
    )
    return TurnQuestion(question, tuple(answers.values()), finding)


def _describe_option(game: Game, finding: Finding, option: Option) -> str:
    """Return the text of the answer that chooses an option of a finding."""
    if not option.events:
        return get_text("answer-mistake" if option.is_mistake else "answer-read-again")
    if isinstance(option.events[-1], GameEnded):
        return get_text("answer-game-over")
    if option.events == (Passed(game.to_move),) and finding.reason is Reason.OLD_TILE_DIFFERS:
        return get_text("answer-as-recorded")
    if isinstance(option.events[-1], PositionEntered):
        return get_text("answer-start-here", game.players[option.events[-1].to_move])
    return format_sentence(describe_events(game, game.push(*option.events), option.events))


def _lacks_kept_play(answers: Iterable[Sequence[Event]]) -> bool:
    """Return True if the question about missing tiles has no answer that the play stands and the game goes on.

    The players need this answer: the picture may be an old one, or something has covered the tiles.
    """
    firsts = (events[0] for events in answers if events)
    return all(isinstance(first, PlayWithdrawn | TurnCorrected | GameEnded) for first in firsts)


def make_doubt(
    game: Game,
    asked: TurnQuestion,
    alternatives: Sequence[Alternative],
    seat: int | None,
    reading: BoardReading | None,
    *,
    offers_picture: bool = False,
) -> Doubt:
    """Return the doubt of the next entry of `game`, which stores the question `asked` about its `alternatives`.

    The text of the question is stored in parts, so that it can be shown later with the names and turns that are right
    then. `seat` is the player whose own button was pressed, or None. `reading` is the reading that the question is
    about. `offers_picture` is True if another picture may answer the question.
    """
    described = {text: n for n, events in enumerate(asked.answers) if (text := _describe(game, events))}
    seats = range(len(game.players))
    roles = [Due((player - game.to_move) % len(seats)) if seat is None else Seat(player) for player in seats]
    names: dict[str, Value] = dict(zip(game.players, roles, strict=True))
    answers = enumerate(asked.question.answers)
    texts = {n: _store_text(text, {}, names) for n, text in answers if described.get(text) != n}
    values = _store_values(asked.question.text, described, names)
    squares = asked.question.squares
    entry = Entry(game.entry, 0, tuple(alternatives))
    disputed = find_disputed_squares(game, entry)
    reads = [reading.squares[square] for square in disputed] if reading is not None else []
    return Doubt(
        asked.question.key,
        values,
        tuple((n, text) for n, text in texts.items()),
        squares,
        tuple(read.symbol for read in reads),
        min((read.confidence for read in reads), default=1.0),
        waits=not asked.is_answer_recorded,
        offers_picture=offers_picture,
    )


def _describe(game: Game, events: Sequence[Event]) -> str:
    """Return a sentence for the events of an answer, or an empty string if there are none or they are impossible."""
    try:
        return format_sentence(describe_events(game, game.push(*events), events)) if events else ""
    except (NotationError, RulesError):
        return ""


def _store_values(text: str, described: Mapping[str, int], names: Mapping[str, Value]) -> tuple[Value, ...]:
    values = text.values if isinstance(text, Message) and (text.key or text.values) else (text,)
    return tuple(_store_value(value, described, names) for value in values)


def _store_value(value: str, described: Mapping[str, int], names: Mapping[str, Value]) -> Value:
    """Return a value of a text as it is stored: an answer by its number, a player by the role, a message by its key.

    `described` has the numbers of the answers by their text, and `names` the roles of the players by their name.
    """
    if (number := described.get(format_sentence(value))) is not None:
        return AnswerText(number)
    if isinstance(value, Message) and (value.key or value.values):
        return _store_text(value, described, names)
    return names.get(value, str.__str__(value))


def _store_text(text: str, described: Mapping[str, int], names: Mapping[str, Value]) -> Sentence:
    return Sentence(key_of(text), _store_values(text, described, names))


def find_asked_words(ledger: Ledger) -> frozenset[str]:
    """Return the unlisted words about which the players were asked."""
    doubts = (entry.doubt for entry in ledger.in_effect if entry.doubt is not None)
    texts = (str(doubt.values[0]) for doubt in doubts if doubt.code == f"asked-{Reason.WORD_UNLISTED}")
    return frozenset(word for text in texts for word in text.split(", "))


# Blanks


def make_blank_doubts(
    ledger: Ledger, words: WordList | None, reading: BoardReading | None
) -> list[tuple[tuple[Alternative, ...], Doubt]]:
    """Return a question about each blank on the board whose letter has not been asked for: its alternatives and doubt.

    The first answer leaves the letter open. Some answers say that the tile is a letter that was misread as a blank. The
    others name the blank; if words may be looked up, only with letters that make valid words.
    """
    game, asked = ledger.game, _find_asked_blanks(ledger)
    found = []
    for square in unnamed_blanks(game.state):
        letters = _find_letters(game, words, square)
        if square in asked or not letters:
            continue
        alternatives: list[Alternative] = [()]
        if reading is not None:
            likely = find_plausible_letters(game, reading, square, Tile.unnamed())
            best = sorted(likely, key=lambda letter: -likely[letter])[:MAX_ALTERNATIVES]
            alternatives += [(SquareCorrected(square, Tile(letter), told=True),) for letter in best]
        alternatives += [(BlankNamed(square, letter),) for letter in letters]
        texts = [(0, Sentence("answer-blank-later"))]
        for number, steps in enumerate(alternatives):
            match steps:
                case (BlankNamed(_, letter),):
                    texts.append((number, Sentence("answer-blank", (letter,))))
                case (SquareCorrected(_, tile),):
                    texts.append((number, Sentence("answer-letter", (str(tile),))))
        values = (square_name(square),)
        doubt = Doubt("asked-blank-unnamed", values, tuple(texts), (square,))
        found.append((tuple(alternatives), doubt))
    return found


def _find_asked_blanks(ledger: Ledger) -> set[Square]:
    doubts = (entry.doubt for entry in ledger.in_effect if entry.doubt is not None)
    return {square for doubt in doubts if doubt.code == "asked-blank-unnamed" for square in doubt.squares}


def _find_letters(game: Game, words: WordList | None, square: Square) -> tuple[str, ...]:
    """Return the letters to offer for a blank; none if its play does not count because of another letter."""
    deciding = find_deciding_words(words)
    if deciding is not None and game.find_void_words(deciding):
        return ()
    if words is None or not game.rules.open_dictionary:
        return game.tiles.letters
    return find_blank_letters(game.state, square, words.__contains__)


# Showing


def show_question(
    ledger: Ledger, entry: Entry, game_number: int, picture: str = "", *, is_deferred: bool = False
) -> Question:
    """Return the question of an entry as the players see it.

    `picture` is the name of a picture of the squares in question. If another picture may answer the question, the
    answer *Look again* is added as the last one, so that its number is that of the alternatives. A question that the
    players answer later (`is_deferred`) does not get it, because the board has changed since.
    """
    assert entry.doubt is not None
    doubt, before = entry.doubt, ledger.find_game_before(entry)
    answers = [_describe_answer(ledger, before, entry, number) for number in range(len(entry.alternatives))]
    text = _write_sentence(Sentence(doubt.code, doubt.values), before, dict(enumerate(answers)))
    is_newest_reading = entry.source in (Source.PRESS, Source.AUTOMATIC) and entry.group == ledger.last_group
    offers_picture = is_newest_reading and not is_deferred and doubt.offers_picture
    if offers_picture:
        answers.append(get_text("answer-read-again"))
    return Question(
        format_sentence(text),
        tuple(answers),
        ledger.find_chosen(entry),
        doubt.squares,
        _list_symbols(before, entry),
        picture,
        can_defer=not is_challenge(entry),
        can_look_again=is_newest_reading and not offers_picture and not asks_for_picture(0, entry),
        id=zlib.crc32(f"{game_number}-{entry.number}".encode()) or 1,
    )


def _describe_answer(ledger: Ledger, before: Game, entry: Entry, number: int) -> str:
    """Return the text of an answer to the question of an entry; `before` is the game before the entry."""
    assert entry.doubt is not None
    custom = dict(entry.doubt.answers).get(number)
    if custom is not None:
        return _write_sentence(custom, before, {})
    return format_sentence(_describe_alternative(ledger, before, entry, number))


def list_open_questions(ledger: Ledger, game_number: int, pictures: Mapping[int, str]) -> tuple[DeferredQuestion, ...]:
    """Return the questions that the players have not answered, except the one that is shown now; the oldest first.

    `pictures` has the names of their pictures by the number of the entry.
    """
    shown = find_shown_entry(ledger)
    return tuple(
        DeferredQuestion(
            entry.number,
            show_question(ledger, entry, game_number, pictures.get(entry.number, ""), is_deferred=True),
        )
        for entry in find_counting_entries(ledger)
        if entry is not shown
    )


def is_challenge(entry: Entry) -> bool:
    """Return True if the players decide whether the words of a challenged play are valid."""
    return entry.doubt is not None and entry.doubt.code in CHALLENGE_KEYS


def asks_for_picture(number: int, entry: Entry) -> bool:
    """Return True if an answer to the question of an entry means that the board is to be read again."""
    if number == len(entry.alternatives):
        return entry.doubt is not None and entry.doubt.offers_picture
    text = dict(entry.doubt.answers).get(number) if entry.doubt is not None else None
    return text is not None and not entry.alternatives[number] and text.code in PICTURE_ANSWERS


def make_wait_question(max_s: float) -> Question:
    """Return the question about a turn that was not read within `max_s` seconds."""
    answers = get_text("answer-wait"), get_text("answer-by-hand")
    question = make_question(NOT_READ_IN_TIME, f"{max_s:.0f}", answers=answers)
    return Question(question.text, question.answers, id=WAIT_QUESTION_ID)


def _describe_alternative(ledger: Ledger, before: Game, entry: Entry, number: int) -> str:
    """Return a sentence for an alternative of an entry; `before` is the game before the entry."""
    steps = [step for step in entry.alternatives[number] if not isinstance(step, Note)]
    try:
        is_corrected = ledger.is_corrected(entry)  # otherwise, the game after the alternative is found sooner
        after = ledger.find_game_after(entry, number) if is_corrected else try_alternative(before, entry, number)
        return describe_events(before, after, steps)
    except (NotationError, RulesError):  # it is not possible any more
        return get_text("answer-impossible")


def _write_sentence(sentence: Sentence, before: Game, answers: Mapping[int, str]) -> str:
    values = [_write_value(value, before, answers) for value in sentence.values]
    if not sentence.code:
        return join_messages(", ", values) if len(values) > 1 else "".join(values)
    return get_text(sentence.code, *values)


def _write_value(value: Value, before: Game, answers: Mapping[int, str]) -> str:
    """Return a stored value of a question's text as it is shown, with the present names of the players."""
    match value:
        case Seat(player):
            return before.players[player % len(before.players)]
        case Due(later):
            return before.players[(before.to_move + later) % len(before.players)]
        case AnswerText(number):
            return answers.get(number, "").removesuffix(".")
        case Sentence():
            return _write_sentence(value, before, answers)
        case _:
            return value


def _list_symbols(before: Game, entry: Entry) -> tuple[tuple[str, ...], ...]:
    """Return the symbols of each answer on the squares of a question, or nothing if an answer has none.

    An answer without steps has none. There is one exception: if the game does not start from the tiles on the board,
    their squares are empty in the game.
    """
    assert entry.doubt is not None
    boards = []
    for number, steps in enumerate(entry.alternatives):
        if not steps and entry.doubt.code != START_FROM_HERE:
            return ()
        with suppress(NotationError, RulesError):
            boards.append(_add_position(try_alternative(before, entry, number).board, steps))
    if len(boards) < len(entry.alternatives) or not entry.doubt.squares:
        return ()
    return list_symbols(boards, before.tiles, entry.doubt.squares)


def _add_position(board: Board, steps: Iterable[object]) -> Board:
    """Return the board with the tiles of an entered position, if there is one among the steps."""
    for step in steps:
        if isinstance(step, PositionEntered):
            board = board.with_tiles(dict(step.board))
    return board


def list_symbols(boards: Iterable[Board], tiles: TileSet, squares: Sequence[Square]) -> tuple[tuple[str, ...], ...]:
    """Return the symbols (letter, blank or empty) on the given squares, for each board."""

    def find_symbol(board: Board, square: Square) -> str:
        tile = board[square]
        return EMPTY if tile is None else tiles.text(tile)

    return tuple(tuple(find_symbol(board, square) for square in squares) for board in boards)


def find_plays(alternatives: Iterable[Sequence[object]]) -> list[PlayMade]:
    """Return all plays among the alternatives of an entry."""
    return [step for steps in alternatives for step in steps if isinstance(step, PlayMade)]
