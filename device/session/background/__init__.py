"""Tasks that a session does between turns, each on a thread of its own."""
