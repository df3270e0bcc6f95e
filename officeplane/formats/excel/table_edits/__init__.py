"""Edits of tables in sheets: cells, rows and columns by the places that they have in the table."""
