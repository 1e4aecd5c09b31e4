"""The pages of a hall: all tables live, single tables, a screen for the foyer, results, and data for broadcasts."""
