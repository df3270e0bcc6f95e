"""Merging texts: paragraphs and tables of an upload come into the text that others have changed meanwhile."""
