"""The commands that correct, remove or insert a turn of the score sheet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import count
from typing import Annotated

from msgspec import Meta

from device.rebuilt_game import SheetAct
from device.session.commands.base import (
    CommandContext,
    PlayerNumber,
    SmallNumber,
    TableCommand,
    check_challenger,
    check_player,
)
from device.session.messages import convert_engine_errors, make_refusal
from device.session.phases import Transition
from engine.board import Board
from engine.events import (
    Act,
    Challenged,
    Edit,
    Exchanged,
    Passed,
    PlayCounted,
    PlayMade,
    PointsGiven,
    PointsReason,
    Ref,
    ScoreCorrected,
    TurnCorrected,
    TurnGiven,
    TurnInserted,
)
from engine.game import Game
from engine.items import make_position_error
from engine.plays import Play
from engine.state import CLOSING_KINDS, Turn, TurnKind


class TurnCommand(TableCommand, frozen=True):
    """The correct data of a turn; fields that are left out keep their values.

    `kind` is `play`, `pass`, `exchange`, or `none` to remove the turn. Other lines are a failed `challenge` of the play
    before by `player`, and a `penalty` or `bonus` of `score` points for `player`. A play is written as in GCG: `at`
    (`8F` across, `F8` down) and `word` (lower-case letters for blanks, dots or letters for tiles that were on the board
    already).
    """

    transition = Transition.CORRECT
    schema_name = "TurnOrder"

    number: SmallNumber
    player: PlayerNumber | None = None
    kind: Annotated[str, Meta(pattern="^(|play|pass|exchange|challenge|penalty|bonus|none)$")] = ""
    at: Annotated[str, Meta(max_length=3)] = ""
    word: Annotated[str, Meta(max_length=60)] = ""
    count: Annotated[int, Meta(ge=0, le=20)] = 0
    score: Annotated[int, Meta(ge=-2000, le=4000)] | None = None

    def run(self, context: CommandContext) -> None:
        """Record the events that correct or insert the turn."""
        controller = context.controller
        with convert_engine_errors():
            controller.commit_entered(self.make_events(controller.game))

    def make_events(self, game: Game) -> tuple[Act | Edit, ...]:
        """Return the events with which this command corrects or inserts the turn.

        Raises `CommandRefusedError`, `RulesError` or `NotationError`.
        """
        raise NotImplementedError

    def make_turn_event(self, game: Game, before: Board, recorded: Turn | None = None) -> Act:
        """Return the act of this turn, by the player who is due if `player` was left out.

        Other fields that were left out are taken from the turn `recorded`, if any. `before` is the board before the
        turn.
        """
        player = self.player
        if player is not None:
            check_player(game, player)
        kind, at, word = self.kind, self.at, self.word
        if recorded:
            kind, at, word = kind or str(recorded.kind), at or recorded.at or "", word or recorded.word or ""
        match kind or ("play" if word else ""):
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
            case "penalty" | "bonus" if player is not None and self.score is not None:
                return PointsGiven(player, self.score, PointsReason(kind))
            case "penalty" | "bonus":
                raise make_refusal("needs-points")
            case _:
                raise make_refusal("no-kind", kind)


class CorrectTurn(TurnCommand, frozen=True):
    """Correct or remove a recorded turn; `number` is the turn's number in the score sheet (`TurnView.number`)."""

    name = "turn"
    operation_id = "correct_turn"
    keeps_turn = True

    def make_events(self, game: Game) -> tuple[Act | Edit, ...]:
        """Return the events that correct the turn, its score, or both."""
        turn = _find_turn(game, self.number)
        if self.kind == "none":
            return (_remove_turn(game, turn),)
        is_only_score = self == CorrectTurn(self.number, score=self.score)
        events = () if is_only_score else self._correct_turn(game, turn)
        if self.score is not None and not any(isinstance(event, PointsGiven) for event in events):
            events = (*events, *_enter_score(game, turn, events, self.score))
        if not events:
            raise make_refusal("no-change")
        return events

    def _correct_turn(self, game: Game, turn: Turn) -> tuple[Act | Edit, ...]:
        """Return the events that correct `turn`.

        An implied turn follows from another act by the rules. It has no act to correct, so a new one is inserted.
        """
        if turn.kind not in (TurnKind.PLAY, TurnKind.PASS, TurnKind.EXCHANGE):
            raise make_refusal("only-score")
        if self.player is not None and not (self.kind or self.at or self.word or self.count):
            check_player(game, self.player)
            return _give_turn(turn, self.player)
        act = self.make_turn_event(game, game.state.board_before(turn), turn)
        if turn.is_implied:
            return (TurnInserted(turn.ref, act),)
        return (TurnCorrected(turn.ref, act),)


def _find_turn(game: Game, number: int) -> Turn:
    """Return the line of the score sheet with a number from 1. Raises `CommandRefusedError`."""
    if not 1 <= number <= len(game.turns):
        raise make_refusal("no-turn", str(number), str(len(game.turns)))
    turn = game.turns[number - 1]
    if turn.kind in CLOSING_KINDS:
        raise make_refusal("end-follows")
    return turn


