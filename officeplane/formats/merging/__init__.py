"""Merging: what an upload has changed of an earlier revision is done to the head, all of it or nothing."""
