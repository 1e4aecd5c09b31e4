"""From the pictures of a turn to a decision: what was played, and what the players are asked."""
