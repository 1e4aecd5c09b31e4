"""The game: board, tiles, plays, scoring, rules, events. No input or output, no picture."""
