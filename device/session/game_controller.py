"""The game that is being played: what the table's commands do to it, and what it looks like. One thread uses it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import EllipsisType

from device.capture.turn_images import Look
from device.session import commands
from device.session.clock_keeper import Timekeeper
from device.session.commands import refusing
from device.session.decision import Asked, Verdict
from device.session.messages import notice, question, refusal, sentence
from device.session.phases import phase_of
from device.session.snapshot import LookView, Notice, Phase, PlayerView, TableState, Trouble
from device.session.snapshot_builder import Words, decides, view_game
from device.storage.game_log import GameLog
from device.storage.store import GameStore, StoreError
from engine.events import Challenged, Event, GameStarted
from engine.game import Game
from engine.inference.history import Memory
from engine.messages import listed
from engine.squares import Square

_logger = logging.getLogger(__name__)

KEPT_PICTURES = 4


class Playing:
    """One evening's games, one at a time: its log, its clock, what is asked and what is said."""

    def __init__(self, store: GameStore, words: Words | None, now: Callable[[], float]) -> None:
        self._store = store
        self._now = now
        self._log: GameLog | None = None
        self._keeper: Timekeeper | None = None
        self._colours: dict[str, str] = {}
        self._said: set[str] = set()
        self._look: LookView | None = None
        self.words = words
        """The list that words are checked by; None: they are not checked."""
        self.pictures: dict[str, bytes] = {}
        """The last rectified boards, JPEG, by the names that states give them."""
        self.notices: tuple[Notice, ...] = ()
        """What is said with the next state."""
        self.asked: Asked | None = None
        """The open question."""
        self.memory: Memory | None = None
        """What earlier readings of this game's board said."""
        self.leaving: tuple[Square, ...] = ()
        """Squares whose tiles must be taken off the board after a challenge."""

    # The game

    @property
    def log(self) -> GameLog:
        """The log of the game; commands that need one are refused without."""
        assert self._log is not None, "commands that need a game are refused without one"
        return self._log

    @property
    def game(self) -> Game:
        """The game as it stands."""
        return self.log.game

    @property
    def has_game(self) -> bool:
        """False in the lobby."""
        return self._log is not None

    @property
    def keeper(self) -> Timekeeper | None:
        """The clock of the game; None in the lobby."""
        return self._keeper

    @property
    def phase(self) -> Phase:
        """Where the evening stands while nobody looks at the board."""
        if self._log is None:
            return Phase.LOBBY
        return phase_of(
            self.game, asked=self.asked is not None, paused=self._keeper is not None and self._keeper.paused
        )

    def start(self, started: GameStarted, words: Words | EllipsisType | None, colours: Sequence[str]) -> None:
        """Begin a game; `words` that are `...` stay as they are. Raises `Refused`."""
        with refusing():
            log, trouble = GameLog.begin(self._store, started, self._log)
        if not isinstance(words, EllipsisType):
            self.words = words
        try:
            for name, colour in zip(started.players, colours, strict=False):
                self._store.colour(name, colour)
        except StoreError as error:
            _logger.warning("the colours of the players are not kept: %s", error)
        self._open(log)
        self._saved(trouble)

    def start_again(
        self, otherwise: GameStarted, words_for: Callable[[GameStarted], Words | None] | None = None
    ) -> None:
        """Begin a game like the last one, the next player first; after a restart, like the newest of the store.

        Raises `Refused`.
        """
        last = self._log or self._newest()
        if last is None:
            return self.start(otherwise, ..., ())
        begun = last.game.started
        words = ... if self._log or words_for is None else words_for(begun)
        return self.start(replace(begun, first=(begun.first + 1) % len(begun.players)), words, ())

    def _newest(self) -> GameLog | None:
        """The newest game of the store, as far as it can be read."""
        try:
            return GameLog.newest(self._store)
        except StoreError as error:
            _logger.warning("the last game is no example: %s", error)
            return None

    def resume(self, words_for: Callable[[GameStarted], Words | None] | None) -> None:
        """Go on with the newest game. Raises `Refused`, `StoreError`."""
        log = GameLog.newest(self._store)
        if log is None:
            raise refusal("nothing-to-resume")
        if log.game.is_over:
            raise refusal("resume-ended")
        if words_for:
            self.words = words_for(log.game.started)
        self._open(log)

    def _open(self, log: GameLog) -> None:
        self._log, self.memory, self._look, self.leaving = log, None, None, ()
        self._said.clear()
        self._keeper = Timekeeper(self._store, log, self._now)
        try:
            self._colours = dict(self._store.players())
        except StoreError as error:
            _logger.warning("the colours of the players are not known: %s", error)

    # What commands do

    def commit(self, events: Sequence[Event], look: Look | None = None) -> None:
        """Append the events of a press to the log, synced, with the picture that they were read from."""
        log, keeper = self.log, self._keeper
        events = (*(keeper.readings(events) if keeper else ()), *events)
        if look:
            self.show(look.named(f"{log.number}-{log.length + len(events) - 1}") if events else look)
        if events:
            with refusing():
                self._saved(log.append(events, look.jpegs() if look else {}))
            self.leaving = ()

    def record(self, command: Callable[[Game], Event]) -> None:
        """Carry out a command that is one event."""
        self.commit([command(self.game)])

    def ask(self, verdict: Verdict) -> None:
        """Offer the people what else it may have been; where there is no choice, only say what is wrong."""
        self.asked = verdict.asked
        if verdict.said and (verdict.said not in self._said or not verdict.events):
            self._said.add(verdict.said)  # what was said and left alone is not nagged about
            self.say(verdict.said, Trouble.BOARD)

    def answer(self, number: int) -> None:
        """Let one of the answers of the open question count. Raises `Refused`."""
        asked = self.asked
        if asked is None or not 0 <= number < len(asked.answers):
            raise refusal("nothing-asked")
        if asked.stops and number == 0:
            return  # the words are still being looked up
        self.asked = None
        if number:
            events = asked.answers[number]
            self._watch_for(events)
            leaving = self.leaving
            with refusing():
                self._saved(self.log.instead(events) if asked.counts else self.log.append(events))
            self.leaving = leaving

    def challenge(self) -> None:
        """The last play is challenged: the word list decides, or people are asked. Raises `Refused`."""
        game = self.game
        if self.words is None or not decides(self.words):
            answers = commands.challenge_answers(game)
            words = ", ".join(word.word for word in game.turns[-1].words)
            asked = question("good-words", words, answers=tuple(text for text, _ in answers))
            self.asked = Asked(asked, tuple(events for _, events in answers), counts=False, stops=True)
            return
        challenged, seats = commands.challenge(game, self.words), commands.challengers(game)
        player = game.challengeable.player if game.challengeable else 0
        self.commit([challenged])
        if challenged.upheld:
            self.notices += (notice("take-off", game.players[player], ", ".join(challenged.words)),)
        else:
            self.notices += (notice("challenge-failed"),)
            if len(seats) > 1:
                asked = question("who-challenged", answers=tuple(game.players[seat] for seat in seats))
                self.asked = Asked(asked, tuple((replace(challenged, by=seat),) for seat in seats))
        self._watch_for([challenged], game)

    def _watch_for(self, events: Sequence[Event], before: Game | None = None) -> None:
        """After an upheld challenge the tiles must leave the board."""
        game = before or self.game
        upheld = any(isinstance(event, Challenged) and event.upheld for event in events)
        self.leaving = tuple(s for s, _ in game.turns[-1].placements) if upheld and game.turns else ()

    def draw(self, letters: tuple[str, ...]) -> None:
        """The players drew for first play. Raises `Refused`."""
        self.record(lambda game: commands.draw_first(game, letters))
        again = listed([self.game.players[player] for player in self.game.drawing])
        first = self.game.players[self.game.to_move]
        self.notices += (notice("draw-again", again) if again else notice("begins", first),)

    def end(self) -> None:
        """The players end the game."""
        self.record(commands.end_game)
        if self.game.racks_wanted:
            names = listed([self.game.players[player] for player in self.game.racks_wanted])
            self.notices += (notice("racks-wanted", names),)

    def tell_rack(self, player: int, letters: str) -> None:
        """Somebody tells the unplayed letters of a player; a number that cannot be right is said. Raises `Refused`."""
        self.record(lambda game: commands.tell_rack(game, player, letters))
        state = self.game.state
        told, held = len(state.revealed[player]), state.racks[player]
        if state.bag == 0 and told != held:
            name = state.players[player]
            self.notices += (notice("rack-count", name, str(held), str(told), trouble=Trouble.BOARD),)

    def pause(self, paused: bool) -> None:
        """Stop the game, or go on."""
        if self._keeper:
            self._keeper.paused = paused

    def step(self, step: Callable[[], str]) -> None:
        """Go back or forth by a press. Raises `Refused`."""
        self._saved(step())
        self.memory, self.leaving = None, ()

    # What is shown

    def say(self, text: str, trouble: Trouble = Trouble.NONE) -> None:
        """Add a sentence to what is told with the next state; nothing for an empty one."""
        if text:
            self.notices += (Notice(sentence(text), trouble),)

    def show(self, look: Look) -> None:
        """Let the page have the picture of a look."""
        self._look = look.view
        self.pictures = dict([*self.pictures.items(), (look.view.picture, look.crop)][-KEPT_PICTURES:])

    def run_clock(self) -> None:
        """The time of whose turn it is runs, unless something stands in its way."""
        if self._keeper:
            runs = self.phase.in_play and not (self.asked and self.asked.stops)
            self._keeper.settle(self.game.to_move if runs else None)

    def view(self, shown: TableState) -> TableState:
        """What the table looks like; `shown` is what it looked like before there was a game."""
        if self._log is None:
            return replace(shown, phase=Phase.LOBBY, notices=self.notices)
        log = self.log
        seen = view_game(log.game, self.words)
        return replace(
            seen,
            players=tuple(self._coloured(player) for player in seen.players),
            phase=self.phase,
            game=log.number,
            events=log.length,
            look=self._look,
            notices=self.notices,
            question=self.asked.question if self.asked else None,
            clock=self._keeper.view if self._keeper else None,
            drawing=log.game.drawing,
            undo=log.can_undo,
            redo=log.can_redo,
        )

    def _coloured(self, player: PlayerView) -> PlayerView:
        return replace(player, colour=self._colours.get(player.name, ""))

    @property
    def owes(self) -> bool:
        """True while something of this evening's games is in memory only."""
        return self._log is not None and self._log.owes

    def save(self) -> bool:
        """Try again to put it on disk; True when that is done."""
        return self._log is None or not self._log.save()

    def unsay(self, key: str) -> None:
        """What a notice said is so no longer."""
        self.notices = tuple(notice for notice in self.notices if notice.key != key)

    def _saved(self, trouble: str) -> None:
        if trouble:
            self.notices += (notice("not-saved", trouble, trouble=Trouble.STORE),)
