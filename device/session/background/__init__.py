"""The work of a session between turns, each task on a thread of its own."""
