"""The commands that correct, remove or insert a turn of the score sheet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated

from msgspec import Meta

from device.session.commands.answers import find_squares_in_question
from device.session.commands.base import (
    CommandContext,
    PlayerNumber,
    QuestionEffect,
    SmallNumber,
    TableCommand,
    check_player,
    is_challenge_open,
)
from device.session.messages import convert_engine_errors, make_refusal
from device.session.phases import Transition
from engine.board import Board
from engine.events import (
    Challenged,
    Correction,
    Event,
    Exchanged,
    Passed,
    PlayMade,
    PlayWithdrawn,
    ScoreCorrected,
    TurnCorrected,
    TurnInserted,
)
from engine.game import Game
from engine.lexicon import WordList, find_deciding_words
from engine.plays import Play
from engine.state import CLOSING_KINDS, Turn, TurnKind
from engine.validation.deferred_questions import is_only_about_turn
from engine.validation.void_plays import find_void_turn


class TurnCommand(TableCommand, frozen=True):
    """The correct data of a turn; fields that are left out keep their values.

    `kind` is `play`, `pass`, `exchange`, or `none` to remove the turn. A play is written as in GCG: `at` (`8F` across,
    `F8` down) and `word` (lower-case letters for blanks, dots or letters for tiles that were on the board already).
    """

    transition = Transition.CORRECT
    schema_name = "TurnOrder"

    number: SmallNumber
    player: PlayerNumber | None = None
    kind: Annotated[str, Meta(pattern="^(|play|pass|exchange|none)$")] = ""
    at: Annotated[str, Meta(max_length=3)] = ""
    word: Annotated[str, Meta(max_length=60)] = ""
    count: Annotated[int, Meta(ge=0, le=20)] = 0
    score: Annotated[int, Meta(ge=-2000, le=4000)] | None = None

    def run(self, context: CommandContext) -> None:
        """Record the events that correct or insert the turn."""
        controller = context.controller
        controller.commit_entered_events(self.make_events(controller.game, controller.words))

    def make_events(self, game: Game, words: WordList | None) -> tuple[Event, ...]:
        """Return the events with which this command corrects or inserts the turn. Raises `CommandRefusedError`.

        `words` is the word list in use.
        """
        raise NotImplementedError

    def make_turn_event(self, game: Game, before: Board, due: int, recorded: Turn | None = None) -> Event:
        """Return the event of this turn, by the player `due` if `player` was left out.

        Other fields that were left out are taken from the turn `recorded`, if any. `before` is the board before the
        turn.
        """
        player = due if self.player is None else self.player
        check_player(game, player)
        kind = self.kind or (str(recorded.kind) if recorded else "play" if self.word else "")
        at = self.at or (recorded and recorded.at) or ""
        word = self.word or (recorded and recorded.word) or ""
        match kind:
            case "pass":
                return Passed(player)
            case "exchange":
                count = self.count or (recorded.count if recorded else 0)
                if not 1 <= count <= game.rules.rack_size:
                    raise make_refusal("needs-count", str(game.rules.rack_size))
                return Exchanged(player, count)
            case "play" if recorded and recorded.play and not (self.word or self.at):
                return PlayMade(player, recorded.play)
            case "play" if word and at:
                with convert_engine_errors():
                    return PlayMade(player, Play.from_gcg(before, at, word, game.tiles))
            case "play":
                raise make_refusal("needs-word")
            case _:
                raise make_refusal("no-kind", kind)


class CorrectTurn(TurnCommand, frozen=True):
    """Correct or remove a recorded turn; `number` is the turn's number in the score sheet (`TurnView.number`)."""

    name = "turn"
    operation_id = "correct_turn"
    question_effect = QuestionEffect.DEFER  # these two are the effects of a correction of the score only
    unrecorded_effect = QuestionEffect.KEEP

    def find_question_effect(self, context: CommandContext) -> QuestionEffect:
        """Return `CLOSE` if this correction answers the open question about a turn that the last press has recorded.

        A correction of the score answers no question. One of the player does not say which tiles were placed, and one
        of the tiles does not say what is on the squares of other plays. During a challenge, return `KEEP` unless the
        turn is no play any more.
        """
        if self == CorrectTurn(self.number, score=self.score):
            return super().find_question_effect(context)
        if is_challenge_open(context) and self.kind in ("", "play"):
            return QuestionEffect.KEEP
        controller, open_question = context.controller, context.controller.open_question
        before, disputed = controller.log.game_before_last_press, find_squares_in_question(controller)
        is_earlier_turn = before is not None and self.number <= len(before.turns)
        if open_question is None or is_earlier_turn or not open_question.is_answer_recorded:
            return QuestionEffect.DEFER
        if not (self.kind or self.at or self.word or self.count):
            return QuestionEffect.DEFER if self.player is None or disputed else QuestionEffect.CLOSE
        turns = controller.game.turns[self.number - 1 : self.number]  # the command itself refuses a wrong number
        is_answer = all(is_only_about_turn(turn, disputed, open_question.answers) for turn in turns)
        return QuestionEffect.CLOSE if is_answer else QuestionEffect.DEFER

    def make_events(self, game: Game, words: WordList | None) -> tuple[Event, ...]:
        """Return the events that correct the turn, its score, or both. Raises `CommandRefusedError`."""
        if not 1 <= self.number <= len(game.turns):
            raise make_refusal("no-turn", str(self.number), str(len(game.turns)))
        turn = game.turns[self.number - 1]
        if self.kind == "none":
            return replace_turn(game, turn, None, words)
        events: tuple[Event, ...] = ()
        score = self.score
        is_only_score = self == CorrectTurn(self.number, score=score)
        if not is_only_score:
            if turn.kind not in (TurnKind.PLAY, TurnKind.PASS, TurnKind.EXCHANGE):
                raise make_refusal("only-score")
            before = game.state.board_before(turn)
            event = self.make_turn_event(game, before, turn.player, turn)
            events = replace_turn(game, turn, event, words)
            if score is None and _is_score_kept(event, turn):
                score = game.ledger[turn.ledger_index].score
        if score is not None:
            events = (*events, ScoreCorrected(turn.number, score))
        if not events:
            raise make_refusal("no-change")
        return events


