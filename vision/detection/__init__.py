"""Find the board in a picture."""
