"""A game as an immutable value: board, score sheet, totals and the player to move, computed from events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from engine.blanks import find_invalid_words
from engine.board import Board, Layout, Square
from engine.corrections import CorrectedEvent, Ledger, apply_correction
from engine.ending import Outcome, determine_outcome, find_due_end, find_wanted_racks
from engine.errors import RulesError
from engine.events import (
    BlankNamed,
    Challenged,
    Correction,
    EndReason,
    Event,
    GameStarted,
    PlayWithdrawn,
    Redone,
    Undone,
)
from engine.lexicon import WordList
from engine.messages import make_message
from engine.plays import Play
from engine.rules import STANDARD_RULES, ChallengeRule, Rules
from engine.scoring import PlayScore, Status, score_play
from engine.state import State, Turn, can_exchange, check_play, create_state, find_challengeable_turn
from engine.tiles import Tile, TileSet
from engine.transitions import apply_event, replay_ledger


@dataclass(frozen=True, slots=True)
class Game:
    """An immutable game. `push` returns the game after one more event.

    `events` are the events in effect. The log in `device.storage` also contains the events that were undone.

    >>> from engine.events import PlayMade
    >>> game = Game.start(("Anna", "Ben"))
    >>> game = game.push(PlayMade(0, Play.from_gcg(game.board, "8F", "HORN", game.tiles)))
    >>> game.totals, game.to_move
    ((14, 0), 1)
    """

    events: tuple[Event, ...]
    state: State = field(repr=False, compare=False)
    ledger: Ledger = field(repr=False, compare=False)

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
        return cls.from_events([GameStarted(tuple(players), rules, tile_set, lexicon, layout, first)])

    @classmethod
    def from_events(cls, events: Iterable[Event]) -> Game:
        """Return the game after all these events. The first event must be `GameStarted`. Raises `RulesError`."""
        events = iter(events)
        first = next(events, None)
        if not isinstance(first, GameStarted):
            raise RulesError(make_message("no-beginning", "The first event of a game must be GameStarted."))
        return cls((first,), create_state(first), ()).push(*events)

    def push(self, *events: Event) -> Game:
        """Return the game after more events. An illegal play is accepted: verify a play with `check_play` first.

        Raises `RulesError` for an impossible event, such as a challenge without a play, and `NotationError` for a tile
        that is not in the tile set.
        """
        game = self
        for event in events:
            game = game._push_event(event)
        return game

    def replay(self, events: Iterable[Event]) -> tuple[Game, ...]:
        """Return this game, and the game after each of these events, which follow it. Raises what `push` raises."""
        return tuple(accumulate(events, Game._push_event, initial=self))

    def _push_event(self, event: Event) -> Game:
        if isinstance(event, GameStarted):
            raise RulesError(make_message("already-started", "The game has already started."))
        if isinstance(event, Undone | Redone):
            raise RulesError(make_message("undo-in-log", "Undo and redo belong to the log of a game, not to the game."))
        ledger, state = self.ledger, self.state
        if isinstance(event, BlankNamed) and event.letter not in self.tiles.letters:
            text = "A blank cannot be {0}, because the tile set {1} has no such tile."
            raise RulesError(make_message("blank-cannot-be", text, repr(event.letter), repr(self.tiles.name)))
        if isinstance(event, Correction):
            ledger = apply_correction(ledger, state.turns, event)
            state = replay_ledger(self.start_event, ledger)
        else:
            state = apply_event(state, event, len(ledger))
            ledger = (*ledger, CorrectedEvent(event))
        return Game((*self.events, event), state, ledger)

    @property
    def start_event(self) -> GameStarted:
        """The first event of the game, with the players, rules, tile set, word list and layout."""
        first = self.events[0]
        assert isinstance(first, GameStarted)
        return first

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

    @property
    def last_turn(self) -> Turn | None:
        """The last line of the score sheet, or None if there is no turn."""
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
        return self.turns[0].player if self.turns else self.to_move

    def find_player_due(self, number: int) -> int:
        """Return the player whose turn it was before the turn with this number, from 0."""
        if number >= len(self.turns):
            return self.to_move
        return replay_ledger(self.start_event, self.ledger[: self.turns[number].ledger_index]).to_move

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

    def find_tiles_to_clear(self, events: Sequence[Event]) -> list[list[tuple[Square, Tile]]]:
        """Return the tiles that players must remove, with their squares, for each play that `events` have withdrawn.

        `events` are the last events of the game.
        """
        is_void = self.rules.challenge is ChallengeRule.VOID
        count = sum(
            (isinstance(event, Challenged) and event.upheld) or (is_void and isinstance(event, PlayWithdrawn))
            for event in events
        )
        withdrawn = [turn for turn in self.turns if not turn.stands][-count:] if count else []
        return [[(at, tile) for at, tile in turn.placements if self.board[at] is None] for turn in withdrawn]

    def check_play(self, play: Play, player: int | None = None) -> Status:
        """Return all defects of a play in the current position.

        If `player` is given, also check that it is this player's turn and that the rack has enough tiles.
        """
        return check_play(self.state, play, player)

    def score_play(self, play: Play) -> PlayScore:
        """Return the score of a play on the current board."""
        return score_play(self.board, play, self.layout, self.tiles, self.rules)
