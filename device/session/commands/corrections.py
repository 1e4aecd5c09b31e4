"""The commands that correct the record of a game: squares, blanks, turns, racks, names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Annotated

import msgspec
from msgspec import Meta

from device.player_names import MAX_PLAYER_NAME_LENGTH, clean_name
from device.session.commands.base import (
    CommandContext,
    PlayerNumber,
    SmallNumber,
    SquareName,
    Symbol,
    TableCommand,
    check_player,
    parse_rack,
)
from device.session.commands.taken_blanks import ask_about_taken_blank, may_be_taken_blank
from device.session.messages import Trouble, convert_engine_errors, make_notice, make_refusal
from device.session.phases import Command
from engine.board import Board, Square, parse_square
from engine.ending import find_derived_racks, find_revealed_racks
from engine.errors import NotationError
from engine.events import (
    BlankNamed,
    Challenged,
    Event,
    Exchanged,
    Passed,
    PlayerRenamed,
    PlayMade,
    PlayWithdrawn,
    RackRevealed,
    ScoreCorrected,
    SquareCorrected,
    TurnCorrected,
    TurnInserted,
)
from engine.game import Game
from engine.inference.hypotheses import find_overlooked_turn
from engine.lexicon import WordList, find_deciding_words
from engine.messages import format_list
from engine.plays import Play
from engine.reading import EMPTY
from engine.scoring import Status, check_placement
from engine.state import CLOSING_KINDS, Turn, TurnKind, find_withdrawn_turn
from engine.tiles import Tile
from engine.validation.void_plays import find_void_turn


def _is_in_question(context: CommandContext, square: str) -> bool:
    """Return True if the open question is about a square, given by its name."""
    question = context.controller.open_question
    with suppress(NotationError):  # the command itself refuses such a name
        return question is not None and parse_square(square) in question.question.squares
    return False


class CorrectSquare(TableCommand, frozen=True):
    """Correct the tile on a misread square.

    A tile that was missed becomes part of the last play that it fits. The square may also be one of a play that was
    just withdrawn. In a game without challenges, this play counts if its words are valid now.
    """

    name = "square"
    transition = Command.CORRECT
    operation_id = "correct_square"
    schema_name = "SquareOrder"

    square: SquareName
    symbol: Symbol

    def is_question_deferred(self, context: CommandContext) -> bool:
        """Return True unless the open question is about this square."""
        return not _is_in_question(context, self.square)

    def run(self, context: CommandContext) -> None:
        """Record the correction; refuse the command unless the symbol is one tile of the tile set."""
        controller, game = context.controller, context.controller.game
        with convert_engine_errors():
            square = parse_square(self.square)
            tiles = () if self.symbol == EMPTY else game.tiles.parse(self.symbol)
        if self.symbol != EMPTY and len(tiles) != 1:
            raise make_refusal("one-tile", self.symbol or "none")
        tile = tiles[0] if tiles else None
        if events := _correct_withdrawn_play(game, square, tile, controller.words):
            controller.commit_entered_events(events)
            return
        turn = None if game.board[square] else find_overlooked_turn(game.state, square)
        corrected = SquareCorrected(square, tile, turn, told=True)
        if tile is not None and may_be_taken_blank(game, square, tile):
            ask_about_taken_blank(controller, corrected, tile)
        else:
            controller.commit_entered_events([corrected])


class NameBlank(TableCommand, frozen=True):
    """Name the letter that the blank on a square stands for."""

    name = "blank"
    transition = Command.CORRECT
    operation_id = "name_blank"
    schema_name = "BlankOrder"

    square: SquareName
    letter: Annotated[str, Meta(max_length=8)]

    def is_question_deferred(self, context: CommandContext) -> bool:
        """Return True unless the open question is about this square."""
        return not _is_in_question(context, self.square)

    def run(self, context: CommandContext) -> None:
        """Record the letter; refuse the command if the square has no blank or the letter is not in the tile set."""
        game = context.controller.game
        with convert_engine_errors():
            square = parse_square(self.square)
        tile = game.board[square]
        if tile is None or not tile.is_blank:
            raise make_refusal("no-blank", self.square)
        if self.letter not in game.tiles.letters:
            raise make_refusal("blank-letters", self.letter, " ".join(game.tiles.letters))
        context.controller.commit_events([BlankNamed(square, self.letter)])


class TurnCommand(TableCommand, frozen=True):
    """The correct data of a turn; fields that are left out keep their values.

    `kind` is `play`, `pass`, `exchange`, or `none` to remove the turn. A play is written as in GCG: `at` (`8F` across,
    `F8` down) and `word` (lower-case letters for blanks, dots or letters for tiles that were on the board already).
    """

    transition = Command.CORRECT
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

    def make_turn_event(self, game: Game, before: Board, recorded: Turn | None) -> Event:
        """Return the event of this turn. Fields that are left out are taken from the turn `recorded`, if any.

        `before` is the board before the turn.
        """
        if recorded is not None:
            default_player, default_kind = recorded.player, str(recorded.kind)
        else:
            default_player, default_kind = game.to_move, "play" if self.word else ""
        player = default_player if self.player is None else self.player
        check_player(game, player)
        kind = self.kind or default_kind
        match kind:
            case "pass":
                return Passed(player)
            case "exchange":
                count = self.count or (recorded.count if recorded else 0)
                if not 1 <= count <= game.rules.rack_size:
                    raise make_refusal("needs-count", str(game.rules.rack_size))
                return Exchanged(player, count)
            case "play" if self.word and self.at:
                with convert_engine_errors():
                    return PlayMade(player, Play.from_gcg(before, self.at, self.word, game.tiles))
            case "play" if recorded and recorded.play and not (self.word or self.at):
                return PlayMade(player, recorded.play)
            case "play":
                raise make_refusal("needs-word")
            case _:
                raise make_refusal("no-kind", kind)


class CorrectTurn(TurnCommand, frozen=True):
    """Correct or remove a recorded turn; `number` is the turn's number in the score sheet (`TurnView.number`)."""

    name = "turn"
    operation_id = "correct_turn"

    def is_question_deferred(self, context: CommandContext) -> bool:
        """Return True unless the open question is about this turn, which the last press has recorded."""
        before = context.controller.log.game_before_last_press
        return before is not None and self.number <= len(before.turns)

    def make_events(self, game: Game, words: WordList | None) -> tuple[Event, ...]:
        """Return the events that correct the turn, its score, or both. Raises `CommandRefusedError`."""
        if not 1 <= self.number <= len(game.turns):
            raise make_refusal("no-turn", str(self.number), str(len(game.turns)))
        turn = game.turns[self.number - 1]
        if self.kind == "none":
            return _replace_turn(game, turn, None, words)
        events: tuple[Event, ...] = ()
        score = self.score
        is_only_score = self == CorrectTurn(self.number, score=score)
        if not is_only_score:
            if turn.kind not in (TurnKind.PLAY, TurnKind.PASS, TurnKind.EXCHANGE):
                raise make_refusal("only-score")
            before = game.turns[turn.number - 1].board if turn.number else Board()
            event = self.make_turn_event(game, before, turn)
            events = _replace_turn(game, turn, event, words)
            if score is None and isinstance(event, PlayMade) and event.play == turn.play:
                score = game.ledger[turn.ledger_index].score  # the same play of another player keeps its score
        if score is not None:
            events = (*events, ScoreCorrected(turn.number, score))
        if not events:
            raise make_refusal("no-change")
        return events


