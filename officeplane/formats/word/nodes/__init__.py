"""Edits of single nodes of a text: other words for one, new ones beside it, and those that go, move or are copied."""
