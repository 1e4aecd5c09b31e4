"""The table's side of a hall: what it publishes, and the orders of the director that it carries out."""