def _correct_withdrawn_play(game: Game, square: Square, tile: Tile | None, words: WordList | None) -> tuple[Event, ...]:
    """Return the events that put `tile` on a square of the play that was just withdrawn.

    There are none if the square belongs elsewhere. Only if the play was withdrawn because of its words is a tile that
    was missed added, and a tile that was never there (`tile` is None) removed. `words` is the word list in use.
    """
    turn = find_withdrawn_turn(game.state)
    if turn is None or turn.play is None or game.board[square] is not None:
        return ()
    play, is_void = turn.play, turn == find_void_turn(game, find_deciding_words(words))
    if tile is None:
        corrected = Play(tuple(placed for placed in play.tiles if placed[0] != square), play.rearranged)
        is_possible = is_void and bool(corrected.tiles) and corrected != play
    else:
        corrected = play.with_tile(square, tile)
        status = check_placement(game.state.board_before(turn), corrected, game.layout, game.rules)
        is_possible = square in play.squares or (is_void and status == Status.VALID)
    return _replace_turn(game, turn, PlayMade(turn.player, corrected), words) if is_possible else ()


def _replace_turn(game: Game, turn: Turn, event: Event | None, words: WordList | None) -> tuple[Event, ...]:
    """Return the events that record `event` in place of a turn, or that remove the turn if `event` is None.

    The challenge and the withdrawal that follow the turn in the score sheet refer to its play:

    - If `event` is not a play, both are removed. Otherwise they would refer to the play before.
    - If `event` is a play, a challenge by the player of `event` becomes a challenge by the player of the turn.
    - If `event` is a play, a withdrawal without a challenger is recorded again for this play. But if the play was
      withdrawn because of its words (`words` is the word list), those of `event` decide when it is recorded.
    """
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


