"""The session: commands, phases and the game that is being played."""
