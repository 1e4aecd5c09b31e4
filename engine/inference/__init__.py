"""Infer what was played from readings of the board."""
