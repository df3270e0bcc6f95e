"""Merging workbooks: cells of an upload come into the sheets that others have changed meanwhile."""
