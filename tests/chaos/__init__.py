"""Chaos: a whole installation under load, while its parts are killed, cut and starved; then the books are checked."""
