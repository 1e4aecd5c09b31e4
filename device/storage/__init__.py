"""Everything that is kept on disk: games, pictures, statistics, archives."""
