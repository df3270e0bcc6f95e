"""Tracking: what an edit has done, written as changes that somebody accepts or rejects."""
