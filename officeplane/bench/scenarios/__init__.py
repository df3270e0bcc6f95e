"""Scenarios: what this system does, a file each with one measurement and its result."""
