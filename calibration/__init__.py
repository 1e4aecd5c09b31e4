"""Finds the board on a table and learns that table: its grid, its light, its tiles."""
