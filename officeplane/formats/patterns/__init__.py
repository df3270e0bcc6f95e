"""Patterns: regular expressions from outside, matched in time that is linear in the text."""
