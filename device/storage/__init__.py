"""Storage on disk: games, pictures, statistics, archives, backups, word lists."""
