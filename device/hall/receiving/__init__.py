"""The hall's side: the messages, games, results and standings of all tables."""
