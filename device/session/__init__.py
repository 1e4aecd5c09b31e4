"""The session of one table: its commands, its phases, and the current game."""
