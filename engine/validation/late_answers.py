"""Apply a late answer to a deferred question: replace the provisional events, and apply the later turns again.

A late answer may add or remove turns. So the later events are adapted to the new numbers of the turns, and to the new
player to move. With a shared button, later turns are given to other players. If each player has a button, it is certain
who made a turn: passes are added and removed instead. An answer after which a later event is not possible is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, TypeVar

from engine.descriptions import describe_events
from engine.errors import RulesError
from engine.events import (
    BlankNamed,
    BlankTaken,
    Challenged,
    Correction,
    Event,
    Passed,
    PlayerTurn,
    PlayMade,
    PlayWithdrawn,
    QuestionClosed,
    QuestionDeferred,
    ScoreCorrected,
    SquareCorrected,
    TileRecycled,
    TurnCorrected,
    TurnInserted,
)
from engine.game import Game
from engine.lexicon import WordList
from engine.messages import Message, make_message, replace_values
from engine.state import Turn, TurnKind, find_challengeable_turn
from engine.validation.deferred_questions import find_deferred_question, find_game_before
from engine.validation.void_plays import restore_void_play_after_answer, withdraw_void_plays


def answer_deferred_question(
    game: Game,
    number: int,
    answer: int,
    *,
    stays_open: bool = False,
    words: WordList | None = None,
    has_own_buttons: bool = False,
) -> Game:
    """Return the game after a late answer to the deferred question `number`.

    The events of the answer replace the provisional events, and the later events are applied again. If `stays_open` is
    True, the answer takes effect, but the question stays open. `words` is the word list; it is needed in a game in
    which invalid plays do not count (`ChallengeRule.VOID`). Even in such a game, an invalid play counts if later turns
    need its tiles. If the last play was withdrawn as invalid and the answer makes it valid, it counts, unless the
    question stays open. `has_own_buttons` is True if the players end their turns with buttons of their own: then the
    later turns keep their players. Raises `RulesError` if there is no such question or answer, or if the later turns
    are not possible after the answer.
    """
    question = find_deferred_question(game, number)
    if question is None or not 0 <= answer < len(question.answers):
        raise RulesError(make_message("nothing-asked", "There is no open question."))
    replay = LateAnswerReplay(game, question, has_own_buttons=has_own_buttons)
    after = replay.apply(answer, stays_open=stays_open, words=words)
    return after if words is None or stays_open else restore_void_play_after_answer(game, after, words)


class LateAnswerReplay:
    """Replay of the later turns of a game after each answer to a deferred question.

    Anna's word was recorded as one turn, and Ben and Anna have passed since then. With the answer "two turns", the last
    letter is a play of Ben, and the passes move on to the next player:

    >>> from engine.plays import Play
    >>> game = Game.start(("Anna", "Ben"))
    >>> horns, horn = (PlayMade(0, Play.from_gcg(game.board, "8F", word, game.tiles)) for word in ("HORNS", "HORN"))
    >>> last = PlayMade(1, Play.from_gcg(game.push(horn).board, "8F", "....S", game.tiles))
    >>> question = QuestionDeferred(1, "One turn or two?", ("One.", "Two."), ((horns,), (horn, last)), count=1)
    >>> game = game.push(horns, question, Passed(1), Passed(0))
    >>> [(game.players[turn.player], turn.word or "pass") for turn in game.turns]
    [('Anna', 'HORNS'), ('Ben', 'pass'), ('Anna', 'pass')]
    >>> [(game.players[turn.player], turn.word or "pass") for turn in LateAnswerReplay(game, question).apply(1).turns]
    [('Anna', 'HORN'), ('Ben', '....S'), ('Anna', 'pass'), ('Ben', 'pass')]

    The recorded game is replayed only once, although `apply` may be called for several answers.
    """

    def __init__(self, game: Game, question: QuestionDeferred, *, has_own_buttons: bool = False) -> None:
        """Prepare the replay of `game`, in which `question` is deferred.

        `has_own_buttons` has the meaning of `answer_deferred_question`.
        """
        self.before = find_game_before(game, question)
        """The game before the provisional events of the question."""
        self._game = game
        self._question = question
        self._has_own_buttons = has_own_buttons

    @cached_property
    def _later_games(self) -> tuple[Game, ...]:
        """The recorded game after the question, and after each later event."""
        games = self.before.replay(self._game.events[len(self.before.events) :])
        return games[self._question.count + 1 :]  # leave out the game before, and after each provisional event

    def apply(self, answer: int, *, stays_open: bool = False, words: WordList | None = None) -> Game:
        """Return the game after an answer, as `answer_deferred_question` does. Raises `RulesError`."""
        question = self._question
        if answer == question.chosen:
            return self._game if stays_open else self._game.push(QuestionClosed(question.number))
        events = question.answers[answer]
        recorded, void_plays = (events, ()) if words is None else withdraw_void_plays(self.before, events, words)
        if void_plays:
            with suppress(_TilesNeededError):
                return self._replace_provisional_events(answer, recorded, stays_open)
        return self._replace_provisional_events(answer, events, stays_open)

    def _replace_provisional_events(self, answer: int, events: Sequence[Event], stays_open: bool) -> Game:
        """Return the game with `events`, those of the answer that takes effect, in place of the provisional events.

        Raises `RulesError` if the later turns are not possible.
        """
        question = replace(self._question, chosen=answer, count=len(events))
        before, old = self.before, self._later_games[0]
        new = before.push(*events, question, *([] if stays_open else [QuestionClosed(question.number)]))
        added = len(new.turns) - len(old.turns)
        shift = _TurnShift(len(before.turns), len(old.turns), added, self._has_own_buttons)
        return _repeat_events(self._later_games, new, shift)


_Correction = TypeVar("_Correction", bound=Correction)


@dataclass(frozen=True, slots=True)
class _TurnShift:
    """Change of the turn numbers by a late answer that adds `added` turns (negative: removes turns).

    The turns from `start` to `end` (exclusive) are the provisional turns, which the answer replaces. If passes were
    added or removed after them (`has_changed_passes`), these are among the turns before `end`, too. If
    `has_own_buttons` is True, later turns keep their players.
    """

    start: int
    end: int
    added: int
    has_own_buttons: bool
    has_changed_passes: bool = False

    def extend(self, old: Game, new: Game) -> _TurnShift:
        """Return the shift of the turns after those of `old`, if passes were added or removed in `new`."""
        added = len(new.turns) - len(old.turns)
        return replace(self, end=len(old.turns), added=added, has_changed_passes=True)

    def move(self, event: _Correction) -> _Correction:
        """Return a correction whose turn number is adapted to the answer.

        If the answer changes turn numbers, `RulesError` is raised for two kinds of corrections: those of a provisional
        turn, and those that insert or delete a turn.
        """
        if isinstance(event, BlankNamed) or event.turn is None or not (self.added or self.has_changed_passes):
            return event
        if isinstance(event, TurnInserted) or (isinstance(event, TurnCorrected) and event.event is None):
            raise _LateAnswerError  # later corrections have the turn numbers after this one
        if event.turn < self.start:
            return event
        if event.turn < self.end:
            raise _LateAnswerError
        return replace(event, turn=event.turn + self.added)


class _Checkpoint(NamedTuple):
    """The old and the new game after the same events, with the shift of the turn numbers before it."""

    old: Game
    new: Game
    shift: _TurnShift


class _LateAnswerError(RulesError):
    """Error for a late answer after which the later turns are not possible."""

    def __init__(self) -> None:
        text = "This answer would make later turns impossible. Correct those turns first."
        super().__init__(make_message("answer-too-late", text))


class _TilesNeededError(_LateAnswerError):
    """Error for a late answer after which a later play is not legal, because it needs tiles that are not played."""


def _repeat_events(olds: Sequence[Game], new: Game, shift: _TurnShift) -> Game:
    """Return the game `new` with the events that follow the first of the games `olds`.

    `olds` has the old game before the first and after each of these events. Their players and turn numbers are adapted.
    Raises `RulesError` if an event is no longer possible.
    """
    checkpoints = {len(olds[0].events): _Checkpoint(olds[0], new, shift)}  # by number of events in the old game
    for old, after in pairwise(olds):
        event = after.events[-1]
        moved: tuple[Event, ...]
        if isinstance(event, ScoreCorrected):
            moved = _keep_score(event, old, new, shift)
        elif isinstance(event, QuestionDeferred):
            moved = (_move_question(event, new, _find_checkpoint(checkpoints, old, new, event.count, shift)),)
        elif shift.has_own_buttons and isinstance(event, PlayerTurn) and event.player == old.to_move != new.to_move:
            moved = _keep_player(event, new)
        else:
            moved = (_move_event(event, old, new, shift),)
        if isinstance(event, PlayMade) and new.check_play(event.play) & ~old.check_play(event.play):
            raise _TilesNeededError
        new = new.push(*moved)
        if isinstance(event, PlayerTurn) and len(moved) != 1:
            shift = shift.extend(after, new)
        checkpoints[len(after.events)] = _Checkpoint(after, new, shift)
    return new


def _find_checkpoint(
    checkpoints: Mapping[int, _Checkpoint], old: Game, new: Game, count: int, shift: _TurnShift
) -> _Checkpoint:
    """Return the checkpoint before the last `count` events of the game `old`; `new` is the new game after these events.

    A checkpoint before all of `checkpoints` has the shift `shift`.
    """
    start = len(old.events) - count
    if start in checkpoints:
        return checkpoints[start]
    return _Checkpoint(Game.from_events(old.events[:start]), Game.from_events(new.events[:start]), shift)


def _keep_player(event: PlayerTurn, game: Game) -> tuple[Event, ...]:
    """Return the turn of a player who is not to move in `game`, after passes of the players before.

    A pass is left out: the player had no other turn then, but now has the one that the late answer has added.
    """
    passes: list[Event] = []
    while game.to_move != event.player and not isinstance(event, Passed):
        passes.append(Passed(game.to_move))
        game = game.push(passes[-1])
    return () if isinstance(event, Passed) else (*passes, event)


def _keep_score(event: ScoreCorrected, old: Game, new: Game, shift: _TurnShift) -> tuple[ScoreCorrected, ...]:
    """Return a corrected score, which followed the game `old`, for the same turn in `new`; leave it out without one."""
    turn = _find_same_turn(new, shift, old.turns[event.turn])
    return () if turn is None else (replace(event, turn=turn.number),)


def _find_same_turn(game: Game, shift: _TurnShift, target: Turn) -> Turn | None:
    """Return the turn of a game that is the turn `target` of the recorded game, or None if a late answer replaces it.

    A play is the one on the same squares: players enter its score for the tiles that they see, even if a letter was
    misread. A turn without a play has the same kind and position. If the answer makes its position unclear, the nearest
    turn is returned; a pass then has the same player, too, because passes of other players may have been added.
    """
    number = target.number + (shift.added if target.number >= shift.end else 0)
    turns, is_clear = game.turns, not shift.start <= target.number < shift.end
    if target.play is None:
        turns = turns[number : number + 1] if is_clear else turns[shift.start : shift.end + shift.added]
        if target.kind is TurnKind.PASS and not is_clear:
            turns = tuple(turn for turn in turns if turn.player == target.player)
    squares = [square for square, _ in target.placements]
    same = (turn for turn in turns if turn.kind == target.kind and [square for square, _ in turn.placements] == squares)
    return min(same, key=lambda turn: abs(turn.number - number), default=None)


def _move_event(event: Event, old: Game, new: Game, shift: _TurnShift) -> Event:
    """Return an event that followed the game `old`, with player and turn numbers adapted to the game `new`.

    Raises `RulesError` if the event is no longer possible.
    """
    if isinstance(event, PlayWithdrawn | Challenged):
        return _move_withdrawal_or_challenge(event, old, new, shift)
    if isinstance(event, TurnCorrected):
        return _move_turn_correction(event, old, new, shift)
    if isinstance(event, SquareCorrected) and old.board[event.square] is not None and new.board[event.square] is None:
        raise _LateAnswerError  # otherwise the tile would be added to another play
    if isinstance(event, SquareCorrected):
        event = _follow_play(event, old, new)
    if old.to_move == new.to_move and not shift.added:
        return event
    if isinstance(event, PlayerTurn | TileRecycled | BlankTaken) and event.player == old.to_move:
        return replace(event, player=new.to_move)
    return shift.move(event) if isinstance(event, Correction) else event


def _move_question(question: QuestionDeferred, game: Game, start: _Checkpoint) -> QuestionDeferred:
    """Return a question about the last events of the old game, with its answers adapted to the new game.

    The provisional events of the question begin at `start`; `game` is the new game after these events. Answers that are
    not possible any more are left out. The texts get the new words, scores and players. Raises `RulesError` if the
    answer in effect is not possible.
    """
    old, new, shift = start
    moved_by = 0 if shift.has_own_buttons else new.to_move - old.to_move
    names = {name: new.players[(seat + moved_by) % len(new.players)] for seat, name in enumerate(old.players)}
    texts: list[str] = []
    answers: list[tuple[Event, ...]] = []
    chosen = 0
    for number, (text, events) in enumerate(zip(question.texts, question.answers, strict=True)):
        try:
            after = _repeat_events(old.replay(events), new, shift)
        except RulesError:
            if number == question.chosen:
                raise
            continue
        chosen = len(answers) if number == question.chosen else chosen
        answers.append(after.events[len(new.events) :])
        challenger = _find_challenger(answers[-1])
        if challenger is not None and text in old.players:
            texts.append(new.players[challenger])  # the answer to "Who challenged this play?"
        elif isinstance(text, Message) and not text.key:  # a description of the events; other messages have a key
            texts.append(describe_events(new, after, answers[-1]))
        else:
            texts.append(replace_values(text, names))
    text, count = replace_values(question.text, names), len(game.events) - len(new.events)
    return replace(question, text=text, texts=tuple(texts), answers=tuple(answers), count=count, chosen=chosen)


def _find_challenger(events: Sequence[Event]) -> int | None:
    """Return the player who challenged, if the first of the events is a challenge, otherwise None."""
    return events[0].by if events and isinstance(events[0], Challenged) else None


def _follow_play(event: _Correction, old: Game, new: Game) -> _Correction:
    """Return a correction of a play, which followed the game `old`, with the number of the turn of this play in `new`.

    Only the order of the plays may differ: with more or fewer turns, the correction is returned unchanged. If it gives
    the turn the play of another turn, it changes the order itself and is returned unchanged, too.
    """
    if isinstance(event, BlankNamed) or event.turn is None or len(old.turns) != len(new.turns):
        return event
    plays, play = [turn.play for turn in new.turns], old.turns[event.turn].play
    changed = event.event if isinstance(event, TurnCorrected) else None
    is_order_changed = isinstance(changed, PlayMade) and changed.play in plays
    if play is None or play not in plays or plays[event.turn] == play or is_order_changed:
        return event
    return replace(event, turn=plays.index(play))


def _move_turn_correction(event: TurnCorrected, old: Game, new: Game, shift: _TurnShift) -> TurnCorrected:
    """Return a correction of a turn, which followed the game `old`, adapted to the game `new`.

    The correction may keep the player or the tiles of the turn. It then keeps those of the turn in `new`.
    """
    moved = shift.move(_follow_play(event, old, new))
    before, after, other = old.turns[event.turn], new.turns[moved.turn], event.event
    if isinstance(other, PlayMade) and before.play and after.play and {*before.placements} <= {*other.play.tiles}:
        added = {*other.play.tiles} - {*before.placements}
        other = replace(other, play=replace(other.play, tiles=tuple(sorted({*after.placements, *added}))))
    if isinstance(other, PlayerTurn) and other.player == before.player:
        other = replace(other, player=after.player)
    return replace(moved, event=other)


def _move_withdrawal_or_challenge(
    event: PlayWithdrawn | Challenged, old: Game, new: Game, shift: _TurnShift
) -> PlayWithdrawn | Challenged:
    """Return a withdrawal or challenge of a play, which followed the game `old`, adapted to the player in `new`.

    The players may have named the challenger, so this is still the same player. But nobody challenges their own play:
    if the challenger has made the play in `new`, the challenger is the player who has made it in `old`. Raises
    `RulesError` if the event would refer to another play.
    """
    target = _find_target(old, event)
    if target is None:
        raise _LateAnswerError
    play = _find_same_play(new, shift, target)
    if isinstance(event, PlayWithdrawn):
        event = replace(event, player=play.player)
    elif event.by == play.player:
        event = replace(event, by=target.player)
    if _find_target(new, event) != play:
        raise _LateAnswerError
    return event


def _find_same_play(game: Game, shift: _TurnShift, target: Turn) -> Turn:
    """Return the turn of a game with the play that the turn `target` has in the recorded game.

    The play is the one on the same squares. A late answer may change its tiles, but an earlier play to which the answer
    adds these tiles is another play. Raises `RulesError` if there is no such play.
    """
    squares = {square for square, _ in target.placements}
    for turn in game.state.standing_plays():
        covered = {square for square, _ in turn.placements}
        if covered == squares or (turn.number >= shift.start and not covered.isdisjoint(squares)):
            return turn
    raise _LateAnswerError


def _find_target(game: Game, event: PlayWithdrawn | Challenged) -> Turn | None:
    """Return the turn of the play that an event takes back or challenges, or None if there is no such play."""
    if isinstance(event, Challenged):
        return find_challengeable_turn(game.state)
    return next((turn for turn in game.state.standing_plays() if turn.player == event.player), None)
