"""A game as an immutable value: board, score sheet, totals and the player to move, computed from events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import count

from engine.blanks import find_invalid_words
from engine.board import Board, Layout, square_name
from engine.ending import Outcome, determine_outcome, find_due_end, find_wanted_racks
from engine.errors import RulesError
from engine.events import (
    Act,
    Challenged,
    Edit,
    EndReason,
    Event,
    GameStarted,
    PlayerTurn,
    PlayWithdrawn,
    Ref,
    ScoreCorrected,
    SquareCorrected,
    SwapEvent,
    TurnCorrected,
    TurnGiven,
    TurnInserted,
)
from engine.items import Item, Items, apply_edit
from engine.lexicon import WordList
from engine.messages import make_message
from engine.plays import Play
from engine.rules import STANDARD_RULES, ChallengeRule, Rules
from engine.scoring import PlayScore, Status, score_play
from engine.state import State, Turn, TurnKind, can_exchange, check_play, create_state, find_challengeable_turn
from engine.tiles import TileSet
from engine.transitions import END_REF, apply_items, extend_state


@dataclass(frozen=True, slots=True)
class Game:
    """An immutable game. `push` returns the game after one more act or edit.

    `events` are the acts and edits after `start_event`. `items` are the acts that count after all edits. The next act
    that is pushed gets the identity `Ref(entry, part)`. In a game of a ledger, `entry` is the number of its next entry:
    an act that is only tried out has the same identity as when it is recorded.

    >>> from engine.events import PlayMade
    >>> game = Game.start(("Anna", "Ben"))
    >>> game = game.push(PlayMade(0, Play.from_gcg(game.board, "8F", "HORN", game.tiles)))
    >>> game.totals, game.to_move
    ((14, 0), 1)
    """

    start_event: GameStarted
    events: tuple[Event, ...]
    state: State = field(repr=False, compare=False)
    items: Items = field(repr=False, compare=False)
    entry: int = field(default=1, repr=False, compare=False)
    part: int = field(default=0, repr=False, compare=False)
    """The part of the next act of the entry."""

    def __repr__(self) -> str:
        scores = ", ".join(f"{name} {total}" for name, total in zip(self.players, self.totals, strict=True))
        return f"<Game: {scores}; {len(self.turns)} turns>"

    @classmethod
    def start(
        cls,
        players: Iterable[str],
        rules: Rules = STANDARD_RULES,
        tile_set: str = "en",
        lexicon: str | None = None,
        layout: str = "standard",
        first: int = 0,
    ) -> Game:
        """Return a new game in which player number `first` begins.

        Raises `RulesError`, `UnknownTileSetError` or `UnknownLayoutError`.
        """
        return cls.begin(GameStarted(tuple(players), rules, tile_set, lexicon, layout, first))

    @classmethod
    def begin(cls, started: GameStarted) -> Game:
        """Return the game at its start. Raises what `start` raises."""
        return cls(started, (), create_state(started), ())

    def push(self, *events: Act | Edit) -> Game:
        """Return the game after more acts and edits. An illegal play is accepted: verify it with `check_play` first.

        Raises `RulesError` for an impossible event, such as a challenge without a play, and `NotationError` for a tile
        that is not in the tile set.
        """
        game = self
        for event in events:
            game = game._push_event(event)
        return game

    def _push_event(self, event: Act | Edit) -> Game:
        """Return the game with one more act or edit. An edit computes the game again, with the changed acts."""
        event = self._name_target(event)
        refs = (Ref(self.entry, part) for part in count(self.part))
        if isinstance(event, Edit):
            items = apply_edit(self.items, event, refs)
            state = apply_items(create_state(self.start_event), items)
        else:
            item = Item(next(refs), event)
            items = (*self.items, item)
            state = extend_state(self.state, self.start_event, items, 1)
        is_numbered = not isinstance(event, Edit) or isinstance(event, TurnInserted)
        return replace(self, events=(*self.events, event), state=state, items=items, part=self.part + is_numbered)

    def _name_target(self, event: Act | Edit) -> Act | Edit:
        """Return the event with the identity of the play that it is about, where None means the last play.

        Raises `RulesError` if there is no such play, or for a line that is computed at the end of the game.
        """
        match event:
            case TurnInserted(before=ref) if ref == END_REF:  # before a line that is computed at the end of the game
                return replace(event, before=None)
            case ScoreCorrected(of=ref) | TurnCorrected(of=ref) | TurnGiven(of=ref) if ref == END_REF:
                text = (
                    "This line is calculated from the unplayed letters and the overtime. "
                    "Correct the letters, or the score of a turn of this player, instead."
                )
                raise RulesError(make_message("end-follows", text))
            case Challenged(of=None):
                if (turn := self.challengeable_turn) is None:
                    text = (
                        "There is no play to challenge. "
                        "Only the last play can be challenged, and only if the rules allow it."
                    )
                    raise RulesError(make_message("no-challenge", text))
                return replace(event, of=turn.ref)
            case PlayWithdrawn(player, of=None):
                plays = self.state.standing_plays()
                turn = next((turn for turn in plays if player in (None, turn.player)), None)
                if turn is None:
                    text = "{0} has no play on the board to take back."
                    raise RulesError(make_message("no-play-back", text, self.players[player or 0]))
                return replace(event, of=turn.ref)
            case SquareCorrected(square, of=None) if self.board[square] is None:
                plays = (t for t in reversed(self.turns) if (t.play and t.stands) or t.kind is TurnKind.POSITION)
                turn = next(plays, None)
                if event.tile is not None and turn is None:
                    text = "The tile on {0} does not belong to any play. Enter the missing turn first."
                    raise RulesError(make_message("no-play-for", text, square_name(square)))
                return event if turn is None else replace(event, of=turn.ref)
        return event

    @property
    def players(self) -> tuple[str, ...]:
        """The players' names, in seat order."""
        return self.state.players

    @property
    def rules(self) -> Rules:
        """The rules in force."""
        return self.state.rules

    @property
    def tiles(self) -> TileSet:
        """The tile set in use."""
        return self.state.tiles

    @property
    def layout(self) -> Layout:
        """The premium squares of the board in use."""
        return self.state.layout

    @property
    def board(self) -> Board:
        """The tiles on the board."""
        return self.state.board

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The lines of the score sheet."""
        return self.state.turns

    def find_turn(self, ref: Ref) -> Turn | None:
        """Return the line of the score sheet for an act, or None.

        An act may have further lines, which follow from it by the rules (`Turn.is_implied`). They are not returned.
        """
        return next((turn for turn in self.turns if turn.ref == ref and not turn.is_implied), None)

    def find_player(self, event: PlayerTurn | SwapEvent) -> int:
        """Return the player of `event` if it happens next: the player whom it names, or else the player to move."""
        return self.to_move if event.player is None else event.player

    @property
    def last_turn(self) -> Turn | None:
        """The last line of the score sheet, or None. Bonus and penalty points, which belong to no turn, are skipped."""
        return self.state.last_turn

    @property
    def totals(self) -> tuple[int, ...]:
        """The running totals in points, in seat order."""
        return self.state.totals

    @property
    def to_move(self) -> int:
        """The number of the player whose turn it is."""
        return self.state.to_move

    @property
    def first_player(self) -> int:
        """The number of the player who began the game, or who is to begin it if there is no turn yet."""
        first = self.state.first_turn
        return self.to_move if first is None else first.player

    def find_player_due(self, number: int) -> int:
        """Return the player whose turn it was before turn number `number`. After the last turn: the player to move."""
        return self.turns[number].due if number < len(self.turns) else self.to_move

    @property
    def drawing(self) -> tuple[int, ...]:
        """The players who must now draw a tile for first play. The tuple is empty when the first player is decided."""
        return self.state.drawing

    @property
    def unseen(self) -> Counter[str]:
        """The tiles on the racks and in the bag together."""
        return self.state.unseen()

    @property
    def bag_count(self) -> int:
        """The number of tiles in the bag."""
        return self.state.bag_count

    @property
    def is_over(self) -> bool:
        """True after the end of the game."""
        return self.state.end_reason is not None

    @property
    def end_due(self) -> EndReason | None:
        """The reason to end the game now, as a proposal to the players, or None if the game goes on."""
        return find_due_end(self.state)

    @property
    def racks_wanted(self) -> tuple[int, ...]:
        """The players who must enter their unplayed letters before the final scores are correct."""
        return find_wanted_racks(self.state)

    @property
    def outcome(self) -> Outcome | None:
        """The result of the game with the winners, or None while the game goes on."""
        return determine_outcome(self.state)

    @property
    def challengeable_turn(self) -> Turn | None:
        """The turn of the play that may be challenged now, or None if no play may be challenged."""
        return find_challengeable_turn(self.state)

    def can_exchange(self, count: int = 1) -> bool:
        """Return True if the player to move may exchange `count` tiles now."""
        return can_exchange(self.state, count, self.to_move)

    def find_void_words(self, lexicon: WordList) -> tuple[str, ...]:
        """Return the invalid words of the last play under `ChallengeRule.VOID`, and no words under any other rule.

        Under this rule there are no challenges, and a play with an invalid word must be withdrawn (`PlayWithdrawn`).
        `lexicon` is the agreed word list.
        """
        turns = self.state.played_turns
        if not turns or self.rules.challenge is not ChallengeRule.VOID:
            return ()
        return find_invalid_words(turns[-1].words, self.tiles, lexicon)

    def check_play(self, play: Play, player: int | None = None) -> Status:
        """Return all defects of a play in the current position.

        If `player` is given, also check that it is this player's turn and that the rack has enough tiles.
        """
        return check_play(self.state, play, player)

    def score_play(self, play: Play) -> PlayScore:
        """Return the score of a play on the current board."""
        return score_play(self.board, play, self.layout, self.tiles, self.rules)
