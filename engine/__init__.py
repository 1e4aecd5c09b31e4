"""The game: board, tiles, plays, scoring, rules, events. No input or output, no picture.

To be read in this order. What lies on the table: `squares`, `tiles`, `board`, `plays`. What the sheets say: `rules`,
`scoring`. What happens: `events`, `turns`, `state` (the fold), `ending`, `ledger` (what is put right), `game`. What the
camera saw: `reading`, `evidence`, `fitting`, `candidates`, `variations`, `hypotheses`, `explain`, `phrases`. Beside
them: `blanks`, `lexicon`, `gcg`.
"""