def _is_score_kept(event: Event, turn: Turn) -> bool:
    """Return True if a score that players entered for the turn is also that of `event`, which corrects the turn.

    This is so for the same play, and for a pass or an exchange that stays one, whoever made it.
    """
    return event.play == turn.play if isinstance(event, PlayMade) else event.kind == turn.kind


def replace_turn(game: Game, turn: Turn, event: Event | None, words: WordList | None) -> tuple[Event, ...]:
    """Return the events that record `event` in place of a turn, or that remove the turn if `event` is None.

    The challenge and the withdrawal that follow the turn in the score sheet refer to its play:

    - If `event` is not a play, both are removed. Otherwise they would refer to the play before.
    - If `event` is a play, a challenge by the player of `event` becomes a challenge by the player of the turn.
    - If `event` is a play, a withdrawal without a challenger is recorded again for this play. But if the play was
      withdrawn because of its words (`words` is the word list), those of `event` decide when it is recorded.

    Raises `CommandRefusedError` if another withdrawal would then refer to another play.
    """
    events = _make_replacement(game, turn, event, words)
    _check_withdrawn_plays(game, turn, events, is_removed=event is None)
    return events


def _make_replacement(game: Game, turn: Turn, event: Event | None, words: WordList | None) -> tuple[Event, ...]:
    """Return the events of `replace_turn`, without a check of other withdrawals."""
    corrected = TurnCorrected(turn.number, event)
    following = [line for line in reversed(game.turns) if line.target == turn.number]
    if not isinstance(event, PlayMade):
        return (*(TurnCorrected(line.number, None) for line in following), corrected)
    challenges = _replace_challenger(game, following, event.player, turn.player)
    withdrawn = next((line for line in following if line.kind is TurnKind.WITHDRAWN and line.by is None), None)
    if withdrawn is None:
        return (corrected, *challenges)
    removed = TurnCorrected(withdrawn.number, None)
    if turn == find_void_turn(game, find_deciding_words(words)):
        return removed, corrected, *challenges
    return removed, corrected, *challenges, TurnInserted(withdrawn.number, PlayWithdrawn(event.player))


