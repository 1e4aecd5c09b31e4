"""The pages of a hall: overview of all tables, single tables, a screen for the foyer, results, data for broadcasts."""
