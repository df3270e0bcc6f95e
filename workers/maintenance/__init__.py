"""Chores: one file each, all of one shape, run by whoever leads them."""
