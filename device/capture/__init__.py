"""Pictures of the board: motion detection, readings, and the pictures that are kept for each turn."""
