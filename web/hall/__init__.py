"""The pages of a hall: all tables live, each table, foyer, results, and what broadcasts read."""
