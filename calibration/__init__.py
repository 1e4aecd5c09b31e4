"""Adapt board readings to one table by examples of the table's own tiles.

A `TableProfile` stores tile crops from confirmed boards and uses these examples to refine later readings of the same
table. A `ProfiledReader` applies a profile to every reading. `make_enrolment_rows` returns a layout with one tile of
each letter, for enrolment of the tiles before the first game.
"""