def _remove_turn(game: Game, turn: Turn) -> Edit:
    """Return the edit that removes a line of the score sheet.

    A line that only follows from another act is removed by an edit of that act: an unlisted play counts after all, or
    the players before a turn have not passed. Raises `RulesError` for a position: without it, the later plays have
    nothing to join.
    """
    if turn.kind is TurnKind.POSITION:
        raise make_position_error()
    if not turn.is_implied:
        return TurnCorrected(turn.ref, None)
    if turn.kind is TurnKind.WITHDRAWN:
        return PlayCounted(turn.ref)
    after = game.find_turn(turn.ref)
    assert after is not None, "a pass is implied by a turn"
    return TurnGiven(turn.ref, after.player)


def _give_turn(turn: Turn, player: int) -> tuple[Edit, ...]:
    """Return the edit that gives a turn to another player."""
    if turn.is_implied:
        return (TurnInserted(turn.ref, Passed(player)),)
    return (TurnGiven(turn.ref, player),)


def _enter_score(
    game: Game, turn: Turn, events: tuple[Act | Edit, ...], score: int
) -> tuple[ScoreCorrected | TurnInserted, ...]:
    """Return the edits that enter the score of a turn. `events` are the corrections of this turn that come before.

    An implied pass has no act of its own, so it is first inserted as one. Its score is then that of the new act.
    """
    if not turn.is_implied:
        player = turn.player if turn.kind is TurnKind.POSITION else None
        return (ScoreCorrected(turn.ref, score, player),)
    if turn.kind is TurnKind.WITHDRAWN:
        raise make_refusal("end-follows")
    inserted = () if events else (TurnInserted(turn.ref, Passed(None)),)
    return (*inserted, ScoreCorrected(Ref(game.entry, game.part), score))


class InsertTurn(TurnCommand, frozen=True):
    """Insert a missing turn; `number` is the number that the turn gets in the score sheet.

    To enter the current turn by hand, use the number after that of the last turn. If `player` is left out, it is the
    player whose turn it was then, and later turns move on to the players who are then due.
    """

    name = "insert-turn"
    operation_id = "insert_turn"

    def make_events(self, game: Game) -> tuple[Act | Edit, ...]:
        """Return the events of the turn: an insertion between recorded turns, or the next turn of the game."""
        if not 1 <= self.number <= len(game.turns) + 1:
            raise make_refusal("no-turn", str(self.number), str(len(game.turns)))
        # The lines of the end of the game come after all turns.
        last = sum(turn.kind not in CLOSING_KINDS for turn in game.turns)
        number = min(self.number, last + 1)
        before = game.turns[number - 2].board if number > 1 else Board()
        act = self._make_challenge(game, number) if self.kind == "challenge" else self.make_turn_event(game, before)
        is_missing = number <= last or game.is_over
        if isinstance(act, Exchanged) and not is_missing and not game.can_exchange(act.count):
            raise make_refusal("cannot-exchange", str(act.count), str(game.bag_count))
        following = game.turns[number - 1].ref if number <= last else None
        events: tuple[Act | Edit, ...] = (TurnInserted(following, act),) if is_missing else (act,)
        if self.score is None or isinstance(act, PointsGiven):
            return events
        return (*events, ScoreCorrected(Ref(game.entry, game.part), self.score))

    def _make_challenge(self, game: Game, number: int) -> Challenged:
        """Return the failed challenge of the play before this line."""
        plays = (turn for turn in reversed(game.turns[: number - 1]) if turn.kind is TurnKind.PLAY and turn.stands)
        play = next(plays, None)
        if play is None:
            raise make_refusal("nothing-to-challenge")
        check_challenger(game, self.player, play)
        return Challenged(self.player, upheld=False, of=play.ref)


class FillTurns(TableCommand, frozen=True):
    """Make the score sheet that of a game on paper: insert the turns that are missing, remove those that are not there.

    The turns that are on both stay as they were recorded. A position from which the game began is removed.
    """

    transition = Transition.CORRECT

    turns: tuple[SheetAct, ...]

    def run(self, context: CommandContext) -> None:
        """Record the turns; refuse the command if the game has all turns."""
        events = tuple(_compare_turns(context.controller.game, self.turns))
        if not events:
            raise make_refusal("no-change")
        context.controller.commit_entered(events)


def _compare_turns(game: Game, turns: Sequence[SheetAct]) -> Iterator[Act | Edit]:
    """Yield the events after which a game has the turns of a score sheet (`turns`).

    Recorded turns and turns of the sheet are compared by the squares of their plays. Turns that are only recorded are
    removed; turns that are only on the sheet are inserted, or added at the end.
    """
    kinds = (TurnKind.PLAY, TurnKind.PASS, TurnKind.EXCHANGE)
    recorded = [turn for turn in game.turns if turn.kind in kinds and not turn.is_implied]
    positions = {turn.ref for turn in game.turns if turn.kind is TurnKind.POSITION}
    yield from (TurnCorrected(ref, None) for ref in positions)
    refs = (Ref(game.entry, part) for part in count(game.part))
    before = [turn.play.squares if turn.play and turn.stands else () for turn in recorded]
    after = [act.play.squares if isinstance(act, PlayMade) else () for act, _ in turns]
    for tag, start, end, first, last in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        following = recorded[end].ref if end < len(recorded) else None
        yield from (TurnCorrected(turn.ref, None) for turn in recorded[start:end])
        for (act, score), ref in zip(turns[first:last], refs, strict=False):
            yield act if following is None and not game.is_over else TurnInserted(following, act)
            if score is not None:
                yield ScoreCorrected(ref, score)
