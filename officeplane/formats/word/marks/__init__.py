"""Marks on a text: notes, links and bookmarks."""
