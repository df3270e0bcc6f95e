"""Merging presentations: shapes of an upload come onto the slides that others have changed meanwhile."""
