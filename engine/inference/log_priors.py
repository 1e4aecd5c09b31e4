"""Log-priors (nats) of the events of a hypothesis: the logarithms of how often they happen at a table.

One play or no play is normal and has the log-prior 0. All other events are exceptions with a negative log-prior.
"""

from __future__ import annotations

from math import log

WITHDRAWN_LOG_PRIOR = log(0.05)
"""Log-prior of the withdrawal of a play without a challenge."""
UNCLEARED_LOG_PRIOR = log(0.5)
"""Log-prior of a board with all tiles of a play that was challenged off."""
PARTLY_CLEARED_LOG_PRIOR = log(0.4)
"""Log-prior of a board with only some tiles of a play that was challenged off. `REPEATED_PLAY_LOG_PRIOR` is added for
each of these tiles."""
TWO_PLAYS_LOG_PRIOR = log(0.005)
"""Log-prior of each play after the first, because a player forgot to end the turn."""
REPEATED_PLAY_LOG_PRIOR = log(0.05)
"""Log-prior of a play that resembles the play that was just withdrawn. It is added for each square of that play that is
read as before, or once if the new play has the same tiles on other squares."""
CHANGED_AFTER_PRESS_LOG_PRIOR = log(1 / 60)
"""Log-prior of a play that its player changed after the press: completed, taken back in part, or put elsewhere."""
EXCHANGED_LETTER_LOG_PRIOR = log(1 / 150)
"""Log-prior of a letter of a play that its player exchanged for another one after the press."""
NEXT_EXCHANGED_LETTER_LOG_PRIOR = log(1 / 5)
"""Log-prior of each further exchanged letter of a play. It is high: two letters in the wrong order are one slip."""
LIFTED_LOG_PRIOR = log(1 / 200)
"""Log-prior of tiles of a play that were in a hand, or under something, at a press."""
EARLY_TILE_LOG_PRIOR = log(1 / 60)
"""Log-prior of tiles of the next play that were on the board at a press already."""
REMOVED_TILE_LOG_PRIOR = log(0.02)
"""Log-prior of a tile on a square from which players have removed the same tile, because it was never there."""
STOPPED_PLAY_LOG_PRIOR = log(0.01)
"""Log-prior of a part of a play that looks complete: the player presses too early, or waits long with the rest."""
QUICK_TURN_LOG_PRIOR = log(0.07)
"""Log-prior of a new turn within seconds of the last press, in relation to a change of the last play: the next player
draws tiles and thinks first."""
UNLISTED_LOG_PRIOR = log(0.01)
"""Log-prior of a play with an unlisted word, in a game in which players may look words up at any time."""
WRONG_SEAT_LOG_PRIOR = log(0.02)
"""Log-prior of a turn that the button or phone of another player has ended."""
CONTINUED_PLAY_LOG_PRIOR = log(0.02)
"""Log-prior of a play that continues the play before it in the same line. Most players place their tiles elsewhere."""
NUDGED_TILE_LOG_PRIOR = log(0.05)
"""Log-prior of an old tile that slipped, if a square nearby shows the same letter: it is seldom a new one."""
VARIATION_LOG_PRIOR = log(0.1)
"""Log-prior of each old tile that is changed by a variation of the rules, and of a play that rearranges a word."""
