"""Detection of the board in a picture: candidate quads, grid fit, and comparison with the standard layout."""
