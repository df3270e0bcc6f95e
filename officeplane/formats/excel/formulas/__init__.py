"""Formulas: how they are read, what may be written, and what becomes of them when what they name changes."""
