"""Edits of tables: cells, rows and columns, found by the places that a reader sees."""
