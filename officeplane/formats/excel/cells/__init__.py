"""Cells: where they are, what they hold, how they are written."""
