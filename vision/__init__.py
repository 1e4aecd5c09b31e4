"""From a picture to a board reading with confidences. Knows no rules of play."""
