"""Edits of tables on slides: cells, rows and columns, found by the places that a reader sees."""