def _replace_challenger(game: Game, lines: Sequence[Turn], before: int, after: int) -> tuple[TurnCorrected, ...]:
    """Return events that change the challenger of the turns `lines` from player `before` to player `after`.

    This is needed if a correction gives a play to the player who challenged it: nobody challenges their own play, so
    the two players were confused.
    """
    challenges = ((line.number, game.ledger[line.ledger_index].event) for line in lines)
    return tuple(
        TurnCorrected(number, replace(challenge, by=after))
        for number, challenge in challenges
        if isinstance(challenge, Challenged) and challenge.by == before
    )


class InsertTurn(TurnCommand, frozen=True):
    """Insert a missing turn; `number` is the number that the turn gets in the score sheet.

    To enter the current turn by hand, use the number after that of the last turn. If `player` is left out, it is the
    player whose turn it was then.
    """

    name = "insert-turn"
    operation_id = "insert_turn"
    defers_question = True

    def make_events(self, game: Game, words: WordList | None) -> tuple[Event, ...]:  # noqa: ARG002
        """Return the events of the turn: an insertion between recorded turns, or the next turn of the game."""
        if not 1 <= self.number <= len(game.turns) + 1:
            raise make_refusal("no-turn", str(self.number), str(len(game.turns)))
        last = sum(turn.kind not in CLOSING_KINDS for turn in game.turns)
        number = min(self.number, last + 1)
        before = game.turns[number - 2].board if number > 1 else Board()
        due = game.find_player_due(number - 1) if self.player is None else self.player
        turn = msgspec.structs.replace(self, player=due).make_turn_event(game, before, None)
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


class RevealRack(TableCommand, frozen=True):
    """Enter the unplayed letters of a player (`?` for a blank), which are scored when the game has ended."""

    name = "rack"
    transition = Command.REVEAL_RACK
    operation_id = "tell_rack"
    schema_name = "RackOrder"
    defers_question = True

    player: PlayerNumber
    letters: Annotated[str, Meta(max_length=60)]

    def run(self, context: CommandContext) -> None:
        """Record the letters; show a warning if the player's rack has another number of tiles.

        If the game has ended, also say which letters of other players follow from these. The command is refused if a
        letter is on the board or on another rack.
        """
        controller = context.controller
        game = controller.game
        tiles = parse_rack(self.letters, game.tiles)
        check_player(game, self.player)
        racks = find_revealed_racks(game.state).items()
        on_other_racks = Counter(tile for player, rack in racks if player != self.player for tile in rack)
        if lacking := Counter(tiles) - (game.unseen - on_other_racks):
            raise make_refusal("cannot-be-left", ", ".join(lacking))
        controller.commit_events([RackRevealed(self.player, tiles)])
        state = controller.game.state
        rack_count = state.rack_counts[self.player]
        if len(tiles) != rack_count:
            values = state.players[self.player], str(rack_count), str(len(tiles))
            controller.notices += (make_notice("rack-count", *values, trouble=Trouble.BOARD),)
        derived = find_derived_racks(game.state, state) if game.is_over else {}
        for player, letters in derived.items():
            controller.notices += (make_notice("rack-rest", format_list(letters), state.players[player]),)


class RenamePlayer(TableCommand, frozen=True):
    """Change the name of a player. The colour stays the same, unless another colour is stored for the new name."""

    name = "rename"
    transition = Command.CORRECT
    operation_id = "rename_player"
    schema_name = "RenameOrder"
    defers_question = True

    player: PlayerNumber
    new_name: Annotated[str, Meta(max_length=MAX_PLAYER_NAME_LENGTH)]

    def run(self, context: CommandContext) -> None:
        """Record the new name; refuse an empty name and a name that another player has."""
        controller = context.controller
        check_player(controller.game, self.player)
        before, after = controller.game.players[self.player], clean_name(self.new_name)
        controller.commit_events([PlayerRenamed(self.player, after)])
        controller.colours.save([(after, controller.colours.get(after) or controller.colours.get(before))])


CORRECTION_COMMANDS = (CorrectSquare, NameBlank, CorrectTurn, InsertTurn, RevealRack, RenamePlayer)