def _check_withdrawn_plays(game: Game, turn: Turn, events: Sequence[Event], *, is_removed: bool) -> None:
    """Refuse a correction of `turn` after which a withdrawal refers to another play. Raises `CommandRefusedError`.

    A withdrawal refers to the last play of a player, so `events` may give it another play. `is_removed` is True if they
    remove the turn. Its own play, or that of its withdrawal, may count or not.
    """
    with convert_engine_errors():
        after = game.push(*events)
    own_before = {turn.number, turn.target}
    own_after = {turn.target} if is_removed else own_before
    plays_before, plays_after = (
        [line.play for line in lines if not line.stands and line.number not in own]
        for lines, own in ((game.turns, own_before), (after.turns, own_after))
    )
    if plays_before != plays_after:
        raise make_refusal("withdrawal-moved")


def _replace_challenger(game: Game, lines: Sequence[Turn], before: int, after: int) -> Iterator[Correction]:
    """Yield corrections that change the challenger of the turns `lines` from player `before` to player `after`.

    This is needed if a correction gives a play to the player who challenged it: nobody challenges their own play, so
    the two players were confused. Scores that players entered for these turns are kept.
    """
    for line in lines:
        entry = game.ledger[line.ledger_index]
        if isinstance(entry.event, Challenged) and entry.event.by == before:
            yield TurnCorrected(line.number, replace(entry.event, by=after))
            if entry.score is not None:
                yield ScoreCorrected(line.number, entry.score)


class InsertTurn(TurnCommand, frozen=True):
    """Insert a missing turn; `number` is the number that the turn gets in the score sheet.

    To enter the current turn by hand, use the number after that of the last turn. If `player` is left out, it is the
    player whose turn it was then.
    """

    name = "insert-turn"
    operation_id = "insert_turn"

    def find_question_effect(self, context: CommandContext) -> QuestionEffect:
        """Return `REPLACE` for the current turn, and `DEFER` for an earlier one."""
        is_earlier_turn = self.number <= len(context.controller.game.turns)
        return QuestionEffect.DEFER if is_earlier_turn else QuestionEffect.REPLACE

    def make_events(self, game: Game, words: WordList | None) -> tuple[Event, ...]:  # noqa: ARG002
        """Return the events of the turn: an insertion between recorded turns, or the next turn of the game."""
        if not 1 <= self.number <= len(game.turns) + 1:
            raise make_refusal("no-turn", str(self.number), str(len(game.turns)))
        last = sum(turn.kind not in CLOSING_KINDS for turn in game.turns)
        number = min(self.number, last + 1)
        before = game.turns[number - 2].board if number > 1 else Board()
        turn = self.make_turn_event(game, before, game.find_player_due(number - 1))
        _check_nothing_between(game, number - 1, turn)
        is_missing = number <= last or game.is_over
        if isinstance(turn, Exchanged) and not is_missing and not game.can_exchange(turn.count):
            raise make_refusal("cannot-exchange", str(turn.count), str(game.bag_count))
        events: tuple[Event, ...] = (TurnInserted(number - 1, turn),) if is_missing else (turn,)
        return events if self.score is None else (*events, ScoreCorrected(number - 1, self.score))


def _check_nothing_between(game: Game, number: int, event: Event) -> None:
    """Refuse to insert a turn between a play and its challenge or withdrawal. Raises `CommandRefusedError`.

    Otherwise the challenge would refer to the inserted turn. `number` is the number of the inserted turn, from 0.
    """
    for line in game.turns:
        if line.target is None or not line.target < number <= line.number:
            continue
        if line.by is not None or (isinstance(event, PlayMade) and event.player == line.player):
            raise make_refusal("turn-between", game.players[game.turns[line.target].player])
