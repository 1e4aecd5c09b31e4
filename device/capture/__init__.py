"""Take pictures of the board at rest and keep those that a turn needs."""
