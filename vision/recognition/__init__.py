"""Read the tiles of a board whose corners are known."""
