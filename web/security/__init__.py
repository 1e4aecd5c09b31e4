"""Who may connect, and who may change the game."""
